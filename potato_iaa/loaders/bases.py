"""Text bases: on which text, and in which unit, each Potato counted offsets; and which one fits.

Potato 1 counted on the source of its page, where ``&`` is ``&amp;`` and a line break is CRLF;
2.0 and 2.1 looked a selection up in the text without its tags; 2.2 and 2.3 showed nothing but
ASCII; from 2.4 on the text is counted as it is shown. The unit was the browser's, UTF-16, from 2.0
until 2.9, and is the code point before and after. A state does not say which one it was, projects
were moved to new versions in their middle, and texts were changed behind them: so offsets that
make no sense are tried on the other bases before they are given up.
"""

from __future__ import annotations

import dataclasses
import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from potato_iaa.arrays import Flags, Ints, any_of, flags_at, group_starts
from potato_iaa.errors import UsageError
from potato_iaa.loaders.page import UNKNOWN_LENGTH, Page
from potato_iaa.loaders.rendering import (
    CONTROL,
    DANGEROUS,
    ELEMENTS,
    REFERENCE,
    SPACES,
    TAG,
    TRIMMED,
    recounted,
)

if TYPE_CHECKING:
    from potato_iaa.loaders.records import Part, StoredSpans

CODE_POINTS = "code points"
UTF_16 = "UTF-16 units"
UNITS = {"code-points": CODE_POINTS, "utf-16": UTF_16}

SHOWN = "text as shown"
RAW = "text of the data file"
WITHOUT_TAGS = "text of the data file without its tags"
ASCII = "text as shown, without all that is not ASCII"
SOURCE = "source of the page, with entities and CRLF"
WORDS = "text of the data file, with single blanks"

LOST = "offsets lost when Potato turned them into code points"
SPLIT = "begins or ends within a surrogate pair"
REVERSED = "ends before it starts"
EMPTY = "covers no character"
OUTSIDE = "lies outside the text"
FAR = "lies farther on than any text reaches"
# Of an item whose text is not known: measures need memory for every code point of a text.
LONGEST_TEXT = 10_000_000
NOT_FOUND = "its stored text was not found in the text"
OTHER_TEXT = "the stored text is not the text at its offsets"
AMBIGUOUS = "ambiguous: its stored text stands in several places, and not at its offsets"
COUNTED_AGAIN = "offsets that Potato counted on another text were counted again"
FOUND_AGAIN = "found by its stored text, which is not at its offsets"

_ALL_TAGS = re.compile(r"<[^>]*>")
_NOT_ASCII = re.compile(r"[^\x20-\x7E\n]")
_WHITESPACE = re.compile(r"\s+")
_PAGE_TAG = re.compile(r"<!--.*?-->|</?[A-Za-z][^<>]*>", re.DOTALL)
_ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\u00a0": "&nbsp;", "\n": "\r\n"}
_TO_ESCAPE = re.compile("[&<>\u00a0\n]")
_NOWHERE, _WITHIN_PAIR = -1, -2


@dataclass(frozen=True)
class Counting:
    """How offsets were counted: on which text, and in which unit."""

    basis: str = SHOWN
    unit: str = CODE_POINTS

    def __str__(self) -> str:
        return f"{self.unit} of the {self.basis}"


AS_SHOWN = Counting()
AS_BROWSERS_DO = Counting(SHOWN, UTF_16)
AS_POTATO_1 = Counting(SOURCE, CODE_POINTS)
AS_SIMULATED = Counting(WORDS, CODE_POINTS)
IN_ANSWERS = Counting(RAW, UTF_16)
_ON_ASCII = Counting(ASCII, UTF_16)
_LOOKED_UP = Counting(WITHOUT_TAGS, UTF_16)
_ON_DATA = (Counting(RAW, CODE_POINTS), Counting(RAW, UTF_16))
# What else offsets may have counted, the likeliest first.
_OTHERS = {
    AS_SHOWN: (AS_BROWSERS_DO, *_ON_DATA),
    AS_BROWSERS_DO: (AS_SHOWN, _ON_ASCII, *_ON_DATA),
    _ON_ASCII: (AS_BROWSERS_DO, AS_SHOWN, _LOOKED_UP, *_ON_DATA),
    _LOOKED_UP: (Counting(WITHOUT_TAGS, CODE_POINTS), AS_BROWSERS_DO, AS_SHOWN, *_ON_DATA),
    AS_POTATO_1: (*_ON_DATA, AS_SHOWN, AS_BROWSERS_DO),
    AS_SIMULATED: (AS_SHOWN, *_ON_DATA),
    IN_ANSWERS: (AS_BROWSERS_DO, _ON_DATA[0], AS_SHOWN),
}


