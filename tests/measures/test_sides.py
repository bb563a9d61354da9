"""Two sides: humans with each other beside a system, and everybody against a gold standard."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from potato_iaa import Corpus
from potato_iaa.errors import InputError
from tests.corpora import (
    NO_SHARED_ITEMS,
    ONE_ANNOTATOR,
    Figures,
    Span,
    assert_undefined,
    assert_value,
    figures_of,
    headline,
    pair_of,
)

Marks = Mapping[str, Mapping[str, Iterable[Span]]]
X, Y = (0, 4, "X"), (5, 9, "Y")


def corpus_with_roles(marks: Marks, roles: Mapping[str, str], items: Iterable[str] = ()) -> Corpus:
    """A corpus of texts of 20 characters; ``items`` are there without any pass."""
    return Corpus.from_tables(
        items=[(item, "aaaa bbbb cccc dddd e") for item in sorted({*marks, *items})],
        passes=[(item, who) for item, by_annotator in marks.items() for who in by_annotator],
        spans=[
            (item, who, *span)
            for item, by_annotator in marks.items()
            for who, found in by_annotator.items()
            for span in found
        ],
        roles=dict(roles),
    )


def only_side(marks: Marks, roles: Mapping[str, str], **options: Any) -> Figures:
    sides = figures_of(corpus_with_roles(marks, roles), **options)["sides"]
    assert len(sides) == 1
    side: Figures = sides[0]
    return side


def without(marks: Marks, *names: str) -> dict[str, dict[str, Iterable[Span]]]:
    return {
        item: {who: found for who, found in by.items() if who not in names}
        for item, by in marks.items()
    }


# By hand ------------------------------------------------------------------------------------------

# A–B: 2·2/(2 + 3) = .8; A–S: 2·1/(2 + 2) = .5; B–S: 2·2/(3 + 2) = .8.
HAND: Marks = {
    "d1": {"A": [X, Y], "B": [X, Y], "S": [X]},
    "d2": {"A": [], "B": [(0, 2, "X")], "S": [(0, 2, "X")]},
}


# The first word "Ada", twice, is one term and two words of three characters.
WORDS: Marks = {
    "d1": {"A": [(0, 3, "X"), (4, 7, "X")], "B": [(0, 3, "X")], "S": [(4, 7, "X"), (8, 14, "X")]}
}


@pytest.mark.parametrize(
    ("rule", "humans", "side"),
    [
        # Terms of A and B: Ada; of S: Ada and Gracie. Both pairs with S share one of 1 + 2.
        ("terms", 1.0, 2 / 3),
        # Words: A 2, B 1, S 2. A–B share one of 2 + 1; A–S one of 2 + 2, B–S none.
        ("token", 2 / 3, (1 / 2 + 0) / 2),
        # Characters: A 6, B 3, S 9. A–B share 3 of 6 + 3; A–S 3 of 6 + 9, B–S none.
        ("character", 2 / 3, (2 * 3 / 15 + 0) / 2),
    ],
)
def test_sides_are_compared_by_terms_and_by_positions_too(
    rule: str, humans: float, side: float
) -> None:
    corpus = Corpus.from_tables(
        items=[("d1", "Ada ada Gracie")],
        passes=[("d1", who) for who in WORDS["d1"]],
        spans=[("d1", who, *span) for who, found in WORDS["d1"].items() for span in found],
        roles={"S": "system"},
    )
    (found,) = figures_of(corpus, rules=[rule])["sides"]
    assert_value(found["f1"][f"{rule}_typed"]["humans"], humans)
    assert_value(found["f1"][f"{rule}_typed"]["side"], side)


def test_humans_with_each_other_stand_beside_the_system_with_the_humans() -> None:
    side = only_side(HAND, {"S": "system"})
    assert (side["annotator"], side["role"]) == ("S", "system")
    figures = side["f1"]["exact_typed"]
    assert_value(figures["humans"], 0.8)
    assert_value(figures["side"], (0.5 + 0.8) / 2)
    assert_value(figures["difference"], (0.5 + 0.8) / 2 - 0.8)


def test_each_average_says_over_how_many_pairs_it_goes() -> None:
    figures = only_side(HAND, {"S": "system"})["f1"]["exact_typed"]
    assert (figures["humans"]["n"], figures["humans"]["of"]) == (1, 1)
    assert (figures["side"]["n"], figures["side"]["of"]) == (2, 2)


@pytest.mark.parametrize("role", ["system", "gold"])
def test_every_rule_that_is_measured_is_compared(role: str) -> None:
    rules = ["overlap(iou>=0.5)", "soft"]
    side = only_side(HAND, {"S": role}, rules=rules)
    expected = {
        f"{rule}_{types}"
        for rule in ("exact", "overlap", rules[0])
        for types in ("typed", "untyped")
    }
    assert expected <= set(side["f1"])
    assert "soft_typed" in side["f1"]


def test_labels_are_compared_under_the_exact_typed_rule() -> None:
    # X: A–B 2·1/(1 + 2), A–S 2·1/(1 + 2), B–S 1. Y: A–B 1, the system has none.
    labels = only_side(HAND, {"S": "system"})["labels"]
    assert_value(labels["X"]["humans"], 2 / 3)
    assert_value(labels["X"]["side"], (2 / 3 + 1) / 2)
    assert_value(labels["X"]["difference"], (2 / 3 + 1) / 2 - 2 / 3)
    assert_value(labels["Y"]["humans"], 1.0)
    assert_value(labels["Y"]["side"], 0.0)
    assert_value(labels["Y"]["difference"], -1.0)


def test_a_system_has_no_reference_table() -> None:
    assert only_side(HAND, {"S": "system"})["reference"] is None


def test_precision_and_recall_take_gold_as_the_reference() -> None:
    # A: 2 spans, 1 of them right, of the 2 of gold. B: 3 spans, 2 right.
    reference = only_side(HAND, {"S": "gold"})["reference"]
    rows = {row["annotator"]: row for row in reference}
    assert set(rows) == {"A", "B"}
    assert {key: rows["A"][key] for key in ("items", "tp")} == {"items": 2, "tp": 1}
    assert (rows["A"]["precision"], rows["A"]["recall"]) == pytest.approx((1 / 2, 1 / 2))
    assert rows["A"]["value"] == pytest.approx(2 / 4)
    assert (rows["B"]["precision"], rows["B"]["recall"]) == pytest.approx((2 / 3, 2 / 2))
    assert rows["B"]["value"] == pytest.approx(4 / 5)


def test_what_is_written_of_a_gold_standard_by_hand() -> None:
    side = only_side(HAND, {"S": "gold"})
    why = "the interval is that of the mean over humans"
    columns = ("annotator", "items", "tp", "precision", "recall", "value", "interval_why")
    rows = (("A", 2, 1, 0.5, 0.5, 0.5, why), ("B", 2, 2, 0.666666666667, 1.0, 0.8, why))
    assert side["reference"] == [dict(zip(columns, row, strict=True)) for row in rows]
    nothing = {"low": None, "high": None}
    assert side["f1"]["exact_typed"] == {
        "humans": {"value": 0.8, **nothing, "n": 1, "of": 1},
        "side": {"value": 0.65, **nothing, "n": 2, "of": 2},
        "difference": {"value": -0.15, **nothing, "n": 2, "of": 2},
    }
    assert set(side) == {"annotator", "role", "f1", "labels", "reference"}


@pytest.mark.parametrize("gold", ["A0", "Z9"])
def test_gold_is_the_reference_whether_its_name_comes_first_or_last(gold: str) -> None:
    marks: Marks = {"d1": {"M": [X, Y, (10, 14, "X")], gold: [X, (10, 14, "X")]}}
    rows = only_side(marks, {gold: "gold"})["reference"]
    assert [(row["annotator"], row["tp"]) for row in rows] == [("M", 2)]
    assert (rows[0]["precision"], rows[0]["recall"]) == pytest.approx((2 / 3, 1.0))


def test_systems_are_held_against_gold_too() -> None:
    marks: Marks = {"d1": {"A": [X], "G": [X, Y], "S": [Y]}}
    sides = figures_of(corpus_with_roles(marks, {"G": "gold", "S": "system"}))["sides"]
    assert [(side["annotator"], side["role"]) for side in sides] == [("G", "gold"), ("S", "system")]
    rows = {row["annotator"]: row for row in sides[0]["reference"]}
    assert set(rows) == {"A", "S"}
    assert (rows["S"]["precision"], rows["S"]["recall"]) == (1.0, 0.5)
    # Neither of the two is a human: each is compared with A alone.
    assert_value(sides[0]["f1"]["exact_typed"]["side"], 2 / 3)
    assert_value(sides[1]["f1"]["exact_typed"]["side"], 0.0)


def test_a_share_of_nothing_is_undefined() -> None:
    marks: Marks = {"d1": {"A": [], "B": [X], "G": [X]}, "d2": {"C": [X], "G": []}}
    rows = {row["annotator"]: row for row in only_side(marks, {"G": "gold"})["reference"]}
    assert (rows["A"]["precision"], rows["A"]["recall"], rows["A"]["value"]) == (None, 0.0, 0.0)
    assert (rows["C"]["precision"], rows["C"]["recall"], rows["C"]["value"]) == (0.0, None, 0.0)


def test_who_shares_no_item_with_gold_is_not_held_against_it() -> None:
    marks: Marks = {"d1": {"A": [X], "G": [X]}, "d2": {"B": [X], "A": [X]}}
    rows = only_side(marks, {"G": "gold"})["reference"]
    assert [row["annotator"] for row in rows] == ["A"]


def test_one_human_and_a_system_leave_the_humans_and_the_difference_undefined() -> None:
    figures = only_side({"d1": {"A": [X], "S": [X]}}, {"S": "system"})["f1"]["exact_typed"]
    assert_undefined(figures["humans"], ONE_ANNOTATOR)
    assert_value(figures["side"], 1.0)
    assert_undefined(figures["difference"], ONE_ANNOTATOR)


def test_a_system_that_shares_no_item_with_the_humans_is_undefined() -> None:
    marks: Marks = {"d1": {"A": [X], "B": [X]}, "d2": {"S": [X]}}
    figures = only_side(marks, {"S": "system"})["f1"]["exact_typed"]
    assert_value(figures["humans"], 1.0)
    assert_undefined(figures["side"])
    assert_undefined(figures["difference"])


@pytest.mark.parametrize(
    ("marks", "figure", "why"),
    [
        ({"d1": {"A": [X], "B": [X]}, "d2": {"S": [X]}}, "side", NO_SHARED_ITEMS),
        ({"d1": {"A": [X], "S": [X]}, "d2": {"B": [X]}}, "humans", NO_SHARED_ITEMS),
        ({"d1": {"A": [X], "S": [X]}}, "humans", ONE_ANNOTATOR),
    ],
)
def test_a_side_without_a_pair_gives_the_reason_of_any_other_figure(
    marks: Marks, figure: str, why: str
) -> None:
    # measures.md, section 1 and 7.8: where no pair shares an item, that is the reason.
    assert_undefined(only_side(marks, {"S": "system"})["f1"]["exact_typed"][figure], why)


def test_a_difference_is_undefined_for_the_reason_of_the_side_that_is() -> None:
    alone: Marks = {"d1": {"A": [X], "B": [X]}, "d2": {"S": [X]}}
    figures = only_side(alone, {"S": "system"})["f1"]["exact_typed"]
    assert_value(figures["humans"], 1.0)
    assert_undefined(figures["side"], NO_SHARED_ITEMS)
    assert_undefined(figures["difference"], NO_SHARED_ITEMS)
    # The humans left empty what they share, and S is against both.
    empty: Marks = {"d1": {"A": [], "B": [], "S": [X]}}
    figures = only_side(empty, {"S": "system"})["f1"]["exact_typed"]
    assert_undefined(figures["humans"], "nothing marked by either")
    assert_value(figures["side"], 0.0)
    assert_undefined(figures["difference"], "nothing marked by either")


def test_without_systems_and_gold_there_are_no_sides() -> None:
    assert figures_of(corpus_with_roles(HAND, {}))["sides"] == []


def test_a_role_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="human, system, gold"):
        corpus_with_roles(HAND, {"S": "robot"})


# What a system changes, and what it does not ------------------------------------------------------


def random_marks(order: random.Random, names: str, items: int) -> dict[str, dict[str, list[Span]]]:
    places = [(start, start + 4, label) for start in (0, 5, 10, 15) for label in "XY"]
    places += [(start, start + 9, "X") for start in (0, 5, 10)]
    return {
        f"d{position}": {
            who: order.sample(places, order.choice([0, 1, 2, 3]))
            for who in names
            if order.random() < 0.8
        }
        for position in range(items)
    }


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("role", ["system", "gold"])
def test_no_figure_of_the_humans_changes_when_a_side_is_added(seed: int, role: str) -> None:
    marks = random_marks(random.Random(seed), "ABCS", 6)
    options = {"bootstrap": 20, "rules": ["soft"], "measures": ["cohen", "scott", "fleiss"]}
    both = figures_of(corpus_with_roles(marks, {"S": role}), **options)
    alone = figures_of(corpus_with_roles(without(marks, "S"), {}, items=marks), **options)
    assert both.pop("sides") != []
    assert alone.pop("sides") == []
    assert both == alone


@pytest.mark.parametrize("seed", range(4))
def test_both_sides_are_means_over_the_pairs_of_a_corpus_of_equals(seed: int) -> None:
    marks = random_marks(random.Random(seed), "ABCS", 6)
    equals = figures_of(corpus_with_roles(marks, {}))
    side = only_side(marks, {"S": "system"})
    for key in ("exact_typed", "exact_untyped", "overlap_typed", "overlap_untyped"):
        values = {
            pair: pair_of(equals, *pair, key)["value"]
            for pair in combinations("ABCS", 2)
            if any({*pair} <= {*by} for by in marks.values())
        }
        defined = {pair: value for pair, value in values.items() if value is not None}
        humans = float(np.mean([value for pair, value in defined.items() if "S" not in pair]))
        system = float(np.mean([value for pair, value in defined.items() if "S" in pair]))
        assert_value(side["f1"][key]["humans"], humans)
        assert_value(side["f1"][key]["side"], system)
        assert_value(side["f1"][key]["difference"], system - humans)


def test_the_humans_of_a_side_are_the_headline_with_its_interval() -> None:
    marks = random_marks(random.Random(1), "ABCS", 8)
    scheme = figures_of(corpus_with_roles(marks, {"S": "system"}), bootstrap=50)
    humans = scheme["sides"][0]["f1"]["exact_typed"]["humans"]
    for key in ("value", "low", "high", "n", "of"):
        assert humans[key] == headline(scheme)[key]


def test_the_humans_of_a_side_state_the_same_n_of_n_as_the_headline() -> None:
    # A and C share no item: the headline is over 2 of 3 pairs, and so is the same mean here.
    marks: Marks = {
        "d1": {"A": [X], "B": [X], "S": [X]},
        "d2": {"B": [Y], "C": [X], "S": [X]},
    }
    scheme = figures_of(corpus_with_roles(marks, {"S": "system"}))
    humans = scheme["sides"][0]["f1"]["exact_typed"]["humans"]
    assert (headline(scheme)["n"], headline(scheme)["of"]) == (2, 3)
    assert (humans["n"], humans["of"]) == (2, 3)


def test_the_difference_is_taken_on_the_same_resamples() -> None:
    # The system copies a human, and there are but two: on every resample the two sides are equal
    # or the other way round, never apart as two independent resamples would be.
    marks = {
        item: {"A": by["A"], "B": by["B"], "S": by["A"]}
        for item, by in random_marks(random.Random(3), "AB", 12).items()
        if {"A", "B"} <= {*by}
    }
    figures = only_side(marks, {"S": "system"}, bootstrap=200)["f1"]["exact_typed"]
    # A–S is 1 throughout, B–S is A–B: side − humans = (1 + h)/2 − h = (1 − h)/2.
    for bound, other in (("low", "high"), ("high", "low")):
        right = (1 - figures["humans"][other]) / 2
        assert figures["difference"][bound] == pytest.approx(right, abs=1e-9)


def test_a_system_that_equals_its_only_human_does_not_differ_on_any_resample() -> None:
    marks = {
        f"d{position}": {"A": [X, Y][: position % 3], "B": [X], "S": [X]} for position in range(9)
    }
    # B and S are the same: A–B is A–S, and B–S is 1.
    figures = only_side(marks, {"S": "system"}, bootstrap=100)["f1"]["exact_typed"]
    assert figures["side"]["low"] == pytest.approx((1 + figures["humans"]["low"]) / 2)
    assert figures["side"]["high"] == pytest.approx((1 + figures["humans"]["high"]) / 2)


def test_the_name_of_the_system_changes_no_figure() -> None:
    marks = random_marks(random.Random(5), "ABCS", 6)
    renamed = {
        item: {"0" if who == "S" else who: found for who, found in by.items()}
        for item, by in marks.items()
    }
    one = only_side(marks, {"S": "system"}, bootstrap=20)
    other = only_side(renamed, {"0": "system"}, bootstrap=20)
    assert (one.pop("annotator"), other.pop("annotator")) == ("S", "0")
    assert one == other
