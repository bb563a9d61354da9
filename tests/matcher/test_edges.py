"""Which spans may be matched, pair by pair, from the sets of characters that they cover."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import given, settings

from potato_iaa.layer import Layer
from potato_iaa.matcher import (
    EXACT,
    OVERLAP,
    Edges,
    Rule,
    exact_edges,
    overlap_edges,
    rule_edges,
    typed_edges,
)
from potato_iaa.matcher.edges import similarity
from potato_iaa.matcher.nodes import make_nodes, span_and_pass
from tests.worlds import ONE_UNIT, World, worlds

# Spans on many units, and many spans on one.
SMALL = worlds() | worlds(ONE_UNIT)
few = settings(max_examples=20)
Found = set[tuple[int, int, int]]


def characters(layer: Layer) -> list[set[int]]:
    """The characters of every span, on the global axis."""
    covered: list[set[int]] = [set() for _ in layer.span_start]
    for span, start, end in zip(layer.part_span, layer.part_start, layer.part_end, strict=True):
        covered[span].update(range(start, end))
    return covered


def pairs_where(layer: Layer, eligible: Callable[[set[int], set[int]], bool]) -> Found:
    """Left, right and shared characters of all pairs of two annotators that are eligible."""
    covered, who = characters(layer), layer.span_annotator
    return {
        (left, right, len(covered[left] & covered[right]))
        for pair in combinations(range(len(covered)), 2)
        for left, right in [sorted(pair, key=lambda span: who[span])]
        if who[left] != who[right] and eligible(covered[left], covered[right])
    }


def found(edges: Edges) -> Found:
    listed = list(
        zip(edges.left.tolist(), edges.right.tolist(), edges.overlap.tolist(), strict=True)
    )
    assert len(listed) == len(edges) == len(set(listed))
    return set(listed)


def iou(one: set[int], other: set[int]) -> Fraction:
    return Fraction(len(one & other), len(one | other))


def dice(one: set[int], other: set[int]) -> Fraction:
    return Fraction(2 * len(one & other), len(one) + len(other))


def containment(one: set[int], other: set[int]) -> Fraction:
    return Fraction(len(one & other), min(len(one), len(other)))


SIMILARITY = {"iou": iou, "dice": dice, "containment": containment}


@few
@given(SMALL)
def test_spans_overlap_that_share_a_character(world: World) -> None:
    layer = world.layer()
    right = pairs_where(layer, lambda one, other: bool(one & other))
    assert found(overlap_edges(layer)) == right
    assert found(rule_edges(layer, OVERLAP, overlap_edges(layer))) == right


@few
@given(SMALL)
def test_spans_are_exactly_equal_that_cover_the_same_characters(world: World) -> None:
    # Parts that touch are one part, so equal characters are equal parts.
    layer = world.layer()
    right = pairs_where(layer, lambda one, other: one == other)
    assert found(exact_edges(layer)) == right
    assert found(rule_edges(layer, EXACT, overlap_edges(layer))) == right


@few
@given(SMALL)
def test_similarities_are_those_of_the_sets_of_characters(world: World) -> None:
    layer = world.layer()
    edges, covered = overlap_edges(layer), characters(layer)
    for name, similar in SIMILARITY.items():
        above, below = similarity(layer, edges, name)
        assert [Fraction(*pair) for pair in zip(above.tolist(), below.tolist(), strict=True)] == [
            similar(covered[left], covered[right])
            for left, right in zip(edges.left.tolist(), edges.right.tolist(), strict=True)
        ]
        for threshold in (
            *(Fraction(1, 3), Fraction(2, 3), Fraction(3, 5), Fraction(1)),
            # 2/3 and 1/2 as printed, and just above: too many digits for 64 bits.
            *map(Fraction, ("0.6666666666666666", "0.66666666666666666667")),
            *map(Fraction, ("0.5", "0.500000000000000000000000000001")),
        ):
            chosen = rule_edges(layer, Rule("overlap", name, threshold), edges)
            assert found(chosen) == pairs_where(
                layer,
                lambda one, other, similar=similar, threshold=threshold: (  # type: ignore[misc]
                    bool(one & other) and similar(one, other) >= threshold
                ),
            )


@few
@given(SMALL)
def test_typed_edges_have_equal_labels(world: World) -> None:
    layer = world.layer()
    edges = overlap_edges(layer)
    assert found(typed_edges(layer, edges)) == {
        (left, right, shared)
        for left, right, shared in found(edges)
        if layer.span_label[left] == layer.span_label[right]
    }


@few
@given(SMALL)
def test_every_span_has_one_node_for_every_other_pass_of_its_unit(world: World) -> None:
    layer = world.layer()
    nodes = make_nodes(layer)
    span, other = span_and_pass(layer)
    right = [
        (one, pass_)
        for one, own in enumerate(layer.span_pass)
        for pass_ in np.flatnonzero(layer.pass_unit == layer.pass_unit[own])
        if pass_ != own
    ]
    assert list(zip(span.tolist(), other.tolist(), strict=True)) == right
    assert nodes.size == len(right)
    assert nodes.of(layer, span, other).tolist() == list(range(nodes.size))
