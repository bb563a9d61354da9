"""Matched spans: which labels are given to one place, and how far boundaries lie apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sparse

from potato_iaa.arrays import Floats, Ints, stack, weigh
from potato_iaa.layer import Layer
from potato_iaa.matcher.alignment import Alignment
from potato_iaa.matcher.counts import Comparisons, tally
from potato_iaa.measures.alpha import nominal_alpha, observed_agreement
from potato_iaa.measures.bootstrap import estimate
from potato_iaa.measures.estimate import (
    NO_SHARED_ITEMS,
    NO_VARIATION,
    ONE_ANNOTATOR,
    Estimate,
    records,
)
from potato_iaa.measures.kappa import Judgements, mean_cohen
from potato_iaa.measures.pairs import PairGrid
from potato_iaa.measures.tokens import Tokens

NOTHING_MATCHED = "no matched spans"
FARTHEST = 5


@dataclass(frozen=True, eq=False)
class MatchedLabels:
    """Agreement on the labels of matched spans, whatever their boundaries.

    ``confusion``: label_a, label_b, spans: how often each unordered pair of labels met on matched
    spans, over all pairs of annotators. ``pairs``: the same ordered, with the annotators a and b.
    """

    matches: int
    observed_agreement: Estimate
    alpha: Estimate
    cohen: Estimate
    confusion: pd.DataFrame
    pairs: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """The coefficients and the confusion as in report.json."""
        return {
            "matches": self.matches,
            "observed_agreement": self.observed_agreement.to_dict(),
            "alpha": self.alpha.to_dict(),
            "cohen_mean": self.cohen.to_dict(),
            "confusion": records(self.confusion),
        }


@dataclass(frozen=True, eq=False)
class Met:
    """Labels that met on matched spans.

    ``values``: sparse (items, labels), how often each label met another one or itself;
    ``differing``: float64 (items,), matches of different labels. ``judgements``: by comparison.
    """

    values: sparse.csr_array
    differing: Floats
    judgements: Judgements


@dataclass(frozen=True, eq=False)
class Confusion:
    """How often the first annotator's label met the second's: int64 arrays (combinations,).

    ``code``: (pair · labels + first label) · labels + second label, where a pair is the code of the
    first annotator · annotators + that of the second. Ascending, each once.
    """

    code: Ints
    count: Ints


def meet(layer: Layer, comparisons: Comparisons, alignment: Alignment) -> Met:
    """Which labels met on the matched spans."""
    row = comparisons.row_of(layer.span_pass[alignment.left], layer.span_pass[alignment.right])
    left, right = layer.span_label[alignment.left], layer.span_label[alignment.right]
    shape = (len(comparisons.pass_a), len(layer.labels))
    ones = np.ones(len(left))
    judged = Judgements(
        tokens=comparisons.fold @ weigh(row, ones, shape[0]),
        differing=comparisons.fold @ weigh(row, left != right, shape[0]),
        values_a=comparisons.fold @ tally(row, left, ones, shape),
        values_b=comparisons.fold @ tally(row, right, ones, shape),
    )
    item = layer.unit_item[layer.span_unit[alignment.left]]
    size = (len(layer.items), len(layer.labels))
    return Met(
        values=tally(
            np.concatenate((item, item)),
            np.concatenate((left, right)),
            np.ones(2 * len(left)),
            size,
        ),
        differing=weigh(item, left != right, len(layer.items)),
        judgements=judged,
    )


def join_met(parts: Sequence[Met]) -> Met:
    """What met in several runs of items, one after the other."""
    return Met(
        values=sparse.csr_array(sparse.vstack([part.values for part in parts])),
        differing=np.concatenate([part.differing for part in parts]),
        judgements=stack([part.judgements for part in parts]),
    )


def confuse(layer: Layer, alignment: Alignment) -> Confusion:
    """How often which labels of which annotators met on the matched spans."""
    size, labels = len(layer.annotators), len(layer.labels)
    annotator = layer.span_annotator
    pair = annotator[alignment.left] * size + annotator[alignment.right]
    left, right = layer.span_label[alignment.left], layer.span_label[alignment.right]
    return Confusion(*np.unique((pair * labels + left) * labels + right, return_counts=True))


def join_confusions(parts: Sequence[Confusion]) -> Confusion:
    """The sums of several confusions."""
    code, place = np.unique(np.concatenate([part.code for part in parts]), return_inverse=True)
    count = np.concatenate([part.count for part in parts])
    return Confusion(code, weigh(place, count, len(code)).astype(np.int64))


def matched_labels(
    layer: Layer, comparisons: Comparisons, met: Met, confusion: Confusion, weights: Floats
) -> MatchedLabels:
    """Confusion, nominal alpha and mean Cohen's kappa of labels on untyped-overlap matches."""
    matches = int(confusion.count.sum())
    differing = 2 * met.differing @ weights
    by_value = np.asarray(met.values.T @ weights)
    cohen, defined = mean_cohen(met.judgements, PairGrid(comparisons, weights))
    why = NO_VARIATION if matches else _why(layer, comparisons)
    items = int(np.count_nonzero(np.diff(met.values.indptr)))
    shares = {"n": items, "of": len(layer.items)}
    pairs = comb(len(layer.annotators), 2)
    return MatchedLabels(
        matches=matches,
        observed_agreement=estimate(observed_agreement(differing, by_value), why=why, **shares),
        alpha=estimate(nominal_alpha(differing, by_value), why=why, **shares),
        cohen=estimate(cohen, why=why, n=defined, of=pairs),
        confusion=_confusion_table(layer, confusion),
        pairs=_confusion_by_pair(layer, confusion),
    )


