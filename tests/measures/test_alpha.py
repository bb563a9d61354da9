"""Nominal alpha and its parts, for many resamples at once, against the krippendorff package."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from potato_iaa.measures.alpha import (
    beyond_chance,
    chance_agreement,
    label_alphas,
    nominal_alpha,
    observed_agreement,
    variation,
    weighted,
)
from potato_iaa.measures.tokens import Coincidences, LabelCoincidences
from tests.measures.test_laws import package_alpha

VALUES = ("O", "X", "Y")
Units = list[dict[str, str]]


def random_units(seed: int, items: int = 6) -> Units:
    """One unit per item, with two annotators or three."""
    order = random.Random(seed)
    return [
        {who: order.choice(VALUES) for who in "ABC"[: order.choice([2, 3])]} for _ in range(items)
    ]


def coincidences(units: Units) -> Coincidences:
    disagreement = [
        sum(c != k for c, k in permutations(unit.values(), 2)) / (len(unit) - 1) for unit in units
    ]
    counts = [[Counter(unit.values())[value] for value in VALUES] for unit in units]
    return Coincidences(VALUES, np.array(disagreement), np.array(counts, dtype=np.float64))


def drawn(units: Units, weights: list[int]) -> Units:
    return [unit for unit, weight in zip(units, weights, strict=True) for _ in range(weight)]


@pytest.mark.parametrize("size", [10, 10**4, 10**8, 10**12, 10**15])
@pytest.mark.parametrize("marked", [[1], [1, 2], [3, 1, 1]])
def test_few_marks_among_any_number_of_values_lose_no_digit(size: int, marked: list[int]) -> None:
    differing = 3
    counts = [size - sum(marked), *marked]
    varied = size**2 - sum(count**2 for count in counts)
    of = np.array(float(differing)), np.array(counts, dtype=np.float64)
    assert variation(of[1]) == varied
    # What is near 0 here is the difference of two numbers near 1.
    assert nominal_alpha(*of) == pytest.approx(
        float(1 - Fraction((size - 1) * differing, varied)), rel=1e-12, abs=1e-15
    )
    assert beyond_chance(*of) == pytest.approx(
        float(1 - Fraction(size * differing, varied)), rel=1e-12, abs=1e-15
    )


WEIGHTS = [[1, 1, 1, 1, 1, 1], [2, 0, 1, 0, 3, 0], [0, 1, 0, 2, 0, 3], [0, 0, 0, 0, 0, 0]]


@pytest.mark.parametrize("seed", range(6))
def test_every_column_of_weights_has_the_figures_of_its_own_sample(seed: int) -> None:
    units = random_units(seed)
    disagreement, values = weighted(coincidences(units), np.array(WEIGHTS, dtype=np.float64).T)
    alphas = nominal_alpha(disagreement, values)
    observed, chance = observed_agreement(disagreement, values), chance_agreement(values)
    beyond = beyond_chance(disagreement, values)
    assert alphas.shape == observed.shape == chance.shape == (len(WEIGHTS),)
    for column, weights in enumerate(WEIGHTS):
        sample = drawn(units, weights)
        given = Counter(value for unit in sample for value in unit.values())
        if not sample:
            assert math.isnan(alphas[column])
            assert math.isnan(observed[column])
            assert math.isnan(chance[column])
            continue
        if len(given) > 1:
            assert alphas[column] == pytest.approx(package_alpha(sample), abs=1e-12)
        else:
            assert math.isnan(alphas[column])
        agreeing = sum(
            (c == k) / (len(unit) - 1) for unit in sample for c, k in permutations(unit.values(), 2)
        )
        assert observed[column] == pytest.approx(agreeing / given.total())
        by_chance = sum((count / given.total()) ** 2 for count in given.values())
        assert chance[column] == pytest.approx(by_chance)
        if len(given) > 1:
            right = (observed[column] - by_chance) / (1 - by_chance)
            assert beyond[column] == pytest.approx(right)
        else:
            assert math.isnan(beyond[column])


@pytest.mark.parametrize("seed", range(6))
def test_the_alpha_of_a_label_is_that_of_being_marked_or_not(seed: int) -> None:
    units = random_units(seed)
    layers = {
        label: [{who: str(value == label) for who, value in unit.items()} for unit in units]
        for label in VALUES
    }
    found = label_alphas(
        LabelCoincidences(
            disagreement=np.array(
                [
                    [
                        sum(c != k for c, k in permutations(layer[item].values(), 2))
                        / (len(layer[item]) - 1)
                        for layer in layers.values()
                    ]
                    for item in range(len(units))
                ]
            ),
            marked=np.array(
                [
                    [sum(value == label for value in unit.values()) for label in VALUES]
                    for unit in units
                ],
                dtype=np.float64,
            ),
            read=np.array([len(unit) for unit in units], dtype=np.float64),
        ),
        np.array(WEIGHTS, dtype=np.float64).T,
    )
    assert found.shape == (len(VALUES), len(WEIGHTS))
    for row, label in enumerate(VALUES):
        for column, weights in enumerate(WEIGHTS):
            sample = drawn(layers[label], weights)
            if len({value for unit in sample for value in unit.values()}) > 1:
                right = package_alpha(sample)
                assert found[row, column] == pytest.approx(right, abs=1e-12)
            else:
                assert math.isnan(found[row, column])
