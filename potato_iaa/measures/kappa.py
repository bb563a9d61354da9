"""Kappas on tokens: Cohen's and Scott's per pair of annotators, Fleiss' for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sparse

from potato_iaa.arrays import Floats, group_stop, pairs_ahead, ratio, stack, weigh
from potato_iaa.layer import Layer
from potato_iaa.matcher.counts import Comparisons, tally
from potato_iaa.measures.alpha import beyond_chance
from potato_iaa.measures.bootstrap import estimate
from potato_iaa.measures.estimate import (
    NO_SHARED_ITEMS,
    NO_VARIATION,
    ONE_ANNOTATOR,
    Estimate,
    reasons,
    records,
)
from potato_iaa.measures.pairs import PairGrid
from potato_iaa.measures.tokens import (
    Coding,
    Coincidences,
    Scale,
    Tokens,
    join_scales,
    readers,
)

NO_COMPLETE_ITEMS = "no items that all annotators did"
CERTAIN_CHANCE = "chance agreement is 1"
NO_TOKENS = "no tokens"


@dataclass(frozen=True, eq=False)
class Judgements:
    """Token judgements per comparison: what the kappas of a pair are made of.

    ``tokens``, ``differing``: float64 (comparisons,); ``values_a``, ``values_b``: sparse
    (comparisons, values): how often each side gave each value.
    """

    tokens: Floats
    differing: Floats
    values_a: sparse.csr_array
    values_b: sparse.csr_array


@dataclass(frozen=True, eq=False)
class PairKappas:
    """A coefficient of all pairs that share tokens, and its mean over the pairs that have a value.

    ``pairs``: a, b, tokens, observed, value, why, low, high, interval_why.
    """

    mean: Estimate
    pairs: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """The coefficient as in report.json."""
        return {"mean": self.mean.to_dict(), "pairs": records(self.pairs)}


@dataclass(frozen=True, eq=False)
class KappaFigures:
    """Cohen's kappa, Scott's pi and Fleiss' kappa in one coding."""

    cohen: PairKappas
    scott: PairKappas
    fleiss: Estimate


def judge(layer: Layer, tokens: Tokens, coding: Coding, comparisons: Comparisons) -> Judgements:
    """How often each pair judged alike, per item, on the tokens that both read.

    Two annotators differ on a token that either marked unless both gave it one value: only marked
    tokens have to be looked at.
    """
    size = weigh(tokens.unit, tokens.weight, len(layer.unit_item))
    pass_size = size[layer.pass_unit]
    weight = tokens.weight[coding.token]
    shape = (len(layer.pass_unit), len(coding.scale))
    marked = tally(coding.pass_, coding.value, weight, shape)
    marks = weigh(coding.pass_, weight, len(layer.pass_unit))
    passes = np.arange(len(pass_size))
    outside = tally(passes, np.zeros_like(passes), pass_size - marks, shape)
    values = sparse.csr_array(marked + outside)
    first, second = pairs_ahead(group_stop(coding.token))
    row = comparisons.row_of(coding.pass_[first], coding.pass_[second])
    alike = coding.value[first] == coding.value[second]
    both = weigh(row, weight[first] * (1 + alike), len(comparisons.pass_a))
    differing = marks[comparisons.pass_a] + marks[comparisons.pass_b] - both
    return Judgements(
        tokens=comparisons.fold @ pass_size[comparisons.pass_a],
        differing=comparisons.fold @ differing,
        values_a=comparisons.fold @ values[comparisons.pass_a],
        values_b=comparisons.fold @ values[comparisons.pass_b],
    )


def join_judgements(parts: Sequence[Judgements], scales: Sequence[Scale]) -> Judgements:
    """The judgements of several runs of items, whose values have these scales, on one scale."""
    scale = join_scales(scales)
    place = {key: position for position, key in enumerate(scale.keys)}

    def widened(values: sparse.csr_array, own: Scale) -> sparse.csr_array:
        columns = np.array([place[key] for key in own.keys])
        shape = (values.shape[0], len(scale))
        return sparse.csr_array((values.data, columns[values.indices], values.indptr), shape=shape)

    return stack(
        [
            replace(
                part, values_a=widened(part.values_a, own), values_b=widened(part.values_b, own)
            )
            for part, own in zip(parts, scales, strict=True)
        ]
    )


def kappa_figures(
    layer: Layer,
    judgements: Judgements,
    coincidences: Coincidences,
    comparisons: Comparisons,
    weights: Floats,
) -> KappaFigures:
    """All kappas of one coding; O, on which it is easy to agree, inflates every one of them.

    Sources: Cohen 1960, doi:10.1177/001316446002000104; Scott 1955, doi:10.1086/266577; Fleiss
    1971, doi:10.1037/h0031619 (on the items that all annotators did).
    """
    grid = PairGrid(comparisons, weights)
    kappas = pair_kappas(judgements, grid)
    size = weigh(comparisons.pair, judgements.tokens, len(comparisons.pair_a))
    common = pd.DataFrame(
        {
            "a": [layer.annotators[code] for code in comparisons.pair_a],
            "b": [layer.annotators[code] for code in comparisons.pair_b],
            "tokens": size.astype(np.int64),
            "observed": kappas.observed,
        }
    )
    why = _why(layer, comparisons)
    reason = np.where(size > 0, CERTAIN_CHANCE, NO_TOKENS)
    of = comb(len(layer.annotators), 2)
    cohen, scott = (
        PairKappas(
            estimate(figure.mean, why=why, n=figure.defined, of=of),
            common.assign(
                value=figure.values,
                why=reasons(figure.values, reason),
                low=figure.bounds[0],
                high=figure.bounds[1],
                interval_why=grid.why_no_interval(figure.values, figure.bounds[0]),
            ),
        )
        for figure in (kappas.cohen, kappas.scott)
    )
    return KappaFigures(cohen, scott, _fleiss(layer, coincidences, weights))


