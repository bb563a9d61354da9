"""Pairwise F1 from counts: per pair, label, annotator and item, and the three averages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sparse

from potato_iaa.arrays import Flags, Floats, Ints, Numbers, present, ratio, weigh
from potato_iaa.matcher.counts import Comparisons, Counts
from potato_iaa.measures.bootstrap import estimate, interval
from potato_iaa.measures.estimate import (
    NO_SHARED_ITEMS,
    NOTHING_MARKED,
    ONE_ANNOTATOR,
    Estimate,
    plain,
    reasons,
    records,
)
from potato_iaa.measures.pairs import PairGrid

BOTH_EMPTY = ("skip", "agree")


@dataclass(frozen=True, eq=False)
class Ground:
    """What F1s are computed on: comparisons, item weights, and the choices that averages need.

    ``weights``: float64 (items, 1 + resamples), see ``item_weights``. ``both_empty``: an item that
    both left empty adds nothing to a pool; in means over items it is left out (``skip``) or counts
    as 1 (``agree``). Pairs that share fewer than ``min_shared_items`` items, or are not among
    ``chosen_pairs`` (bool (pairs,), ``None``: all), stay out of the mean over pairs. ``nothing`` is
    the reason of an F1 to which nothing counts.
    """

    comparisons: Comparisons
    weights: Floats
    items: tuple[str, ...]
    annotators: tuple[str, ...]
    both_empty: str
    min_shared_items: int
    chosen_pairs: Flags | None = None
    nothing: str = NOTHING_MARKED

    @cached_property
    def grid(self) -> PairGrid:
        """The comparisons by pair and item."""
        return PairGrid(self.comparisons, self.weights)

    @property
    def pairs(self) -> int:
        """The number of pairs that share an item."""
        return self.grid.pairs

    @property
    def all_pairs(self) -> int:
        """The number of pairs of annotators, whether they share an item or not."""
        return comb(len(self.annotators), 2)

    @property
    def shared_items(self) -> Ints:
        """The number of items that each pair shares."""
        return self.grid.shared_items

    @cached_property
    def counted_pairs(self) -> Flags:
        """The pairs that enter the mean over pairs."""
        enough = self.shared_items >= self.min_shared_items
        return enough if self.chosen_pairs is None else enough & self.chosen_pairs

    @property
    def why(self) -> str:
        """The reason why an F1 over this ground has no value, if it has none."""
        if len(self.annotators) < 2:
            return ONE_ANNOTATOR
        if not self.pairs:
            return NO_SHARED_ITEMS
        if not self.counted_pairs.any():
            return self.too_few
        return self.nothing

    @property
    def too_few(self) -> str:
        """The reason of those whose pairs are all left out of the mean over pairs."""
        return f"no pair shares {self.min_shared_items} items"


@dataclass(frozen=True, eq=False)
class Averages:
    """One F1 averaged in the three ways, each named for what it averages.

    ``mean_over_pairs``: counts pooled over items within each pair, then the unweighted mean over
    pairs; ``sd`` (population), ``minimum`` and ``maximum`` are over the same pairs. ``pooled``:
    counts pooled over items and pairs. ``mean_over_items``: per item the mean over its pairs, then
    over items.
    """

    mean_over_pairs: Estimate
    sd: float | None
    minimum: float | None
    maximum: float | None
    pooled: Estimate
    mean_over_items: Estimate

    def to_dict(self) -> dict[str, Any]:
        """The three averages as in report.json."""
        spread = {"sd": plain(self.sd), "min": plain(self.minimum), "max": plain(self.maximum)}
        return {
            "mean_over_pairs": self.mean_over_pairs.to_dict() | spread,
            "pooled": self.pooled.to_dict(),
            "mean_over_items": self.mean_over_items.to_dict(),
        }


@dataclass(frozen=True, eq=False)
class F1Figures:
    """All figures of one match rule.

    ``labels``: label → averages over the spans of that label; under an untyped rule a span counts
    as matched whatever its partner's label. ``pairs``: a, b, items, n_a, n_b, tp, precision,
    recall, value, why, low, high, undefined, interval_why (the reason where a value has no
    interval): only pairs that share an item; a is the reference.
    ``annotators``: annotator, value (mean F1 with the others), why, low, high, undefined, n, of,
    without (the headline without that annotator), change (without − headline), change_low,
    change_high. ``items``: item, pairs, both_empty, spans,
    matched, value. ``both_empty``: item × pair comparisons in which neither marked anything.
    """

    averages: Averages
    labels: dict[str, Averages]
    pairs: pd.DataFrame
    annotators: pd.DataFrame
    items: pd.DataFrame
    both_empty: int

    def to_dict(self) -> dict[str, Any]:
        """The figures as in report.json; items are only in the tables."""
        return self.averages.to_dict() | {
            "both_empty": self.both_empty,
            "labels": {label: averages.to_dict() for label, averages in self.labels.items()},
            "pairs": records(self.pairs),
            "annotators": records(self.annotators),
        }


def f1_score(matched: Numbers, marked: Numbers) -> Floats:
    """F1 = 2·TP/(n_a + n_b), with ``matched`` = 2·TP; NaN where neither side marked anything.

    Source: Hripcsak & Rothschild 2005, doi:10.1197/jamia.M1733. Two lists of five and of six
    terms with four on both:

    >>> import numpy as np
    >>> f1_score(np.array([8.0, 0.0, 0.0]), np.array([11.0, 3.0, 0.0]))
    array([0.72727273, 0.        ,        nan])
    """
    return ratio(matched, marked)


def f1_figures(
    counts: Sequence[Counts], ground: Ground, labels: tuple[str, ...]
) -> list[F1Figures]:
    """Every F1 of rules that count the same spans, for the value and all replicates at once."""
    marked = _marked(_columns(counts[0].n_a + counts[0].n_b, len(labels)), ground)
    matched = [_columns(rule.tp_a + rule.tp_b, len(labels)) for rule in counts]
    return [
        _figures(rule, own, marked, reduced, ground, labels)
        for rule, own, reduced in zip(
            counts, matched, over_pairs(matched, marked.counts, ground), strict=True
        )
    ]


@dataclass(frozen=True, eq=False)
class _Marked:
    """What two annotators marked, which all rules share that match the same spans.

    ``counts``: float64 (comparisons, columns); ``pooled``: (columns, 1 + resamples), of all
    comparisons; ``scored``: (items, columns), on which items some pair has an F1, and
    ``scored_weight``: (columns, 1 + resamples), how often these count.
    """

    counts: Floats
    pooled: Floats
    scored: Flags
    scored_weight: Floats


def _marked(counts: Floats, ground: Ground) -> _Marked:
    defined = (counts > 0) | (ground.both_empty == "agree")
    scored = _by_item(defined.astype(np.float64), ground) > 0
    return _Marked(
        counts=counts,
        pooled=_by_item(counts, ground).T @ ground.weights,
        scored=scored,
        scored_weight=scored.T.astype(np.float64) @ ground.weights,
    )


def _figures(
    counts: Counts,
    matched: Floats,
    marked: _Marked,
    reduced: OverPairs,
    ground: Ground,
    labels: tuple[str, ...],
) -> F1Figures:
    averages = _averages(matched, marked, reduced, ground)
    return F1Figures(
        averages=averages[0],
        labels=dict(zip(labels, averages[1:], strict=True)),
        pairs=_pair_table(counts, reduced, ground),
        annotators=_annotator_table(reduced, ground),
        items=_item_table(matched[:, 0], marked.counts[:, 0], ground),
        both_empty=int(np.count_nonzero(marked.counts[:, 0] == 0)),
    )


@dataclass(frozen=True, eq=False)
class OverPairs:
    """What the F1s of all pairs come to, for several columns (all spans, then labels) at once.

    ``values``: float64 (columns, pairs); ``low``, ``high``, ``undefined``: (pairs,), of the first
    column; ``mean``: (columns, 1 + resamples), over the counted pairs; ``with_annotator``,
    ``without_annotator``: (annotators, 1 + resamples), the first column's mean over the counted
    pairs that the annotator is in, and over the others; ``partners``: (annotators,), the number of
    the former.
    """

    values: Floats
    low: Floats
    high: Floats
    undefined: Floats
    mean: Floats
    with_annotator: Floats
    without_annotator: Floats
    partners: Ints


def over_pairs(matched: Sequence[Floats], marked: Floats, ground: Ground) -> list[OverPairs]:
    """Reduce the F1s of all pairs for rules that count the same spans.

    ``matched`` (one array per rule) and ``marked`` are (comparisons, columns).
    """
    grid, size, rules = ground.grid, len(ground.annotators), len(matched)
    columns, replicates = marked.shape[1], ground.weights.shape[1]
    values = np.full((rules, columns, grid.pairs), np.nan)
    bounds = np.full((rules, 3, grid.pairs), np.nan)
    total, defined = np.zeros((rules, columns, replicates)), np.zeros((columns, replicates))
    own_total, own_defined = np.zeros((rules, size, replicates)), np.zeros((size, replicates))
    for here, sums in grid.blocks(np.hstack((marked, *matched))):
        below = sums[:columns]
        score = sums[columns:].reshape(rules, columns, -1, replicates)
        there = below > 0
        # Where nothing is marked nothing is matched: any divisor makes that 0.
        below += ~there
        score /= below
        values[:, :, here] = np.where(there[:, :, 0], score[..., 0], np.nan)
        for rule in range(rules):
            bounds[rule][:, here] = grid.intervals(score[rule, 0, :, 1:], there[0, :, 1:], here)
        uncounted = ~ground.counted_pairs[here]
        score[:, :, uncounted] = 0
        there[:, uncounted] = False
        total += score.sum(axis=2)
        defined += there.sum(axis=1, dtype=np.int32)
        members, member = _membership(ground, here)
        own_defined[members] += member @ there[0].astype(np.float64)
        for rule in range(rules):
            own_total[rule][members] += member @ score[rule, 0]
    return [
        OverPairs(
            values=values[rule],
            low=bounds[rule][0],
            high=bounds[rule][1],
            undefined=bounds[rule][2],
            mean=f1_score(total[rule], defined),
            with_annotator=f1_score(own_total[rule], own_defined),
            without_annotator=f1_score(total[rule][0] - own_total[rule], defined[0] - own_defined),
            partners=own_defined[:, 0].astype(np.int64),
        )
        for rule in range(rules)
    ]


def _membership(ground: Ground, here: slice) -> tuple[Ints, sparse.csr_array]:
    """The annotators of the pairs ``here``, and 1 where one (row) is of the pair (column)."""
    a, b = ground.comparisons.pair_a[here], ground.comparisons.pair_b[here]
    members, row = np.unique(np.concatenate((a, b)), return_inverse=True)
    column = np.arange(len(a))
    place = (row, np.concatenate((column, column)))
    return members, sparse.csr_array(sparse.coo_array((np.ones(len(row)), place)))


def _averages(
    matched: Floats, marked: _Marked, reduced: OverPairs, ground: Ground
) -> list[Averages]:
    """The three averages of every column."""
    shared = len(present(ground.comparisons.item))
    pooled = f1_score(_by_item(matched, ground).T @ ground.weights, marked.pooled)
    by_item = item_means(matched, marked.counts, ground)
    over_items = ratio(np.where(marked.scored, by_item, 0).T @ ground.weights, marked.scored_weight)
    found = []
    for column, mean in enumerate(reduced.mean):
        value = reduced.values[column][ground.counted_pairs]
        value = value[~np.isnan(value)]
        items = int(marked.scored[:, column].sum())
        found.append(
            Averages(
                mean_over_pairs=estimate(mean, why=ground.why, n=len(value), of=ground.all_pairs),
                sd=float(value.std()) if len(value) else None,
                minimum=float(value.min()) if len(value) else None,
                maximum=float(value.max()) if len(value) else None,
                pooled=estimate(pooled[column], why=ground.why, n=shared, of=len(ground.items)),
                mean_over_items=estimate(over_items[column], why=ground.why, n=items, of=shared),
            )
        )
    return found


def item_means(matched: Floats, marked: Floats, ground: Ground) -> Floats:
    """Per item the mean F1 over its pairs, (items, columns); NaN where no pair has one."""
    score = f1_score(matched, marked)
    if ground.both_empty == "agree":
        score[marked == 0] = 1.0
    defined = ~np.isnan(score)
    score[~defined] = 0
    return ratio(_by_item(score, ground), _by_item(defined.astype(np.float64), ground))


def _columns(matrix: sparse.csr_array, labels: int) -> Floats:
    """All spans, and each label's, as columns: float64 (comparisons, 1 + labels)."""
    everything = np.asarray(matrix.sum(axis=1), dtype=np.float64).reshape(-1, 1)
    return np.hstack((everything, matrix.toarray())) if labels else everything


