"""What one annotator left behind, in one form for every generation and export of Potato."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from potato_iaa.arrays import Flags, Ints
from potato_iaa.loaders.bases import AS_SHOWN, Counting


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


Name = TypeVar("Name", bound=Hashable)


def _no_ints() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class StoredSpans:
    """The spans of one annotator as they were stored: columns of one length, in stored order.

    ``item`` are positions in ``items``; ``scheme``, ``label`` and ``field`` positions in
    ``schemes``, ``labels`` and ``fields``, where a span without a field has the field ``""``.
    ``parts`` are the further parts of discontinuous spans by row, ``texts`` the texts that were
    stored with spans by row, ``regions`` the rows of marks on a page image or a table cell rather
    than in a text, ``unplaced`` the rows that cannot stand, with the reason. ``odd`` are the
    entries that are not rows.

    ``counting`` are positions in ``countings``: how the offsets of a row were counted, as far as
    the file tells. ``unit_is_certain`` where the unit was given by whoever reads the project;
    ``texts_are_cut`` where ``texts`` were cut out at the offsets by an exporter, and so do not tell
    what was selected.
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
    unplaced: Mapping[int, str] = dataclasses.field(default_factory=dict)
    odd: tuple[OddSpan, ...] = ()
    countings: tuple[Counting, ...] = (AS_SHOWN,)
    counting: Ints = dataclasses.field(default_factory=_no_ints)
    unit_is_certain: bool = False
    texts_are_cut: bool = False

    def __post_init__(self) -> None:
        """Without codes of their own, all rows were counted in the first way."""
        if len(self.counting) != len(self.start):
            object.__setattr__(self, "counting", np.zeros(len(self.start), dtype=np.int64))

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
    time. ``origin`` is ``human`` or what else the annotator was; ``version`` names the Potato that
    wrote the record, as far as its files tell. ``countings`` are the ways in which its offsets may
    have been counted: more than one where nothing tells. ``phase_spans`` counts the spans of
    training and other phases, which are not about items. ``texts`` are the texts of items by item
    and field, where they lie beside the spans.
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
    countings: tuple[Counting, ...] = (AS_SHOWN,)
    phase_spans: int = 0
    texts: Mapping[tuple[str, str], str] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class Stray:
    """A file or folder among the annotators' that is not one, and why it is not read."""

    what: str
    name: str
    reason: str


@dataclass(frozen=True)
class Leaving:
    """What one annotator left, still to be read: reading it gives a record or an InputError."""

    name: str
    read: Callable[[], Record]


@dataclass(frozen=True, eq=False)
class Found:
    """All annotators' leavings in one place.

    ``kind`` says what they are, such as ``states`` or ``csv export``; ``checks`` are items that
    are not part of the work, with their kind. ``texts_are`` tells what the texts in the records
    are: ``shown``, ``source`` (of which the page was made), or empty if there are none. ``lossy``
    is a sentence on what such files have lost, ``notes`` further ones. ``apart`` tells that every
    leaving lies in files of its own, which are opened when it is read.
    """

    kind: str
    path: Path
    leavings: tuple[Leaving, ...]
    strays: tuple[Stray, ...] = ()
    checks: Mapping[str, str] = dataclasses.field(default_factory=dict)
    texts_are: str = ""
    generation: int = 2
    lossy: str = ""
    notes: tuple[str, ...] = ()
    apart: bool = False


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
        unplaced={place[row]: why for row, why in spans.unplaced.items() if row in place},
        counting=spans.counting[rows],
        odd=tuple(odd),
    )


def both(first: StoredSpans, second: StoredSpans) -> StoredSpans:
    """The spans of the first, then those of the second.

    >>> one = np.array([0])
    >>> spans = [
    ...     StoredSpans(items=(item,), schemes=("ner",), labels=("PER",), fields=("",),
    ...                 item=one, scheme=one, label=one, field=one, start=one, end=one + 3)
    ...     for item in ("a", "b")
    ... ]
    >>> joined = both(*spans)
    >>> joined.items, joined.item, joined.schemes, joined.scheme
    (('a', 'b'), array([0, 1]), ('ner',), array([0, 0]))
    """
    if not len(second):
        return first
    items, item = _joined(first.items, first.item, second.items, second.item)
    schemes, scheme = _joined(first.schemes, first.scheme, second.schemes, second.scheme)
    labels, label = _joined(first.labels, first.label, second.labels, second.label)
    fields, field = _joined(first.fields, first.field, second.fields, second.field)
    countings, counting = _joined(
        first.countings, first.counting, second.countings, second.counting
    )
    rows = len(first.start)
    return StoredSpans(
        items=items,
        schemes=schemes,
        labels=labels,
        fields=fields,
        item=item,
        scheme=scheme,
        label=label,
        field=field,
        start=np.concatenate([first.start, second.start]),
        end=np.concatenate([first.end, second.end]),
        parts={**first.parts, **{row + rows: parts for row, parts in second.parts.items()}},
        texts={**first.texts, **{row + rows: text for row, text in second.texts.items()}},
        regions=first.regions | {row + rows for row in second.regions},
        unplaced={**first.unplaced, **{row + rows: why for row, why in second.unplaced.items()}},
        odd=(*first.odd, *second.odd),
        countings=countings,
        counting=counting,
        unit_is_certain=first.unit_is_certain or second.unit_is_certain,
        texts_are_cut=first.texts_are_cut,
    )


def _joined(
    first: tuple[Name, ...], codes: Ints, second: tuple[Name, ...], more: Ints
) -> tuple[tuple[Name, ...], Ints]:
    """The names of both, each once, and the codes of both among them."""
    place = {name: position for position, name in enumerate(dict.fromkeys((*first, *second)))}
    moved = np.array([place[name] for name in second], dtype=np.int64)
    return tuple(place), np.concatenate([codes, moved[more] if len(moved) else more])
