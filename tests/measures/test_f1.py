"""One F1 of three annotators by hand: every figure that is written of it."""

from __future__ import annotations

import json
import math
from typing import Any

import pandas as pd
import pytest

from potato_iaa.measures.estimate import plain
from tests.corpora import Marks, assert_undefined, corpus_of, figures_of
from tests.measures.helpers import scheme_of, table_rows

X, Y = (0, 4, "X"), (5, 9, "X")
HAND: Marks = {
    "d1": {"A": [X, Y], "B": [X], "C": [X]},
    "d2": {"A": [], "B": [], "C": [X]},
    "d3": {"A": [X]},
    "d4": {"A": [], "B": []},
}
NO_BOUNDS = {"low": None, "high": None}
# A–B 2·1/(2 + 1), A–C 2·1/(2 + 2), B–C 2·1/(1 + 2): squares of deviations (1 + 4 + 1)/18².
AVERAGES = {
    "mean_over_pairs": {"value": plain(11 / 18), **NO_BOUNDS, "n": 3, "of": 3}
    | {"sd": plain(math.sqrt(2) / 18), "min": 0.5, "max": plain(2 / 3)},
    # Of 3 + 4 + 3 spans 6 are matched.
    "pooled": {"value": 0.6, **NO_BOUNDS, "n": 3, "of": 4},
    # d1: (2/3 + 2/3 + 1)/3 = 7/9, d2: 0 for both pairs with C.
    "mean_over_items": {"value": plain(7 / 18), **NO_BOUNDS, "n": 2, "of": 3},
}


def pair(a: str, b: str, counts: tuple[int, ...], shares: tuple[float, ...]) -> dict[str, Any]:
    row = dict(zip(("items", "n_a", "n_b", "tp"), counts, strict=True))
    shown = dict(zip(("precision", "recall", "value"), map(plain, shares), strict=True))
    few = {"undefined": None, "interval_why": "fewer than 5 shared items"}
    return {"a": a, "b": b, **row, **shown, "why": None, **NO_BOUNDS, **few}


def annotator(who: str, value: float, without: float) -> dict[str, Any]:
    return {
        "annotator": who,
        "value": plain(value),
        "why": None,
        **NO_BOUNDS,
        "undefined": None,
        "n": 2,
        "of": 2,
        "without": plain(without),
        "change": plain(without - 11 / 18),
        "change_low": None,
        "change_high": None,
    }


def test_what_is_written_of_an_f1_by_hand() -> None:
    assert figures_of(corpus_of(HAND))["f1"]["exact_typed"] == {
        **AVERAGES,
        # A and B on d2 and on d4.
        "both_empty": 2,
        "labels": {"X": AVERAGES},
        "pairs": [
            pair("A", "B", (3, 2, 1, 1), (1, 1 / 2, 2 / 3)),
            pair("A", "C", (2, 2, 2, 1), (1 / 2, 1 / 2, 1 / 2)),
            pair("B", "C", (2, 1, 2, 1), (1 / 2, 1, 2 / 3)),
        ],
        "annotators": [
            annotator("A", 7 / 12, 2 / 3),
            annotator("B", 2 / 3, 1 / 2),
            annotator("C", 7 / 12, 2 / 3),
        ],
    }


def test_the_table_of_items_by_hand() -> None:
    rows = table_rows(scheme_of(corpus_of(HAND)).f1["exact_typed"].items)
    names = ("pairs", "both_empty", "marked", "matched", "value", "why")
    assert {row["item"]: tuple(plain_or(row[name]) for name in names) for row in rows} == {
        "d1": (3, 0, 8, 6, plain(7 / 9), None),
        "d2": (3, 1, 2, 0, 0.0, None),
        "d3": (0, 0, 0, 0, None, "no shared items"),
        "d4": (1, 1, 0, 0, None, "nothing marked by either"),
    }


