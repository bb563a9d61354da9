"""The conformance cases and published values, through ``Corpus.from_tables`` and ``measure``."""

from __future__ import annotations

from typing import Any

import pytest

from potato_iaa.matcher import parse_rule
from tests.conformance.loading import (
    CASE_IDS,
    CODINGS,
    RULES,
    TOKEN_UNITS,
    annotators_with_a_pass,
    as_corpus,
    case,
    case_figures,
    shared_items,
    undefined_reasons,
    units_corpus,
    worked,
)
from tests.corpora import (
    NO_SHARED_ITEMS,
    NO_VARIATION,
    NOTHING_MARKED,
    ONE_ANNOTATOR,
    TOLERANCE,
    Figures,
    assert_undefined,
    assert_value,
    figures_of,
    number,
    pair_of,
)

AVERAGES = {
    "macro_pairs": "mean_over_pairs",
    "micro_pairs": "pooled",
    "macro_items_skip_empty": "mean_over_items",
}
F1_KEYS = [f"{rule}_{types}" for rule in RULES for types in ("typed", "untyped")]


def f1_of(case_id: str, key: str, both_empty: str = "skip") -> Figures:
    """The package's figures under the cases' F1 key."""
    rule, _, types = key.partition("_")
    scheme = case_figures(case_id, both_empty=both_empty)
    figures: Figures = scheme["f1"][f"{parse_rule(RULES[rule])}_{types}"]
    return figures


def test_there_are_sixty_cases() -> None:
    assert len(CASE_IDS) == 60


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_the_corpus_is_counted_as_it_was_given(case_id: str) -> None:
    given = [
        {tuple(span) for span in spans}
        for item in case(case_id)["items"]
        for spans in item["annotations"].values()
        if spans is not None
    ]
    counts = case_figures(case_id)["corpus"]
    assert counts["items"] == len(case(case_id)["items"])
    assert counts["items_shared"] == shared_items(case_id)
    assert counts["passes"] == len(given)
    assert counts["empty_passes"] == sum(not spans for spans in given)
    assert counts["spans"] == sum(len(spans) for spans in given)
    # Those who did nothing at all may be listed or not.
    assert annotators_with_a_pass(case_id) <= set(counts["annotators"])
    assert set(counts["annotators"]) <= set(case(case_id)["annotators"])
    assert sorted(counts["labels"]) == sorted({label for spans in given for *_, label in spans})


@pytest.mark.parametrize("key", F1_KEYS)
@pytest.mark.parametrize("case_id", CASE_IDS)
def test_counts_and_f1_of_every_pair(case_id: str, key: str) -> None:
    figures = f1_of(case_id, key)
    expected = case(case_id)["expected"]["f1"][key]["pairs"]
    sharing = {pair for pair, row in expected.items() if row["shared_items"]}
    assert {f"{row['a']}|{row['b']}" for row in figures["pairs"]} == sharing
    for row in figures["pairs"]:
        right = expected[f"{row['a']}|{row['b']}"]
        assert (row["tp"], row["n_a"], row["n_b"], row["items"]) == (
            right["tp"],
            right["n_a"],
            right["n_b"],
            right["shared_items"],
        )
        assert_value(row, right["f1"])
        if row["value"] is None:
            assert_undefined(row, NOTHING_MARKED)
        # The cases take the second annotator as the reference, the package the first.
        for ours, theirs in (("precision", "recall"), ("recall", "precision")):
            if right[theirs] is None:
                assert row[ours] is None
            else:
                assert abs(row[ours] - right[theirs]) <= TOLERANCE


@pytest.mark.parametrize("key", F1_KEYS)
@pytest.mark.parametrize("case_id", CASE_IDS)
def test_every_average_of_f1(case_id: str, key: str) -> None:
    figures = f1_of(case_id, key)
    expected = case(case_id)["expected"]["f1"][key]
    for theirs, ours in AVERAGES.items():
        assert_value(figures[ours], expected[theirs]["value"])
        if figures[ours]["value"] is None:
            reasons = undefined_reasons(case_id, NO_SHARED_ITEMS, ONE_ANNOTATOR, NOTHING_MARKED)
            assert_undefined(figures[ours], *reasons)
    assert figures["mean_over_pairs"]["n"] == expected["n_pairs_defined"]


