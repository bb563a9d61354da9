"""Pairwise F1 from counts: per pair, label, annotator and item, and the three averages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sparse

from potato_iaa.arrays import Flags, Floats, Ints, Numbers, ratio, weigh
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

PAIR_BLOCK = 2048
BOTH_EMPTY = ("skip", "agree")


@dataclass(frozen=True, eq=False)
class Ground:
    """What F1s are computed on: comparisons, item weights, and the choices that averages need.

    ``weights``: float64 (items, 1 + resamples), see ``item_weights``. ``both_empty``: an item that
    both left empty adds nothing to a pool; in means over items it is left out (``skip``) or counts
    as 1 (``agree``). Pairs that share fewer than ``min_shared_items`` items, or are not among
    ``chosen_pairs`` (bool (pairs,), ``None``: all), stay out of the mean over pairs.
    """

    comparisons: Comparisons
    weights: Floats
    items: tuple[str, ...]
    annotators: tuple[str, ...]
    both_empty: str = "skip"
    min_shared_items: int = 1
    chosen_pairs: Flags | None = None

    @property
    def pairs(self) -> int:
        """The number of pairs that share an item."""
        return len(self.comparisons.pair_a)

    @property
    def all_pairs(self) -> int:
        """The number of pairs of annotators, whether they share an item or not."""
        return comb(len(self.annotators), 2)

    @property
    def shared_items(self) -> Ints:
        """The number of items that each pair shares."""
        return np.bincount(self.comparisons.pair, minlength=self.pairs)

    @property
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
            return f"no pair shares {self.min_shared_items} items"
        return NOTHING_MARKED


@dataclass(frozen=True, eq=False)
class Averages:
    """One F1 averaged in the three ways, each named for what it averages.

    ``mean_over_pairs``: counts pooled over items within each pair, then the unweighted mean over
    pairs; ``sd`` (population), ``minimum`` and ``maximum`` are over the same pairs. ``pooled``:
    counts pooled over items and pairs. ``mean_over_items``: per item the mean over its pairs, then
    over items. ``replicates``: the bootstrap replicates of ``mean_over_pairs``.
    """

    mean_over_pairs: Estimate
    sd: float | None
    minimum: float | None
    maximum: float | None
    pooled: Estimate
    mean_over_items: Estimate
    replicates: Floats

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
    recall, value, why, low, high, undefined: only pairs that share an item; a is the reference.
    ``annotators``: annotator, value (mean F1 with the others), why, low, high, undefined, n, of,
    without (the headline without that annotator). ``items``: item, pairs, both_empty, spans,
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


def f1_figures(counts: Counts, ground: Ground, labels: tuple[str, ...]) -> F1Figures:
    """Every F1 of one rule, for the value and all bootstrap replicates at once."""
    matched, marked = counts.tp_a + counts.tp_b, counts.n_a + counts.n_b
    all_matched, all_marked = _row_sums(matched), _row_sums(marked)
    by_label = [
        (column[0].toarray().ravel(), column[1].toarray().ravel())
        for matched_csc, marked_csc in [(matched.tocsc(), marked.tocsc())]
        for code in range(len(labels))
        for column in [(matched_csc[:, [code]], marked_csc[:, [code]])]
    ]
    return F1Figures(
        averages=averages(all_matched, all_marked, ground),
        labels={
            label: averages(*columns, ground)
            for label, columns in zip(labels, by_label, strict=True)
        },
        pairs=_pair_table(counts, ground),
        annotators=_annotator_table(all_matched, all_marked, ground),
        items=_item_table(all_matched, all_marked, ground),
        both_empty=int(np.count_nonzero(all_marked == 0)),
    )


def averages(matched: Floats, marked: Floats, ground: Ground) -> Averages:
    """The three averages of one F1 from matched and marked spans per comparison."""
    mean, value = mean_over_pairs(matched, marked, ground)
    by_item = _by_item(np.column_stack((matched, marked)), ground).T
    pooled = f1_score(*(sums @ ground.weights for sums in by_item))
    item_value = item_means(matched, marked, ground)
    scored = ~np.isnan(item_value)
    over_items = f1_score(
        item_value[scored] @ ground.weights[scored], ground.weights[scored].sum(axis=0)
    )
    shared = len(np.unique(ground.comparisons.item))
    return Averages(
        mean_over_pairs=estimate(mean, why=ground.why, n=len(value), of=ground.all_pairs),
        sd=float(value.std()) if len(value) else None,
        minimum=float(value.min()) if len(value) else None,
        maximum=float(value.max()) if len(value) else None,
        pooled=estimate(pooled, why=ground.why, n=shared, of=len(ground.items)),
        mean_over_items=estimate(over_items, why=ground.why, n=int(scored.sum()), of=shared),
        replicates=mean[1:],
    )


def mean_over_pairs(matched: Floats, marked: Floats, ground: Ground) -> tuple[Floats, Floats]:
    """The mean over the counted pairs, float64 (1 + resamples,), and the values it averages."""
    total = np.zeros(ground.weights.shape[1])
    defined = np.zeros(ground.weights.shape[1])
    values = [np.zeros(0)]
    for first, block in pair_blocks(matched, marked, ground):
        block[~ground.counted_pairs[first : first + len(block)]] = np.nan
        total += np.nansum(block, axis=0)
        defined += np.count_nonzero(~np.isnan(block), axis=0)
        values.append(block[:, 0])
    value = np.concatenate(values)
    return f1_score(total, defined), value[~np.isnan(value)]


def pair_blocks(matched: Floats, marked: Floats, ground: Ground) -> Iterator[tuple[int, Floats]]:
    """F1s of all pairs, float64 (pairs, 1 + resamples), a block of pairs at a time.

    Blocks bound the memory: a crowd has a hundred thousand pairs.
    """
    place = (ground.comparisons.pair, ground.comparisons.item)
    shape = (ground.pairs, len(ground.items))
    sums = [
        sparse.csr_array(sparse.coo_array((values, place), shape=shape))
        for values in (matched, marked)
    ]
    for first in range(0, ground.pairs, PAIR_BLOCK):
        of_pairs = slice(first, first + PAIR_BLOCK)
        yield first, f1_score(*(np.asarray(part[of_pairs] @ ground.weights) for part in sums))


def item_means(matched: Floats, marked: Floats, ground: Ground) -> Floats:
    """Per item the mean F1 over its pairs, float64 (items,); NaN where no pair has one."""
    score = f1_score(matched, marked)
    if ground.both_empty == "agree":
        score = np.where(marked == 0, 1.0, score)
    defined = ~np.isnan(score)
    summed = _by_item(np.column_stack((np.where(defined, score, 0), defined)), ground)
    return f1_score(summed[:, 0], summed[:, 1])


def _row_sums(matrix: sparse.csr_array) -> Floats:
    return np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()


def _whole(values: Floats) -> Numbers:
    """Whole numbers as such: only soft matches count fractions."""
    rounded = np.rint(values)
    return rounded.astype(np.int64) if (rounded == values).all() else values


def _by_item(columns: Any, ground: Ground) -> Floats:
    summed = np.zeros((len(ground.items), columns.shape[1]))
    np.add.at(summed, ground.comparisons.item, columns)
    return summed


def _pair_table(counts: Counts, ground: Ground) -> pd.DataFrame:
    sides = {
        "n_a": _row_sums(counts.n_a),
        "n_b": _row_sums(counts.n_b),
        "tp": _row_sums(counts.tp_a),
    }
    pair = ground.comparisons.pair
    sums = {name: _whole(weigh(pair, values, ground.pairs)) for name, values in sides.items()}
    matched = _row_sums(counts.tp_a + counts.tp_b)
    blocks = [
        np.column_stack((block[:, 0], *interval(block[:, 1:])))
        for _, block in pair_blocks(matched, sides["n_a"] + sides["n_b"], ground)
    ]
    value, low, high, undefined = np.concatenate(blocks).T if blocks else np.zeros((4, 0))
    return pd.DataFrame(
        {
            "a": [ground.annotators[code] for code in ground.comparisons.pair_a],
            "b": [ground.annotators[code] for code in ground.comparisons.pair_b],
            "items": ground.shared_items,
            **sums,
            "precision": f1_score(sums["tp"], sums["n_b"]),
            "recall": f1_score(sums["tp"], sums["n_a"]),
            "value": value,
            "why": reasons(value, NOTHING_MARKED),
            "low": np.where(np.isnan(value), np.nan, low),
            "high": np.where(np.isnan(value), np.nan, high),
            "undefined": undefined,
        }
    )


def _annotator_table(matched: Floats, marked: Floats, ground: Ground) -> pd.DataFrame:
    """Mean F1 of each annotator with the others, and the headline without each of them."""
    size, columns = len(ground.annotators), ground.weights.shape[1]
    total, defined = np.zeros((size + 1, columns)), np.zeros((size + 1, columns))
    pair = np.arange(ground.pairs)
    member = sparse.csc_array(
        (
            np.ones(3 * len(pair)),
            (
                np.concatenate(
                    (ground.comparisons.pair_a, ground.comparisons.pair_b, np.full(len(pair), size))
                ),
                np.tile(pair, 3),
            ),
        ),
        shape=(size + 1, len(pair)),
    )
    for first, block in pair_blocks(matched, marked, ground):
        block[~ground.counted_pairs[first : first + len(block)]] = np.nan
        there = ~np.isnan(block)
        part = member[:, first : first + len(block)]
        total += part @ np.where(there, block, 0)
        defined += part @ there.astype(np.float64)
    mean = f1_score(total[:size], defined[:size])
    without = f1_score(total[size] - total[:size], np.rint(defined[size] - defined[:size]))
    low, high, undefined = interval(mean[:, 1:])
    partners = np.bincount(
        np.concatenate((ground.comparisons.pair_a, ground.comparisons.pair_b)), minlength=size
    )
    lonely = np.where(partners == 0, NO_SHARED_ITEMS, NOTHING_MARKED)
    return pd.DataFrame(
        {
            "annotator": list(ground.annotators),
            "value": mean[:, 0],
            "why": reasons(mean[:, 0], lonely),
            "low": np.where(np.isnan(mean[:, 0]), np.nan, low),
            "high": np.where(np.isnan(mean[:, 0]), np.nan, high),
            "undefined": undefined,
            "n": defined[:size, 0].astype(np.int64),
            "of": np.full(size, max(size - 1, 0)),
            "without": without[:, 0],
        }
    )


def _item_table(matched: Floats, marked: Floats, ground: Ground) -> pd.DataFrame:
    summed = _by_item(np.column_stack((np.ones(len(marked)), marked == 0, marked, matched)), ground)
    value = item_means(matched, marked, ground)
    return pd.DataFrame(
        {
            "item": list(ground.items),
            "pairs": _whole(summed[:, 0]),
            "both_empty": _whole(summed[:, 1]),
            "marked": _whole(summed[:, 2]),
            "matched": _whole(summed[:, 3]),
            "value": value,
            "why": reasons(value, np.where(summed[:, 0] == 0, NO_SHARED_ITEMS, NOTHING_MARKED)),
        }
    )
