"""The unitizing alphas of 2016 from sums of intersection lengths per item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from potato_iaa.arrays import Floats, Ints, group_stop, present, ratio, stack, weigh
from potato_iaa.layer import Layer
from potato_iaa.matcher.edges import Edges, overlap_edges
from potato_iaa.matcher.nodes import make_nodes
from potato_iaa.measures.alpha import variation
from potato_iaa.measures.bootstrap import estimate
from potato_iaa.measures.estimate import (
    NO_SHARED_ITEMS,
    NO_VARIATION,
    ONE_ANNOTATOR,
    Estimate,
    plain,
)
from potato_iaa.measures.tokens import (
    LabelCoincidences,
    Tokens,
    code_binary,
    code_io_longest,
    coincide,
    coincide_labels,
    make_segments,
    owned,
    readers,
)

NO_UNIT = "no unit"
NO_GAP = "no gap"
NO_INTERSECTION = "no intersection of units"
ONE_LABEL = "fewer than two labels among the intersecting units"
TOO_FEW_INTERSECTIONS = "too few intersections to expect anything by chance"


@dataclass(frozen=True)
class Covered:
    """An alpha over intersecting units alone, and the share of the continuum they cover."""

    alpha: Estimate
    coverage: float | None

    def to_dict(self) -> dict[str, Any]:
        """The alpha as in report.json, with its coverage."""
        return self.alpha.to_dict() | {"coverage": plain(self.coverage)}


@dataclass(frozen=True)
class UnitizingFigures:
    """The 2016 family on one layer.

    ``overlapping_passes``: passes in which units overlap, for which the family is not defined.
    ``layers``: uα of each label's spans alone. ``flattened``: the family after each code point
    went to the longest span on it (ties: smaller start, then label), where spans overlap.
    """

    u_alpha: Estimate
    binary_u_alpha: Estimate
    cu_alpha: Covered
    k_u_alpha: dict[str, Covered]
    overlapping_passes: int
    layers: dict[str, Estimate]
    flattened: UnitizingFigures | None

    def to_dict(self) -> dict[str, Any]:
        """The family as in report.json."""
        return {
            "unit": "character",
            "u_alpha": self.u_alpha.to_dict(),
            "binary_u_alpha": self.binary_u_alpha.to_dict(),
            "cu_alpha": self.cu_alpha.to_dict(),
            "k_u_alpha": {label: figure.to_dict() for label, figure in self.k_u_alpha.items()},
            "overlapping_passes": self.overlapping_passes,
            "layers": {label: figure.to_dict() for label, figure in self.layers.items()},
            "flattened": self.flattened.to_dict() if self.flattened else None,
        }


@dataclass(frozen=True, eq=False)
class Intersections:
    """Sums per item over the continuum, float64: of these the family is made.

    ``disagreement`` (items,), ``lengths`` (items, 1 + labels; gaps first), ``squares`` (items,):
    Σ f(S); ``binary_disagreement`` (items,); ``met``, ``met_alike``, ``met_squares`` (items,
    labels): starred lengths of intersecting units, of those alike, and X.
    """

    disagreement: Floats
    lengths: Floats
    squares: Floats
    binary_disagreement: Floats
    met: Floats
    met_alike: Floats
    met_squares: Floats


@dataclass(frozen=True, eq=False)
class UnitSums:
    """What the family is made of, for consecutive items.

    ``crossed``: int64 (1,), passes in which units overlap; ``label_crossed``: int64 (1, labels),
    those in which units of one label do. ``sums``: of the units; of the flattened ones where some
    of these passes' units overlap. ``layers``, ``layer_squares`` (items, labels): each label's own.
    """

    crossed: Ints
    label_crossed: Ints
    sums: Intersections
    layers: LabelCoincidences
    layer_squares: Floats


def unit_layer(layer: Layer) -> Layer:
    """The layer whose spans are units: each part of a discontinuous span is one of its own."""
    if len(layer.part_span) == len(layer.span_pass):
        return layer
    return replace(
        layer,
        span_pass=layer.span_pass[layer.part_span],
        span_label=layer.span_label[layer.part_span],
        span_start=layer.part_start,
        span_end=layer.part_end,
        span_length=layer.part_end - layer.part_start,
        span_extent=np.arange(len(layer.part_span)),
        part_span=np.arange(len(layer.part_span)),
    )


def flat_layer(layer: Layer, segments: Tokens) -> Layer:
    """The layer in which every code point of a pass belongs to the longest span on it alone.

    ``segments`` are those of the layer's units.
    """
    of_spans = replace(segments, mark_span=layer.part_span[segments.mark_span])
    token, pass_, span = owned(layer, of_spans)
    order = np.lexsort((token, pass_))
    token, pass_, span = token[order], pass_[order], span[order]
    start, end = segments.start[token], segments.end[token]
    first = np.ones(len(token), dtype=bool)
    first[1:] = (pass_[1:] != pass_[:-1]) | (span[1:] != span[:-1]) | (start[1:] != end[:-1])
    begin = np.flatnonzero(first)
    last = np.append(begin[1:], len(token))[: len(begin)] - 1
    order = np.lexsort((pass_[begin], layer.span_label[span[begin]], end[last], start[begin]))
    begin, last = begin[order], last[order]
    return replace(
        layer,
        span_pass=pass_[begin],
        span_label=layer.span_label[span[begin]],
        span_start=start[begin],
        span_end=end[last],
        span_length=end[last] - start[begin],
        span_extent=np.arange(len(begin)),
        part_span=np.arange(len(begin)),
        part_start=start[begin],
        part_end=end[last],
    )


def overlapping_passes(layer: Layer, *, label: int | None = None) -> Ints:
    """The passes, on units that two or more annotators read, in which units overlap.

    With ``label``, the units of that label alone.
    """
    part = np.arange(len(layer.part_span))
    if label is not None:
        part = np.flatnonzero(layer.span_label[layer.part_span] == label)
    owner = layer.span_pass[layer.part_span[part]]
    order = part[np.argsort(owner, kind="stable")]
    start, end = layer.part_start[order], layer.part_end[order]
    owner = layer.span_pass[layer.part_span[order]]
    if not len(start):
        return owner
    # The reach of earlier units is per pass: lift every pass above all offsets of the one before.
    lift = owner * (int(end.max()) + 1)
    reach = np.maximum.accumulate(end + lift)[:-1]
    crossing = (owner[1:] == owner[:-1]) & (start[1:] + lift[1:] < reach)
    crossed = present(owner[1:][crossing])
    return crossed[readers(layer)[layer.pass_unit[crossed]] >= 2]


def intersect(layer: Layer) -> Intersections:
    """Sums of intersection lengths of a layer of units that do not overlap within a pass."""
    segments = make_segments(layer)
    coding = code_io_longest(layer, segments)
    whole = coincide(layer, segments, coding)
    binary = coincide(layer, segments, code_binary(layer, segments))
    lengths = whole.values
    m = readers(layer)
    item_of_span = layer.unit_item[layer.span_unit]
    counted = m[layer.span_unit] >= 2
    squares = lengths[:, 0] + weigh(
        item_of_span[counted], layer.span_length[counted] ** 2, len(layer.items)
    )
    met, met_alike = _met(layer, segments)
    return Intersections(
        disagreement=whole.disagreement,
        lengths=lengths,
        squares=squares,
        binary_disagreement=binary.disagreement,
        met=met,
        met_alike=met_alike,
        met_squares=_met_squares(layer, overlap_edges(layer)),
    )


def _met(layer: Layer, segments: Tokens) -> tuple[Floats, Floats]:
    """Starred lengths per item and label: of units that meet units, and of those alike.

    Units that one annotator alone read may overlap: they meet nobody's.
    """
    m = readers(layer)
    shared = m[segments.unit[segments.mark_token]] >= 2
    token = segments.mark_token[shared]
    label = layer.span_label[segments.mark_span[shared]]
    marks = np.bincount(token, minlength=len(segments.start))[token]
    order = np.lexsort((label, token))
    cell = (token * len(layer.labels) + label)[order]
    same = np.empty(len(cell), dtype=np.int64)
    same[order] = group_stop(cell) - np.searchsorted(cell, cell, side="left")
    weight = segments.weight[token] / (m[segments.unit[token]] - 1)
    place = layer.unit_item[segments.unit[token]] * len(layer.labels) + label
    shape = (len(layer.items), len(layer.labels))
    size = shape[0] * shape[1]
    return (
        weigh(place, weight * (marks - 1), size).reshape(shape),
        weigh(place, weight * (same - 1), size).reshape(shape),
    )


def _met_squares(layer: Layer, edges: Edges) -> Floats:
    """X per item and label: Σ over units g of 1/(m−1) Σ over annotators j of |g ∩ units of j|²."""
    nodes = make_nodes(layer)
    pass_of = layer.span_pass
    node = np.concatenate(
        (
            nodes.of(layer, edges.left, pass_of[edges.right]),
            nodes.of(layer, edges.right, pass_of[edges.left]),
        )
    )
    shared = weigh(node, np.concatenate((edges.overlap, edges.overlap)), nodes.size)
    others = readers(layer)[layer.span_unit] - 1
    owner = np.repeat(np.arange(len(pass_of)), others)
    place = layer.unit_item[layer.span_unit] * len(layer.labels) + layer.span_label
    shape = (len(layer.items), len(layer.labels))
    return weigh(place[owner], shared**2 / others[owner], shape[0] * shape[1]).reshape(shape)


def u_alpha(disagreement: Floats, lengths: Floats, squares: Floats) -> Floats:
    """uα = 1 − (l.. − Σ l_cc)/(l.. − Σ e_cc), NaN where all is gap or all of one label.

    ``disagreement`` is l.. − Σ l_cc, ``lengths`` (values, …) the l_c with the gaps first,
    ``squares`` Σ f(S). The expected part comes to l..·(l..² − Σ l_c²)/(l..² − Σ f(S)).

    Source: Krippendorff, Mathet, Bouvry & Widlöcher 2016, doi:10.1007/s11135-015-0266-1.
    """
    total = lengths.sum(axis=0)
    return 1 - ratio(disagreement * (total**2 - squares), total * variation(lengths))


def cu_alpha(met: Floats, met_alike: Floats, met_squares: Floats) -> Floats:
    """cuα: do intersecting units have the same label? NaN for fewer than two labels among them."""
    expected, total = _expected_alike(met, met_squares)
    several = (met > 0).sum(axis=0) >= 2
    alpha = 1 - ratio(total - met_alike.sum(axis=0), total - expected.sum(axis=0))
    return np.where(several, alpha, np.nan)


def k_u_alpha(met: Floats, met_alike: Floats, met_squares: Floats) -> Floats:
    """(k)uα of every label k: where one of two intersecting units has label k, has the other?

    NaN too where the letter of the definition expects less than nothing of a label.
    """
    expected, total = _expected_alike(met, met_squares)
    pairs = met * total - met_squares
    expected_met = ratio(np.where(pairs > 0, pairs, np.nan), _pool(met, met_squares))
    observed = ratio(met - met_alike, met)
    # Where one label alone intersects, the divisor is exactly 0.
    alpha: Floats = 1 - ratio(observed * expected_met, expected_met - expected)
    return alpha


def _pool(met: Floats, met_squares: Floats) -> Floats:
    total: Floats = met.sum(axis=0)
    pool: Floats = total - ratio(met_squares.sum(axis=0), total)
    return pool


def _expected_alike(met: Floats, met_squares: Floats) -> tuple[Floats, Floats]:
    return ratio(met**2 - met_squares, _pool(met, met_squares)), met.sum(axis=0)


def count_units(layer: Layer) -> UnitSums:
    """The sums of a layer's units, flattened where those of a pass overlap.

    Where none do, the units are the flattened ones themselves.
    """
    units = unit_layer(layer)
    crossed = len(overlapping_passes(units))
    segments = make_segments(units)
    of_label = [len(overlapping_passes(units, label=code)) for code in range(len(layer.labels))]
    return UnitSums(
        crossed=np.array([crossed]),
        label_crossed=np.array([of_label], dtype=np.int64),
        sums=intersect(flat_layer(layer, segments) if crossed else units),
        layers=coincide_labels(units, segments),
        layer_squares=_label_squares(units),
    )


def join_units(parts: Sequence[UnitSums]) -> UnitSums:
    """The sums of several runs of items, one after the other."""
    return UnitSums(
        crossed=np.concatenate([part.crossed for part in parts]),
        label_crossed=np.concatenate([part.label_crossed for part in parts]),
        sums=stack([part.sums for part in parts]),
        layers=stack([part.layers for part in parts]),
        layer_squares=np.concatenate([part.layer_squares for part in parts]),
    )


def unitizing_figures(layer: Layer, counted: UnitSums, weights: Floats) -> UnitizingFigures:
    """The 2016 family of ``layer``, with intervals; lengths are code points.

    Undefined where units of one pass overlap, whatever their labels; then ``layers`` (per label)
    and ``flattened`` give what can be said. For more than two annotators two published readings of
    cuα and (k)uα differ: this is the one that squares a unit's intersection with each other
    annotator by itself.

    Source: Krippendorff, Mathet, Bouvry & Widlöcher 2016, doi:10.1007/s11135-015-0266-1.
    """
    crossed = int(counted.crossed.sum())
    return replace(
        _family(layer, counted.sums, weights, crossed),
        layers=_label_layers(layer, counted, weights),
        flattened=_family(layer, counted.sums, weights, 0) if crossed else None,
    )


def _label_squares(layer: Layer) -> Floats:
    """Σ of squared lengths per item and label, of units that two or more annotators could mark."""
    labels = len(layer.labels)
    counted = readers(layer)[layer.span_unit] >= 2
    return weigh(
        layer.unit_item[layer.span_unit[counted]] * labels + layer.span_label[counted],
        layer.span_length[counted] ** 2,
        len(layer.items) * labels,
    ).reshape(len(layer.items), labels)


def _label_layers(layer: Layer, counted: UnitSums, weights: Floats) -> dict[str, Estimate]:
    """uα of each label's units alone, undefined where those overlap within a pass."""
    sums, squares = counted.layers, counted.layer_squares
    crossed = counted.label_crossed.sum(axis=0)
    disagreement, marked = sums.disagreement.T @ weights, sums.marked.T @ weights
    gaps = sums.read @ weights - marked
    alphas = u_alpha(disagreement, np.stack((gaps, marked)), squares.T @ weights + gaps)
    shared = present(layer.unit_item[readers(layer) >= 2])
    size = {"n": len(shared), "of": len(layer.items)}
    figures = {}
    for code, label in enumerate(layer.labels):
        why = _why(layer, len(shared), int(crossed[code]))
        known = np.full(weights.shape[1], np.nan) if why else alphas[code]
        unused = NO_VARIATION if marked[code, 0] else NO_UNIT
        figures[label] = estimate(known, why=why or unused, **size)
    return figures