@pytest.mark.parametrize("key", F1_KEYS)
@pytest.mark.parametrize("case_id", CASE_IDS)
def test_items_that_both_left_empty_count_as_agreement_on_request(case_id: str, key: str) -> None:
    figures = f1_of(case_id, key, both_empty="agree")
    expected = case(case_id)["expected"]["f1"][key]
    assert_value(figures["mean_over_items"], expected["macro_items_empty_is_1"]["value"])
    assert_value(figures["pooled"], expected["micro_pairs"]["value"])
    assert_value(figures["mean_over_pairs"], expected["macro_pairs"]["value"])


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_exact_f1_of_every_label(case_id: str) -> None:
    rows = case_figures(case_id)["f1"]["exact_typed"]["labels"]
    expected = case(case_id)["expected"]["f1_per_label_exact"]
    assert set(rows) == set(expected)
    for label, right in expected.items():
        assert_value(rows[label]["mean_over_pairs"], right["value"])


@pytest.mark.parametrize("unit", TOKEN_UNITS)
@pytest.mark.parametrize("case_id", CASE_IDS)
def test_token_alpha_in_every_coding(case_id: str, unit: str) -> None:
    token = case_figures(case_id, unit)["token"]
    expected = case(case_id)["expected"]["tokens"][unit]
    keys = {"label": "alpha", "io_longest": "alpha_io_longest"}
    reasons = undefined_reasons(case_id, NO_SHARED_ITEMS, ONE_ANNOTATOR, NO_VARIATION)
    assert token["unit"] == TOKEN_UNITS[unit]
    for coding, right in expected["alpha"].items():
        name = CODINGS[coding]
        estimate = token[keys.get(name, f"alpha_{name}")]
        assert_value(estimate, right["value"])
        if right["value"] is None:
            assert_undefined(estimate, *reasons)
    assert set(token["labels"]) == set(expected["alpha_per_label"])
    for label, right in expected["alpha_per_label"].items():
        assert_value(token["labels"][label], right["value"])


def worked_cases(kind: str, *keys: str) -> list[Any]:
    """The worked cases of one kind that have a value under one of the keys, as parameters."""
    return [
        pytest.param(entry, key, id=f"{entry['name']}: {key}")
        for entry in worked("worked_cases")
        if entry["kind"] == kind
        for key in entry["expected"]
        if key.startswith(keys)
    ]


@pytest.mark.parametrize(("entry", "key"), worked_cases("units", "alpha_nominal"))
def test_token_alpha_gives_the_published_nominal_alpha(entry: dict[str, Any], key: str) -> None:
    token = figures_of(units_corpus(entry["input"]), token_unit="character")["token"]
    right = entry["expected"][key]
    assert_value(token["alpha"], right["value"], max(right["tol"], 1e-12))
    if right["value"] is None:
        assert_undefined(token["alpha"], NO_VARIATION, ONE_ANNOTATOR)


@pytest.mark.parametrize(("entry", "key"), worked_cases("units", "p_o", "chance_pooled"))
def test_observed_and_chance_agreement_of_two_annotators(entry: dict[str, Any], key: str) -> None:
    token = figures_of(units_corpus(entry["input"]), token_unit="character")["token"]
    ours = {"p_o": "observed_agreement", "chance_pooled": "chance_agreement"}[key]
    right = entry["expected"][key]
    assert number(token[ours]) == pytest.approx(right["value"], abs=right["tol"])


@pytest.mark.parametrize(("entry", "key"), worked_cases("corpus", "f1_"))
def test_worked_f1_values(entry: dict[str, Any], key: str) -> None:
    _, rule, types = key.split("_")
    scheme = figures_of(as_corpus(entry["input"]), rules=(RULES[rule],))
    right = entry["expected"][key]
    figures = scheme["f1"][f"{parse_rule(RULES[rule])}_{types}"]
    assert_value(figures["mean_over_pairs"], right["value"], max(right["tol"], 1e-12))
    assert_value(figures["pooled"], right["value"], max(right["tol"], 1e-12))


@pytest.mark.parametrize(("entry", "key"), worked_cases("corpus", "precision", "recall"))
def test_worked_precision_and_recall(entry: dict[str, Any], key: str) -> None:
    row = pair_of(figures_of(as_corpus(entry["input"])), *entry["input"]["annotators"])
    ours = {"precision": "recall", "recall": "precision"}[key]
    assert row[ours] == entry["expected"][key]["value"]
