"""Measuring: from a Corpus to its Agreement, each scheme's counts taken once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd

from potato_iaa.arrays import Floats, present, ratio
from potato_iaa.corpus import Corpus
from potato_iaa.errors import UsageError
from potato_iaa.layer import Layer, make_layer
from potato_iaa.matcher import (
    CHARACTER,
    EXACT,
    OVERLAP,
    TERMS,
    TOKEN,
    Counts,
    Edges,
    Rule,
    align,
    align_soft,
    compare_passes,
    count_matches,
    overlap_edges,
    parse_rule,
    rule_edges,
    term_layer,
    typed_edges,
)
from potato_iaa.measures.agreement import (
    Agreement,
    CorpusFigures,
    Lost,
    SchemeAgreement,
    Settings,
    TokenFigures,
)
from potato_iaa.measures.alpha import (
    chance_agreement,
    label_alphas,
    nominal_alpha,
    observed_agreement,
    weighted,
)
from potato_iaa.measures.alpha_u import alpha_u_figures
from potato_iaa.measures.audit import audit_alpha
from potato_iaa.measures.bootstrap import estimate, item_weights
from potato_iaa.measures.categorical import categorical_figures
from potato_iaa.measures.disagreements import (
    disagreement_table,
    find_disagreements,
    kind_counts,
)
from potato_iaa.measures.drift import drift
from potato_iaa.measures.estimate import (
    NO_SHARED_ITEMS,
    NO_TEXT,
    NO_VARIATION,
    ONE_ANNOTATOR,
    Estimate,
)
from potato_iaa.measures.f1 import BOTH_EMPTY, F1Figures, Ground, f1_figures
from potato_iaa.measures.gamma import GammaFigures, GammaSettings, gamma_figures
from potato_iaa.measures.kappa import PairKappas, kappa_figures
from potato_iaa.measures.matched import boundaries, matched_labels
from potato_iaa.measures.positions import count_positions
from potato_iaa.measures.registry import ON_REQUEST
from potato_iaa.measures.sides import Side, sides
from potato_iaa.measures.signature import data_hash, signature
from potato_iaa.measures.tokenizing import UNITS
from potato_iaa.measures.tokens import (
    Coding,
    Coincidences,
    Tokens,
    code_binary,
    code_bio,
    code_io_longest,
    code_label,
    coincide,
    coincide_labels,
    coincide_marked,
    make_segments,
    make_tokens,
    multi_label_tokens,
    spans_cutting_tokens,
)
from potato_iaa.measures.unitizing import unitizing_figures

ALWAYS = (EXACT, OVERLAP)
SPAN_RULES = ("exact", "overlap", "soft")

CODINGS = {
    "label": code_label,
    "io_longest": code_io_longest,
    "bio": code_bio,
    "binary": code_binary,
}
Progress = Callable[[str], None]


def measure(
    corpus: Corpus,
    *,
    rules: Sequence[str | Rule] = (),
    schemes: Sequence[str] | None = None,
    token_unit: str = "word",
    both_empty: str = "skip",
    min_shared_items: int = 1,
    bootstrap: int = 1000,
    seed: int = 0,
    measures: Sequence[str] = (),
    audit: bool = True,
    progress: Progress | None = None,
) -> Agreement:
    """Measure how far the annotators of ``corpus`` agree on the spans of each scheme.

    ``rules`` are match rules beside exact and overlap, which are always measured. ``bootstrap`` is
    the number of resamples of items (0: no intervals). ``measures`` are coefficients that are made
    on request: cohen, scott, fleiss, alpha_u, gamma. Offsets and lengths are code points. What
    has no value is an ``Estimate`` with its reason. Raises UsageError: a rule, scheme, token unit
    or choice that does not exist.

    Source: Hripcsak & Rothschild 2005, doi:10.1197/jamia.M1733. A marks three items, B agrees on
    the first and marks nothing on the others, which is disagreement, not missing data:

    >>> corpus = Corpus.from_tables(
    ...     items=[("d1", "Ada"), ("d2", "Ben"), ("d3", "Cem")],
    ...     passes=[(item, who) for item in ("d1", "d2", "d3") for who in "AB"],
    ...     spans=[("d1", "A", 0, 3, "PER"), ("d2", "A", 0, 3, "PER"), ("d3", "A", 0, 3, "PER"),
    ...            ("d1", "B", 0, 3, "PER")],
    ... )
    >>> agreement = measure(corpus, bootstrap=0)
    >>> agreement.schemes["spans"].f1["exact_typed"].averages.mean_over_pairs.value
    0.5
    """
    if not isinstance(corpus, Corpus):
        raise UsageError(
            f"measure() takes a Corpus, not {type(corpus).__name__}: make one with "
            "read_project(path) or Corpus.from_tables(...)."
        )
    settings = _settings(rules, token_unit, both_empty, min_shared_items, bootstrap, seed, measures)
    names = [scheme.name for scheme in corpus.schemes] if schemes is None else list(schemes)
    layers = [make_layer(corpus, name, roles=("human",)) for name in names]
    return Agreement(
        schemes={
            layer.scheme: _measure_scheme(corpus, layer, settings, audit=audit, progress=progress)
            for layer in layers
        },
        categorical={
            scheme.name: categorical_figures(
                corpus, scheme, resamples=settings.bootstrap, seed=settings.seed
            )
            for scheme in corpus.categorical
        },
        settings=settings,
        signature=signature(settings, corpus.source.passes, data_hash(layers, corpus.answers)),
        source=corpus.source,
        ledger=corpus.ledger,
        items=corpus.items,
        spans=corpus.spans,
    )


def _settings(
    rules: Sequence[str | Rule],
    token_unit: str,
    both_empty: str,
    min_shared_items: int,
    bootstrap: int,
    seed: int,
    measures: Sequence[str],
) -> Settings:
    parsed = [parse_rule(rule) if isinstance(rule, str) else rule for rule in rules]
    if token_unit not in UNITS:
        raise UsageError(f"no token unit {token_unit!r}: there are {', '.join(UNITS)}.")
    if both_empty not in BOTH_EMPTY:
        raise UsageError(
            f"no choice {both_empty!r} for items both left empty: there are "
            f"{' and '.join(BOTH_EMPTY)}."
        )
    for name, number, least in (
        ("min_shared_items", min_shared_items, 1),
        ("bootstrap", bootstrap, 0),
        ("seed", seed, 0),
    ):
        if number < least:
            raise UsageError(f"{name} is {number}: it is a whole number from {least} on.")
    for name in measures:
        if name not in ON_REQUEST:
            raise UsageError(f"no measure {name!r} on request: there are {', '.join(ON_REQUEST)}.")
    return Settings(
        rules=tuple(dict.fromkeys((*ALWAYS, *parsed))),
        token_unit=token_unit,
        both_empty=both_empty,
        min_shared_items=min_shared_items,
        bootstrap=bootstrap,
        seed=seed,
        measures=tuple(dict.fromkeys(measures)),
    )


def _measure_scheme(
    corpus: Corpus, layer: Layer, settings: Settings, *, audit: bool, progress: Progress | None
) -> SchemeAgreement:
    def tell(stage: str) -> None:
        if progress is not None:
            progress(f"{layer.scheme}: {stage}")

    ground = _ground(layer, settings)
    comparisons, weights = ground.comparisons, ground.weights
    tell("tokens")
    tokens = make_tokens(layer, settings.token_unit)
    # Tokens and units have nothing to do with matching: arrays leave the interpreter free, and a
    # second core does them meanwhile.
    with ThreadPoolExecutor(max_workers=1) as second:
        token = second.submit(_token_figures, layer, tokens, ground, settings, audit=audit)
        unitizing = second.submit(unitizing_figures, layer, weights)
        overlaps = overlap_edges(layer)
        counts = _count_all(layer, tokens, ground, overlaps, settings.rules, tell)
        f1 = _all_f1(layer, counts, ground, tell)
        tell("disagreements")
        alignment = align(layer, overlaps)
        disagreements = find_disagreements(layer, comparisons, overlaps, alignment)
        return SchemeAgreement(
            scheme=layer.scheme,
            corpus=_corpus_figures(layer, ground),
            f1=f1,
            lost=_lost(f1),
            matched_labels=matched_labels(layer, comparisons, alignment, weights),
            boundaries=boundaries(layer, tokens, alignment),
            disagreements=disagreement_table(layer, comparisons, disagreements),
            kinds=kind_counts(layer, comparisons, disagreements),
            annotators=_annotators(layer),
            drift=drift(layer, counts["exact_typed"], ground),
            sides=_sides(corpus, layer, settings, tell),
            alpha_u=alpha_u_figures(layer, weights) if "alpha_u" in settings.measures else None,
            gamma=_gamma(layer, settings, weights, tell) if "gamma" in settings.measures else None,
            token=token.result(),
            unitizing=unitizing.result(),
        )


def _gamma(layer: Layer, settings: Settings, weights: Floats, tell: Progress) -> GammaFigures:
    return gamma_figures(layer, weights, settings=GammaSettings(seed=settings.seed), progress=tell)


def _ground(layer: Layer, settings: Settings) -> Ground:
    return Ground(
        comparisons=compare_passes(layer),
        weights=item_weights(
            len(layer.items),
            of=layer.items_on_offer,
            resamples=settings.bootstrap,
            seed=settings.seed,
        ),
        items=layer.items,
        annotators=layer.annotators,
        both_empty=settings.both_empty,
        min_shared_items=settings.min_shared_items,
    )


def _count_all(
    layer: Layer,
    tokens: Tokens,
    ground: Ground,
    overlaps: Edges,
    rules: Sequence[Rule],
    tell: Progress,
) -> dict[str, Counts]:
    counts = {}
    for rule in rules:
        tell(f"matching {rule}")
        for typing, typed in (("typed", True), ("untyped", False)):
            counts[f"{rule}_{typing}"] = count_rule(
                layer, tokens, ground, overlaps, rule, typed=typed
            )
    return counts


def _all_f1(
    layer: Layer, counts: dict[str, Counts], ground: Ground, tell: Progress
) -> dict[str, F1Figures]:
    """Figures of all rules; those that match the layer's spans, and so count the same, together."""
    same = [name for name in counts if parse_rule(name.rsplit("_", 1)[0]).match in SPAN_RULES]
    tell("F1")
    figures = dict(
        zip(same, f1_figures([counts[name] for name in same], ground, layer.labels), strict=True)
    )
    for name, rule_counts in counts.items():
        if name not in figures:
            # Untyped positions have one column: a position is marked, whatever the label.
            labels = layer.labels if rule_counts.n_a.shape[1] == len(layer.labels) else ()
            figures[name] = f1_figures([rule_counts], ground, labels)[0]
    return {name: figures[name] for name in counts}


