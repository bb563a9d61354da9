"""measures.md, section 7: what others get wrong, one fact a test."""

from __future__ import annotations

import itertools
from typing import Any

import krippendorff
import numpy as np
import pytest

from potato_iaa.errors import InputError
from potato_iaa.matcher import parse_rule
from tests.conformance.loading import units_corpus, worked
from tests.corpora import (
    NO_SHARED_ITEMS,
    NO_VARIATION,
    NOTHING_MARKED,
    Figures,
    Marks,
    Span,
    assert_undefined,
    assert_value,
    corpus_of,
    estimates,
    figures,
    figures_of,
    headline,
    number,
    pair_of,
)


def one_item(a: list[Span], b: list[Span], **options: Any) -> Figures:
    return figures({"d1": {"A": a, "B": b}}, **options)


# 1 ------------------------------------------------------------------------------------------------


def test_1_items_that_one_annotator_left_empty_count_against_agreement() -> None:
    # Four spans by A, one of them by B too: 2·1 / (4 + 1). Leaving d2 and d3 out would give 1.0.
    x = (0, 1, "X")
    marks = {
        "d1": {"A": [x], "B": [x]},
        "d2": {"A": [x, (2, 3, "X")], "B": []},
        "d3": {"A": [x], "B": []},
    }
    scheme = figures(marks)
    assert_value(headline(scheme), 0.4)
    assert pair_of(scheme, "A", "B")["items"] == 3
    assert scheme["corpus"]["passes"] == 6
    assert scheme["corpus"]["empty_passes"] == 2


def test_1_items_that_one_annotator_did_not_do_do_not_count() -> None:
    x = (0, 1, "X")
    marks: Marks = {
        "d1": {"A": [x], "B": [x]},
        "d2": {"A": [x, (2, 3, "X")], "B": None},
        "d3": {"A": [x]},
    }
    scheme = figures(marks)
    assert_value(headline(scheme), 1.0)
    assert pair_of(scheme, "A", "B")["items"] == 1
    assert scheme["corpus"]["passes"] == 4
    assert scheme["corpus"]["empty_passes"] == 0
    assert scheme["corpus"]["items_shared"] == 1


# 2 ------------------------------------------------------------------------------------------------


def test_2_two_empty_annotators_are_undefined_and_do_not_poison_the_mean() -> None:
    scheme = figures({"d1": {"A": [], "B": [], "C": [(0, 1, "X")]}})
    assert_undefined(pair_of(scheme, "A", "B"), NOTHING_MARKED)
    assert_value(pair_of(scheme, "A", "C"), 0.0)
    assert_value(pair_of(scheme, "B", "C"), 0.0)
    estimate = headline(scheme)
    assert_value(estimate, 0.0)
    assert (estimate["n"], estimate["of"]) == (2, 3)


def test_2_an_annotators_mean_leaves_the_undefined_pair_out() -> None:
    x = [(0, 1, "X")]
    scheme = figures({"d1": {"A": [], "B": []}, "d2": {"B": x, "C": x}, "d3": {"A": x, "C": x}})
    rows = {row["annotator"]: row for row in scheme["f1"]["exact_typed"]["annotators"]}
    assert_value(rows["A"], 1.0)
    assert rows["A"]["n"] == 1
    assert_value(rows["C"], 1.0)
    assert rows["C"]["n"] == 2


# 3 ------------------------------------------------------------------------------------------------


def test_3_an_exact_partner_is_not_lost_to_an_overlapping_one_of_another_label() -> None:
    scheme = one_item([(1, 6, "B"), (10, 13, "A")], [(6, 12, "A"), (10, 13, "A")])
    assert_value(headline(scheme, "exact_typed"), 0.5)


@pytest.mark.parametrize("b", [[(0, 3, "y"), (0, 3, "x")], [(0, 3, "x"), (0, 3, "y")]])
def test_3_typed_overlap_finds_the_right_label_in_either_order(b: list[Span]) -> None:
    scheme = one_item([(0, 2, "x")], b)
    assert_value(headline(scheme, "overlap_typed"), 2 / 3)


# 4 ------------------------------------------------------------------------------------------------

FIRST = ([(0, 12, "X"), (6, 18, "X")], [(6, 12, "X"), (0, 5, "X")])
SECOND = (
    [(11, 17, "B"), (12, 16, "B"), (0, 3, "A"), (14, 18, "A")],
    [(17, 18, "A"), (14, 18, "B"), (16, 17, "B")],
)


