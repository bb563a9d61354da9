"""Measuring: from a Corpus to its Agreement, each scheme's counts taken once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import TypeVar

import numpy as np
import pandas as pd

from potato_iaa.arrays import Floats, present, ratio
from potato_iaa.blocks import Block, cut
from potato_iaa.corpus import Corpus
from potato_iaa.errors import UsageError
from potato_iaa.layer import Layer, make_layer
from potato_iaa.matcher import (
    CHARACTER,
    EXACT,
    OVERLAP,
    TOKEN,
    Counts,
    Rule,
    compare_passes,
    join_counts,
    parse_rule,
)
from potato_iaa.measures.agreement import (
    Agreement,
    CorpusFigures,
    Lost,
    SchemeAgreement,
    Settings,
)
from potato_iaa.measures.alpha_u import alpha_u_figures
from potato_iaa.measures.bootstrap import estimate, item_weights
from potato_iaa.measures.categorical import categorical_figures
from potato_iaa.measures.counting import count_block, count_rules, join
from potato_iaa.measures.disagreements import disagreement_table, kind_counts
from potato_iaa.measures.drift import drift
from potato_iaa.measures.estimate import NO_TEXT, Estimate
from potato_iaa.measures.f1 import BOTH_EMPTY, F1Figures, Ground, f1_figures
from potato_iaa.measures.gamma import GammaFigures, GammaSettings, gamma_figures
from potato_iaa.measures.matched import boundaries, matched_labels
from potato_iaa.measures.registry import ON_REQUEST
from potato_iaa.measures.sides import Side, sides
from potato_iaa.measures.signature import data_hash, signature
from potato_iaa.measures.spread import Spread, in_threads
from potato_iaa.measures.token_figures import token_figures
from potato_iaa.measures.tokenizing import UNITS
from potato_iaa.measures.unitizing import unitizing_figures

ALWAYS = (EXACT, OVERLAP)
SPAN_RULES = ("exact", "overlap", "soft")
# Far more than any interval needs: a few digits too many are a slip.
MOST_RESAMPLES = 1_000_000

Progress = Callable[[str], None]
Counted = TypeVar("Counted")


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
    spread: Spread = in_threads,
    progress: Progress | None = None,
) -> Agreement:
    """Measure how far the annotators of ``corpus`` agree on the spans of each scheme.

    ``rules`` are match rules beside exact and overlap, which are always measured. ``bootstrap`` is
    the number of resamples of items (0: no intervals; a million at most). ``measures`` are
    coefficients that are made on request: cohen, scott, fleiss, alpha_u, gamma. ``spread`` is where
    the blocks of a large corpus are counted: no figure depends on it. Offsets and lengths are code
    points. What has no value is an ``Estimate`` with its reason. Raises UsageError: a rule, scheme,
    token unit or choice that does not exist.

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
    if isinstance(schemes, str):
        raise UsageError(f"schemes are {schemes!r}: give a list of them.")
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
            layer.scheme: _measure_scheme(
                corpus, layer, settings, audit=audit, spread=spread, progress=progress
            )
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
    for name, listed in (("rules", rules), ("measures", measures)):
        if isinstance(listed, str):
            raise UsageError(f"{name} are {listed!r}: give a list of them.")
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
        if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
            raise UsageError(f"{name} is {number!r}: it is a whole number from {least} on.")
    if bootstrap > MOST_RESAMPLES:
        raise UsageError(f"bootstrap is {bootstrap:,}: it is at most {MOST_RESAMPLES:,}.")
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
    corpus: Corpus,
    layer: Layer,
    settings: Settings,
    *,
    audit: bool,
    spread: Spread,
    progress: Progress | None,
) -> SchemeAgreement:
    def tell(stage: str) -> None:
        if progress is not None:
            progress(f"{layer.scheme}: {stage}")

    ground = _ground(layer, settings)
    comparisons, weights = ground.comparisons, ground.weights
    tallies = join(_counted(count_block, layer, settings, spread, tell))
    tell("figures")
    # The F1s of all pairs take one core, all else another.
    with ThreadPoolExecutor(max_workers=1) as second:
        all_f1 = second.submit(_all_f1, layer, tallies.counts, ground)
        return SchemeAgreement(
            scheme=layer.scheme,
            corpus=_corpus_figures(layer, ground),
            token=token_figures(layer, tallies.tokens, ground, settings, audit=audit),
            unitizing=unitizing_figures(layer, tallies.units, weights),
            matched_labels=matched_labels(
                layer, comparisons, tallies.met, tallies.confusion, weights
            ),
            boundaries=boundaries(layer, tallies.offsets),
            disagreements=disagreement_table(layer, comparisons, tallies.disagreements),
            kinds=kind_counts(layer, comparisons, tallies.disagreements),
            annotators=_annotators(layer),
            drift=drift(layer, tallies.counts["exact_typed"], ground),
            sides=_sides(corpus, layer, settings, spread, tell),
            alpha_u=alpha_u_figures(layer, weights) if "alpha_u" in settings.measures else None,
            gamma=_gamma(layer, settings, weights, tell) if "gamma" in settings.measures else None,
            f1=all_f1.result(),
            lost=_lost(all_f1.result()),
        )


