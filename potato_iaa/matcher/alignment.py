"""Alignment: a maximum one-to-one matching of the spans of two annotators, unit by unit."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import perm

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import connected_components, min_weight_full_bipartite_matching

from potato_iaa.arrays import Floats, Ints, dense_codes, expand, group_starts
from potato_iaa.layer import Layer
from potato_iaa.matcher.edges import Edges, similarity
from potato_iaa.matcher.nodes import make_nodes

EXACT_FLOAT = 2.0**52
ENUMERABLE = 120
TABLE = 10_000
NO_EDGE = -1


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
    alone, knots = _untangle(layer, edges)
    profit = _ranked(knots, edges.overlap[knots.edge], same_label[knots.edge], offsets[knots.edge])
    chosen = np.sort(np.concatenate((alone, knots.edge[_solve(knots, profit)])))
    return Alignment(edges.left[chosen], edges.right[chosen], np.ones(len(chosen)))


def align_soft(layer: Layer, edges: Edges, name: str | None) -> Alignment:
    """The one-to-one matching of the greatest total similarity, each match worth its similarity."""
    above, below = similarity(layer, edges, name)
    worth = above / below

    alone, knots = _untangle(layer, edges)
    solved = knots.edge[_solve(knots, worth[knots.edge])]
    chosen = np.sort(np.concatenate((alone, solved)))
    return Alignment(edges.left[chosen], edges.right[chosen], worth[chosen])


@dataclass(frozen=True, eq=False)
class _Knots:
    """Edges that compete with each other, sorted by the connected component they lie in.

    ``edge``: positions among all edges; ``first``: the first of each component; ``row``,
    ``column``: the edge's two spans, numbered within the component; ``rows``, ``columns``: how many
    spans each component has on either side. Int64 throughout.
    """

    edge: Ints
    first: Ints
    row: Ints
    column: Ints
    rows: Ints
    columns: Ints


def _untangle(layer: Layer, edges: Edges) -> tuple[Ints, _Knots]:
    """The edges that compete with no other, and the knots that the others form."""
    nodes = make_nodes(layer)
    node_left = nodes.of(layer, edges.left, layer.span_pass[edges.right])
    node_right = nodes.of(layer, edges.right, layer.span_pass[edges.left])
    degree = np.bincount(np.concatenate((node_left, node_right)))
    alone = (degree[node_left] == 1) & (degree[node_right] == 1)
    knotted = np.flatnonzero(~alone)
    left, right = node_left[knotted], node_right[knotted]
    code = dense_codes(np.concatenate((left, right)))
    left, right = code[: len(knotted)], code[len(knotted) :]
    size = int(code.max(initial=-1)) + 1
    graph = sparse.coo_array((np.ones(len(knotted), dtype=np.int8), (left, right)), (size, size))
    _, component = connected_components(graph, directed=False)
    knot = component[left].astype(np.int64)
    order = np.argsort(knot, kind="stable")
    row, rows = _numbered(knot[order], left[order])
    column, columns = _numbered(knot[order], right[order])
    first = group_starts(knot[order])
    return np.flatnonzero(alone), _Knots(knotted[order], first, row, column, rows, columns)


def _numbered(knot: Ints, node: Ints) -> tuple[Ints, Ints]:
    """Nodes numbered from 0 within their knot, and how many each knot has."""
    used, used_knot = np.unique(node, return_index=True)
    order = np.argsort(knot[used_knot], kind="stable")
    first = group_starts(knot[used_knot][order])
    number = np.empty(int(node.max(initial=-1)) + 1, dtype=np.int64)
    sizes = np.diff(np.append(first, len(used)))
    number[used[order]] = np.arange(len(used)) - np.repeat(first, sizes)
    return number[node], sizes


def _solve(knots: _Knots, profit: Floats) -> Ints:
    """Positions, among the knots' edges, of each knot's matching of the greatest total profit.

    Knots of one shape are solved together where all their assignments can be listed, small ones
    one by one as full tables, and large ones, such as a text with a span over all of it, by their
    edges alone.
    """
    sizes = np.diff(np.append(knots.first, len(knots.edge)))
    shape_code, shape_of = np.unique(
        np.column_stack((knots.rows, knots.columns)), axis=0, return_inverse=True
    )
    shape_of = shape_of.ravel()
    solved = [np.zeros(0, dtype=np.int64)]
    for number, (rows, columns) in enumerate(shape_code.tolist()):
        members = np.flatnonzero(shape_of == number)
        knot, ahead = expand(sizes[members])
        position = knots.first[members][knot] + ahead
        place = (knot, knots.row[position], knots.column[position])
        if rows > columns:
            place = (knot, knots.column[position], knots.row[position])
            rows, columns = columns, rows
        assign = _assign_tables if rows * columns <= TABLE else _assign_edges
        solved.append(position[assign(place, profit[position], (len(members), rows, columns))])
    return np.concatenate(solved)


def _assign_tables(
    place: tuple[Ints, Ints, Ints], profit: Floats, shape: tuple[int, int, int]
) -> Ints:
    """Which of the edges at ``place`` (knot, row, column) are matched, by full tables."""
    knots, rows, columns = shape
    table = np.zeros(shape)
    table[place] = profit
    edge = np.full(shape, NO_EDGE, dtype=np.int64)
    edge[place] = np.arange(len(profit))
    if perm(columns, rows) > ENUMERABLE:
        # Few corpora need it, and importing it takes longer than to report on a small one.
        from scipy.optimize import linear_sum_assignment

        best = np.array([linear_sum_assignment(one, maximize=True)[1] for one in table])
    else:
        ways = np.array(list(permutations(range(columns), rows)), dtype=np.int64)
        total = np.zeros((knots, len(ways)))
        for row in range(rows):
            total += table[:, row, ways[:, row]]
        best = ways[total.argmax(axis=1)]
    taken = np.take_along_axis(edge, best[:, :, np.newaxis], axis=2)
    found: Ints = taken[taken != NO_EDGE]
    return found


def _assign_edges(
    place: tuple[Ints, Ints, Ints], profit: Floats, shape: tuple[int, int, int]
) -> Ints:
    """Which of the edges at ``place`` (knot, row, column) are matched, by a sparse solver.

    The solver wants every row matched: each has a column of its own beside the others', worth
    nothing. Both get 1 more, for explicit zeros would be no edges.
    """
    knots, rows, columns = shape
    matched = []
    for knot in range(knots):
        members = np.flatnonzero(place[0] == knot)
        row, column = place[1][members], place[2][members]
        own = np.arange(rows)
        worth = np.concatenate((profit[members] + 1, np.ones(rows)))
        # The solver of scipy before 1.15 takes no wider indices.
        ends = (np.concatenate((row, own)), np.concatenate((column, columns + own)))
        narrow = (ends[0].astype(np.int32), ends[1].astype(np.int32))
        graph = sparse.csr_array(sparse.coo_array((worth, narrow)))
        picked_row, picked_column = min_weight_full_bipartite_matching(graph, maximize=True)
        real = picked_column < columns
        key = row * columns + column
        order = np.argsort(key)
        wanted = picked_row[real].astype(np.int64) * columns + picked_column[real]
        matched.append(members[order[np.searchsorted(key[order], wanted)]])
    return np.concatenate(matched)


def _ranked(knots: _Knots, overlap: Ints, same_label: Ints, offsets: Ints) -> Floats:
    """One number per edge whose sums order matchings by count, overlap, labels, then offsets.

    Each level is scaled above all that the matches of a knot can add up to on the levels below. A
    level that would leave the whole numbers a float holds exactly is dropped, the last first: the
    number of matches is never at risk.
    """
    sizes = np.diff(np.append(knots.first, len(overlap)))
    most = np.minimum(knots.rows, knots.columns).astype(np.float64)
    lateness = np.repeat(np.maximum.reduceat(offsets, knots.first), sizes) - offsets
    levels = [lateness, same_label, overlap]
    tops = [np.maximum.reduceat(level, knots.first).astype(np.float64) for level in levels]
    profit = np.ones(len(overlap))
    done = np.zeros(len(knots.first), dtype=bool)
    for dropped in range(len(levels)):
        scale = np.ones(len(knots.first))
        total = np.zeros(len(overlap))
        for level, top in zip(levels[dropped:], tops[dropped:], strict=True):
            total += level * np.repeat(scale, sizes)
            scale = scale * (most * top + 1)
        fits = ~done & ((most + 1) * scale < EXACT_FLOAT)
        chosen = np.repeat(fits, sizes)
        profit[chosen] = (total + np.repeat(scale, sizes))[chosen]
        done |= fits
        if done.all():
            break
    return profit
