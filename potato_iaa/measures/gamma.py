"""Gamma, item by item: how far the best alignment of units is from what chance would give."""

from __future__ import annotations

import json
import math
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import connected_components

from potato_iaa.arrays import Flags, Floats, Ints, distinct, group_starts, ratio
from potato_iaa.errors import UsageError
from potato_iaa.layer import Layer
from potato_iaa.measures import gamma_process
from potato_iaa.measures.bootstrap import estimate
from potato_iaa.measures.estimate import (
    NO_SHARED_ITEMS,
    NO_VARIATION,
    ONE_ANNOTATOR,
    Estimate,
    plain,
)
from potato_iaa.measures.unitizing import NO_UNIT, unit_layer

NOT_INSTALLED = "pygamma-agreement is not installed: install potato-iaa[gamma]"
NO_ALIGNED_UNITS = "no aligned units"
NO_EXPECTED_DISORDER = "the expected disorder is 0"
SAMPLERS = ("statistical", "shuffle")
TOLERANCE = 1e-4
CELLS = 4_000_000

# The units of one annotator on one item: int64 (units, 3), start, end, label; a set, sorted.
Units = Ints
# The weight of aligned units by their two labels.
Pairs = Sequence[tuple[int, int, float]]
Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class GammaSettings:
    """The choices of gamma; all of them are named in the report.

    ``alpha``, ``beta`` and ``delta_empty`` weigh position, label and the empty unit. ``sampler`` is
    pygamma's: ``statistical`` or ``shuffle`` (that of the paper). ``samples``: how many random
    counterparts an item is compared with, more of them where ``precision`` (a share of the expected
    disorder, at 95 %) asks for more. ``item_seconds`` and ``total_seconds`` are time limits.
    """

    alpha: float = 1.0
    beta: float = 1.0
    delta_empty: float = 1.0
    sampler: str = "statistical"
    samples: int = 30
    precision: float | None = None
    seed: int = 0
    item_seconds: float = 30.0
    total_seconds: float | None = 3600.0

    def __post_init__(self) -> None:
        """Raise UsageError for a choice that does not exist."""
        for name, number in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 <= number < math.inf:
                raise UsageError(f"gamma's {name} is {number}: it is a number from 0 on.")
        if not 0 < self.delta_empty < math.inf:
            raise UsageError(f"gamma's delta_empty is {self.delta_empty}: it is above 0.")
        if self.sampler not in SAMPLERS:
            raise UsageError(f"no sampler {self.sampler!r}: there are {' and '.join(SAMPLERS)}.")
        if self.samples < 1:
            raise UsageError(f"gamma's samples are {self.samples}: it takes at least 1.")
        if self.precision is not None and not 0 < self.precision < 1:
            raise UsageError(f"gamma's precision is {self.precision}: it lies between 0 and 1.")
        for name, limit in (("item", self.item_seconds), ("total", self.total_seconds)):
            if limit is not None and not 0 < limit < math.inf:
                raise UsageError(f"gamma's {name}_seconds is {limit}: it is above 0.")

    def to_dict(self) -> dict[str, Any]:
        """The choices as in report.json."""
        return {
            "alpha": self.alpha,
            "beta": self.beta,
            "delta_empty": self.delta_empty,
            "sampler": self.sampler,
            "samples": self.samples,
            "precision": self.precision,
            "seed": self.seed,
            "item_seconds": self.item_seconds,
            "total_seconds": self.total_seconds,
        }


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of one item: its value, or ``None`` and why."""

    value: float | None
    why: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The coefficient as in report.json; ``why`` only where it is undefined."""
        figure: dict[str, Any] = {"value": plain(self.value)}
        return figure if self.value is not None else figure | {"why": self.why}


