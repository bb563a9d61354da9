"""The audit: another package computes token alpha on the same items, on a sample where it must."""

from __future__ import annotations

import re
from typing import Any

import krippendorff
import pandas as pd
import pytest

from potato_iaa import Corpus
from potato_iaa.errors import AuditError
from potato_iaa.measures import audit
from tests.corpora import Marks, corpus_of
from tests.measures.helpers import scheme_of

ITEMS = 40


def words_corpus() -> Corpus:
    """Forty items of nine words, which two or three annotators read and mark in their own ways."""
    marks: dict[str, Any] = {}
    for position in range(ITEMS):
        marks[f"d{position:02}"] = {
            "A": [(0, 4, "X"), (5, 9, "Y")][: position % 3],
            "B": [(0, 9, "X")] if position % 4 else [],
            **({"C": [(5, 14, "Y")]} if position % 5 == 0 else {}),
        }
    return corpus_of(marks, texts=dict.fromkeys(marks, "aaaa bbbb cccc dddd eeee ffff gggg hhhh i"))


def audit_of(corpus: Corpus, **options: Any) -> dict[str, Any]:
    found = scheme_of(corpus, audit=True, **options).to_dict()["token"]["audit"]
    assert isinstance(found, dict)
    return found


def test_a_small_corpus_is_audited_as_a_whole() -> None:
    corpus = words_corpus()
    found = audit_of(corpus)
    assert (found["items"], found["of"]) == (ITEMS, ITEMS)
    assert found["ours"] == pytest.approx(found["theirs"], abs=1e-9)
    assert found["ours"] == pytest.approx(scheme_of(corpus).token.alpha.value, abs=1e-9)


def test_the_package_and_its_version_are_named() -> None:
    assert audit_of(words_corpus())["package"].startswith("krippendorff 0.")


def test_a_sample_is_drawn_where_the_package_would_need_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(audit, "MEMORY", 12_000)
    corpus = words_corpus()
    found = audit_of(corpus)
    assert 0 < found["items"] < found["of"] == ITEMS
    assert found["ours"] == pytest.approx(found["theirs"], abs=1e-9)
    # Ours is the sample's too, and the report still has that of all items.
    assert found["ours"] != pytest.approx(scheme_of(corpus).token.alpha.value, abs=1e-3)


