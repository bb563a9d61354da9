"""Drift: how far each annotator agreed with the others in each quarter of their passes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse as sparse

from potato_iaa.arrays import group_starts
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
    pass_item = layer.unit_item[layer.pass_unit]
    order = np.full(len(layer.annotators) * items, np.iinfo(np.int64).max)
    np.minimum.at(order, layer.pass_annotator * items + pass_item, layer.pass_order)

    sides = np.concatenate((comparisons.pair_a, comparisons.pair_b))
    pair = np.concatenate((comparisons.pair, comparisons.pair + len(comparisons.pair_a)))
    key = sides[pair] * items + np.concatenate((comparisons.item, comparisons.item))
    shared = np.unique(key)
    ranked = shared[np.lexsort((order[shared], shared // items))]
    first = group_starts(ranked // items)
    size = np.diff(np.append(first, len(ranked)))
    rank = np.arange(len(ranked)) - np.repeat(first, size)
    quarter = QUARTERS * rank // np.repeat(size, size)
    quarter_of = np.full(len(layer.annotators) * items, -1, dtype=np.int64)
    quarter_of[ranked] = np.where(np.repeat(size, size) >= LEAST_ITEMS, quarter, -1)

    chosen = quarter_of[key] >= 0
    cell = (key // items * QUARTERS + quarter_of[key])[chosen]
    item = np.concatenate((comparisons.item, comparisons.item))[chosen]
    shape = (len(layer.annotators) * QUARTERS, items)
    sums = [
        sparse.csr_array(sparse.coo_array((np.tile(values, 2)[chosen], (cell, item)), shape=shape))
        for values in (
            np.asarray((counts.tp_a + counts.tp_b).sum(axis=1)).ravel(),
            np.asarray((counts.n_a + counts.n_b).sum(axis=1)).ravel(),
        )
    ]
    read = np.zeros(shape[0], dtype=np.int64)
    np.add.at(read, ranked // items * QUARTERS + quarter_of[ranked], quarter_of[ranked] >= 0)
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
