"""What a report shows of the ledger: spans repaired and set aside, sources left out, passes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from potato_iaa.ledger import Ledger
from potato_iaa.measures.estimate import records
from potato_iaa.reporter.display import Column, Table, some
from potato_iaa.reporter.rounding import UNDEFINED, counted

POLICIES = ("seen", "assigned", "marked")
MEANING = {
    "seen": (
        "an item counts for an annotator once there is a trace of work on it: an answer, spans "
        "marked or deleted, recorded behaviour, or a later item being the current one"
    ),
    "assigned": "every item assigned to an annotator counts",
    "marked": "an item counts for an annotator only with an answer or a span on it",
}


def passes_table(ledger: Ledger, *, limit: int) -> Table | None:
    """Passes and empty passes under each policy, for the annotators whom the policy changes."""
    by_annotator: dict[str, dict[str, str]] = {}
    for row in records(ledger.passes):
        cell = f"{row['passes']:,} ({row['empty_passes']:,})"
        by_annotator.setdefault(row["annotator"], {})[row["policy"]] = cell
    policies = [
        policy for policy in POLICIES if any(policy in told for told in by_annotator.values())
    ]
    differing = [name for name, told in by_annotator.items() if len(set(told.values())) > 1]
    if not differing:
        return None
    return Table(
        "passes",
        "Passes (empty ones in brackets) where the policy matters",
        (Column("annotator", number=False), *(Column(policy) for policy in policies)),
        tuple(
            (name, *(by_annotator[name].get(policy, UNDEFINED) for policy in policies))
            for name in differing[:limit]
        ),
        left_out=max(len(differing) - limit, 0),
    )


def ledger_line(ledger: Ledger) -> str:
    """The ledger's invariant in one line."""
    totals = ledger.totals()
    return (
        f"{counted(totals['read'], 'span')} read = {totals['kept']:,} kept + "
        f"{totals['repaired']:,} repaired + {totals['set_aside']:,} set aside"
    )


def reason_lines(ledger: Ledger) -> tuple[str, ...]:
    """What was repaired and set aside, and why."""
    return tuple(
        f"{row['spans']:,} {row['outcome'].replace('_', ' ')}: {row['reason']}"
        for row in records(ledger.by_reason())
    )


def left_out_lines(ledger: Ledger, *, names: int = 5) -> tuple[str, ...]:
    """What was not read as annotators or items at all, one line per reason."""
    grouped: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in records(ledger.left_out):
        grouped.setdefault((row["what"], row["reason"]), []).append(row)
    lines = []
    for (what, reason), rows in grouped.items():
        listed = some([str(row["name"]) for row in rows], names)
        spans = sum(int(row["spans"] or 0) for row in rows)
        held = f" ({counted(spans, 'span')})" if spans else ""
        lines.append(f"left out: {what} {listed}: {reason}{held}")
    return tuple(lines)


def passes_line(policy: str) -> str:
    """The passes policy and what it means.

    >>> passes_line("as given")
    'passes: as given'
    """
    meaning = f" ({MEANING[policy]})" if policy in MEANING else ""
    return f"passes: {policy}{meaning}"
