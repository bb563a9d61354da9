"""The ledger: every span read is kept, repaired or set aside, with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

OUTCOMES = ("kept", "repaired", "set_aside")
ENTRY_COLUMNS = (
    "outcome",
    "reason",
    "annotator",
    "scheme",
    "item",
    "field",
    "label",
    "start",
    "end",
    "text",
)
READ_COLUMNS = ("annotator", "scheme", "read")
LEFT_OUT_COLUMNS = ("what", "name", "reason", "spans")
# What is left out because it cannot be read, at the user's wish.
UNREADABLE = "unreadable annotator"
PASS_COLUMNS = ("annotator", "policy", "passes", "empty_passes")


def _frame(rows: Iterable[Mapping[Any, Any]], columns: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=list(columns))


@dataclass(frozen=True, eq=False)
class Ledger:
    """What was read, and what became of it.

    ``read``: one row per annotator and scheme with the number of spans read (``READ_COLUMNS``).
    ``entries``: one row per span that was repaired or set aside (``ENTRY_COLUMNS``); ``start`` and
    ``end`` are the offsets as they were read, ``text`` the stored or covered text, where known.
    ``left_out``: sources that were not read as annotators or items at all, such as adjudicators,
    machine annotators, gold items or stray files (``LEFT_OUT_COLUMNS``); ``spans`` is the number of
    spans in them, which are no part of ``read``.
    ``passes``: passes and empty passes of every annotator under each policy (``PASS_COLUMNS``).
    ``notes``: sentences about choices that the loaders made.
    """

    read: pd.DataFrame = field(default_factory=lambda: _frame((), READ_COLUMNS))
    entries: pd.DataFrame = field(default_factory=lambda: _frame((), ENTRY_COLUMNS))
    left_out: pd.DataFrame = field(default_factory=lambda: _frame((), LEFT_OUT_COLUMNS))
    passes: pd.DataFrame = field(default_factory=lambda: _frame((), PASS_COLUMNS))
    notes: tuple[str, ...] = ()

    @classmethod
    def from_rows(
        cls,
        *,
        read: Iterable[Mapping[Any, Any]] = (),
        entries: Iterable[Mapping[Any, Any]] = (),
        left_out: Iterable[Mapping[Any, Any]] = (),
        passes: Iterable[Mapping[Any, Any]] = (),
        notes: Iterable[str] = (),
    ) -> Ledger:
        """Build a ledger from plain rows.

        >>> ledger = Ledger.from_rows(
        ...     read=[{"annotator": "ann", "scheme": "ner", "read": 3}],
        ...     entries=[{"outcome": "set_aside", "reason": "duplicate", "annotator": "ann",
        ...               "scheme": "ner", "item": "d1", "field": "", "label": "PER",
        ...               "start": 0, "end": 4, "text": None}],
        ... )
        >>> ledger.totals()
        {'read': 3, 'kept': 2, 'repaired': 0, 'set_aside': 1}
        """
        return cls(
            read=_frame(read, READ_COLUMNS),
            entries=_frame(entries, ENTRY_COLUMNS),
            left_out=_frame(left_out, LEFT_OUT_COLUMNS),
            passes=_frame(passes, PASS_COLUMNS),
            notes=tuple(notes),
        )

    def by_annotator_and_scheme(self) -> pd.DataFrame:
        """Read, kept, repaired and set-aside counts per annotator and scheme.

        ``kept`` counts the spans taken as they were read; kept + repaired are the corpus's spans.
        """
        keys = ["annotator", "scheme"]
        read = self.read.groupby(keys, observed=True, sort=True)["read"].sum()
        table = pd.DataFrame({"read": read})
        for outcome in ("repaired", "set_aside"):
            chosen = self.entries[self.entries["outcome"] == outcome]
            table[outcome] = chosen.groupby(keys, observed=True).size()
        table = table.fillna(0).astype("int64")
        table.insert(1, "kept", table["read"] - table["repaired"] - table["set_aside"])
        return table.reset_index()

    def by_reason(self) -> pd.DataFrame:
        """Number of repaired and set-aside spans per outcome and reason, most first."""
        counts = self.entries.groupby(["outcome", "reason"], observed=True).size()
        table = counts.rename("spans").reset_index()
        return table.sort_values(["outcome", "spans", "reason"], ascending=[True, False, True])

    def totals(self) -> dict[str, int]:
        """The four totals; ``read`` is always kept + repaired + set_aside."""
        table = self.by_annotator_and_scheme()
        return {name: int(table[name].sum()) for name in ("read", *OUTCOMES)}
