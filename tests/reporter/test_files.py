"""Files of a report: whole or not at all, the same bytes every time, no formulas, no text."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from potato_iaa import Corpus, atomic, measure, write_report
from potato_iaa.errors import UsageError
from potato_iaa.ledger import Ledger
from potato_iaa.reporter import files
from potato_iaa.reporter.csv_tables import csv_bytes
from potato_iaa.reporter.document import document_bytes, report_document
from potato_iaa.reporter.files import report_files
from tests.corpora import corpus_of, walk
from tests.golden.projects import SAMPLES, agreement_of

FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1")


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_all_files_are_written(tmp_path: Path) -> None:
    paths = write_report(agreement_of("pii_spans"), tmp_path / "deep" / "out")
    names = {path.relative_to(tmp_path / "deep" / "out").as_posix() for path in paths}
    assert {"report.json", "report.md", "tables/pairs.csv", "tables/set_aside.csv"} <= names
    assert names == set(contents(tmp_path / "deep" / "out"))
    assert os.listdir(tmp_path / "deep") == ["out"]


def test_a_report_replaces_the_one_before_as_a_whole(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_report(agreement_of("pii_spans"), out)
    write_report(agreement_of("pii_spans"), out, formats=("json",))
    assert set(contents(out)) == {"report.json"}


def test_a_failure_leaves_the_report_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    write_report(agreement_of("pii_spans"), out)
    before = contents(out)
    write_bytes = Path.write_bytes

    def full_disk(path: Path, content: bytes) -> int:
        if path.suffix == ".md":
            raise OSError(28, "No space left on device")
        return write_bytes(path, content)

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(UsageError, match="No space left"):
        write_report(agreement_of("scripts"), out)
    assert contents(out) == before
    assert os.listdir(tmp_path) == ["out"]


def test_a_failure_at_the_last_step_brings_the_old_report_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    write_report(agreement_of("pii_spans"), out)
    before = contents(out)
    rename = Path.rename

    def refuse(path: Path, target: Path) -> Path:
        if path.name == "new":
            raise OSError(13, "Permission denied")
        return rename(path, target)

    monkeypatch.setattr(atomic, "_exchange", lambda one, other: False)
    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(UsageError, match="Permission denied"):
        write_report(agreement_of("scripts"), out)
    assert contents(out) == before


def test_an_interruption_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(path: Path, content: bytes) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_report(agreement_of("pii_spans"), tmp_path / "out")
    assert os.listdir(tmp_path) == []


def test_a_folder_with_anything_else_in_it_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError, match=r"holds 'thesis\.tex', which is not part of a report"):
        write_report(agreement_of("pii_spans"), tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_a_file_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        write_report(agreement_of("pii_spans"), tmp_path / "out")


@pytest.mark.parametrize("name", ["out.json", "out.JSON", "iaa.v2.html"])
def test_a_folder_with_the_name_of_a_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=f"{name}' has the name of a file, and a report is a"):
        write_report(agreement_of("pii_spans"), tmp_path / name)
    assert os.listdir(tmp_path) == []
    # Who has such a folder of reports keeps it.
    (tmp_path / "out.json").mkdir()
    write_report(agreement_of("pii_spans"), tmp_path / "out.json", formats=["md"])
    assert os.listdir(tmp_path / "out.json") == ["report.md"]


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no report format 'xml': there are json, md, csv"):
        write_report(agreement_of("pii_spans"), tmp_path / "out", formats=("xml",))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_string_starts_a_formula(formula: str) -> None:
    table = pd.DataFrame({"label": [formula], "value": [-0.5]})
    (header, row) = csv.reader(io.StringIO(csv_bytes(table).decode(), newline=""))
    assert header == ["label", "value"]
    assert row == [f"'{formula}", "-0.5"]


def test_no_table_starts_a_formula() -> None:
    marks: dict[str, Any] = {
        "=item": {"+ann": [(0, 3, "-label")], "@ben": [(0, 3, "=label")], "=cem": []}
    }
    for name, content in report_files(
        measure(corpus_of(marks), bootstrap=5), formats=("csv",)
    ).items():
        for row in csv.reader(io.StringIO(content.decode(), newline="")):
            for cell in row:
                if cell.startswith(("=", "+", "-", "@")):
                    float(cell)  # only numbers may
        assert content.count(b"\n") == content.count(b"\r\n"), name


def test_text_appears_only_on_request() -> None:
    secret = "Grace Hopper"
    corpus = corpus_of({"d1": {"A": [(0, 5, "x")], "B": [(0, 5, "x")]}}, texts={"d1": secret * 2})
    entry = {
        "outcome": "set_aside",
        "reason": "offsets outside the text",
        "annotator": "A",
        "scheme": "spans",
        "item": "d1",
        "field": "",
        "label": "x",
        "start": 0,
        "end": 99,
        "text": secret,
    }
    ledger = Ledger.from_rows(
        read=[
            {"annotator": "A", "scheme": "spans", "read": 2},
            {"annotator": "B", "scheme": "spans", "read": 1},
        ],
        entries=[entry],
    )
    told = Corpus(
        **{name: getattr(corpus, name) for name in ("items", "passes", "spans", "annotators")},
        schemes=corpus.schemes,
        ledger=ledger,
    )
    agreement = measure(told, bootstrap=0)
    assert not any(secret.encode() in content for content in report_files(agreement).values())
    with_text = report_files(agreement, text=True)
    assert secret.encode() in with_text["tables/set_aside.csv"]
    assert secret.encode() in with_text["report.json"]


def test_nothing_is_nan() -> None:
    marks: dict[str, Any] = {"d1": {"A": [], "B": []}, "d2": {"C": [(0, 3, "x")]}}
    agreement = measure(corpus_of(marks), bootstrap=5)
    content = document_bytes(report_document(agreement))
    for path, value in walk(json.loads(content)):
        assert not (isinstance(value, float) and value != value), path
    with pytest.raises(ValueError, match="JSON"):
        document_bytes({"value": float("nan")})


def test_lone_surrogates_are_spelled_out() -> None:
    content = document_bytes({"label": "a\ud800"})
    assert json.loads(content) == {"label": r"a\ud800"}


def test_the_bytes_are_the_same_whatever_the_hash_seed(tmp_path: Path) -> None:
    script = (
        "import sys; from potato_iaa import measure, read_project, write_report;"
        "write_report(measure(read_project(sys.argv[1]), bootstrap=50), sys.argv[2])"
    )
    for seed in ("1", "2"):
        subprocess.run(
            [sys.executable, "-c", script, str(SAMPLES / "two_schemes"), str(tmp_path / seed)],
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def test_every_file_that_is_written_may_be_replaced() -> None:
    from fnmatch import fnmatchcase

    for name in report_files(agreement_of("pii_spans")):
        assert any(fnmatchcase(name, pattern) for pattern in files.OURS)
