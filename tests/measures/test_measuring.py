"""What measure() refuses, and what its choices leave out."""

from __future__ import annotations

from typing import Any

import pytest

from potato_iaa import Corpus, measure
from potato_iaa.errors import UsageError
from tests.corpora import assert_undefined, corpus_of, figures, figures_of, headline

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


def test_pairs_that_share_too_few_items_stay_out_of_the_mean() -> None:
    # ann and ben: 2 of 4 spans matched on two items; the pairs with cem share one item, F1 1.
    assert headline(figures(MARKS, min_shared_items=1))["value"] == pytest.approx(2.5 / 3)
    assert headline(figures(MARKS, min_shared_items=2))["value"] == pytest.approx(0.5)
    assert_undefined(headline(figures(MARKS, min_shared_items=3)), "no pair shares 3 items")


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
