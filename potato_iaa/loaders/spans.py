"""Check one annotator's stored spans against the texts, and account for every one of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from potato_iaa.arrays import Flags, Ints, expand, row_keys
from potato_iaa.ledger import ENTRY_COLUMNS
from potato_iaa.loaders.records import Part, StoredSpans
from potato_iaa.loaders.rendering import Shown, recounted

NOT_IN_DATA = "item not in the data files"
NO_SCHEME = "scheme not in the configuration"
NO_FIELD = "display field that takes no spans in the configuration"
WHICH_FIELD = "no display field stored, and several take spans"
FIELD_NOT_IN_ITEM = "the item has no such display field"
REGION = "marks a region of the page, not a text"
LOST = "offsets lost when Potato turned them into code points"
REVERSED = "ends before it starts"
EMPTY = "covers no character"
OUTSIDE = "lies outside the text"
BLANK = "covers only blanks"
OTHER_TEXT = "the stored text is not the text at its offsets"
UNFINISHED = "an unfinished copy of a discontinuous span"
DUPLICATE = "duplicate of another span of the pass"
FILLED_IN = "no display field stored: the only one that takes spans was filled in"
COUNTED_AGAIN = "offsets that Potato counted on another text were counted again"

UNKNOWN_LENGTH = int(np.iinfo(np.int64).max)
# No blank lies beyond U+3000.
_IS_BLANK = np.array([chr(point).isspace() for point in range(0x3002)], dtype=bool)

NO_ENTRIES = pd.DataFrame(columns=[name for name in ENTRY_COLUMNS if name != "annotator"])

Extent = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Page:
    """All texts of a project: what the spans of every annotator are checked against.

    A *unit* is an item with one of the display fields: item * number of fields + field.
    ``lengths`` is -1 for a unit that does not exist, and the largest integer where the text is not
    known. ``blank`` tells for every character of all known texts, one after the other, whether it
    is a blank, and ``base`` where a unit's text begins there. ``miscounted`` are the units where
    Potato counts offsets on another text than is shown.
    """

    item_code: Mapping[str, int]
    fields: tuple[str, ...]
    texts: Sequence[str | None]
    lengths: Ints
    blank: Flags
    base: Ints
    miscounted: Mapping[int, Shown]

    @classmethod
    def of(cls, item_code: Mapping[str, int], shown: Mapping[str, Sequence[Shown | None]]) -> Page:
        """The page of these items, with a text (or None) for every item under each field.

        >>> page = Page.of({"d1": 0}, {"": [Shown("Ada met Bob.")]})
        >>> page.lengths, page.base
        (array([12]), array([0]))
        """
        by_item = zip(*shown.values(), strict=True)
        on_units = [text for texts in by_item for text in texts]
        texts = [text.text if text is not None else None for text in on_units]
        known = [len(text or "") for text in texts]
        lengths = [
            -1 if text is None else UNKNOWN_LENGTH if text.text is None else len(text.text)
            for text in on_units
        ]
        return cls(
            item_code=item_code,
            fields=tuple(shown),
            texts=texts,
            lengths=np.array(lengths, dtype=np.int64),
            blank=np.concatenate([np.zeros(0, dtype=bool), *map(_blanks, texts)]),
            base=np.cumsum([0, *known], dtype=np.int64)[:-1],
            miscounted={
                unit: text
                for unit, text in enumerate(on_units)
                if text is not None and text.counted_on is not None
            },
        )


def _blanks(text: str | None) -> Flags:
    points = np.frombuffer((text or "").encode("utf-32-le"), dtype=np.uint32)
    return _IS_BLANK[np.minimum(points, len(_IS_BLANK) - 1)]


@dataclass(frozen=True, eq=False)
class Checked:
    """The spans of one annotator that stand, one row per part, and entries for the others.

    ``unit``, ``scheme``, ``label``, ``start``, ``end`` and ``span`` are parallel; ``scheme`` and
    ``label`` are positions in ``schemes`` and ``labels``; ``span`` numbers the spans from 0.
    ``read`` counts the stored spans by scheme; ``entries`` has the ledger's columns but for the
    annotator.
    """

    schemes: tuple[str, ...]
    labels: tuple[str, ...]
    unit: Ints
    scheme: Ints
    label: Ints
    start: Ints
    end: Ints
    span: Ints
    read: dict[str, int]
    entries: pd.DataFrame


@dataclass(frozen=True, eq=False)
class _Offsets:
    """Offsets in the shown text, where Potato's own had to be counted again."""

    start: Ints
    end: Ints
    parts: Mapping[int, tuple[Part, ...]]
    again: Flags
    lost: Flags


