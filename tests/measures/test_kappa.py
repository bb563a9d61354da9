"""Kappas by hand: what is written of them, and why one has no value or no interval."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from potato_iaa.blocks import cut
from potato_iaa.measures import measuring
from potato_iaa.measures.estimate import plain
from tests.corpora import Figures, Marks, assert_undefined, corpus_of, figures_of

NAMES = ("cohen", "scott", "fleiss")
TEXTS = {"d1": "a b c d", "d2": "a b c d", "d3": "  ", "d4": "a b c d"}
WITHOUT_INTERVAL = {"low": None, "high": None}

# On eight tokens A marks two X and B one of these: p_o = 7/8. Cohen: p_e = (2·1 + 6·7)/8² = 11/16.
# Scott: p_e = (3² + 13²)/16² = 89/128.
COHEN, SCOTT = 3 / 5, 23 / 39
TWO: Marks = {"d1": {"A": [(0, 1, "X"), (2, 3, "X")], "B": [(0, 1, "X")]}, "d2": {"A": [], "B": []}}


def kappas(marks: Marks, **options: Any) -> dict[str, Figures]:
    corpus = corpus_of(marks, texts={item: TEXTS[item] for item in marks})
    token = figures_of(corpus, measures=NAMES, **options)["token"]
    return {name: token[name]["label"] for name in NAMES}


@pytest.mark.parametrize(("name", "value"), [("cohen", COHEN), ("scott", SCOTT)])
def test_what_is_written_of_pairs_by_hand(name: str, value: float) -> None:
    # C marked nothing and A and B nothing on what C read; D and E read a text without a token.
    marks: Marks = {**TWO, "d2": {"A": [], "B": [], "C": []}, "d3": {"D": [], "E": []}}
    few = {**WITHOUT_INTERVAL, "interval_why": "fewer than 5 shared items"}
    none = {"value": None, **WITHOUT_INTERVAL, "interval_why": None}
    alike = {"tokens": 4, "observed": 1.0, **none, "why": "chance agreement is 1"}
    assert kappas(marks)[name] == {
        "mean": {"value": plain(value), **WITHOUT_INTERVAL, "n": 1, "of": 10},
        "pairs": [
            {"a": "A", "b": "B", "tokens": 8, "observed": 0.875, "value": plain(value), "why": None}
            | few,
            {"a": "A", "b": "C", **alike},
            {"a": "B", "b": "C", **alike},
            {"a": "D", "b": "E", "tokens": 0, "observed": None, **none, "why": "no tokens"},
        ],
    }


def test_fleiss_of_two_is_scott_on_the_items_that_both_did() -> None:
    found = kappas({**TWO, "d4": {"A": [(0, 1, "Y")]}})["fleiss"]
    assert found == {"value": plain(SCOTT), **WITHOUT_INTERVAL, "n": 2, "of": 3}


def test_fleiss_is_undefined_where_nobody_did_what_all_others_did() -> None:
    marks: Marks = {"d1": {"A": [], "B": [(0, 1, "X")]}, "d2": {"A": [], "C": []}}
    found = kappas(marks)["fleiss"]
    assert_undefined(found, "no items that all annotators did")
    assert (found["n"], found["of"]) == (0, 2)


def test_fleiss_is_undefined_where_all_gave_one_value() -> None:
    for others in ({}, {"d2": {"A": []}}):
        found = kappas({"d1": {"A": [], "B": []}, **others})["fleiss"]
        assert_undefined(found, "no variation")


def test_one_token_is_enough_for_chance_to_be_certain() -> None:
    corpus = corpus_of({"d1": {"A": [], "B": []}}, texts={"d1": "a"})
    (row,) = figures_of(corpus, measures=("cohen",))["token"]["cohen"]["label"]["pairs"]
    assert (row["tokens"], row["why"]) == (1, "chance agreement is 1")


@pytest.mark.parametrize(
    ("marks", "why", "pairs"),
    [
        ({"d1": {"A": [(0, 1, "X")]}}, "only one annotator", 0),
        ({"d1": {"A": [(0, 1, "X")]}, "d2": {"B": []}}, "no shared items", 1),
        ({"d1": {"A": [], "B": []}}, "chance agreement is 1", 1),
        ({"d1": {"A": [], "B": []}, "d2": {"C": []}}, "chance agreement is 1", 3),
    ],
)
def test_the_reason_for_no_mean_is_the_first_that_holds(marks: Marks, why: str, pairs: int) -> None:
    for name in ("cohen", "scott"):
        found = kappas(marks)[name]["mean"]
        assert_undefined(found, why)
        assert (found["n"], found["of"]) == (0, pairs)


@pytest.mark.parametrize(("name", "value"), [("cohen", 1 / 2), ("scott", 7 / 15)])
def test_a_pair_that_shares_five_items_has_an_interval(name: str, value: float) -> None:
    # On each item the same: p_o = 3/4. Cohen: p_e = (2·1 + 2·3)/4². Scott: p_e = (3² + 5²)/8².
    marks: Marks = {f"e{number}": {**TWO["d1"]} for number in range(5)}
    corpus = corpus_of(marks, texts=dict.fromkeys(marks, "a b c d"))
    (row,) = figures_of(corpus, measures=NAMES, bootstrap=20)["token"][name]["label"]["pairs"]
    found = (row["value"], row["low"], row["high"], row["interval_why"])
    assert found == (plain(value), plain(value), plain(value), None)


@pytest.mark.parametrize("size", [1, 20])
def test_values_of_several_blocks_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    # On eight tokens both mark one X; A marks a Y where B has none, and B a Z where A has none.
    # p_o = 6/8. Cohen: p_e = (1·1 + 1·0 + 0·1 + 6·6)/8². Scott: p_e = (2² + 1 + 1 + 12²)/16².
    monkeypatch.setattr(measuring, "cut", partial(cut, size=size))
    marks: Marks = {
        "d1": {"A": [(0, 1, "X"), (2, 3, "Y")], "B": [(0, 1, "X")]},
        "d2": {"A": [], "B": [(4, 5, "Z")]},
    }
    found = kappas(marks)
    cohen, scott = (3 / 4 - 37 / 64) / (1 - 37 / 64), (3 / 4 - 150 / 256) / (1 - 150 / 256)
    assert found["cohen"]["mean"]["value"] == plain(cohen)
    assert found["scott"]["mean"]["value"] == plain(scott)
    assert found["fleiss"]["value"] == plain(scott)


def test_one_annotator_has_no_fleiss() -> None:
    assert_undefined(kappas({"d1": {"A": [(0, 1, "X")]}})["fleiss"], "only one annotator")