def countings_of(version: str) -> tuple[Counting, ...]:
    """How this version of Potato counts; several where its files do not tell.

    Raises UsageError: no such version.

    >>> [str(counting) for counting in countings_of("2.8.2")]
    ['UTF-16 units of the text as shown']
    """
    found = re.fullmatch(r"v?(\d+)(?:\.(\d+))?(?:\.[\w.]+)?", version.strip())
    if found is None or found[1] not in ("1", "2"):
        raise UsageError(
            f"no Potato version {version!r}: give one such as 1.2, 2.0, 2.3, 2.8 or 2.12."
        )
    if found[1] == "1":
        return (AS_POTATO_1,)
    minor = int(found[2] or 12)
    if minor < 2:
        return (_LOOKED_UP,)
    if minor < 4:
        return (_ON_ASCII,)
    return (AS_BROWSERS_DO,) if minor < 9 else (AS_SHOWN,)


# Nothing in a state of 2.2 to 2.6 tells whether it showed more than ASCII.
UNTOLD_2_2_TO_2_6 = (AS_BROWSERS_DO, _ON_ASCII)
# An export without the covered texts does not say which Potato counted.
UNTOLD = (AS_SHOWN, AS_BROWSERS_DO)


@dataclass(frozen=True, eq=False)
class Traced:
    """A text made from another one: for every character, the stretch of the source it stands for.

    >>> traced = replaced(Traced.of("a  b"), SPACES, lambda found: " ")
    >>> traced.text, traced.start.tolist(), traced.end.tolist()
    ('a b', [0, 1, 3], [1, 3, 4])
    """

    text: str
    start: Ints
    end: Ints

    @classmethod
    def of(cls, source: str) -> Traced:
        """A source as it is."""
        start = np.arange(len(source), dtype=np.int64)
        return cls(source, start, start + 1)

    def cut(self, start: int, end: int) -> Traced:
        """The characters from ``start`` to before ``end``."""
        return Traced(self.text[start:end], self.start[start:end], self.end[start:end])

    def instead(self, start: int, end: int, text: str) -> Traced:
        """Another text that stands for these characters, each of its own for all of them."""
        first = self.start[start : start + 1].repeat(len(text))
        last = self.end[end - 1 : end].repeat(len(text))
        return Traced(text, first, last)


def _joined(pieces: Sequence[Traced]) -> Traced:
    nothing = np.zeros(0, dtype=np.int64)
    return Traced(
        "".join(piece.text for piece in pieces),
        np.concatenate([nothing, *(piece.start for piece in pieces)]),
        np.concatenate([nothing, *(piece.end for piece in pieces)]),
    )


def replaced(
    traced: Traced, pattern: re.Pattern[str], by: Callable[[re.Match[str]], str]
) -> Traced:
    """The text with every match of the pattern replaced."""
    return _joined(list(_replaced_pieces(traced, pattern, by)))


def _replaced_pieces(
    traced: Traced, pattern: re.Pattern[str], by: Callable[[re.Match[str]], str]
) -> Iterator[Traced]:
    position = 0
    for found in pattern.finditer(traced.text):
        if found.end() > found.start():
            yield traced.cut(position, found.start())
            yield traced.instead(found.start(), found.end(), by(found))
            position = found.end()
    yield traced.cut(position, len(traced.text))


def _trimmed(traced: Traced, characters: str | None = None) -> Traced:
    before = len(traced.text) - len(traced.text.lstrip(characters))
    return traced.cut(before, max(before, len(traced.text.rstrip(characters))))


def as_shown(source: str, *, linebreaks_as_markup: bool = False) -> Traced:
    """The text that Potato 2.4 and later show for a source, as `rendering.default_text` has it."""
    return _content(_normalized(source, CONTROL, linebreaks_as_markup))


