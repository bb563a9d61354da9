"""Position counts: marked characters or tokens as sets, in the form of span counts."""

from __future__ import annotations

import numpy as np

from potato_iaa.arrays import distinct, group_stop, pairs_ahead
from potato_iaa.layer import Layer
from potato_iaa.matcher.counts import Comparisons, Counts, tally
from potato_iaa.measures.tokens import Tokens


def count_positions(
    layer: Layer, tokens: Tokens, comparisons: Comparisons, *, typed: bool
) -> Counts:
    """Counts of sets of (position, label), or of positions alone when untyped (one column).

    ``tokens`` are tokens, or segments for characters: a position of weight w counts w times.
    """
    if typed:
        columns = len(layer.labels)
        token, label, pass_ = distinct(
            tokens.mark_token, layer.span_label[tokens.mark_span], tokens.mark_pass
        )
    else:
        columns = 1
        token, pass_ = distinct(tokens.mark_token, tokens.mark_pass)
        label = np.zeros_like(token)
    marked = tally(pass_, label, tokens.weight[token], (len(layer.pass_unit), columns))
    first, second = pairs_ahead(group_stop(token * max(columns, 1) + label))
    row = comparisons.row_of(pass_[first], pass_[second])
    shape = (len(comparisons.pass_a), columns)
    both = comparisons.fold @ tally(row, label[first], tokens.weight[token[first]], shape)
    return Counts(
        n_a=comparisons.fold @ marked[comparisons.pass_a],
        n_b=comparisons.fold @ marked[comparisons.pass_b],
        tp_a=both,
        tp_b=both,
    )
