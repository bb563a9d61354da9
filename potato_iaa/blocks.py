"""Blocks: a layer cut into runs of items, which are counted apart and whose counts add up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from potato_iaa.arrays import Floats, Ints, expand, weigh
from potato_iaa.layer import Layer

# Code points of a block, where a span costs as much as so many of them: a tenth of a second's work,
# for which tens of megabytes are enough.
BLOCK = 2_000_000
SPAN_COST = 30


@dataclass(frozen=True, eq=False)
class Block:
    """A run of items as a layer of its own, with the codes of the whole for annotators and labels.

    ``first_span`` and ``first_row`` are where its spans, and its pairs of passes on one unit, begin
    in the whole layer.
    """

    layer: Layer
    first_span: int
    first_row: int


def cut(layer: Layer, *, size: int = BLOCK) -> list[Block]:
    """The layer's blocks, in the order of its items; an item is never divided.

    ``size``: code points, spans among them at ``SPAN_COST``, after which a block is full.
    """
    items = len(layer.items)
    cost = weigh(layer.unit_item, layer.unit_length, items)
    cost += SPAN_COST * weigh(
        layer.unit_item[layer.span_unit], np.ones(len(layer.span_pass)), items
    )
    bounds = _bounds(cost, size)
    readers = np.bincount(layer.pass_unit)
    rows = np.append(0, np.cumsum(readers * (readers - 1) // 2))
    unit = np.searchsorted(layer.unit_item, bounds)
    span = np.searchsorted(layer.span_unit, unit)
    return [
        Block(take_items(layer, np.arange(first, stop)), int(span[place]), int(rows[unit[place]]))
        for place, (first, stop) in enumerate(pairwise(bounds.tolist()))
    ]


def _bounds(cost: Floats, size: int) -> Ints:
    """Where blocks begin, and the end of the last one: a block ends with the item that fills it."""
    filled = np.floor(np.append(0, np.cumsum(cost)) / size)
    stops = np.flatnonzero(np.diff(filled)) + 1
    whole = stops[:-1] if len(stops) and stops[-1] == len(cost) else stops
    return np.concatenate(([0], whole, [len(cost)]))


def take_items(layer: Layer, items: Ints) -> Layer:
    """The layer of these items alone (ascending codes); annotators and labels keep their codes."""
    unit = _runs(layer.unit_item, items)
    pass_ = _runs(layer.pass_unit, unit)
    begin = layer.unit_base[unit]
    stop = begin + layer.unit_length[unit] + 1
    span = _between(layer.span_start, begin, stop)
    part = _between(layer.part_start, begin, stop)
    base = np.cumsum(stop - begin) - (stop - begin)
    moved = base - begin

    unit_of_pass = np.searchsorted(unit, layer.pass_unit[pass_])
    pass_of_span = np.searchsorted(pass_, layer.span_pass[span])
    span_moved = moved[unit_of_pass[pass_of_span]]
    span_of_part = np.searchsorted(span, layer.part_span[part])
    part_moved = span_moved[span_of_part]
    return replace(
        layer,
        items=tuple(layer.items[code] for code in items.tolist()),
        unit_item=np.searchsorted(items, layer.unit_item[unit]),
        unit_field=tuple(layer.unit_field[code] for code in unit.tolist()),
        unit_text=tuple(layer.unit_text[code] for code in unit.tolist()),
        unit_length=layer.unit_length[unit],
        unit_base=base,
        pass_unit=unit_of_pass,
        pass_annotator=layer.pass_annotator[pass_],
        pass_order=layer.pass_order[pass_],
        span_pass=pass_of_span,
        span_label=layer.span_label[span],
        span_start=layer.span_start[span] + span_moved,
        span_end=layer.span_end[span] + span_moved,
        span_length=layer.span_length[span],
        span_extent=layer.span_extent[span],
        part_span=span_of_part,
        part_start=layer.part_start[part] + part_moved,
        part_end=layer.part_end[part] + part_moved,
    )


def _runs(keys: Ints, wanted: Ints) -> Ints:
    """The positions of the ``wanted`` ones among sorted ``keys``."""
    first = np.searchsorted(keys, wanted, side="left")
    row, ahead = expand(np.searchsorted(keys, wanted, side="right") - first)
    return first[row] + ahead


def _between(starts: Ints, begin: Ints, stop: Ints) -> Ints:
    """The positions of sorted ``starts`` that lie in one of the ranges."""
    first = np.searchsorted(starts, begin, side="left")
    row, ahead = expand(np.searchsorted(starts, stop, side="left") - first)
    return first[row] + ahead