def _counted(
    count: Callable[[Settings, Block], Counted],
    layer: Layer,
    settings: Settings,
    spread: Spread,
    tell: Progress,
) -> list[Counted]:
    """What ``count`` gives of all blocks of the layer."""
    blocks = cut(layer)
    parts = []
    for part in spread(partial(count, settings), blocks):
        parts.append(part)
        tell(f"counted {len(parts)} of {len(blocks)}")
    return parts


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


def _all_f1(layer: Layer, counts: dict[str, Counts], ground: Ground) -> dict[str, F1Figures]:
    """Figures of all rules; those that match the layer's spans, and so count the same, together."""
    same = [name for name in counts if parse_rule(name.rsplit("_", 1)[0]).match in SPAN_RULES]
    figures = dict(
        zip(same, f1_figures([counts[name] for name in same], ground, layer.labels), strict=True)
    )
    # Terms and tokens are of a text: spans of items without one do not count to them.
    no_text = any(text is None for text in layer.unit_text)
    of_text = replace(ground, nothing=NO_TEXT) if no_text else ground
    for name, rule_counts in counts.items():
        if name not in figures:
            rule, _, typing = name.rpartition("_")
            # Untyped, a position is marked, whatever the label.
            unlabelled = typing == "untyped" and parse_rule(rule) in (CHARACTER, TOKEN)
            labels = () if unlabelled else layer.labels
            figures[name] = f1_figures([rule_counts], of_text, labels)[0]
    return {name: figures[name] for name in counts}


def _sides(
    corpus: Corpus, layer: Layer, settings: Settings, spread: Spread, tell: Progress
) -> tuple[Side, ...]:
    roles = dict(zip(corpus.annotators["annotator"], corpus.annotators["role"], strict=True))
    if all(role == "human" for role in roles.values()):
        return ()
    tell("systems and gold standards")
    everybody = make_layer(corpus, layer.scheme)
    counts = join_counts(_counted(count_rules, everybody, settings, spread, tell))
    return sides(counts, _ground(everybody, settings), roles, everybody.labels)


def _lost(f1: dict[str, F1Figures]) -> Lost:
    def loss(more: str | None, less: str) -> Estimate:
        after = f1[less].averages.mean_over_pairs
        if after.value is None:
            return Estimate(None, after.why, n=0, of=after.of)
        before = Estimate(1.0) if more is None else f1[more].averages.mean_over_pairs
        values = _under_all_weights(before) - _under_all_weights(after)
        return estimate(values, why="", n=after.n, of=after.of)

    return Lost(
        existence=loss(None, "overlap_untyped"),
        label=loss("overlap_untyped", "overlap_typed"),
        boundary=loss("overlap_typed", "exact_typed"),
    )


def _under_all_weights(figure: Estimate) -> Floats:
    """The value, then its replicates."""
    value = np.array([figure.value], dtype=np.float64)
    return value if figure.replicates is None else np.append(value, figure.replicates)


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
