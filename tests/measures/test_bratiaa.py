"""The published four-annotator example (Spanish CoNLL texts), against the values it is known for.

The texts are not ours to ship: the corpus is read from beside the repository, where it lies.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.loading import as_corpus
from tests.corpora import Figures, assert_value, figures_of, headline, pair_of

EXAMPLE = Path(__file__).parents[2].parent / "shared" / "cases" / "worked" / "bratiaa_example.json"

pytestmark = pytest.mark.skipif(
    not EXAMPLE.is_file(), reason="the example's texts are not shipped with this repository"
)


@cache
def scheme() -> Figures:
    data: dict[str, Any] = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    return figures_of(as_corpus(data))


def test_there_are_four_annotators_seven_items_and_1567_spans() -> None:
    counts = scheme()["corpus"]
    assert sorted(counts["annotators"]) == ["Lisa", "Maria", "Max", "Peter"]
    assert (counts["items"], counts["items_shared"], counts["passes"]) == (7, 7, 28)
    assert counts["spans"] == 1567


def test_exact_typed_mean_over_pairs_and_its_population_sd() -> None:
    estimate = headline(scheme())
    assert_value(estimate, 0.8903501522940479, 1e-12)
    assert estimate["sd"] == pytest.approx(0.0526314, abs=5e-8)
    assert (estimate["n"], estimate["of"]) == (6, 6)


def test_exact_typed_pooled() -> None:
    assert_value(scheme()["f1"]["exact_typed"]["pooled"], 0.8917251648585407, 1e-12)


def test_exact_untyped_mean_over_pairs() -> None:
    assert_value(headline(scheme(), "exact_untyped"), 0.9038767223423569, 1e-12)


def test_overlap_untyped_pooled() -> None:
    assert_value(scheme()["f1"]["overlap_untyped"]["pooled"], 0.961, 5e-4)


@pytest.mark.parametrize(
    ("label", "expected"),
    [("LOC", 0.8191061), ("MISC", 0.84004593), ("ORG", 0.9059579), ("PER", 0.93782234)],
)
def test_exact_typed_mean_over_pairs_of_a_label(label: str, expected: float) -> None:
    rows = scheme()["f1"]["exact_typed"]["labels"]
    assert_value(rows[label]["mean_over_pairs"], expected, 1e-7)


def test_every_pair_shares_the_seven_items() -> None:
    assert len(scheme()["f1"]["exact_typed"]["pairs"]) == 6
    assert pair_of(scheme(), "Lisa", "Peter")["items"] == 7