def test_more_memory_takes_more_items(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    for memory in (12_000, 24_000, 100_000_000):
        monkeypatch.setattr(audit, "MEMORY", memory)
        sizes.append(audit_of(words_corpus())["items"])
    assert sizes[0] < sizes[1] < sizes[2] == ITEMS


def test_the_sample_depends_on_the_seed_and_on_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(audit, "MEMORY", 12_000)
    corpus = words_corpus()
    found = [audit_of(corpus, seed=seed) for seed in (0, 0, 1, 2, 3)]
    assert found[0] == found[1]
    assert len({entry["ours"] for entry in found}) > 1


def test_items_that_only_one_annotator_read_are_not_among_those_audited() -> None:
    marks: Marks = {
        "d1": {"A": [(0, 1, "X")], "B": [(0, 1, "X")]},
        "d2": {"A": [(0, 1, "X")], "B": []},
        "d3": {"A": [(0, 1, "X")]},
    }
    found = audit_of(corpus_of(marks, texts=dict.fromkeys(marks, "a b c")))
    assert (found["items"], found["of"]) == (2, 2)


@pytest.mark.parametrize("off_by", [2e-9, -2e-9, 0.5])
def test_a_difference_is_an_error_that_names_both_values(
    monkeypatch: pytest.MonkeyPatch, off_by: float
) -> None:
    right = krippendorff.alpha

    def wrong(*arguments: Any, **options: Any) -> float:
        return float(right(*arguments, **options)) + off_by

    monkeypatch.setattr(krippendorff, "alpha", wrong)
    corpus = words_corpus()
    ours = scheme_of(corpus).token.alpha.value
    assert ours is not None
    with pytest.raises(AuditError) as raised:
        audit_of(corpus)
    named = [float(found) for found in re.findall(r"-?\d\.\d+", str(raised.value))]
    assert named == pytest.approx([ours, ours + off_by], abs=1e-12)


def test_a_difference_of_rounding_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    right = krippendorff.alpha
    monkeypatch.setattr(
        krippendorff, "alpha", lambda *given, **options: float(right(*given, **options)) + 1e-10
    )
    assert audit_of(words_corpus())["items"] == ITEMS


def test_a_difference_as_large_as_what_is_allowed_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    # One of two words differs: n = 4, n_O = 3, alpha 1 − 3·2/(16 − 10) = 0, of which 1e-9 is 1e-9.
    monkeypatch.setattr(krippendorff, "alpha", lambda **_: 1e-9)
    corpus = corpus_of({"d1": {"A": [(0, 2, "X")], "B": []}}, texts={"d1": "aa bb"})
    assert (audit_of(corpus)["ours"], audit_of(corpus)["theirs"]) == (0.0, 1e-9)


def test_a_value_where_ours_is_undefined_is_no_error() -> None:
    # The package raises or returns nan where nothing varies; there is nothing to compare.
    marks: Marks = {"d1": {"A": [], "B": []}}
    found = scheme_of(corpus_of(marks, texts={"d1": "a b c"}), audit=True).token
    assert found.alpha.value is None
    assert found.audit is not None
    assert (found.audit.ours, found.audit.package) == (None, None)


def test_variation_that_cannot_be_paired_does_not_disturb_the_audit() -> None:
    # The package alone returns nan here, without an error (measures.md, section 2).
    marks: Marks = {"d1": {"A": [], "B": []}, "d2": {"A": [(0, 1, "X")]}}
    found = scheme_of(corpus_of(marks, texts=dict.fromkeys(marks, "a b c")), audit=True).token
    assert (found.alpha.value, found.alpha.why) == (None, "no variation")


def two_fields(*marked: str) -> Corpus:
    """Two fields, of which B read the first alone; A marked a word in these."""
    return Corpus.from_tables(
        items=pd.DataFrame(
            [("d1", "one", "aa bb"), ("d1", "two", "aa bb")], columns=["item", "field", "text"]
        ),
        passes=pd.DataFrame(
            [("d1", "one", "A"), ("d1", "one", "B"), ("d1", "two", "A")],
            columns=["item", "field", "annotator"],
        ),
        spans=pd.DataFrame(
            [("d1", field, "A", 0, 2, "X") for field in marked],
            columns=["item", "field", "annotator", "start", "end", "label"],
        ),
    )


def test_variation_in_a_field_that_one_annotator_read_is_not_held_against_the_package() -> None:
    # It warns of a division by zero where nothing varies that can be paired.
    corpus = two_fields("two")
    found = audit_of(corpus)
    assert (found["ours"], found["theirs"]) == (None, None)
    assert (found["items"], found["of"]) == (1, 1)


def test_no_audit_is_made_unasked_for() -> None:
    assert scheme_of(words_corpus(), audit=False).to_dict()["token"]["audit"] is None


def test_even_one_item_too_large_for_the_memory_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MEMORY", 1)
    found = scheme_of(words_corpus(), audit=True).to_dict()["token"]["audit"]
    assert found["items"] <= 1
    assert found["of"] == ITEMS


@pytest.mark.parametrize(
    ("memory", "items"),
    [
        *((2592, 1), (2592 - 1, 0)),
        *((5 * 2592, 5), (5 * 2592 - 1, 4)),
        *((40 * 2592, 40), (40 * 2592 - 1, 39)),
    ],
)
def test_a_sample_fills_the_memory_that_the_package_may_take(
    monkeypatch: pytest.MonkeyPatch, memory: int, items: int
) -> None:
    # An item of nine words, with three values (O, X, Y): four arrays of 9·3·3 numbers of 8 bytes.
    monkeypatch.setattr(audit, "MEMORY", memory)
    assert audit_of(words_corpus())["items"] == items


@pytest.mark.parametrize("seed", range(5))
def test_an_item_that_fills_the_memory_alone_is_passed_over_for_small_ones(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    # One word and two values: 4·1·2·2·8 = 128 bytes.
    monkeypatch.setattr(audit, "MEMORY", 10 * 128)
    texts = {"large": "a " * 11} | {f"d{position}": "a" for position in range(12)}
    marks: Marks = {item: {"A": [(0, 1, "X")], "B": []} for item in texts}
    found = audit_of(corpus_of(marks, texts=texts), seed=seed)
    assert (found["items"], found["of"]) == (10, 13)
    # All twelve small ones are alike: n_O = n_X = 10, ten tokens differ: 1 − 19·20/200.
    assert found["ours"] == pytest.approx(1 - 19 * 20 / 200)


def test_a_field_that_only_one_annotator_read_is_not_audited_with_its_item() -> None:
    # On field one n = 4, n_O = 3 and one of two words differs: 1 − 3·2/(16 − 10). A alone read two.
    corpus = two_fields("one", "two")
    found = audit_of(corpus)
    assert (found["ours"], found["theirs"]) == (0.0, 0.0)
    assert (found["items"], found["of"]) == (1, 1)