def _sides(corpus: Corpus, layer: Layer, settings: Settings, tell: Progress) -> tuple[Side, ...]:
    roles = dict(zip(corpus.annotators["annotator"], corpus.annotators["role"], strict=True))
    if all(role == "human" for role in roles.values()):
        return ()
    tell("systems and gold standards")
    everybody = make_layer(corpus, layer.scheme)
    ground = _ground(everybody, settings)
    tokens = make_tokens(everybody, settings.token_unit)
    overlaps = overlap_edges(everybody)
    counts = _count_all(everybody, tokens, ground, overlaps, settings.rules, tell)
    return sides(counts, ground, roles, everybody.labels)


def count_rule(
    layer: Layer, tokens: Tokens, ground: Ground, overlaps: Edges, rule: Rule, *, typed: bool
) -> Counts:
    """The counts of one rule; ``overlaps`` are the layer's ``overlap_edges``."""
    if rule == CHARACTER:
        return count_positions(layer, make_segments(layer), ground.comparisons, typed=typed)
    if rule == TOKEN:
        return count_positions(layer, tokens, ground.comparisons, typed=typed)
    listed = term_layer(layer, typed=typed) if rule == TERMS else layer
    edges = rule_edges(listed, rule, overlaps)
    edges = typed_edges(listed, edges) if typed else edges
    soft = rule.match == "soft"
    alignment = align_soft(listed, edges, rule.similarity) if soft else align(listed, edges)
    return count_matches(listed, ground.comparisons, alignment)


