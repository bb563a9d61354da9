"""Findings: what the figures of a scheme say, in plain sentences, from the figures alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import pandas as pd

from potato_iaa.ledger import UNREADABLE
from potato_iaa.measures.agreement import Agreement, SchemeAgreement
from potato_iaa.measures.estimate import Estimate, below, records

FEW_ITEMS = 10
# Every resample of a single item is that item again.
LEAST_RESAMPLED = 2
CROWD_ITEMS = 3
NARROW = 0.03
# How far apart two figures are before a sentence tells them apart.
APART = 0.05
INFLATED = 0.15
# The share of lost spans from which on the headline comes with a warning.
LOST = 0.02
# The share of spans that cut tokens from which on the offsets are in doubt.
CUT = 0.2
COPY = "duplicate|copy"
FEW_SPANS = 20
LOSSES = ("existence", "label", "boundary")
REMEDY = {
    "existence": (
        "annotators do not mark the same things",
        "say in the guidelines what is to be marked at all, with borderline examples",
    ),
    "label": (
        "annotators mark the same places and name them differently",
        "sharpen what sets the labels apart, beginning with the pairs most often confused",
    ),
    "split": (
        "one annotator marks as several spans what another marks as one",
        "settle whether lists, names in a row and nested names are one span or several",
    ),
    "boundary": (
        "annotators mean the same spans and cut them differently",
        "settle what belongs inside a span: titles, articles, punctuation, whole phrase or head",
    ),
}


@dataclass(frozen=True)
class Finding:
    """One sentence about the figures: its ``topic``, and its ``weight``: main, note or warning."""

    topic: str
    weight: str
    text: str


def all_findings(agreement: Agreement, scheme: SchemeAgreement) -> tuple[Finding, ...]:
    """What the ledger and the figures of ``scheme`` say, the ledger first."""
    return (*_ledger(agreement, scheme), *findings(scheme))


def _ledger(agreement: Agreement, scheme: SchemeAgreement) -> Iterator[Finding]:
    """Spans that were lost on the way to the figures; copies of others are no loss.

    Spans of schemes that are not measured, such as misspelt ones, are told with every scheme.
    """
    ledger = agreement.ledger

    def own(table: pd.DataFrame) -> pd.DataFrame:
        elsewhere = table["scheme"].isin(list(agreement.schemes))
        return table[(table["scheme"] == scheme.scheme) | ~elsewhere]

    entries = own(ledger.entries)
    aside = entries[entries["outcome"] == "set_aside"]
    lost = aside[~aside["reason"].astype(str).str.contains(COPY, regex=True)]
    read = int(own(ledger.read)["read"].sum())
    if len(lost):
        reasons = list(lost["reason"].value_counts().items())[:3]
        told = "; ".join(f"{reason} ({count:,})" for reason, count in reasons)
        yield Finding(
            "ledger",
            "warning" if len(lost) > LOST * read else "note",
            f"{_counted(len(lost), 'span', 'is', 'are')} in no figure, of {read:,} read: {told}.",
        )
    if 2 * len(lost) > read:
        yield Finding(
            "ledger",
            "main",
            "Begin with the reading: most spans are in no figure, and what is said here of the "
            "annotators is said of the others alone. See with inspect what became of each.",
        )
    emptied = _emptied(lost, agreement, scheme)
    if emptied:
        yield Finding(
            "ledger",
            "warning",
            f"{'1 pass counts' if emptied == 1 else f'{emptied:,} passes count'} as empty only "
            "because no span there could be kept: what others marked there is disagreement.",
        )
    unreadable = ledger.left_out[ledger.left_out["what"] == UNREADABLE]
    if len(unreadable):
        names = [str(name) for name in unreadable["name"][:3]]
        yield Finding(
            "ledger",
            "warning",
            f"{_listed(names)} could not be read, and the figures are those of the others.",
        )


def _emptied(lost: pd.DataFrame, agreement: Agreement, scheme: SchemeAgreement) -> int:
    """How many passes that others face have no span left of those that were set aside."""
    if not len(lost):
        return 0
    spans = agreement.spans
    spans = spans[(spans["scheme"] == scheme.scheme).to_numpy()]
    of_those = spans[spans["item"].isin(lost["item"].unique()).to_numpy()]
    keys = ["item", "field", "annotator"]
    known = set(scheme.corpus.annotators)
    by_item = scheme.f1["exact_typed"].items
    shared = set(by_item.loc[by_item["pairs"] > 0, "item"].astype(str))
    lost_in = {key for key in _rows(lost[keys]) if key[0] in shared and key[2] in known}
    return len(lost_in - set(_rows(of_those[keys])))


def _rows(table: pd.DataFrame) -> list[tuple[str, ...]]:
    return [tuple(map(str, row)) for row in table.itertuples(index=False)]


def findings(scheme: SchemeAgreement) -> tuple[Finding, ...]:
    """What the figures of ``scheme`` say: what costs most, what inflates, what stands out.

    No verdict is given: F1 has no bands that anybody agrees on.
    """
    headline = scheme.f1["exact_typed"].averages.mean_over_pairs
    if headline.value is None:
        pairs = scheme.f1["exact_typed"].pairs
        items = pairs["items"][pairs["value"].notna()]
        most = f" (the most that a pair shares is {items.max():,})" if len(items) else ""
        return (Finding("spans", "warning", f"F1 has no value: {headline.why}{most}."),)
    return (
        *_lost(scheme, headline.value),
        *_annotators(scheme, headline),
        *_labels(scheme, headline),
        *_tokens(scheme, headline.value),
        *_sides(scheme),
        *_precision(scheme, headline),
        *_few_spans(scheme),
        *_warnings(scheme),
    )


def shown(value: float | None) -> str:
    """A figure at the two decimals that sentences carry."""
    return "—" if value is None else f"{round(value, 2) + 0.0:.2f}"


def _small(value: float) -> str:
    """A loss at two decimals, or, where those are nothing, at its first digit."""
    return shown(value) if value >= 0.005 else f"{value:.1g}"


def overlapping(one: Estimate, other: Estimate) -> bool:
    """Whether two intervals share a value; without intervals, nothing can be told apart."""
    if one.low is None or other.low is None or one.high is None or other.high is None:
        return True
    return not below(other.high, one.low) and not below(one.high, other.low)


def _lost(scheme: SchemeAgreement, headline: float) -> Iterator[Finding]:
    losses = {name: getattr(scheme.lost, name) for name in LOSSES}
    known = {name: loss for name, loss in losses.items() if loss.value is not None}
    total = 1 - headline
    if not known or total <= 1e-12:
        yield Finding("lost", "main", "Nothing to fix: the annotators agree on every span.")
        return
    ranked = sorted(known, key=lambda name: -(known[name].value or 0))
    first, second = ranked[0], ranked[1]
    what, remedy = _remedy(scheme, first)
    yield Finding(
        "lost",
        "main",
        f"Of the {_small(total)} missing to full agreement, {_small(known[first].value or 0)} is "
        f"{first}: {what}. To fix it, {remedy}.",
    )
    if (known[second].value or 0) > 0.005 and overlapping(known[first], known[second]):
        what, remedy = _remedy(scheme, second)
        yield Finding(
            "lost",
            "main",
            f"{second.capitalize()} costs {shown(known[second].value)}, and the intervals of "
            f"{first} and {second} overlap: there, {what}; {remedy}.",
        )


def _remedy(scheme: SchemeAgreement, loss: str) -> tuple[str, str]:
    """What a loss comes from, and what is to be done; a span without partner may be a split one."""
    kinds = scheme.disagreements["kind"].value_counts()
    split = kinds.get("split/merge", 0) > kinds.get("missed", 0)
    return REMEDY["split" if loss == "existence" and split else loss]


def _tokens(scheme: SchemeAgreement, headline: float) -> Iterator[Finding]:
    token = scheme.token
    if token.alpha.value is None:
        yield Finding("tokens", "note", f"Token alpha has no value: {token.alpha.why}.")
        return
    outside = token.label_shares.get("O", 0.0)
    gap = token.alpha.value - headline
    marked = token.alpha_marked.value
    figures = f"Token alpha ({shown(token.alpha.value)})"
    if marked is not None and outside > 0.5 and token.alpha.value - marked > INFLATED:
        yield Finding(
            "tokens",
            "main",
            f"{figures} rests on the tokens outside all spans, on which it is easy to agree: "
            f"{outside:.0%} of the token values are O. Over the tokens that somebody marked it is "
            f"{shown(marked)}, which errs on the other side.",
        )
    elif gap > APART:
        yield Finding(
            "tokens",
            "main",
            f"{figures} is above span F1 ({shown(headline)}): annotators share most of the tokens "
            "of spans that they cut or count differently.",
        )
    elif gap < -APART:
        yield Finding(
            "tokens",
            "main",
            f"{figures} is below span F1 ({shown(headline)}): it takes chance off, and spans count "
            "in it by their length.",
        )
    else:
        over_marked = "" if marked is None else f"; over the marked tokens it is {shown(marked)}"
        yield Finding("tokens", "note", f"{figures} and span F1 tell the same story{over_marked}.")
    if token.observed_agreement.value is not None and token.beyond_chance.value is not None:
        reached = (
            f"what is reached is {token.beyond_chance.value:.0%} of the way from chance to full "
            "agreement"
            if token.beyond_chance.value >= 0
            else "they agree no better than chance would have it"
        )
        yield Finding(
            "tokens",
            "note",
            f"Annotators agree on {token.observed_agreement.value:.1%} of the tokens; with these "
            f"label shares {token.chance_agreement.value:.1%} would agree by chance, so {reached}.",
        )


def _labels(scheme: SchemeAgreement, headline: Estimate) -> Iterator[Finding]:
    figures = scheme.f1["exact_typed"].labels
    low = [
        (averages.mean_over_pairs.value or 0.0, label)
        for label, averages in figures.items()
        if averages.mean_over_pairs.high is not None
        and headline.value is not None
        and scheme.corpus.items_shared >= LEAST_RESAMPLED
        and below(averages.mean_over_pairs.high, headline.value)
    ]
    for value, label in sorted(low)[:3]:
        yield Finding(
            "labels",
            "main",
            f"Label “{label}” stands out: F1 {shown(value)}, below the headline by more than its "
            "interval.",
        )
    confusion = scheme.matched_labels.confusion
    differing = confusion[confusion["label_a"] != confusion["label_b"]]
    if len(differing):
        most = records(differing.sort_values("spans", ascending=False, kind="stable").head(1))[0]
        yield Finding(
            "labels",
            "note",
            f"Labels confused most often: “{most['label_a']}” and “{most['label_b']}”, on "
            f"{most['spans']:,} of {_counted(scheme.matched_labels.matches, 'matched pair')} of "
            "spans.",
        )
    unused = [
        label
        for label, spans in zip(scheme.corpus.labels, scheme.corpus.label_spans, strict=True)
        if not spans
    ]
    if unused:
        yield Finding("labels", "note", f"Nobody used {_listed(unused)}.")


def _annotators(scheme: SchemeAgreement, headline: Estimate) -> Iterator[Finding]:
    table = scheme.f1["exact_typed"].annotators
    if len(table) < 3 or headline.value is None:
        return
    passes = dict(zip(scheme.annotators["annotator"], scheme.annotators["passes"], strict=True))
    apart = [
        row
        for row in records(table)
        if row["high"] is not None
        and row["without"] is not None
        and below(row["high"], headline.value)
        and passes[row["annotator"]] >= FEW_ITEMS
    ]
    # Who costs most first: of many who agree with nobody, some share more pairs than others.
    ranked = sorted(apart, key=lambda row: (-row["without"], row["value"], row["annotator"]))
    if ranked:
        first = ranked[0]
        yield Finding(
            "annotators",
            "main",
            f"“{first['annotator']}” lowers the headline most (F1 {shown(first['value'])} with the "
            f"others): without this annotator it would be {shown(first['without'])}.",
        )
    if len(ranked) > 1:
        names = [str(row["annotator"]) for row in ranked[1:]]
        yield Finding(
            "annotators",
            "main",
            f"Below the headline beyond their intervals, too: {_listed(names, 3)}.",
        )
    yield from _rates(scheme)


def _sides(scheme: SchemeAgreement) -> Iterator[Finding]:
    for side in scheme.sides:
        figure = side.rules["exact_typed"]
        if figure.side.value is None or figure.humans.value is None:
            continue
        away = figure.difference
        told = ""
        if away.low is not None:
            told = ": no difference beyond its interval"
        if away.low is not None and below(0, away.low):
            told = ": more than humans do"
        if away.high is not None and below(away.high, 0):
            told = ": less than humans do"
        yield Finding(
            "sides",
            "main",
            f"“{side.annotator}” ({side.role}) agrees with the humans at F1 "
            f"{shown(figure.side.value)}, the humans with each other at "
            f"{shown(figure.humans.value)}{told}.",
        )


def _rates(scheme: SchemeAgreement) -> Iterator[Finding]:
    rows = [row for row in records(scheme.annotators) if row["passes"] >= FEW_ITEMS]
    if len(rows) < 3:
        return
    rates = [row["spans"] / row["passes"] for row in rows]
    usual = median(rates)
    idle = [row for row in rows if usual and not row["spans"]]
    if idle:
        names = _listed([str(row["annotator"]) for row in idle], 3)
        passes = sum(row["passes"] for row in idle)
        yield Finding(
            "annotators",
            "main",
            f"{names} marked nothing in {passes:,} passes, where {usual:.1f} spans per item are "
            "usual: see whether this work is meant.",
        )
    for row, own in zip(rows, rates, strict=True):
        if own > 2 * usual > 0 or 0 < own < usual / 2:
            more = "more than twice" if own > usual else "less than half"
            yield Finding(
                "annotators",
                "note",
                f"“{row['annotator']}” marks {more} as many spans per item as is usual here "
                f"({own:.1f} against {usual:.1f}).",
            )


def _precision(scheme: SchemeAgreement, headline: Estimate) -> Iterator[Finding]:
    shared = scheme.corpus.items_shared
    if headline.low is not None and headline.high is not None and headline.high > headline.low:
        yield Finding(
            "precision",
            "note",
            f"{_counted(shared, 'shared item', 'leaves', 'leave')} the headline between "
            f"{_bound(headline.low, headline)} and {_bound(headline.high, headline)}; about "
            f"{4 * shared:,} would halve that interval.",
        )
    if shared < FEW_ITEMS:
        yield Finding(
            "precision",
            "warning",
            f"Only {_counted(shared, 'item', 'was', 'were')} read by two or more annotators, of "
            f"{scheme.corpus.items:,}: {_of_few(shared, headline)}the figures may change with a "
            "few more.",
        )


def _few_spans(scheme: SchemeAgreement) -> Iterator[Finding]:
    if scheme.corpus.spans < FEW_SPANS:
        yield Finding(
            "precision",
            "warning",
            f"Only {_counted(scheme.corpus.spans, 'span', 'was', 'were')} marked in all: any one "
            "more would change the figures, whatever their intervals say.",
        )


def _of_few(shared: int, headline: Estimate) -> str:
    """What few items do to the intervals, if there are any."""
    if headline.low is None:
        return ""
    if shared < LEAST_RESAMPLED:
        return "every resample of it is the same, so that intervals mean nothing, and "
    return "the intervals are too narrow and "


def _warnings(scheme: SchemeAgreement) -> Iterator[Finding]:
    corpus, token = scheme.corpus, scheme.token
    if corpus.pairs_sharing and corpus.shared_items_median < CROWD_ITEMS and corpus.pairs > 1:
        yield Finding(
            "pairs",
            "warning",
            f"Half of the pairs share no more than "
            f"{_counted(int(corpus.shared_items_median), 'item')}, and the mean over pairs counts "
            "each of them as much as a pair that shares many: quote the pooled F1 beside it, or "
            "set a minimum of shared items (--min-shared-items).",
        )
    pairs = scheme.f1["exact_typed"]
    uncounted = int(pairs.pairs["value"].notna().sum()) - pairs.averages.mean_over_pairs.n
    if uncounted > 0:
        yield Finding(
            "pairs",
            "note",
            f"{_counted(uncounted, 'pair', 'shares', 'share')} fewer items than the minimum, and "
            "no mean over pairs counts them.",
        )
    if corpus.pairs_sharing < corpus.pairs:
        yield Finding(
            "pairs",
            "note",
            f"Of {corpus.pairs:,} pairs "
            f"{_counted(corpus.pairs - corpus.pairs_sharing, '', 'shares', 'share')} no item, and "
            "no mean counts them.",
        )
    if token.multi_label_tokens:
        yield Finding(
            "tokens",
            "note",
            f"{_counted(token.multi_label_tokens, 'token', 'carries', 'carry')} several labels of "
            "one annotator: token alpha takes the set of labels as one value.",
        )
    if token.spans_without_tokens:
        yield Finding(
            "tokens",
            "warning",
            f"{_counted(token.spans_without_tokens, 'span', 'touches', 'touch')} no token of unit "
            f"{token.unit}, which token alpha cannot see.",
        )
    cutting = token.spans_cutting_tokens
    if cutting > CUT * corpus.spans:
        yield Finding(
            "spans",
            "warning",
            f"{_counted(cutting, 'span', 'begins or ends', 'begin or end')} inside a {token.unit}, "
            f"of {corpus.spans:,}: see with inspect whether the offsets belong to these texts.",
        )
    both_empty = scheme.f1["exact_typed"].both_empty
    if both_empty:
        yield Finding(
            "passes",
            "note",
            f"In {_counted(both_empty, 'comparison')} of an item by two annotators neither marked "
            "anything.",
        )


def _counted(number: int, thing: str, one: str = "", several: str = "") -> str:
    """A number with its noun and verb in the right number."""
    noun = thing if number == 1 or not thing else f"{thing}s"
    return " ".join(word for word in (f"{number:,}", noun, one if number == 1 else several) if word)


def _bound(value: float, interval: Estimate) -> str:
    """The bound of an interval at the digits that its width leaves apart."""
    width = (interval.high or 0) - (interval.low or 0)
    return f"{value + 0.0:.3f}" if width < NARROW else shown(value)


def _listed(names: list[str], most: int | None = None) -> str:
    """The names in quotes; the first ``most`` of them, and how many more there are."""
    quoted = [f"“{name}”" for name in names[:most]]
    if len(quoted) < len(names):
        quoted.append(f"{len(names) - len(quoted):,} more")
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
