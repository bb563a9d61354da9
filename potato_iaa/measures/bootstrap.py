"""The bootstrap over items: weights for resampled items, and intervals from replicates."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sparse

from potato_iaa.arrays import Floats
from potato_iaa.measures.estimate import Estimate

CONFIDENCE = 0.95
FULL = 8
# Items drawn at once: what a processor's cache takes. No figure depends on it.
DRAWS = 500_000


def item_weights(items: int, *, of: int, resamples: int, seed: int) -> Floats:
    """How often each item counts: float64 (items, 1 + resamples); the first column is all ones.

    Every further column draws ``of`` items with replacement, of which ``items`` are measured and
    the others (that nobody read) add nothing: spans and tokens of one item are not independent,
    items are. Any figure that is made of sums over items is computed for all columns at once, the
    first giving its value and the others its replicates.

    Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, doi:10.1201/9780429246593.

    >>> item_weights(3, of=3, resamples=2, seed=0).sum(axis=0)
    array([3., 3., 3.])
    """
    weights = np.ones((items, 1 + resamples))
    if not items or not resamples:
        return weights
    generator = np.random.default_rng(seed)
    size = generator.binomial(of, items / of, size=resamples)
    block = max(1, DRAWS // of)
    for first in range(0, resamples, block):
        here = size[first : first + block]
        drawn = generator.integers(items, size=int(here.sum()))
        drawn += np.repeat(items * np.arange(len(here)), here)
        counted = np.bincount(drawn, minlength=items * len(here))
        weights[:, 1 + first : 1 + first + len(here)] = counted.reshape(len(here), items).T
    return weights


def weighted_sums(
    sums: sparse.coo_array | sparse.csr_array | sparse.csc_array, weights: Floats
) -> Floats:
    """``sums`` (figures, items) times ``weights`` (items, columns), float64.

    A table that is not nearly empty is multiplied as a full one, which is much faster.
    """
    full = sums.nnz * FULL > sums.shape[0] * sums.shape[1]
    return np.asarray((sums.toarray() if full else sums.tocsr()) @ weights)


def interval(replicates: Floats) -> tuple[Floats, Floats, Floats]:
    """Percentile intervals of rows of replicates, and the share that is undefined (NaN).

    ``replicates``: float64 (figures, resamples). Returns low, high, undefined: each (figures,).
    Quantiles interpolate linearly among the defined replicates.
    """
    rows, resamples = replicates.shape
    if not resamples:
        nothing = np.full(rows, np.nan)
        return nothing, nothing, nothing
    ordered = np.sort(replicates, axis=1)
    defined = np.count_nonzero(~np.isnan(ordered), axis=1)
    bounds = []
    for quantile in ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2):
        position = quantile * np.maximum(defined - 1, 0)
        below = np.floor(position).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(defined - 1, 0))
        row = np.arange(rows)
        low, high = ordered[row, below], ordered[row, above]
        bounds.append(low + (high - low) * (position - below))
    return bounds[0], bounds[1], 1 - defined / resamples


def estimate(values: Floats, *, why: str, n: int, of: int) -> Estimate:
    """The estimate of one figure from its value and replicates, float64 (1 + resamples,).

    ``why`` is the reason if the value is undefined (NaN). An undefined value has no interval.
    """
    value = float(values[0])
    if math.isnan(value):
        return Estimate(None, why, n=n, of=of)
    low, high, undefined = (bound[0] for bound in interval(values[np.newaxis, 1:]))
    if math.isnan(undefined):
        return Estimate(value, n=n, of=of)
    if math.isnan(low):
        return Estimate(value, undefined=float(undefined), n=n, of=of)
    return Estimate(
        value, None, float(low), float(high), float(undefined), n, of, replicates=values[1:]
    )
