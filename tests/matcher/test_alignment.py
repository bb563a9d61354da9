"""Matchings of any shape of knot: against brute force, and large knots against small ones."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_iaa import Corpus
from potato_iaa.corpus import FARTHEST
from potato_iaa.layer import Layer, make_layer
from potato_iaa.matcher import (
    Alignment,
    align,
    align_soft,
    alignment,
    overlap_edges,
    typed_edges,
)
from potato_iaa.matcher.edges import Edges, similarity

TEXT = "abcdefghijklmnopqrst"
Marks = list[tuple[int, int, str]]
SPAN = st.tuples(st.integers(0, 18), st.integers(1, 8), st.sampled_from("XY")).map(
    lambda span: (span[0], min(span[0] + span[1], len(TEXT)), span[2])
)
MARKS = st.lists(SPAN, max_size=5, unique=True)


def layer_of(*marks: Marks, text: str | None = TEXT) -> Layer:
    names = "abcdef"[: len(marks)]
    return make_layer(
        Corpus.from_tables(
            items=[("d", text)],
            passes=[("d", name) for name in names],
            spans=[
                ("d", name, *mark) for name, own in zip(names, marks, strict=True) for mark in own
            ],
        ),
        "spans",
    )


def ranking(layer: Layer, edges: Edges, chosen: list[int]) -> tuple[int, int, int, int]:
    """What a matching is judged by: matches, overlap, equal labels, and small offsets."""
    left, right = edges.left[chosen], edges.right[chosen]
    offsets = (
        layer.span_start[left]
        + layer.span_end[left]
        + layer.span_start[right]
        + layer.span_end[right]
    )
    alike = layer.span_label[left] == layer.span_label[right]
    return len(chosen), int(edges.overlap[chosen].sum()), int(alike.sum()), -int(offsets.sum())


def matchings(edges: Edges) -> list[list[int]]:
    """Every one-to-one matching of two annotators' spans, by brute force."""
    lefts = sorted(set(edges.left.tolist()))
    rights: list[int | None] = sorted(set(edges.right.tolist()))
    edge_of = {
        (a, b): place
        for place, (a, b) in enumerate(zip(edges.left.tolist(), edges.right.tolist(), strict=True))
    }
    ways = permutations(rights + [None] * len(lefts), len(lefts))
    return [
        [edge_of[pair] for pair in zip(lefts, way, strict=True) if pair in edge_of]
        for way in set(ways)
    ]


@given(a=st.lists(SPAN, max_size=3, unique=True), b=st.lists(SPAN, max_size=3, unique=True))
def test_the_listed_matching_is_the_best_of_all(a: Marks, b: Marks) -> None:
    layer = layer_of(a, b)
    edges = overlap_edges(layer)
    found = align(layer, edges)
    place = {
        pair: number
        for number, pair in enumerate(zip(edges.left.tolist(), edges.right.tolist(), strict=True))
    }
    chosen = [place[pair] for pair in zip(found.left.tolist(), found.right.tolist(), strict=True)]
    assert ranking(layer, edges, chosen) == max(
        ranking(layer, edges, way) for way in matchings(edges)
    )
    assert found.worth.tolist() == [1.0] * len(chosen)


@given(a=st.lists(SPAN, max_size=3, unique=True), b=st.lists(SPAN, max_size=3, unique=True))
def test_the_soft_matching_has_the_greatest_total_similarity(a: Marks, b: Marks) -> None:
    layer = layer_of(a, b)
    edges = overlap_edges(layer)
    above, below = similarity(layer, edges, "iou")
    best = max(float((above / below)[way].sum()) for way in matchings(edges))
    assert align_soft(layer, edges, None).worth.sum() == pytest.approx(best)


