"""Short ways into a measured scheme, and slow code that computes the same from the definitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from potato_iaa import Corpus, measure
from potato_iaa.measures.agreement import SchemeAgreement

Unit = tuple[int, int, str]
Continuum = tuple[int, Mapping[str, Sequence[Unit]]]
GAP = ""


def scheme_of(corpus: Corpus, **options: Any) -> SchemeAgreement:
    """The one scheme of a hand-made corpus; no bootstrap and no audit unasked."""
    chosen = {"bootstrap": 0, "audit": False, **options}
    return measure(corpus, **chosen).schemes["spans"]


def table_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as they are, missing values included."""
    return [
        {str(column): value for column, value in row.items()} for row in table.to_dict("records")
    ]


def naive_family(continua: Iterable[Continuum]) -> dict[str, Any]:
    """The unitizing alphas of 2016, character by character as measures.md 4a has them.

    ``continua``: (length, annotator → units) per item; units of one annotator do not overlap. All
    of an item's characters are compared for all ordered pairs of its annotators. Keys: ``u``,
    ``binary``, ``cu``, ``cu_coverage``, ``k`` (label → alpha); undefined ones are ``None``. So are
    cuα and (k)uα where l*.. − X/l*.., by which their expected part is divided, is not positive: a
    single intersection, once there are more than two annotators; and (k)uα where what is expected
    of the label is not.
    """
    met: dict[tuple[str, str], float] = {}
    starred: dict[tuple[str, str], float] = {}
    own: dict[str, float] = {}
    crossed: dict[str, float] = {}
    total = 0.0
    for length, by_annotator in continua:
        m = len(by_annotator)
        if m < 2:
            continue
        total += m * length
        coded = {who: _values(units, length) for who, units in by_annotator.items()}
        for i, mine in coded.items():
            for j, theirs in coded.items():
                if i != j:
                    for c, k in zip(mine, theirs, strict=True):
                        met[c, k] = met.get((c, k), 0.0) + 1 / (m - 1)
                        if GAP not in (c, k):
                            starred[c, k] = starred.get((c, k), 0.0) + 1 / (m - 1)
        for who, units in by_annotator.items():
            for start, end, label in units:
                own[label] = own.get(label, 0.0) + (end - start) ** 2
                for other, values in coded.items():
                    if other != who:
                        shared = sum(value != GAP for value in values[start:end])
                        crossed[label] = crossed.get(label, 0.0) + shared**2 / (m - 1)
            own[GAP] = own.get(GAP, 0.0) + coded[who].count(GAP)
    labels = sorted({label for label in own if label != GAP})
    merged = _merged(met)
    return {
        "u": _u_alpha(met, own, total) if labels else None,
        "binary": _binary(merged, own, total, labels),
        **_intersecting(starred, crossed, total, labels),
    }


def _values(units: Sequence[Unit], length: int) -> list[str]:
    values = [GAP] * length
    for start, end, label in units:
        assert values[start:end] == [GAP] * (end - start)
        values[start:end] = [label] * (end - start)
    return values


def _merged(met: Mapping[tuple[str, str], float]) -> dict[tuple[bool, bool], float]:
    merged: dict[tuple[bool, bool], float] = {}
    for (c, k), length in met.items():
        key = (c != GAP, k != GAP)
        merged[key] = merged.get(key, 0.0) + length
    return merged


def _u_alpha(
    met: Mapping[tuple[str, str], float], own: Mapping[str, float], total: float
) -> float | None:
    sums: dict[str, float] = {}
    for (c, _), length in met.items():
        sums[c] = sums.get(c, 0.0) + length
    everything = sum(own.values())
    observed = total - sum(met.get((c, c), 0.0) for c in sums)
    expected = total - sum(
        total * (sums[c] ** 2 - own.get(c, 0.0)) / (total**2 - everything) for c in sums
    )
    return 1 - observed / expected if len(sums) > 1 else None


def _binary(
    merged: Mapping[tuple[bool, bool], float],
    own: Mapping[str, float],
    total: float,
    labels: Sequence[str],
) -> float | None:
    gap = sum(length for (c, _), length in merged.items() if not c)
    unit = sum(length for (c, _), length in merged.items() if c)
    if not labels or not gap:
        return None
    # e of gaps less e of gaps with gaps is e of gaps with units.
    expected = total * gap * unit / (total**2 - sum(own.values()))
    return 1 - (gap - merged.get((False, False), 0.0)) / expected


def _intersecting(
    starred: Mapping[tuple[str, str], float],
    crossed: Mapping[str, float],
    total: float,
    labels: Sequence[str],
) -> dict[str, Any]:
    sums: dict[str, float] = dict.fromkeys(labels, 0.0)
    for (c, _), length in starred.items():
        sums[c] += length
    whole = sum(sums.values())
    present = [label for label in labels if sums[label]]
    k: dict[str, float | None] = dict.fromkeys(labels)
    coverage = whole / total if total else None
    pool = whole - sum(crossed.values()) / whole if whole else 0.0
    if len(present) < 2 or pool <= 1e-9:
        return {"cu": None, "cu_coverage": coverage, "k": k}

    def expected(c: str, k: str) -> float:
        alike = crossed.get(c, 0.0) if c == k else 0.0
        return (sums[c] * sums[k] - alike) / pool

    observed = whole - sum(starred.get((c, c), 0.0) for c in present)
    cu = 1 - observed / (whole - sum(expected(c, c) for c in present))
    for label in present:
        row = sum(expected(c, label) for c in present)
        lost = sums[label] - starred.get((label, label), 0.0)
        if row > 1e-12:
            k[label] = 1 - row / sums[label] * lost / (row - expected(label, label))
    return {"cu": cu, "cu_coverage": coverage, "k": k}