def check(stored: StoredSpans, *, page: Page, schemes: Collection[str]) -> Checked:
    """Keep what is a span of one of ``schemes`` on the page; set the rest aside by name.

    A span is taken as it was stored, or repaired where only one reading is possible; nothing is
    cut to fit. Of a discontinuous span Potato keeps the unfinished copies, which are set aside.

    >>> page = Page.of({"d1": 0}, {"": [Shown("Ada met Bob.")]})
    >>> stored = StoredSpans(
    ...     items=("d1",), schemes=("ner",), labels=("PER",), fields=("",),
    ...     item=np.array([0, 0]), scheme=np.array([0, 0]), label=np.array([0, 0]),
    ...     field=np.array([0, 0]), start=np.array([0, 8]), end=np.array([3, 13]),
    ... )
    >>> found = check(stored, page=page, schemes=["ner"])
    >>> found.start.tolist(), found.read, found.entries["reason"].tolist()
    ([0], {'ner': 2}, ['lies outside the text'])
    """
    item = _codes(stored.items, page.item_code)[stored.item]
    field = _field_codes(stored.fields, page.fields)[stored.field]
    unit = np.where((item >= 0) & (field >= 0), item * len(page.fields) + field, -1)
    length = np.append(page.lengths, -1)[unit]
    offsets = _in_shown_text(stored, unit, page)
    start, end = offsets.start, offsets.end
    faults = [
        (item < 0, NOT_IN_DATA),
        (_codes(stored.schemes, dict.fromkeys(schemes, 0))[stored.scheme] < 0, NO_SCHEME),
        (_flags(stored.regions, len(start)), REGION),
        (field == _NO_FIELD, NO_FIELD),
        (field == _ANY_FIELD, WHICH_FIELD),
        (length < 0, FIELD_NOT_IN_ITEM),
        (offsets.lost, LOST),
        (end < start, REVERSED),
        (end == start, EMPTY),
        ((start < 0) | (end > length), OUTSIDE),
        *_faults_of_parts(offsets.parts, length),
    ]
    inside = ~_any(faults, len(start))
    faults += _faults_of_text(stored, offsets, inside, unit, page)
    faults.append((_unfinished(stored), UNFINISHED))
    extents = {
        row: _extent([(start[row], end[row]), *((part.start, part.end) for part in parts)])
        for row, parts in offsets.parts.items()
    }
    stands = ~_any(faults, len(start))
    faults.append((_repeated(stored, offsets, unit, extents, stands), DUPLICATE))
    stands = ~_any(faults, len(start))

    filled_in = np.array([_is_filled_in(name, page.fields) for name in stored.fields], dtype=bool)
    repairs = [
        (stands & offsets.again, COUNTED_AGAIN),
        (stands & filled_in[stored.field], FILLED_IN),
    ]
    rows, part_start, part_end, span = _parts(np.flatnonzero(stands), offsets, extents)
    return Checked(
        schemes=stored.schemes,
        labels=stored.labels,
        unit=unit[rows],
        scheme=stored.scheme[rows],
        label=stored.label[rows],
        start=part_start,
        end=part_end,
        span=span,
        read=_read(stored),
        entries=_entries(stored, offsets, inside, unit, page, faults, repairs),
    )


_NO_FIELD, _ANY_FIELD = -1, -2


def _codes(names: Sequence[str], code: Mapping[str, int]) -> Ints:
    return np.array([code.get(name, -1) for name in names], dtype=np.int64)


def _field_codes(names: Sequence[str], fields: tuple[str, ...]) -> Ints:
    """Positions of stored field names among the fields that take spans.

    The default display is one text, whatever field a scheme names for it.
    """
    if fields == ("",):
        return np.zeros(len(names), dtype=np.int64)
    code = {name: position for position, name in enumerate(fields)}
    unnamed = 0 if len(fields) == 1 else _ANY_FIELD
    return np.array([code.get(n, _NO_FIELD) if n else unnamed for n in names], dtype=np.int64)


def _is_filled_in(name: str, fields: tuple[str, ...]) -> bool:
    return not name and len(fields) == 1 and fields != ("",)


def _flags(rows: Iterable[int], count: int) -> Flags:
    flags = np.zeros(count, dtype=bool)
    flags[list(rows)] = True
    return flags


def _any(faults: Sequence[tuple[Flags, str]], count: int) -> Flags:
    found = np.zeros(count, dtype=bool)
    for flags, _ in faults:
        found |= flags
    return found


