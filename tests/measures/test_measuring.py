"""What measure() refuses, and what its choices leave out."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from potato_iaa import Corpus, measure
from potato_iaa.blocks import cut
from potato_iaa.errors import UsageError
from potato_iaa.matcher import parse_rule
from potato_iaa.measures import measuring
from potato_iaa.measures.estimate import NO_TEXT
from tests.corpora import (
    NO_SHARED_ITEMS,
    NOTHING_MARKED,
    assert_undefined,
    corpus_of,
    figures,
    figures_of,
    headline,
    parts_corpus,
)

MARKS: dict[str, Any] = {
    "d1": {"ann": [(0, 3, "X")], "ben": [(0, 3, "X")], "cem": [(0, 3, "X")]},
    "d2": {"ann": [(0, 3, "X")], "ben": [(4, 7, "X")]},
}


def test_what_is_no_corpus_is_refused() -> None:
    with pytest.raises(UsageError, match=r"takes a Corpus, not str: make one with read_project"):
        measure("project")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"token_unit": "syllable"}, "no token unit 'syllable': there are word, "),
        ({"both_empty": "drop"}, "no choice 'drop' for items both left empty"),
        ({"min_shared_items": 0}, "min_shared_items is 0: it is a whole number from 1 on"),
        ({"bootstrap": -1}, "bootstrap is -1: it is a whole number from 0 on"),
        ({"seed": -1}, "seed is -1: it is a whole number from 0 on"),
        ({"bootstrap": 1_000_001}, "bootstrap is 1,000,001: it is at most 1,000,000"),
        ({"bootstrap": 10**30}, "it is at most 1,000,000"),
        ({"measures": ["kappa"]}, "no measure 'kappa' on request: there are cohen, "),
        ({"rules": ["fuzzy"]}, "no match rule 'fuzzy'"),
        ({"rules": "soft"}, "rules are 'soft': give a list of them"),
        ({"measures": "cohen"}, "measures are 'cohen': give a list of them"),
        ({"schemes": "spans"}, "schemes are 'spans': give a list of them"),
        ({"bootstrap": 1.5}, "bootstrap is 1.5: it is a whole number"),
        ({"bootstrap": True}, "bootstrap is True: it is a whole number"),
        ({"seed": "a"}, "seed is 'a': it is a whole number"),
        ({"schemes": ["names"]}, "no span scheme 'names'"),
    ],
)
def test_choices_that_there_are_not_are_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        measure(corpus_of(MARKS), **options)


def test_a_million_resamples_may_be_asked_for() -> None:
    asked = measure(corpus_of(MARKS), schemes=[], bootstrap=1_000_000)
    assert asked.settings.bootstrap == 1_000_000


@pytest.mark.parametrize(
    "options",
    [
        {"token_unit": "syllable"},
        {"both_empty": "drop"},
        {"min_shared_items": 0},
        {"bootstrap": -1},
        {"seed": -1},
        {"measures": ["kappa"]},
        {"rules": ["fuzzy"]},
    ],
    ids=lambda options: next(iter(options)),
)
def test_they_are_refused_even_if_nothing_is_measured(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        measure(corpus_of(MARKS), schemes=[], **options)


def test_pairs_that_share_too_few_items_stay_out_of_the_mean() -> None:
    # ann and ben: 2 of 4 spans matched on two items; the pairs with cem share one item, F1 1.
    assert headline(figures(MARKS, min_shared_items=1))["value"] == pytest.approx(2.5 / 3)
    assert headline(figures(MARKS, min_shared_items=2))["value"] == pytest.approx(0.5)
    assert_undefined(headline(figures(MARKS, min_shared_items=3)), "no pair shares 3 items")


def test_who_shares_too_few_items_has_that_as_the_reason() -> None:
    marks = MARKS | {"d3": {"dan": [(0, 3, "X")]}}
    found = figures(marks, min_shared_items=3)["f1"]["exact_typed"]["annotators"]
    assert [(row["annotator"], row["why"]) for row in found] == [
        *((who, "no pair shares 3 items") for who in ("ann", "ben", "cem")),
        ("dan", NO_SHARED_ITEMS),
    ]


def test_without_a_text_there_are_no_terms_and_no_tokens() -> None:
    spans = [("d1", who, 0, 3, "X") for who in "ab"]
    corpus = Corpus.from_tables(
        items=[("d1", None)], passes=[("d1", "a"), ("d1", "b")], spans=spans
    )
    found = figures_of(corpus, rules=["terms", "token", "character"])
    for rule in ("terms", "token"):
        assert_undefined(headline(found, f"{rule}_typed"), "no text")
    for rule in ("exact", "character"):
        assert headline(found, f"{rule}_typed")["value"] == 1.0


def test_what_is_chosen_where_nothing_is() -> None:
    assert measure(corpus_of(MARKS)).settings.to_dict() == {
        "rules": ["exact", "overlap"],
        "token_unit": "word",
        "both_empty": "skip",
        "min_shared_items": 1,
        "bootstrap": 1000,
        "seed": 0,
        "measures": [],
    }


def test_what_is_chosen_stands_in_the_settings() -> None:
    chosen: dict[str, Any] = {
        "token_unit": "character",
        "both_empty": "agree",
        "min_shared_items": 2,
        "bootstrap": 3,
        "seed": 4,
        "measures": ["cohen"],
    }
    found = measure(corpus_of(MARKS), rules=["soft"], **chosen).settings.to_dict()
    assert found == {"rules": ["exact", "overlap", "soft"], **chosen}


def test_a_rule_is_a_name_or_a_value() -> None:
    found = measure(corpus_of(MARKS), rules=[parse_rule("overlap(dice>=0.5)"), "soft"], bootstrap=0)
    assert found.settings.to_dict()["rules"] == ["exact", "overlap", "overlap(dice>=0.5)", "soft"]


def test_the_audit_is_made_unless_it_is_declined() -> None:
    corpus = corpus_of(MARKS)
    assert measure(corpus, bootstrap=0).schemes["spans"].token.audit is not None
    assert measure(corpus, bootstrap=0, audit=False).schemes["spans"].token.audit is None


@pytest.mark.parametrize(
    ("texts", "spans", "exact", "terms"),
    [
        # Both read d1 alone, which has no text, beside an item that has one.
        ((None, "Ada"), [("d1", "a", 0, 3, "X")], 0.0, NO_TEXT),
        (("Ada", "Ada"), [], NOTHING_MARKED, NOTHING_MARKED),
        ((None, None), [], NOTHING_MARKED, NO_TEXT),
    ],
)
def test_a_missing_text_is_the_reason_where_a_rule_needs_one(
    texts: tuple[str | None, ...], spans: list[Any], exact: Any, terms: Any
) -> None:
    corpus = Corpus.from_tables(
        items=list(zip(("d1", "d2"), texts, strict=True)),
        passes=[("d1", "a"), ("d1", "b"), ("d2", "c")],
        spans=spans,
    )
    found = figures_of(corpus, rules=["terms"])
    for rule, right in (("exact", exact), ("terms", terms)):
        figure = headline(found, f"{rule}_typed")
        if isinstance(right, float):
            assert figure["value"] == right
        else:
            assert_undefined(figure, right)


def test_labels_and_annotators_without_spans_are_counted() -> None:
    marks = {"d1": {"ann": [(0, 3, "X")], "ben": []}}
    scheme = figures(marks, labels=["X", "Y", "Z"], annotators=["zoe"])
    assert scheme["corpus"]["label_spans"] == {"X": 1, "Y": 0, "Z": 0}
    counts = [(row["annotator"], row["passes"], row["spans"]) for row in scheme["annotators"]]
    assert counts == [("ann", 1, 1), ("ben", 1, 0), ("zoe", 0, 0)]


def test_losses_have_the_intervals_of_what_is_missing() -> None:
    # Of all there is to lose, existence alone is lost: its resamples are those of 1 − F1.
    found = measure(corpus_of(MARKS), bootstrap=40, audit=False).schemes["spans"]
    f1 = found.f1["overlap_untyped"].averages.mean_over_pairs
    existence = found.lost.existence
    assert existence.replicates is not None
    assert f1.replicates is not None
    assert np.array_equal(existence.replicates, 1 - f1.replicates, equal_nan=True)
    assert len(np.unique(existence.replicates)) > 2
    assert (found.lost.label.low, found.lost.label.high) == (0, 0)


def test_what_is_chosen_twice_is_measured_once() -> None:
    options: dict[str, Any] = {"rules": ["soft", "exact", "soft"], "measures": ["scott"] * 2}
    settings = measure(corpus_of(MARKS), bootstrap=0, **options).settings.to_dict()
    assert settings["rules"] == ["exact", "overlap", "soft"]
    assert settings["measures"] == ["scott"]


def test_the_corpus_and_its_annotators_are_counted() -> None:
    # Nobody read d4. The first span has two parts, of two characters each.
    scheme = figures_of(
        parts_corpus(
            {
                "d1": {
                    "ann": [("X", [(0, 2), (4, 6)]), ("Y", [(8, 12)])],
                    "ben": [("X", [(0, 2)])],
                },
                "d2": {"ann": [], "ben": [("X", [(0, 5)])]},
                "d3": {"cem": []},
            },
            dict.fromkeys(("d1", "d2", "d3", "d4"), "aa bb cc dddd"),
        )
    )
    assert scheme["corpus"] == {
        "items": 4,
        "items_read": 3,
        "items_shared": 2,
        "fields": 1,
        "passes": 5,
        "empty_passes": 2,
        "spans": 4,
        "discontinuous_spans": 1,
        "annotators": ["ann", "ben", "cem"],
        "labels": ["X", "Y"],
        "label_spans": {"X": 3, "Y": 1},
        "pairs": 3,
        "pairs_sharing_items": 1,
        "shared_items_median": 2.0,
    }
    columns = ("annotator", "passes", "empty_passes", "spans", "mean_length")
    rows = (("ann", 2, 1, 2, 4.0), ("ben", 2, 0, 2, 3.5), ("cem", 1, 1, 0, None))
    assert scheme["annotators"] == [dict(zip(columns, row, strict=True)) for row in rows]


def test_without_a_shared_item_nothing_is_known_of_what_is_lost() -> None:
    scheme = figures({"d1": {"A": [(0, 3, "X")]}, "d2": {"B": []}, "d3": {"C": []}})
    assert scheme["corpus"]["shared_items_median"] == 0.0
    for loss in scheme["lost"].values():
        assert_undefined(loss, NO_SHARED_ITEMS)
        assert (loss["n"], loss["of"]) == (0, 3)


def test_every_block_is_told_and_so_is_every_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "cut", partial(cut, size=1))
    corpus = Corpus.from_tables(
        items=[("d1", "aaa"), ("d2", "bbb")],
        passes=[(item, who) for item in ("d1", "d2") for who in "AS"],
        spans=[("d1", "A", 0, 3, "X")],
        roles={"A": "human", "S": "system"},
    )
    told: list[str] = []
    measure(corpus, bootstrap=0, progress=told.append)
    blocks = ["spans: counted 1 of 2", "spans: counted 2 of 2"]
    assert told == [*blocks, "spans: figures", "spans: systems and gold standards", *blocks]


def test_gamma_tells_how_far_it_is() -> None:
    told: list[str] = []
    measure(corpus_of(MARKS), bootstrap=0, measures=["gamma"], progress=told.append)
    assert any("gamma" in stage for stage in told)


def test_of_systems_and_gold_standards_nothing_is_told_where_there_are_none() -> None:
    told: list[str] = []
    measure(corpus_of(MARKS), bootstrap=0, progress=told.append)
    assert told == ["spans: counted 1 of 1", "spans: figures"]


def test_what_is_made_on_request_is_there_if_it_was_asked_for() -> None:
    plain, asked = figures(MARKS), figures(MARKS, measures=("gamma", "alpha_u", "cohen"))
    assert "gamma" not in plain
    assert "alpha_u" not in plain["unitizing"]
    assert not {"cohen", "scott", "fleiss"} & set(plain["token"])
    assert "gamma" in asked
    assert "alpha_u" in asked["unitizing"]
    assert {"cohen", "scott", "fleiss"} & set(asked["token"]) == {"cohen"}


def test_gamma_is_sampled_by_the_seed() -> None:
    marks = {"d1": {"A": [(0, 4, "X"), (6, 9, "Y")], "B": [(1, 4, "X"), (7, 12, "X")]}}
    found = [figures(marks, measures=("gamma",), seed=seed)["gamma"] for seed in (0, 0, 1, 2)]
    assert found[0] == found[1]
    assert found[1] != found[2] != found[3]
