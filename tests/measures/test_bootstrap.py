"""The bootstrap over items: its weights, its percentiles, and every interval by measuring again."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations_with_replacement
from math import factorial
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from potato_iaa import Corpus
from potato_iaa.arrays import Floats
from potato_iaa.measures import bootstrap
from potato_iaa.measures.bootstrap import estimate, interval, item_weights, weighted_sums
from potato_iaa.measures.estimate import Estimate
from tests.corpora import Figures, Span, estimates, figures_of

Passes = Mapping[str, Sequence[Span]]

# Weights ------------------------------------------------------------------------------------------


def test_the_first_column_counts_every_item_once() -> None:
    weights = item_weights(4, of=4, resamples=10, seed=0)
    assert weights.shape == (4, 11)
    assert weights.dtype == np.float64
    assert (weights[:, 0] == 1).all()


def test_every_resample_draws_as_many_items_as_there_are() -> None:
    weights = item_weights(7, of=7, resamples=200, seed=3)
    assert (weights.sum(axis=0) == 7).all()
    assert (weights >= 0).all()
    assert (weights == np.floor(weights)).all()
    # Once in 160 times every item is drawn once; the first and the last resample are others.
    assert (weights[:, [1, -1]] != 1).any(axis=0).all()
    assert (weights[:, 1:] == 1).all(axis=0).sum() < 8


def test_without_resamples_there_is_the_first_column_alone() -> None:
    assert item_weights(3, of=3, resamples=0, seed=0).tolist() == [[1.0], [1.0], [1.0]]


def test_without_items_there_is_nothing_to_weigh() -> None:
    assert item_weights(0, of=2, resamples=5, seed=0).shape == (0, 6)
    assert item_weights(0, of=0, resamples=5, seed=0).shape == (0, 6)


@pytest.mark.parametrize(("items", "of"), [(5, 5), (4, 7)])
@pytest.mark.parametrize("draws", [1, 10, 21, 10**6])
def test_no_weight_depends_on_how_many_items_are_drawn_at_once(
    monkeypatch: pytest.MonkeyPatch, items: int, of: int, draws: int
) -> None:
    right = item_weights(items, of=of, resamples=33, seed=1)
    monkeypatch.setattr(bootstrap, "DRAWS", draws)
    assert np.array_equal(item_weights(items, of=of, resamples=33, seed=1), right)


def multinomial(counts: Sequence[int], of: int) -> float:
    """The probability that items come up so often among ``of`` draws from ``of`` items."""
    rest = of - sum(counts)
    ways = factorial(of) / math.prod(factorial(count) for count in (*counts, rest))
    return float(ways * (1 / of) ** sum(counts) * ((of - len(counts)) / of) ** rest)


@pytest.mark.parametrize(("items", "of"), [(3, 3), (2, 3), (3, 5)])
def test_resamples_follow_the_multinomial_law(items: int, of: int) -> None:
    resamples = 40_000
    weights = item_weights(items, of=of, resamples=resamples, seed=1)[:, 1:]
    found = Counter(tuple(int(count) for count in column) for column in weights.T)
    for counts, number in found.items():
        right = multinomial(counts, of)
        deviation = math.sqrt(right * (1 - right) / resamples)
        assert abs(number / resamples - right) < 5 * deviation, counts
    assert sum(multinomial(counts, of) for counts in found) == pytest.approx(1, abs=0.01)


def test_items_that_nobody_read_are_drawn_and_add_nothing() -> None:
    # Two of ten items: on average 2 of a resample's 10 draws fall on them.
    totals = item_weights(2, of=10, resamples=5000, seed=0)[:, 1:].sum(axis=0)
    assert totals.mean() == pytest.approx(2, abs=0.1)
    assert totals.min() == 0
    assert totals.max() > 4


def test_a_seed_gives_its_weights_again_and_another_gives_others() -> None:
    one, same, other = (item_weights(5, of=5, resamples=50, seed=seed) for seed in (4, 4, 5))
    assert one.tobytes() == same.tobytes()
    assert (one != other).any()


@pytest.mark.parametrize("density", [0.02, 0.5, 1.0])
@pytest.mark.parametrize("form", [sparse.coo_array, sparse.csr_array, sparse.csc_array])
def test_weighted_sums_are_a_product_of_matrices(form: Any, density: float) -> None:
    order = np.random.default_rng(0)
    table = order.integers(1, 9, (6, 40)) * (order.random((6, 40)) < density)
    weights = item_weights(40, of=40, resamples=8, seed=0)
    found = weighted_sums(form(table.astype(np.float64)), weights)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, table @ weights, rtol=1e-12)


# Percentiles --------------------------------------------------------------------------------------


def test_quantiles_interpolate_linearly() -> None:
    # 101 replicates 0, 1, …, 100: the quantiles at .025 and .975 are 2.5 and 97.5.
    low, high, undefined = interval(np.arange(101.0)[::-1][np.newaxis])
    assert (low[0], high[0], undefined[0]) == pytest.approx((2.5, 97.5, 0.0))


def test_undefined_replicates_are_left_out_and_their_share_is_told() -> None:
    rows = np.array([[0.0, np.nan, 1.0, np.nan], [np.nan] * 4, [0.5, 0.5, 0.5, 0.5]])
    low, high, undefined = interval(rows)
    np.testing.assert_allclose(low, [0.025, np.nan, 0.5])
    np.testing.assert_allclose(high, [0.975, np.nan, 0.5])
    assert undefined.tolist() == [0.5, 1.0, 0.0]


@pytest.mark.parametrize("row", [[0.5], [0.5, math.nan], [math.nan, 0.5, math.nan]])
def test_the_one_replicate_that_is_defined_is_both_bounds(row: list[float]) -> None:
    low, high, undefined = interval(np.array([row]))
    assert (low[0], high[0]) == (0.5, 0.5)
    assert undefined[0] == pytest.approx(1 - 1 / len(row))


@pytest.mark.parametrize("seed", range(5))
def test_intervals_are_numpys_percentiles_of_the_defined_replicates(seed: int) -> None:
    order = np.random.default_rng(seed)
    rows = order.normal(size=(20, int(order.integers(1, 200))))
    rows[order.random(rows.shape) < order.choice([0, 0.1, 0.9])] = np.nan
    rows[0] = order.normal(size=rows.shape[1])
    before = rows.copy()
    low, high, undefined = interval(rows)
    for row, below, above, share in zip(before, low, high, undefined, strict=True):
        defined = row[~np.isnan(row)]
        assert share == pytest.approx(1 - len(defined) / len(row))
        right = np.percentile(defined, [2.5, 97.5]) if len(defined) else [np.nan, np.nan]
        np.testing.assert_allclose([below, above], right, rtol=1e-12, atol=1e-12)


def test_without_replicates_there_is_no_interval() -> None:
    low, high, _ = interval(np.zeros((2, 0)))
    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_an_undefined_value_has_no_interval_whatever_its_replicates() -> None:
    found = estimate(np.array([np.nan, 0.5, 0.7]), why="no unit", n=1, of=2)
    assert found == Estimate(None, "no unit", n=1, of=2)


def test_a_value_with_replicates_has_its_interval_and_no_reason() -> None:
    found = estimate(np.array([0.5, 0.0, np.nan, 1.0, np.nan]), why="no unit", n=1, of=2)
    assert (found.value, found.why) == (0.5, None)
    assert (found.low, found.high) == pytest.approx((0.025, 0.975))
    assert found.undefined == 0.5


def test_a_value_whose_replicates_are_all_undefined_says_so() -> None:
    found = estimate(np.array([0.5, np.nan, np.nan]), why="no unit", n=1, of=2)
    assert found == Estimate(0.5, undefined=1.0, n=1, of=2)


def test_a_value_without_a_bootstrap_has_neither_interval_nor_share() -> None:
    found = estimate(np.array([0.5]), why="no unit", n=1, of=2)
    assert found == Estimate(0.5, n=1, of=2)


# Every interval of a report, by measuring every resample ------------------------------------------

TEXT = "aaaa bbbb cccc dddd"
X, Y, WIDE = (0, 4, "X"), (5, 9, "Y"), (0, 9, "X")
KEYS = ("a", "b", "annotator", "label", "item")

THREE: dict[str, dict[str, Passes]] = {
    "two annotators": {
        "d1": {"A": [X, Y], "B": [X, (10, 14, "Y")]},
        "d2": {"A": [X], "B": [(0, 4, "Y"), Y]},
        "d3": {"A": [WIDE, (10, 14, "Y")], "B": [X, (10, 14, "X")]},
    },
    "three annotators, passes missing": {
        "d1": {"A": [X, Y], "B": [X], "C": [WIDE]},
        "d2": {"A": [Y], "C": [X, Y]},
        "d3": {"B": [X, Y], "C": []},
    },
    "items that leave figures undefined": {
        "d1": {"A": [X], "B": [X]},
        "d2": {"A": [], "B": []},
        "d3": {"A": [Y], "B": []},
    },
}


def corpus_from(items: Mapping[str, Passes], everyone: Sequence[str], unread: int = 0) -> Corpus:
    names = [*items, *(f"unread{n}" for n in range(unread))]
    return Corpus.from_tables(
        items=[(item, TEXT) for item in names or ["nothing"]],
        passes=[(item, who) for item, by in items.items() for who in by],
        spans=[
            (item, who, *span)
            for item, by in items.items()
            for who, found in by.items()
            for span in found
        ],
        labels=["X", "Y"],
        roles=dict.fromkeys(everyone, "human"),
    )


def people(items: Mapping[str, Passes]) -> list[str]:
    return sorted({who for by in items.values() for who in by})


def named(figures: Figures) -> dict[str, Any]:
    """The report with rows under their names instead of their positions."""

    def walk(value: Any) -> Any:
        if isinstance(value, list):
            return {
                "|".join(str(row[key]) for key in KEYS if key in row): walk(row)
                for row in value
                if isinstance(row, Mapping)
            }
        if isinstance(value, Mapping):
            return {key: walk(inner) for key, inner in value.items()}
        return value

    # The audit is of the corpus as it is; drift goes by passes, of which resamples have others.
    left_out = ("drift", "sides", "disagreements", "boundaries")
    kept: dict[str, Any] = walk({k: v for k, v in figures.items() if k not in left_out})
    return kept


def values_of(figures: Figures) -> dict[str, float | None]:
    found = {path: row["value"] for path, row in estimates(named(figures))}
    found |= {
        f"{path}/change": row["change"]
        for path, row in estimates(named(figures))
        if "change" in row
    }
    return found


def intervals_of(figures: Figures) -> Iterator[tuple[str, dict[str, Any]]]:
    """The path and the row of every figure that has an interval."""
    for path, row in estimates(named(figures)):
        if row.get("low") is not None:
            yield path, row
        if row.get("change_low") is not None:
            yield (
                f"{path}/change",
                {"value": row["change"], "low": row["change_low"], "high": row["change_high"]},
            )


def resampled(items: Mapping[str, Passes], counts: Sequence[int]) -> dict[str, Passes]:
    return {
        f"{item}.{copy}": by
        for (item, by), count in zip(items.items(), counts, strict=True)
        for copy in range(count)
    }


MEASURES = ("cohen", "scott", "fleiss", "alpha_u")
# F1, labels, losses, alphas in every coding and of every label, kappas, unitizing alphas.
LEAST_FIGURES = 60


@cache
def measured_again(name: str, counts: tuple[int, ...]) -> dict[str, float | None]:
    items = THREE[name]
    corpus = corpus_from(resampled(items, counts), people(items))
    return values_of(figures_of(corpus, measures=MEASURES))


@pytest.mark.parametrize("name", THREE)
def test_with_three_items_the_interval_is_that_of_all_27_resamples(name: str) -> None:
    # Each of the ten multisets has at least 1/27 of the probability, more than a tail of 1/40:
    # the interval reaches from the least to the greatest value.
    items, resamples = THREE[name], 6000
    figures = figures_of(
        corpus_from(items, people(items)), bootstrap=resamples, seed=2, measures=MEASURES
    )
    chances: dict[tuple[int, ...], float] = {}
    for drawn in combinations_with_replacement(range(3), 3):
        counts = tuple(drawn.count(place) for place in range(3))
        chances[counts] = multinomial(counts, 3)
    assert sum(chances.values()) == pytest.approx(1)

    checked = 0
    for path, row in intervals_of(figures):
        by_counts = {counts: measured_again(name, counts).get(path) for counts in chances}
        defined = [value for value in by_counts.values() if value is not None]
        assert (row["low"], row["high"]) == pytest.approx((min(defined), max(defined)), abs=1e-9), (
            path
        )
        if "undefined" in row:
            right = sum(chances[counts] for counts, value in by_counts.items() if value is None)
            deviation = math.sqrt(right * (1 - right) / resamples)
            assert abs(row["undefined"] - right) <= 5 * deviation + 1e-12, path
        checked += 1
    assert checked > LEAST_FIGURES


SIX: dict[str, Passes] = {
    "d1": {"A": [X, Y], "B": [X, (10, 14, "Y")], "C": [X, Y]},
    "d2": {"A": [X], "B": [(0, 4, "Y"), Y], "C": []},
    "d3": {"A": [WIDE, (10, 14, "Y")], "B": [X, (10, 14, "X")], "C": [X, (5, 14, "Y")]},
    "d4": {"A": [], "B": [], "C": []},
    "d5": {"A": [X], "B": [X], "C": [Y]},
    "d6": {"A": [Y], "B": [X, Y], "C": [(5, 14, "Y")]},
}


@pytest.mark.parametrize("unread", [0, 2])
def test_every_interval_is_that_of_measuring_each_resample(unread: int) -> None:
    resamples, seed = 14, 7
    weights = item_weights(len(SIX), of=len(SIX) + unread, resamples=resamples, seed=seed)
    again = [
        values_of(
            figures_of(
                corpus_from(resampled(SIX, column.astype(int).tolist()), people(SIX)),
                measures=MEASURES,
            )
        )
        for column in weights.T[1:]
    ]
    figures = figures_of(
        corpus_from(SIX, people(SIX), unread), bootstrap=resamples, seed=seed, measures=MEASURES
    )
    checked = 0
    for path, row in intervals_of(figures):
        replicates: Floats = np.array(
            [math.nan if (value := found.get(path)) is None else value for found in again]
        )
        defined = replicates[~np.isnan(replicates)]
        right = np.percentile(defined, [2.5, 97.5])
        assert (row["low"], row["high"]) == pytest.approx(tuple(right), abs=1e-9), path
        if "undefined" in row:
            assert row["undefined"] == pytest.approx(1 - len(defined) / resamples), path
        checked += 1
    assert checked > LEAST_FIGURES


@pytest.mark.parametrize("items", [*THREE.values(), SIX], ids=[*THREE, "six items"])
def test_every_interval_leaves_its_value_as_it_is(items: dict[str, Passes]) -> None:
    corpus = corpus_from(items, people(items))
    alone = values_of(figures_of(corpus, measures=MEASURES))
    assert values_of(figures_of(corpus, bootstrap=7, measures=MEASURES)) == alone
    assert len(alone) > LEAST_FIGURES


def test_every_estimate_with_a_value_has_an_interval() -> None:
    # Of pairs with fewer than five shared items, and of coverages, none is given.
    figures = named(figures_of(corpus_from(SIX, people(SIX)), bootstrap=50, measures=MEASURES))
    without = [
        path
        for path, row in estimates(figures)
        if row["value"] is not None and row.get("low") is None and "low" in row
    ]
    assert without == []


# Seeds --------------------------------------------------------------------------------------------


def written(seed: int) -> str:
    corpus = corpus_from(SIX, people(SIX))
    return json.dumps(figures_of(corpus, bootstrap=30, seed=seed, measures=MEASURES))


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert written(5).encode() == written(5).encode()


def test_another_seed_gives_other_intervals_and_the_same_values() -> None:
    one, other = json.loads(written(5)), json.loads(written(6))
    assert values_of(one) == values_of(other)
    bounds = [[row["low"] for _, row in intervals_of(figures)] for figures in (one, other)]
    assert bounds[0] != bounds[1]


def test_the_losses_come_from_the_same_resamples() -> None:
    # Where nothing is lost on labels and boundaries, existence is 1 − F1 on every resample.
    items: dict[str, Passes] = {
        f"d{n}": {"A": [X, Y], "B": [X] if n % 2 else [X, Y]} for n in range(8)
    }
    figures = figures_of(corpus_from(items, people(items)), bootstrap=100)
    headline = figures["f1"]["exact_typed"]["mean_over_pairs"]
    existence = figures["lost"]["existence"]
    assert existence["low"] == pytest.approx(1 - headline["high"], abs=1e-9)
    assert existence["high"] == pytest.approx(1 - headline["low"], abs=1e-9)
    for loss in ("label", "boundary"):
        assert (figures["lost"][loss]["low"], figures["lost"][loss]["high"]) == (0.0, 0.0)