def _why(layer: Layer, comparisons: Comparisons) -> str:
    """The reason why there are no matched spans."""
    if len(layer.annotators) < 2:
        return ONE_ANNOTATOR
    return NOTHING_MATCHED if len(comparisons.pair_a) else NO_SHARED_ITEMS


def _confusion_table(layer: Layer, confusion: Confusion) -> pd.DataFrame:
    size = len(layer.labels)
    left, right = confusion.code // size % size, confusion.code % size
    low, high = np.minimum(left, right), np.maximum(left, right)
    code, place = np.unique(low * size + high, return_inverse=True)
    return pd.DataFrame(
        {
            "label_a": [layer.labels[number // size] for number in code],
            "label_b": [layer.labels[number % size] for number in code],
            "spans": weigh(place, confusion.count, len(code)).astype(np.int64),
        }
    )


def _confusion_by_pair(layer: Layer, confusion: Confusion) -> pd.DataFrame:
    size, labels = len(layer.annotators), len(layer.labels)
    code = confusion.code
    pair = code // labels**2
    return pd.DataFrame(
        {
            "a": [layer.annotators[number] for number in pair // size],
            "b": [layer.annotators[number] for number in pair % size],
            "label_a": [layer.labels[number] for number in code // labels % labels],
            "label_b": [layer.labels[number] for number in code % labels],
            "spans": confusion.count,
        }
    )


@dataclass(frozen=True, eq=False)
class Boundaries:
    """How the boundaries of matched spans lie to each other.

    ``table``: annotator, label (of the annotator's span), matches, both_exact; start_exact,
    start_one_token, start_earlier, start_later; end_exact, end_one_token, end_earlier, end_later;
    longer, shorter: counts of the annotator's spans against their partners (``one_token``: exactly
    one token apart, earlier or later). ``histogram``: side, tokens (0 to 5, where 5 stands for 5
    and more), matches.
    """

    table: pd.DataFrame
    histogram: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """The offsets as in report.json."""
        return {"table": records(self.table), "histogram": records(self.histogram)}


@dataclass(frozen=True, eq=False)
class Offsets:
    """Counts of boundaries, int64: of these ``Boundaries`` are made, and they add up.

    ``counted``: column of the table → (annotators · labels,); ``apart``: (2, 1 + FARTHEST), matches
    whose starts, and whose ends, lie so many tokens apart.
    """

    counted: dict[str, Ints]
    apart: Ints


def count_offsets(layer: Layer, tokens: Tokens, alignment: Alignment) -> Offsets:
    """Differences of starts and ends on untyped-overlap matches, in code points and tokens."""
    first = np.searchsorted(tokens.end, layer.span_start, side="right")
    stop = np.searchsorted(tokens.start, layer.span_end, side="left")
    own = np.concatenate((alignment.left, alignment.right))
    other = np.concatenate((alignment.right, alignment.left))
    key = layer.span_annotator[own] * len(layer.labels) + layer.span_label[own]
    start = layer.span_start[own] - layer.span_start[other]
    end = layer.span_end[own] - layer.span_end[other]
    length = layer.span_length[own] - layer.span_length[other]
    start_tokens = np.abs(first[own] - first[other])
    end_tokens = np.abs(stop[own] - stop[other])
    counted = {
        "matches": np.ones(len(own), dtype=bool),
        "both_exact": layer.span_extent[own] == layer.span_extent[other],
        "start_exact": start == 0,
        "start_one_token": start_tokens == 1,
        "start_earlier": start < 0,
        "start_later": start > 0,
        "end_exact": end == 0,
        "end_one_token": end_tokens == 1,
        "end_earlier": end < 0,
        "end_later": end > 0,
        "longer": length > 0,
        "shorter": length < 0,
    }
    size = len(layer.annotators) * len(layer.labels)
    half = len(alignment.left)
    return Offsets(
        {name: np.bincount(key[flags], minlength=size) for name, flags in counted.items()},
        np.stack(
            [
                np.bincount(np.minimum(apart[:half], FARTHEST), minlength=FARTHEST + 1)
                for apart in (start_tokens, end_tokens)
            ]
        ),
    )


def join_offsets(parts: Sequence[Offsets]) -> Offsets:
    """The sums of several counts of boundaries."""
    return Offsets(
        {name: np.sum([part.counted[name] for part in parts], axis=0) for name in parts[0].counted},
        np.sum([part.apart for part in parts], axis=0),
    )


def boundaries(layer: Layer, offsets: Offsets) -> Boundaries:
    """The table and the histogram of counted boundaries."""
    used = np.flatnonzero(offsets.counted["matches"])
    labels = len(layer.labels)
    histogram = [
        {"side": side, "tokens": distance, "matches": int(count)}
        for side, apart in zip(("start", "end"), offsets.apart, strict=True)
        for distance, count in enumerate(apart)
    ]
    return Boundaries(
        table=pd.DataFrame(
            {
                "annotator": [layer.annotators[code // labels] for code in used],
                "label": [layer.labels[code % labels] for code in used],
                **{name: counts[used] for name, counts in offsets.counted.items()},
            }
        ),
        histogram=pd.DataFrame(histogram),
    )