def _normalized(source: str, cut_out: re.Pattern[str], linebreaks_as_markup: bool) -> Traced:
    traced = replaced(Traced.of(source), cut_out, lambda _: "")
    traced = _trimmed(replaced(traced, SPACES, lambda _: " "))
    if linebreaks_as_markup:
        traced = replaced(traced, re.compile("\n"), lambda _: "<br/>")
    return traced


def _content(traced: Traced) -> Traced:
    """What a browser holds for mark-up, as `rendering.text_content` has it."""
    for pattern in DANGEROUS:
        traced = replaced(traced, pattern, lambda _: "")
    pieces: list[Traced] = []
    position = 0
    for tag in TAG.finditer(traced.text):
        pieces.append(_unescaped(traced.cut(position, tag.start())))
        position = tag.end()
        if tag[2].lower() not in ELEMENTS:
            pieces.append(traced.cut(tag.start(), tag.end()))
        elif tag[2].lower() == "pre" and not tag[1] and traced.text.startswith("\n", position):
            position += 1
    pieces.append(_unescaped(traced.cut(position, len(traced.text))))
    return _joined(pieces)


def _unescaped(traced: Traced) -> Traced:
    return replaced(traced, REFERENCE, lambda found: html.unescape(found[0]))


def _in_ascii(source: str, linebreaks_as_markup: bool) -> Traced:
    return _content(_normalized(source, _NOT_ASCII, linebreaks_as_markup))


def _without_tags(source: str) -> Traced:
    return _trimmed(replaced(Traced.of(source), _ALL_TAGS, lambda _: ""), TRIMMED)


def _in_words(source: str) -> Traced:
    return _trimmed(replaced(Traced.of(source), _WHITESPACE, lambda _: " "))


def as_potato_1_showed(source: str) -> Traced:
    r"""The text that a browser holds for a source in Potato 1: tags and entities are resolved.

    >>> as_potato_1_showed(" <b>A</b> &amp; B\r\n c ").text
    'A & B\n c'
    """
    return _trimmed(_joined([piece for piece, is_tag in _on_page_1(source) if not is_tag]))


def _page_source(source: str) -> Traced:
    pieces = [
        replaced(piece, _NEWLINE, lambda _: "\r\n")
        if is_tag
        else replaced(piece, _TO_ESCAPE, lambda found: _ESCAPED[found[0]])
        for piece, is_tag in _on_page_1(source)
    ]
    return _trimmed(_joined(pieces))


_NEWLINE = re.compile("\n")
_LINE_END = re.compile("\r\n?")


def _on_page_1(source: str) -> Iterator[tuple[Traced, bool]]:
    """Texts and tags in turn, texts with their entities resolved."""
    traced = replaced(Traced.of(source), _LINE_END, lambda _: "\n")
    position = 0
    for tag in _PAGE_TAG.finditer(traced.text):
        yield _unescaped(traced.cut(position, tag.start())), False
        yield traced.cut(tag.start(), tag.end()), True
        position = tag.end()
    yield _unescaped(traced.cut(position, len(traced.text))), False


def _traced(basis: str, source: str, page: Page) -> Traced:
    if basis == SHOWN and page.generation == 1:
        return as_potato_1_showed(source)
    if basis == SHOWN:
        return as_shown(source, linebreaks_as_markup=page.linebreaks_as_markup)
    if basis == ASCII:
        return _in_ascii(source, page.linebreaks_as_markup)
    if basis == WITHOUT_TAGS:
        return _without_tags(source)
    if basis == SOURCE:
        return _page_source(source)
    return _in_words(source) if basis == WORDS else Traced.of(source)


@dataclass(frozen=True, eq=False)
class Reading:
    """For every offset in a counting: where in the shown text a span starts or ends with it.

    An offset within a surrogate pair has the place ``_WITHIN_PAIR``.
    """

    start: Ints
    end: Ints

    def starts(self, offsets: Ints) -> Ints:
        """Places of offsets at which spans start."""
        return _looked_up(self.start, offsets)

    def ends(self, offsets: Ints) -> Ints:
        """Places of offsets at which spans end."""
        return _looked_up(self.end, offsets)


