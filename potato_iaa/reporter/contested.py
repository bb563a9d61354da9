"""The most contested items: what everybody marked on them, and on what they disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from potato_iaa.measures.agreement import Agreement, SchemeAgreement
from potato_iaa.measures.estimate import records
from potato_iaa.reporter.headline import HEADLINE
from potato_iaa.reporter.lanes import MOST_ROWS, Lane, Mark, Parts, Row, rows_of

# How much a page takes: items, disagreements of pairs, and annotators beneath one text.
MOST_ITEMS = 40
MOST_PAIRS = 20_000
MOST_LANES = 12
MOST_DISPUTES = 40

OFFSETS = ("start_a", "end_a", "start_b", "end_b")
Outer = tuple[str, int, int]
Who = tuple[str, ...]


@dataclass(frozen=True)
class Side:
    """What some annotators marked, or, without a label, that they marked nothing there."""

    label: str | None
    parts: Parts
    who: Who


@dataclass(frozen=True)
class Dispute:
    """One disagreement, whoever shares it: its two sides, and the pairs of annotators."""

    kind: str
    sides: tuple[Side, Side]
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Contested:
    """One display field of a contested item.

    ``rows``: what is drawn of ``lanes``; ``lanes_left_out`` annotators are not drawn.
    """

    item: str
    field: str
    value: float | None
    text: str | None
    length: int
    lanes: tuple[Lane, ...]
    rows: tuple[Row, ...]
    lanes_left_out: int
    disputes: tuple[Dispute, ...]
    disputes_left_out: int


@dataclass(frozen=True)
class _Work:
    """What ``_contested`` needs of one display field."""

    rows: pd.DataFrame
    spans: pd.DataFrame


def contested(agreement: Agreement, scheme: SchemeAgreement) -> Iterator[Contested]:
    """The fields on which somebody disagrees, of the items with the lowest mean F1 first.

    Never more than ``MOST_ITEMS`` items, nor many more disagreements than ``MOST_PAIRS``.
    """
    values = _most_contested(scheme)
    rows = _rows_of(scheme.disagreements, list(values))
    spans = _rows_of(agreement.spans[agreement.spans["scheme"] == scheme.scheme], list(values))
    texts = _texts(agreement, list(values))
    marked, disputed = _by_field(spans), _by_field(rows)
    roles = {side.annotator: side.role for side in scheme.sides}
    left = MOST_PAIRS
    for item, value in values.items():
        for key in sorted(key for key in disputed if key[0] == item):
            if left <= 0:
                return
            work = _Work(disputed[key].head(left), marked.get(key, spans.iloc[:0]))
            left -= len(work.rows)
            yield _field(key, value, texts.get(key), work, roles)


def disputed_items(scheme: SchemeAgreement) -> int:
    """The number of items on which somebody disagrees."""
    return int(scheme.disagreements["item"].nunique())


def _most_contested(scheme: SchemeAgreement) -> dict[str, float | None]:
    items = scheme.f1[HEADLINE].items
    disputed = items[items["item"].isin(scheme.disagreements["item"].unique())]
    ordered = disputed.sort_values(
        ["value", "marked", "item"], ascending=[True, False, True], na_position="last"
    )
    return {row["item"]: row["value"] for row in records(ordered.head(MOST_ITEMS))}


def _rows_of(frame: pd.DataFrame, items: Sequence[str]) -> pd.DataFrame:
    """The rows on these items, found by codes: frames are long, and items are few."""
    known = frame["item"].cat.categories
    wanted = np.isin(known.to_numpy(dtype=object), np.array(items, dtype=object))
    return frame[wanted[frame["item"].cat.codes.to_numpy()]]


def _by_field(frame: pd.DataFrame) -> dict[tuple[str, str], pd.DataFrame]:
    grouped = frame.groupby(["item", "field"], observed=True)
    return {(str(item), str(field)): part for (item, field), part in grouped}


def _texts(agreement: Agreement, items: Sequence[str]) -> dict[tuple[str, str], str]:
    chosen = _rows_of(agreement.items, items)
    return {
        (str(row["item"]), str(row["field"])): row["text"]
        for row in records(chosen)
        if row["text"] is not None
    }


def _field(
    key: tuple[str, str],
    value: float | None,
    text: str | None,
    work: _Work,
    roles: Mapping[str, str],
) -> Contested:
    marks = _marks(work.spans)
    parts_of = {
        (who, mark.label, mark.parts[0][0], mark.parts[-1][1]): mark.parts
        for who, found in marks.items()
        for mark in found
    }
    disputes = _disputes(work.rows, parts_of)
    lanes = _lanes(marks, work.rows, roles)
    drawn = _fitting(lanes)
    ends = [mark.parts[-1][1] for found in marks.values() for mark in found]
    return Contested(
        item=key[0],
        field=key[1],
        value=value,
        text=text,
        length=max(ends, default=1) if text is None else len(text),
        lanes=drawn,
        rows=rows_of(drawn)[:MOST_ROWS],
        lanes_left_out=len(lanes) - len(drawn),
        disputes=tuple(disputes[:MOST_DISPUTES]),
        disputes_left_out=max(len(disputes) - MOST_DISPUTES, 0),
    )


def _marks(spans: pd.DataFrame) -> dict[str, list[Mark]]:
    parts: dict[tuple[str, str, int], list[tuple[int, int]]] = {}
    for row in records(spans):
        owner = (row["annotator"], row["label"], row["part_of"])
        parts.setdefault(owner, []).append((row["start"], row["end"]))
    marks: dict[str, list[Mark]] = {}
    for (annotator, label, _), places in parts.items():
        marks.setdefault(annotator, []).append(Mark(label, tuple(sorted(places))))
    return marks


def _lanes(
    marks: Mapping[str, list[Mark]], rows: pd.DataFrame, roles: Mapping[str, str]
) -> list[Lane]:
    """A lane for everybody with a span or a disagreement here: those in most disagreements first.

    Whoever passed and marked nothing where somebody else did has a disagreement, and so a lane.
    """
    involved = pd.concat([rows["a"].astype(str), rows["b"].astype(str)]).value_counts()
    names = sorted({*marks, *map(str, involved.index)})
    ranked = sorted(names, key=lambda name: (name in roles, -int(involved.get(name, 0)), name))
    kept = [*sorted(ranked[:MOST_LANES], key=lambda name: (name in roles, name))]
    return [
        Lane(name, roles.get(name, "human"), tuple(marks.get(name, ())))
        for name in (*kept, *ranked[MOST_LANES:])
    ]


def _fitting(lanes: Sequence[Lane]) -> tuple[Lane, ...]:
    """As many lanes as there is room for; at least one."""
    drawn = tuple(lanes[:MOST_LANES])
    while len(drawn) > 1 and len(rows_of(drawn)) > MOST_ROWS:
        drawn = drawn[:-1]
    return drawn


def _disputes(
    rows: pd.DataFrame, parts_of: Mapping[tuple[str, str, int, int], Parts]
) -> list[Dispute]:
    """Disagreements that differ in nothing but the annotators, put together, by place."""
    found: dict[tuple[str, Any, Any], list[tuple[str, str]]] = {}
    for row in records(rows.astype(dict.fromkeys(OFFSETS, object))):
        a, b = _outer(row, "a"), _outer(row, "b")
        if _order(b) < _order(a):
            found.setdefault((row["kind"], b, a), []).append((row["b"], row["a"]))
        else:
            found.setdefault((row["kind"], a, b), []).append((row["a"], row["b"]))
    disputes = []
    for (kind, one, other), pairs in found.items():
        sides = (
            _side(one, [pair[0] for pair in pairs], parts_of),
            _side(other, [pair[1] for pair in pairs], parts_of),
        )
        disputes.append(Dispute(kind, sides, tuple(pairs)))
    return sorted(disputes, key=lambda dispute: (_first(dispute), dispute.kind, str(dispute.sides)))


def _outer(row: Mapping[str, Any], side: str) -> Outer | None:
    label = row[f"label_{side}"]
    return None if label is None else (label, int(row[f"start_{side}"]), int(row[f"end_{side}"]))


def _order(outer: Outer | None) -> tuple[bool, int, int, str]:
    return (True, 0, 0, "") if outer is None else (False, outer[1], outer[2], outer[0])


def _side(
    outer: Outer | None, who: Sequence[str], parts_of: Mapping[tuple[str, str, int, int], Parts]
) -> Side:
    names = tuple(sorted(set(who)))
    if outer is None:
        return Side(None, (), names)
    label, start, end = outer
    return Side(label, parts_of.get((names[0], label, start, end), ((start, end),)), names)


def _first(dispute: Dispute) -> int:
    return min(side.parts[0][0] for side in dispute.sides if side.parts)
