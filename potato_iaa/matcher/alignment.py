"""Alignment: a maximum one-to-one matching of the spans of two annotators, unit by unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from potato_iaa.arrays import Floats, Ints, dense_codes, group_starts
from potato_iaa.layer import Layer
from potato_iaa.matcher.edges import Edges, similarity

EXACT_FLOAT = 2**53

# From positions of edges and the most matches they can hold to what each edge is worth.
Profit = Callable[[Ints, int], Floats]


@dataclass(frozen=True, eq=False)
class Alignment:
    """Matched spans, at most one partner per span and other annotator.

    ``left``, ``right``: int64 (matches,), spans; ``worth``: float64 (matches,), what each counts.
    """

    left: Ints
    right: Ints
    worth: Floats


def align(layer: Layer, edges: Edges) -> Alignment:
    """The maximum-cardinality one-to-one matching of every unit and pair of annotators.

    Among the maximum matchings: the greatest total overlap, then the most equal labels, then the
    smallest offsets. The choice changes no count of matches; it fixes which spans are *listed* as
    partners. An edge that competes with no other is a match; the others fall into connected
    components, each of them one small assignment problem (``linear_sum_assignment``).

    Source: Hripcsak & Rothschild 2005, doi:10.1197/jamia.M1733 (one-to-one, symmetric).
    """
    same_label = (layer.span_label[edges.left] == layer.span_label[edges.right]).astype(np.int64)
    offsets = (
        layer.span_start[edges.left]
        + layer.span_end[edges.left]
        + layer.span_start[edges.right]
        + layer.span_end[edges.right]
    )

    def profit(members: Ints, most: int) -> Floats:
        return _ranked(most, edges.overlap[members], same_label[members], offsets[members])

    chosen = _matching(layer, edges, profit)
    return Alignment(edges.left[chosen], edges.right[chosen], np.ones(len(chosen)))


def align_soft(layer: Layer, edges: Edges, name: str | None) -> Alignment:
    """The one-to-one matching of the greatest total similarity, each match worth its similarity."""
    above, below = similarity(layer, edges, name)
    worth = above / below

    def profit(members: Ints, most: int) -> Floats:
        return worth[members]

    chosen = _matching(layer, edges, profit)
    return Alignment(edges.left[chosen], edges.right[chosen], worth[chosen])


def _matching(layer: Layer, edges: Edges, profit: Profit) -> Ints:
    """Positions of the edges of the matching with the greatest total profit."""
    node_left, node_right = _nodes(layer, edges)
    degree = np.bincount(np.concatenate((node_left, node_right)))
    if not len(edges):
        return np.zeros(0, dtype=np.int64)
    alone = (degree[node_left] == 1) & (degree[node_right] == 1)
    knotted = np.flatnonzero(~alone)
    solved = _solve_knots(knotted, node_left[knotted], node_right[knotted], profit)
    return np.sort(np.concatenate((np.flatnonzero(alone), solved)))


def _nodes(layer: Layer, edges: Edges) -> tuple[Ints, Ints]:
    """Node codes: a span is one node per other annotator, for pairs are matched independently."""
    size = max(len(layer.annotators), 1)
    annotator = layer.span_annotator
    key_left = edges.left * size + annotator[edges.right]
    key_right = edges.right * size + annotator[edges.left]
    code = dense_codes(np.concatenate((key_left, key_right)))
    return code[: len(edges)], code[len(edges) :]


def _solve_knots(knotted: Ints, node_left: Ints, node_right: Ints, profit: Profit) -> Ints:
    """The matched ones among the ``knotted`` edges, which compete with each other."""
    if not len(knotted):
        return knotted
    nodes = dense_codes(np.concatenate((node_left, node_right)))
    node_left, node_right = nodes[: len(knotted)], nodes[len(knotted) :]
    size = int(nodes.max()) + 1
    graph = sparse.coo_array(
        (np.ones(len(knotted), dtype=np.int8), (node_left, node_right)), shape=(size, size)
    )
    _, component = connected_components(graph, directed=False)
    knot = component[node_left].astype(np.int64)
    order = np.argsort(knot, kind="stable")
    bounds = np.append(group_starts(knot[order]), len(order))
    matched = []
    for first, stop in pairwise(bounds):
        members = order[first:stop]
        row, column = dense_codes(node_left[members]), dense_codes(node_right[members])
        most = int(min(row.max(), column.max())) + 1
        matched.append(members[_assign(row, column, profit(knotted[members], most))])
    return knotted[np.concatenate(matched)]


def _assign(row: Ints, column: Ints, profit: Floats) -> Ints:
    """Positions of the edges in the best matching of one component."""
    shape = (int(row.max()) + 1, int(column.max()) + 1)
    table = np.zeros(shape)
    table[row, column] = profit
    picked_row, picked_column = linear_sum_assignment(table, maximize=True)
    edge = np.full(shape, -1, dtype=np.int64)
    edge[row, column] = np.arange(len(row))
    picked = edge[picked_row, picked_column]
    return picked[picked >= 0]


def _ranked(most: int, overlap: Ints, same_label: Ints, offsets: Ints) -> Floats:
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