def _looked_up(places: Ints, offsets: Ints) -> Ints:
    inside = (offsets >= 0) & (offsets < len(places))
    return np.where(inside, places[np.where(inside, offsets, 0)], _NOWHERE)


def _reading(counting: Counting, unit: int, page: Page) -> Reading:
    """The reading of a counting on one unit, worked out once."""
    key = (counting, unit)
    if key not in page.readings:
        page.readings[key] = _worked_out(counting, unit, page)
    found: Reading = page.readings[key]
    return found


def _worked_out(counting: Counting, unit: int, page: Page) -> Reading:
    shown, source = page.texts[unit] or "", page.sources[unit]
    if counting.basis == SHOWN or source is None:
        counted = shown
        start = end = np.arange(len(shown) + 1, dtype=np.int64)
    else:
        on, over = _traced(counting.basis, source, page), _traced(SHOWN, source, page)
        counted = on.text
        start, end = _starts(on, over), _ends(on, over)
    if counting.unit == CODE_POINTS:
        return Reading(start, end)
    before = _utf16_before(counted)
    places = np.full(before[-1] + 1, _WITHIN_PAIR, dtype=np.int64)
    in_start, in_end = places.copy(), places
    in_start[before], in_end[before] = start, end
    return Reading(in_start, in_end)


def _starts(on: Traced, over: Traced) -> Ints:
    last = on.end[-1:] if len(on.end) else np.zeros(1, dtype=np.int64)
    return np.searchsorted(over.end, np.append(on.start, last), side="right").astype(np.int64)


def _ends(on: Traced, over: Traced) -> Ints:
    return np.searchsorted(over.start, np.append(0, on.end), side="left").astype(np.int64)


def _utf16_before(text: str) -> Ints:
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return np.append(0, np.cumsum(1 + (points > 0xFFFF))).astype(np.int64)


def _may_differ(countings: Sequence[Counting], page: Page) -> Flags:
    """The units on which offsets in one of the countings may not be those of the shown text.

    A last flag, False, is for spans that are on no unit.
    """
    key = ("may differ", *countings)
    if key not in page.readings:
        found = np.zeros(len(page.texts) + 1, dtype=bool)
        for counting in countings:
            found[:-1] |= _differs(counting, page)
        page.readings[key] = found
    flags: Flags = page.readings[key]
    return flags


def _differs(counting: Counting, page: Page) -> Flags:
    astral = page.astral if counting.unit == UTF_16 else np.zeros(len(page.texts), dtype=bool)
    if counting.basis == SHOWN:
        return astral
    if counting.basis == RAW:
        return astral | page.differs
    if counting.basis == ASCII:
        return astral | page.differs | page.beyond_ascii
    return astral | page.has_source


Extent = tuple[Ints, Ints]


def _read_as(counting: Counting, start: Ints, end: Ints, unit: Ints, page: Page) -> Extent:
    """Offsets in the shown text; negative ones where there is no such place."""
    differs = _may_differ((counting,), page)[unit]
    if not differs.any():
        return start, end
    start, end = start.copy(), end.copy()
    rows = np.flatnonzero(differs)
    rows = rows[np.argsort(unit[rows], kind="stable")]
    begins = group_starts(unit[rows]).tolist()
    for first, last in zip(begins, [*begins[1:], len(rows)], strict=True):
        here = rows[first:last]
        reading = _reading(counting, int(unit[here[0]]), page)
        start[here], end[here] = reading.starts(start[here]), reading.ends(end[here])
    return start, end


@dataclass(frozen=True, eq=False)
class Located:
    """Where spans lie in the shown text, with faults and repairs by row.

    ``parts`` are the places of the further parts by row; a row with a fault has no meaningful
    place.
    """

    start: Ints
    end: Ints
    parts: Mapping[int, tuple[Part, ...]]
    faults: tuple[tuple[Flags, str], ...]
    repairs: tuple[tuple[Flags, str], ...]


