"""Annotators that are read in processes of their own: the same corpus, ledger and sentences."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest

from potato_iaa import read_project
from potato_iaa.corpus import Corpus
from potato_iaa.errors import InputError
from potato_iaa.loaders import opening, reading, states
from tests.loaders.projects import span, state, write_project

SAMPLES = Path(__file__).parents[2] / "sample_exports"
HERE = os.getpid()


@pytest.fixture(params=["in processes", "here"])
def where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Reads as in a process without threads: a runner of tests may have some."""
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(reading, "cores", lambda: 3 if request.param == "in processes" else 1)
    return str(request.param)


def frames(corpus: Corpus) -> dict[str, pd.DataFrame]:
    ledger = corpus.ledger
    return {
        "items": corpus.items,
        "passes": corpus.passes,
        "spans": corpus.spans,
        "answers": corpus.answers,
        "read": ledger.read,
        "entries": ledger.entries,
        "left_out": ledger.left_out,
        "ledger_passes": ledger.passes,
    }


@pytest.mark.parametrize("sample", ["pii_spans", "scripts", "two_schemes"])
def test_processes_read_what_is_read_here(sample: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    found = []
    for cores in (1, 2, 4):
        monkeypatch.setattr(reading, "cores", lambda cores=cores: cores)
        found.append(read_project(SAMPLES / sample))
    for other in found[1:]:
        assert other.source == found[0].source
        assert other.ledger.notes == found[0].ledger.notes
        for name, frame in frames(found[0]).items():
            pd.testing.assert_frame_equal(frames(other)[name], frame)


@pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux only")
def test_states_are_read_in_processes(
    tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = write_project(tmp_path, {name: state({"d1": [span(0, 3)]}) for name in "abcd"})
    told = tmp_path / "told"

    def noted(file: Path) -> bytes:
        with told.open("a") as lines:
            lines.write(f"{os.getpid()}\n")
        return opening.content_of(file)

    monkeypatch.setattr(states, "content_of", noted)
    read_project(config)
    pids = {int(pid) for pid in told.read_text().split()}
    assert pids == {HERE} if where == "here" else len(pids) == 3 and HERE not in pids


def test_a_broken_state_is_one_sentence(tmp_path: Path, where: str) -> None:
    names = ("ann", "ben", "cem")
    config = write_project(tmp_path, {name: state({"d1": [span(0, 3)]}) for name in names})
    (tmp_path / "annotation_output" / "ben" / "user_state.json").write_text("{")
    with pytest.raises(InputError, match=r"ben.user_state.json.*'ben' is cut off"):
        read_project(config)
    corpus = read_project(config, skip_broken=True)
    assert sorted(corpus.passes["annotator"].unique()) == ["ann", "cem"]
    assert corpus.ledger.left_out["name"].tolist() == ["ben"]


def test_files_that_change_are_told(
    tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = write_project(tmp_path, {name: state({"d1": [span(0, 3)]}) for name in ("ann", "ben")})
    file = tmp_path / "annotation_output" / "ben" / "user_state.json"
    mark_at = opening._mark_at

    def grown(at: Path) -> tuple[int, int] | None:
        if at == file and file.stat().st_size < 10_000:
            file.write_bytes(file.read_bytes() + b" " * 20_000)
        return mark_at(at)

    monkeypatch.setattr(opening, "_mark_at", grown)
    notes = [note for note in read_project(config).ledger.notes if "changed" in note]
    assert notes == ["1 file changed while being read, and read again: 'ben/user_state.json'."]


def test_a_state_outside_the_project_is_refused(tmp_path: Path, where: str) -> None:
    inside, outside = tmp_path / "x" / "y" / "project", tmp_path / "elsewhere.json"
    config = write_project(inside, {name: state({"d1": [span(0, 3)]}) for name in ("ann", "ben")})
    file = inside / "annotation_output" / "ben" / "user_state.json"
    file.rename(outside)
    file.symlink_to(outside)
    with pytest.raises(InputError, match="--allow-outside"):
        read_project(config)
    assert len(read_project(config, allow_outside=True).spans) == 2
