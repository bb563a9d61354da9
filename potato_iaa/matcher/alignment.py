"""Alignment: a maximum one-to-one matching of the spans of two annotators, unit by unit."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from potato_iaa.arrays import Floats, Ints, dense_codes, group_starts
from potato_iaa.layer import Layer
from potato_iaa.matcher.edges import Edges

EXACT_FLOAT = 2**53


@dataclass(frozen=True, eq=False)
class Alignment:
    """Matched spans, at most one partner per span and other annotator (int64, (matches,))."""

    left: Ints
    right: Ints
    overlap: Ints


def align(layer: Layer, edges: Edges) -> Alignment:
    """The maximum-cardinality one-to-one matching of every unit and pair of annotators.

    Among the maximum matchings: the greatest total overlap, then the most equal labels, then the
    smallest offsets. The choice changes no count of matches; it fixes which spans are *listed* as
    partners. An edge that competes with no other is a match; the others fall into connected
    components, each of them one small assignment problem (``linear_sum_assignment``).

    Source: Hripcsak & Rothschild 2005, doi:10.1197/jamia.M1733 (one-to-one, symmetric).
    """
    node_left, node_right = _nodes(layer, edges)
    degree = np.bincount(np.concatenate((node_left, node_right)))
    alone = (degree[node_left] == 1) & (degree[node_right] == 1) if len(edges) else degree > 0
    knotted = np.flatnonzero(~alone)
    chosen = np.concatenate(
        (
            np.flatnonzero(alone),
            knotted[
                _solve_knots(layer, edges.where(~alone), node_left[~alone], node_right[~alone])
            ],
        )
    )
    chosen.sort()
    return Alignment(edges.left[chosen], edges.right[chosen], edges.overlap[chosen])


def _nodes(layer: Layer, edges: Edges) -> tuple[Ints, Ints]:
    """Node codes: a span is one node per other annotator, for pairs are matched independently."""
    size = max(len(layer.annotators), 1)
    annotator = layer.span_annotator
    key_left = edges.left * size + annotator[edges.right]
    key_right = edges.right * size + annotator[edges.left]
    code = dense_codes(np.concatenate((key_left, key_right)))
    return code[: len(edges)], code[len(edges) :]


def _solve_knots(layer: Layer, edges: Edges, node_left: Ints, node_right: Ints) -> Ints:
    """Positions of the matched ones among edges that compete with each other."""
    if not len(edges):
        return np.zeros(0, dtype=np.int64)
    nodes = dense_codes(np.concatenate((node_left, node_right)))
    node_left, node_right = nodes[: len(edges)], nodes[len(edges) :]
    size = int(nodes.max()) + 1
    graph = sparse.coo_matrix(
        (np.ones(len(edges), dtype=np.int8), (node_left, node_right)), shape=(size, size)
    )
    _, component = connected_components(graph, directed=False)
    knot = component[node_left].astype(np.int64)
    order = np.argsort(knot, kind="stable")
    bounds = np.append(group_starts(knot[order]), len(order))
    same_label = layer.span_label[edges.left] == layer.span_label[edges.right]
    offsets = (
        layer.span_start[edges.left]
        + layer.span_end[edges.left]
        + layer.span_start[edges.right]
        + layer.span_end[edges.right]
    )
    matched = []
    for first, stop in pairwise(bounds):
        members = order[first:stop]
        taken = _assign(
            dense_codes(node_left[members]),
            dense_codes(node_right[members]),
            edges.overlap[members],
            same_label[members].astype(np.int64),
            offsets[members],
        )
        matched.append(members[taken])
    return np.concatenate(matched)


def _assign(row: Ints, column: Ints, overlap: Ints, same_label: Ints, offsets: Ints) -> Ints:
    """Positions of the edges in the best matching of one component."""
    rows, columns = int(row.max()) + 1, int(column.max()) + 1
    profit = _profits(min(rows, columns), overlap, same_label, offsets)
    table = np.zeros((rows, columns))
    table[row, column] = profit
    picked_row, picked_column = linear_sum_assignment(table, maximize=True)
    edge = np.full((rows, columns), -1, dtype=np.int64)
    edge[row, column] = np.arange(len(row))
    picked = edge[picked_row, picked_column]
    return picked[picked >= 0]


def _profits(most: int, overlap: Ints, same_label: Ints, offsets: Ints) -> Floats:
    """One number per edge whose sums order matchings by count, overlap, labels, then offsets.

    Each level is scaled above all that the ``most`` matches can add up to on the levels below.
    A level that would leave the whole numbers a float holds exactly is dropped, the last first:
    the number of matches and their total overlap are never at risk.
    """
    lateness = offsets.max() - offsets
    for levels in ((lateness, same_label, overlap), (same_label, overlap), (overlap,)):
        scales = [1]
        for level in levels:
            scales.append(scales[-1] * (most * int(level.max()) + 1))
        if (most + 1) * scales[-1] < EXACT_FLOAT:
            profit = scales[-1] + sum(
                level * scale for level, scale in zip(levels, scales[:-1], strict=True)
            )
            return np.asarray(profit, dtype=np.float64)
    return np.ones(len(overlap))