def located(stored: StoredSpans, unit: Ints, page: Page) -> Located:
    """The spans of one annotator in the shown texts, ``unit`` being the unit of each or -1.

    A span whose declared counting gives a place within a surrogate pair, outside the text or in
    the middle of a word, or another text than was stored, is tried in the other countings. One in
    which all spans of the annotator on the unit fit is taken for all of them; else one that fits
    the span alone: projects were moved from one version to another in the middle of an item. What
    fits none is looked for by its stored text.
    """
    if stored.texts_are_cut and stored.texts:
        stored = _without_cut_texts(stored, unit, page)
    extents = _extents(stored)
    length = np.append(page.lengths, -1)[unit]
    place = _as_declared(stored, extents, unit, page)
    place, again, lost = _counted_again(place, stored, extents, unit, page)
    faults = [
        (lost, LOST),
        (extents.any_of(extents.end < extents.start), REVERSED),
        (extents.any_of(extents.end == extents.start), EMPTY),
    ]
    sound = (
        (length >= 0)
        & ~flags_at(stored.regions, len(unit))
        & ~any_of((flags for flags, _ in faults), len(unit))
    )
    where = _Where(unit, length, sound & ~again, page)
    place, tried = _with_others_tried(place, stored, extents, where)
    place, found, why_not = _with_texts_sought(place, stored, extents, where)
    start, end = place
    outside = (start < 0) | (end < 0) | (end > length[extents.owner])
    far = (length[extents.owner] == UNKNOWN_LENGTH) & (end > LONGEST_TEXT)
    faults += [
        *why_not,
        (extents.any_of((start == _WITHIN_PAIR) | (end == _WITHIN_PAIR)), SPLIT),
        (extents.any_of(outside), OUTSIDE),
        (extents.any_of(far), FAR),
        (extents.any_of(~outside & (end <= start)), EMPTY),
    ]
    return Located(
        start=start[: len(unit)],
        end=end[: len(unit)],
        parts=_parts(stored, extents, place),
        faults=tuple(faults),
        repairs=((again, COUNTED_AGAIN), *tried, (found, FOUND_AGAIN)),
    )


def _without_cut_texts(stored: StoredSpans, unit: Ints, page: Page) -> StoredSpans:
    """The spans without the texts that are just what stands at their offsets.

    Of texts that an exporter cut out, only the others tell something: that the text was changed.
    """
    start, end, of_unit = stored.start.tolist(), stored.end.tolist(), unit.tolist()

    def is_cut(row: int, said: str) -> bool:
        text = page.texts[of_unit[row]] if of_unit[row] >= 0 else None
        inside = text is not None and 0 <= start[row] <= end[row] <= len(text)
        return text is not None and inside and says(said, text[start[row] : end[row]])

    kept = {row: said for row, said in stored.texts.items() if not is_cut(row, said)}
    return dataclasses.replace(stored, texts=kept)


@dataclass(frozen=True, eq=False)
class _Extents:
    """All parts of all spans: first the head of every row, then the further parts."""

    owner: Ints
    start: Ints
    end: Ints
    rows: int

    def any_of(self, flags: Flags) -> Flags:
        """The rows of which some part has the flag."""
        if len(self.owner) == self.rows:
            return flags
        found = np.zeros(self.rows, dtype=bool)
        found[self.owner[flags]] = True
        return found


@dataclass(frozen=True, eq=False)
class _Where:
    """The unit of every row, the length of its text, and whether its offsets can be tried."""

    unit: Ints
    length: Ints
    sound: Flags
    page: Page


def _extents(stored: StoredSpans) -> _Extents:
    count = len(stored.start)
    if not stored.parts:
        return _Extents(np.arange(count, dtype=np.int64), stored.start, stored.end, count)
    further = [(row, p.start, p.end) for row, parts in stored.parts.items() for p in parts]
    owner, start, end = np.array(further, dtype=np.int64).T
    return _Extents(
        np.concatenate([np.arange(count, dtype=np.int64), owner]),
        np.concatenate([stored.start, start]),
        np.concatenate([stored.end, end]),
        count,
    )


def _parts(stored: StoredSpans, extents: _Extents, place: Extent) -> Mapping[int, tuple[Part, ...]]:
    if not stored.parts:
        return stored.parts
    start, end = place[0].tolist(), place[1].tolist()
    further = iter(range(extents.rows, len(extents.owner)))
    return {
        row: tuple(
            dataclasses.replace(part, start=start[here], end=end[here])
            for part, here in zip(parts, further, strict=False)
        )
        for row, parts in stored.parts.items()
    }


