"""Who is compared with whom, and the counts of which every F1 is made, pass by pass."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from potato_iaa.layer import Layer
from potato_iaa.matcher import (
    align,
    align_soft,
    compare_passes,
    count_matches,
    count_spans,
    overlap_edges,
)
from potato_iaa.matcher.counts import Comparisons, Counts, Matrix, join_counts, tally
from tests.worlds import ONE_UNIT, World, worlds

SMALL = worlds() | worlds(ONE_UNIT)
few = settings(max_examples=20)
Cell = tuple[str, str, str, str]


def rows(layer: Layer, comparisons: Comparisons) -> list[tuple[str, str, str]]:
    """Item and annotators of every comparison."""
    return [
        (
            layer.items[item],
            layer.annotators[comparisons.pair_a[pair]],
            layer.annotators[comparisons.pair_b[pair]],
        )
        for item, pair in zip(comparisons.item, comparisons.pair, strict=True)
    ]


@few
@given(SMALL)
def test_two_annotators_are_compared_on_the_items_of_which_both_passed_a_field(
    world: World,
) -> None:
    layer = world.layer()
    comparisons = compare_passes(layer)
    together = {
        (*one[:2], one[2], other[2])
        for one, other in combinations(world.places, 2)
        if one[:2] == other[:2]
    }
    assert rows(layer, comparisons) == sorted({(item, a, b) for item, _, a, b in together})
    pairs = sorted({(a, b) for *_, a, b in together})
    assert [
        (layer.annotators[a], layer.annotators[b])
        for a, b in zip(comparisons.pair_a, comparisons.pair_b, strict=True)
    ] == pairs
    unfolded = list(zip(comparisons.pass_a.tolist(), comparisons.pass_b.tolist(), strict=True))
    assert [(*world.places[a], world.places[b][2]) for a, b in unfolded] == sorted(together)
    assert comparisons.row_of(comparisons.pass_a, comparisons.pass_b).tolist() == list(
        range(len(unfolded))
    )


def cells(layer: Layer, comparisons: Comparisons, counts: Matrix) -> dict[Cell, float]:
    """What is not zero, under item, annotators and label."""
    table = counts.tocoo()
    named = rows(layer, comparisons)
    return {
        (*named[row], layer.labels[column]): value
        for row, column, value in zip(table.row, table.col, table.data.tolist(), strict=True)
        if value
    }


@few
@given(SMALL)
def test_spans_are_counted_for_both_sides_of_every_comparison(world: World) -> None:
    layer = world.layer()
    comparisons, edges = compare_passes(layer), overlap_edges(layer)
    right: tuple[Counter[Cell], Counter[Cell]] = (Counter(), Counter())
    for one, other in combinations(world.places, 2):
        if one[:2] == other[:2]:
            for spans, place in zip(right, (one, other), strict=True):
                spans.update((one[0], one[2], other[2], label) for label, _ in world.passes[place])
    for alignment in (align(layer, edges), align_soft(layer, edges, None)):
        counts = count_matches(layer, comparisons, alignment, count_spans(layer, comparisons))
        assert cells(layer, comparisons, counts.n_a) == right[0]
        assert cells(layer, comparisons, counts.n_b) == right[1]
        for side, ends in ((counts.tp_a, alignment.left), (counts.tp_b, alignment.right)):
            matched: dict[Cell, float] = {}
            for left, other, span, worth in zip(
                alignment.left, alignment.right, ends, alignment.worth, strict=True
            ):
                cell = (
                    layer.items[layer.unit_item[layer.span_unit[span]]],
                    layer.annotators[layer.span_annotator[left]],
                    layer.annotators[layer.span_annotator[other]],
                    layer.labels[layer.span_label[span]],
                )
                matched[cell] = matched.get(cell, 0.0) + float(worth)
            assert cells(layer, comparisons, side) == pytest.approx(matched)
            assert side.shape == (len(comparisons.item), len(layer.labels))


def test_joined_counts_stand_one_after_the_other_and_share_what_rules_share() -> None:
    def matrix(*rows: list[float]) -> Matrix:
        return Matrix(np.array(rows))

    def counts(spans: tuple[Matrix, Matrix], a: float, b: float) -> Counts:
        return Counts(*spans, matrix([a, 0.0]), matrix([0.0, b]))

    parts = []
    for first in (1.0, 10.0):
        spans = (matrix([first, 2.0], [0.0, first]), matrix([3.0, first]))
        parts.append({"exact": counts(spans, first, 4), "overlap": counts(spans, 5, first)})
    joined = join_counts(parts)
    assert {
        name: [of_rule.toarray().tolist() for of_rule in vars(counts).values()]
        for name, counts in joined.items()
    } == {
        "exact": [
            [[1, 2], [0, 1], [10, 2], [0, 10]],
            [[3, 1], [3, 10]],
            [[1, 0], [10, 0]],
            [[0, 4], [0, 4]],
        ],
        "overlap": [
            [[1, 2], [0, 1], [10, 2], [0, 10]],
            [[3, 1], [3, 10]],
            [[5, 0], [5, 0]],
            [[0, 1], [0, 10]],
        ],
    }
    alone = join_counts(parts[:1])["overlap"]
    assert alone.tp_b.toarray().tolist() == [[0, 1]]
    assert joined["exact"].n_a is joined["overlap"].n_a
    assert joined["exact"].n_b is joined["overlap"].n_b
    assert all(isinstance(of_rule, Matrix) for of_rule in vars(joined["exact"]).values())


def test_a_tally_adds_up_what_falls_on_one_cell() -> None:
    place = np.array([0, 1, 0]), np.array([2, 0, 2])
    found = tally(*place, np.array([1, 5, 2]), (2, 3))
    assert found.toarray().tolist() == [[0.0, 0.0, 3.0], [5.0, 0.0, 0.0]]
    assert found.dtype == np.float64
