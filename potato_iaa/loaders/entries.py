"""Spans and answers as Potato writes them in JSON, in states and in exports alike."""

from __future__ import annotations

import json
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, count, islice
from operator import attrgetter
from typing import Annotated, Any

import msgspec
import numpy as np

from potato_iaa.arrays import Ints
from potato_iaa.corpus import FARTHEST
from potato_iaa.loaders.records import Answer, OddSpan, Part, StoredSpans
from potato_iaa.loaders.values import mapping, one_or_many, sequence, well_formed

# So many spans at once are still in the processor's cache when the next of their columns is taken.
BATCH = 1000
NOT_A_SPAN = "the entry is not a span"
NO_LABEL = "the span has no label"
NO_OFFSETS = "the offsets are not whole numbers"

_Label = Annotated[str, msgspec.Meta(min_length=1)]
_Offset = Annotated[int, msgspec.Meta(ge=-FARTHEST, le=FARTHEST)]


class EntryPart(msgspec.Struct, gc=False):
    """A further part of a discontinuous span, named as on disk."""

    start: _Offset
    end: _Offset
    text: str | None = None


class Entry(msgspec.Struct, gc=False):
    """A span, named as on disk; keys that are not needed are skipped."""

    schema: str
    name: _Label
    start: _Offset
    end: _Offset
    target_field: str | None = None
    additional_parts: list[EntryPart] | None = None
    text: str | None = None
    format_coords: Any = None


_SCHEMA, _NAME, _FIELD = map(attrgetter, ("schema", "name", "target_field"))
_START, _END = map(attrgetter, ("start", "end"))
_REST = tuple(map(attrgetter, ("additional_parts", "text", "format_coords")))


def entries_of(listed: Any) -> Iterator[tuple[Any, str]]:
    """The entries of one item, with the scheme where they are listed by scheme.

    Lists and mappings may nest deeper than Potato nests them; what is neither is an entry.

    >>> list(entries_of({"ner": [1, 2]})), list(entries_of([3]))
    ([(1, 'ner'), (2, 'ner')], [(3, '')])
    >>> list(entries_of({"start": 0, "end": 3})), list(entries_of({"ner": {"a": [{}, {}]}}))
    ([({'start': 0, 'end': 3}, '')], [({}, 'ner'), ({}, 'ner')])
    """
    if isinstance(listed, dict) and not _is_span(listed):
        for scheme, of_scheme in listed.items():
            yield from ((entry, well_formed(str(scheme))) for entry in _flat(of_scheme))
    else:
        yield from ((entry, "") for entry in _flat(listed))


def _flat(listed: Any) -> Iterator[Any]:
    """The entries in a list or a mapping; None is none."""
    if isinstance(listed, dict) and not _is_span(listed):
        listed = list(listed.values())
    for entry in one_or_many(listed):
        inner = list(_flat(entry)) if _holds_entries(entry) else []
        yield from inner or [entry]


def _is_span(value: dict[Any, Any]) -> bool:
    """Whether a mapping is a span, not one of spans by a scheme, which may be called start."""
    given = (value.get(key) for key in ("start", "end", "name"))
    return any(not isinstance(found, dict | list | None) for found in given)


def _holds_entries(entry: Any) -> bool:
    """Whether an entry holds others: it is neither a span nor a pair of one with its value."""
    if isinstance(entry, dict):
        nested = any(isinstance(value, dict | list) for value in entry.values())
        return nested and not _is_span(entry)
    mappings = [value for value in sequence(entry) if isinstance(value, dict)]
    lists = any(isinstance(value, list) for value in sequence(entry))
    return lists or len(mappings) > 1 or any(map(_holds_entries, mappings))


def lenient_entry(entry: Any, item: str, scheme: str) -> Entry | OddSpan:
    """The span in an entry of whatever shape, or what is wrong with it."""
    given = entry[0] if isinstance(entry, list) and entry else entry
    if not isinstance(given, dict):
        return OddSpan(item, NOT_A_SPAN, scheme)
    scheme = as_text(given.get("schema")) or scheme
    label = as_text(given.get("name"))
    field = as_text(given.get("target_field"))
    if not label:
        return OddSpan(item, NO_LABEL, scheme, field)
    start, end = as_offset(given.get("start")), as_offset(given.get("end"))
    parts = [_lenient_part(part) for part in sequence(given.get("additional_parts"))]
    whole = [part for part in parts if part is not None]
    if start is None or end is None or len(whole) < len(parts):
        return OddSpan(item, NO_OFFSETS, scheme, field, label)
    return Entry(
        schema=scheme,
        name=label,
        start=start,
        end=end,
        target_field=field or None,
        additional_parts=whole or None,
        text=as_text(given.get("text")) or None,
        format_coords=given.get("format_coords"),
    )