def test_the_table_of_items_is_of_all_labels() -> None:
    marks: Marks = {
        "d1": {"A": [X, (5, 9, "Y")], "B": [X, (5, 9, "Y")]},
        "d2": {"A": [(5, 9, "Y")], "B": []},
    }
    figures = scheme_of(corpus_of(marks)).f1["exact_typed"]
    names = ("both_empty", "marked", "matched", "value")
    assert {
        row["item"]: tuple(row[name] for name in names) for row in table_rows(figures.items)
    } == {
        "d1": (0, 4, 4, 1.0),
        "d2": (0, 1, 0, 0.0),
    }
    assert figures.both_empty == 0


# Of five places B has A's offsets in two and A's label in three; in one of them both.
FIVE: Marks = {
    "d1": {
        "A": [(0, 4, "X"), (5, 9, "X"), (10, 14, "X"), (15, 19, "X"), (20, 24, "X")],
        "B": [(0, 4, "X"), (5, 9, "Y"), (10, 13, "X"), (15, 18, "X"), (20, 23, "Y")],
    }
}


@pytest.mark.parametrize(
    ("rule", "matched"),
    [("exact_typed", 1), ("exact_untyped", 2), ("overlap_typed", 3), ("overlap_untyped", 5)],
)
def test_each_of_the_four_f1s_lets_match_what_its_name_says(rule: str, matched: int) -> None:
    found = figures_of(corpus_of(FIVE))["f1"][rule]["mean_over_pairs"]
    assert found["value"] == plain(2 * matched / (5 + 5))


@pytest.mark.parametrize(("rule", "right"), [("terms_typed", 1 / 3), ("terms_untyped", 2 / 3)])
def test_terms_match_with_their_labels_where_labels_count(rule: str, right: float) -> None:
    # Of A's three terms B has one under its label and one under another, beside one of its own.
    marks: Marks = {
        "d1": {
            "A": [(0, 2, "X"), (3, 5, "X"), (6, 8, "X")],
            "B": [(0, 2, "X"), (3, 5, "Y"), (9, 11, "X")],
        }
    }
    corpus = corpus_of(marks, texts={"d1": "aa bb cc dd"})
    found = figures_of(corpus, rules=("terms",))["f1"][rule]["mean_over_pairs"]
    assert found["value"] == plain(right)


def test_pairs_set_aside_are_no_reason_where_another_pair_marked_nothing() -> None:
    # A and B share two items, A and C one.
    marks: Marks = {"d1": {"A": [], "B": []}, "d2": {"A": [], "B": [], "C": [X]}}
    figures = figures_of(corpus_of(marks), min_shared_items=2)["f1"]["exact_typed"]
    assert_undefined(figures["mean_over_pairs"], "nothing marked by either")