def _whole(values: Floats) -> Numbers:
    """Whole numbers as such: only soft matches count fractions."""
    rounded = np.rint(values)
    return rounded.astype(np.int64) if (rounded == values).all() else values


def _by_item(columns: Floats, ground: Ground) -> Floats:
    """Sums over the comparisons of each item, (items, columns)."""
    item = ground.comparisons.item
    ones = (np.ones(len(item)), (item, np.arange(len(item))))
    fold = sparse.csr_array(sparse.coo_array(ones, shape=(len(ground.items), len(item))))
    return np.asarray(fold @ columns)


def _pair_table(counts: Counts, reduced: OverPairs, ground: Ground) -> pd.DataFrame:
    sides = {"n_a": counts.n_a, "n_b": counts.n_b, "tp": counts.tp_a}
    sums = {
        name: _whole(
            weigh(ground.comparisons.pair, np.asarray(matrix.sum(axis=1)).ravel(), ground.pairs)
        )
        for name, matrix in sides.items()
    }
    value = reduced.values[0]
    return pd.DataFrame(
        {
            "a": [ground.annotators[code] for code in ground.comparisons.pair_a],
            "b": [ground.annotators[code] for code in ground.comparisons.pair_b],
            "items": ground.shared_items,
            **sums,
            "precision": f1_score(sums["tp"], sums["n_b"]),
            "recall": f1_score(sums["tp"], sums["n_a"]),
            "value": value,
            "why": reasons(value, ground.nothing),
            "low": np.where(np.isnan(value), np.nan, reduced.low),
            "high": np.where(np.isnan(value), np.nan, reduced.high),
            "undefined": reduced.undefined,
            "interval_why": ground.grid.why_no_interval(value, reduced.low),
        }
    )


