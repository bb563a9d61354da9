"""Lanes: the text stays whole beneath any spans, and every span has a place of its own."""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from potato_iaa.reporter.lanes import (
    CUT,
    LONG,
    Lane,
    Mark,
    label_colours,
    lane_picture,
    lane_style,
    lane_text,
    pieces_of,
    rows_of,
)
from potato_iaa.reporter.safe_text import visible

LABELS = ("a", "b", "c")
LENGTH = 30


@st.composite
def marks(draw: st.DrawFn) -> Mark:
    edges = sorted(
        draw(
            st.lists(st.integers(0, LENGTH), min_size=2, max_size=6, unique=True).filter(
                lambda found: len(found) % 2 == 0
            )
        )
    )
    parts = tuple(zip(edges[::2], edges[1::2], strict=True))
    return Mark(draw(st.sampled_from(LABELS)), parts)


lanes = st.lists(
    st.builds(
        Lane,
        st.sampled_from(["A", "B"]),
        st.just("human"),
        st.lists(marks(), max_size=4).map(tuple),
    ),
    max_size=3,
)


def plain(markup: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", markup))


@given(st.text(min_size=LENGTH, max_size=LENGTH), lanes)
def test_the_text_stays_whole(text: str, drawn: list[Lane]) -> None:
    shown = plain(lane_text(text, rows_of(drawn), label_colours(LABELS)))
    kept = re.sub("\r?\n", "\n", text)
    lines = ["\t".join(map(visible, line.split("\t"))) for line in kept.split("\n")]
    # A span may end between the two characters of a line end.
    assert shown.replace("\\r\n", "\n") == "\n".join(lines)


@given(lanes)
def test_no_row_holds_overlapping_spans(drawn: list[Lane]) -> None:
    rows = rows_of(drawn)
    for row in rows:
        assert all(one.parts[-1][1] <= other.parts[0][0] for one, other in pairwise(row.marks))
    assert sorted(id(mark) for row in rows for mark in row.marks) == sorted(
        id(mark) for lane in drawn for mark in lane.marks
    )


@given(lanes)
def test_every_piece_shows_what_covers_it(drawn: list[Lane]) -> None:
    rows = rows_of(drawn)
    pieces = pieces_of(rows, LENGTH)
    assert [piece.start for piece in pieces] == [0, *(piece.end for piece in pieces[:-1])]
    for piece in pieces:
        for row, cell in zip(rows, piece.cells, strict=True):
            covering = [
                mark
                for mark in row.marks
                if any(start <= piece.start and piece.end <= end for start, end in mark.parts)
            ]
            shown = [cell[0]] if cell and cell[1] != "link" else []
            assert shown == covering


def test_of_a_long_text_only_what_is_near_is_shown() -> None:
    text = "x" * LONG + " Ada " + "y" * 85 + " yy zz " + "z" * LONG
    row = rows_of([Lane("A", "human", (Mark("a", ((LONG + 1, LONG + 4), (2, 5))),))])
    shown = plain(lane_text(text, row, label_colours(LABELS), near=[(LONG + 1, LONG + 4)]))
    assert shown.startswith(CUT + "x")
    assert shown.endswith(" yy zz" + CUT)
    assert " Ada " in shown
    assert len(shown) < 250


def test_pictures_without_text_hold_no_text() -> None:
    row = rows_of([Lane("A", "human", (Mark("a", ((1, 3), (5, 6))),))])
    picture = lane_picture(row, 10, label_colours(LABELS))
    assert plain(picture) == ""
    assert picture.count("fill0") == 3


def test_styles_name_no_class_twice() -> None:
    rules = re.findall(r"\.([a-x](?:\d+|[lb]))\{", lane_style(range(1, 25)))
    assert len(rules) == 24 * 26
    assert len(rules) == len(set(rules))
    assert lane_style([]) == ""
