"""Agreement: what ``measure`` makes of a corpus, every figure with its choices beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from potato_iaa.arrays import Floats, ratio
from potato_iaa.corpus import Corpus, Source
from potato_iaa.errors import UsageError
from potato_iaa.layer import Layer, make_layer
from potato_iaa.ledger import Ledger
from potato_iaa.matcher import (
    CHARACTERS,
    EXACT,
    OVERLAP,
    TERMS,
    TOKENS,
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
from potato_iaa.measures.alpha import chance_agreement, nominal_alpha, observed_agreement, weighted
from potato_iaa.measures.audit import Audit, audit_alpha
from potato_iaa.measures.bootstrap import estimate, item_weights
from potato_iaa.measures.estimate import (
    NO_SHARED_ITEMS,
    NO_TEXT,
    NO_VARIATION,
    ONE_ANNOTATOR,
    Estimate,
    plain,
    records,
)
from potato_iaa.measures.f1 import BOTH_EMPTY, F1Figures, Ground, f1_figures
from potato_iaa.measures.positions import count_positions
from potato_iaa.measures.signature import data_hash, signature
from potato_iaa.measures.tokens import (
    UNITS,
    Coincidences,
    Tokens,
    code_binary,
    code_bio,
    code_io_longest,
    code_label,
    code_one_label,
    coincide,
    coincide_marked,
    make_segments,
    make_tokens,
    multi_label_tokens,
)

ALWAYS = (EXACT, OVERLAP)
Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The choices of a measurement; all of them are named in the report."""

    rules: tuple[Rule, ...] = ALWAYS
    token_unit: str = "word"
    both_empty: str = "skip"
    min_shared_items: int = 1
    bootstrap: int = 1000
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The choices as in report.json."""
        return {
            "rules": [str(rule) for rule in self.rules],
            "token_unit": self.token_unit,
            "both_empty": self.both_empty,
            "min_shared_items": self.min_shared_items,
            "bootstrap": self.bootstrap,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class CorpusFigures:
    """How much there is to measure: items, passes and spans of one scheme."""

    items: int
    items_read: int
    items_shared: int
    passes: int
    empty_passes: int
    spans: int
    discontinuous_spans: int
    annotators: tuple[str, ...]
    labels: tuple[str, ...]
    label_spans: tuple[int, ...]
    pairs: int
    pairs_sharing: int
    shared_items_median: float

    def to_dict(self) -> dict[str, Any]:
        """The figures as in report.json."""
        return {
            "items": self.items,
            "items_read": self.items_read,
            "items_shared": self.items_shared,
            "passes": self.passes,
            "empty_passes": self.empty_passes,
            "spans": self.spans,
            "discontinuous_spans": self.discontinuous_spans,
            "annotators": list(self.annotators),
            "labels": list(self.labels),
            "label_spans": dict(zip(self.labels, self.label_spans, strict=True)),
            "pairs": self.pairs,
            "pairs_sharing_items": self.pairs_sharing,
            "shared_items_median": self.shared_items_median,
        }


@dataclass(frozen=True)
class Lost:
    """Typed exact F1 against 1: what is lost on existence, on labels, on boundaries.

    existence = 1 − F1(overlap, untyped); label = F1(overlap, untyped) − F1(overlap, typed);
    boundary = F1(overlap, typed) − F1(exact, typed); they add up to 1 − F1(exact, typed).
    """

    existence: Estimate
    label: Estimate
    boundary: Estimate

    def to_dict(self) -> dict[str, Any]:
        """The three losses as in report.json."""
        return {
            "existence": self.existence.to_dict(),
            "label": self.label.to_dict(),
            "boundary": self.boundary.to_dict(),
        }


@dataclass(frozen=True)
class TokenFigures:
    """Token-level coefficients of one scheme, each in the coding that its name says."""

    unit: str
    tokens: int
    multi_label_tokens: int
    spans_without_tokens: int
    alpha: Estimate
    alpha_io_longest: Estimate
    alpha_bio: Estimate
    alpha_binary: Estimate
    alpha_marked: Estimate
    labels: dict[str, Estimate]
    observed_agreement: Estimate
    chance_agreement: Estimate
    beyond_chance: Estimate
    label_shares: dict[str, float]
    audit: Audit | None

    def to_dict(self) -> dict[str, Any]:
        """The coefficients as in report.json."""
        figures: dict[str, Any] = {
            "unit": self.unit,
            "tokens": self.tokens,
            "multi_label_tokens": self.multi_label_tokens,
            "spans_without_tokens": self.spans_without_tokens,
        }
        for name in (
            "alpha",
            "alpha_io_longest",
            "alpha_bio",
            "alpha_binary",
            "alpha_marked",
            "observed_agreement",
            "chance_agreement",
            "beyond_chance",
        ):
            figures[name] = getattr(self, name).to_dict()
        figures["labels"] = {name: alpha.to_dict() for name, alpha in self.labels.items()}
        figures["label_shares"] = {name: plain(share) for name, share in self.label_shares.items()}
        figures["audit"] = self.audit.to_dict() if self.audit else None
        return figures


@dataclass(frozen=True, eq=False)
class SchemeAgreement:
    """All figures of one span scheme.

    ``f1``: figures by rule and typing, such as ``exact_typed``. ``annotators``: annotator, passes,
    empty_passes, spans, mean_length (code points).
    """

    scheme: str
    corpus: CorpusFigures
    f1: dict[str, F1Figures]
    lost: Lost
    token: TokenFigures
    annotators: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """The figures as in report.json's ``schemes.<scheme>``."""
        return {
            "corpus": self.corpus.to_dict(),
            "f1": {name: figures.to_dict() for name, figures in self.f1.items()},
            "lost": self.lost.to_dict(),
            "token": self.token.to_dict(),
            "annotators": records(self.annotators),
        }


