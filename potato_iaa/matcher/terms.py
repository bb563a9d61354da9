"""Term lists: spans reduced to the set of surface texts that an annotator marked in a unit."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import numpy as np

from potato_iaa.arrays import Ints
from potato_iaa.layer import Layer


def normalised(text: str) -> str:
    r"""Unicode NFC, case-folded, runs of blanks as one space, none outside.

    >>> normalised("  Cafe\u0301\n du  NORD ")
    'café du nord'
    """
    folded = unicodedata.normalize("NFC", text).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def span_terms(layer: Layer) -> Ints:
    """A code per span for its normalised surface text; -1 where the unit has no text."""
    codes: dict[str, int] = {}
    unit = layer.span_unit
    pieces: list[list[str]] = [[] for _ in range(len(unit))]
    for part in np.lexsort((layer.part_start, layer.part_span)):
        span = int(layer.part_span[part])
        text = layer.unit_text[unit[span]]
        base = int(layer.unit_base[unit[span]])
        if text is not None:
            pieces[span].append(text[layer.part_start[part] - base : layer.part_end[part] - base])
    return np.array(
        [
            codes.setdefault(normalised(" ".join(piece)), len(codes)) if piece else -1
            for piece in pieces
        ],
        dtype=np.int64,
    )


def term_layer(layer: Layer, *, typed: bool) -> Layer:
    """The layer with one span per term of a pass (typed: per term and label).

    Equal terms of a unit have equal extents, whatever their offsets, so that the exact rule on
    this layer is the term-list agreement. Spans in units without text are left out.
    """
    term = span_terms(layer)
    label = layer.span_label if typed else np.zeros_like(layer.span_label)
    order = np.lexsort((label, term, layer.span_pass))
    keys = np.column_stack((layer.span_pass, term, label))[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    kept = np.sort(order[new & (term[order] >= 0)])
    extent = layer.span_unit[kept] * (term.max(initial=0) + 1) + term[kept]
    renamed = np.full(len(term), -1, dtype=np.int64)
    renamed[kept] = np.arange(len(kept))
    part_span = renamed[layer.part_span]
    there = part_span >= 0
    return replace(
        layer,
        span_pass=layer.span_pass[kept],
        span_label=layer.span_label[kept],
        span_start=layer.span_start[kept],
        span_end=layer.span_end[kept],
        span_length=layer.span_length[kept],
        span_extent=extent,
        part_span=part_span[there],
        part_start=layer.part_start[there],
        part_end=layer.part_end[there],
    )
