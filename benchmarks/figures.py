"""Single figures through our functions, for what another package computes alone."""

from __future__ import annotations

import numpy as np

from potato_iaa.corpus import Corpus
from potato_iaa.layer import Layer, make_layer
from potato_iaa.matcher import (
    EXACT,
    OVERLAP,
    Counts,
    Edges,
    Rule,
    align,
    compare_passes,
    count_matches,
    count_spans,
    exact_edges,
    overlap_edges,
    rule_edges,
    typed_edges,
)
from potato_iaa.measures.alpha import nominal_alpha, weighted
from potato_iaa.measures.bootstrap import item_weights
from potato_iaa.measures.f1 import F1Figures, Ground, f1_figures
from potato_iaa.measures.tokens import code_label, coincide, make_tokens
from potato_iaa.measures.unitizing import intersect, unit_layer
from potato_iaa.measures.unitizing import u_alpha as u_alpha_of

RULES: tuple[tuple[Rule, bool], ...] = (
    (EXACT, True),
    (EXACT, False),
    (OVERLAP, True),
    (OVERLAP, False),
)


def only_layer(corpus: Corpus) -> Layer:
    """The layer of the corpus's one scheme."""
    (scheme,) = corpus.schemes
    return make_layer(corpus, scheme.name)


def ground_of(layer: Layer, resamples: int = 0) -> Ground:
    """What F1s of the layer are computed on."""
    return Ground(
        comparisons=compare_passes(layer),
        weights=item_weights(
            len(layer.items), of=layer.items_on_offer, resamples=resamples, seed=0
        ),
        items=layer.items,
        annotators=layer.annotators,
        both_empty="skip",
        min_shared_items=1,
    )


def match(layer: Layer, ground: Ground, edges: Edges, *, typed: bool) -> Counts:
    """The counts of the spans that ``edges`` lets be matched."""
    chosen = typed_edges(layer, edges) if typed else edges
    spans = count_spans(layer, ground.comparisons)
    return count_matches(layer, ground.comparisons, align(layer, chosen), spans)


def match_all(layer: Layer, ground: Ground) -> list[Counts]:
    """The counts of exact and overlap, typed and untyped."""
    overlaps = overlap_edges(layer)
    return [
        match(layer, ground, rule_edges(layer, rule, overlaps), typed=typed)
        for rule, typed in RULES
    ]


def exact_f1(corpus: Corpus) -> F1Figures:
    """Exact typed F1: the averages, per label, pair, annotator and item, without resamples."""
    layer = only_layer(corpus)
    ground = ground_of(layer)
    counts = match(layer, ground, exact_edges(layer), typed=True)
    return f1_figures([counts], ground, layer.labels)[0]


def four_f1(corpus: Corpus) -> list[F1Figures]:
    """Exact and overlap, typed and untyped F1, in the order of ``RULES``."""
    layer = only_layer(corpus)
    ground = ground_of(layer)
    return f1_figures(match_all(layer, ground), ground, layer.labels)


def token_alpha(corpus: Corpus) -> float:
    """Krippendorff's nominal alpha over tokens, a set of labels being one value."""
    layer = only_layer(corpus)
    tokens = make_tokens(layer)
    coincidences = coincide(layer, tokens, code_label(layer, tokens))
    return float(nominal_alpha(*weighted(coincidences, np.ones((len(layer.items), 1))))[0])


def u_alpha(corpus: Corpus) -> float:
    """The unitizing alpha of 2016 of spans that do not overlap within a pass."""
    layer = only_layer(corpus)
    sums = intersect(unit_layer(layer))
    return float(u_alpha_of(sums.disagreement.sum(), sums.lengths.sum(axis=0), sums.squares.sum()))
