"""The coefficients on the tokens of one text by hand: every figure that is written of them."""

from __future__ import annotations

from typing import Any

import pytest

from potato_iaa import Corpus, measure
from potato_iaa.layer import make_layer
from potato_iaa.measures.estimate import plain
from potato_iaa.measures.tokens import Scale, coincide_labels, join_scales, make_tokens
from tests.corpora import (
    NO_SHARED_ITEMS,
    NO_VARIATION,
    ONE_ANNOTATOR,
    Marks,
    assert_undefined,
    corpus_of,
    figures_of,
)

# The words are ab, cd and ef. A's Y begins inside ab, and the second X lies between words.
TEXT = "ab cd  ef"
HAND: Marks = {"d1": {"A": [(0, 2, "X"), (1, 5, "Y"), (5, 7, "X")], "B": []}}


def value(number: float) -> dict[str, Any]:
    return {"value": plain(number), "low": None, "high": None, "n": 1, "of": 1}


def test_what_is_written_of_the_tokens_of_a_text_by_hand() -> None:
    # A has X+Y, Y, O and B three O: two of three tokens differ, from both sides. n = 6, n_O = 4.
    found = figures_of(corpus_of(HAND, texts={"d1": TEXT}), audit=False)["token"]
    assert found == {
        "unit": "word",
        "tokens": 3,
        "multi_label_tokens": 1,
        "spans_without_tokens": 1,
        "spans_cutting_tokens": 1,
        "alpha": value(1 - 5 * 4 / (36 - 18)),
        # Y is longer than X and owns both words, as B-Y and I-Y.
        "alpha_io_longest": value(1 - 5 * 4 / (36 - 20)),
        "alpha_bio": value(1 - 5 * 4 / (36 - 18)),
        "alpha_binary": value(1 - 5 * 4 / (36 - 20)),
        # ab and cd alone: n = 4, n_O = 2.
        "alpha_marked": value(1 - 3 * 4 / (16 - 6)),
        "observed_agreement": value(1 / 3),
        "chance_agreement": value(1 / 2),
        "beyond_chance": value((1 / 3 - 1 / 2) / (1 / 2)),
        # X is on one token and Y on two, of A alone.
        "labels": {"X": value(1 - 5 * 2 / (36 - 26)), "Y": value(1 - 5 * 4 / (36 - 20))},
        "label_shares": {"O": plain(4 / 6), "X+Y": plain(1 / 6), "Y": plain(1 / 6)},
        "audit": None,
    }


def test_a_text_that_nobody_else_read_has_tokens_and_no_values() -> None:
    marks: Marks = {**HAND, "d2": {"A": [(0, 5, "X")]}}
    both = figures_of(corpus_of(marks, texts={"d1": TEXT, "d2": TEXT}), audit=False)["token"]
    assert both["tokens"] == 6
    assert both["alpha"] == value(1 - 5 * 4 / (36 - 18)) | {"of": 2}
    assert both["label_shares"] == {
        "O": plain(4 / 6),
        "X": 0.0,
        "X+Y": plain(1 / 6),
        "Y": plain(1 / 6),
    }


def test_a_label_in_quotes_is_not_taken_for_one_that_is_quoted() -> None:
    # Of three words one has the label O, one the label "O", quotes and all, and one has none.
    marks: Marks = {"d1": {"A": [(0, 2, "O"), (3, 5, '"O"')], "B": [(0, 2, "O"), (3, 5, '"O"')]}}
    shares = figures_of(corpus_of(marks, texts={"d1": TEXT}), audit=False)["token"]["label_shares"]
    assert shares == dict.fromkeys(("O", '"O"', '"\\"O\\""'), plain(1 / 3))


def test_two_of_three_annotators_who_mark_a_word_are_half_of_its_pairs() -> None:
    # On ab X, X and O make 4 of 6 ordered pairs unlike, each worth 1/2: 2. n = 9, n_X = 2.
    marks: Marks = {"d1": {"A": [(0, 2, "X")], "B": [(0, 2, "X")], "C": []}}
    found = figures_of(corpus_of(marks, texts={"d1": TEXT}), audit=False)["token"]
    right = value(1 - 8 * 2 / (81 - 4 - 49))
    assert found["labels"] == {"X": right}
    for name in ("alpha", "alpha_io_longest", "alpha_bio", "alpha_binary"):
        assert found[name] == right
    # On ab alone n = 3, n_X = 2.
    assert found["alpha_marked"] == value(1 - 2 * 2 / (9 - 4 - 1))