def _lost(f1: dict[str, F1Figures]) -> Lost:
    def loss(more: str | None, less: str) -> Estimate:
        after = f1[less].averages
        if after.mean_over_pairs.value is None:
            return Estimate(None, after.mean_over_pairs.why, n=0, of=after.mean_over_pairs.of)
        value = 1.0 if more is None else f1[more].averages.mean_over_pairs.value or 0.0
        replicates = 1.0 if more is None else f1[more].averages.replicates
        both = np.concatenate(
            ([value - after.mean_over_pairs.value], replicates - after.replicates)
        )
        return estimate(both, why="", n=after.mean_over_pairs.n, of=after.mean_over_pairs.of)

    return Lost(
        existence=loss(None, "overlap_untyped"),
        label=loss("overlap_untyped", "overlap_typed"),
        boundary=loss("overlap_typed", "exact_typed"),
    )


def _corpus_figures(layer: Layer, ground: Ground) -> CorpusFigures:
    shared = ground.shared_items
    spans = np.bincount(layer.span_label, minlength=len(layer.labels))
    return CorpusFigures(
        items=layer.items_on_offer,
        items_read=len(layer.items),
        items_shared=len(present(ground.comparisons.item)),
        fields=len(set(layer.unit_field)),
        passes=len(layer.pass_unit),
        empty_passes=len(layer.pass_unit) - len(present(layer.span_pass)),
        spans=len(layer.span_pass),
        discontinuous_spans=int(
            np.count_nonzero(np.bincount(layer.part_span, minlength=len(layer.span_pass)) > 1)
        ),
        annotators=layer.annotators,
        labels=layer.labels,
        label_spans=tuple(int(count) for count in spans),
        pairs=ground.all_pairs,
        pairs_sharing=ground.pairs,
        shared_items_median=float(np.median(shared)) if len(shared) else 0.0,
    )


