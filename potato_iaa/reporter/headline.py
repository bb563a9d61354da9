"""The headline of a scheme, and the figures that stand beside it on one scale."""

from __future__ import annotations

from dataclasses import dataclass

from potato_iaa.measures.agreement import Agreement, SchemeAgreement
from potato_iaa.measures.estimate import Estimate
from potato_iaa.reporter.rounding import counted, rounded

HEADLINE = "exact_typed"
LOSSES = {
    "existence": "no span of the other for it",
    "label": "same place, another label",
    "boundary": "same label, other offsets",
}


@dataclass(frozen=True)
class Scaled:
    """A figure to draw on the common scale, and its name."""

    name: str
    estimate: Estimate


def headline(scheme: SchemeAgreement) -> Estimate:
    """F1 exact typed, mean over pairs."""
    return scheme.f1[HEADLINE].averages.mean_over_pairs


def title_parts(scheme: SchemeAgreement) -> tuple[str, ...]:
    """How much there was to measure."""
    corpus = scheme.corpus
    discontinuous = (
        f" ({corpus.discontinuous_spans:,} discontinuous)" if corpus.discontinuous_spans else ""
    )
    return (
        counted(len(corpus.annotators), "annotator"),
        f"{corpus.items_shared:,} of {counted(corpus.items, 'item')} shared",
        f"{counted(corpus.spans, 'span')}{discontinuous}",
        f"{counted(corpus.passes, 'pass', 'passes')} ({corpus.empty_passes:,} empty)"
        + (f", one per item and each of {corpus.fields:,} fields" if corpus.fields > 1 else ""),
    )


def spread_parts(scheme: SchemeAgreement) -> tuple[str, ...]:
    """What the headline averages, and how far the pairs lie apart."""
    averages = scheme.f1[HEADLINE].averages
    mean = averages.mean_over_pairs
    over = f"mean over {mean.n:,} of {counted(mean.of, 'pair')}"
    if mean.n < 2:
        return (over,)
    spread = f"min {rounded(averages.minimum)}, max {rounded(averages.maximum)}"
    return (over, f"SD {rounded(averages.sd)}", spread)


def interval_line(agreement: Agreement) -> str:
    """What the intervals are, or that there are none."""
    settings = agreement.settings
    if not settings.bootstrap:
        return "no intervals: the bootstrap was switched off"
    return (
        f"in brackets: 95 % intervals, percentile bootstrap over items, {settings.bootstrap:,} "
        f"resamples, seed {settings.seed}"
    )


def rule_name(key: str) -> str:
    """The words for the key of an F1.

    >>> rule_name("exact_typed"), rule_name("overlap(iou>=0.5)_untyped")
    ('F1 exact, typed', 'F1 overlap(iou>=0.5), untyped')
    """
    rule, typing = key.rsplit("_", 1)
    return f"F1 {rule}, {typing}"


def scaled_figures(scheme: SchemeAgreement) -> tuple[Scaled, ...]:
    """The four F1s, those of further rules, token alpha and u alpha, for one scale."""
    f1 = [
        Scaled(rule_name(key), figures.averages.mean_over_pairs)
        for key, figures in scheme.f1.items()
    ]
    unitizing = scheme.unitizing
    units = unitizing.flattened or unitizing
    flattened = ", flattened" if unitizing.flattened else ""
    return (
        *f1,
        Scaled("token alpha", scheme.token.alpha),
        Scaled(f"u alpha{flattened}", units.u_alpha),
    )


def audit_line(scheme: SchemeAgreement) -> str:
    """What the independent package recomputed."""
    audit = scheme.token.audit
    if audit is None:
        return "Token alpha was not audited: there is nothing that two annotators read."
    if not audit.items:
        return (
            "Token alpha was not audited: the krippendorff package would need more memory than "
            "is given to it for any one item."
        )
    return (
        f"Token alpha was recomputed by krippendorff {audit.version} on {audit.items:,} of "
        f"{counted(audit.of, 'shared item')}: {rounded(audit.package, 6)} there, "
        f"{rounded(audit.ours, 6)} here."
    )
