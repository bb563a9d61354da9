"""Tables of what stands beside F1: coefficients, kinds of disagreement, confused labels, sides."""

from __future__ import annotations

from collections.abc import Iterator

from potato_iaa.measures.agreement import SchemeAgreement
from potato_iaa.measures.disagreements import KIND_COLUMNS, KINDS
from potato_iaa.measures.estimate import Estimate, records
from potato_iaa.measures.unitizing import UnitizingFigures
from potato_iaa.reporter.display import Column, Table, reasons
from potato_iaa.reporter.headline import HEADLINE, LOSSES
from potato_iaa.reporter.rounding import counted, interval_text, percent, value_text

KIND_MEANING = {
    "missed": "no overlapping span on the other side",
    "boundary": "same label, other offsets",
    "label": "same offsets, another label",
    "boundary+label": "overlapping, other offsets and another label",
    "split/merge": "one span against several: one row for each of them",
}
KAPPAS = {"cohen": "Cohen's kappa", "scott": "Scott's pi", "fleiss": "Fleiss' kappa"}
CODINGS = {
    "alpha": ("label", "the set of labels on the token"),
    "alpha_io_longest": ("io_longest", "the label of the longest span on it"),
    "alpha_bio": ("bio", "where that span begins, too"),
    "alpha_binary": ("binary", "marked or not"),
    "alpha_marked": ("marked", "label sets, on tokens that somebody marked"),
}


def coefficient_table(scheme: SchemeAgreement) -> Table:
    """The chance-corrected coefficients, and the agreement that token alpha corrects."""
    figures = tuple(_coefficients(scheme))
    return Table(
        "coefficients",
        f"Coefficients ({scheme.token.tokens:,} tokens, unit: {scheme.token.unit})",
        (
            Column("coefficient", number=False),
            Column("computed on", number=False, rank=3),
            Column("value"),
            Column("95 %"),
        ),
        tuple(
            (name, meaning, value_text(figure), interval_text(figure))
            for name, meaning, figure in figures
        ),
        reasons=reasons((name, figure) for name, _, figure in figures),
    )


def _coefficients(scheme: SchemeAgreement) -> Iterator[tuple[str, str, Estimate]]:
    token, matched = scheme.token, scheme.matched_labels
    for key, (coding, meaning) in CODINGS.items():
        yield f"token alpha, {coding}", meaning, getattr(token, key)
    yield "observed agreement", "tokens with the same set of labels", token.observed_agreement
    yield "chance agreement", "the shares of the sets of labels", token.chance_agreement
    yield from _unitizing(scheme.unitizing, "")
    if scheme.unitizing.flattened:
        yield from _unitizing(scheme.unitizing.flattened, ", flattened")
    yield "alpha, matched labels", "labels of overlapping matched spans", matched.alpha
    for name, codings in token.kappas.items():
        for coding, figure in codings.items():
            if isinstance(figure, Estimate):
                yield f"{KAPPAS[name]}, {coding}", "tokens of items that all passed", figure
            else:
                yield f"{KAPPAS[name]}, {coding}", "tokens, mean over pairs", figure.mean
    if scheme.alpha_u:
        yield "alpha_U (1995)", "units and gaps, mean over items", scheme.alpha_u.mean_over_items
    if scheme.gamma:
        yield "gamma", "alignment and labels, mean over items", scheme.gamma.mean_over_items
        yield "gamma-cat", "labels of aligned units, mean over items", scheme.gamma.gamma_cat


def _unitizing(figures: UnitizingFigures, suffix: str) -> Iterator[tuple[str, str, Estimate]]:
    covered = figures.cu_alpha.coverage
    share = "" if covered is None else f" ({percent(covered)} of the text)"
    yield f"u alpha{suffix}", "units and gaps with their labels", figures.u_alpha
    yield f"binary u alpha{suffix}", "unit or gap", figures.binary_u_alpha
    yield f"cu alpha{suffix}", f"where units intersect{share}", figures.cu_alpha.alpha


def confusion_table(scheme: SchemeAgreement, *, limit: int) -> Table | None:
    """Labels that met on matched spans and differ, most often first."""
    confusion = scheme.matched_labels.confusion
    differing = confusion[confusion["label_a"] != confusion["label_b"]]
    ordered = differing.sort_values(
        ["spans", "label_a", "label_b"], ascending=[False, True, True], ignore_index=True
    )
    if not len(ordered):
        return None
    matches = scheme.matched_labels.matches
    return Table(
        "confusion",
        f"Labels confused on {counted(matches, 'matched span')}, most often first",
        (Column("label", number=False), Column("label", number=False), Column("times")),
        tuple(
            (row["label_a"], row["label_b"], f"{row['spans']:,}")
            for row in records(ordered.head(limit))
        ),
        left_out=max(len(ordered) - limit, 0),
    )


def loss_table(scheme: SchemeAgreement) -> Table:
    """What is lost on existence, on labels, on boundaries."""
    rows = []
    for name, meaning in LOSSES.items():
        loss = getattr(scheme.lost, name)
        rows.append((name, value_text(loss), interval_text(loss), meaning))
    return Table(
        "lost",
        "What is missing to full agreement",
        (Column("lost on", number=False), Column("F1"), Column("95 %"), Column("", number=False)),
        tuple(rows),
    )


def kind_table(scheme: SchemeAgreement) -> Table:
    """Disagreements by kind."""
    by_pair = scheme.kinds["pair"]
    counts = [int(by_pair[column].sum()) for column in KIND_COLUMNS]
    return Table(
        "disagreements",
        f"{counted(sum(counts), 'disagreement')} over all pairs, by kind",
        (Column("kind", number=False), Column("number"), Column("meaning", number=False, rank=2)),
        tuple(
            (kind, f"{count:,}", KIND_MEANING[kind])
            for kind, count in zip(KINDS, counts, strict=True)
        ),
    )


def side_table(scheme: SchemeAgreement) -> Table | None:
    """Systems and gold standards with the humans beside the humans with each other."""
    if not scheme.sides:
        return None
    rows = []
    for side in scheme.sides:
        figure = side.rules[HEADLINE]
        rows.append(
            (
                side.annotator,
                side.role,
                value_text(figure.side),
                interval_text(figure.side),
                value_text(figure.humans),
                value_text(figure.difference),
                interval_text(figure.difference),
            )
        )
    return Table(
        "sides",
        "Systems and gold standards beside the humans",
        (
            Column("annotator", number=False),
            Column("role", number=False),
            Column("F1 with humans"),
            Column("95 %", rank=3),
            Column("humans", rank=2),
            Column("difference"),
            Column("95 %"),
        ),
        tuple(rows),
        reasons=reasons((side.annotator, side.rules[HEADLINE].side) for side in scheme.sides),
    )