def test_the_coincidences_of_each_label_are_kept_item_by_item() -> None:
    marks: Marks = {
        "d1": {"A": [(0, 2, "Y")], "B": []},
        "d2": {"A": [(0, 2, "Y"), (3, 5, "X")], "B": [(3, 5, "X")]},
        "d3": {"A": [(0, 2, "X")], "B": [(3, 5, "X")]},
    }
    layer = make_layer(corpus_of(marks, texts=dict.fromkeys(marks, TEXT)), "spans")
    found = coincide_labels(layer, make_tokens(layer, "word"))
    # X, then Y. One of two annotators on a token: two ordered pairs that differ.
    assert found.disagreement.tolist() == [[0, 2], [0, 2], [4, 0]]
    assert found.marked.tolist() == [[0, 1], [2, 1], [2, 0]]
    assert found.read.tolist() == [6, 6, 6]


@pytest.mark.parametrize(
    ("marks", "why"),
    [
        ({"d1": {"A": [(0, 2, "X")]}}, ONE_ANNOTATOR),
        ({"d1": {"A": [(0, 2, "X")]}, "d2": {"B": [(0, 2, "X")]}}, NO_SHARED_ITEMS),
        ({"d1": {"A": [], "B": []}}, NO_VARIATION),
    ],
)
def test_the_reason_for_no_alpha_is_the_first_that_holds(marks: Marks, why: str) -> None:
    token = figures_of(corpus_of(marks, texts=dict.fromkeys(marks, TEXT)), audit=False)["token"]
    for name in ("alpha", "alpha_io_longest", "alpha_bio", "alpha_binary", "alpha_marked"):
        assert_undefined(token[name], why)


def test_a_token_with_three_labels_of_one_annotator_is_one_of_several_labels() -> None:
    marks: Marks = {"d1": {"A": [(0, 2, "X"), *((3, 5, label) for label in "XYZ")], "B": []}}
    token = figures_of(corpus_of(marks, texts={"d1": TEXT}), audit=False)["token"]
    assert token["multi_label_tokens"] == 1


def test_joined_scales_have_single_labels_first_and_then_sets() -> None:
    one = Scale(("O", "A", "A+B", "A+B+C"), ((), (0,), (0, 1), (0, 1, 2)))
    other = Scale(("O", "B", "C", "A+C", "B+C"), ((), (1,), (2,), (0, 2), (1, 2)))
    for scales in ((one, other), (other, one)):
        assert join_scales(scales) == Scale(
            ("O", "A", "B", "C", "A+B", "A+C", "B+C", "A+B+C"),
            ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)),
        )


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        ({"d1": None, "d2": None}, "no text"),
        ({"d1": None, "d2": "   "}, "no text"),
        ({"d1": "   ", "d2": "   "}, "no variation"),
        ({"d1": None, "d2": "ab"}, "no variation"),
    ],
)
def test_a_missing_text_is_the_reason_if_there_is_no_token_at_all(
    texts: dict[str, str | None], why: str
) -> None:
    corpus = Corpus.from_tables(
        items=list(texts.items()),
        passes=[(item, who) for item in texts for who in "AB"],
        spans=[(item, "A", 0, 2, "X") for item, text in texts.items() if text is None],
    )
    token = figures_of(corpus, audit=False)["token"]
    for name in ("alpha", "alpha_bio", "alpha_marked"):
        assert_undefined(token[name], why)


def test_where_there_are_no_tokens_no_span_cuts_one() -> None:
    # Both spans lie in an item of which only offsets are known.
    corpus = Corpus.from_tables(
        items=[("d1", None)],
        passes=[("d1", "ann"), ("d1", "ben")],
        spans=[("d1", "ann", 0, 3, "X"), ("d1", "ben", 1, 4, "X")],
    )
    token = measure(corpus, bootstrap=0).schemes["spans"].token
    assert (token.tokens, token.spans_cutting_tokens) == (0, 0)


def test_a_label_that_could_be_taken_for_a_set_is_quoted_as_it_is_written() -> None:
    corpus = Corpus.from_tables(
        items=[("d1", "Ada met")],
        passes=[("d1", "ann"), ("d1", "ben")],
        spans=[("d1", "ann", 0, 3, "Ä+ß"), ("d1", "ben", 0, 3, "Ä+ß")],
    )
    shares = measure(corpus, bootstrap=0).schemes["spans"].token.label_shares
    assert shares == {"O": 0.5, '"Ä+ß"': 0.5}