@pytest.mark.parametrize("a", list(itertools.permutations(FIRST[0])))
@pytest.mark.parametrize("b", list(itertools.permutations(FIRST[1])))
def test_4_a_greedy_choice_is_not_a_maximum_matching(
    a: tuple[Span, ...], b: tuple[Span, ...]
) -> None:
    scheme = one_item(list(a), list(b))
    assert pair_of(scheme, "A", "B", "overlap_typed")["tp"] == 2
    assert_value(headline(scheme, "overlap_typed"), 1.0)


@pytest.mark.parametrize("a", list(itertools.permutations(SECOND[0]))[::5])
@pytest.mark.parametrize("b", list(itertools.permutations(SECOND[1])))
def test_4_neither_is_one_that_prefers_the_greatest_overlap(
    a: tuple[Span, ...], b: tuple[Span, ...]
) -> None:
    scheme = one_item(list(a), list(b))
    assert pair_of(scheme, "A", "B", "overlap_untyped")["tp"] == 3
    assert_value(headline(scheme, "overlap_untyped"), 6 / 7)


# 5 ------------------------------------------------------------------------------------------------


def test_5_one_span_against_its_two_halves_is_one_match() -> None:
    scheme = one_item([(0, 10, "X")], [(0, 5, "X"), (5, 10, "X")])
    assert pair_of(scheme, "A", "B", "overlap_typed")["tp"] == 1
    assert_value(headline(scheme, "overlap_typed"), 2 / 3)


def test_5_touching_spans_do_not_overlap() -> None:
    scheme = one_item([(0, 5, "X")], [(5, 9, "X")])
    assert_value(headline(scheme, "overlap_typed"), 0.0)
    assert_value(headline(scheme, "overlap_untyped"), 0.0)


def test_5_one_character_in_a_hundred_overlaps_but_not_at_half() -> None:
    rule = "overlap(iou>=0.5)"
    scheme = one_item([(0, 100, "X")], [(0, 1, "X")], rules=(rule,))
    assert_value(headline(scheme, "overlap_typed"), 1.0)
    assert_value(headline(scheme, f"{parse_rule(rule)}_typed"), 0.0)


# 6 ------------------------------------------------------------------------------------------------


def ten_people() -> Figures:
    """All ten mark the name, the first five of them its first-name overlay as well."""
    name, first = (0, 5, "name"), (0, 5, "name.first")
    return figures(
        {"d1": {f"p{n}": [name, first] if n < 5 else [name] for n in range(10)}},
        texts={"d1": "Alice met Bob"},
    )


@pytest.mark.parametrize("rule", ["exact_typed", "overlap_typed"])
def test_6_an_identical_overlay_does_not_halve_the_agreement_on_a_label(rule: str) -> None:
    labels = ten_people()["f1"][rule]["labels"]
    assert_value(labels["name"]["mean_over_pairs"], 1.0)
    assert_value(labels["name"]["pooled"], 1.0)
    overlay = labels["name.first"]["mean_over_pairs"]
    # 10 pairs of two who have it, 25 of one who has it and one who has not, 10 of neither.
    assert_value(overlay, 10 / 35)
    assert (overlay["n"], overlay["of"]) == (35, 45)


def test_6_an_identical_overlay_does_not_lower_the_tokens_of_a_label() -> None:
    token = ten_people()["token"]
    assert_value(token["labels"]["name"], 1.0)
    assert token["alpha"]["value"] < 1.0


# 7 ------------------------------------------------------------------------------------------------


def with_unused_label() -> Figures:
    x, z = (0, 1, "X"), (2, 3, "Z")
    return figures({"d1": {"A": [x, z], "B": [x]}}, texts={"d1": "a b c"}, labels=["X", "Y", "Z"])


def test_7_a_label_that_one_annotator_used_has_its_row() -> None:
    row = with_unused_label()["f1"]["exact_typed"]["labels"]["Z"]
    for average in ("mean_over_pairs", "pooled", "mean_over_items"):
        assert_value(row[average], 0.0)
    assert (row["mean_over_pairs"]["n"], row["mean_over_pairs"]["of"]) == (1, 1)


def test_7_a_label_that_nobody_used_is_undefined_with_n_zero() -> None:
    scheme = with_unused_label()
    assert list(scheme["corpus"]["labels"]) == ["X", "Y", "Z"]
    row = scheme["f1"]["exact_typed"]["labels"]["Y"]
    for average in ("mean_over_pairs", "pooled", "mean_over_items"):
        assert_undefined(row[average], NOTHING_MARKED)
    for mean in ("mean_over_pairs", "mean_over_items"):
        assert row[mean]["n"] == 0
    assert_undefined(scheme["token"]["labels"]["Y"], NO_VARIATION)


