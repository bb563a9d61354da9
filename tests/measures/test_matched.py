"""Matched spans: their labels against scikit-learn and krippendorff, their boundaries by hand."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

from potato_iaa import Corpus
from potato_iaa.layer import make_layer
from potato_iaa.matcher import align, overlap_edges
from tests.corpora import (
    NO_SHARED_ITEMS,
    ONE_ANNOTATOR,
    Marks,
    Span,
    corpus_of,
    parts_corpus,
)
from tests.measures.helpers import scheme_of, table_rows
from tests.measures.test_laws import Small, examples, small_corpora

Pair = tuple[str, str]
few = settings(examples, max_examples=8)


def label_pairs(corpus: Corpus) -> dict[Pair, list[tuple[str, str]]]:
    """Annotators → the labels of a and of b on each of their matches by untyped overlap."""
    layer = make_layer(corpus, "spans")
    alignment = align(layer, overlap_edges(layer))
    found: dict[Pair, list[tuple[str, str]]] = {}
    for left, right in zip(alignment.left.tolist(), alignment.right.tolist(), strict=True):
        pair = (
            layer.annotators[layer.span_annotator[left]],
            layer.annotators[layer.span_annotator[right]],
        )
        labels = (layer.labels[layer.span_label[left]], layer.labels[layer.span_label[right]])
        found.setdefault(pair, []).append(labels)
    return found


def confusion_of(corpus: Corpus) -> dict[Pair, int]:
    """The unordered pairs of labels that met, and how often; those of no match left out."""
    rows = table_rows(scheme_of(corpus).matched_labels.confusion)
    assert all(list(row) == ["label_a", "label_b", "spans"] for row in rows)
    keys = [(str(row["label_a"]), str(row["label_b"])) for row in rows]
    assert len({frozenset(key) for key in keys}) == len(keys)
    return {key: row["spans"] for key, row in zip(keys, rows, strict=True) if row["spans"]}


# Confusion ----------------------------------------------------------------------------------------

THREE: Marks = {
    "d1": {"A": [(0, 4, "X"), (5, 9, "X")], "B": [(0, 3, "Y"), (5, 9, "X")], "C": [(0, 4, "Y")]},
    "d2": {"A": [(0, 4, "Y")], "B": [(2, 6, "X")], "C": []},
    "d3": {"A": [(0, 4, "Z")]},
}


def test_the_confusion_counts_unordered_pairs_of_labels_over_all_pairs_of_annotators() -> None:
    # A–B: X–Y, X–X on d1 and Y–X on d2; A–C: X–Y; B–C: Y–Y. Z was never matched.
    assert confusion_of(corpus_of(THREE)) == {("X", "Y"): 3, ("X", "X"): 1, ("Y", "Y"): 1}


def test_the_confusion_of_a_pair_keeps_who_said_what() -> None:
    table = scheme_of(corpus_of(THREE)).matched_labels.pairs
    assert {
        (row["a"], row["b"], row["label_a"], row["label_b"]): row["spans"]
        for row in table_rows(table)
    } == {
        ("A", "B", "X", "X"): 1,
        ("A", "B", "X", "Y"): 1,
        ("A", "B", "Y", "X"): 1,
        ("A", "C", "X", "Y"): 1,
        ("B", "C", "Y", "Y"): 1,
    }


def test_labels_that_met_several_times_count_as_often() -> None:
    two: list[Span] = [(0, 2, "X"), (3, 5, "X")]
    corpus = corpus_of({"d1": {"A": two, "B": two}, "d2": {"A": two[:1], "B": two[:1]}})
    assert confusion_of(corpus) == {("X", "X"): 3}
    assert scheme_of(corpus).matched_labels.matches == 3


def test_matches_are_counted_over_all_pairs() -> None:
    matched = scheme_of(corpus_of(THREE)).matched_labels
    assert matched.matches == 5
    assert matched.observed_agreement.value == pytest.approx(2 / 5)


@few
@given(small_corpora())
def test_the_confusion_is_that_of_the_matching(small: Small) -> None:
    corpus = small.corpus()
    met = Counter(
        tuple(sorted(labels)) for pairs in label_pairs(corpus).values() for labels in pairs
    )
    found = confusion_of(corpus)
    assert {tuple(sorted(key)): number for key, number in found.items()} == dict(met)


# Coefficients -------------------------------------------------------------------------------------


def test_agreement_cohen_and_alpha_by_hand() -> None:
    # A: X X Y Y, B: X Y Y Y. p_o = 3/4, p_e = 1/2·1/4 + 1/2·3/4 = 1/2: kappa 1/2.
    # Alpha: n = 8, n_X = 3, n_Y = 5, Σ o_XY = 2: 1 − 7·2/(2·15) = 8/15.
    places = [(0, 2), (3, 5), (6, 8), (9, 11)]
    a, b = (
        [(*place, label) for place, label in zip(places, labels, strict=True)]
        for labels in ("XXYY", "XYYY")
    )
    matched = scheme_of(corpus_of({"d1": {"A": a, "B": b}})).matched_labels
    assert matched.observed_agreement.value == 3 / 4
    assert matched.cohen.value == pytest.approx(1 / 2)
    assert matched.alpha.value == pytest.approx(8 / 15)


def test_what_is_written_of_matched_labels_by_hand() -> None:
    # Five matches on two of three items, three of unlike labels: n = 10, n_X = n_Y = 5. Alpha:
    # 1 − 9·6/(2·25) = −0.08. Cohen: A–B p_o = 1/3, p_e = 5/9, −1/2; A–C 0; B–C has no variation.
    nothing = {"low": None, "high": None}
    assert scheme_of(corpus_of(THREE)).matched_labels.to_dict() == {
        "matches": 5,
        "observed_agreement": {"value": 0.4, **nothing, "n": 2, "of": 3},
        "alpha": {"value": -0.08, **nothing, "n": 2, "of": 3},
        "cohen_mean": {"value": -0.25, **nothing, "n": 2, "of": 3},
        "confusion": [
            {"label_a": "X", "label_b": "X", "spans": 1},
            {"label_a": "X", "label_b": "Y", "spans": 3},
            {"label_a": "Y", "label_b": "Y", "spans": 1},
        ],
    }


def test_an_annotator_who_gives_one_label_only_has_cohens_kappa_zero() -> None:
    marks: Marks = {
        "d1": {"A": [(0, 2, "X"), (3, 5, "X")], "B": [(0, 2, "X"), (3, 5, "Y")]},
    }
    matched = scheme_of(corpus_of(marks)).matched_labels
    assert matched.cohen.value == 0.0


def test_two_annotators_who_give_the_same_one_label_are_left_out_of_the_mean() -> None:
    # A–B agree on X alone (chance agreement 1); A–C and B–C differ once in two: kappa 0.
    spans: list[Span] = [(0, 2, "X"), (3, 5, "X")]
    marks: Marks = {"d1": {"A": spans, "B": spans, "C": [(0, 2, "X"), (3, 5, "Y")]}}
    cohen = scheme_of(corpus_of(marks)).matched_labels.cohen
    assert cohen.value == 0.0
    assert (cohen.n, cohen.of) == (2, 3)


NO_MATCH: dict[str, Marks] = {
    ONE_ANNOTATOR: {"d1": {"A": [(0, 2, "X")]}},
    NO_SHARED_ITEMS: {"d1": {"A": [(0, 2, "X")]}, "d2": {"B": [(0, 2, "X")]}},
    "no matched spans": {"d1": {"A": [(0, 2, "X")], "B": []}},
}


@pytest.mark.parametrize("marks", NO_MATCH.values(), ids=NO_MATCH)
def test_without_a_match_all_three_are_undefined(marks: Marks) -> None:
    matched = scheme_of(corpus_of(marks)).matched_labels
    assert matched.matches == 0
    for estimate in (matched.observed_agreement, matched.alpha, matched.cohen):
        assert estimate.value is None
        assert estimate.why
    assert confusion_of(corpus_of(marks)) == {}


@pytest.mark.parametrize("why", NO_MATCH)
def test_the_reason_for_no_match_is_the_first_that_holds(why: str) -> None:
    # measures.md, section 7.8: every coefficient of disjoint documents says `no shared items`.
    matched = scheme_of(corpus_of(NO_MATCH[why])).matched_labels
    assert {matched.observed_agreement.why, matched.alpha.why, matched.cohen.why} == {why}


def test_one_label_on_all_matches_is_full_agreement_without_variation() -> None:
    matched = scheme_of(corpus_of({"d1": {"A": [(0, 2, "X")], "B": [(0, 3, "X")]}})).matched_labels
    assert matched.observed_agreement.value == 1.0
    assert (matched.alpha.value, matched.alpha.why) == (None, "no variation")
    assert matched.cohen.value is None
    assert matched.cohen.why is not None


@few
@given(small_corpora())
def test_the_coefficients_are_those_of_scikit_learn_and_of_krippendorff(small: Small) -> None:
    corpus = small.corpus()
    pairs = label_pairs(corpus)
    matched = scheme_of(corpus).matched_labels
    met = [labels for pair in pairs.values() for labels in pair]
    assert matched.matches == len(met)
    if not met:
        assert matched.observed_agreement.value is None
        return
    assert matched.observed_agreement.value == pytest.approx(sum(a == b for a, b in met) / len(met))

    names = sorted({label for labels in met for label in labels})
    if len(names) < 2:
        assert matched.alpha.value is None
    else:
        # Two values a match, whoever gave them: one column a match.
        data = np.array([[names.index(label) for label in labels] for labels in met], dtype=float)
        right = krippendorff.alpha(reliability_data=data.T, level_of_measurement="nominal")
        assert matched.alpha.value == pytest.approx(float(right), abs=1e-9)

    kappas = []
    for labels in pairs.values():
        of_a, of_b = zip(*labels, strict=True)
        if len({*of_a, *of_b}) > 1:
            kappas.append(float(cohen_kappa_score(of_a, of_b)))
    if kappas:
        assert matched.cohen.value == pytest.approx(float(np.mean(kappas)), abs=1e-9)
    else:
        assert matched.cohen.value is None
    everyone = sorted({who for (_, who), _ in small.passes})
    assert (matched.cohen.n, matched.cohen.of) == (len(kappas), len([*combinations(everyone, 2)]))


# Boundaries ---------------------------------------------------------------------------------------

#       0  3  6  9  12 15 18 21
TEXT = "aa bb cc dd ee ff gg hh"
COUNTS = (
    "both_exact",
    "start_exact",
    "start_one_token",
    "start_earlier",
    "start_later",
    "end_exact",
    "end_one_token",
    "end_earlier",
    "end_later",
    "longer",
    "shorter",
)
MIRRORED = {
    "start_earlier": "start_later",
    "start_later": "start_earlier",
    "end_earlier": "end_later",
    "end_later": "end_earlier",
    "longer": "shorter",
    "shorter": "longer",
}


def boundary_rows(corpus: Corpus) -> dict[Pair, dict[str, int]]:
    """Annotator and label → matches and the counts that are not zero."""
    table = scheme_of(corpus).boundaries.table
    assert list(table.columns) == ["annotator", "label", "matches", *COUNTS]
    return {
        (row["annotator"], row["label"]): {
            name: row[name] for name in ("matches", *COUNTS) if row[name]
        }
        for row in table_rows(table)
    }


def histogram_of(corpus: Corpus) -> dict[tuple[str, int], int]:
    table = scheme_of(corpus).boundaries.histogram
    return {
        (row["side"], row["tokens"]): row["matches"] for row in table_rows(table) if row["matches"]
    }


BOUNDARIES: list[Any] = [
    # B's span, against A's "bb cc" at [3, 8); what is true of B; tokens apart at start and end.
    pytest.param((3, 8), {"both_exact", "start_exact", "end_exact"}, (0, 0), id="the same"),
    pytest.param(
        (0, 8),
        {"start_earlier", "start_one_token", "end_exact", "longer"},
        (1, 0),
        id="a word more",
    ),
    pytest.param(
        (3, 11),
        {"start_exact", "end_later", "end_one_token", "longer"},
        (0, 1),
        id="a word more at the end",
    ),
    pytest.param(
        (6, 8), {"start_later", "start_one_token", "end_exact", "shorter"}, (1, 0), id="a word less"
    ),
    pytest.param(
        (3, 5),
        {"start_exact", "end_earlier", "end_one_token", "shorter"},
        (0, 1),
        id="a word less at the end",
    ),
    pytest.param(
        (4, 8), {"start_later", "end_exact", "shorter"}, (0, 0), id="half a word is no token"
    ),
    pytest.param(
        (3, 14), {"start_exact", "end_later", "longer"}, (0, 2), id="two words more are not one"
    ),
    pytest.param(
        (0, 11),
        {"start_earlier", "start_one_token", "end_later", "end_one_token", "longer"},
        (1, 1),
        id="a word more on both sides",
    ),
    pytest.param(
        (6, 11),
        {"start_later", "start_one_token", "end_later", "end_one_token"},
        (1, 1),
        id="shifted by a word is neither longer nor shorter",
    ),
    pytest.param(
        (6, 23), {"start_later", "start_one_token", "end_later", "longer"}, (1, 5), id="five words"
    ),
]


@cache
def boundaries_by_hand() -> dict[Pair, dict[str, int]]:
    """The boundaries of all these cases, each with annotators of its own in one corpus."""
    marks: dict[str, dict[str, list[Span]]] = {
        str(case.id): {
            f"A, {case.id}": [(3, 8, "X")],
            f"B, {case.id}": [(*case.values[0], "X")],
        }
        for case in BOUNDARIES
    }
    return boundary_rows(corpus_of(marks, texts=dict.fromkeys(marks, TEXT)))


@pytest.mark.parametrize(
    ("case", "true_of_b"), [pytest.param(row.id, row.values[1], id=row.id) for row in BOUNDARIES]
)
def test_boundaries_against_two_words(case: str, true_of_b: set[str]) -> None:
    rows = boundaries_by_hand()
    assert rows[f"B, {case}", "X"] == {"matches": 1, **dict.fromkeys(true_of_b, 1)}
    true_of_a = {MIRRORED.get(name, name) for name in true_of_b}
    assert rows[f"A, {case}", "X"] == {"matches": 1, **dict.fromkeys(true_of_a, 1)}


def test_the_histogram_counts_the_tokens_between_starts_and_between_ends() -> None:
    marks = {
        str(case.id): {"A": [(3, 8, "X")], "B": [(*case.values[0], "X")]} for case in BOUNDARIES
    }
    right: Counter[tuple[str, int]] = Counter()
    for case in BOUNDARIES:
        right.update(zip(("start", "end"), case.values[2], strict=True))
    assert histogram_of(corpus_of(marks, texts=dict.fromkeys(marks, TEXT))) == dict(right)


def test_the_last_bin_of_the_histogram_holds_all_that_is_farther() -> None:
    corpus = corpus_of({"d1": {"A": [(0, 2, "X")], "B": [(0, 23, "X")]}}, texts={"d1": TEXT})
    assert histogram_of(corpus) == {("start", 0): 1, ("end", 5): 1}
    rows = table_rows(scheme_of(corpus).boundaries.histogram)
    assert [(row["side"], row["tokens"]) for row in rows] == [
        (side, tokens) for side in ("start", "end") for tokens in range(6)
    ]


def test_a_row_is_of_the_annotators_own_label() -> None:
    corpus = corpus_of({"d1": {"A": [(0, 5, "X")], "B": [(0, 2, "Y")]}}, texts={"d1": TEXT})
    assert set(boundary_rows(corpus)) == {("A", "X"), ("B", "Y")}


def test_every_annotator_is_counted_against_every_other() -> None:
    marks: Marks = {"d1": {"A": [(0, 5, "X")], "B": [(0, 5, "X")], "C": [(0, 8, "X")]}}
    rows = boundary_rows(corpus_of(marks, texts={"d1": TEXT}))
    assert rows["A", "X"] == {
        "matches": 2,
        "both_exact": 1,
        "start_exact": 2,
        "end_exact": 1,
        "end_one_token": 1,
        "end_earlier": 1,
        "shorter": 1,
    }
    assert rows["B", "X"] == rows["A", "X"]
    assert rows["C", "X"] == {
        "matches": 2,
        "start_exact": 2,
        "end_one_token": 2,
        "end_later": 2,
        "longer": 2,
    }


def test_matches_of_all_items_add_up() -> None:
    same = {"A": [(0, 5, "X")], "B": [(0, 5, "X")]}
    other = {"A": [(3, 5, "X")], "B": [(0, 5, "X")]}
    corpus = corpus_of({"d1": same, "d2": other}, texts={"d1": TEXT, "d2": TEXT})
    assert boundary_rows(corpus)["A", "X"] == {
        "matches": 2,
        "both_exact": 1,
        "start_exact": 1,
        "start_one_token": 1,
        "start_later": 1,
        "end_exact": 2,
        "shorter": 1,
    }
    assert histogram_of(corpus) == {("start", 0): 1, ("start", 1): 1, ("end", 0): 2}


def test_what_is_written_of_boundaries_by_hand() -> None:
    # A has the first word alone, B both.
    corpus = corpus_of({"d1": {"A": [(0, 2, "X")], "B": [(0, 5, "Y")]}}, texts={"d1": "aa bb"})
    whole = dict.fromkeys(COUNTS, 0) | {"matches": 1, "start_exact": 1, "end_one_token": 1}
    assert scheme_of(corpus).boundaries.to_dict() == {
        "table": [
            {"annotator": "A", "label": "X", **whole, "end_earlier": 1, "shorter": 1},
            {"annotator": "B", "label": "Y", **whole, "end_later": 1, "longer": 1},
        ],
        "histogram": [
            {"side": side, "tokens": tokens, "matches": int((side, tokens) in met)}
            for met in [{("start", 0), ("end", 1)}]
            for side in ("start", "end")
            for tokens in range(6)
        ],
    }


def test_a_filled_gap_leaves_the_ends_exact_and_makes_the_span_longer() -> None:
    corpus = parts_corpus(
        {"d1": {"A": [("X", [(0, 2), (6, 8)])], "B": [("X", [(0, 8)])]}}, {"d1": TEXT}
    )
    rows = boundary_rows(corpus)
    assert rows["A", "X"] == {"matches": 1, "start_exact": 1, "end_exact": 1, "shorter": 1}
    assert rows["B", "X"] == {"matches": 1, "start_exact": 1, "end_exact": 1, "longer": 1}


def test_without_a_match_the_tables_are_empty_and_keep_their_columns() -> None:
    boundaries = scheme_of(corpus_of({"d1": {"A": [(0, 2, "X")], "B": []}})).boundaries
    assert list(boundaries.table.columns) == ["annotator", "label", "matches", *COUNTS]
    assert not boundaries.table["matches"].sum()
    assert not boundaries.histogram["matches"].sum()


def test_where_there_is_no_label_at_all_nothing_is_matched() -> None:
    scheme = scheme_of(corpus_of({"d1": {"A": [], "B": []}}))
    assert list(scheme.boundaries.table.columns) == ["annotator", "label", "matches", *COUNTS]
    assert len(scheme.boundaries.table) == 0
    assert confusion_of(corpus_of({"d1": {"A": [], "B": []}})) == {}
    assert len(scheme.matched_labels.pairs) == 0


def naive_boundaries(small: Small) -> dict[Pair, Counter[str]]:
    """Starts, ends and lengths of matched spans compared one by one, without tokens."""
    layer = make_layer(small.corpus(), "spans")
    alignment = align(layer, overlap_edges(layer))
    parts: dict[int, list[tuple[int, int]]] = {}
    for span, start, end in zip(
        layer.part_span.tolist(), layer.part_start.tolist(), layer.part_end.tolist(), strict=True
    ):
        parts.setdefault(span, []).append((start, end))
    found: dict[Pair, Counter[str]] = {}

    def count(span: int, partner: int) -> None:
        key = (layer.annotators[layer.span_annotator[span]], layer.labels[layer.span_label[span]])
        mine, theirs = sorted(parts[span]), sorted(parts[partner])
        tally = found.setdefault(key, Counter())
        tally["matches"] += 1
        tally["both_exact"] += mine == theirs
        compare(tally, "start", mine[0][0] - theirs[0][0])
        compare(tally, "end", mine[-1][1] - theirs[-1][1])
        more = sum(end - start for start, end in mine) - sum(end - start for start, end in theirs)
        tally["longer"] += more > 0
        tally["shorter"] += more < 0

    def compare(tally: Counter[str], side: str, difference: int) -> None:
        tally[f"{side}_exact"] += difference == 0
        tally[f"{side}_earlier"] += difference < 0
        tally[f"{side}_later"] += difference > 0

    for left, right in zip(alignment.left.tolist(), alignment.right.tolist(), strict=True):
        count(left, right)
        count(right, left)
    return found


def without_tokens(row: dict[str, int]) -> dict[str, int]:
    return {name: number for name, number in row.items() if not name.endswith("one_token")}


@few
@given(small_corpora())
def test_boundaries_are_those_of_the_matching(small: Small) -> None:
    right = {key: dict(+tally) for key, tally in naive_boundaries(small).items()}
    found = {key: without_tokens(row) for key, row in boundary_rows(small.corpus()).items()}
    assert {key: row for key, row in found.items() if row} == right


@few
@given(small_corpora())
def test_on_character_tokens_the_histogram_is_that_of_the_offsets(small: Small) -> None:
    layer = make_layer(small.corpus(), "spans")
    alignment = align(layer, overlap_edges(layer))
    right: Counter[tuple[str, int]] = Counter()
    for name, offsets in (("start", layer.span_start), ("end", layer.span_end)):
        for apart in np.abs(offsets[alignment.left] - offsets[alignment.right]).tolist():
            right[name, min(apart, 5)] += 1
    table: pd.DataFrame = scheme_of(small.corpus(), token_unit="character").boundaries.histogram
    found = {(row["side"], row["tokens"]): row["matches"] for row in table_rows(table)}
    assert {key: number for key, number in found.items() if number} == dict(right)
