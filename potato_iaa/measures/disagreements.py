"""Disagreements: every one of them with its kind and its two sides, and what labels it confuses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from potato_iaa.arrays import Flags, Ints, group_starts
from potato_iaa.layer import Layer
from potato_iaa.matcher.alignment import Alignment
from potato_iaa.matcher.counts import Comparisons
from potato_iaa.matcher.edges import Edges
from potato_iaa.matcher.nodes import Nodes, make_nodes, span_and_pass

KINDS = ("missed", "boundary", "label", "boundary+label", "split/merge")
MISSED, BOUNDARY, LABEL, BOTH, SPLIT = range(5)
NOBODY = -1
KIND_COLUMNS = ("n_missed", "n_boundary", "n_label", "n_boundary_label", "n_split_merge")


@dataclass(frozen=True, eq=False)
class Disagreements:
    """One row per disagreement of two annotators on a unit, int64 arrays (disagreements,).

    ``left``, ``right``: spans, or -1 where that annotator has none; ``kind``: code in ``KINDS``;
    ``row``: the unfolded row of comparisons, that is, unit and pair.
    """

    left: Ints
    right: Ints
    kind: Ints
    row: Ints


def find_disagreements(
    layer: Layer, comparisons: Comparisons, overlaps: Edges, alignment: Alignment
) -> Disagreements:
    """Classify what two annotators do not share, from the untyped overlap alignment.

    ``boundary``, ``label``, ``boundary+label``: matched spans that differ in offsets, label, both.
    ``split/merge``: one span against several: a span without a partner that overlaps a span whose
    own partner has other offsets, and that matched pair too. ``missed``: a span without a partner
    that overlaps nothing of the other annotator, or only what is matched exactly without it.
    """
    nodes = make_nodes(layer)
    node_span, node_pass = span_and_pass(layer)
    pass_of = layer.span_pass
    left_node = nodes.of(layer, alignment.left, pass_of[alignment.right])
    right_node = nodes.of(layer, alignment.right, pass_of[alignment.left])
    same_extent = layer.span_extent[alignment.left] == layer.span_extent[alignment.right]
    matched: Flags = np.zeros(nodes.size, dtype=bool)
    matched[left_node] = matched[right_node] = True
    exactly: Flags = np.zeros(nodes.size, dtype=bool)
    exactly[left_node[same_extent]] = exactly[right_node[same_extent]] = True

    partner = _nearest(layer, nodes, overlaps, matched, exactly)
    split = np.zeros(nodes.size, dtype=bool)
    alone = np.flatnonzero(~matched)
    attached = alone[partner[alone] != NOBODY]
    split[nodes.of(layer, partner[attached], pass_of[node_span[attached]])] = True

    kind = np.where(
        layer.span_label[alignment.left] == layer.span_label[alignment.right],
        np.where(same_extent, NOBODY, BOUNDARY),
        np.where(same_extent, LABEL, BOTH),
    )
    kind = np.where(~same_extent & (split[left_node] | split[right_node]), SPLIT, kind)
    told = kind != NOBODY

    span, other = node_span[alone], partner[alone]
    first = pass_of[span] < node_pass[alone]
    left = np.concatenate((alignment.left[told], np.where(first, span, other)))
    right = np.concatenate((alignment.right[told], np.where(first, other, span)))
    pass_a = np.concatenate(
        (pass_of[alignment.left[told]], np.where(first, pass_of[span], node_pass[alone]))
    )
    pass_b = np.concatenate(
        (pass_of[alignment.right[told]], np.where(first, node_pass[alone], pass_of[span]))
    )
    row = comparisons.row_of(pass_a, pass_b)
    kind = np.concatenate((kind[told], np.where(other == NOBODY, MISSED, SPLIT)))
    start = np.minimum(
        np.where(left == NOBODY, np.iinfo(np.int64).max, layer.span_start[left]),
        np.where(right == NOBODY, np.iinfo(np.int64).max, layer.span_start[right]),
    )
    order = np.lexsort((right, left, pass_b, pass_a, start))
    return Disagreements(left[order], right[order], kind[order], row[order])


def lifted(found: Disagreements, first_span: int, first_row: int) -> Disagreements:
    """The disagreements of a block, with the spans and rows of the whole layer."""
    return Disagreements(
        left=np.where(found.left == NOBODY, NOBODY, found.left + first_span),
        right=np.where(found.right == NOBODY, NOBODY, found.right + first_span),
        kind=found.kind,
        row=found.row + first_row,
    )


def _nearest(layer: Layer, nodes: Nodes, overlaps: Edges, matched: Flags, exactly: Flags) -> Ints:
    """Per unmatched node the span it overlaps most, or -1; exactly matched spans do not count."""
    span = np.concatenate((overlaps.left, overlaps.right))
    other = np.concatenate((overlaps.right, overlaps.left))
    overlap = np.concatenate((overlaps.overlap, overlaps.overlap))
    node = nodes.of(layer, span, layer.span_pass[other])
    back = nodes.of(layer, other, layer.span_pass[span])
    open_ = np.flatnonzero(~matched[node] & ~exactly[back])
    order = open_[np.lexsort((other[open_], -overlap[open_], node[open_]))]
    best = order[group_starts(node[order])]
    partner = np.full(nodes.size, NOBODY, dtype=np.int64)
    partner[node[best]] = other[best]
    return partner


def disagreement_table(
    layer: Layer, comparisons: Comparisons, disagreements: Disagreements
) -> pd.DataFrame:
    """One row per disagreement with its two sides; offsets in code points of the item's text.

    Columns: item, field, a, b, kind, label_a, start_a, end_a, label_b, start_b, end_b; a side
    without a span has missing values. A discontinuous span shows its first start and last end.
    """
    pass_a = comparisons.pass_a[disagreements.row]
    pass_b = comparisons.pass_b[disagreements.row]
    unit = layer.pass_unit[pass_a]
    base = layer.unit_base[unit]
    sides: dict[str, Any] = {}
    for name, span in (("a", disagreements.left), ("b", disagreements.right)):
        absent = span == NOBODY
        sides[f"label_{name}"] = pd.Categorical.from_codes(
            np.where(absent, -1, layer.span_label[span]),
            pd.Index(list(layer.labels), dtype=object),
        )
        for end, values in (("start", layer.span_start), ("end", layer.span_end)):
            offsets = pd.array(values[span] - base, dtype="Int64")
            offsets[absent] = pd.NA
            sides[f"{end}_{name}"] = offsets
    columns = ["label_a", "start_a", "end_a", "label_b", "start_b", "end_b"]
    return pd.DataFrame(
        {
            "item": _named(layer.unit_item[unit], layer.items),
            "field": _named(unit, layer.unit_field),
            "a": _named(layer.pass_annotator[pass_a], layer.annotators),
            "b": _named(layer.pass_annotator[pass_b], layer.annotators),
            "kind": pd.Categorical.from_codes(disagreements.kind, pd.Index(KINDS)),
            **{column: sides[column] for column in columns},
        }
    )


def _named(codes: Ints, names: tuple[str, ...]) -> pd.Categorical[str]:
    known = sorted(set(names))
    place = {name: position for position, name in enumerate(known)}
    table = np.array([place[name] for name in names], dtype=np.int64)
    return pd.Categorical.from_codes(table[codes], pd.Index(known))


def kind_counts(
    layer: Layer, comparisons: Comparisons, disagreements: Disagreements
) -> dict[str, pd.DataFrame]:
    """Disagreements per kind, by ``pair``, ``label``, ``item`` and ``annotator``.

    Columns are the key's and ``KIND_COLUMNS``, in the order of ``KINDS``. A disagreement counts for
    both of its annotators, and once for each label on its two sides.
    """
    pass_a = comparisons.pass_a[disagreements.row]
    pass_b = comparisons.pass_b[disagreements.row]
    a, b = layer.pass_annotator[pass_a], layer.pass_annotator[pass_b]
    size = len(layer.annotators)
    pair = np.searchsorted(comparisons.pair_a * size + comparisons.pair_b, a * size + b)
    label_a = np.where(disagreements.left == NOBODY, NOBODY, layer.span_label[disagreements.left])
    label_b = np.where(disagreements.right == NOBODY, NOBODY, layer.span_label[disagreements.right])
    second = (label_b != NOBODY) & (label_b != label_a)
    label = np.concatenate((label_a[label_a != NOBODY], label_b[second]))
    label_kind = np.concatenate((disagreements.kind[label_a != NOBODY], disagreements.kind[second]))
    item = layer.unit_item[layer.pass_unit[pass_a]]
    by_pair = _kinds(pair, disagreements.kind, len(comparisons.pair_a))
    by_pair.insert(0, "a", [layer.annotators[code] for code in comparisons.pair_a])
    by_pair.insert(1, "b", [layer.annotators[code] for code in comparisons.pair_b])
    by_label = _kinds(label, label_kind, len(layer.labels))
    by_label.insert(0, "label", list(layer.labels))
    by_item = _kinds(item, disagreements.kind, len(layer.items))
    by_item.insert(0, "item", list(layer.items))
    by_annotator = _kinds(
        np.concatenate((a, b)), np.concatenate((disagreements.kind, disagreements.kind)), size
    )
    by_annotator.insert(0, "annotator", list(layer.annotators))
    return {"pair": by_pair, "label": by_label, "item": by_item, "annotator": by_annotator}


def _kinds(place: Ints, kind: Ints, size: int) -> pd.DataFrame:
    counts = np.bincount(place * len(KINDS) + kind, minlength=size * len(KINDS))
    return pd.DataFrame(counts.reshape(size, len(KINDS)), columns=list(KIND_COLUMNS))
