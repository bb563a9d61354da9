"""What one annotator left behind, in one form for every generation and export of Potato."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from potato_iaa.arrays import Flags, Ints


@dataclass(frozen=True)
class Part:
    """A further part of a discontinuous span, with the text that Potato stored for it."""

    start: int
    end: int
    text: str | None = None


@dataclass(frozen=True)
class OddSpan:
    """An entry among the spans that cannot be read as a span, and why."""

    item: str
    reason: str
    scheme: str = ""
    field: str = ""
    label: str = ""


def _no_ints() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class StoredSpans:
    """The spans of one annotator as they were stored: columns of one length, in stored order.

    ``item`` are positions in ``items``; ``scheme``, ``label`` and ``field`` positions in
    ``schemes``, ``labels`` and ``fields``, where a span without a field has the field ``""``.
    ``parts`` are the further parts of discontinuous spans by row, ``texts`` the texts that were
    stored with spans by row, ``regions`` the rows of marks on a page image or a table cell rather
    than in a text. ``odd`` are the entries that are not rows.
    """

    items: tuple[str, ...] = ()
    schemes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    item: Ints = dataclasses.field(default_factory=_no_ints)
    scheme: Ints = dataclasses.field(default_factory=_no_ints)
    label: Ints = dataclasses.field(default_factory=_no_ints)
    field: Ints = dataclasses.field(default_factory=_no_ints)
    start: Ints = dataclasses.field(default_factory=_no_ints)
    end: Ints = dataclasses.field(default_factory=_no_ints)
    parts: Mapping[int, tuple[Part, ...]] = dataclasses.field(default_factory=dict)
    texts: Mapping[int, str] = dataclasses.field(default_factory=dict)
    regions: frozenset[int] = frozenset()
    odd: tuple[OddSpan, ...] = ()

    def __len__(self) -> int:
        """The number of stored entries, odd ones included."""
        return len(self.start) + len(self.odd)


@dataclass(frozen=True)
class Answer:
    """A stored answer to a question about a whole item."""

    item: str
    scheme: str
    label: str
    value: str


@dataclass(frozen=True, eq=False)
class Record:
    """Everything that is read of one annotator.

    ``source`` is the file, for messages. ``assigned`` are the items in the order in which they
    were given, ``seen`` those that something tells the annotator worked through. ``room`` are the
    schemes by item that were answered by a group, ``timed_out`` the items whose trial ran out of
    time. ``origin`` is ``human`` or what else the annotator was; ``version`` is the earliest Potato
    that can have written the record, or empty. ``phase_spans`` counts the spans of training and
    other phases, which are not about items.
    """

    annotator: str
    source: str
    spans: StoredSpans = dataclasses.field(default_factory=StoredSpans)
    assigned: tuple[str, ...] = ()
    seen: frozenset[str] = frozenset()
    answers: tuple[Answer, ...] = ()
    room: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    timed_out: frozenset[str] = frozenset()
    origin: str = "human"
    version: str = ""
    phase_spans: int = 0


def chosen(spans: StoredSpans, rows: Flags, odd: Collection[OddSpan]) -> StoredSpans:
    """The spans of the given rows, and these of the odd entries.

    >>> zero = np.array([0, 0])
    >>> spans = StoredSpans(
    ...     items=("a",), schemes=("ner",), labels=("PER",), fields=("",), item=zero, scheme=zero,
    ...     label=zero, field=zero, start=np.array([1, 4]), end=np.array([2, 6]), texts={1: "x"},
    ... )
    >>> found = chosen(spans, np.array([False, True]), ())
    >>> found.start, found.texts, len(found)
    (array([4]), {0: 'x'}, 1)
    """
    if rows.all() and len(odd) == len(spans.odd):
        return spans
    place = dict(zip(np.flatnonzero(rows).tolist(), range(len(rows)), strict=False))
    return dataclasses.replace(
        spans,
        item=spans.item[rows],
        scheme=spans.scheme[rows],
        label=spans.label[rows],
        field=spans.field[rows],
        start=spans.start[rows],
        end=spans.end[rows],
        parts={place[row]: parts for row, parts in spans.parts.items() if row in place},
        texts={place[row]: text for row, text in spans.texts.items() if row in place},
        regions=frozenset(place[row] for row in spans.regions if row in place),
        odd=tuple(odd),
    )