@dataclass(frozen=True, kw_only=True)
class Gamma:
    """γ, γ-cat and γ-k of one item, and the disorders that γ is made of.

    ``observed_disorder`` is exact for two annotators, and has a value there even where γ has none.
    ``samples`` were drawn with ``seed``: none where all annotators have the same units, for then
    the observed disorder is 0 and γ is 1. ``seconds`` is what pygamma took, which
    differs from run to run and is in no report.
    """

    gamma: Coefficient
    gamma_cat: Coefficient
    gamma_k: dict[str, Coefficient]
    observed_disorder: float | None = None
    expected_disorder: float | None = None
    samples: int = 0
    seed: int | None = None
    seconds: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The coefficients as in report.json; γ is ``value``."""
        return self.gamma.to_dict() | {
            "observed_disorder": plain(self.observed_disorder),
            "expected_disorder": plain(self.expected_disorder),
            "gamma_cat": self.gamma_cat.to_dict(),
            "gamma_k": {label: value.to_dict() for label, value in self.gamma_k.items()},
            "samples": self.samples,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class GammaFigures:
    """Gamma of one layer: the means over the items that have a value, and each item.

    ``items``: (item, field, gamma). ``gamma_k``: label → mean over the items where defined.
    ``pygamma``: the version that was used; ``None`` if there is none.
    """

    mean_over_items: Estimate
    gamma_cat: Estimate
    gamma_k: dict[str, Estimate]
    items: tuple[tuple[str, str, Gamma], ...]
    settings: GammaSettings
    pygamma: str | None
    solver: str | None

    def to_dict(self) -> dict[str, Any]:
        """The coefficients as in report.json."""
        return {
            "mean_over_items": self.mean_over_items.to_dict(),
            "gamma_cat": self.gamma_cat.to_dict(),
            "gamma_k": {label: figure.to_dict() for label, figure in self.gamma_k.items()},
            "items": [
                {"item": item, "field": field} | gamma.to_dict()
                for item, field, gamma in self.items
            ],
            "parameters": self.settings.to_dict(),
            "pygamma": self.pygamma,
            "solver": self.solver,
        }


# Disorder of two annotators -----------------------------------------------------------------------


def dissimilarities(one: Units, other: Units, settings: GammaSettings) -> Floats:
    """The d = α·d_pos + β·d_cat of every unit of ``one`` to every unit of ``other``.

    d_pos = ((|Δstart| + |Δend|) / (l_u + l_v))²·Δ∅ and d_cat = [labels differ]·Δ∅.

    Source: Mathet, Widlöcher & Métivier 2015, doi:10.1162/COLI_a_00227.

    >>> units = np.array([[0, 4, 0]]), np.array([[0, 4, 0], [2, 6, 0], [0, 4, 1]])
    >>> dissimilarities(*units, GammaSettings())
    array([[0.  , 0.25, 1.  ]])
    """
    start, end, label = (one[:, column, np.newaxis] for column in range(3))
    apart = np.abs(start - other[:, 0]) + np.abs(end - other[:, 1])
    position = (apart / (end - start + other[:, 1] - other[:, 0])) ** 2
    weighted: Floats = settings.alpha * position + settings.beta * (label != other[:, 2])
    return weighted * settings.delta_empty


def disorder_of_two(one: Units, other: Units, settings: GammaSettings) -> float:
    """The disorder of the best alignment of two annotators' units: exact.

    An alignment pairs every unit with one of the other annotator at the cost d, or with an empty
    one at Δ∅; its disorder is the sum over the mean number of units per annotator. Two units are
    worth pairing where d < 2·Δ∅; the pairs form small assignment problems.

    Source: Mathet, Widlöcher & Métivier 2015, doi:10.1162/COLI_a_00227. One unit of the same
    label half a length off, and one that has no partner, among 1.5 units per annotator:

    >>> one, other = np.array([[0, 4, 0], [90, 94, 0]]), np.array([[2, 6, 0]])
    >>> round(disorder_of_two(one, other, GammaSettings()) * 1.5, 12)
    1.25
    """
    paired = _paired(one, other, settings)
    total = len(one) + len(other)
    unpaired = (total - 2 * len(paired)) * settings.delta_empty
    return (math.fsum(paired) + unpaired) / (total / 2)


def _paired(one: Units, other: Units, settings: GammaSettings) -> Floats:
    """The dissimilarities of the units that the best alignment pairs."""
    row, column, cost = _worth_pairing(one, other, settings)
    size = len(one) + len(other)
    graph = sparse.coo_array(
        (np.ones(len(row), dtype=np.int8), (row, column + len(one))), (size,) * 2
    )
    component = connected_components(graph, directed=False)[1][row]
    order = np.argsort(component, kind="stable")
    first = group_starts(component[order].astype(np.int64))
    return np.concatenate(
        [
            np.zeros(0),
            *(
                _assigned(row[pairs], column[pairs], cost[pairs], 2 * settings.delta_empty)
                for pairs in np.split(order, first[1:])
            ),
        ]
    )


def _worth_pairing(one: Units, other: Units, settings: GammaSettings) -> tuple[Ints, Ints, Floats]:
    step = max(1, CELLS // max(len(other), 1))
    rows, columns, costs = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for first in range(0, len(one), step):
        cost = dissimilarities(one[first : first + step], other, settings)
        row, column = np.nonzero(cost < 2 * settings.delta_empty)
        rows.append(row + first)
        columns.append(column)
        costs.append(cost[row, column])
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(costs)


def _assigned(row: Ints, column: Ints, cost: Floats, unpaired: float) -> Floats:
    """The costs of the pairs that save the most against leaving their two units unpaired."""
    if len(row) == 1:
        return cost
    rows, row = np.unique(row, return_inverse=True)
    columns, column = np.unique(column, return_inverse=True)
    table = np.full((len(rows), len(columns)), unpaired)
    table[row, column] = cost
    # Every report would wait for this import, and few want gamma.
    from scipy.optimize import linear_sum_assignment

    chosen = table[linear_sum_assignment(table)]
    return chosen[chosen < unpaired]


# Gamma of one item --------------------------------------------------------------------------------


def categorical_disorder(pairs: Pairs, label: int | None = None) -> float:
    """The weighted share of aligned units whose labels differ, among those with ``label`` if given.

    NaN where no units are aligned. Units without a partner are left out: pygamma 0.5.9 counts them
    (as experimental), against its manual and the paper, so its own γ-cat and γ-k differ from ours.

    Source: Mathet 2017, The agreement measure γ-cat, doi:10.1162/COLI_a_00296.

    >>> pairs = [(0, 0, 0.5), (0, 1, 0.25), (1, 1, 0.25)]
    >>> categorical_disorder(pairs), categorical_disorder(pairs, 1)
    (0.25, 0.5)
    """
    met = [(one != other, weight) for one, other, weight in pairs if label in (None, one, other)]
    whole = math.fsum(weight for _, weight in met)
    return math.fsum(weight for unequal, weight in met if unequal) / whole if whole else math.nan


def _categorical(pairs: Sequence[Pairs], label: int | None = None) -> Coefficient:
    """γ-cat, or γ-k of ``label``, from the item's own pairs and those of its samples."""
    observed, *chance = (categorical_disorder(own, label) for own in pairs)
    if math.isnan(observed):
        return Coefficient(None, NO_ALIGNED_UNITS)
    defined = [disorder for disorder in chance if not math.isnan(disorder)]
    return _beyond_chance(observed, math.fsum(defined) / len(defined) if defined else 0.0)