@dataclass(frozen=True, eq=False)
class OverPairs:
    """A coefficient of all pairs: ``values`` (pairs,), ``bounds`` (3, pairs), ``mean`` of those
    that have a value (1 + resamples,), and how many have one.
    """

    values: Floats
    bounds: Floats
    mean: Floats

    @property
    def defined(self) -> int:
        """The number of pairs that have a value."""
        return int(np.count_nonzero(~np.isnan(self.values)))


@dataclass(frozen=True, eq=False)
class PairKappaFigures:
    """Cohen's kappa and Scott's pi of all pairs, and their observed agreement, (pairs,)."""

    cohen: OverPairs
    scott: OverPairs
    observed: Floats


@dataclass(frozen=True, eq=False)
class Judged:
    """Weighted sums of judgements of the pairs ``here``, whole numbers in float64 (pairs, weights).

    ``tokens``: n; ``alike``: those judged alike; ``products``: Σ over values of how often one side
    gave it times how often the other did; ``squares``: Σ of the squares of how often both did.
    """

    here: slice
    tokens: Floats
    alike: Floats
    products: Floats
    squares: Floats

    @property
    def cohen(self) -> Floats:
        """Cohen's kappa, NaN if and only if chance agreement is 1."""
        chance = self.products
        return ratio(self.tokens * self.alike - chance, self.tokens**2 - chance)

    @property
    def scott(self) -> Floats:
        """Scott's pi, for which both sides share one distribution."""
        chance = self.squares / 4
        return ratio(self.tokens * self.alike - chance, self.tokens**2 - chance)


def judged_pairs(judgements: Judgements, grid: PairGrid) -> Iterator[Judged]:
    """The judgements of all pairs under all weights, a block of pairs at a time."""
    size = judgements.values_a.shape[1]
    columns = np.column_stack(
        (
            judgements.tokens,
            judgements.tokens - judgements.differing,
            judgements.values_a.toarray(),
            judgements.values_b.toarray(),
        )
    )
    for here, sums in grid.blocks(columns):
        products, squares = np.zeros((2, *sums.shape[1:]))
        for a, b in zip(sums[2 : 2 + size], sums[2 + size :], strict=True):
            products += a * b
            a += b
            squares += a * a
        yield Judged(here, sums[0], sums[1], products, squares)


def mean_cohen(judgements: Judgements, grid: PairGrid) -> tuple[Floats, int]:
    """Cohen's kappa averaged over the pairs that have one, (weights,), and how many have one."""
    total, defined = np.zeros((2, grid.weights.shape[1]))
    pairs = 0
    for judged in judged_pairs(judgements, grid):
        cohen = judged.cohen
        there = ~np.isnan(cohen)
        pairs += int(np.count_nonzero(there[:, 0]))
        defined += np.count_nonzero(there, axis=0)
        cohen[~there] = 0
        total += cohen.sum(axis=0)
    return ratio(total, defined), pairs


def pair_kappas(judgements: Judgements, grid: PairGrid) -> PairKappaFigures:
    """Cohen's kappa, Scott's pi and observed agreement of all pairs, a block at a time."""
    values, bounds = np.full((3, grid.pairs), np.nan), np.full((2, 3, grid.pairs), np.nan)
    total, defined = np.zeros((2, grid.weights.shape[1])), np.zeros((2, grid.weights.shape[1]))
    for judged in judged_pairs(judgements, grid):
        here = judged.here
        values[2, here] = ratio(judged.alike[:, 0], judged.tokens[:, 0])
        for place, figure in enumerate((judged.cohen, judged.scott)):
            there = ~np.isnan(figure)
            values[place, here] = figure[:, 0]
            bounds[place, :, here] = grid.intervals(figure[:, 1:], there[:, 1:], here)
            total[place] += np.where(there, figure, 0).sum(axis=0)
            defined[place] += np.count_nonzero(there, axis=0)
    mean = ratio(total, defined)
    cohen, scott = (OverPairs(values[place], bounds[place], mean[place]) for place in range(2))
    return PairKappaFigures(cohen, scott, values[2])


def _fleiss(layer: Layer, coincidences: Coincidences, weights: Floats) -> Estimate:
    everybody = len(layer.annotators)
    least = np.full(len(layer.items), everybody)
    np.minimum.at(least, layer.unit_item, readers(layer))
    complete = least == everybody
    chosen = weights * complete[:, np.newaxis]
    values = coincidences.values.T @ chosen
    disagreement = coincidences.disagreement @ chosen
    figure = beyond_chance(disagreement, values)
    why = NO_VARIATION if complete.any() else NO_COMPLETE_ITEMS
    if everybody < 2:
        why, figure = ONE_ANNOTATOR, np.full(len(figure), np.nan)
    return estimate(figure, why=why, n=int(complete.sum()), of=len(layer.items))


def _why(layer: Layer, comparisons: Comparisons) -> str:
    if len(layer.annotators) < 2:
        return ONE_ANNOTATOR
    return CERTAIN_CHANCE if len(comparisons.pair_a) else NO_SHARED_ITEMS