def plain_or(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    return None if pd.isna(value) else plain(value)


def test_an_item_that_both_left_empty_counts_as_one_on_request() -> None:
    # d1 7/9; d2 (1 + 0 + 0)/3; d4 1: their mean, over all three that are shared.
    found = figures_of(corpus_of(HAND), both_empty="agree")["f1"]["exact_typed"]["mean_over_items"]
    assert (found["value"], found["n"]) == (plain((7 / 9 + 1 / 3 + 1) / 3), 3)


def test_an_annotator_without_a_value_says_why() -> None:
    # C and D share what they left empty, E nothing.
    marks: Marks = {
        "d1": {"A": [X], "B": [X]},
        "d2": {"C": [], "D": []},
        "d3": {"E": [X]},
    }
    rows = figures_of(corpus_of(marks))["f1"]["exact_typed"]["annotators"]
    assert {row["annotator"]: (row["value"], row["why"], row["n"], row["of"]) for row in rows} == {
        "A": (1.0, None, 1, 4),
        "B": (1.0, None, 1, 4),
        "C": (None, "nothing marked by either", 0, 4),
        "D": (None, "nothing marked by either", 0, 4),
        "E": (None, "no shared items", 0, 4),
    }
    headline = figures_of(corpus_of(marks))["f1"]["exact_typed"]["mean_over_pairs"]
    # Of the ten pairs of five annotators two share an item, and one has marked something.
    assert (headline["n"], headline["of"]) == (1, 10)
    # Without A or B nobody has anything in common.
    assert {row["annotator"]: (row["without"], row["change"]) for row in rows} == {
        "A": (None, None),
        "B": (None, None),
        **dict.fromkeys("CDE", (1.0, 0.0)),
    }


@pytest.mark.parametrize(
    ("items", "bootstrap", "why"),
    [
        (4, 20, "fewer than 5 shared items"),
        (5, 20, None),
        (5, 0, "no resamples with a value"),
    ],
)
def test_a_pair_has_an_interval_from_five_shared_items_on(
    items: int, bootstrap: int, why: str | None
) -> None:
    corpus = corpus_of({f"d{number}": {"A": [X], "B": [X]} for number in range(items)})
    (row,) = figures_of(corpus, bootstrap=bootstrap)["f1"]["exact_typed"]["pairs"]
    assert row["interval_why"] == why
    assert (row["low"], row["high"]) == ((None, None) if why else (1.0, 1.0))
    assert row["undefined"] == (None if why else 0.0)


def test_a_pair_without_a_value_has_no_interval_to_explain() -> None:
    corpus = corpus_of({f"d{number}": {"A": [], "B": []} for number in range(6)})
    (row,) = figures_of(corpus, bootstrap=20)["f1"]["exact_typed"]["pairs"]
    assert (row["value"], row["why"]) == (None, "nothing marked by either")
    assert (row["low"], row["high"], row["interval_why"]) == (None, None, None)


@pytest.mark.parametrize("rule", ["character", "token"])
def test_positions_are_marked_whatever_the_label_unless_labels_count(rule: str) -> None:
    # A has a word of four characters and one of two, B the first under another label: 2·4/(6 + 4)
    # characters and 2·1/(2 + 1) words are alike, and none with its label.
    marks: Marks = {"d1": {"A": [X, (5, 7, "X")], "B": [(0, 4, "Y")]}}
    found = figures_of(corpus_of(marks, texts={"d1": "aaaa bb"}), rules=(rule,))["f1"]
    right = {"character": 4 / 5, "token": 2 / 3}[rule]
    assert found[f"{rule}_untyped"]["mean_over_pairs"]["value"] == plain(right)
    assert found[f"{rule}_untyped"]["labels"] == {}
    assert found[f"{rule}_typed"]["mean_over_pairs"]["value"] == 0.0
    assert set(found[f"{rule}_typed"]["labels"]) == {"X", "Y"}


def test_a_soft_match_counts_as_much_as_the_spans_are_alike() -> None:
    # [0,4) and [0,2) share 2 of 4 characters: IoU 1/2, Dice 2·2/(4 + 2).
    corpus = corpus_of({"d1": {"A": [X], "B": [(0, 2, "X")]}})
    found = figures_of(corpus, rules=("soft", "soft(dice)"))["f1"]
    assert found["soft_typed"]["mean_over_pairs"]["value"] == 0.5
    assert found["soft(dice)_typed"]["mean_over_pairs"]["value"] == plain(2 / 3)
    assert found["soft_typed"]["pairs"][0]["tp"] == 0.5


def test_whole_numbers_are_written_as_such_where_no_match_counts_less_than_one() -> None:
    # A and C are alike; [0,4) and [0,2) share half of their characters.
    corpus = corpus_of({"d1": {"A": [X], "B": [(0, 2, "X")], "C": [X]}})
    found = figures_of(corpus, rules=("soft",))["f1"]
    assert json.dumps([row["tp"] for row in found["exact_typed"]["pairs"]]) == "[0, 1, 0]"
    assert [row["tp"] for row in found["soft_typed"]["pairs"]] == [0.5, 1.0, 0.5]
