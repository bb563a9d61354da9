"""Nodes: every span once per other annotator of its unit, for pairs are matched independently."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from potato_iaa.arrays import Ints, expand
from potato_iaa.layer import Layer


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of a layer, numbered by span and then by the other pass of the unit.

    ``first``: int64 (spans,), the first node of each span; ``unit_first``: int64 (units,), the
    first pass of each unit.
    """

    first: Ints
    unit_first: Ints
    size: int

    def of(self, layer: Layer, span: Ints, other_pass: Ints) -> Ints:
        """The node of each span towards another pass of its unit."""
        own = layer.span_pass[span]
        place = other_pass - self.unit_first[layer.pass_unit[own]]
        return self.first[span] + place - (other_pass > own)


def make_nodes(layer: Layer) -> Nodes:
    """The nodes of all spans of ``layer``."""
    passes, unit_first = _passes(layer)
    others = passes[layer.span_unit] - 1
    return Nodes(np.cumsum(others) - others, unit_first, int(others.sum()))


def span_and_pass(layer: Layer) -> tuple[Ints, Ints]:
    """The span of every node, and the other pass that it faces."""
    passes, unit_first = _passes(layer)
    span, place = expand(passes[layer.span_unit] - 1)
    own = layer.span_pass[span]
    other_pass = unit_first[layer.pass_unit[own]] + place
    return span, other_pass + (other_pass >= own)


def _passes(layer: Layer) -> tuple[Ints, Ints]:
    passes = np.bincount(layer.pass_unit, minlength=len(layer.unit_item))
    return passes, np.cumsum(passes) - passes
