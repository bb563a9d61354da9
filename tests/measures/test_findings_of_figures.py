"""Where a sentence begins to be true: figures put in the place of those of a corpus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any

import pandas as pd
import pytest

from potato_iaa.measures.agreement import SchemeAgreement
from potato_iaa.measures.estimate import Estimate
from potato_iaa.measures.findings import Finding, findings, overlapping
from potato_iaa.measures.sides import Comparison, Side
from tests.corpora import corpus_of
from tests.measures.helpers import scheme_of
from tests.measures.test_findings import WORDS, X, items, said


@cache
def plain_scheme() -> SchemeAgreement:
    """Twelve items on which two agree: every finding about it is of what is put in its place."""
    return scheme_of(corpus_of(items(12, A=[X], B=[X]), texts=dict.fromkeys(items(12), WORDS)))


def with_headline(scheme: SchemeAgreement, headline: Estimate, **changed: Any) -> SchemeAgreement:
    figures = scheme.f1["exact_typed"]
    averages = replace(figures.averages, mean_over_pairs=headline)
    figures = replace(figures, averages=averages, **changed)
    return replace(scheme, f1=scheme.f1 | {"exact_typed": figures})


def with_losses(total: float, **losses: Estimate) -> SchemeAgreement:
    scheme = with_headline(plain_scheme(), Estimate(1 - total))
    return replace(scheme, lost=replace(scheme.lost, **losses))


def test_without_a_headline_there_is_one_warning() -> None:
    scheme = scheme_of(corpus_of({"d1": {"a": [(0, 3, "X")]}, "d2": {"b": []}}))
    assert findings(scheme) == (Finding("spans", "warning", "F1 has no value: no shared items."),)


def test_full_agreement_is_the_first_finding() -> None:
    text = "Nothing to fix: the annotators agree on every span."
    assert findings(plain_scheme())[0] == Finding("lost", "main", text)


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (0.25, "0.25"),
        (0.0075, "0.01"),
        (0.005, "0.01"),
        (0.0049, "0.005"),
        (0.0034, "0.003"),
        (0.00012, "0.0001"),
    ],
)
def test_a_small_loss_is_said_at_its_first_digit(loss: float, said: str) -> None:
    (sentence,) = said_of_losses(0.5, label=Estimate(loss))
    assert f"missing to full agreement, {said} is label: " in sentence
    (sentence,) = said_of_losses(loss, label=Estimate(0.5))
    assert sentence.startswith(f"Of the {said} missing")


def said_of_losses(total: float, **losses: Estimate) -> list[str]:
    return said(with_losses(total, **losses), "lost")


def test_of_equal_losses_the_first_is_existence_and_the_second_label() -> None:
    equal = {name: Estimate(0.1, low=0.0, high=0.2) for name in ("boundary", "label", "existence")}
    first, second = findings(with_losses(0.3, **equal))[:2]
    assert first == Finding(
        "lost",
        "main",
        "Of the 0.30 missing to full agreement, 0.10 is existence: annotators do not mark the same "
        "things. To fix it, say in the guidelines what is to be marked at all, with borderline "
        "examples.",
    )
    assert second == Finding(
        "lost",
        "main",
        "Label costs 0.10, and the intervals of existence and label overlap: there, annotators "
        "mark the same places and name them differently; sharpen what sets the labels apart, "
        "beginning with the pairs most often confused.",
    )


@pytest.mark.parametrize(
    ("second", "named"),
    [
        (Estimate(0.1, low=0.0, high=0.3), True),
        (Estimate(0.1, low=0.0, high=0.2), True),  # they share the one value .2
        (Estimate(0.1, low=0.0, high=0.19), False),
        (Estimate(0.1), True),  # without an interval the two cannot be told apart
        (Estimate(0.1, low=0.0), True),
        (Estimate(0.1, high=0.1), True),
        (Estimate(0.005, low=0.0, high=0.3), False),
        (Estimate(0.0051, low=0.0, high=0.3), True),
        (Estimate(None, "no"), False),
    ],
)
def test_a_second_loss_is_named_where_it_counts_and_the_intervals_share_a_value(
    second: Estimate, named: bool
) -> None:
    first = Estimate(0.3, low=0.2, high=0.4)
    found = said_of_losses(0.4, boundary=first, label=second)
    assert len(found) == 1 + named
    assert found[0] == (
        "Of the 0.40 missing to full agreement, 0.30 is boundary: annotators mean the same spans "
        "and cut them differently. To fix it, settle what belongs inside a span: titles, articles, "
        "punctuation, whole phrase or head."
    )


@pytest.mark.parametrize(("a", "b"), [((0.0, 0.2), (0.2, 0.4)), ((0.1, 0.2), (0.0, 0.3))])
def test_intervals_overlap_whichever_is_named_first(
    a: tuple[float, float], b: tuple[float, float]
) -> None:
    one, other = (Estimate(0.1, low=low, high=high) for low, high in (a, b))
    assert overlapping(one, other)
    assert overlapping(other, one)
    apart = Estimate(0.9, low=0.5, high=0.9)
    assert not overlapping(one, apart)
    assert not overlapping(apart, one)


RESTS = (
    "rests on the tokens outside all spans, on which it is easy to agree: 60% of the token values "
    "are O. Over the tokens that somebody marked it is 0.64, which errs on the other side."
)
ABOVE = (
    "is above span F1 (0.00): annotators share most of the tokens of spans that they cut or count "
    "differently."
)
BELOW = "is below span F1 (0.06): it takes chance off, and spans count in it by their length."
SAME = "and span F1 tell the same story"


@pytest.mark.parametrize(
    ("alpha", "headline", "marked", "outside", "told"),
    [
        (0.80, 0.80, 0.64, 0.6, RESTS),
        (0.15, 0.15, 0.00, 0.6, SAME),  # .15 above alpha of the marked tokens, and no more
        (0.80, 0.80, 0.66, 0.6, SAME),
        (0.80, 0.80, 0.64, 0.5, SAME),
        (0.80, 0.80, None, 0.6, SAME),
        (0.06, 0.00, 0.06, 0.6, ABOVE),
        (0.05, 0.00, 0.05, 0.6, SAME),
        (0.00, 0.05, 0.00, 0.6, SAME),
        (0.00, 0.06, 0.00, 0.6, BELOW),
    ],
)
def test_token_alpha_is_held_against_f1_from_a_distance_of_a_twentieth_on(
    alpha: float, headline: float, marked: float | None, outside: float, told: str
) -> None:
    scheme = with_headline(plain_scheme(), Estimate(headline))
    token = replace(
        scheme.token,
        alpha=Estimate(alpha),
        alpha_marked=Estimate(marked),
        label_shares={"O": outside, "X": 1 - outside},
    )
    over_marked = "" if marked is None else f"; over the marked tokens it is {marked:.2f}"
    if told == SAME:
        told += f"{over_marked}."
    weight = "note" if told.startswith(SAME) else "main"
    first, *_ = [one for one in findings(replace(scheme, token=token)) if one.topic == "tokens"]
    assert first == Finding("tokens", weight, f"Token alpha ({alpha:.2f}) {told}")


def test_token_alpha_without_a_value_is_a_note_with_its_reason() -> None:
    token = replace(plain_scheme().token, alpha=Estimate(None, "no variation"))
    found = [one for one in findings(replace(plain_scheme(), token=token)) if one.topic == "tokens"]
    assert found == [Finding("tokens", "note", "Token alpha has no value: no variation.")]


def test_where_no_token_is_outside_the_spans_alpha_does_not_rest_on_them() -> None:
    scheme = with_headline(plain_scheme(), Estimate(0.8))
    token = replace(
        scheme.token, alpha=Estimate(0.8), alpha_marked=Estimate(0.5), label_shares={"X": 1.0}
    )
    assert SAME in said(replace(scheme, token=token), "tokens")[0]


@pytest.mark.parametrize(
    ("beyond", "told"),
    [
        (0.25, "so what is reached is 25% of the way from chance to full agreement."),
        (0.0, "so what is reached is 0% of the way from chance to full agreement."),
        (-0.25, "so they agree no better than chance would have it."),
        (None, None),
    ],
)
def test_what_is_reached_beyond_chance_is_a_share_of_the_way(
    beyond: float | None, told: str | None
) -> None:
    token = replace(plain_scheme().token, beyond_chance=Estimate(beyond))
    scheme = replace(plain_scheme(), token=token)
    _, *found = [finding for finding in findings(scheme) if finding.topic == "tokens"]
    # One token of eight is marked: (1/8)² + (7/8)² by chance.
    text = (
        "Annotators agree on 100.0% of the tokens; with these label shares 78.1% would agree by "
        f"chance, {told}"
    )
    assert found == ([Finding("tokens", "note", text)] if told else [])


def with_labels(headline: float, shared: int = 12, **f1s: Estimate) -> list[Finding]:
    scheme = plain_scheme()
    averages = scheme.f1["exact_typed"].averages
    labels = {label: replace(averages, mean_over_pairs=f1) for label, f1 in f1s.items()}
    scheme = with_headline(scheme, Estimate(headline), labels=labels)
    scheme = replace(scheme, corpus=replace(scheme.corpus, items_shared=shared))
    return [finding for finding in findings(scheme) if finding.topic == "labels"]


def up_to(high: float, value: float | None = None) -> Estimate:
    return Estimate(value, low=0.0, high=high)


def test_the_three_lowest_of_the_labels_that_stand_out_are_named() -> None:
    found = with_labels(
        0.8,
        D=up_to(0.7, 0.4),
        A=up_to(0.8, 0.3),  # reaches the headline
        C=up_to(0.7, 0.2),
        E=up_to(0.7, 0.2),
        B=up_to(0.7, 0.3),
        N=Estimate(0.1),
    )
    assert found == [
        Finding(
            "labels",
            "main",
            f"Label “{label}” stands out: F1 {f1}, below the headline by more than its interval.",
        )
        for label, f1 in (("C", "0.20"), ("E", "0.20"), ("B", "0.30"))
    ]


def test_a_label_without_a_value_in_the_corpus_itself_stands_out_as_0() -> None:
    (found,) = with_labels(0.8, A=up_to(0.5))
    assert "F1 0.00" in found.text


@pytest.mark.parametrize(("shared", "count"), [(1, 0), (2, 1)])
def test_no_label_stands_out_by_the_resamples_of_a_single_item(shared: int, count: int) -> None:
    assert len(with_labels(0.8, shared, A=up_to(0.5, 0.4))) == count


def test_of_labels_confused_equally_often_the_first_are_named() -> None:
    scheme = plain_scheme()
    rows = [("X", "X", 5000), ("X", "Y", 20), ("Y", "Z", 1200), ("X", "Z", 1200)]
    confusion = pd.DataFrame(rows, columns=["label_a", "label_b", "spans"])
    matched = replace(scheme.matched_labels, confusion=confusion, matches=9000)
    found = findings(replace(scheme, matched_labels=matched))
    text = "Labels confused most often: “Y” and “Z”, on 1,200 of 9,000 matched pairs of spans."
    assert [one for one in found if one.topic == "labels"] == [Finding("labels", "note", text)]


def test_a_label_that_nobody_used_is_a_note() -> None:
    scheme = plain_scheme()
    corpus = replace(scheme.corpus, labels=("X", "Y"), label_spans=(12, 0))
    found = findings(replace(scheme, corpus=corpus))
    assert Finding("labels", "note", "Nobody used “Y”.") in found


def with_annotators(
    headline: float,
    f1s: dict[str, tuple[float, float]],
    without: Mapping[str, float] = MappingProxyType({}),
    **passes: int,
) -> list[Finding]:
    """``f1s``: value and upper bound of each annotator, all with 12 passes of one span unasked.

    The headline without one of them is 0.9 unless ``without`` says otherwise.
    """
    done = dict.fromkeys(f1s, 12) | passes
    table = pd.DataFrame(
        [
            {
                "annotator": who,
                "value": value,
                "low": 0.0,
                "high": high,
                "without": without.get(who, 0.9),
            }
            for who, (value, high) in f1s.items()
        ]
    )
    scheme = with_headline(plain_scheme(), Estimate(headline), annotators=table)
    own = pd.DataFrame(
        [{"annotator": who, "passes": count, "spans": count} for who, count in done.items()]
    )
    scheme = replace(scheme, annotators=own)
    return [finding for finding in findings(scheme) if finding.topic == "annotators"]


def costs_most(who: str, f1: str, without: str = "0.90") -> Finding:
    return Finding(
        "annotators",
        "main",
        f"“{who}” lowers the headline most (F1 {f1} with the others): without this annotator it "
        f"would be {without}.",
    )


def test_who_costs_the_headline_most_is_named_first() -> None:
    low = {"a": (0.0, 0.7), "b": (0.0, 0.7), "c": (0.1, 0.7)}
    found = with_annotators(0.8, low, without={"b": 0.95, "c": 0.92})
    assert found[0] == costs_most("b", "0.00", "0.95")
    assert found[1].text.endswith("too: “c” and “a”.")


def test_who_is_below_the_headline_beyond_the_interval_is_named_the_lowest_first() -> None:
    low = dict.fromkeys("fedc", (0.3, 0.7))
    found = with_annotators(0.8, {"a": (0.5, 0.8), "b": (0.1, 0.7), **low, "g": (0.9, 1.0)})
    assert found == [
        costs_most("b", "0.10"),
        Finding(
            "annotators",
            "main",
            "Below the headline beyond their intervals, too: “c”, “d”, “e” and 1 more.",
        ),
    ]


@pytest.mark.parametrize(
    ("low", "more"), [("bc", "“c”"), ("bcd", "“c” and “d”"), ("bcde", "“c”, “d” and “e”")]
)
def test_up_to_three_more_are_named(low: str, more: str) -> None:
    f1s = {"a": (0.9, 1.0), **dict.fromkeys(low, (0.3, 0.7)), "z": (0.8, 0.9)}
    (_, found) = with_annotators(0.8, f1s)
    assert found.text == f"Below the headline beyond their intervals, too: {more}."


def test_a_thousand_more_are_written_with_a_comma() -> None:
    (_, found) = with_annotators(0.8, {f"a{n:04}": (0.3, 0.7) for n in range(1004)})
    assert found.text.endswith(": “a0001”, “a0002”, “a0003” and 1,000 more.")


@pytest.mark.parametrize(("passes", "count"), [(9, 0), (10, 1)])
def test_nobody_stands_out_by_fewer_than_ten_items(passes: int, count: int) -> None:
    found = with_annotators(0.8, {"a": (0.9, 1.0), "b": (0.3, 0.7), "c": (0.9, 1.0)}, b=passes)
    assert found == [costs_most("b", "0.30")] * count


def test_of_two_nobody_agrees_least() -> None:
    assert with_annotators(0.8, {"a": (0.9, 1.0), "b": (0.3, 0.7)}) == []


@pytest.mark.parametrize("missing", ["high", "without"])
def test_nobody_stands_out_without_an_interval_or_without_others(missing: str) -> None:
    scheme = plain_scheme()
    row = {"value": 0.3, "low": 0.0, "high": 0.7, "without": 0.9, missing: None}
    table = pd.DataFrame([{"annotator": who} | row for who in "abc"])
    own = pd.DataFrame([{"annotator": who, "passes": 12, "spans": 12} for who in "abc"])
    scheme = with_headline(replace(scheme, annotators=own), Estimate(0.8), annotators=table)
    assert said(scheme, "annotators") == []


def rates(*counts: tuple[int, int]) -> list[Finding]:
    """What is said of annotators of so many spans on so many items."""
    scheme = plain_scheme()
    names = "abcdef"[: len(counts)]
    own = pd.DataFrame(
        [
            {"annotator": who, "passes": passes, "spans": spans}
            for who, (spans, passes) in zip(names, counts, strict=True)
        ]
    )
    row = {"value": 1.0, "low": 1.0, "high": 1.0, "without": 1.0}
    table = pd.DataFrame([{"annotator": who} | row for who in names])
    scheme = with_headline(replace(scheme, annotators=own), Estimate(0.8), annotators=table)
    return [finding for finding in findings(scheme) if finding.topic == "annotators"]


@pytest.mark.parametrize(
    ("counts", "said_of_c"),
    [
        (((20, 10), (20, 10), (40, 10)), None),
        (
            ((20, 10), (20, 10), (41, 10)),
            "more than twice as many spans per item as is usual here (4.1 against 2.0).",
        ),
        (((20, 10), (20, 10), (10, 10)), None),
        (
            ((20, 10), (20, 10), (9, 10)),
            "less than half as many spans per item as is usual here (0.9 against 2.0).",
        ),
        (
            ((20, 11), (20, 11), (41, 11)),
            "more than twice as many spans per item as is usual here (3.7 against 1.8).",
        ),
        (((0, 10), (0, 10), (9, 10)), None),  # usual is nothing at all
        (((18, 9), (100, 10), (10, 10)), None),  # two with ten items are too few to be usual
    ],
)
def test_how_much_somebody_marks_is_held_against_the_median(
    counts: tuple[tuple[int, int], ...], said_of_c: str | None
) -> None:
    expected = [Finding("annotators", "note", f"“c” marks {said_of_c}")] if said_of_c else []
    assert rates(*counts) == expected


@pytest.mark.parametrize(
    ("difference", "told"),
    [
        (Estimate(0.1), ""),
        (Estimate(0.1, low=0.05, high=0.2), ": more than humans do"),
        (Estimate(0.1, low=0.0, high=0.2), ": no difference beyond its interval"),
        (Estimate(-0.1, low=-0.2, high=0.0), ": no difference beyond its interval"),
        (Estimate(-0.1, low=-0.2, high=-0.05), ": less than humans do"),
    ],
)
def test_the_interval_of_the_difference_says_whether_a_system_differs(
    difference: Estimate, told: str
) -> None:
    figure = Comparison(humans=Estimate(0.6), side=Estimate(0.7), difference=difference)
    side = Side("S", "system", {"exact_typed": figure}, {}, None)
    found = [
        one for one in findings(replace(plain_scheme(), sides=(side,))) if one.topic == "sides"
    ]
    text = "“S” (system) agrees with the humans at F1 0.70, the humans with each other at 0.60"
    assert found == [Finding("sides", "main", f"{text}{told}.")]


@pytest.mark.parametrize("missing", ["humans", "side"])
def test_a_system_without_a_figure_is_passed_over(missing: str) -> None:
    values = {"humans": Estimate(0.6), "side": Estimate(0.7), missing: Estimate(None, "no")}
    without = Comparison(**values, difference=Estimate(None, "no"))
    known = Comparison(Estimate(0.6), Estimate(0.7), Estimate(0.1))
    sides = (
        Side("R", "system", {"exact_typed": without}, {}, None),
        Side("S", "system", {"exact_typed": known}, {}, None),
    )
    (sentence,) = said(replace(plain_scheme(), sides=sides), "sides")
    assert sentence.startswith("“S”")


def precision(shared: int, headline: Estimate) -> list[Finding]:
    scheme = with_headline(plain_scheme(), headline)
    scheme = replace(scheme, corpus=replace(scheme.corpus, items_shared=shared, items=1234))
    return [finding for finding in findings(scheme) if finding.topic == "precision"]


@pytest.mark.parametrize(
    ("low", "high", "between"),
    [
        (0.0, 0.03, "0.00 and 0.03"),
        (0.0, 0.029, "0.000 and 0.029"),
        (-0.0, 0.0125, "0.000 and 0.013"),
        (0.5, 0.75, "0.50 and 0.75"),
        (0.5, 0.52, "0.500 and 0.520"),
    ],
)
def test_the_bounds_of_a_narrow_interval_have_a_third_decimal(
    low: float, high: float, between: str
) -> None:
    assert precision(500, Estimate(0.1, low=low, high=high)) == [
        Finding(
            "precision",
            "note",
            f"500 shared items leave the headline between {between}; about 2,000 would halve that "
            "interval.",
        )
    ]


def test_a_single_item_leaves_the_headline_in_its_interval() -> None:
    first, _ = precision(1, Estimate(0.6, low=0.5, high=0.75))
    assert first.text == (
        "1 shared item leaves the headline between 0.50 and 0.75; about 4 would halve that "
        "interval."
    )


@pytest.mark.parametrize("headline", [Estimate(0.5), Estimate(0.5, low=0.5, high=0.5)])
def test_without_an_interval_of_any_width_nothing_is_said_of_it(headline: Estimate) -> None:
    assert precision(10, headline) == []


@pytest.mark.parametrize(
    ("shared", "low", "told", "of_intervals"),
    [
        (9, 0.5, "9 items were", "the intervals are too narrow and "),
        (2, 0.5, "2 items were", "the intervals are too narrow and "),
        (
            1,
            0.5,
            "1 item was",
            "every resample of it is the same, so that intervals mean nothing, and ",
        ),
        (9, None, "9 items were", ""),
    ],
)
def test_few_items_make_intervals_too_narrow(
    shared: int, low: float | None, told: str, of_intervals: str
) -> None:
    text = (
        f"Only {told} read by two or more annotators, of 1,234: {of_intervals}the figures may "
        "change with a few more."
    )
    found = precision(shared, Estimate(0.5, low=low, high=low))
    assert found == [Finding("precision", "warning", text)]


def warned(**changed: Any) -> list[Finding]:
    """What is said where figures of the corpus, or of the tokens, are put in place of its own."""
    scheme = plain_scheme()
    of_corpus = {key: changed.pop(key) for key in list(changed) if hasattr(scheme.corpus, key)}
    scheme = replace(
        scheme,
        corpus=replace(scheme.corpus, **of_corpus),
        token=replace(scheme.token, **changed),
    )
    usual = findings(plain_scheme())
    return [finding for finding in findings(scheme) if finding not in usual]


HALF = (
    "Half of the pairs share no more than 2 items, and the mean over pairs counts each of them as "
    "much as a pair that shares many: quote the pooled F1 beside it, or set a minimum of shared "
    "items (--min-shared-items)."
)
NO_MEAN = "no item, and no mean counts them."
SETS = "several labels of one annotator: token alpha takes the set of labels as one value."
UNSEEN = "no token of unit word, which token alpha cannot see."
INSPECT = "see with inspect whether the offsets belong to these texts."


def sharing(pairs: int, among: int, median: float) -> dict[str, float]:
    return {"pairs": pairs, "pairs_sharing": among, "shared_items_median": median}


def cutting(cut: int, spans: int) -> dict[str, float]:
    return {"spans": spans, "spans_cutting_tokens": cut}


@pytest.mark.parametrize(
    ("changed", "topic", "weight", "text"),
    [
        (sharing(2, 2, 2.5), "pairs", "warning", HALF),
        (sharing(2, 2, 3.0), "", "", ""),
        (sharing(1, 1, 1.0), "", "", ""),
        (sharing(2, 0, 0.0), "pairs", "note", f"Of 2 pairs 2 share {NO_MEAN}"),
        (sharing(2000, 1000, 3.0), "pairs", "note", f"Of 2,000 pairs 1,000 share {NO_MEAN}"),
        (sharing(9, 8, 3.0), "pairs", "note", f"Of 9 pairs 1 shares {NO_MEAN}"),
        ({"multi_label_tokens": 1}, "tokens", "note", f"1 token carries {SETS}"),
        ({"multi_label_tokens": 2000}, "tokens", "note", f"2,000 tokens carry {SETS}"),
        ({"spans_without_tokens": 1}, "tokens", "warning", f"1 span touches {UNSEEN}"),
        ({"spans_without_tokens": 2000}, "tokens", "warning", f"2,000 spans touch {UNSEEN}"),
        (cutting(400, 2000), "", "", ""),
        (
            cutting(401, 2000),
            "spans",
            "warning",
            f"401 spans begin or end inside a word, of 2,000: {INSPECT}",
        ),
        (
            cutting(1, 1),
            "spans",
            "warning",
            f"1 span begins or ends inside a word, of 1: {INSPECT}",
        ),
    ],
)
def test_each_thing_to_be_careful_about_is_told(
    changed: dict[str, float], topic: str, weight: str, text: str
) -> None:
    told = [finding for finding in warned(**changed) if finding.topic != "precision"]
    assert told == ([Finding(topic, weight, text)] if text else [])


@pytest.mark.parametrize(
    ("spans", "told"), [(1, "Only 1 span was"), (19, "Only 19 spans were"), (20, None)]
)
def test_few_spans_are_a_warning(spans: int, told: str | None) -> None:
    text = (
        f"{told} marked in all: any one more would change the figures, whatever their intervals "
        "say."
    )
    assert warned(spans=spans) == ([Finding("precision", "warning", text)] if told else [])


def test_pairs_below_the_minimum_of_shared_items_are_told() -> None:
    marks = {f"d{n}": {"a": [(0, 3, "X")], "b": [(0, 3, "X")]} for n in range(12)}
    marks["d0"]["c"] = [(0, 3, "X")]
    text = "2 pairs share fewer items than the minimum, and no mean over pairs counts them."
    assert Finding("pairs", "note", text) in findings(
        scheme_of(corpus_of(marks), min_shared_items=2)
    )
    none = findings(scheme_of(corpus_of(marks), min_shared_items=13))
    text = "F1 has no value: no pair shares 13 items (the most that a pair shares is 12)."
    assert none == (Finding("spans", "warning", text),)
    many = {f"d{n}": {"a": [(0, 1, "X")], "b": []} for n in range(1000)}
    none = findings(scheme_of(corpus_of(many), min_shared_items=2000))
    assert none[0].text.endswith("(the most that a pair shares is 1,000).")


def test_a_single_pair_below_the_minimum_is_told() -> None:
    marks = {f"d{n}": {"a": [(0, 3, "X")], "b": [(0, 3, "X")]} for n in range(4)}
    marks["d0"]["c"] = [(0, 3, "X")]
    marks["d5"] = {"b": [(0, 3, "X")], "c": [(0, 3, "X")]}
    text = "1 pair shares fewer items than the minimum, and no mean over pairs counts them."
    told = findings(scheme_of(corpus_of(marks), min_shared_items=2))
    assert Finding("pairs", "note", text) in told


def test_where_more_is_split_than_missed_that_is_what_is_to_be_settled() -> None:
    whole, pieces = [(0, 20, "X")], [(4 * place, 4 * place + 3, "X") for place in range(5)]
    marks = {f"d{n:02}": {"a": whole, "b": pieces} for n in range(12)}
    scheme = scheme_of(corpus_of(marks))
    first = findings(scheme)[0]
    assert first.text.endswith(
        "existence: one annotator marks as several spans what another marks as one. To fix it, "
        "settle whether lists, names in a row and nested names are one span or several."
    )
    # One split span and none that is missed is enough.
    one = {"d1": {"a": [(0, 9, "X")], "b": [(0, 4, "X"), (5, 9, "X")]}}
    assert "marks as several spans" in findings(scheme_of(corpus_of(one)))[1].text
    # One piece is matched with the whole, the others are split from it; what c lacks is missed.
    missed = {item: by | {"c": []} for item, by in marks.items()}
    assert "do not mark the same things" in findings(scheme_of(corpus_of(missed)))[0].text


@pytest.mark.parametrize(
    ("count", "told"), [(0, None), (1, "In 1 comparison"), (1000, "In 1,000 comparisons")]
)
def test_comparisons_in_which_neither_marked_anything_are_counted(
    count: int, told: str | None
) -> None:
    scheme = with_headline(plain_scheme(), Estimate(1.0), both_empty=count)
    text = f"{told} of an item by two annotators neither marked anything."
    expected = [Finding("passes", "note", text)] if told else []
    assert [one for one in findings(scheme) if one.topic == "passes"] == expected