@dataclass(frozen=True, eq=False)
class Agreement:
    """The result of a measurement: figures per scheme, and all that a report says beside them."""

    schemes: dict[str, SchemeAgreement]
    settings: Settings
    signature: str
    source: Source
    ledger: Ledger
    items: pd.DataFrame = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """``schemes`` of report.json: plain values, undefined ones as ``None`` with ``why``."""
        return {name: scheme.to_dict() for name, scheme in self.schemes.items()}


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
    audit: bool = True,
    progress: Progress | None = None,
) -> Agreement:
    """Measure how far the annotators of ``corpus`` agree on the spans of each scheme.

    ``rules`` are match rules beside exact and overlap, which are always measured. ``bootstrap`` is
    the number of resamples of items (0: no intervals). Offsets and lengths are code points. What
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
    settings = _settings(rules, token_unit, both_empty, min_shared_items, bootstrap, seed)
    names = [scheme.name for scheme in corpus.schemes] if schemes is None else list(schemes)
    layers = [make_layer(corpus, name, roles=("human",)) for name in names]
    return Agreement(
        schemes={
            layer.scheme: _measure_layer(layer, settings, audit=audit, progress=progress)
            for layer in layers
        },
        settings=settings,
        signature=signature(settings, corpus.source.passes, data_hash(layers)),
        source=corpus.source,
        ledger=corpus.ledger,
        items=corpus.items,
    )


def _settings(
    rules: Sequence[str | Rule],
    token_unit: str,
    both_empty: str,
    min_shared_items: int,
    bootstrap: int,
    seed: int,
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
    return Settings(
        rules=tuple(dict.fromkeys((*ALWAYS, *parsed))),
        token_unit=token_unit,
        both_empty=both_empty,
        min_shared_items=min_shared_items,
        bootstrap=bootstrap,
        seed=seed,
    )


def _measure_layer(
    layer: Layer, settings: Settings, *, audit: bool, progress: Progress | None
) -> SchemeAgreement:
    def tell(stage: str) -> None:
        if progress is not None:
            progress(f"{layer.scheme}: {stage}")

    comparisons = compare_passes(layer)
    ground = Ground(
        comparisons=comparisons,
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
    tell("tokens")
    tokens = make_tokens(layer, settings.token_unit)
    f1 = _all_f1(layer, tokens, ground, settings.rules, tell)
    return SchemeAgreement(
        scheme=layer.scheme,
        corpus=_corpus_figures(layer, ground),
        f1=f1,
        lost=_lost(f1),
        token=_token_figures(layer, tokens, ground, settings, audit=audit),
        annotators=_annotators(layer),
    )


def _all_f1(
    layer: Layer, tokens: Tokens, ground: Ground, rules: Sequence[Rule], tell: Progress
) -> dict[str, F1Figures]:
    overlaps = overlap_edges(layer)
    figures = {}
    for rule in rules:
        for typing in ("typed", "untyped"):
            tell(f"F1 {rule} {typing}")
            typed = typing == "typed"
            counts = count_rule(layer, tokens, ground, overlaps, rule, typed=typed)
            labels = layer.labels if typed or rule not in (CHARACTERS, TOKENS) else ()
            figures[f"{rule}_{typing}"] = f1_figures(counts, ground, labels)
    return figures


def count_rule(
    layer: Layer, tokens: Tokens, ground: Ground, overlaps: Edges, rule: Rule, *, typed: bool
) -> Counts:
    """The counts of one rule; ``overlaps`` are the layer's ``overlap_edges``."""
    if rule == CHARACTERS:
        return count_positions(layer, make_segments(layer), ground.comparisons, typed=typed)
    if rule == TOKENS:
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
        items_shared=len(np.unique(ground.comparisons.item)),
        passes=len(layer.pass_unit),
        empty_passes=len(layer.pass_unit) - len(np.unique(layer.span_pass)),
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
    used = np.bincount(layer.pass_annotator[np.unique(layer.span_pass)], minlength=size)
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
    shared = len(np.unique(ground.comparisons.item))
    why = ground.why if ground.why in (ONE_ANNOTATOR, NO_SHARED_ITEMS) else NO_VARIATION
    if not len(tokens.start) and any(text is None for text in layer.unit_text):
        why = NO_TEXT

    def figure(values: Floats) -> Estimate:
        return estimate(values, why=why, n=shared, of=len(layer.items))

    def alpha(coincidences: Coincidences) -> Estimate:
        return figure(nominal_alpha(*weighted(coincidences, ground.weights)))

    coding = code_label(layer, tokens)
    coincidences = coincide(layer, tokens, coding)
    disagreement, values = weighted(coincidences, ground.weights)
    observed = observed_agreement(disagreement, values)
    chance = chance_agreement(values)
    beyond = ratio(observed - chance, 1 - chance)
    total = values[:, 0].sum()
    return TokenFigures(
        unit=settings.token_unit,
        tokens=len(tokens.start),
        multi_label_tokens=multi_label_tokens(layer, tokens),
        spans_without_tokens=len(layer.span_pass) - len(np.unique(tokens.mark_span)),
        alpha=figure(nominal_alpha(disagreement, values)),
        alpha_io_longest=alpha(coincide(layer, tokens, code_io_longest(layer, tokens))),
        alpha_bio=alpha(coincide(layer, tokens, code_bio(layer, tokens))),
        alpha_binary=alpha(coincide(layer, tokens, code_binary(layer, tokens))),
        alpha_marked=alpha(coincide_marked(layer, tokens, coding)),
        labels={
            label: alpha(coincide(layer, tokens, code_one_label(layer, tokens, code)))
            for code, label in enumerate(layer.labels)
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
    )