def _as_declared(stored: StoredSpans, extents: _Extents, unit: Ints, page: Page) -> Extent:
    of_unit = unit[extents.owner]
    if len(stored.countings) == 1:
        return _read_as(stored.countings[0], extents.start, extents.end, of_unit, page)
    start, end = extents.start.copy(), extents.end.copy()
    for code, counting in enumerate(stored.countings):
        here = (stored.counting == code)[extents.owner]
        start[here], end[here] = _read_as(counting, start[here], end[here], of_unit[here], page)
    return start, end


def _counted_again(
    place: Extent, stored: StoredSpans, extents: _Extents, unit: Ints, page: Page
) -> tuple[Extent, Flags, Flags]:
    """Offsets that Potato 2.9 and later counted on another text than they showed."""
    again = np.zeros(extents.rows, dtype=bool)
    lost = again.copy()
    if not page.miscounted:
        return place, again, lost
    start, end = place[0].copy(), place[1].copy()
    as_shown_ = np.array([counting == AS_SHOWN for counting in stored.countings], dtype=bool)
    of_unit = unit[extents.owner]
    here = np.isin(of_unit, list(page.miscounted)) & as_shown_[stored.counting][extents.owner]
    for position in np.flatnonzero(here).tolist():
        shown = page.miscounted[int(of_unit[position])]
        row = extents.owner[position]
        first = recounted(int(start[position]), shown)
        last = recounted(int(end[position]), shown)
        if first is None or last is None:
            lost[row] = True
            continue
        again[row] |= (first, last) != (start[position], end[position])
        start[position], end[position] = first, last
    return (start, end), again & ~lost, lost


def _with_others_tried(
    place: Extent, stored: StoredSpans, extents: _Extents, where: _Where
) -> tuple[Extent, list[tuple[Flags, str]]]:
    """Places in other countings, for spans whose own makes no sense."""
    repairs: dict[Counting, Flags] = {}
    for code, declared in enumerate(stored.countings):
        others = [
            other
            for other in _OTHERS.get(declared, (AS_SHOWN,))
            if not stored.unit_is_certain or other.unit == declared.unit
        ]
        rows = _rows_to_try(place, stored, extents, where, stored.counting == code, others)
        if not len(rows.all):
            continue
        start, end = place[0].copy(), place[1].copy()
        within = np.flatnonzero(flags_at(rows.all, extents.rows)[extents.owner])
        places = [
            _read_as(
                other,
                extents.start[within],
                extents.end[within],
                where.unit[extents.owner[within]],
                where.page,
            )
            for other in others
        ]
        fits = np.array([_fits(p, within, stored, extents, where)[rows.all] for p in places])
        choice = np.full(extents.rows, -1, dtype=np.int64)
        choice[rows.all] = _chosen_others(fits, rows, where.unit[rows.all])
        for number, (other, (first, last)) in enumerate(zip(others, places, strict=True)):
            taken = choice[extents.owner[within]] == number
            here = within[taken]
            moved = (start[here] != first[taken]) | (end[here] != last[taken])
            start[here], end[here] = first[taken], last[taken]
            flags = repairs.setdefault(other, np.zeros(extents.rows, dtype=bool))
            flags[extents.owner[here[moved]]] = True
        place = start, end
    return place, [(flags, f"read as {other}") for other, flags in repairs.items()]


@dataclass(frozen=True, eq=False)
class _ToTry:
    """Rows on units with some fault; ``wrong`` and ``odd`` are parallel to ``all``.

    ``wrong`` cannot be right, ``odd`` are in the middle of a word.
    """

    all: Ints
    wrong: Flags
    odd: Flags


