"""Edges: which spans of two annotators of one unit a rule lets be matched."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from potato_iaa.arrays import Flags, Ints, group_starts, group_stop, pairs_ahead
from potato_iaa.layer import Layer
from potato_iaa.matcher.rules import Rule


@dataclass(frozen=True, eq=False)
class Edges:
    """Eligible pairs of spans: ``left`` belongs to the annotator who comes first by name.

    Int64 arrays (edges,): indices of spans, and the characters (code points) that both cover.
    """

    left: Ints
    right: Ints
    overlap: Ints

    def __len__(self) -> int:
        return len(self.left)

    def where(self, chosen: Flags) -> Edges:
        """The chosen edges."""
        return Edges(self.left[chosen], self.right[chosen], self.overlap[chosen])


def exact_edges(layer: Layer) -> Edges:
    """Pairs of spans with the same parts, found by grouping equal extents."""
    order = np.argsort(layer.span_extent, kind="stable")
    first, second = pairs_ahead(group_stop(layer.span_extent[order]))
    left, right, _ = _oriented(layer, order[first], order[second])
    return Edges(left, right, layer.span_length[left])


def overlap_edges(layer: Layer) -> Edges:
    """Pairs of spans that share a character: a sorted self-join of the parts on the global axis."""
    stop = np.searchsorted(layer.part_start, layer.part_end, side="left").astype(np.int64)
    first, second = pairs_ahead(stop)
    shared = np.minimum(layer.part_end[first], layer.part_end[second]) - layer.part_start[second]
    left, right, kept = _oriented(layer, layer.part_span[first], layer.part_span[second])
    return _summed(Edges(left, right, shared[kept]), layer)


def rule_edges(layer: Layer, rule: Rule, overlaps: Edges) -> Edges:
    """The edges of a rule of spans; ``overlaps`` are the layer's ``overlap_edges``."""
    if rule.match == "exact":
        return exact_edges(layer)
    if rule.threshold is None:
        return overlaps
    above, below = similarity(layer, overlaps, rule.similarity)
    return overlaps.where(above >= _least(below, rule.threshold))


def _least(below: Ints, threshold: Fraction) -> Ints:
    """The least whole numbers that reach ``threshold`` over ``below``.

    Python's own integers neither round at the threshold nor overflow, however many digits it has.
    """
    sizes, place = np.unique(below, return_inverse=True)
    least = [math.ceil(threshold * size) for size in sizes.tolist()]
    return np.array(least, dtype=np.int64)[place]


def typed_edges(layer: Layer, edges: Edges) -> Edges:
    """The edges between spans of the same label."""
    return edges.where(layer.span_label[edges.left] == layer.span_label[edges.right])


def _oriented(layer: Layer, first: Ints, second: Ints) -> tuple[Ints, Ints, Flags]:
    """Drop pairs of one annotator, and put the span of the annotator first by name on the left."""
    annotator = layer.span_annotator
    kept = annotator[first] != annotator[second]
    first, second = first[kept], second[kept]
    swapped = annotator[first] > annotator[second]
    return np.where(swapped, second, first), np.where(swapped, first, second), kept


def _summed(edges: Edges, layer: Layer) -> Edges:
    """One edge per pair of spans: discontinuous spans can meet in several parts."""
    if len(layer.part_span) == len(layer.span_start):
        return edges
    key = edges.left * len(layer.span_start) + edges.right
    order = np.argsort(key, kind="stable")
    first = group_starts(key[order])
    overlap = np.add.reduceat(edges.overlap[order], first)
    return Edges(edges.left[order][first], edges.right[order][first], overlap)


def similarity(layer: Layer, edges: Edges, name: str | None) -> tuple[Ints, Ints]:
    """Numerator and denominator of a similarity of the spans of each edge, ``iou`` by default.

    ``iou`` = |∩|/|∪|, ``dice`` = 2|∩|/(la + lb), ``containment`` = |∩|/min(la, lb).
    """
    length_left, length_right = layer.span_length[edges.left], layer.span_length[edges.right]
    if name == "dice":
        return 2 * edges.overlap, length_left + length_right
    if name == "containment":
        return edges.overlap, np.minimum(length_left, length_right)
    return edges.overlap, length_left + length_right - edges.overlap
