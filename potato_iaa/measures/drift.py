"""Drift: how far each annotator agreed with the others in each quarter of their passes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse as sparse

from potato_iaa.arrays import Ints, group_starts
from potato_iaa.layer import Layer
from potato_iaa.matcher.counts import Counts
from potato_iaa.measures.bootstrap import interval, weighted_sums
from potato_iaa.measures.estimate import NOTHING_MARKED, reasons
from potato_iaa.measures.f1 import Ground, f1_score

QUARTERS = 4
LEAST_ITEMS = 8
# Rows of replicates held at once.
BLOCK = 1000


def drift(layer: Layer, counts: Counts, ground: Ground) -> pd.DataFrame:
    """F1 of each annotator with all others, pooled, per quarter of the shared items in pass order.

    Columns: annotator, quarter (1 to 4), items, value, why, low, high. Annotators with fewer than
    eight shared items are left out. Items differ in difficulty: a trend asks for a look, no more.
    """
    comparisons = ground.comparisons
    items = len(layer.items)
    sides = np.concatenate((comparisons.pair_a, comparisons.pair_b))
    pair = np.concatenate((comparisons.pair, comparisons.pair + len(comparisons.pair_a)))
    item = np.concatenate((comparisons.item, comparisons.item))
    shared, place = np.unique(sides[pair] * items + item, return_inverse=True)
    quarter = _quarters(shared // items, _first_order(layer, shared))

    chosen = quarter[place] >= 0
    cell = (shared // items * QUARTERS + quarter)[place][chosen]
    shape = (len(layer.annotators) * QUARTERS, items)
    sums = [
        sparse.csr_array(
            sparse.coo_array((np.tile(values, 2)[chosen], (cell, item[chosen])), shape=shape)
        )
        for values in (
            np.asarray((counts.tp_a + counts.tp_b).sum(axis=1)).ravel(),
            np.asarray((counts.n_a + counts.n_b).sum(axis=1)).ravel(),
        )
    ]
    known = quarter >= 0
    read = np.bincount(
        (shared // items * QUARTERS + quarter)[known], minlength=len(layer.annotators) * QUARTERS
    )
    there = np.flatnonzero(read)
    value, low, high = np.full((3, len(there)), np.nan)
    for row in range(0, len(there), BLOCK):
        here = slice(row, row + BLOCK)
        score = f1_score(*(weighted_sums(part[there[here]], ground.weights) for part in sums))
        value[here] = score[:, 0]
        low[here], high[here], _ = interval(score[:, 1:])
    return pd.DataFrame(
        {
            "annotator": [layer.annotators[code // QUARTERS] for code in there],
            "quarter": there % QUARTERS + 1,
            "items": read[there],
            "value": value,
            "why": reasons(value, NOTHING_MARKED),
            "low": np.where(np.isnan(value), np.nan, low),
            "high": np.where(np.isnan(value), np.nan, high),
        }
    )


def _first_order(layer: Layer, keys: Ints) -> Ints:
    """When the annotator did the item, by the first of its passes; a key names both."""
    pass_key = layer.pass_annotator * len(layer.items) + layer.unit_item[layer.pass_unit]
    by_key = np.lexsort((layer.pass_order, pass_key))
    pass_key = pass_key[by_key]
    return layer.pass_order[by_key][np.searchsorted(pass_key, keys)]


def _quarters(annotator: Ints, order: Ints) -> Ints:
    """The quarter, from 0, of each annotator's items in their order; -1 for those of too few.

    ``annotator`` is sorted; items done at one time stay in their order.
    """
    ranked = np.lexsort((order, annotator))
    first = group_starts(annotator)
    sizes = np.diff(np.append(first, len(annotator)))
    size = np.repeat(sizes, sizes)
    rank = np.arange(len(annotator)) - np.repeat(first, sizes)
    quarter = np.empty_like(rank)
    quarter[ranked] = np.where(size >= LEAST_ITEMS, QUARTERS * rank // size, -1)
    return quarter