def _rows_to_try(
    place: Extent,
    stored: StoredSpans,
    extents: _Extents,
    where: _Where,
    of_counting: Flags,
    others: Sequence[Counting],
) -> _ToTry:
    page = where.page
    triable = of_counting & where.sound & (where.length < UNKNOWN_LENGTH)
    triable &= _may_differ((*stored.countings, *others), page)[where.unit]
    nothing = _ToTry(*(np.zeros(0, dtype=kind) for kind in (np.int64, bool, bool)))
    if not triable.any():
        return nothing
    within = np.flatnonzero(triable[extents.owner])
    inside, whole = _shape(place[0][within], place[1][within], within, extents, where)
    wrong = extents.any_of(_spread(~inside, within, len(extents.owner))) & triable
    odd = extents.any_of(_spread(inside & ~whole, within, len(extents.owner))) & triable
    told = _told(place, np.flatnonzero(triable & ~wrong), stored, extents, where)
    for row, same in told.items():
        wrong[row] |= not same
        odd[row] &= not same
    faulty = wrong | odd
    if not faulty.any():
        return nothing
    rows = np.flatnonzero(triable & np.isin(where.unit, np.unique(where.unit[faulty])))
    return _ToTry(rows, wrong[rows], odd[rows] & ~wrong[rows])


def _spread(flags: Flags, within: Ints, count: int) -> Flags:
    found = np.zeros(count, dtype=bool)
    found[within] = flags
    return found


def _shape(
    start: Ints, end: Ints, within: Ints, extents: _Extents, where: _Where
) -> tuple[Flags, Flags]:
    """Whether parts lie inside their text, and whether neither end is in the middle of a word."""
    rows = extents.owner[within]
    length, base = where.length[rows], where.page.base[where.unit[rows]]
    inside = (start >= 0) & (start < end) & (end <= length)
    word = np.append(where.page.word, False)

    def cut(offset: Ints) -> Flags:
        between = inside & (offset > 0) & (offset < length)
        here = np.where(between, base + offset, 0)
        found: Flags = between & word[here] & word[here - 1]
        return found

    return inside, inside & ~cut(start) & ~cut(end)


def _told(
    place: Extent, rows: Ints, stored: StoredSpans, extents: _Extents, where: _Where
) -> dict[int, bool]:
    """For rows with a stored text: whether it stands at the place."""
    if not stored.texts and not stored.parts:
        return {}
    start, end = place
    further: dict[int, list[int]] = {}
    for position in range(extents.rows, len(extents.owner)):
        further.setdefault(int(extents.owner[position]), []).append(position)
    told: dict[int, bool] = {}
    for row in rows.tolist():
        text = where.page.texts[where.unit[row]]
        if text is None:
            continue
        if row in further:
            pairs = [
                (text[start[position] : end[position]], part.text)
                for position, part in zip(further[row], stored.parts[row], strict=True)
                if part.text
            ]
        else:
            said = stored.texts.get(row)
            pairs = [(text[start[row] : end[row]], said)] if said else []
        if pairs:
            told[row] = all(says(said, covered) for covered, said in pairs)
    return told


def says(said: str, covered: str) -> bool:
    r"""Whether a stored text is this one, blanks apart; mark-up and entities may stand in it.

    >>> says("AT&amp;T", "AT&T"), says("a\r\nb", "a b"), says("<b>a</b>", "a"), says("a", "b")
    (True, True, True, False)
    """
    if said == covered:
        return True
    there = "".join(covered.split())
    return any("".join(form.split()) == there for form in _forms(said))


def _forms(said: str) -> Iterator[str]:
    yield said
    if "<" in said or "&" in said:
        yield html.unescape(said)
        yield html.unescape(_ALL_TAGS.sub("", said))


def _fits(
    place: Extent, within: Ints, stored: StoredSpans, extents: _Extents, where: _Where
) -> Flags:
    """The rows that fit at a place: with their stored text, else in whole words without blanks."""
    start, end = place
    inside, whole = _shape(start, end, within, extents, where)
    rows = extents.owner[within]
    base = where.page.base[where.unit[rows]]
    blank = np.append(where.page.blank, False)
    whole &= ~blank[np.where(inside, base + start, -1)]
    whole &= ~blank[np.where(inside, base + end - 1, -1)]
    is_inside = ~extents.any_of(_spread(~inside, within, len(extents.owner)))
    fits = is_inside & ~extents.any_of(_spread(~whole, within, len(extents.owner)))
    full = np.zeros(len(extents.owner), dtype=np.int64), np.zeros(len(extents.owner), np.int64)
    full[0][within], full[1][within] = start, end
    candidates = np.unique(rows[is_inside[rows]])
    for row, same in _told(full, candidates, stored, extents, where).items():
        fits[row] = same
    return fits