def _in_shown_text(stored: StoredSpans, unit: Ints, page: Page) -> _Offsets:
    start, end, parts = stored.start.copy(), stored.end.copy(), dict(stored.parts)
    again = np.zeros(len(start), dtype=bool)
    lost = np.zeros(len(start), dtype=bool)
    counted_elsewhere = list(page.miscounted)
    miscounted = np.flatnonzero(np.isin(unit, counted_elsewhere)) if counted_elsewhere else ()
    for row in map(int, miscounted):
        shown = page.miscounted[int(unit[row])]
        extents = [(start[row], end[row]), *((part.start, part.end) for part in parts.get(row, ()))]
        counted = [(recounted(int(s), shown), recounted(int(e), shown)) for s, e in extents]
        whole = [(s, e) for s, e in counted if s is not None and e is not None]
        if len(whole) < len(counted):
            lost[row] = True
            continue
        again[row] = whole != extents
        start[row], end[row] = whole[0]
        if row in parts:
            parts[row] = tuple(
                Part(s, e, part.text) for (s, e), part in zip(whole[1:], parts[row], strict=True)
            )
    return _Offsets(start, end, parts, again, lost)


def _faults_of_parts(
    parts: Mapping[int, tuple[Part, ...]], length: Ints
) -> list[tuple[Flags, str]]:
    """The faults of the further parts of discontinuous spans; one is enough for the span."""
    rows: dict[str, list[int]] = {REVERSED: [], EMPTY: [], OUTSIDE: []}
    for row, further in parts.items():
        for part in further:
            if part.end < part.start:
                rows[REVERSED].append(row)
            elif part.end == part.start:
                rows[EMPTY].append(row)
            elif part.start < 0 or part.end > length[row]:
                rows[OUTSIDE].append(row)
    return [(_flags(faulty, len(length)), reason) for reason, faulty in rows.items()]


def _faults_of_text(
    stored: StoredSpans, offsets: _Offsets, inside: Flags, unit: Ints, page: Page
) -> list[tuple[Flags, str]]:
    """Spans that cover only blanks, and those whose stored text is another one."""
    texts = page.texts
    rows = np.flatnonzero(inside & (np.append(page.lengths, -1)[unit] < UNKNOWN_LENGTH))
    begin = page.base[unit[rows]] + offsets.start[rows]
    blank = []
    for row in rows[page.blank[begin]].tolist():
        text = texts[unit[row]]
        if text is not None and text[offsets.start[row] : offsets.end[row]].isspace():
            blank.append(row)
    other = []
    for row in {*stored.texts, *offsets.parts}:
        text = texts[unit[row]] if inside[row] else None
        if text is None:
            continue
        parts = offsets.parts.get(row, ())
        if any(text[part.start : part.end].isspace() for part in parts):
            blank.append(row)
        covered = [text[part.start : part.end] for part in parts if part.text]
        said = [part.text or "" for part in parts if part.text]
        if row in stored.texts and not parts:
            covered.append(text[offsets.start[row] : offsets.end[row]])
            said.append(stored.texts[row])
        if list(map(_unspaced, covered)) != list(map(_unspaced, said)):
            other.append(row)
    count = len(inside)
    return [(_flags(blank, count), BLANK), (_flags(other, count), OTHER_TEXT)]


def _unspaced(text: str) -> str:
    # A browser gives a selection's blanks and line breaks as they look, not as they are.
    return "".join(text.split())


def _unfinished(stored: StoredSpans) -> Flags:
    """Copies of a discontinuous span that lack some of its parts.

    Potato saves the first part alone, then with each further part, and keeps all of these.
    """
    unfinished = np.zeros(len(stored.start), dtype=bool)
    if not stored.parts:
        return unfinished
    columns = (
        stored.item,
        stored.field,
        stored.scheme,
        stored.label,
        stored.start,
        stored.end,
    )
    heads = {tuple(int(column[row]) for column in columns) for row in stored.parts}
    near = np.isin(stored.item, stored.item[list(stored.parts)])
    copies: dict[tuple[int, ...], list[int]] = {}
    for row in np.flatnonzero(near).tolist():
        head = tuple(int(column[row]) for column in columns)
        if head in heads:
            copies.setdefault(head, []).append(row)
    for rows in copies.values():
        further = {
            row: frozenset((part.start, part.end) for part in stored.parts.get(row, ()))
            for row in rows
        }
        distinct = set(further.values())
        for row in rows:
            unfinished[row] = any(further[row] < other for other in distinct)
    return unfinished


