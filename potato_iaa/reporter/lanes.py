"""Spans as lanes beneath the text: one lane per annotator, cut where any span begins or ends.

The text stays one run of inline pieces without any width of their own, so that the browser breaks
its lines, joins its letters and orders its directions as it would without the lanes. What a piece
carries is drawn as its background, in classes, as the page allows no inline styles.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from potato_iaa.reporter.safe_text import visible
from potato_iaa.reporter.svg import element, number

Parts = tuple[tuple[int, int], ...]

COLOURS = 8
PATTERNS = 3
MOST_ROWS = 24
PITCH = 10
LETTERS = "abcdefghijklmnopqrstuvwx"
# Of texts longer than LONG only what lies around disagreements is shown: AROUND code points on
# both sides, and up to WORD more to the next blank.
LONG = 1600
AROUND = 90
WORD = 20
CUT = " […] "
_LINES = re.compile(r"(\r?\n|\t)")


@dataclass(frozen=True)
class Mark:
    """A span: its label and its parts, in order."""

    label: str
    parts: Parts


@dataclass(frozen=True)
class Lane:
    """What one annotator marked."""

    annotator: str
    role: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Row:
    """Marks drawn at one height: all of an annotator's that do not overlap."""

    annotator: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Piece:
    """A stretch of text with what each row shows on it, ``None`` for nothing."""

    start: int
    end: int
    cells: tuple[tuple[Mark, str] | None, ...]


def rows_of(lanes: Iterable[Lane]) -> tuple[Row, ...]:
    """Lanes as rows: nested and crossing spans of one annotator lie beneath each other.

    >>> outer, inner = Mark("a", ((0, 9),)), Mark("b", ((2, 4),))
    >>> [row.marks for row in rows_of([Lane("ann", "human", (inner, outer))])] == [
    ...     (outer,), (inner,)]
    True
    """
    rows: list[Row] = []
    for lane in lanes:
        levels: list[list[Mark]] = [[]]
        for mark in sorted(lane.marks, key=lambda mark: (mark.parts[0][0], -mark.parts[-1][1])):
            start = mark.parts[0][0]
            free = (level for level in levels if not level or level[-1].parts[-1][1] <= start)
            level = next(free, None)
            if level is None:
                levels.append(level := [])
            level.append(mark)
        rows += [Row(lane.annotator, tuple(level)) for level in levels]
    return tuple(rows)


def pieces_of(rows: Sequence[Row], length: int) -> tuple[Piece, ...]:
    """The text from 0 to ``length``, cut at every boundary of a part.

    >>> row = Row("ann", (Mark("a", ((0, 3), (5, 6))),))
    >>> [(piece.start, piece.end, piece.cells[0] and piece.cells[0][1])
    ...  for piece in pieces_of([row], 8)]
    [(0, 3, 'begin'), (3, 5, 'link'), (5, 6, 'on'), (6, 8, None)]
    """
    edges = {edge for row in rows for mark in row.marks for part in mark.parts for edge in part}
    cuts = sorted({0, length} | {edge for edge in edges if 0 < edge < length})
    tracks = [_track(row, cuts) for row in rows]
    return tuple(
        Piece(start, end, tuple(track.get(start) for track in tracks))
        for start, end in pairwise(cuts)
    )


def _track(row: Row, cuts: Sequence[int]) -> dict[int, tuple[Mark, str]]:
    """What a row shows from each cut on: that a span begins, goes on, or leads to its next part."""
    place = {cut: position for position, cut in enumerate(cuts)}
    shown: dict[int, tuple[Mark, str]] = {}
    for mark in row.marks:
        last = 0
        for step, (start, end) in enumerate(mark.parts):
            if step:
                shown |= dict.fromkeys(cuts[place[last] : place[start]], (mark, "link"))
            shown |= dict.fromkeys(cuts[place[start] : place[end]], (mark, "on"))
            last = end
        shown[mark.parts[0][0]] = (mark, "begin")
    return shown


def lane_text(
    text: str,
    rows: Sequence[Row],
    colours: Mapping[str, int],
    *,
    near: Iterable[tuple[int, int]] = (),
) -> Markup:
    """The text, its pieces carrying the rows beneath them; a long one only ``near`` places."""
    kept = _kept(text, near)
    drawn = []
    for piece in pieces_of(rows, len(text)):
        for start, end, whole in _windows(piece, kept):
            if not whole:
                drawn.append(element("span", CUT, class_="cut"))
            drawn.append(_drawn(text[start:end], piece, start, colours))
    if kept[-1][1] < len(text):
        drawn.append(element("span", CUT, class_="cut"))
    return Markup("").join(drawn)


def _drawn(text: str, piece: Piece, start: int, colours: Mapping[str, int]) -> Markup:
    classes = ["s"]
    if _right_to_left(text):
        classes.append("r")
    height = len(piece.cells)
    for place, cell in enumerate(piece.cells):
        if cell is None:
            continue
        mark, how = cell
        # Rows are counted from the lowest up: the distance to the bottom does not depend on how
        # many there are.
        letter = LETTERS[height - 1 - place]
        classes.append(f"{letter}{colours[mark.label]}")
        if how == "link":
            classes.append(f"{letter}l")
        elif how == "begin" and start == piece.start:
            classes.append(f"{letter}b")
    return element("span", readable(text), class_=" ".join(classes))