def _chosen_others(fits: np.ndarray, rows: _ToTry, unit: Ints) -> Ints:
    """The number of the counting that each row is read in; -1 for its own."""
    codes, of_unit = np.unique(unit, return_inverse=True)
    choice = np.full(len(unit), -1, dtype=np.int64)
    for number in reversed(range(len(fits))):
        misfits = np.bincount(of_unit, weights=~fits[number], minlength=len(codes))
        choice[(misfits == 0)[of_unit]] = number
    for number in reversed(range(len(fits))):
        # In the middle of a word is weak evidence: alone it speaks for another unit at most.
        faulty = rows.wrong | rows.odd if number == 0 else rows.wrong
        alone = (choice < 0) & faulty & fits[number] & ~fits[:number].any(axis=0)
        choice[alone] = number
    return choice


def _with_texts_sought(
    place: Extent, stored: StoredSpans, extents: _Extents, where: _Where
) -> tuple[Extent, Flags, list[tuple[Flags, str]]]:
    """Places of stored texts, for contiguous spans that do not lie at theirs."""
    found = np.zeros(extents.rows, dtype=bool)
    faults = {reason: found.copy() for reason in (OTHER_TEXT, NOT_FOUND, AMBIGUOUS)}
    start, end = place
    sound = where.sound & (where.length < UNKNOWN_LENGTH)
    inside = ~extents.any_of((start < 0) | (end > where.length[extents.owner]) | (end <= start))
    rows = np.array(
        [row for row in sorted({*stored.texts, *stored.parts}) if sound[row]], dtype=np.int64
    )
    told = _told(place, rows[inside[rows]], stored, extents, where)
    start, end = start.copy(), end.copy()
    for row in rows.tolist():
        if told.get(row, inside[row] or row not in stored.texts):
            continue
        if row in stored.parts:
            faults[OTHER_TEXT][row] = True
            continue
        places = _places_of(stored.texts[row], where.page.texts[where.unit[row]] or "")
        if len(places) == 1:
            found[row] = True
            start[row], end[row] = places[0]
        else:
            faults[AMBIGUOUS if places else NOT_FOUND][row] = True
    return (start, end), found, [(flags, reason) for reason, flags in faults.items()]


def _places_of(said: str, text: str) -> list[tuple[int, int]]:
    """Where a stored text stands, for the first of its forms that stands anywhere."""
    for form in _forms(said):
        words = form.split()
        if words:
            pattern = re.compile(r"\s+".join(map(re.escape, words)))
            places = [found.span() for found in _all_of(pattern, text)]
            if places:
                return places
    return []


def _all_of(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The matches, overlapping ones too."""
    found = pattern.search(text)
    while found is not None:
        yield found
        found = pattern.search(text, found.start() + 1)


def elected(
    among: Sequence[Counting], spans: Iterable[tuple[StoredSpans, Ints]], page: Page
) -> Counting:
    """The counting in which the fewest spans are cut wrongly; of equal ones the first.

    ``spans`` are the stored spans with their units.

    >>> from potato_iaa.loaders.entries import Entry, stored_spans
    >>> from potato_iaa.loaders.rendering import Shown
    >>> page = Page.of({"d1": 0}, {"": [Shown("\U0001f525 Ada met Bob.")]})
    >>> spans = stored_spans([("d1", [Entry(schema="ner", name="PER", start=3, end=6)])])
    >>> str(elected(UNTOLD, [(spans, np.array([0]))], page))
    'UTF-16 units of the text as shown'
    """
    misfits = np.zeros(len(among), dtype=np.int64)
    for stored, unit in spans:
        extents = _extents(stored)
        length = np.append(page.lengths, -1)[unit]
        sound = (length >= 0) & (length < UNKNOWN_LENGTH) & (stored.end > stored.start)
        where = _Where(unit, length, sound, page)
        within = np.flatnonzero(sound[extents.owner])
        of_unit = unit[extents.owner[within]]
        for number, counting in enumerate(among):
            start, end = _read_as(
                counting, extents.start[within], extents.end[within], of_unit, page
            )
            _, whole = _shape(start, end, within, extents, where)
            misfits[number] += int((~whole).sum())
    return among[int(misfits.argmin())]
