"""Drift: how far each annotator agreed with the others in each quarter of their passes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse as sparse

from potato_iaa.arrays import Floats, group_starts
from potato_iaa.layer import Layer
from potato_iaa.matcher.counts import Counts
from potato_iaa.measures.bootstrap import interval
from potato_iaa.measures.estimate import NOTHING_MARKED, reasons
from potato_iaa.measures.f1 import Ground, f1_score

QUARTERS = 4
LEAST_ITEMS = 8


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
    ranked = shared[np.lexsort((shared % items, order[shared], shared // items))]
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

    def summed(values: Floats) -> Floats:
        both = np.concatenate((values, values))[chosen]
        by_cell = sparse.csr_array(sparse.coo_array((both, (cell, item)), shape=shape))
        return np.asarray(by_cell @ ground.weights)

    matched = np.asarray((counts.tp_a + counts.tp_b).sum(axis=1)).ravel()
    marked = np.asarray((counts.n_a + counts.n_b).sum(axis=1)).ravel()
    score = f1_score(summed(matched), summed(marked))
    read = np.zeros(shape[0], dtype=np.int64)
    np.add.at(read, ranked // items * QUARTERS + quarter_of[ranked], quarter_of[ranked] >= 0)
    low, high, _ = interval(score[:, 1:])
    there = np.flatnonzero(read)
    return pd.DataFrame(
        {
            "annotator": [layer.annotators[code // QUARTERS] for code in there],
            "quarter": there % QUARTERS + 1,
            "items": read[there],
            "value": score[there, 0],
            "why": reasons(score[there, 0], NOTHING_MARKED),
            "low": low[there],
            "high": high[there],
        }
    )