def readable(text: str) -> Markup:
    r"""The text with its lines and tabs, every other control character written out.

    >>> readable("a\r\nb\x07<")
    Markup('a\nb<span class="ctl">\\x07</span>&lt;')
    """
    written: list[Markup] = []
    for step, part in enumerate(_LINES.split(text)):
        if step % 2:
            written.append(Markup("\n" if part.endswith("\n") else "\t"))
            continue
        for clean, plain in _controls(part):
            written.append(Markup.escape(clean) if plain else element("span", clean, class_="ctl"))
    return Markup("").join(written)


def _controls(text: str) -> Iterator[tuple[str, bool]]:
    if visible(text) == text:
        yield text, True
        return
    clean = ""
    for character in text:
        if visible(character) == character:
            clean += character
            continue
        yield clean, True
        yield visible(character), False
        clean = ""
    yield clean, True


def _kept(text: str, near: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """What is shown of the text, from where to where."""
    if len(text) <= LONG:
        return [(0, len(text))]
    kept: list[tuple[int, int]] = []
    for first, last in sorted(near):
        start, end = _widened(text, first, last)
        if kept and start <= kept[-1][1]:
            kept[-1] = (kept[-1][0], max(kept[-1][1], end))
        else:
            kept.append((start, end))
    return kept or [(0, LONG)]


def _widened(text: str, first: int, last: int) -> tuple[int, int]:
    """A place with what lies around it, from blank to blank where there are any."""
    start, end = max(first - AROUND, 0), min(last + AROUND, len(text))
    before, after = text[max(start - WORD, 0) : start], text[end : end + WORD]
    start -= len(before) - before.rfind(" ") - 1 if " " in before else 0
    end += max(after.find(" "), 0)
    return start, end


def _windows(piece: Piece, kept: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, bool]]:
    """What is kept of a piece, and whether nothing was left out before it."""
    for start, end in kept:
        first, last = max(piece.start, start), min(piece.end, end)
        if first < last:
            yield first, last, not (first == start and start > 0)


def _right_to_left(text: str) -> bool:
    for character in text:
        direction = unicodedata.bidirectional(character)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return False


def lane_picture(rows: Sequence[Row], length: int, colours: Mapping[str, int]) -> Markup:
    """The rows without the text, from the first to the last code point."""
    drawn = []
    for place, row in enumerate(rows):
        top = place * PITCH + 2
        drawn.append(element("rect", x=0, y=top + 2, width="100%", height=1, class_="track"))
        for mark in row.marks:
            colour = f"fill{colours[mark.label] % COLOURS}"
            if len(mark.parts) > 1:
                first, last = mark.parts[0][0], mark.parts[-1][1]
                drawn.append(_bar(first, last, length, top + 1.5, 2, colour))
            drawn += [_bar(start, end, length, top, 5, colour) for start, end in mark.parts]
    height = len(rows) * PITCH
    return element("svg", *drawn, class_="offsets", width="100%", height=height, aria_hidden="true")


def _bar(start: int, end: int, length: int, y: float, height: float, colour: str) -> Markup:
    x, width = 100 * start / length, 100 * (end - start) / length
    return element(
        "rect", x=f"{number(x)}%", y=y, width=f"{number(width)}%", height=height, class_=colour
    )


def lane_style(heights: Iterable[int]) -> str:
    """The style sheet of lanes: one background per row, for every number of rows in use."""
    used = sorted(set(heights))
    if not used:
        return ""
    rules = []
    for height in used:
        layers = ",".join(
            f"var(--i{row},var(--k)) var(--x,100%) calc(100% - {row * PITCH}px - var(--y{row},2px))"
            f"/calc(100% - var(--g{row},0px)) var(--h{row},1px) no-repeat"
            for row in range(height)
        )
        rules.append(f".rows{height} .s{{background:{layers};padding-bottom:{height * PITCH}px}}")
        line = height * PITCH + 27
        rules.append(
            f".rows{height} .text{{line-height:{line}px;margin-top:-{height * PITCH // 2 - 2}px;"
            f"padding-bottom:{height * PITCH // 2 + 4}px}}"
            f".rows{height} .names{{padding-top:{line // 2 + 10}px;"
            f"margin-top:-{height * PITCH // 2 - 2}px}}"
        )
    for row in range(used[-1]):
        letter = LETTERS[row]
        rules += [
            f".{letter}{colour}{{--i{row}:var(--k{colour});--h{row}:6px;--y{row}:0px}}"
            for colour in range(COLOURS * PATTERNS)
        ]
        rules.append(f".{letter}l{{--h{row}:2px;--y{row}:2px}}.{letter}b{{--g{row}:2px}}")
    return "".join(rules)


def label_colours(labels: Iterable[str]) -> dict[str, int]:
    """A colour and pattern for every label; they begin again when there are no more."""
    return {label: place % (COLOURS * PATTERNS) for place, label in enumerate(labels)}
