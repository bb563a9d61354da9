"""The options on what is read, as every command takes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from potato_iaa.cli import main
from tests.loaders.projects import span, state, write_project

LEFT = Path(__file__).parent / "loaders" / "left"


def run(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(str(ended.value.code))


def project(folder: Path) -> Path:
    states = {
        "ann": state({"d1": [span(0, 3), span(4, 7)]}),
        "ben": state({"d1": [span(0, 4), span(4, 7)]}),
        "ben2": state({"d2": [span(0, 2)]}),
        "gpt": state({"d1": [span(0, 3)]}, origin={"kind": "llm"}),
    }
    return write_project(folder, states)


def test_a_report_can_be_made_of_an_export(capsys: pytest.CaptureFixture[str]) -> None:
    export = LEFT / "tricky_2.12.1" / "exports" / "csv"
    assert run("report", export, "--json", "--bootstrap", "0") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["project"]["kind"] == "csv export, passes from the states beside it"
    assert document["schemes"]["entities"]["corpus"]["spans"] == 54


def test_people_items_and_roles_are_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = project(tmp_path)
    wishes = ["--merge", "ben2=ben", "--role", "gpt=system", "--exclude-items", "d2"]
    assert run("inspect", config, *wishes) == 0
    told = capsys.readouterr().out
    assert "ben2" not in told
    assert "system" in told
    assert "excluded item" in told
    assert run("inspect", config, "--include", "a*", "--include", "ben") == 0
    told = capsys.readouterr().out
    assert "is not among those that were included" in told


def test_trimming_tells_f1_before_and_after(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = project(tmp_path)
    wishes = ["--trim", "--no-files", "--bootstrap", "0"]
    assert run("report", config, *wishes) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "scheme 'ner': before blanks were trimmed, F1 exact, typed, was 0.50." in told
    assert "blanks at the ends of spans were trimmed: 1 span." in told


def test_names_are_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = project(tmp_path)
    assert run("inspect", config, "--pseudonyms", "--merge", "ben2=ben") == 0
    told = capsys.readouterr().out
    assert "annotator-1" in told
    assert not any(name in told for name in ("ann ", "ben"))


def test_the_table_of_spans_is_made_of_potato_1(tmp_path: Path) -> None:
    out = tmp_path / "spans.jsonl"
    assert run("spans", LEFT / "1.2.2.4", "--out", out, "--scheme", "entities") == 0
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert len(rows) == 8


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--merge", "ann"], "--merge: write 'ann' as two names with = between them."),
        (["--role", "=gold"], "--role: write '=gold' as two names"),
        (["--role", "ann=boss"], "no role 'boss'"),
        (["--offset-unit", "bytes"], "there are code-points, utf-16"),
        (["--potato-version", "9"], "no Potato version '9'"),
        (["--config", "nowhere.yaml"], "nowhere.yaml: there is no such file"),
    ],
)
def test_a_wish_that_cannot_be_met_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], sentence: str
) -> None:
    assert run("inspect", project(tmp_path), *options) == 2
    told = capsys.readouterr().err
    assert sentence in told
    assert told.count("\n") == 1


def test_what_was_chosen_in_reading_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = project(tmp_path)
    chosen = ("--exclude", "gpt", "--merge", "ben2=ben", "--trim", "--bootstrap", "0")
    out = tmp_path / "out"
    assert run("report", config, "--out", out, *chosen) == 0
    settings = json.loads((out / "report.json").read_bytes())["settings"]
    reading = {"exclude_annotators": ["gpt"], "merge": {"ben2": "ben"}, "trim": True}
    assert settings["reading"] == reading
    methods = (out / "report.md").read_text("utf-8")
    for said in ("without some of the annotators (gpt)", "(ben2 as ben)", "spans taken off."):
        assert said in methods
    capsys.readouterr()
    assert run("report", config, "--json", "--bootstrap", "0") == 0
    assert "reading" not in json.loads(capsys.readouterr().out)["settings"]


def test_under_pseudonyms_the_choices_name_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = project(tmp_path)
    chosen = ("--exclude", "gp*", "--merge", "ben2=ben", "--role", "ann=human")
    assert run("report", config, "--json", "--pseudonyms", "--bootstrap", "0", *chosen) == 0
    told = json.loads(capsys.readouterr().out)["settings"]["reading"]
    assert told == {"exclude_annotators": 1, "merge": 1, "roles": 1, "pseudonyms": True}
