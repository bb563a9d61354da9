"""What a report holds, and under which names: others read it by them."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import Any

import pytest

from potato_iaa import measure
from potato_iaa.measures.agreement import Agreement, Lost, SchemeAgreement, Settings
from potato_iaa.measures.estimate import Estimate
from tests.corpora import corpus_of
from tests.measures.helpers import scheme_of

ESTIMATES = (
    *("alpha", "alpha_io_longest", "alpha_bio", "alpha_binary", "alpha_marked"),
    *("observed_agreement", "chance_agreement", "beyond_chance"),
)
COUNTS = ("tokens", "multi_label_tokens", "spans_without_tokens", "spans_cutting_tokens")
LOSSES = ("existence", "label", "boundary")


@cache
def scheme() -> SchemeAgreement:
    """A and B share one span of two, C none; on d2 all differ."""
    marks = {
        "d1": {"A": [(0, 4, "X"), (5, 9, "Y")], "B": [(0, 4, "X"), (5, 9, "X")], "C": []},
        "d2": {"A": [(0, 4, "X")], "B": [(0, 9, "X")]},
    }
    corpus = corpus_of(marks, texts=dict.fromkeys(marks, "aaaa bbbb cccc"))
    return scheme_of(corpus)


def test_the_parts_of_a_report_have_their_names() -> None:
    assert list(scheme().to_dict()) == [
        *("corpus", "f1", "lost", "token", "unitizing", "matched_labels", "boundaries"),
        *("disagreements", "annotators", "drift", "sides"),
    ]


@pytest.mark.parametrize(
    ("part", "names"),
    [
        ("lost", LOSSES),
        ("token", ("unit", *COUNTS, *ESTIMATES, "labels", "label_shares", "audit")),
        ("disagreements", ("total", "labels", "pairs", "annotators")),
        ("f1", ("exact_typed", "exact_untyped", "overlap_typed", "overlap_untyped")),
    ],
)
def test_what_is_in_a_part_has_its_name(part: str, names: tuple[str, ...]) -> None:
    assert sorted(scheme().to_dict()[part]) == sorted(names)


def test_what_is_made_on_request_stands_where_it_belongs_and_there_alone() -> None:
    # Both have the same units, so that gamma draws no samples.
    corpus = corpus_of({"d1": {who: [(0, 4, "X"), (5, 9, "Y")] for who in "AB"}})
    usual = scheme_of(corpus).to_dict()
    asked = scheme_of(corpus, measures=("cohen", "alpha_u", "gamma")).to_dict()
    assert asked.keys() - usual.keys() == {"gamma"}
    assert asked["unitizing"].keys() - usual["unitizing"].keys() == {"alpha_u"}
    assert asked["token"].keys() - usual["token"].keys() == {"cohen"}
    assert asked["gamma"]["mean_over_items"]["of"] == 1
    assert asked["unitizing"]["alpha_u"] != {}
    assert {"mean", "pairs"} <= asked["token"]["cohen"]["label"].keys()


def test_each_figure_stands_under_its_own_name() -> None:
    values = {name: place / 100 for place, name in enumerate((*ESTIMATES, *LOSSES))}
    counts = {name: place for place, name in enumerate(COUNTS, 1)}
    made: dict[str, Any] = {name: Estimate(values[name]) for name in ESTIMATES} | counts
    labels, shares = {"X": Estimate(0.9)}, {"O": 0.1 + 0.2}
    token = replace(scheme().token, **made, labels=labels, label_shares=shares)
    told = token.to_dict()
    assert {name: told[name]["value"] for name in ESTIMATES} == {
        name: values[name] for name in ESTIMATES
    }
    assert {name: told[name] for name in COUNTS} == counts
    assert told["labels"]["X"]["value"] == 0.9
    # To twelve digits, as all figures.
    assert told["label_shares"] == {"O": 0.3}
    lost = Lost(**{name: Estimate(values[name]) for name in LOSSES}).to_dict()
    assert {name: figure["value"] for name, figure in lost.items()} == {
        name: values[name] for name in LOSSES
    }


def test_an_audit_stands_beside_the_alphas_if_there_was_one() -> None:
    corpus = corpus_of({"d1": {"A": [(0, 4, "X")], "B": []}}, texts={"d1": "aaaa bbbb"})
    audited = scheme_of(corpus, audit=True)
    assert audited.token.audit is not None
    assert audited.to_dict()["token"]["audit"] == audited.token.audit.to_dict()
    assert scheme().to_dict()["token"]["audit"] is None


def test_disagreements_are_counted_by_label_pair_and_annotator() -> None:
    # A and B name (5, 9) on d1 differently and cut d2's span differently; C misses two spans each.
    told = scheme().to_dict()["disagreements"]
    assert told["total"] == {
        "missed": 4,
        "boundary": 1,
        "label": 1,
        "boundary+label": 0,
        "split/merge": 0,
    }
    assert [(row["label"], row["n_missed"]) for row in told["labels"]] == [("X", 3), ("Y", 1)]
    pairs = [(row["a"], row["b"], row["n_missed"], row["n_label"]) for row in told["pairs"]]
    assert pairs == [("A", "B", 0, 1), ("A", "C", 2, 0), ("B", "C", 2, 0)]
    people = [(row["annotator"], row["n_missed"]) for row in told["annotators"]]
    assert people == [("A", 2), ("B", 2), ("C", 4)]


def test_the_choices_have_their_names_and_those_that_nobody_made_their_values() -> None:
    assert Settings().to_dict() == {
        "rules": ["exact", "overlap"],
        "token_unit": "word",
        "both_empty": "skip",
        "min_shared_items": 1,
        "bootstrap": 1000,
        "seed": 0,
        "measures": [],
    }


def test_items_and_spans_are_not_shown_where_an_agreement_is_printed() -> None:
    assert {one.name for one in fields(Agreement) if not one.repr} == {"items", "spans"}


def test_an_agreement_has_its_schemes_by_name() -> None:
    corpus = corpus_of({"d1": {"A": [(0, 1, "X")]}})
    agreement = replace(measure(corpus, bootstrap=0), schemes={"a": scheme(), "b": scheme()})
    assert agreement.to_dict() == {"a": scheme().to_dict(), "b": scheme().to_dict()}


@pytest.mark.parametrize("reading", [{}, {"trim": True, "exclude_annotators": ("bot",)}])
def test_the_choices_are_those_of_the_measurement_and_of_the_reading(
    reading: dict[str, Any],
) -> None:
    agreement = measure(corpus_of({"d1": {"A": [(0, 1, "X")]}}), bootstrap=5)
    source = replace(agreement.source, passes="seen", reading=reading)
    right = agreement.settings.to_dict() | {"passes": "seen"}
    assert right["bootstrap"] == 5
    # What was read as usual is not spelled out.
    right |= {"reading": reading} if reading else {}
    assert replace(agreement, source=source).choices == right
