"""Spans and answers as Potato writes them in JSON, in states and in exports alike."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

import msgspec
import numpy as np

from potato_iaa.arrays import Ints
from potato_iaa.loaders.records import Answer, OddSpan, Part, StoredSpans
from potato_iaa.loaders.values import mapping, one_or_many, sequence, well_formed

LARGEST_OFFSET = 2**53
NOT_A_SPAN = "the entry is not a span"
NO_LABEL = "the span has no label"
NO_OFFSETS = "the offsets are not whole numbers"

_Offset = Annotated[int, msgspec.Meta(ge=-LARGEST_OFFSET, le=LARGEST_OFFSET)]


class EntryPart(msgspec.Struct, gc=False):
    """A further part of a discontinuous span, named as on disk."""

    start: _Offset
    end: _Offset
    text: str | None = None


class Entry(msgspec.Struct, gc=False):
    """A span, named as on disk; keys that are not needed are skipped."""

    schema: str
    name: str
    start: _Offset
    end: _Offset
    target_field: str | None = None
    additional_parts: list[EntryPart] | None = None
    text: str | None = None
    format_coords: Any = None


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
    return value if abs(value) <= LARGEST_OFFSET else None


def stored_spans(
    by_item: Mapping[str, Sequence[Entry]], *, odd: Sequence[OddSpan] = ()
) -> StoredSpans:
    """The spans of one annotator as columns, in the order given.

    >>> found = stored_spans({"d1": [Entry(schema="ner", name="PER", start=0, end=3)]})
    >>> found.items, found.schemes, found.start
    (('d1',), ('ner',), array([0]))
    """
    spans = [span for listed in by_item.values() for span in listed]
    lengths = np.fromiter(map(len, by_item.values()), dtype=np.int64, count=len(by_item))
    schemes, scheme = _coded([span.schema for span in spans])
    labels, label = _coded([span.name for span in spans])
    fields, field = _coded([span.target_field for span in spans])
    more = [
        (row, span)
        for row, span in enumerate(spans)
        if span.additional_parts or span.text or span.format_coords
    ]
    return StoredSpans(
        items=tuple(by_item),
        schemes=schemes,
        labels=labels,
        fields=fields,
        item=np.repeat(np.arange(len(by_item), dtype=np.int64), lengths),
        scheme=scheme,
        label=label,
        field=field,
        start=_ints((span.start for span in spans), len(spans)),
        end=_ints((span.end for span in spans), len(spans)),
        parts={
            row: tuple(Part(part.start, part.end, part.text) for part in span.additional_parts)
            for row, span in more
            if span.additional_parts
        },
        texts={row: span.text for row, span in more if span.text},
        regions=frozenset(row for row, span in more if span.format_coords),
        odd=tuple(odd),
    )


def _coded(values: Sequence[str | None]) -> tuple[tuple[str, ...], Ints]:
    """The distinct values, sorted, and the position of each value among them; None is ``""``."""
    given = set(values)
    distinct = sorted({value or "" for value in given})
    if len(distinct) == 1:
        return tuple(distinct), np.zeros(len(values), dtype=np.int64)
    position = {value: number for number, value in enumerate(distinct)}
    code = {value: position[value or ""] for value in given}
    return tuple(distinct), _ints(map(code.__getitem__, values), len(values))


def _ints(values: Iterable[int], count: int) -> Ints:
    return np.fromiter(values, dtype=np.int64, count=count)


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
