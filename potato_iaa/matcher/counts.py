"""Counts: spans and matches per item, pair of annotators and label, of which every F1 is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse

from potato_iaa.arrays import Ints, Numbers, group_stop, pairs_ahead
from potato_iaa.layer import Layer
from potato_iaa.matcher.alignment import Alignment

Matrix = sparse.csr_array


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Who can be compared with whom: one row per item and pair of annotators who both passed it.

    ``item`` and ``pair``: int64 (comparisons,); ``pair_a``, ``pair_b``: int64 (pairs,), codes of
    annotators with a < b. ``fold`` adds units up to comparisons: an item of several display fields
    is one comparison. ``first_row`` finds the row of two passes of one unit (see ``row_of``).
    """

    item: Ints
    pair: Ints
    pair_a: Ints
    pair_b: Ints
    pass_a: Ints
    pass_b: Ints
    fold: Matrix
    first_row: Ints

    def row_of(self, pass_a: Ints, pass_b: Ints) -> Ints:
        """The unfolded row of two passes of one unit, ``pass_a`` before ``pass_b``."""
        return self.first_row[pass_a] + pass_b - pass_a - 1


@dataclass(frozen=True, eq=False)
class Counts:
    """Spans and matches under one rule: float64 sparse matrices (comparisons, labels).

    ``n_a``, ``n_b``: spans (or marked positions) of each side; ``tp_a``, ``tp_b``: those of them
    that have a partner, each under its own label (under a typed rule the two are equal).
    """

    n_a: Matrix
    n_b: Matrix
    tp_a: Matrix
    tp_b: Matrix


def compare_passes(layer: Layer) -> Comparisons:
    """All pairs of passes on the same unit, folded to items and pairs of annotators."""
    size = max(len(layer.annotators), 1)
    stop = group_stop(layer.pass_unit)
    pass_a, pass_b = pairs_ahead(stop)
    first_row = np.cumsum(stop - np.arange(len(stop)) - 1) - (stop - np.arange(len(stop)) - 1)
    code = layer.pass_annotator[pass_a] * size + layer.pass_annotator[pass_b]
    pair_code, pair = np.unique(code, return_inverse=True)
    key = layer.unit_item[layer.pass_unit[pass_a]] * max(len(pair_code), 1) + pair
    row_key, row = np.unique(key, return_inverse=True)
    fold = tally(row, np.arange(len(key)), np.ones(len(key)), (len(row_key), len(key)))
    return Comparisons(
        item=row_key // max(len(pair_code), 1),
        pair=row_key % max(len(pair_code), 1),
        pair_a=pair_code // size,
        pair_b=pair_code % size,
        pass_a=pass_a,
        pass_b=pass_b,
        fold=fold,
        first_row=first_row.astype(np.int64),
    )


def count_spans(layer: Layer, comparisons: Comparisons) -> tuple[Matrix, Matrix]:
    """The spans of either side, the ``n_a`` and ``n_b`` of every rule that matches these spans."""
    shape = (len(layer.pass_unit), len(layer.labels))
    spans = tally(layer.span_pass, layer.span_label, np.ones(len(layer.span_pass)), shape)
    fold = comparisons.fold
    return fold @ spans[comparisons.pass_a], fold @ spans[comparisons.pass_b]


def count_matches(
    layer: Layer,
    comparisons: Comparisons,
    alignment: Alignment,
    spans: tuple[Matrix, Matrix],
) -> Counts:
    """The counts of one rule: ``spans`` of the layer, and those that have a partner."""
    row = comparisons.row_of(layer.span_pass[alignment.left], layer.span_pass[alignment.right])
    shape = (len(comparisons.pass_a), len(layer.labels))
    left, right = layer.span_label[alignment.left], layer.span_label[alignment.right]
    tp_a = comparisons.fold @ tally(row, left, alignment.worth, shape)
    alike = np.array_equal(left, right)
    tp_b = tp_a if alike else comparisons.fold @ tally(row, right, alignment.worth, shape)
    return Counts(*spans, tp_a, tp_b)


def join_counts(parts: Sequence[dict[str, Counts]]) -> dict[str, Counts]:
    """The counts of several runs of items, one after the other; what rules share stays shared."""
    stacked: dict[tuple[int, ...], Matrix] = {}

    def joined(matrices: tuple[Matrix, ...]) -> Matrix:
        key = tuple(map(id, matrices))
        if key not in stacked:
            stacked[key] = sparse.csr_array(sparse.vstack(matrices))
        return stacked[key]

    def column(name: str, side: str) -> Matrix:
        return joined(tuple(getattr(part[name], side) for part in parts))

    return {
        name: Counts(*(column(name, side) for side in ("n_a", "n_b", "tp_a", "tp_b")))
        for name in parts[0]
    }


def tally(row: Ints, column: Ints, worth: Numbers, shape: tuple[int, int]) -> Matrix:
    """The sums of ``worth`` at (row, column), float64."""
    place: Any = (row, column)
    if max(*shape, len(row)) < 2**31:
        place = (row.astype(np.int32), column.astype(np.int32))
    return sparse.csr_array(sparse.coo_array((worth.astype(np.float64), place), shape=shape))
