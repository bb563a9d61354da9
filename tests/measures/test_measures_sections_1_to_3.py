"""The definitions and edge conditions of measures.md, sections 1 to 3, one fact a test."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from potato_iaa import AnnotatorAgreementScenario
from potato_iaa.errors import UsageError
from potato_iaa.matcher import parse_rule
from tests.conformance.loading import worked
from tests.corpora import (
    NO_SHARED_ITEMS,
    NO_VARIATION,
    NOTHING_MARKED,
    ONE_ANNOTATOR,
    Figures,
    Marks,
    assert_undefined,
    assert_value,
    corpus_of,
    estimates,
    figures,
    figures_of,
    headline,
    number,
    pair_of,
    parts_corpus,
)

THRESHOLDS = (
    "overlap(iou>=0.25)",
    "overlap(iou>=0.5)",
    "overlap(iou>=0.75)",
    "overlap(dice>=0.5)",
    "overlap(containment>=0.5)",
    "overlap(containment>=1)",
)


# Section 1: pairwise F1 ---------------------------------------------------------------------------


def five_against_six() -> dict[str, dict[str, list[tuple[int, int, str]]]]:
    """A has 5 spans, B has 6, 4 are on both."""
    return {
        "d1": {
            "A": [(n, n + 1, "X") for n in range(5)],
            "B": [(n, n + 1, "X") for n in range(1, 7)],
        }
    }


def test_precision_recall_and_f1_of_four_shared_spans_among_five_and_six() -> None:
    row = pair_of(figures(five_against_six()), "A", "B")
    assert (row["tp"], row["n_a"], row["n_b"], row["items"]) == (4, 5, 6, 1)
    assert row["precision"] == pytest.approx(4 / 6)
    assert row["recall"] == pytest.approx(4 / 5)
    assert_value(row, 8 / 11)


def test_swapping_the_annotators_swaps_precision_and_recall_and_leaves_f1() -> None:
    marks = five_against_six()["d1"]
    row = pair_of(figures({"d1": {"A": marks["B"], "B": marks["A"]}}), "A", "B")
    assert row["precision"] == pytest.approx(4 / 5)
    assert row["recall"] == pytest.approx(4 / 6)
    assert_value(row, 8 / 11)


def test_the_first_name_is_the_reference_whoever_comes_first_in_the_data() -> None:
    marks = five_against_six()["d1"]
    row = pair_of(figures({"d1": {"B": marks["B"], "A": marks["A"]}}), "A", "B")
    assert (row["a"], row["b"], row["n_a"], row["n_b"]) == ("A", "B", 5, 6)


def test_one_side_empty_on_all_shared_items_is_zero_and_its_own_share_is_undefined() -> None:
    row = pair_of(figures({"d1": {"A": [], "B": [(0, 4, "X")]}}), "A", "B")
    assert_value(row, 0.0)
    assert row["precision"] == 0.0
    assert row["recall"] is None
    row = pair_of(figures({"d1": {"A": [(0, 4, "X")], "B": []}}), "A", "B")
    assert_value(row, 0.0)
    assert row["precision"] is None
    assert row["recall"] == 0.0


def test_both_empty_everywhere_is_undefined() -> None:
    scheme = figures({"d1": {"A": [], "B": []}, "d2": {"A": [], "B": []}})
    row = pair_of(scheme, "A", "B")
    assert_undefined(row, NOTHING_MARKED)
    assert (row["precision"], row["recall"]) == (None, None)
    for average in ("mean_over_pairs", "pooled", "mean_over_items"):
        assert_undefined(scheme["f1"]["exact_typed"][average], NOTHING_MARKED)
    for part in ("existence", "label", "boundary"):
        assert_undefined(scheme["lost"][part], NOTHING_MARKED)


def test_both_empty_everywhere_stays_undefined_for_pairs_when_it_counts_as_agreement() -> None:
    f1 = figures({"d1": {"A": [], "B": []}}, both_empty="agree")["f1"]["exact_typed"]
    assert_undefined(f1["mean_over_pairs"], NOTHING_MARKED)
    assert_undefined(f1["pooled"], NOTHING_MARKED)
    assert_value(f1["mean_over_items"], 1.0)


def test_no_shared_item_is_undefined_for_another_reason_and_the_pair_is_not_listed() -> None:
    scheme = figures({"d1": {"A": [(0, 1, "X")]}, "d2": {"B": [(0, 1, "X")]}})
    assert scheme["f1"]["exact_typed"]["pairs"] == []
    assert_undefined(headline(scheme), NO_SHARED_ITEMS)


def test_one_annotator_has_nobody_to_agree_with() -> None:
    scheme = figures({"d1": {"A": [(0, 1, "X")]}, "d2": {"A": []}})
    for average in ("mean_over_pairs", "pooled", "mean_over_items"):
        assert_undefined(scheme["f1"]["exact_typed"][average], ONE_ANNOTATOR)
    for part in ("existence", "label", "boundary"):
        assert_undefined(scheme["lost"][part], ONE_ANNOTATOR)
    for key in ("alpha", "alpha_bio", "alpha_binary", "alpha_io_longest", "alpha_marked"):
        assert_undefined(scheme["token"][key], ONE_ANNOTATOR)


def half_empty() -> dict[str, dict[str, list[tuple[int, int, str]]]]:
    return {
        "d1": {"A": [(0, 1, "X"), (1, 2, "X")], "B": [(0, 1, "X")]},
        "d2": {"A": [], "B": []},
    }


def test_an_item_both_left_empty_is_skipped_in_the_mean_over_items() -> None:
    f1 = figures(half_empty())["f1"]["exact_typed"]
    assert_value(f1["mean_over_items"], 2 / 3)
    assert (f1["mean_over_items"]["n"], f1["mean_over_items"]["of"]) == (1, 2)


def test_an_item_both_left_empty_counts_as_one_in_the_mean_over_items_on_request() -> None:
    f1 = figures(half_empty(), both_empty="agree")["f1"]["exact_typed"]
    assert_value(f1["mean_over_items"], (2 / 3 + 1) / 2)
    assert (f1["mean_over_items"]["n"], f1["mean_over_items"]["of"]) == (2, 2)


@pytest.mark.parametrize("both_empty", ["skip", "agree"])
def test_an_item_both_left_empty_adds_nothing_to_pooled_f1(both_empty: str) -> None:
    f1 = figures(half_empty(), both_empty=both_empty)["f1"]["exact_typed"]
    assert_value(f1["pooled"], 2 / 3)
    assert_value(f1["mean_over_pairs"], 2 / 3)


def test_identical_spans_of_a_pass_collapse_before_they_are_counted() -> None:
    corpus = corpus_of({"d1": {"A": [(0, 1, "X")] * 3, "B": [(0, 1, "X")]}})
    scheme = figures_of(corpus)
    row = pair_of(scheme, "A", "B")
    assert (row["tp"], row["n_a"], row["n_b"]) == (1, 1, 1)
    assert scheme["corpus"]["spans"] == 2
    assert corpus.ledger.totals()["set_aside"] == 2


def test_two_labels_on_the_same_offsets_stay_two_spans_when_labels_do_not_count() -> None:
    both = [(0, 3, "PER"), (0, 3, "ORG")]
    scheme = figures({"d1": {"A": both, "B": [(0, 3, "PER")]}})
    assert_value(headline(scheme, "exact_untyped"), 2 / 3)
    scheme = figures({"d1": {"A": both, "B": [(0, 3, "LOC"), (0, 3, "PER")]}})
    row = pair_of(scheme, "A", "B", "exact_untyped")
    assert (row["tp"], row["n_a"], row["n_b"]) == (2, 2, 2)
    assert pair_of(scheme, "A", "B", "exact_typed")["tp"] == 1


# (start, end) of A, of B; the similarities; what each threshold says. By definition.
SIMILARITY = [
    # |∩| = 5, |∪| = 10: iou .5, dice 2/3, containment 1
    ((0, 10), (0, 5), {"iou": 0.5, "dice": 2 / 3, "containment": 1.0}),
    # |∩| = 2, |∪| = 6: iou 1/3, dice .5, containment .5 (Potato's own partial-overlap test)
    ((0, 4), (2, 6), {"iou": 1 / 3, "dice": 0.5, "containment": 0.5}),
    # |∩| = 3, |∪| = 4: iou .75, dice 6/7, containment 1
    ((0, 4), (1, 4), {"iou": 0.75, "dice": 6 / 7, "containment": 1.0}),
    # |∩| = 1, |∪| = 7: iou 1/7, dice .25, containment .25
    ((0, 4), (3, 7), {"iou": 1 / 7, "dice": 0.25, "containment": 0.25}),
    # touching: nothing in common
    ((0, 5), (5, 9), {"iou": 0.0, "dice": 0.0, "containment": 0.0}),
]


@pytest.mark.parametrize("rule", THRESHOLDS)
@pytest.mark.parametrize(("a", "b", "similarity"), SIMILARITY)
def test_a_threshold_is_met_when_it_is_reached(
    rule: str, a: tuple[int, int], b: tuple[int, int], similarity: dict[str, float]
) -> None:
    name, _, threshold = rule.removeprefix("overlap(").removesuffix(")").partition(">=")
    scheme = figures({"d1": {"A": [(*a, "X")], "B": [(*b, "X")]}}, rules=(rule,))
    right = 1.0 if similarity[name] >= float(threshold) else 0.0
    assert_value(headline(scheme, f"{parse_rule(rule)}_typed"), right)


# k of n characters, where k/n is the threshold to the last bit and threshold·n is more than k.
@pytest.mark.parametrize(("k", "n"), [(7, 100), (14, 100), (28, 100), (55, 100), (56, 100)])
def test_a_threshold_is_reached_whatever_floating_point_makes_of_it(k: int, n: int) -> None:
    rule = f"overlap(iou>={k / n})"
    assert k / n * n > k
    scheme = figures({"d1": {"A": [(0, n, "X")], "B": [(0, k, "X")]}}, rules=(rule,))
    assert_value(headline(scheme, f"{parse_rule(rule)}_typed"), 1.0)


FINE_THRESHOLDS = ("overlap(iou>=0.3333333)", "overlap(iou>=0.00001)", "overlap(dice>=0.1234567)")


@pytest.mark.parametrize("text", ["exact", "overlap", *THRESHOLDS, *FINE_THRESHOLDS])
def test_a_rule_is_a_value_whose_text_parses_back(text: str) -> None:
    rule = parse_rule(text)
    assert parse_rule(str(rule)) == rule
    assert str(parse_rule(str(rule))) == str(rule)


def test_the_text_of_a_rule_is_the_one_that_was_read() -> None:
    for text in ("exact", "overlap", "overlap(iou>=0.5)", "overlap(dice>=0.5)"):
        assert str(parse_rule(text)) == text


@pytest.mark.parametrize(
    "text", ["", "exactly", "overlap(", "overlap(iou)", "overlap(jaccard>=0.5)"]
)
def test_a_rule_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_rule(text)


@pytest.mark.parametrize(
    "option", [{"rules": ("nearly",)}, {"token_unit": "syllable"}, {"both_empty": "maybe"}]
)
def test_an_option_that_does_not_exist_is_refused(option: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        figures({"d1": {"A": [(0, 1, "X")], "B": []}}, **option)


TEXTS = {"d1": "abcdefghij"}


def in_parts(a: list[tuple[int, int]], b: list[tuple[int, int]], **options: Any) -> Figures:
    return figures_of(parts_corpus({"d1": {"A": [("X", a)], "B": [("X", b)]}}, TEXTS), **options)


def test_exact_wants_the_same_parts() -> None:
    scheme = in_parts([(0, 2), (5, 8)], [(5, 8), (0, 2)])
    assert_value(headline(scheme), 1.0)
    assert (pair_of(scheme, "A", "B")["n_a"], pair_of(scheme, "A", "B")["n_b"]) == (1, 1)
    assert_value(headline(in_parts([(0, 2), (5, 8)], [(0, 8)])), 0.0)
    assert_value(headline(in_parts([(0, 2), (5, 8)], [(0, 2)])), 0.0)
    assert_value(headline(in_parts([(0, 2), (5, 8)], [(0, 3), (5, 8)])), 0.0)


def test_a_span_in_the_gap_of_another_does_not_overlap_it() -> None:
    assert_value(headline(in_parts([(0, 2), (5, 8)], [(2, 5)]), "overlap_typed"), 0.0)
    assert_value(headline(in_parts([(0, 2), (5, 8)], [(2, 6)]), "overlap_typed"), 1.0)
    assert_value(headline(in_parts([(0, 2), (5, 8)], [(2, 4), (8, 9)]), "overlap_typed"), 0.0)


def test_two_parts_that_meet_the_same_span_are_one_match() -> None:
    row = pair_of(in_parts([(0, 2), (5, 8)], [(0, 8)]), "A", "B", "overlap_typed")
    assert (row["tp"], row["n_a"], row["n_b"]) == (1, 1, 1)


def test_the_similarity_of_spans_in_parts_counts_their_characters() -> None:
    # |∩| = 5, |∪| = 8: iou .625; of the hulls it would be 1.
    rules = ("exact", "overlap", "overlap(iou>=0.5)", "overlap(iou>=0.75)")
    scheme = in_parts([(0, 2), (5, 8)], [(0, 8)], rules=rules)
    assert_value(headline(scheme, "overlap(iou>=0.5)_typed"), 1.0)
    assert_value(headline(scheme, "overlap(iou>=0.75)_typed"), 0.0)


def three_annotators() -> dict[str, dict[str, list[tuple[int, int, str]]]]:
    """A and B agree, C does not: F1 1, 0, 0."""
    same = [(0, 1, "X")]
    return {"d1": {"A": same, "B": same, "C": [(2, 3, "X")]}}


def test_the_headline_comes_with_population_sd_minimum_and_maximum_over_pairs() -> None:
    estimate = headline(figures(three_annotators()))
    assert_value(estimate, 1 / 3)
    assert estimate["sd"] == pytest.approx(math.sqrt(2) / 3)
    assert (estimate["min"], estimate["max"]) == (0.0, 1.0)
    assert (estimate["n"], estimate["of"]) == (3, 3)


def test_every_annotator_has_the_mean_of_the_f1_with_the_others() -> None:
    rows = figures(three_annotators())["f1"]["exact_typed"]["annotators"]
    by_name = {row["annotator"]: row for row in rows}
    assert list(by_name) == ["A", "B", "C"]
    for name, right in {"A": 0.5, "B": 0.5, "C": 0.0}.items():
        assert_value(by_name[name], right)
        assert (by_name[name]["n"], by_name[name]["of"]) == (2, 2)


def test_pairs_with_fewer_shared_items_than_asked_for_are_set_aside() -> None:
    marks = {
        "d1": {"A": [(0, 1, "X")], "B": [(0, 1, "X")], "C": [(2, 3, "X")]},
        "d2": {"A": [(0, 1, "X")], "B": [(1, 2, "X")]},
    }
    assert_value(headline(figures(marks)), (0.5 + 0 + 0) / 3)
    estimate = headline(figures(marks, min_shared_items=2))
    assert_value(estimate, 0.5)
    assert estimate["n"] == 1


def test_lost_agreement_is_split_into_existence_label_and_boundary() -> None:
    # Matched exactly, off in the boundary, off in the label, missed: one each of four.
    marks = {
        "d1": {
            "A": [(0, 2, "X"), (3, 6, "X"), (7, 9, "X"), (10, 12, "X")],
            "B": [(0, 2, "X"), (4, 6, "X"), (7, 9, "Y"), (13, 15, "X")],
        }
    }
    scheme = figures(marks)
    assert_value(headline(scheme, "exact_typed"), 0.25)
    assert_value(headline(scheme, "overlap_typed"), 0.5)
    assert_value(headline(scheme, "overlap_untyped"), 0.75)
    for part in ("existence", "label", "boundary"):
        assert_value(scheme["lost"][part], 0.25)


def test_a_bootstrap_gives_an_interval_that_the_seed_reproduces() -> None:
    marks = {
        f"d{n}": {"A": [(0, 1, "X"), (2, 3, "Y")], "B": [(0, 1 + n % 2, "X")]} for n in range(8)
    }
    first = headline(figures(marks, bootstrap=200, seed=7))
    again = headline(figures(marks, bootstrap=200, seed=7))
    assert first["low"] <= first["value"] <= first["high"]
    assert (first["low"], first["high"]) == (again["low"], again["high"])
    assert first["low"] < first["high"]


def test_without_a_bootstrap_there_is_no_interval() -> None:
    estimate = headline(figures(three_annotators()))
    assert estimate.get("low") is None
    assert estimate.get("high") is None


# Term lists: the same surface text in the same item, whatever the offsets.
TERM_TEXT = "Straße und STRASSE, New  York, new york, caf\u00e9, cafe\u0301, Rom."


def term(surface: str, label: str = "T") -> tuple[int, int, str]:
    start = TERM_TEXT.index(surface)
    return (start, start + len(surface), label)


@pytest.mark.parametrize(
    ("a", "b"),
    [("Straße", "STRASSE"), ("New  York", "new york"), ("caf\u00e9", "cafe\u0301")],
)
def test_terms_match_on_their_text_whatever_case_blanks_and_composition(a: str, b: str) -> None:
    scheme = figures(
        {"d1": {"A": [term(a)], "B": [term(b)]}}, texts={"d1": TERM_TEXT}, rules=("terms",)
    )
    assert_value(headline(scheme, "exact_typed"), 0.0)
    assert_value(headline(scheme, "terms_typed"), 1.0)


def test_a_term_list_is_a_set() -> None:
    scheme = figures(
        {"d1": {"A": [term("Straße"), term("STRASSE")], "B": [term("Straße"), term("Rom")]}},
        texts={"d1": TERM_TEXT},
        rules=("terms",),
    )
    row = pair_of(scheme, "A", "B", "terms_typed")
    assert (row["tp"], row["n_a"], row["n_b"]) == (1, 1, 2)


def test_terms_of_different_items_do_not_match() -> None:
    scheme = figures(
        {"d1": {"A": [(0, 3, "T")], "B": []}, "d2": {"A": [], "B": [(0, 3, "T")]}},
        texts={"d1": "Rom", "d2": "Rom"},
        rules=("terms",),
    )
    assert_value(headline(scheme, "terms_typed"), 0.0)


# Section 2: tokens --------------------------------------------------------------------------------


def token_figures(
    text: str, a: list[tuple[int, int, str]], b: list[tuple[int, int, str]], unit: str = "word"
) -> Figures:
    token: Figures = figures({"d1": {"A": a, "B": b}}, texts={"d1": text}, token_unit=unit)["token"]
    return token


# text, unit, number of tokens. Right values: by the definitions of section 2.
TOKEN_COUNTS = [
    ("Hello, world!", "word", 4),
    ("Hello, world!", "whitespace", 2),
    ("Hello, world!", "character", 13),
    ("Hello, world!", "regex", 4),
    ("  a \n b\t", "whitespace", 2),
    ("  a \n b\t", "character", 8),
    ("  a \n b\t", "word", 2),
    ("(again)", "word", 3),
    ("हिन्दी भाषा", "word", 2),
    ("السَّلامُ عليكم", "word", 2),
    ("น้ำ", "word", 1),
    ("cafe\u0301 e\u0301te\u0301", "word", 2),
    ("cafe\u0301", "character", 5),
    ("東京都", "word", 3),
    ("東京 Rome", "word", 3),
    ("東京 Rome", "regex", 2),
    ("東京 Rome", "whitespace", 2),
    ("हिन्दी", "regex", len(re.findall(r"\w+|[^\w\s]", "हिन्दी"))),
]


@pytest.mark.parametrize(("text", "unit", "expected"), TOKEN_COUNTS)
def test_tokens_of_a_text(text: str, unit: str, expected: int) -> None:
    token = token_figures(text, [(0, 1, "X")], [], unit)
    assert token["tokens"] == expected
    assert token["unit"] == unit


@pytest.mark.parametrize("unit", ["word", "whitespace", "character", "regex"])
@pytest.mark.parametrize("text", ["", " \n"])
def test_texts_without_a_token_leave_every_token_figure_undefined(text: str, unit: str) -> None:
    token = figures({"d1": {"A": [], "B": []}}, texts={"d1": text}, token_unit=unit)["token"]
    assert token["tokens"] == (len(text) if unit == "character" else 0)
    for key in ("alpha", "alpha_bio", "alpha_binary", "alpha_io_longest", "alpha_marked"):
        assert_undefined(token[key])


def test_a_corpus_that_nobody_read_has_no_figure_and_no_error() -> None:
    for _, estimate in estimates(figures({"d1": {"A": None}}, texts={"d1": "a b"})):
        assert_undefined(estimate)


def test_the_word_is_the_default_unit() -> None:
    scheme = figures({"d1": {"A": [(0, 1, "X")], "B": []}}, texts={"d1": "a, b"})
    assert scheme["token"]["unit"] == "word"
    assert scheme["token"]["tokens"] == 3


def test_a_token_belongs_to_a_span_that_shares_a_character_with_it() -> None:
    assert_value(
        token_figures("Berlin and Rome", [(0, 6, "LOC")], [(5, 6, "LOC")])["alpha"],
        1.0,
    )
    assert_value(
        token_figures("Berlin and Rome", [(0, 6, "LOC")], [(0, 7, "LOC")])["alpha"],
        1.0,
    )


def test_the_label_coding_takes_the_set_of_labels_on_a_token_for_one_value() -> None:
    # Kyoto: {LOC, ORG} against {ORG}; University: {ORG} on both. 2·1·3 / 4·3 = chance .5.
    token = token_figures(
        "Kyoto University", [(0, 16, "ORG"), (0, 5, "LOC")], [(0, 16, "ORG")], "word"
    )
    assert_value(token["alpha"], 0.0)
    assert_undefined(token["alpha_io_longest"], NO_VARIATION)
    assert_undefined(token["alpha_binary"], NO_VARIATION)
    assert_value(token["labels"]["LOC"], 0.0)
    assert_undefined(token["labels"]["ORG"], NO_VARIATION)
    assert token["multi_label_tokens"] == 1


def test_the_order_of_the_labels_on_a_token_does_not_matter() -> None:
    token = token_figures(
        "Kyoto University is",
        [(0, 16, "ORG"), (0, 5, "LOC")],
        [(0, 5, "LOC"), (0, 16, "ORG")],
    )
    assert_value(token["alpha"], 1.0)


def test_two_spans_of_one_label_on_a_token_are_not_two_labels() -> None:
    token = token_figures("Kyoto University", [(0, 16, "ORG"), (0, 5, "ORG")], [(0, 16, "ORG")])
    assert token["multi_label_tokens"] == 0


# "ab cd ef gh" with spans of A, of B that give the same codes token by token.
LONGEST = [
    # cd lies in two spans of five characters: the smaller start wins.
    ([(0, 5, "X"), (3, 8, "Y")], [(0, 5, "X"), (6, 8, "Y")]),
    # Same extent: the label decides.
    ([(0, 5, "Y"), (0, 5, "X")], [(0, 5, "X")]),
    # Longer beats earlier.
    ([(0, 4, "X"), (3, 8, "Y")], [(0, 2, "X"), (3, 8, "Y")]),
    # Nested: the outer one owns every token.
    ([(0, 8, "X"), (3, 5, "Y")], [(0, 8, "X")]),
]


@pytest.mark.parametrize(("a", "b"), LONGEST)
def test_the_longest_touching_span_owns_a_token(
    a: list[tuple[int, int, str]], b: list[tuple[int, int, str]]
) -> None:
    token = token_figures("ab cd ef gh", a, b)
    assert_value(token["alpha_io_longest"], 1.0)
    assert_value(token["alpha_bio"], 1.0)
    assert token["alpha"]["value"] < 1.0


def test_bio_starts_at_the_first_token_a_span_owns() -> None:
    # cd is lost to the span on its left, so the second one begins at ef in A's codes as in B's.
    token = token_figures("ab cd ef gh", [(0, 5, "X"), (3, 8, "X")], [(0, 5, "X"), (6, 8, "X")])
    assert_value(token["alpha_bio"], 1.0)


def test_bio_keeps_touching_spans_of_one_label_apart() -> None:
    token = token_figures("ab cd ef gh", [(0, 5, "X")], [(0, 2, "X"), (3, 5, "X")])
    assert_value(token["alpha"], 1.0)
    # B- twice, I- against B-, O twice: n = 8, n_B = 3, n_I = 1, n_O = 4.
    assert_value(token["alpha_bio"], 1 - 7 * 2 / (64 - 9 - 1 - 16))


def test_alpha_of_marked_tokens_leaves_out_what_nobody_marked() -> None:
    # a: X/O, b: X/X, eight times O/O.
    token = token_figures("a b c d e f g h i j", [(0, 3, "X")], [(2, 3, "X")])
    assert_value(token["alpha"], 1 - 19 * 2 / (2 * 3 * 17))
    assert_value(token["alpha_marked"], 1 - 3 * 2 / (2 * 3 * 1))


def test_a_missing_annotator_only_lowers_the_number_of_values_of_a_token() -> None:
    same = [(0, 1, "X")]
    marks: dict[str, dict[str, list[tuple[int, int, str]] | None]] = {
        "d1": {"A": same, "B": same, "C": same},
        "d2": {"A": same, "B": [], "C": None},
    }
    # d1: three X, one O each; d2: X/O, O/O. o_XO = o_OX = 1, n_X = 4, n_O = 6.
    token = figures(marks, texts={"d1": "a b", "d2": "a b"})["token"]
    assert_value(token["alpha"], 1 - 9 * 2 / (2 * 4 * 6))


def test_a_token_that_one_annotator_saw_is_dropped() -> None:
    shared = {"d1": {"A": [(0, 1, "X")], "B": [(0, 3, "X")]}}
    alone = {"d2": {"A": [(0, 1, "Y"), (2, 3, "Z")]}}
    texts = {"d1": "a b c", "d2": "a b c"}
    with_it = figures({**shared, **alone}, texts=texts)["token"]
    without = figures(shared, texts={"d1": "a b c"})["token"]
    for key in ("alpha", "alpha_bio", "alpha_binary", "alpha_io_longest", "alpha_marked"):
        assert_value(with_it[key], without[key]["value"])


def test_variation_in_an_unpairable_token_only_leaves_alpha_undefined() -> None:
    marks: Marks = {"d1": {"A": [], "B": []}, "d2": {"A": [(0, 1, "X")]}}
    token = figures(marks, texts={"d1": "a b", "d2": "a b"})["token"]
    for key in ("alpha", "alpha_bio", "alpha_binary", "alpha_io_longest"):
        assert_undefined(token[key], NO_VARIATION)
    assert_undefined(token["labels"]["X"], NO_VARIATION)


def test_no_variation_at_all_leaves_alpha_undefined() -> None:
    token = token_figures("a b", [(0, 3, "X")], [(0, 3, "X")])
    assert_undefined(token["alpha"], NO_VARIATION)
    assert_undefined(token["alpha_binary"], NO_VARIATION)
    # B-X and I-X vary.
    assert_value(token["alpha_bio"], 1.0)


def test_observed_agreement_shares_and_chance_stand_beside_alpha() -> None:
    # a: X/O, b: X/X, eight times O/O.
    token = token_figures("a b c d e f g h i j", [(0, 3, "X")], [(2, 3, "X")])
    assert number(token["observed_agreement"]) == pytest.approx(0.9)
    shares = {label: number(share) for label, share in token["label_shares"].items()}
    assert shares == pytest.approx({"O": 0.85, "X": 0.15})
    assert number(token["chance_agreement"]) == pytest.approx(0.85**2 + 0.15**2)


def test_a_label_called_o_is_a_label() -> None:
    token = token_figures("a b c d", [(0, 1, "O")], [])
    assert_value(token["alpha"], 0.0)
    assert_value(token_figures("a b c d", [(0, 1, "O")], [(0, 1, "O")])["alpha"], 1.0)


def test_a_label_with_a_plus_is_not_two_labels() -> None:
    marks: Marks = {"d1": {"A": [(0, 1, "X+Y")], "B": [(0, 1, "X"), (0, 1, "Y")]}}
    token = figures(marks, texts={"d1": "a b c d"})["token"]
    # a: X+Y against {X, Y}, b, c and d: O. n = 8, n_O = 6, the others 1 each.
    assert_value(token["alpha"], 1 - 7 * 2 / (64 - 36 - 1 - 1))


@pytest.mark.parametrize(
    ("a", "b"), [([(0, 1, "O")], []), ([(0, 1, "X+Y")], [(0, 1, "X"), (0, 1, "Y")])]
)
def test_label_shares_add_up_to_one_whatever_the_labels_are_called(
    a: list[tuple[int, int, str]], b: list[tuple[int, int, str]]
) -> None:
    token = token_figures("a b c d", a, b)
    assert sum(map(number, token["label_shares"].values())) == pytest.approx(1)


def test_every_undefined_figure_says_why() -> None:
    marks: Marks = {"d1": {"A": [], "B": [], "C": [(0, 1, "X")]}, "d2": {"A": [], "B": []}}
    for _, estimate in estimates(figures(marks, labels=["X", "Y"])):
        if estimate["value"] is None:
            assert_undefined(estimate)


# Section 3: chance agreement from class shares ----------------------------------------------------


def scenario(shares: list[float], **options: Any) -> AnnotatorAgreementScenario:
    return AnnotatorAgreementScenario(class_shares=shares, **options)


def numbers(shares: list[Any]) -> list[float]:
    """JSON has no NaN and no infinity: the cases spell them."""
    return [float(share) for share in shares]


CHANCE_CASES = worked("chance_cases")


@pytest.mark.parametrize(
    "entry", [entry for entry in CHANCE_CASES["chance"] if entry["chance"] is not None]
)
def test_chance_agreement_is_the_sum_of_the_squared_shares(entry: dict[str, Any]) -> None:
    made = scenario(numbers(entry["shares"]), independent_raters=True)
    assert made.chance_agreement == pytest.approx(entry["chance"], abs=1e-12)


@pytest.mark.parametrize(
    "entry", [entry for entry in CHANCE_CASES["chance"] if entry["chance"] is None]
)
def test_shares_that_are_no_shares_are_refused(entry: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="share"):
        _ = scenario(numbers(entry["shares"]), independent_raters=True).chance_agreement


@pytest.mark.parametrize("observed", [True, "0.5", [0.5], 0.5j])
def test_an_observed_agreement_that_is_no_number_is_not_in_range(observed: Any) -> None:
    with pytest.raises(ValueError, match=r"observed agreement .* is not a number"):
        scenario([0.5, 0.5], observed_agreement=observed)


SHARES_WITH_CHANCE = {0.82: [0.9, 0.1], 0.5: [0.5, 0.5], 1: [1.0]}


@pytest.mark.parametrize(
    "entry",
    [entry for entry in CHANCE_CASES["kappa"] if entry["chance"] in SHARES_WITH_CHANCE],
)
def test_kappa_sets_agreement_against_chance(entry: dict[str, Any]) -> None:
    shares = SHARES_WITH_CHANCE[entry["chance"]]
    observed = float(entry["agreement"])
    if entry["kappa"] is None:
        with pytest.raises(ValueError, match=r"(?i)observed|agreement|chance|kappa"):
            _ = scenario(shares, observed_agreement=observed).kappa
    else:
        made = scenario(shares, observed_agreement=observed)
        assert made.agreement == observed
        assert made.kappa == pytest.approx(entry["kappa"], abs=1e-12)


def test_ninety_to_ten_shares_make_eighty_five_percent_worth_a_sixth() -> None:
    made = scenario([0.9, 0.1], observed_agreement=0.85)
    assert made.chance_agreement == pytest.approx(0.82)
    assert made.kappa == pytest.approx(1 / 6)


def test_independent_raters_agree_by_chance_and_kappa_is_zero() -> None:
    made = scenario([0.9, 0.1], independent_raters=True)
    assert made.agreement == made.chance_agreement
    assert made.kappa == 0.0


def test_independent_raters_override_an_observed_agreement() -> None:
    made = scenario([0.9, 0.1], observed_agreement=0.85, independent_raters=True)
    assert made.agreement == made.chance_agreement
    assert made.kappa == 0.0


# What is wrong, and the word that says so in the message.
SCENARIO_ERRORS: list[tuple[list[float], dict[str, Any], str]] = [
    ([], {"observed_agreement": 0.5}, "empty|no .*share|at least one"),
    ([1.1, -0.1], {"observed_agreement": 0.5}, "negative"),
    ([math.nan, 0.5], {"observed_agreement": 0.5}, "nan|finite|not a number"),
    ([math.inf, -math.inf], {"observed_agreement": 0.5}, "infinit|finite|negative"),
    ([0.5, 0.4], {"observed_agreement": 0.5}, "sum|add up"),
    ([0.6, 0.6], {"observed_agreement": 0.5}, "sum|add up"),
    ([0.5, 0.5 + 2e-9], {"observed_agreement": 0.5}, "sum|add up"),
    ([0.9, 0.1], {}, "observed"),
    ([0.9, 0.1], {"observed_agreement": 1.2}, "observed"),
    ([0.9, 0.1], {"observed_agreement": -0.1}, "observed"),
    ([0.9, 0.1], {"observed_agreement": math.nan}, "observed"),
    ([1.0], {"observed_agreement": 1.0}, "chance|kappa"),
    ([1.0, 0.0], {"observed_agreement": 0.5}, "chance|kappa"),
    ([1.0], {"independent_raters": True}, "chance|kappa"),
]


@pytest.mark.parametrize(("shares", "options", "word"), SCENARIO_ERRORS)
def test_a_scenario_that_makes_no_sense_says_what_is_wrong(
    shares: list[float], options: dict[str, Any], word: str
) -> None:
    with pytest.raises(ValueError, match=f"(?i){word}"):
        _ = scenario(shares, **options).kappa


def test_a_scenario_keeps_shares_of_its_own() -> None:
    shares: list[float] = [1, 0]
    made = scenario(shares, observed_agreement=0.5)
    shares[:] = [0, 0]
    assert made.class_shares == (1.0, 0.0)
    assert made.chance_agreement == 1.0
    assert hash(made) == hash(scenario([1.0, 0.0], observed_agreement=0.5))


def test_shares_may_miss_one_by_a_rounding_error() -> None:
    made = scenario([0.1] * 10, observed_agreement=0.5)
    assert made.chance_agreement == pytest.approx(0.1)
    assert scenario([0.5, 0.5 + 5e-10], observed_agreement=0.5).kappa == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("observed", [0.0, 1.0])
def test_the_ends_of_the_range_are_in_it(observed: float) -> None:
    assert scenario([0.5, 0.5], observed_agreement=observed).kappa == 2 * observed - 1