@given(marks=st.lists(MARKS, min_size=2, max_size=4))
def test_large_knots_are_matched_as_small_ones_are(marks: list[Marks]) -> None:
    layer = layer_of(*marks)
    for edges in (overlap_edges(layer), typed_edges(layer, overlap_edges(layer))):
        small = align(layer, edges)
        soft = align_soft(layer, edges, "dice").worth.sum()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(alignment, "TABLE", 0)
            large = align(layer, edges)
            assert align_soft(layer, edges, "dice").worth.sum() == pytest.approx(soft)
        assert len(small.left) == len(large.left)
        assert overlap_of(edges, small.left, small.right) == overlap_of(
            edges, large.left, large.right
        )


def overlap_of(edges: Edges, left: np.ndarray, right: np.ndarray) -> int:
    overlap = dict(
        zip(zip(edges.left.tolist(), edges.right.tolist(), strict=True), edges.overlap, strict=True)
    )
    return int(sum(overlap[pair] for pair in zip(left.tolist(), right.tolist(), strict=True)))


Pairs = set[tuple[tuple[int, int, str], tuple[int, int, str]]]


def listed(layer: Layer, found: Alignment) -> Pairs:
    """The partners, each as (start, end, label)."""

    def mark(span: int) -> tuple[int, int, str]:
        label = layer.labels[layer.span_label[span]]
        return int(layer.span_start[span]), int(layer.span_end[span]), label

    pairs = [(mark(left), mark(right)) for left, right in zip(found.left, found.right, strict=True)]
    assert len(pairs) == len(set(pairs))
    return set(pairs)


as_tables_and_by_edges = pytest.mark.parametrize("table", [0, alignment.TABLE])


@as_tables_and_by_edges
@pytest.mark.parametrize("enumerable", [0, alignment.ENUMERABLE])
@pytest.mark.parametrize(
    ("a", "b", "right"),
    [
        # The first span and the second both meet b's first only, and the second meets it more.
        (
            [(0, 2, "X"), (2, 12, "X"), (14, 20, "X")],
            [(0, 15, "X"), (15, 17, "X"), (18, 20, "X")],
            {((2, 12, "X"), (0, 15, "X")), ((14, 20, "X"), (15, 17, "X"))},
        ),
        # A chain: greedily the middle ones would take each other and leave the outer ones alone.
        (
            [(0, 4, "X"), (3, 12, "X")],
            [(2, 10, "X"), (11, 14, "X")],
            {((0, 4, "X"), (2, 10, "X")), ((3, 12, "X"), (11, 14, "X"))},
        ),
    ],
)
def test_partners_by_hand(
    monkeypatch: pytest.MonkeyPatch,
    table: int,
    enumerable: int,
    a: Marks,
    b: Marks,
    right: Pairs,
) -> None:
    monkeypatch.setattr(alignment, "TABLE", table)
    monkeypatch.setattr(alignment, "ENUMERABLE", enumerable)
    layer = layer_of(a, b)
    assert listed(layer, align(layer, overlap_edges(layer))) == right
    swapped = layer_of(b, a)
    assert listed(swapped, align(swapped, overlap_edges(swapped))) == {
        (other, one) for one, other in right
    }


@as_tables_and_by_edges
def test_the_soft_matching_leaves_spans_alone_where_that_adds_up_to_more(
    monkeypatch: pytest.MonkeyPatch, table: int
) -> None:
    # One pair of equal spans is worth 1; the two pairs that could be made instead 1/10 + 1/18.
    monkeypatch.setattr(alignment, "TABLE", table)
    layer = layer_of([(0, 10, "X"), (9, 18, "X")], [(0, 1, "X"), (0, 10, "X")])
    found = align_soft(layer, overlap_edges(layer), None)
    assert listed(layer, found) == {((0, 10, "X"), (0, 10, "X"))}
    assert found.worth.tolist() == [1.0]


@pytest.mark.parametrize("mark", [None, (0, 3, "X")])
def test_without_a_pair_of_spans_there_is_no_match(mark: tuple[int, int, str] | None) -> None:
    layer = layer_of([mark] if mark else [], [])
    for found in (
        align(layer, overlap_edges(layer)),
        align_soft(layer, overlap_edges(layer), None),
    ):
        assert len(found.left) == len(found.right) == len(found.worth) == 0


