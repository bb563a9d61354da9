"""What the pictures show, on the page and in files: of many rows the lowest and the highest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from potato_iaa.measures.agreement import SchemeAgreement
from potato_iaa.measures.estimate import Estimate, records
from potato_iaa.reporter.display import ends
from potato_iaa.reporter.headline import HEADLINE, LOSSES, headline, scaled_figures
from potato_iaa.reporter.rounding import row_estimate
from potato_iaa.reporter.scale import lower_end

BINS = 10
# The share of the pairs of a matrix that must share items for it to be drawn.
SHARING = 0.5


@dataclass(frozen=True)
class Dot:
    """A figure to draw as a dot with its interval; ``beside`` is a second one, drawn hollow."""

    name: str
    estimate: Estimate
    beside: Estimate | None = None


@dataclass(frozen=True)
class Dots:
    """Dots on one scale from ``start`` to 1; ``left_out`` lie between those that are shown."""

    rows: tuple[Dot, ...]
    start: float
    left_out: int = 0


@dataclass(frozen=True)
class Loss:
    """A part of what is missing to full agreement."""

    name: str
    meaning: str
    estimate: Estimate


@dataclass(frozen=True)
class Heat:
    """The F1 of every pair among ``names``; ``None`` where a pair shares no item."""

    names: tuple[str, ...]
    cells: tuple[tuple[Estimate | None, ...], ...]
    left_out: int


@dataclass(frozen=True)
class Course:
    """One annotator's F1 with the others in the quarters of the work."""

    name: str
    quarters: tuple[tuple[int, Estimate], ...]


@dataclass(frozen=True)
class Bars:
    """A histogram: what is counted, and a name and a count per bar."""

    title: str
    names: tuple[str, ...]
    counts: tuple[int, ...]


def scale_dots(scheme: SchemeAgreement) -> Dots:
    """The F1s, token alpha and u alpha."""
    return _dots([Dot(figure.name, figure.estimate) for figure in scaled_figures(scheme)])


def losses(scheme: SchemeAgreement) -> tuple[Loss, ...]:
    """What is lost on existence, label and boundary; nothing where F1 has no value."""
    if headline(scheme).value is None:
        return ()
    return tuple(
        Loss(name, meaning, getattr(scheme.lost, name)) for name, meaning in LOSSES.items()
    )


def label_dots(scheme: SchemeAgreement, *, limit: int) -> Dots:
    """Exact F1 per label, lowest first; overlap F1 beside it."""
    exact, overlap = scheme.f1[HEADLINE].labels, scheme.f1["overlap_typed"].labels
    dots = [
        Dot(label, averages.mean_over_pairs, overlap[label].mean_over_pairs)
        for label, averages in exact.items()
    ]
    return _dots(_lowest_first(dots), limit)


def annotator_dots(scheme: SchemeAgreement, *, limit: int) -> Dots:
    """Mean exact F1 of each annotator with the others, lowest first."""
    rows = records(scheme.f1[HEADLINE].annotators)
    return _dots(_lowest_first([Dot(row["annotator"], row_estimate(row)) for row in rows]), limit)


def heat(scheme: SchemeAgreement, *, limit: int) -> Heat | None:
    """Exact F1 of the pairs among the annotators with the lowest and the highest mean.

    ``None`` where most of these pairs share no item: a crowd has no matrix to show.
    """
    shown = annotator_dots(scheme, limit=limit)
    names = tuple(dot.name for dot in shown.rows)
    pairs = scheme.f1[HEADLINE].pairs
    among = pairs[pairs["a"].isin(names) & pairs["b"].isin(names)]
    known: dict[tuple[str, str], Estimate] = {}
    for row in records(among):
        known[row["a"], row["b"]] = known[row["b"], row["a"]] = row_estimate(row)
    if len(known) < SHARING * len(names) * (len(names) - 1) or len(names) < 3:
        return None
    cells = tuple(tuple(known.get((one, other)) for other in names) for one in names)
    return Heat(names, cells, shown.left_out)


def courses(scheme: SchemeAgreement, *, limit: int) -> tuple[tuple[Course, ...], int]:
    """Drift per annotator, the lowest mean F1 first, and how many are left out."""
    quarters: dict[str, list[tuple[int, Estimate]]] = {}
    for row in records(scheme.drift):
        quarters.setdefault(row["annotator"], []).append((row["quarter"], row_estimate(row)))
    everybody = annotator_dots(scheme, limit=len(scheme.corpus.annotators)).rows
    told = [
        Course(dot.name, tuple(quarters[dot.name])) for dot in everybody if dot.name in quarters
    ]
    return ends(told, limit)


def item_bars(scheme: SchemeAgreement) -> Bars:
    """How many items have which mean F1."""
    return _unit_bars("items by mean F1", scheme.f1[HEADLINE].items["value"])


def pair_bars(scheme: SchemeAgreement) -> Bars:
    """How many pairs have which F1."""
    return _unit_bars("pairs by F1", scheme.f1[HEADLINE].pairs["value"])


def _unit_bars(title: str, values: pd.Series) -> Bars:
    """Values from 0 to 1 in tenths; full agreement has a bar of its own."""
    value = values.dropna().to_numpy(dtype=float)
    full = value >= 1
    # A value such as 0.3 may lie a rounding error below its bin.
    place = np.minimum(np.floor(value[~full] * BINS + 1e-9).astype(np.int64), BINS - 1)
    counts = np.append(np.bincount(place, minlength=BINS), full.sum())
    names = (*(f"{step / BINS:g}".replace("0.", ".") for step in range(BINS)), "1")
    return Bars(title, names, tuple(map(int, counts)))


def boundary_bars(scheme: SchemeAgreement) -> tuple[Bars, ...]:
    """How many tokens apart the starts, and the ends, of matched spans are."""
    histogram = scheme.boundaries.histogram
    made = []
    for side in ("start", "end"):
        rows = records(histogram[histogram["side"] == side])
        names = [str(row["tokens"]) for row in rows]
        names[-1:] = [f"{name}+" for name in names[-1:]]
        counts = tuple(row["matches"] for row in rows)
        made.append(Bars(f"{side}s of matched spans, tokens apart", tuple(names), counts))
    return tuple(made)


def _lowest_first(dots: Sequence[Dot]) -> list[Dot]:
    return sorted(dots, key=lambda dot: (dot.estimate.value is None, dot.estimate.value or 0.0))


def _dots(dots: Sequence[Dot], limit: int | None = None) -> Dots:
    rows, left_out = ends(dots, len(dots) if limit is None else limit)
    drawn = [dot.estimate for dot in rows]
    drawn += [dot.beside for dot in rows if dot.beside]
    return Dots(rows, lower_end(drawn), left_out)
