"""Every target takes the files that it begins with, and all that was found by fuzzing."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

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
