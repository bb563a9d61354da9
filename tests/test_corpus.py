"""Corpora made by hand: what the tables mean, and what is refused."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from potato_iaa import Corpus
from potato_iaa.errors import InputError
from tests.corpora import figures_of, headline

COLUMNS = ["item", "annotator", "start", "end", "label", "part_of"]
TEXT = "ab ab ab"


def corpus(rows: list[tuple[Any, ...]]) -> Corpus:
    passes = sorted({row[:2] for row in rows})
    return Corpus.from_tables(
        items=[(item, TEXT) for item in sorted({row[0] for row in rows})],
        passes=passes,
        spans=pd.DataFrame(rows, columns=COLUMNS),
    )


def test_part_of_is_numbered_within_a_pass() -> None:
    # Both marked the same discontinuous span, and both call it 1.
    made = corpus([("d1", who, start, start + 1, "L", 1) for who in "ab" for start in (0, 3)])
    assert made.spans["part_of"].nunique() == 2
    assert made.ledger.totals()["read"] == 2
    assert headline(figures_of(made))["value"] == 1.0


def test_one_part_of_for_all_items_and_annotators_loses_no_span() -> None:
    made = corpus([(item, who, 0, 2, "L", 1) for item in ("d1", "d2", "d3") for who in "ab"])
    assert len(made.spans) == made.ledger.totals()["kept"] == 6
    assert headline(figures_of(made))["value"] == 1.0


def test_spans_of_different_labels_are_different_spans() -> None:
    made = corpus([("d1", "a", 0, 2, "L", 1), ("d1", "a", 0, 2, "M", 1)])
    assert made.spans["part_of"].nunique() == 2


@pytest.mark.parametrize(
    ("tables", "told"),
    [
        ({"spans": [("d1", "a", 0, 2, None)]}, "row 0 of the table has no label: give it one"),
        ({"spans": [("d1", "a", 0, 2, float("nan"))]}, "row 0 of the table has no label"),
        ({"passes": [("d1", "a"), ("d1", None)]}, "row 1 of the table has no annotator"),
        ({"items": [(None, "x"), ("d1", TEXT)]}, "row 0 of the table has no item"),
        ({"items": [("d1", 12345)]}, "an item has the text 12345: a text is a string, or None"),
        (
            {"spans": [("d1", "a", 0, 2**63, "L")]},
            "offsets are whole numbers of code points, 1,099",
        ),
        ({"spans": [("d1", "a", 0, 1e300, "L")]}, "offsets are whole numbers of code points"),
        ({"labels": "PER"}, "labels are 'PER': give a list of them"),
        (
            {
                "spans": pd.DataFrame(
                    [("d1", "a", 0, 2, "L", "s")], columns=[*COLUMNS[:5], "shceme"]
                )
            },
            "the table has a column 'shceme': did you mean 'scheme'?",
        ),
    ],
)
def test_odd_tables_are_refused_in_a_sentence(tables: dict[str, Any], told: str) -> None:
    given: dict[str, Any] = {"items": [("d1", TEXT)], "passes": [("d1", "a")], "spans": []}
    with pytest.raises(InputError) as refused:
        Corpus.from_tables(**(given | tables))
    assert told in str(refused.value)


def test_further_columns_are_no_fault() -> None:
    further = ["text", "labels"]
    spans = pd.DataFrame([("d1", "a", 0, 2, "L", "ab", "L")], columns=[*COLUMNS[:5], *further])
    made = Corpus.from_tables(items=[("d1", TEXT)], passes=[("d1", "a")], spans=spans)
    assert len(made.spans) == 1
