"""Tables for the page alone: who used which label, who cuts wider, and questions on whole items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from potato_iaa.measures.agreement import Agreement, SchemeAgreement
from potato_iaa.measures.categorical import CategoricalFigures
from potato_iaa.measures.estimate import records
from potato_iaa.reporter.display import Column, Table, ends, reasons
from potato_iaa.reporter.rounding import UNDEFINED, interval_text, percent, rounded, value_text

MOST_LABELS = 12


def label_use_table(agreement: Agreement, scheme: SchemeAgreement, *, limit: int) -> Table:
    """How many spans of each label everybody marked; the most used labels where there are many."""
    corpus = scheme.corpus
    by_use = sorted(
        zip(corpus.labels, corpus.label_spans, strict=True), key=lambda used: (-used[1], used[0])
    )
    kept = {label for label, _ in by_use[:MOST_LABELS]}
    labels = [label for label in corpus.labels if label in kept]
    counts = _label_counts(agreement, scheme)
    passes = {row["annotator"]: row["passes"] for row in records(scheme.annotators)}
    totals = {name: sum(counts.get((name, label), 0) for label in corpus.labels) for name in passes}
    rate = {name: totals[name] / passes[name] if passes[name] else 0.0 for name in passes}
    everybody = sorted(passes, key=lambda name: (-rate[name], name))
    chosen, left_out = ends(everybody, limit)
    rows = tuple(
        (
            name,
            f"{totals[name]:,}",
            rounded(rate[name], 1),
            *(f"{counts.get((name, label), 0):,}" for label in labels),
        )
        for name in chosen
    )
    most = f", the {MOST_LABELS} most used of {len(corpus.labels)} labels"
    return Table(
        "annotators",
        f"Spans per annotator and label{most if len(labels) < len(corpus.labels) else ''}",
        (
            Column("annotator", number=False),
            Column("spans"),
            Column("per pass"),
            *(Column(label) for label in labels),
        ),
        tuple(rows),
        left_out,
        both_ends=True,
    )


def _label_counts(agreement: Agreement, scheme: SchemeAgreement) -> dict[tuple[str, str], int]:
    """The number of spans per annotator and label; a discontinuous span is one."""
    spans = agreement.spans[agreement.spans["scheme"] == scheme.scheme]
    whole = spans[~spans["part_of"].duplicated()]
    sizes = whole.groupby(["annotator", "label"], observed=True).size().reset_index(name="spans")
    return {(row["annotator"], row["label"]): row["spans"] for row in records(sizes)}


def tendency_table(scheme: SchemeAgreement, *, limit: int) -> Table | None:
    """How everybody's boundaries lie to those of the others, on matched spans."""
    table = scheme.boundaries.table
    if not len(table):
        return None
    sums = table.drop(columns=["label"]).groupby("annotator", sort=True).sum()
    lengths = {row["annotator"]: row["mean_length"] for row in records(scheme.annotators)}
    rows = [
        (
            row["annotator"],
            rounded(lengths.get(row["annotator"]), 1),
            f"{row['matches']:,}",
            *(
                percent(row[name] / row["matches"])
                for name in (
                    "both_exact",
                    "start_earlier",
                    "start_later",
                    "end_earlier",
                    "end_later",
                    "longer",
                    "shorter",
                )
            ),
        )
        for row in records(sums.reset_index())
    ]
    chosen, left_out = ends(rows, limit)
    return Table(
        "boundaries",
        "Boundaries of each annotator's spans against their matches",
        (
            Column("annotator", number=False),
            Column("mean length"),
            Column("matches"),
            Column("same"),
            Column("starts earlier"),
            Column("starts later"),
            Column("ends earlier"),
            Column("ends later"),
            Column("longer"),
            Column("shorter"),
        ),
        chosen,
        left_out,
        both_ends=True,
    )


def ledger_table(agreement: Agreement, *, limit: int) -> Table:
    """What became of the spans of each annotator."""
    rows = records(agreement.ledger.by_annotator_and_scheme())
    chosen, left_out = ends(rows, limit)
    columns = ("annotator", "scheme", "read", "kept", "repaired", "set_aside")
    return Table(
        "ledger",
        "Spans read, by annotator and scheme",
        tuple(
            Column(name.replace("_", " "), number=place > 1) for place, name in enumerate(columns)
        ),
        tuple(tuple(_cell(row[name]) for name in columns) for row in chosen),
        left_out,
        both_ends=True,
    )


def categorical_table(categorical: Mapping[str, CategoricalFigures]) -> Table | None:
    """Agreement on the questions about whole items."""
    if not categorical:
        return None
    named = [(name, figures.alpha) for name, figures in categorical.items()]
    return Table(
        "categorical",
        "Questions about whole items (Krippendorff's alpha)",
        (
            Column("question", number=False),
            Column("kind", number=False),
            Column("level", number=False),
            Column("items"),
            Column("alpha"),
            Column("95 %"),
            Column("observed"),
            Column("by chance"),
        ),
        tuple(
            (
                name,
                figures.kind,
                figures.level,
                f"{figures.items:,}",
                value_text(figures.alpha),
                interval_text(figures.alpha),
                value_text(figures.observed_agreement),
                value_text(figures.chance_agreement),
            )
            for name, figures in categorical.items()
        ),
        reasons=reasons(named),
    )


def _cell(value: Any) -> str:
    if value is None:
        return UNDEFINED
    return f"{value:,}" if isinstance(value, int) else str(value)