def _lenient_part(part: Any) -> EntryPart | None:
    given = mapping(part)
    start, end = as_offset(given.get("start")), as_offset(given.get("end"))
    if start is None or end is None:
        return None
    return EntryPart(start=start, end=end, text=as_text(given.get("text")) or None)


def as_text(value: Any) -> str:
    """The value as well-formed text; nothing, a list and a mapping are no text.

    >>> as_text(3), as_text(None), as_text([])
    ('3', '', '')
    """
    return "" if value is None or isinstance(value, dict | list) else well_formed(str(value))


def as_offset(value: Any) -> int | None:
    """The whole number that an offset is, also where it is written as text or as 3.0.

    >>> as_offset("12"), as_offset(3.0), as_offset(0.5), as_offset(True)
    (12, 3, None, None)
    """
    if isinstance(value, str):
        value = int(value) if value.strip().isascii() and value.strip().isdigit() else None
    if isinstance(value, float):
        value = int(value) if value.is_integer() else None
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if abs(value) <= FARTHEST else None


def stored_spans(
    by_item: Iterable[tuple[str, Sequence[Entry]]], *, odd: Sequence[OddSpan] = ()
) -> StoredSpans:
    """The spans of one annotator as columns, in the order given: items, each with its spans.

    >>> found = stored_spans([("d1", [Entry(schema="ner", name="PER", start=0, end=3)])])
    >>> found.items, found.schemes, found.start
    (('d1',), ('ner',), array([0]))
    """
    items, lengths = [], array("q")
    start, end = array("q"), array("q")
    coded = {get: _Coded() for get in (_SCHEMA, _NAME, _FIELD)}
    more: list[tuple[int, Entry]] = []

    def listed() -> Iterator[Sequence[Entry]]:
        for item, entries in by_item:
            items.append(item)
            lengths.append(len(entries))
            yield entries

    spans = chain.from_iterable(listed())
    while batch := list(islice(spans, BATCH)):
        if any(any(map(get, batch)) for get in _REST):
            rest = (any(get(span) for get in _REST) for span in batch)
            more += compress(enumerate(batch, len(start)), rest)
        for get, column in coded.items():
            column.extend(map(get, batch))
        start.extend(map(_START, batch))
        end.extend(map(_END, batch))
    (schemes, scheme), (labels, label), (fields, field) = (
        column.sorted() for column in coded.values()
    )
    return StoredSpans(
        items=tuple(items),
        schemes=schemes,
        labels=labels,
        fields=fields,
        item=np.repeat(np.arange(len(items), dtype=np.int64), _ints(lengths)),
        scheme=scheme,
        label=label,
        field=field,
        start=_ints(start),
        end=_ints(end),
        parts={
            row: tuple(Part(part.start, part.end, part.text) for part in span.additional_parts)
            for row, span in more
            if span.additional_parts
        },
        texts={row: span.text for row, span in more if span.text},
        regions=frozenset(row for row, span in more if span.format_coords),
        odd=tuple(odd),
    )


class _Coded:
    """A column of names as codes, in the order in which the names are met."""

    def __init__(self) -> None:
        self._code: defaultdict[str | None, int] = defaultdict(count().__next__)
        self._codes = array("q")

    def extend(self, names: Iterable[str | None]) -> None:
        self._codes.extend(map(self._code.__getitem__, names))

    def sorted(self) -> tuple[tuple[str, ...], Ints]:
        """The distinct names, sorted, and the position of each row's; None is ``""``."""
        distinct = sorted({name or "" for name in self._code})
        position = {name: number for number, name in enumerate(distinct)}
        table = np.array([position[name or ""] for name in self._code], dtype=np.int64)
        return tuple(distinct), table[_ints(self._codes)]


def _ints(values: array[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def answers_of(labels: Mapping[str, Any]) -> Iterator[Answer]:
    """The answers by item: Potato stores pairs, its importers and exporters mappings by scheme."""
    for item, stored in labels.items():
        for scheme, label, value in _labels_of(stored):
            yield Answer(item, as_text(scheme), as_text(label), _stored(value))


def _labels_of(stored: Any) -> Iterator[tuple[Any, Any, Any]]:
    if isinstance(stored, dict):
        for scheme, values in stored.items():
            if isinstance(values, dict):
                yield from ((scheme, label, value) for label, value in values.items())
            else:
                yield scheme, "", values
    for entry in sequence(stored):
        if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], dict):
            yield entry[0].get("schema"), entry[0].get("name"), entry[1]


def _stored(value: Any) -> str:
    if isinstance(value, str):
        return well_formed(value)
    return well_formed(json.dumps(value, ensure_ascii=False))
