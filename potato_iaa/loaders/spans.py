"""Check one annotator's stored spans against the texts, and account for every one of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from potato_iaa.arrays import Flags, Ints, any_of, expand, flags_at, row_keys
from potato_iaa.ledger import ENTRY_COLUMNS
from potato_iaa.loaders.bases import Located, located
from potato_iaa.loaders.page import UNKNOWN_LENGTH, Page
from potato_iaa.loaders.records import Part, StoredSpans

NOT_IN_DATA = "item not in the data files"
NO_SCHEME = "scheme not in the configuration"
NO_FIELD = "display field that takes no spans in the configuration"
WHICH_FIELD = "no display field stored, and several take spans"
FIELD_NOT_IN_ITEM = "the item has no such display field"
REGION = "marks a region of the page, not a text"
BLANK = "covers only blanks"
UNFINISHED = "an unfinished copy of a discontinuous span"
DUPLICATE = "duplicate of another span of the pass"
TRIMMED = "blanks at its ends were trimmed"
FILLED_IN = "no display field stored: the only one that takes spans was filled in"

NO_ENTRIES = pd.DataFrame(columns=[name for name in ENTRY_COLUMNS if name != "annotator"])

Extent = tuple[tuple[int, int], ...]


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


def check(
    stored: StoredSpans, *, page: Page, schemes: Collection[str], trim: bool = False
) -> Checked:
    """Keep what is a span of one of ``schemes`` on the page; set the rest aside by name.

    A span is taken as it was stored, or repaired where only one reading is possible; nothing is
    cut to fit, but for blanks at the ends if they are to be trimmed. Of a discontinuous span Potato
    keeps the unfinished copies, which are set aside.

    >>> from potato_iaa.loaders.rendering import Shown
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
    item, field = _item_codes(stored, page), _field_codes(stored, page)
    unit = units_of(stored, page)
    length = np.append(page.lengths, -1)[unit]
    offsets = located(stored, unit, page)
    start, end = offsets.start, offsets.end
    faults = [
        (item < 0, NOT_IN_DATA),
        *_unplaced(stored),
        (_codes(stored.schemes, dict.fromkeys(schemes, 0))[stored.scheme] < 0, NO_SCHEME),
        (flags_at(stored.regions, len(start)), REGION),
        (field == _NO_FIELD, NO_FIELD),
        (field == _ANY_FIELD, WHICH_FIELD),
        (length < 0, FIELD_NOT_IN_ITEM),
        *offsets.faults,
    ]
    inside = ~any_of((flags for flags, _ in faults), len(start))
    faults.append((_blank(offsets, inside, unit, page), BLANK))
    faults.append((_unfinished(stored), UNFINISHED))
    if trim:
        offsets = _trimmed(offsets, ~any_of((flags for flags, _ in faults), len(start)), unit, page)
        start, end = offsets.start, offsets.end
    extents = {
        row: _extent([(start[row], end[row]), *((part.start, part.end) for part in parts)])
        for row, parts in offsets.parts.items()
    }
    stands = ~any_of((flags for flags, _ in faults), len(start))
    faults.append((_repeated(stored, offsets, unit, extents, stands), DUPLICATE))
    stands = ~any_of((flags for flags, _ in faults), len(start))

    filled_in = np.array([_is_filled_in(name, page.fields) for name in stored.fields], dtype=bool)
    repairs = [
        *((stands & flags, reason) for flags, reason in offsets.repairs),
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


def units_of(stored: StoredSpans, page: Page) -> Ints:
    """The unit of the page that each span is on; -1 where there is none."""
    item, field = _item_codes(stored, page), _field_codes(stored, page)
    return np.where((item >= 0) & (field >= 0), item * len(page.fields) + field, -1)


def _item_codes(stored: StoredSpans, page: Page) -> Ints:
    return _codes(stored.items, page.item_code)[stored.item]


def _field_codes(stored: StoredSpans, page: Page) -> Ints:
    """Positions of the stored fields among those that take spans.

    The default display (the field ``""``) is one text, whatever field a scheme names for it.
    """
    code = {name: position for position, name in enumerate(page.fields)}
    unknown = code.get("", _NO_FIELD)
    unnamed = code.get("", 0 if len(code) == 1 else _ANY_FIELD)
    names = [code.get(name, unknown) if name else unnamed for name in stored.fields]
    return np.array(names, dtype=np.int64)[stored.field]


def _is_filled_in(name: str, fields: tuple[str, ...]) -> bool:
    return not name and len(fields) == 1 and fields != ("",)


def _unplaced(stored: StoredSpans) -> Iterator[tuple[Flags, str]]:
    """The rows that whoever read them could not place, by reason."""
    for reason in dict.fromkeys(stored.unplaced.values()):
        rows = [row for row, why in stored.unplaced.items() if why == reason]
        yield flags_at(rows, len(stored.start)), reason


def _blank(located: Located, inside: Flags, unit: Ints, page: Page) -> Flags:
    """Spans of which a part covers only blanks."""
    texts = page.texts
    rows = np.flatnonzero(inside & (np.append(page.lengths, -1)[unit] < UNKNOWN_LENGTH))
    begin = page.base[unit[rows]] + located.start[rows]
    blank = []
    for row in rows[page.blank[begin]].tolist():
        text = texts[unit[row]]
        if text is not None and text[located.start[row] : located.end[row]].isspace():
            blank.append(row)
    for row, parts in located.parts.items():
        text = texts[unit[row]] if inside[row] else None
        if text is not None and any(text[part.start : part.end].isspace() for part in parts):
            blank.append(row)
    return flags_at(blank, len(inside))


def _trimmed(located: Located, rows: Flags, unit: Ints, page: Page) -> Located:
    """The spans of these rows without blanks at the ends of their parts."""
    start, end, parts = located.start.copy(), located.end.copy(), dict(located.parts)
    blank = np.append(page.blank, False)
    trimmed = np.zeros(len(start), dtype=bool)
    known = rows & (np.append(page.lengths, -1)[unit] < UNKNOWN_LENGTH)
    base = page.base[np.where(known, unit, 0)] if len(page.base) else np.zeros_like(start)
    while True:
        begins = known & blank[np.where(known, base + start, -1)]
        ends = known & blank[np.where(known, base + end - 1, -1)]
        if not (begins | ends).any():
            break
        start, end = start + begins, end - ends
        trimmed |= begins | ends
    for row, further in located.parts.items():
        text = page.texts[unit[row]] if known[row] else None
        if text is None:
            continue
        inner = tuple(_without_blanks(part, text) for part in further)
        trimmed[row] |= inner != further
        parts[row] = inner
    repairs = (*located.repairs, (trimmed, TRIMMED))
    return replace(located, start=start, end=end, parts=parts, repairs=repairs)


def _without_blanks(part: Part, text: str) -> Part:
    covered = text[part.start : part.end]
    before = len(covered) - len(covered.lstrip())
    return replace(part, start=part.start + before, end=part.start + len(covered.rstrip()))


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
    stored: StoredSpans, offsets: Located, unit: Ints, extents: Mapping[int, Extent], among: Flags
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
    repeated[rows] = pd.Index(row_keys([column[rows] for column in columns])).duplicated()
    return repeated


def _parts(
    rows: Ints, offsets: Located, extents: Mapping[int, Extent]
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
    offsets: Located,
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
    row: int, stored: StoredSpans, offsets: Located, inside: Flags, unit: Ints, page: Page
) -> str | None:
    text = page.texts[unit[row]] if inside[row] else None
    if text is None:
        return stored.texts.get(row)
    extent = [(offsets.start[row], offsets.end[row])]
    extent += [(part.start, part.end) for part in offsets.parts.get(row, ())]
    return " … ".join(text[start:end] for start, end in extent)
