"""The unitizing alpha of 1995/2004, item by item: distances of units and gaps on a continuum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from potato_iaa.arrays import Floats, Ints, ratio
from potato_iaa.layer import Layer
from potato_iaa.measures.bootstrap import estimate
from potato_iaa.measures.estimate import (
    NO_SHARED_ITEMS,
    NO_VARIATION,
    ONE_ANNOTATOR,
    Estimate,
    plain,
)
from potato_iaa.measures.tokens import readers
from potato_iaa.measures.unitizing import unit_layer

NO_UNIT = "no unit"
NOT_RESAMPLED = "one continuum is not resampled: the mean over items is"
OVERLAPPING = "an annotator has overlapping units of the same label"

# The units of one annotator: starts and ends, sorted, not overlapping.
Units = tuple[Ints, Ints]


@dataclass(frozen=True)
class AlphaU:
    """α_U of one continuum: over all labels, and per label (α_c) where defined."""

    value: float | None
    why: str | None
    labels: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """The coefficient as in report.json."""
        figure: dict[str, Any] = {"value": plain(self.value)}
        if self.value is None:
            figure["why"] = self.why
        labels = {label: {"value": plain(alpha)} for label, alpha in self.labels.items()}
        return figure | {"interval_why": NOT_RESAMPLED, "labels": labels}


@dataclass(frozen=True)
class AlphaUFigures:
    """α_U of 1995/2004: the mean over the items that have one, and each of them.

    ``items``: (item, field, coefficient). ``labels``: label → mean over the items where defined.
    ``concatenated``: all items that every annotator read, one after the other.
    """

    mean_over_items: Estimate
    labels: dict[str, Estimate]
    items: tuple[tuple[str, str, AlphaU], ...]
    concatenated: AlphaU

    def to_dict(self) -> dict[str, Any]:
        """The coefficients as in report.json."""
        return {
            "mean_over_items": self.mean_over_items.to_dict(),
            "labels": {label: figure.to_dict() for label, figure in self.labels.items()},
            "items": [
                {"item": item, "field": field} | alpha.to_dict()
                for item, field, alpha in self.items
            ],
            "concatenated": self.concatenated.to_dict(),
        }


def disagreements(units: Sequence[Units], length: int) -> tuple[float, float]:
    """Observed and expected disagreement of one label on a continuum of ``length`` code points.

    ``units``: one pair of arrays (starts, ends) per annotator. Floats throughout: m·L·(m·L − 1)
    overflows 64-bit integers on long continua.

    Source: Krippendorff 1995, doi:10.2307/271061; 2004, Measuring the reliability of qualitative
    text analysis data, doi:10.1007/s11135-004-8107-7. One unit [0, 1) by one of three annotators
    on a continuum of 20 is exactly chance:

    >>> import numpy as np
    >>> nothing = (np.zeros(0, dtype=int), np.zeros(0, dtype=int))
    >>> observed, expected = disagreements([(np.array([0]), np.array([1])), nothing, nothing], 20)
    >>> round(1 - observed / expected, 12)
    0.0
    """
    m = len(units)
    observed = sum(_distance(units[i], units[j]) for i in range(m) for j in range(m) if i != j) / (
        m * (m - 1) * float(length) ** 2
    )
    lengths = np.concatenate([end - start for start, end in units]).astype(np.float64)
    gaps = np.sort(np.concatenate([_gaps(own, length) for own in units]))
    # Over gaps G ≥ l: Σ (G − l + 1), from sums over the sorted gaps' tail.
    tail = np.append(np.cumsum(gaps[::-1])[::-1], 0.0)
    first = np.searchsorted(gaps, lengths, side="left")
    room = tail[first] - (lengths - 1) * (len(gaps) - first)
    pairing = (len(lengths) - 1) / 3 * (2 * lengths**3 - 3 * lengths**2 + lengths)
    whole = float(m) * length
    expected = 2 / length * (pairing + lengths**2 * room).sum()
    expected /= whole * (whole - 1) - (lengths * (lengths - 1)).sum()
    return float(observed), float(expected)


def _distance(own: Units, other: Units) -> float:
    """Σ δ² between the units of one annotator and the sections of another, one way."""
    start, end = own
    other_start, other_end = other
    first = np.searchsorted(other_end, start, side="right")
    stop = np.searchsorted(other_start, end, side="left")
    in_gap = stop <= first
    total = float(((end - start)[in_gap].astype(np.float64) ** 2).sum())
    for unit in np.flatnonzero(~in_gap):
        met = slice(first[unit], stop[unit])
        total += float(((start[unit] - other_start[met]).astype(np.float64) ** 2).sum())
        total += float(((end[unit] - other_end[met]).astype(np.float64) ** 2).sum())
    covering = _in_gap_of(other, own)
    return total + covering


def _in_gap_of(units: Units, other: Units) -> float:
    """Σ l² of the ``units`` that lie wholly in gaps of ``other``."""
    start, end = units
    first = np.searchsorted(other[1], start, side="right")
    stop = np.searchsorted(other[0], end, side="left")
    return float(((end - start)[stop <= first].astype(np.float64) ** 2).sum())


def _gaps(units: Units, length: int) -> Floats:
    """The lengths of the gaps, 0 where units touch each other or an end."""
    start, end = units
    gaps: Floats = (np.append(start, length) - np.append(0, end)).astype(np.float64)
    return gaps


def alpha_u_figures(layer: Layer, weights: Floats) -> AlphaUFigures:
    """α_U per item (per display field) and label, and the mean over items that have a value.

    Undefined: fewer than two annotators; no unit; a text of one code point that all marked; units
    of one label that overlap within an annotator. Different labels may overlap; touching units
    stay apart. No rule for several documents is agreed on: ``concatenated`` joins the items that
    all annotators read.

    Sources: Krippendorff 1995, doi:10.2307/271061; 2004, doi:10.1007/s11135-004-8107-7.
    """
    units = unit_layer(layer)
    owned = _by_pass_and_label(units)
    bounds = np.searchsorted(layer.pass_unit, np.arange(len(layer.unit_item) + 1))
    passes = [range(first, stop) for first, stop in pairwise(bounds.tolist())]
    alphas = [
        _alpha_u(
            layer.labels,
            _sections(units, owned, passes[unit], int(layer.unit_base[unit])),
            int(layer.unit_length[unit]),
            len(passes[unit]),
        )
        for unit in range(len(passes))
    ]
    shared = np.flatnonzero(readers(layer) >= 2)
    why = str(alphas[shared[0]].why) if len(shared) else NO_SHARED_ITEMS
    if len(layer.annotators) < 2:
        why = ONE_ANNOTATOR

    def mean(values: list[float | None]) -> Estimate:
        return _mean(np.array(values, dtype=np.float64), layer, weights, why, len(shared))

    return AlphaUFigures(
        mean_over_items=mean([alpha.value for alpha in alphas]),
        labels={
            label: mean([alpha.labels.get(label) for alpha in alphas]) for label in layer.labels
        },
        items=tuple(
            (layer.items[layer.unit_item[unit]], layer.unit_field[unit], alpha)
            for unit, alpha in enumerate(alphas)
        ),
        concatenated=_concatenated(layer, units, owned, passes),
    )


def _mean(values: Floats, layer: Layer, weights: Floats, why: str, shared: int) -> Estimate:
    defined = np.flatnonzero(~np.isnan(values))
    weight = weights[layer.unit_item[defined]]
    mean = ratio(values[defined] @ weight, weight.sum(axis=0))
    return estimate(mean, why=why, n=len(defined), of=shared)


def _by_pass_and_label(layer: Layer) -> dict[tuple[int, int], Ints]:
    groups: dict[tuple[int, int], list[int]] = {}
    for span in np.lexsort((layer.span_end, layer.span_start)):
        key = (int(layer.span_pass[span]), int(layer.span_label[span]))
        groups.setdefault(key, []).append(int(span))
    return {key: np.array(spans) for key, spans in groups.items()}


def _sections(
    layer: Layer, owned: dict[tuple[int, int], Ints], passes: range, base: int
) -> dict[int, list[Units]]:
    """Label → the units of each pass, for the labels that some pass used."""
    nothing = np.zeros(0, dtype=np.int64)
    used = [
        label
        for label in range(len(layer.labels))
        if any((pass_, label) in owned for pass_ in passes)
    ]
    return {
        label: [
            (layer.span_start[spans] - base, layer.span_end[spans] - base)
            for pass_ in passes
            for spans in [owned.get((pass_, label), nothing)]
        ]
        for label in used
    }


def _alpha_u(
    names: tuple[str, ...], sections: dict[int, list[Units]], length: int, m: int
) -> AlphaU:
    if m < 2:
        return AlphaU(None, ONE_ANNOTATOR, {})
    labels: dict[str, float] = {}
    observed_sum = expected_sum = 0.0
    complete = True
    for label, units in sections.items():
        if any((start[1:] < end[:-1]).any() for start, end in units):
            complete = False
            continue
        observed, expected = disagreements(units, length)
        observed_sum, expected_sum = observed_sum + observed, expected_sum + expected
        if expected > 0:
            labels[names[label]] = 1 - observed / expected
    if not complete:
        return AlphaU(None, OVERLAPPING, labels)
    if expected_sum <= 0:
        # All of a text of one code point, marked by everybody, is as expected by chance.
        return AlphaU(None, NO_VARIATION if sections else NO_UNIT, labels)
    return AlphaU(1 - observed_sum / expected_sum, None, labels)


def _concatenated(
    layer: Layer, units: Layer, owned: dict[tuple[int, int], Ints], passes: list[range]
) -> AlphaU:
    everybody = len(layer.annotators)
    complete = [unit for unit, here in enumerate(passes) if len(here) == everybody]
    if not complete:
        return AlphaU(None, NO_SHARED_ITEMS, {})
    offset = 0
    joined: dict[int, list[list[Units]]] = {}
    nothing = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    for unit in complete:
        shift = int(layer.unit_base[unit]) - offset
        for label, sections in _sections(units, owned, passes[unit], shift).items():
            joined.setdefault(label, []).append(sections)
        offset += int(layer.unit_length[unit])
    merged = {
        label: [
            (
                np.concatenate([nothing[0], *(sections[place][0] for sections in parts)]),
                np.concatenate([nothing[1], *(sections[place][1] for sections in parts)]),
            )
            for place in range(everybody)
        ]
        for label, parts in joined.items()
    }
    return _alpha_u(layer.labels, merged, offset, everybody)
