"""Tables of F1: by rule and average, label, annotator, pair and item."""

from __future__ import annotations

import pandas as pd

from potato_iaa.measures.agreement import SchemeAgreement
from potato_iaa.measures.estimate import Estimate, records
from potato_iaa.measures.f1 import F1Figures
from potato_iaa.measures.pairs import LEAST_ITEMS
from potato_iaa.reporter.display import Column, Table, ends, reasons
from potato_iaa.reporter.headline import HEADLINE, rule_name
from potato_iaa.reporter.rounding import UNDEFINED, interval_text, rounded, row_estimate, value_text

NO_PAIR_INTERVAL = (
    f"pairs that share fewer than {LEAST_ITEMS} items have no interval: too few to resample"
)


def averages_table(scheme: SchemeAgreement) -> Table:
    """Every rule in the three averages."""
    rows: list[tuple[str, ...]] = []
    named: list[tuple[str, Estimate]] = []
    for key, figures in scheme.f1.items():
        averages = figures.averages
        cells = [rule_name(key)]
        for estimate in (averages.mean_over_pairs, averages.pooled, averages.mean_over_items):
            named.append((rule_name(key), estimate))
            cells += [value_text(estimate), interval_text(estimate)]
        over = (averages.mean_over_pairs, averages.mean_over_items)
        counts = (f"{estimate.n:,}/{estimate.of:,}" for estimate in over)
        rows.append((*cells, rounded(averages.sd), *counts))
    return Table(
        "averages",
        "F1 by match rule and average",
        (
            Column("rule", number=False),
            Column("mean over pairs"),
            Column("95 %"),
            Column("pooled"),
            Column("95 %", rank=2),
            Column("mean over items"),
            Column("95 %", rank=2),
            Column("SD over pairs", rank=3),
            Column("pairs", rank=3),
            Column("items", rank=3),
        ),
        tuple(rows),
        reasons=reasons(named),
    )


def label_table(scheme: SchemeAgreement, *, limit: int) -> Table:
    """Labels, lowest exact F1 first."""
    spans = dict(zip(scheme.corpus.labels, scheme.corpus.label_spans, strict=True))
    exact, overlap = scheme.f1[HEADLINE].labels, scheme.f1["overlap_typed"].labels
    ordered = sorted(
        scheme.corpus.labels, key=lambda label: _lowest_first(exact[label].mean_over_pairs.value)
    )
    chosen, left_out = ends(ordered, limit)
    named: list[tuple[str, Estimate]] = []
    rows = []
    for label in chosen:
        figure, alpha = exact[label].mean_over_pairs, scheme.token.labels[label]
        named += [(label, figure), (label, alpha)]
        rows.append(
            (
                label,
                f"{spans[label]:,}",
                value_text(figure),
                interval_text(figure),
                value_text(overlap[label].mean_over_pairs),
                f"{figure.n}/{figure.of}",
                value_text(alpha),
                interval_text(alpha),
            )
        )
    return Table(
        "labels",
        "Labels, lowest F1 first",
        (
            Column("label", number=False),
            Column("spans"),
            Column("F1 exact"),
            Column("95 %"),
            Column("F1 overlap", rank=2),
            Column("pairs", rank=3),
            Column("token alpha", rank=2),
            Column("95 %", rank=3),
        ),
        tuple(rows),
        left_out,
        reasons(named),
        both_ends=True,
    )


def annotator_table(scheme: SchemeAgreement, *, limit: int) -> Table:
    """Annotators, lowest mean F1 with the others first."""
    figures = {row["annotator"]: row for row in records(scheme.f1[HEADLINE].annotators)}
    work = {row["annotator"]: row for row in records(scheme.annotators)}
    ordered = sorted(figures, key=lambda name: _lowest_first(figures[name]["value"]))
    chosen, left_out = ends(ordered, limit)
    named: list[tuple[str, Estimate]] = []
    rows = []
    for name in chosen:
        estimate = row_estimate(figures[name])
        named.append((name, estimate))
        rows.append(
            (
                name,
                f"{work[name]['passes']:,}",
                f"{work[name]['empty_passes']:,}",
                f"{work[name]['spans']:,}",
                rounded(work[name]["mean_length"], 1),
                value_text(estimate),
                interval_text(estimate),
                f"{figures[name]['n']}/{figures[name]['of']}",
                rounded(figures[name]["without"]),
            )
        )
    return Table(
        "annotators",
        "Annotators, lowest F1 with the others first",
        (
            Column("annotator", number=False),
            Column("passes", rank=2),
            Column("empty"),
            Column("spans"),
            Column("mean length", rank=3),
            Column("F1 exact"),
            Column("95 %"),
            Column("pairs", rank=3),
            Column("headline without", rank=2),
        ),
        tuple(rows),
        left_out,
        reasons(named),
        both_ends=True,
    )


def pair_table(scheme: SchemeAgreement, *, limit: int) -> Table:
    """Pairs of annotators, lowest F1 first; precision and recall with the first as reference."""
    table = scheme.f1[HEADLINE].pairs
    ordered = table.sort_values(["value", "a", "b"], na_position="last", ignore_index=True)
    chosen, left_out = ends(range(len(ordered)), limit)
    named: list[tuple[str, Estimate]] = []
    rows = []
    few = False
    for row in records(ordered.loc[list(chosen)]):
        estimate = row_estimate(row)
        few |= row["items"] < LEAST_ITEMS and estimate.value is not None
        named.append((f"{row['a']} and {row['b']}", estimate))
        rows.append(
            (
                row["a"],
                row["b"],
                f"{row['items']:,}",
                f"{row['n_a']:,}",
                f"{row['n_b']:,}",
                f"{row['tp']:,}",
                rounded(row["precision"]),
                rounded(row["recall"]),
                value_text(estimate),
                interval_text(estimate) or UNDEFINED,
            )
        )
    return Table(
        "pairs",
        "Pairs, lowest F1 first",
        (
            Column("a", number=False),
            Column("b", number=False),
            Column("items"),
            Column("spans a", rank=2),
            Column("spans b", rank=2),
            Column("matched", rank=2),
            Column("P of b", rank=3),
            Column("R of b", rank=3),
            Column("F1 exact"),
            Column("95 %"),
        ),
        tuple(rows),
        left_out,
        (*reasons(named), *([NO_PAIR_INTERVAL] if few else [])),
        both_ends=True,
    )


def item_table(figures: F1Figures, *, limit: int) -> Table:
    """The items on which annotators agree least: those with the lowest mean F1, longest first."""
    known = figures.items["value"].notna()
    table = figures.items[known]
    unknown = records(figures.items[~known])
    ordered = table.sort_values(
        ["value", "marked", "item"], ascending=[True, False, True], ignore_index=True
    )
    rows = [
        (row["item"], f"{row['pairs']:,}", f"{row['both_empty']:,}", rounded(row["value"]))
        for row in records(ordered.head(limit))
    ]
    return Table(
        "items",
        "Items, lowest mean F1 first",
        (
            Column("item", number=False),
            Column("pairs"),
            Column("both empty"),
            Column("F1 exact"),
        ),
        tuple(rows),
        left_out=max(len(table) - limit, 0),
        reasons=reasons((row["item"], Estimate(None, row["why"])) for row in unknown),
    )


def _lowest_first(value: float | None) -> tuple[bool, float]:
    return value is None or pd.isna(value), value or 0.0