def _family(layer: Layer, sums: Intersections, weights: Floats, crossed: int) -> UnitizingFigures:
    shared = present(layer.unit_item[readers(layer) >= 2])
    size = {"n": len(shared), "of": len(layer.items)}
    why = _why(layer, len(shared), crossed)
    if why:
        nothing = Estimate(None, why, n=len(shared), of=len(layer.items))
        return UnitizingFigures(
            nothing,
            nothing,
            Covered(nothing, None),
            {label: Covered(nothing, None) for label in layer.labels},
            crossed,
            {},
            None,
        )
    labels = len(layer.labels)
    columns = (sums.disagreement, sums.squares, sums.binary_disagreement)
    tables = (sums.lengths, sums.met, sums.met_alike, sums.met_squares)
    product = np.column_stack((*columns, *tables)).T @ weights
    disagreement, squares, binary_disagreement = product[:3]
    lengths, met, alike, met_squares = np.split(
        product[3:], np.cumsum([1 + labels, labels, labels])
    )
    binary = np.stack((lengths[0], lengths[1:].sum(axis=0)))
    total = met.sum(axis=0)
    alphas = k_u_alpha(met, alike, met_squares)
    few = NO_INTERSECTION if not total[0] else ONE_LABEL
    if np.count_nonzero(met[:, 0]) >= 2:
        few = TOO_FEW_INTERSECTIONS
    return UnitizingFigures(
        u_alpha=estimate(
            u_alpha(disagreement, lengths, squares),
            why=NO_VARIATION if binary[1, 0] else NO_UNIT,
            **size,
        ),
        binary_u_alpha=estimate(
            u_alpha(binary_disagreement, binary, squares),
            why=NO_UNIT if not binary[1, 0] else NO_GAP,
            **size,
        ),
        cu_alpha=Covered(
            estimate(cu_alpha(met, alike, met_squares), why=few, **size),
            _share(total[0], lengths[:, 0].sum()),
        ),
        k_u_alpha={
            label: Covered(
                estimate(
                    alphas[code],
                    why=NO_INTERSECTION if not met[code, 0] else few,
                    **size,
                ),
                _share(met[code, 0], lengths[1 + code, 0]),
            )
            for code, label in enumerate(layer.labels)
        },
        overlapping_passes=0,
        layers={},
        flattened=None,
    )


def _why(layer: Layer, shared: int, crossed: int) -> str | None:
    if len(layer.annotators) < 2:
        return ONE_ANNOTATOR
    if not shared:
        return NO_SHARED_ITEMS
    if crossed:
        passes = "1 pass" if crossed == 1 else f"{crossed:,} passes"
        return f"units of one annotator overlap in {passes}"
    return None


def _share(part: float, whole: float) -> float | None:
    return float(part / whole) if whole else None
