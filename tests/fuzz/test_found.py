"""Every target takes the files that it begins with, and all that was found by fuzzing."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from potato_iaa import read_project
from tests.fuzz.targets import FOUND, LEFT, TARGETS, Trial

INPUTS = sorted((file.parent.name, file.name) for file in FOUND.glob("*/*"))


def skip_without_pyarrow(name: str) -> None:
    """Skip what reads Parquet where pyarrow, the extra ``parquet``, is not installed."""
    if name == "parquet" and find_spec("pyarrow") is None:
        pytest.skip("reading Parquet needs pyarrow (extra parquet)")


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_reads_what_it_begins_with(tmp_path: Path, name: str) -> None:
    skip_without_pyarrow(name)
    trial = Trial.of(name, tmp_path)
    assert trial.try_bytes((tmp_path / trial.target.file).read_bytes()) == ""
    for pattern in trial.target.seeds:
        for file in sorted(LEFT.glob(pattern)):
            trial.try_bytes(file.read_bytes())


@pytest.mark.parametrize(("name", "file"), INPUTS)
def test_what_was_found_is_read_or_refused(tmp_path: Path, name: str, file: str) -> None:
    skip_without_pyarrow(name)
    Trial.of(name, tmp_path).try_bytes((FOUND / name / file).read_bytes())


# Spans read and set aside in what was made of the inputs found; None: refused.
TOLD = {
    "conll_2003/tags_without_a_label.conll": (3, 2),
    "conll_u/tags_without_a_label.conllu": (3, 2),
    "conll_u/two_tags_on_a_token.conllu": None,
    "csv/a_cell_holds_one_span.csv": (2, 0),
    "csv/a_header_over_two_lines.csv": None,
    "csv/offsets_farther_than_any_text.csv": (2, 1),
    "csv/two_columns_of_one_name.csv": None,
    "jsonl/a_scheme_has_one_span.jsonl": (2, 0),
    "jsonl/spans_nested_deeper.jsonl": (3, 0),
    "state/an_item_has_one_span.json": (6, 1),
    "state/spans_not_by_item.json": None,
    "state/spans_nested_deeper.json": (7, 1),
    "state/spans_nested_in_a_pair.json": (8, 2),
    "state/two_spans_in_a_pair.json": (7, 1),
    "tei/an_item_twice.xml": None,
    "tei/annotations_that_point_nowhere.xml": (5, 5),
    "tei/elements_outside_of_items.xml": (2, 2),
    "tei/elements_without_a_label.xml": (3, 3),
    "tsv_1/a_cell_holds_a_tuple.tsv": (3, 1),
    "tsv_1/a_cell_holds_one_span.tsv": (2, 0),
    "tsv_1/two_columns_of_one_name.tsv": None,
    "web_annotation/bodies_without_purpose.jsonld": (6, 5),
}


@pytest.mark.parametrize("file", TOLD)
def test_what_was_found_is_told_in_the_ledger(tmp_path: Path, file: str) -> None:
    trial = Trial.of(file.partition("/")[0], tmp_path)
    refused = trial.try_bytes((FOUND / file).read_bytes())
    assert bool(refused) is (TOLD[file] is None)
    if not refused:
        totals = read_project(tmp_path / trial.target.path).ledger.totals()
        assert (totals["read"], totals["set_aside"]) == TOLD[file]