def _beyond_chance(observed: float, expected: float) -> Coefficient:
    if observed == 0:
        return Coefficient(1.0)
    if not expected > 0:
        return Coefficient(None, NO_EXPECTED_DISORDER)
    return Coefficient(1 - observed / expected)


def _alike(units: Sequence[Units]) -> bool:
    return all(np.array_equal(units[0], own) for own in units)


def _known_disorder(units: Sequence[Units], settings: GammaSettings) -> float | None:
    """The observed disorder where it can be had exactly without pygamma."""
    if _alike(units):
        return 0.0
    return disorder_of_two(units[0], units[1], settings) if len(units) == 2 else None


def _undefined(why: str, used: Iterable[str] = (), **known: Any) -> Gamma:
    """Gamma of an item on which the labels ``used`` were marked, none of it known."""
    none = Coefficient(None, why)
    return Gamma(gamma=none, gamma_cat=none, gamma_k=dict.fromkeys(used, none), **known)


def _perfect(used: dict[int, str]) -> Gamma:
    """Where all annotators have the same units."""
    alike = Coefficient(1.0) if len(used) > 1 else Coefficient(None, NO_VARIATION)
    return Gamma(
        gamma=Coefficient(1.0),
        gamma_cat=alike,
        gamma_k=dict.fromkeys(used.values(), alike),
        observed_disorder=0.0,
    )


