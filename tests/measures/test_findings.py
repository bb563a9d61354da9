"""What the figures say in words: the right sentence for a situation, and none that is not true."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from potato_iaa import Corpus
from potato_iaa.measures.agreement import SchemeAgreement
from potato_iaa.measures.estimate import Estimate
from potato_iaa.measures.findings import Finding, findings, shown
from tests.corpora import Marks, Span, corpus_of
from tests.measures.helpers import scheme_of
from tests.measures.test_laws import Small, examples, small_corpora
from tests.measures.test_sides import corpus_with_roles

X, Y = (0, 4, "X"), (0, 4, "Y")
WORDS = "aaaa bbbb cccc dddd eeee ffff gggg hhhh"


def said(scheme: SchemeAgreement, topic: str = "") -> list[str]:
    return [finding.text for finding in findings(scheme) if topic in ("", finding.topic)]


def told(marks: Marks, topic: str = "", **options: Any) -> list[str]:
    """The sentences about a corpus whose texts are eight words of four letters."""
    making = {key: options.pop(key) for key in ("labels", "annotators") if key in options}
    corpus = corpus_of(marks, texts=dict.fromkeys(marks, WORDS), **making)
    return said(scheme_of(corpus, **{"bootstrap": 100, **options}), topic)


def items(count: int, **passes: list[Span] | None) -> dict[str, dict[str, list[Span] | None]]:
    return {f"d{position:03}": dict(passes) for position in range(count)}


def one(sentences: list[str], start: str) -> str:
    found = [sentence for sentence in sentences if sentence.startswith(start)]
    assert len(found) == 1, sentences
    return found[0]


# What costs most ----------------------------------------------------------------------------------


def test_full_agreement_leaves_nothing_to_fix() -> None:
    assert told(items(12, A=[X], B=[X]), "lost") == [
        "Nothing to fix: the annotators agree on every span."
    ]


def test_one_missed_span_in_hundreds_is_not_agreement_on_every_span() -> None:
    # 2·300/(300 + 301) = .998: one span of 301 is missed.
    many = items(300, A=[X], B=[X]) | {"e": {"A": [], "B": [X]}}
    assert not any("every span" in sentence for sentence in told(many, "lost", bootstrap=10))


@pytest.mark.parametrize(
    ("b", "loss", "remedy"),
    [
        pytest.param([], "existence", "what is to be marked at all", id="existence"),
        pytest.param([Y], "label", "what sets the labels apart", id="label"),
        pytest.param([(0, 9, "X")], "boundary", "what belongs inside a span", id="boundary"),
    ],
)
def test_the_greatest_loss_is_named_with_its_share_and_a_remedy(
    b: list[Span], loss: str, remedy: str
) -> None:
    # On 6 of 12 items B marks the same, on the others not: F1 is 2·6/(12 + 6) or 6/12.
    marks = items(6, A=[X], B=[X]) | {f"e{n}": {"A": [X], "B": b} for n in range(6)}
    total = "0.50" if b else "0.33"
    sentence = told(marks, "lost")[0]
    assert sentence.startswith(f"Of the {total} missing to full agreement, {total} is {loss}: ")
    assert remedy in sentence


def test_only_the_loss_that_there_is_is_named() -> None:
    marks = items(6, A=[X], B=[X]) | {f"e{n}": {"A": [X], "B": [Y]} for n in range(6)}
    assert len(told(marks, "lost")) == 1


def test_a_second_loss_is_named_where_the_intervals_do_not_tell_the_two_apart() -> None:
    marks = {f"d{n:02}": {"A": [X], "B": [[Y], [(0, 9, "X")], [X]][n % 3]} for n in range(15)}
    sentences = told(marks, "lost")
    assert len(sentences) == 2
    assert {"label", "boundary"} == {
        loss
        for loss in ("existence", "label", "boundary")
        if re.search(loss, " ".join(sentences), re.I)
    }
    assert re.search(
        "the intervals of (label and boundary|boundary and label) overlap", sentences[1]
    )


def test_a_second_loss_far_behind_is_not_named() -> None:
    marks = items(60, A=[X], B=[Y]) | {"e": {"A": [X], "B": [(0, 9, "X")]}}
    assert len(told(marks, "lost")) == 1


# Tokens -------------------------------------------------------------------------------------------


def test_token_alpha_far_above_alpha_of_marked_tokens_rests_on_o() -> None:
    # One word of eight is marked; half of the spans have one word too many.
    marks = {f"d{n:02}": {"A": [X], "B": [X if n % 2 else (0, 9, "X")]} for n in range(12)}
    scheme = scheme_of(corpus_of(marks, texts=dict.fromkeys(marks, WORDS)))
    alpha, marked = scheme.token.alpha.value, scheme.token.alpha_marked.value
    assert alpha is not None
    sentence = one(said(scheme, "tokens"), f"Token alpha ({alpha:.2f}) rests on the tokens outside")
    assert "are O" in sentence
    assert f"it is {marked:.2f}, which errs on the other side" in sentence


def test_token_alpha_above_f1_without_many_o_is_about_how_spans_are_cut() -> None:
    # Seven of eight words are marked by both, in one span or in two.
    whole, halves = [(0, 34, "X")], [(0, 19, "X"), (20, 34, "X")]
    sentences = told(items(12, A=whole, B=halves), "tokens")
    assert "spans that they cut or count differently" in one(
        sentences, "Token alpha (1.00) is above span F1 (0.00)"
    )


def test_token_alpha_below_f1_is_about_chance_and_length() -> None:
    marks = items(12, A=[X, (10, 39, "X")], B=[X]) | items(0)
    assert "takes chance off" in one(told(marks, "tokens"), "Token alpha")


def test_token_alpha_near_f1_tells_the_same_story() -> None:
    assert one(told(items(12, A=[X], B=[X]), "tokens"), "Token alpha").startswith(
        "Token alpha (1.00) and span F1 tell the same story"
    )


def test_an_alpha_over_marked_tokens_of_exactly_zero_is_said() -> None:
    scheme = scheme_of(corpus_of(items(12, A=[X], B=[X]), texts=dict.fromkeys(items(12), WORDS)))
    zero = replace(scheme, token=replace(scheme.token, alpha_marked=Estimate(0.0)))
    assert "that somebody marked it is 0.00" in one(said(zero, "tokens"), "Token alpha")


def test_token_alpha_without_a_value_says_why() -> None:
    # Everything is marked with one label by both: no variation.
    marks: Marks = {"d1": {"A": [(0, 39, "X")], "B": [(0, 39, "X")]}}
    assert told(marks, "tokens") == ["Token alpha has no value: no variation."]


def test_chance_agreement_stands_beside_observed_agreement() -> None:
    # Of 80 tokens A marks 10 and B 5 of them: they agree on 75. Shares 15/160 and 145/160.
    marks = {f"d{n:02}": {"A": [X], "B": [X] if n % 2 else []} for n in range(10)}
    chance = (15 / 160) ** 2 + (145 / 160) ** 2
    reached = (75 / 80 - chance) / (1 - chance)
    sentence = one(told(marks, "tokens"), "Annotators agree on 93.8% of the tokens")
    assert f"{chance:.1%} would agree by chance" in sentence
    assert f"{reached:.0%} of the way from chance to full agreement" in sentence


# Who and what stands out --------------------------------------------------------------------------


def test_a_label_below_the_headline_beyond_its_interval_stands_out() -> None:
    marks = items(40, A=[(5, 9, "good"), (0, 4, "bad")], B=[(5, 9, "good"), (10, 14, "bad")])
    marks |= {f"e{n}": {"A": [(0, 4, "good")], "B": [(0, 4, "good")]} for n in range(20)}
    assert told(marks, "labels") == [
        "Label “bad” stands out: F1 0.00, below the headline by more than its interval."
    ]


def test_without_intervals_no_label_stands_out() -> None:
    marks = items(10, A=[(5, 9, "good"), (0, 4, "bad")], B=[(5, 9, "good"), (10, 14, "bad")])
    assert told(marks, "labels", bootstrap=0) == []


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (("X", "Y"), "Nobody used “Y”."),
        (("X", "Y", "Z"), "Nobody used “Y” and “Z”."),
        (("W", "X", "Y", "Z"), "Nobody used “W”, “Y” and “Z”."),
    ],
)
def test_labels_that_nobody_used_are_listed(labels: tuple[str, ...], sentence: str) -> None:
    assert told(items(12, A=[X], B=[X]), "labels", labels=labels) == [sentence]


def test_an_annotator_below_the_headline_beyond_the_interval_stands_out() -> None:
    marks = items(20, A=[X], B=[X], C=[X], D=[(0, 9, "X")])
    # Three pairs at 1 and three at 0; without D all at 1.
    assert told(marks, "annotators") == [
        "“D” lowers the headline most (F1 0.00 with the others): without this annotator it would "
        "be 1.00."
    ]


def test_only_one_annotator_lowers_the_headline_most() -> None:
    marks = items(20, A=[X], B=[X], C=[X], D=[(0, 9, "X")], E=[(0, 14, "X")])
    sentences = told(marks, "annotators")
    assert sum("lowers the headline most" in sentence for sentence in sentences) == 1


def test_of_two_annotators_none_stands_out() -> None:
    assert told(items(20, A=[X], B=[(0, 9, "X")]), "annotators") == []


@pytest.mark.parametrize(
    ("spans", "said_of_d"),
    [
        ([X, (5, 9, "X"), (10, 14, "X")], "more than twice as many"),
        ([X, (5, 9, "X")], None),
    ],
)
def test_an_annotator_who_marks_far_more_than_usual_is_named(
    spans: list[Span], said_of_d: str | None
) -> None:
    found = [
        sentence
        for sentence in told(items(12, A=[X], B=[X], C=[X], D=spans), "annotators")
        if "as many spans" in sentence
    ]
    if said_of_d is None:
        assert found == []
    else:
        assert found == [
            f"“D” marks {said_of_d} spans per item as is usual here (3.0 against 1.0)."
        ]


def test_an_annotator_who_marks_nothing_is_the_first_to_look_at() -> None:
    marks = items(12, A=[X], B=[X], C=[X], D=[])
    # 1 + 1/12 spans per item, at one decimal.
    for who in "ABC":
        marks["d000"][who] = [X, (5, 9, "X")]
    found = findings(scheme_of(corpus_of(marks)))
    meant = "spans per item are usual: see whether this work is meant."
    text = f"“D” marked nothing in 12 passes, where 1.1 {meant}"
    assert Finding("annotators", "main", text) in [one for one in found if one.weight == "main"][:3]
    assert not any("less than half" in finding.text for finding in found)
    # Several of them are one finding.
    six = items(200, **{who: [X] if who < "U" else [] for who in "ABCDEFGUVWXYZ"})
    sentence = one(told(six, "annotators"), "“U”, “V”")
    assert sentence == f"“U”, “V”, “W” and 3 more marked nothing in 1,200 passes, where 1.0 {meant}"


def test_far_more_than_usual_is_told_where_little_is_usual() -> None:
    marks = items(12, A=[], B=[], C=[], D=[X])
    for item in ("d000", "d001", "d002"):
        marks[item] = {who: [X] for who in "ABCD"}
    sentence = one(told(marks, "annotators"), "“D” marks")
    assert "more than twice as many spans per item as is usual here (1.0 against 0.2)" in sentence


def test_an_annotator_who_marks_far_less_than_usual_is_named() -> None:
    spans: list[Span] = [X, (5, 9, "X"), (10, 14, "X")]
    sentences = told(items(12, A=spans, B=spans, C=spans, D=[X]), "annotators")
    assert (
        "“D” marks less than half as many spans per item as is usual here (1.0 against 3.0)."
        in (sentences)
    )


# How much there is --------------------------------------------------------------------------------


def test_the_interval_of_the_headline_is_told_with_what_would_halve_it() -> None:
    marks = items(6, A=[X], B=[X]) | {f"e{n}": {"A": [X], "B": [Y]} for n in range(6)}
    corpus = corpus_of(marks, texts=dict.fromkeys(marks, WORDS))
    scheme = scheme_of(corpus, bootstrap=100)
    headline = scheme.f1["exact_typed"].averages.mean_over_pairs
    assert said(scheme, "precision") == [
        f"12 shared items leave the headline between {headline.low:.2f} and {headline.high:.2f}; "
        "about 48 would halve that interval."
    ]


def test_few_items_are_a_warning() -> None:
    marks = items(3, A=[X], B=[X]) | {"e": {"A": [X]}, "f": {"A": [X]}}
    sentence = one(told(marks, "precision"), "Only 3 items")
    assert "read by two or more annotators" in sentence
    assert re.search(r"\b5\b", sentence)


def test_ten_items_are_no_warning() -> None:
    assert not [text for text in told(items(10, A=[X], B=[X])) if text.startswith("Only")]


@pytest.mark.parametrize(
    ("marks", "why"),
    [
        ({"d1": {"A": [X]}}, "only one annotator"),
        ({"d1": {"A": [X]}, "d2": {"B": [X]}}, "no shared items"),
        ({"d1": {"A": [], "B": []}}, "nothing marked by either"),
    ],
)
def test_a_headline_without_a_value_says_why_and_nothing_else(marks: Marks, why: str) -> None:
    assert told(marks) == [f"F1 has no value: {why}."]


def crowd(count: int) -> dict[str, dict[str, list[Span] | None]]:
    """Four annotators, each two of whom share ``count`` items."""
    pairs = ("AB", "AC", "AD", "BC", "BD", "CD")
    return {
        f"{pair}{position}": {who: [X] for who in pair}
        for pair in pairs
        for position in range(count)
    }


@pytest.mark.parametrize("count", [2, 3])
def test_a_crowd_that_shares_few_items_is_warned_about_the_mean_over_pairs(count: int) -> None:
    found = told(crowd(count), "pairs")
    if count < 3:
        assert f"{count} items" in one(found, "Half of the pairs share")
        assert "pooled F1" in found[0]
    else:
        assert found == []


def test_pairs_that_share_nothing_are_counted() -> None:
    marks = items(12, A=[X], B=[X]) | {"e": {"C": [X]}}
    (sentence,) = told(marks, "pairs")
    assert re.search(r"3 pairs 2 share no item|2 of 3 pairs share no item", sentence)


# Singular and plural ------------------------------------------------------------------------------

Situation = Callable[[int], dict[str, Any]]
ENOUGH = items(12, A=[X], B=[X])
COUNTED: dict[str, tuple[Situation, str, str]] = {
    # So many times; what one is said to do, what two are said to do.
    "tokens under several labels": (
        lambda count: ENOUGH | {f"e{n}": {"A": [X, Y], "B": []} for n in range(count)},
        "1 token carries",
        "2 tokens carry",
    ),
    "spans that touch no token": (
        lambda count: ENOUGH | {f"e{n}": {"A": [(4, 5, "X")], "B": []} for n in range(count)},
        "1 span touches",
        "2 spans touch",
    ),
    "comparisons in which neither marked anything": (
        lambda count: ENOUGH | {f"e{n}": {"A": [], "B": []} for n in range(count)},
        "In 1 comparison of an item",
        "In 2 comparisons of an item",
    ),
    "pairs that share nothing": (
        lambda count: ENOUGH | {"e": {"C": [X]} | ({"B": [X]} if count == 1 else {})},
        "1 shares no item",
        "2 share no item",
    ),
    "items that pairs share": (crowd, "1 item", "2 items"),
    "items that two read": (
        lambda count: items(count, A=[X], B=[X, Y]) | {"e": {"A": [X]}},
        "Only 1 item was",
        "Only 2 items were",
    ),
    "matched pairs of spans": (
        lambda count: items(count, A=[X], B=[Y]) | {"e": {"A": [], "B": [X]}},
        "on 1 of 1 matched pair",
        "on 2 of 2 matched pairs",
    ),
}
SEVERAL = (
    r"\b1 (tokens|spans|comparisons|pairs|items|matched pairs)\b|"
    r"\b1 (\w+ ){0,2}(carry|touch|share|leave|were|are)\b"
)


@pytest.mark.parametrize("situation", COUNTED)
def test_one_and_two_have_their_own_nouns_and_verbs(situation: str) -> None:
    made, one_does, two_do = COUNTED[situation]
    for count, does in ((1, one_does), (2, two_do)):
        sentences = told(made(count))
        assert [sentence for sentence in sentences if does in sentence], sentences
        for sentence in sentences:
            assert not re.search(SEVERAL, sentence), sentence


@pytest.mark.parametrize(
    ("situation", "several"),
    [("pairs that share nothing", r"\benter\b"), ("spans that touch no token", r"\bthey\b")],
)
def test_the_rest_of_a_sentence_about_one_is_about_one_too(situation: str, several: str) -> None:
    made, does, _ = COUNTED[situation]
    sentence = next(sentence for sentence in told(made(1)) if does in sentence)
    assert not re.search(several, sentence), sentence


# Two sides ----------------------------------------------------------------------------------------


def about_the_system(copies: str, **options: Any) -> list[str]:
    """A and B agree on every other item; the system says what one of them, or nobody, says."""
    marks = {
        f"d{n:02}": {
            "A": [X],
            "B": [X] if n % 2 else [(5, 9, "X")],
            "S": {"A": [X], "nobody": [(10, 14, "X")]}[copies],
        }
        for n in range(30)
    }
    corpus = corpus_with_roles(marks, {"S": "system"})
    return said(scheme_of(corpus, **{"bootstrap": 100, **options}), "sides")


@pytest.mark.parametrize(
    ("copies", "figure", "verdict"),
    [("A", "0.75", "more than humans do"), ("nobody", "0.00", "less than humans do")],
)
def test_a_system_is_held_against_the_humans_with_the_interval_of_the_difference(
    copies: str, figure: str, verdict: str
) -> None:
    found = about_the_system(copies)
    assert len(found) == 1
    assert re.search(rf"“S” \(system\).* {figure}.* 0\.50", found[0])
    assert verdict in found[0]


def test_without_an_interval_nothing_is_said_to_lie_within_it() -> None:
    # .75 against .50, and no resamples.
    assert not any("interval" in sentence for sentence in about_the_system("A", bootstrap=0))


def test_the_labels_confused_most_often_are_named() -> None:
    marks = items(12, A=[X, (5, 9, "Y")], B=[Y, (5, 9, "Y")]) | {
        "e": {"A": [(0, 4, "Y")], "B": [(0, 4, "Z")]}
    }
    sentence = one(told(marks, "labels"), "Labels confused most often")
    assert "“X” and “Y”" in sentence
    assert "12 of 25 matched pairs" in sentence


# Of all sentences ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "—"),
        (0.125, "0.12"),
        (1.0, "1.00"),
        (-0.0, "0.00"),
        (-0.25, "-0.25"),
        (-0.001, "0.00"),
    ],
)
def test_figures_have_two_decimals_and_no_negative_zero(value: float | None, text: str) -> None:
    assert shown(value) == text


@settings(examples, max_examples=12)
@given(small_corpora())
def test_every_finding_is_a_sentence_without_missing_values(small: Small) -> None:
    scheme = scheme_of(small.corpus(), bootstrap=10)
    found = findings(scheme)
    assert found
    for finding in found:
        assert finding.weight in ("main", "note", "warning")
        assert re.fullmatch(r"[A-Z0-9“].*\.", finding.text), finding.text
        assert not re.search(r"\b(nan|inf|None|n/a)\b|—|  ", finding.text), finding.text


def equals(people: str, common: int, own: int, **roles: str) -> SchemeAgreement:
    """Twelve items on which any two share ``common`` spans, and each has ``own`` beside them."""
    names = [f"d{number:02}" for number in range(12)]
    spans = [
        (item, who, 4 * place, 4 * place + 3, "X")
        for item in names
        for number, who in enumerate(people)
        for place in (*range(common), *range(common + own * number, common + own * (number + 1)))
    ]
    items = [(item, "abc " * 60) for item in names]
    return scheme_of(
        Corpus.from_tables(items=items, passes=[], spans=spans, roles=roles), bootstrap=30
    )


SHARES = [(7, 3), (9, 1), (5, 1), (3, 1), (1, 2)]


@pytest.mark.parametrize(("common", "own"), SHARES)
@pytest.mark.parametrize("people", ["ABC", "ABCD", "ABCDE", "ABCDEF"])
def test_nobody_stands_out_among_equals_by_the_noise_of_rounding(
    people: str, common: int, own: int
) -> None:
    assert not said(equals(people, common, own), "annotators")
    (sentence,) = said(equals(people, common, own, **{people[-1]: "system"}), "sides")
    assert sentence.endswith(": no difference beyond its interval.")


def test_no_verdict_is_given_on_f1() -> None:
    words = (
        r"\b(good|poor|fair|moderate|substantial|excellent|almost perfect|acceptable|reliable)\b"
    )
    for b in ([X], [Y], [(0, 9, "X")], []):
        assert not re.search(words, " ".join(told(items(12, A=[X], B=b))), re.IGNORECASE)
