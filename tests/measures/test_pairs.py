"""Pairs: sums over the items that each pair shares, and who shares enough for an interval."""

from __future__ import annotations

import numpy as np
import pytest

from potato_iaa.layer import make_layer
from potato_iaa.matcher import compare_passes
from potato_iaa.measures import pairs
from potato_iaa.measures.pairs import PairGrid
from tests.corpora import Marks, corpus_of, figures_of

X = (0, 4, "X")
READERS = {"d1": "ABCD", "d2": "AB", "d3": "BD", "d4": "ACD", "d5": "E", "d6": "ABCDE"}
RESAMPLES = 3


@pytest.mark.parametrize("held", [1, 8, 9, 20, 500_000])
@pytest.mark.parametrize("columns", [1, 2])
def test_sums_are_those_of_every_pair_by_itself_however_many_are_held_at_once(
    monkeypatch: pytest.MonkeyPatch, held: int, columns: int
) -> None:
    monkeypatch.setattr(pairs, "BLOCK", held)
    marks: Marks = {item: {who: [X] for who in people} for item, people in READERS.items()}
    comparisons = compare_passes(make_layer(corpus_of(marks), "spans"))
    drawn = np.random.default_rng(1)
    weights = drawn.integers(0, 4, (len(READERS), 1 + RESAMPLES)).astype(np.float64)
    values = drawn.integers(0, 9, (len(comparisons.item), columns)).astype(np.float64)
    grid = PairGrid(comparisons, weights)

    right = np.zeros((columns, grid.pairs, 1 + RESAMPLES))
    for row, (pair, item) in enumerate(zip(comparisons.pair, comparisons.item, strict=True)):
        for column in range(columns):
            right[column, pair] += values[row, column] * weights[item]
    found = np.full_like(right, np.nan)
    places = []
    for here, sums in grid.blocks(values):
        found[:, here] = sums
        assert sums.size <= max(held, columns * (1 + RESAMPLES))
        places += range(here.start, here.stop)
    assert places == list(range(10))
    np.testing.assert_array_equal(found, right)


def test_a_pair_keeps_its_interval_beside_one_that_shares_too_few_items() -> None:
    marks: Marks = {f"d{number}": {"A": [X], "B": [X]} for number in range(5)}
    rows = figures_of(corpus_of({**marks, "d5": {"B": [X], "C": [X]}}), bootstrap=200)
    found = {(row["a"], row["b"]): row for row in rows["f1"]["exact_typed"]["pairs"]}
    assert (found["A", "B"]["low"], found["A", "B"]["high"]) == (1.0, 1.0)
    assert found["A", "B"]["interval_why"] is None
    # A resample has none of five among six items once in 6⁶.
    assert found["A", "B"]["undefined"] == 0.0
    assert (found["B", "C"]["low"], found["B", "C"]["high"]) == (None, None)
    assert found["B", "C"]["interval_why"] == "fewer than 5 shared items"