def _sampled(
    answer: gamma_process.Message, known: float | None, used: dict[int, str], seed: int
) -> Gamma:
    """What pygamma's disorders and aligned pairs come to; ``known`` is the exact disorder."""
    found, *chance = answer["disorders"]
    if known is not None and abs(found - known) > TOLERANCE * max(1.0, known):
        why = f"pygamma-agreement's disorder is {found:.6g}, and {known:.6g} is exact"
        return _undefined(why, used.values(), observed_disorder=known, seed=seed)
    observed = found if known is None else known
    expected = math.fsum(chance) / len(chance)
    one_label = Coefficient(None, NO_VARIATION) if len(used) < 2 else None
    return Gamma(
        gamma=_beyond_chance(observed, expected),
        gamma_cat=one_label or _categorical(answer["pairs"]),
        gamma_k={
            name: one_label or _categorical(answer["pairs"], label) for label, name in used.items()
        },
        observed_disorder=observed,
        expected_disorder=expected,
        samples=len(chance),
        seed=seed,
        seconds=answer["seconds"],
    )


def item_seed(seed: int, item: str, field: str) -> int:
    """A seed for one item's samples, the same whichever other items there are.

    Items do not share their draws, so that the errors of sampling average out over items.

    >>> item_seed(0, "d1", "") == item_seed(0, "d1", "") != item_seed(0, "d2", "")
    True
    """
    return zlib.crc32(json.dumps([seed, item, field]).encode())


# Gamma of a layer ---------------------------------------------------------------------------------


def gamma_figures(
    layer: Layer,
    weights: Floats,
    *,
    settings: GammaSettings | None = None,
    progress: Progress | None = None,
) -> GammaFigures:
    """γ, γ-cat and γ-k per item (per display field), and their means over items with a value.

    γ = 1 − observed/expected disorder, 1 if the observed is 0. Every span is a unit; each part of
    a discontinuous span is one of its own, and the units of a pass are a set. The expected disorder
    is that of random counterparts, made and aligned by pygamma-agreement in a process of its own.
    Undefined: fewer than two annotators; no unit; pygamma not installed, or not done in the time
    allowed. ``weights`` are ``item_weights``; ``progress`` is told of each item.

    Sources: Mathet, Widlöcher & Métivier 2015, doi:10.1162/COLI_a_00227; for γ-cat and γ-k Mathet
    2017, doi:10.1162/COLI_a_00296; Titeux & Riad 2021, doi:10.21105/joss.02989.

    >>> from potato_iaa import Corpus
    >>> from potato_iaa.layer import make_layer
    >>> corpus = Corpus.from_tables(
    ...     items=[("d1", "Ada met Grace.")],
    ...     passes=[],
    ...     spans=[("d1", "ann", 0, 3, "PER"), ("d1", "ben", 0, 3, "PER")],
    ... )
    >>> figures = gamma_figures(make_layer(corpus, "spans"), np.ones((1, 1)))
    >>> figures.items[0][2].observed_disorder
    0.0
    """
    settings = settings or GammaSettings()
    pygamma = gamma_process.pygamma_version()
    items = _items(layer)
    try:
        gammas = _measured(layer.labels, items, settings, pygamma, progress or _untold)
    except BaseException:
        gamma_process.hang_up()
        raise
    shared = np.array([len(item.units) > 1 for item in items], dtype=bool)
    nobody = ONE_ANNOTATOR if len(layer.annotators) < 2 else NO_SHARED_ITEMS

    def mean(coefficients: Sequence[Coefficient]) -> Estimate:
        return _mean(coefficients, shared, layer, weights, nobody)

    unused = Coefficient(None, NO_UNIT)
    return GammaFigures(
        mean_over_items=mean([gamma.gamma for gamma in gammas]),
        gamma_cat=mean([gamma.gamma_cat for gamma in gammas]),
        gamma_k={
            label: mean([gamma.gamma_k.get(label, unused) for gamma in gammas])
            for label in layer.labels
        },
        items=tuple(
            (item.item, item.field, gamma) for item, gamma in zip(items, gammas, strict=True)
        ),
        settings=settings,
        pygamma=pygamma,
        solver=gamma_process.solver() if pygamma else None,
    )