def _annotators(layer: Layer) -> pd.DataFrame:
    size = len(layer.annotators)
    spans = np.bincount(layer.span_annotator, minlength=size)
    passes = np.bincount(layer.pass_annotator, minlength=size)
    used = np.bincount(layer.pass_annotator[present(layer.span_pass)], minlength=size)
    covered = np.bincount(layer.span_annotator, weights=layer.span_length, minlength=size)
    return pd.DataFrame(
        {
            "annotator": list(layer.annotators),
            "passes": passes,
            "empty_passes": passes - used,
            "spans": spans,
            "mean_length": ratio(covered, spans),
        }
    )


def _token_figures(
    layer: Layer, tokens: Tokens, ground: Ground, settings: Settings, *, audit: bool
) -> TokenFigures:
    shared = len(present(ground.comparisons.item))
    why = ground.why if ground.why in (ONE_ANNOTATOR, NO_SHARED_ITEMS) else NO_VARIATION
    if not len(tokens.start) and any(text is None for text in layer.unit_text):
        why = NO_TEXT

    def figure(values: Floats) -> Estimate:
        return estimate(values, why=why, n=shared, of=len(layer.items))

    def alpha(coincidences: Coincidences) -> Estimate:
        return figure(nominal_alpha(*weighted(coincidences, ground.weights)))

    codings = {name: code(layer, tokens) for name, code in CODINGS.items()}
    met = {name: coincide(layer, tokens, coding) for name, coding in codings.items()}
    coding, coincidences = codings["label"], met["label"]
    disagreement, values = weighted(coincidences, ground.weights)
    observed = observed_agreement(disagreement, values)
    chance = chance_agreement(values)
    beyond = ratio(observed - chance, 1 - chance)
    total = values[:, 0].sum()
    return TokenFigures(
        unit=settings.token_unit,
        tokens=len(tokens.start),
        multi_label_tokens=multi_label_tokens(layer, tokens),
        spans_without_tokens=len(layer.span_pass) - len(present(tokens.mark_span)),
        spans_cutting_tokens=spans_cutting_tokens(layer, tokens),
        alpha=figure(nominal_alpha(disagreement, values)),
        alpha_io_longest=alpha(met["io_longest"]),
        alpha_bio=alpha(met["bio"]),
        alpha_binary=alpha(met["binary"]),
        alpha_marked=alpha(coincide_marked(layer, tokens, coding)),
        labels={
            label: figure(values)
            for label, values in zip(
                layer.labels,
                label_alphas(coincide_labels(layer, tokens), ground.weights),
                strict=True,
            )
        },
        observed_agreement=figure(observed),
        chance_agreement=figure(chance),
        beyond_chance=figure(beyond),
        label_shares={
            name: float(count / total)
            for name, count in zip(coincidences.names, values[:, 0], strict=True)
            if total
        },
        audit=audit_alpha(layer, tokens, coding, coincidences, seed=settings.seed)
        if audit and shared and len(tokens.start)
        else None,
        kappas=_kappas(layer, tokens, ground, settings, codings, met),
    )


def _kappas(
    layer: Layer,
    tokens: Tokens,
    ground: Ground,
    settings: Settings,
    codings: dict[str, Coding],
    met: dict[str, Coincidences],
) -> dict[str, dict[str, PairKappas | Estimate]]:
    wanted = [name for name in ("cohen", "scott", "fleiss") if name in settings.measures]
    if not wanted:
        return {}
    figures = {
        name: kappa_figures(layer, tokens, coding, met[name], ground.comparisons, ground.weights)
        for name, coding in codings.items()
    }
    return {
        name: {coding: getattr(figure, name) for coding, figure in figures.items()}
        for name in wanted
    }
