"""Token figures: what is counted on the tokens of a run of items, and the coefficients of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from potato_iaa.arrays import Floats, Ints, present, stack
from potato_iaa.layer import Layer
from potato_iaa.matcher import Comparisons
from potato_iaa.measures.agreement import Settings, TokenFigures
from potato_iaa.measures.alpha import (
    beyond_chance,
    chance_agreement,
    label_alphas,
    nominal_alpha,
    observed_agreement,
    weighted,
)
from potato_iaa.measures.audit import audit_alpha
from potato_iaa.measures.bootstrap import estimate
from potato_iaa.measures.estimate import (
    NO_SHARED_ITEMS,
    NO_TEXT,
    NO_VARIATION,
    ONE_ANNOTATOR,
    Estimate,
)
from potato_iaa.measures.f1 import Ground
from potato_iaa.measures.kappa import (
    Judgements,
    PairKappas,
    join_judgements,
    judge,
    kappa_figures,
)
from potato_iaa.measures.tokens import (
    Coincidences,
    LabelCoincidences,
    Tokens,
    code_binary,
    code_bio,
    code_io_longest,
    code_label,
    coincide,
    coincide_labels,
    coincide_marked,
    join_coincidences,
    multi_label_tokens,
    spans_cutting_tokens,
)

CODINGS = {
    "label": code_label,
    "io_longest": code_io_longest,
    "bio": code_bio,
    "binary": code_binary,
}
KAPPAS = ("cohen", "scott", "fleiss")


@dataclass(frozen=True, eq=False)
class TokenCounts:
    """What the token coefficients are made of, for consecutive items.

    ``item_tokens``: int64 (items,). ``met``: coding → coincidences; ``marked``: those of label sets
    on the tokens that somebody marked; ``labels``: each label's own. ``judgements``: coding → by
    comparison, where kappas are wanted.
    """

    item_tokens: Ints
    multi_label_tokens: int
    spans_without_tokens: int
    spans_cutting_tokens: int
    met: dict[str, Coincidences]
    marked: Coincidences
    labels: LabelCoincidences
    judgements: dict[str, Judgements]


def count_tokens(
    layer: Layer, tokens: Tokens, comparisons: Comparisons, *, judged: bool
) -> TokenCounts:
    """Everything that is counted on the tokens of a layer; ``judged``: for kappas, too."""
    codings = {name: code(layer, tokens) for name, code in CODINGS.items()}
    return TokenCounts(
        item_tokens=np.bincount(layer.unit_item[tokens.unit], minlength=len(layer.items)),
        multi_label_tokens=multi_label_tokens(layer, tokens),
        spans_without_tokens=len(layer.span_pass) - len(present(tokens.mark_span)),
        spans_cutting_tokens=spans_cutting_tokens(layer, tokens),
        met={name: coincide(layer, tokens, coding) for name, coding in codings.items()},
        marked=coincide_marked(layer, tokens, codings["label"]),
        labels=coincide_labels(layer, tokens),
        judgements={
            name: judge(layer, tokens, coding, comparisons)
            for name, coding in codings.items()
            if judged
        },
    )


def join_token_counts(parts: Sequence[TokenCounts]) -> TokenCounts:
    """What was counted on several runs of items, one after the other."""
    return TokenCounts(
        item_tokens=np.concatenate([part.item_tokens for part in parts]),
        multi_label_tokens=sum(part.multi_label_tokens for part in parts),
        spans_without_tokens=sum(part.spans_without_tokens for part in parts),
        spans_cutting_tokens=sum(part.spans_cutting_tokens for part in parts),
        met={name: join_coincidences([part.met[name] for part in parts]) for name in CODINGS},
        marked=join_coincidences([part.marked for part in parts]),
        labels=stack([part.labels for part in parts]),
        judgements={
            name: join_judgements(
                [part.judgements[name] for part in parts],
                [part.met[name].scale for part in parts],
            )
            for name in parts[0].judgements
        },
    )


def token_figures(
    layer: Layer, counted: TokenCounts, ground: Ground, settings: Settings, *, audit: bool
) -> TokenFigures:
    """All coefficients on tokens; ``audit``: have the krippendorff package check alpha."""
    shared = len(present(ground.comparisons.item))
    tokens = int(counted.item_tokens.sum())
    why = ground.why if ground.why in (ONE_ANNOTATOR, NO_SHARED_ITEMS) else NO_VARIATION
    if not tokens and any(text is None for text in layer.unit_text):
        why = NO_TEXT

    def figure(values: Floats) -> Estimate:
        return estimate(values, why=why, n=shared, of=len(layer.items))

    def alpha(coincidences: Coincidences) -> Estimate:
        return figure(nominal_alpha(*weighted(coincidences, ground.weights)))

    coincidences = counted.met["label"]
    disagreement, values = weighted(coincidences, ground.weights)
    total = values[:, 0].sum()
    checked = audit and shared and tokens
    return TokenFigures(
        unit=settings.token_unit,
        tokens=tokens,
        multi_label_tokens=counted.multi_label_tokens,
        spans_without_tokens=counted.spans_without_tokens,
        spans_cutting_tokens=counted.spans_cutting_tokens,
        alpha=figure(nominal_alpha(disagreement, values)),
        alpha_io_longest=alpha(counted.met["io_longest"]),
        alpha_bio=alpha(counted.met["bio"]),
        alpha_binary=alpha(counted.met["binary"]),
        alpha_marked=alpha(counted.marked),
        labels={
            label: figure(values)
            for label, values in zip(
                layer.labels, label_alphas(counted.labels, ground.weights), strict=True
            )
        },
        observed_agreement=figure(observed_agreement(disagreement, values)),
        chance_agreement=figure(chance_agreement(values)),
        beyond_chance=figure(beyond_chance(disagreement, values)),
        label_shares={
            name: float(count / total)
            for name, count in zip(coincidences.scale.names, values[:, 0], strict=True)
            if total
        },
        audit=audit_alpha(
            layer, settings.token_unit, counted.item_tokens, coincidences, seed=settings.seed
        )
        if checked
        else None,
        kappas=_kappas(layer, counted, ground, settings),
    )


def _kappas(
    layer: Layer, counted: TokenCounts, ground: Ground, settings: Settings
) -> dict[str, dict[str, PairKappas | Estimate]]:
    figures = {
        name: kappa_figures(
            layer, judgements, counted.met[name], ground.comparisons, ground.weights
        )
        for name, judgements in counted.judgements.items()
    }
    return {
        name: {coding: getattr(figure, name) for coding, figure in figures.items()}
        for name in KAPPAS
        if name in settings.measures
    }