@dataclass(frozen=True, eq=False)
class _Item:
    """One display field of an item, and the units of each annotator who read it."""

    item: str
    field: str
    units: list[Units]


def _untold(stage: str) -> None:
    """Tell nobody."""


def _items(layer: Layer) -> list[_Item]:
    parts = unit_layer(layer)
    base = layer.unit_base[parts.span_unit]
    owner, *columns = distinct(
        parts.span_pass, parts.span_start - base, parts.span_end - base, parts.span_label
    )
    rows = np.column_stack(columns)
    of_pass = np.split(rows, np.searchsorted(owner, np.arange(1, len(layer.pass_unit))))
    bounds = np.searchsorted(layer.pass_unit, np.arange(len(layer.unit_item) + 1)).tolist()
    return [
        _Item(layer.items[layer.unit_item[unit]], layer.unit_field[unit], of_pass[first:stop])
        for unit, (first, stop) in enumerate(pairwise(bounds))
    ]


def _measured(
    labels: tuple[str, ...],
    items: Sequence[_Item],
    settings: GammaSettings,
    pygamma: str | None,
    progress: Progress,
) -> list[Gamma]:
    """Gamma of each item, until the time is up."""
    halted = None if pygamma else NOT_INSTALLED
    limit = settings.total_seconds
    deadline = math.inf if limit is None else time.monotonic() + limit
    gammas: list[Gamma] = []
    for number, item in enumerate(items):
        progress(f"gamma, item {number + 1} of {len(items)}")
        seed = item_seed(settings.seed, item.item, item.field)
        left = deadline - time.monotonic()
        if left <= 0 and not halted:
            halted = _late(limit)
        try:
            gammas.append(_gamma(labels, item.units, seed, settings, halted, left))
        except gamma_process.NotStartedError as error:
            halted = str(error)
            gammas.append(_gamma(labels, item.units, seed, settings, halted, left))
    return gammas


def _late(limit: float | None) -> str:
    return f"beyond the time limit of {limit:g} s for all items"


def _gamma(
    labels: tuple[str, ...],
    units: Sequence[Units],
    seed: int,
    settings: GammaSettings,
    halted: str | None,
    left: float,
) -> Gamma:
    """Gamma of one item; ``halted``: the reason not to ask pygamma; ``left``: seconds for it."""
    if len(units) < 2:
        return _undefined(ONE_ANNOTATOR)
    if not any(len(own) for own in units):
        return _undefined(NO_UNIT)
    known = _known_disorder(units, settings)
    used = {int(code): labels[code] for code in np.unique(np.concatenate(units)[:, 2])}
    if halted:
        return _undefined(halted, used.values(), observed_disorder=known)
    if _alike(units):
        return _perfect(used)
    request = settings.to_dict() | {"units": [own.tolist() for own in units], "seed": seed}
    try:
        answer = gamma_process.ask(request, seconds=min(settings.item_seconds, left))
    except gamma_process.OverdueError:
        needed = f"pygamma-agreement needed more than {settings.item_seconds:g} s"
        why = _late(settings.total_seconds) if left < settings.item_seconds else needed
        return _undefined(why, used.values(), observed_disorder=known, seed=seed)
    except gamma_process.NoAnswerError as error:
        return _undefined(str(error), used.values(), observed_disorder=known, seed=seed)
    return _sampled(answer, known, used, seed)


def _mean(
    coefficients: Sequence[Coefficient], shared: Flags, layer: Layer, weights: Floats, nobody: str
) -> Estimate:
    values = np.array(
        [math.nan if figure.value is None else figure.value for figure in coefficients],
        dtype=np.float64,
    )
    told = [
        str(figure.why)
        for figure, among in zip(coefficients, shared, strict=True)
        if among and figure.value is None
    ]
    why = next((why for why in told if why != NO_UNIT), NO_UNIT) if shared.any() else nobody
    defined = np.flatnonzero(~np.isnan(values))
    weight = weights[layer.unit_item[defined]]
    mean = ratio(values[defined] @ weight, weight.sum(axis=0))
    return estimate(mean, why=why, n=len(defined), of=int(shared.sum()))