def _annotator_table(reduced: OverPairs, ground: Ground) -> pd.DataFrame:
    """Mean F1 of each annotator with the others, and the headline without each of them."""
    size = len(ground.annotators)
    value = reduced.with_annotator[:, 0]
    low, high, undefined = interval(reduced.with_annotator[:, 1:])
    partners = np.concatenate((ground.comparisons.pair_a, ground.comparisons.pair_b))
    shared = np.bincount(partners, minlength=size)
    counted = np.bincount(partners, weights=np.tile(ground.counted_pairs, 2), minlength=size)
    why = np.where(counted == 0, ground.too_few, ground.nothing)
    lonely = np.where(shared == 0, NO_SHARED_ITEMS, why)
    change = reduced.without_annotator - reduced.mean[0]
    change_low, change_high, _ = interval(change[:, 1:])
    return pd.DataFrame(
        {
            "annotator": list(ground.annotators),
            "value": value,
            "why": reasons(value, lonely),
            "low": np.where(np.isnan(value), np.nan, low),
            "high": np.where(np.isnan(value), np.nan, high),
            "undefined": undefined,
            "n": reduced.partners,
            "of": np.full(size, size - 1),
            "without": reduced.without_annotator[:, 0],
            "change": change[:, 0],
            "change_low": np.where(np.isnan(change[:, 0]), np.nan, change_low),
            "change_high": np.where(np.isnan(change[:, 0]), np.nan, change_high),
        }
    )


def _item_table(matched: Floats, marked: Floats, ground: Ground) -> pd.DataFrame:
    ones = np.ones(len(marked))
    columns = _by_item(np.column_stack((ones, marked == 0, marked, matched)), ground)
    value = item_means(matched[:, np.newaxis], marked[:, np.newaxis], ground)[:, 0]
    return pd.DataFrame(
        {
            "item": list(ground.items),
            "pairs": _whole(columns[:, 0]),
            "both_empty": _whole(columns[:, 1]),
            "marked": _whole(columns[:, 2]),
            "matched": _whole(columns[:, 3]),
            "value": value,
            "why": reasons(value, np.where(columns[:, 0] == 0, NO_SHARED_ITEMS, NOTHING_MARKED)),
        }
    )