# 8 ------------------------------------------------------------------------------------------------


def test_8_disjoint_documents_leave_every_coefficient_undefined() -> None:
    scheme = figures({"d1": {"A": [(0, 1, "X")]}, "d2": {"B": [(0, 1, "X")]}})
    found = dict(estimates({key: scheme[key] for key in ("f1", "lost", "token")}))
    # The shares of the labels and the chance that follows from them need no second annotator.
    found = {
        path: estimate
        for path, estimate in found.items()
        if not path.startswith(("/token/label_shares", "/token/chance"))
    }
    assert len(found) > 20
    for estimate in found.values():
        assert_undefined(estimate, NO_SHARED_ITEMS)
    assert scheme["corpus"]["items_shared"] == 0


# 9 ------------------------------------------------------------------------------------------------


def test_9_one_unit_by_one_of_three_annotators_is_exactly_zero() -> None:
    scheme = figures(
        {"d1": {"A": [(0, 1, "X")], "B": [], "C": []}},
        texts={"d1": "x" * 20},
        measures=("alpha_u",),
    )
    assert_value(scheme["unitizing"]["alpha_u"]["mean_over_items"], 0.0, 1e-12)


def test_9_a_span_of_no_length_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"\[3, 3\) of 'ann' on item 'd1'"):
        corpus_of({"d1": {"ann": [(3, 3, "X")], "ben": []}}, texts={"d1": "abcdef"})


# 10 -----------------------------------------------------------------------------------------------


def test_10_token_alpha_does_not_see_a_split_and_bio_does() -> None:
    scheme = one_item([(0, 10, "X")], [(0, 5, "X"), (5, 10, "X")], texts={"d1": "abcd efghi jk lm"})
    assert_value(scheme["token"]["alpha"], 1.0)
    # abcd B/B, efghi I/B, jk and lm O/O: n = 8, n_B = 3, n_I = 1, n_O = 4.
    assert_value(scheme["token"]["alpha_bio"], 1 - 7 * 2 / (64 - 9 - 1 - 16))


# 11 -----------------------------------------------------------------------------------------------


def test_11_one_marked_token_among_ten_gives_alpha_zero_at_ninety_percent_agreement() -> None:
    token = one_item([(0, 1, "A")], [], texts={"d1": "a b c d e f g h i j"})["token"]
    assert_value(token["alpha"], 0.0)
    assert number(token["observed_agreement"]) == pytest.approx(0.9)
    shares = {label: number(share) for label, share in token["label_shares"].items()}
    assert shares == pytest.approx({"O": 0.95, "A": 0.05})
    assert number(token["chance_agreement"]) == pytest.approx(0.905)


# 12 -----------------------------------------------------------------------------------------------


def krippendorff_2011() -> list[dict[str, str]]:
    units: list[dict[str, str]] = next(
        entry["input"]
        for entry in worked("worked_cases")
        if entry["name"] == "Krippendorff 2011 missing"
    )
    return units


def test_12_nominal_alpha_of_the_2011_example_with_missing_data() -> None:
    token = figures_of(units_corpus(krippendorff_2011()), token_unit="character")["token"]
    assert token["alpha"]["value"] == pytest.approx(0.743, abs=0.0005)
    assert token["alpha"]["value"] == pytest.approx(0.743421052631579, abs=1e-12)


def test_12_the_audits_package_gives_both_published_values_on_the_same_data() -> None:
    units = krippendorff_2011()
    raters = sorted({who for unit in units for who in unit})
    data = np.array([[float(unit.get(who, "nan")) for unit in units] for who in raters])
    nominal = krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")
    interval = krippendorff.alpha(reliability_data=data, level_of_measurement="interval")
    assert nominal == pytest.approx(0.743, abs=0.0005)
    assert interval == pytest.approx(0.849, abs=0.0005)


def test_12_three_averages_of_the_same_data_differ_and_have_names() -> None:
    many = [(n, n + 1, "X") for n in range(4)]
    marks = {
        "d1": {"A": many, "B": many},
        "d2": {"A": [(0, 1, "X")], "B": [(1, 2, "X")], "C": [(0, 1, "X")]},
    }
    f1 = figures(marks)["f1"]["exact_typed"]
    # A–B 8/10, A–C 2/2, B–C 0/2.
    assert_value(f1["mean_over_pairs"], (0.8 + 1 + 0) / 3)
    assert_value(f1["pooled"], (8 + 2 + 0) / (10 + 2 + 2))
    # d1 1; d2 the mean of 0, 1, 0.
    assert_value(f1["mean_over_items"], (1 + 1 / 3) / 2)