FAR = FARTHEST // 3


@pytest.mark.parametrize(
    ("a", "b", "right"),
    [
        # The number of matches: all of b's first span lies in a's, but two matches are more.
        (
            [(0, 1, "X"), (0, 2 * FAR, "X")],
            [(0, FAR, "X"), (2 * FAR - 1, 3 * FAR, "X")],
            {((0, 1, "X"), (0, FAR, "X")), ((0, 2 * FAR, "X"), (2 * FAR - 1, 3 * FAR, "X"))},
        ),
        # In any order of the spans.
        (
            [(0, 2 * FAR, "X"), (1, 2, "X")],
            [(0, 5, "X"), (10, FAR, "X")],
            {((0, 2 * FAR, "X"), (10, FAR, "X")), ((1, 2, "X"), (0, 5, "X"))},
        ),
        # The overlap, by one character, against equal labels and the smallest offsets.
        (
            [(0, 2 * FAR, "X")],
            [(2, FAR, "X"), (FAR + 1, 2 * FAR, "Y")],
            {((0, 2 * FAR, "X"), (FAR + 1, 2 * FAR, "Y"))},
        ),
        # Equal labels, where overlaps are equal, against the smallest offsets.
        (
            [(0, 2 * 10**8, "X")],
            [(0, 10**8, "Y"), (10**8, 2 * 10**8, "X")],
            {((0, 2 * 10**8, "X"), (10**8, 2 * 10**8, "X"))},
        ),
        # Offsets still count in a knot of short spans beside it.
        (
            [(1, 5, "X"), (20, 20 + 2 * 10**8, "X")],
            [(0, 10, "X"), (1, 5, "X"), (20, 20 + 10**8, "Y"), (20 + 10**8, 20 + 2 * 10**8, "X")],
            {
                ((1, 5, "X"), (1, 5, "X")),
                ((20, 20 + 2 * 10**8, "X"), (20 + 10**8, 20 + 2 * 10**8, "X")),
            },
        ),
    ],
)
def test_lengths_beyond_what_a_float_holds_cost_the_last_levels_first(
    a: Marks, b: Marks, right: Pairs
) -> None:
    layer = layer_of(a, b, text=None)
    assert listed(layer, align(layer, overlap_edges(layer))) == right


def test_a_span_over_the_whole_text_ties_everything_into_one_knot() -> None:
    everything = [(0, 20, "X")]
    words = [(start, start + 1, "X") for start in range(20)]
    layer = layer_of(everything + words, everything + words[:-1])
    assert len(align(layer, overlap_edges(layer)).left) == 20


@pytest.mark.parametrize(
    ("a", "b", "right"),
    [
        # Labels decide where overlaps cannot.
        ([(0, 4, "X"), (0, 4, "Y")], [(0, 4, "Y"), (0, 4, "X")], {("X", "X"), ("Y", "Y")}),
        # The greater overlap is listed.
        ([(0, 9, "X")], [(0, 3, "X"), (3, 9, "Y")], {("X", "Y")}),
        # Then the smaller offsets.
        ([(0, 8, "X")], [(0, 4, "X"), (4, 8, "X")], {("X", "X")}),
    ],
)
def test_ties_are_settled_by_overlap_then_labels_then_offsets(
    a: Marks, b: Marks, right: set[tuple[str, str]]
) -> None:
    layer = layer_of(a, b)
    found = align(layer, overlap_edges(layer))
    names = layer.labels
    assert {
        (names[layer.span_label[one]], names[layer.span_label[other]])
        for one, other in zip(found.left, found.right, strict=True)
    } == right
    assert layer.span_start[found.right].min() == min(
        start for start, end, label in b if (label in {pair[1] for pair in right})
    )