def _extent(parts: Iterable[tuple[int, int]]) -> Extent:
    """Parts in order, those that touch or overlap joined.

    >>> _extent([(8, 9), (0, 3), (3, 5)])
    ((0, 5), (8, 9))
    """
    joined: list[tuple[int, int]] = []
    for start, end in sorted((int(start), int(end)) for start, end in parts):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _repeated(
    stored: StoredSpans, offsets: _Offsets, unit: Ints, extents: Mapping[int, Extent], among: Flags
) -> Flags:
    """Rows that say what an earlier row among the given ones says."""
    start, end, rest = offsets.start.copy(), offsets.end.copy(), np.zeros(len(unit), dtype=np.int64)
    code: dict[Extent, int] = {}
    for row, extent in extents.items():
        start[row], end[row] = extent[0]
        rest[row] = code.setdefault(extent[1:], len(code) + 1) if extent[1:] else 0
    rows = np.flatnonzero(among)
    columns = (unit, stored.scheme, stored.label, start, end, rest)
    repeated = np.zeros(len(unit), dtype=bool)
    repeated[rows] = pd.Series(row_keys([column[rows] for column in columns])).duplicated()
    return repeated


def _parts(
    rows: Ints, offsets: _Offsets, extents: Mapping[int, Extent]
) -> tuple[Ints, Ints, Ints, Ints]:
    """Row, start, end and number of the span, for every part of the given rows."""
    several = (
        [(number, extents[row]) for number, row in enumerate(rows.tolist()) if row in extents]
        if extents
        else []
    )
    counts = np.ones(len(rows), dtype=np.int64)
    for number, extent in several:
        counts[number] = len(extent)
    span, _ = expand(counts)
    of_part = rows[span]
    start, end = offsets.start[of_part], offsets.end[of_part]
    first = np.cumsum(counts) - counts
    for number, extent in several:
        here = slice(first[number], first[number] + len(extent))
        start[here], end[here] = zip(*extent, strict=True)
    return of_part, start, end, span


def _read(stored: StoredSpans) -> dict[str, int]:
    counts = np.bincount(stored.scheme, minlength=len(stored.schemes))
    read = {name: int(count) for name, count in zip(stored.schemes, counts, strict=True) if count}
    for odd in stored.odd:
        read[odd.scheme] = read.get(odd.scheme, 0) + 1
    return read


def _entries(
    stored: StoredSpans,
    offsets: _Offsets,
    inside: Flags,
    unit: Ints,
    page: Page,
    faults: Sequence[tuple[Flags, str]],
    repairs: Sequence[tuple[Flags, str]],
) -> pd.DataFrame:
    """Ledger entries, in stored order, for the spans with a fault (the first one) or a repair."""
    reasons = [reason for _, reason in (*faults, *repairs)]
    flags = [given for given, _ in (*faults, *repairs)]
    reason = np.select(flags, list(range(len(flags))), default=-1)
    rows = np.flatnonzero(reason >= 0)
    if not len(rows) and not stored.odd:
        return NO_ENTRIES
    set_aside = reason[rows] < len(faults)
    frame = pd.DataFrame(
        {
            "outcome": np.where(set_aside, "set_aside", "repaired").astype(object),
            "reason": _named(reasons, reason[rows]),
            "scheme": _named(stored.schemes, stored.scheme[rows]),
            "item": _named(stored.items, stored.item[rows]),
            "field": _named(stored.fields, stored.field[rows]),
            "label": _named(stored.labels, stored.label[rows]),
            "start": stored.start[rows].astype(object),
            "end": stored.end[rows].astype(object),
            "text": pd.Series(
                [_covered(row, stored, offsets, inside, unit, page) for row in rows.tolist()],
                dtype=object,
            ),
        }
    )
    if not stored.odd:
        return frame
    odd = pd.DataFrame(
        {
            "outcome": "set_aside",
            "reason": [entry.reason for entry in stored.odd],
            "scheme": [entry.scheme for entry in stored.odd],
            "item": [entry.item for entry in stored.odd],
            "field": [entry.field for entry in stored.odd],
            "label": [entry.label for entry in stored.odd],
            "start": None,
            "end": None,
            "text": None,
        },
        dtype=object,
    )
    return pd.concat([frame, odd], ignore_index=True)


def _named(names: Sequence[str], codes: Ints) -> np.ndarray:
    return np.array([*names, ""], dtype=object)[codes]


def _covered(
    row: int, stored: StoredSpans, offsets: _Offsets, inside: Flags, unit: Ints, page: Page
) -> str | None:
    text = page.texts[unit[row]] if inside[row] else None
    if text is None:
        return stored.texts.get(row)
    extent = [(offsets.start[row], offsets.end[row])]
    extent += [(part.start, part.end) for part in offsets.parts.get(row, ())]
    return " … ".join(text[start:end] for start, end in extent)
