"""The command line: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from potato_iaa import cli
from potato_iaa.matcher.rules import SIMILARITIES
from potato_iaa.measures.f1 import BOTH_EMPTY
from potato_iaa.measures.tokenizing import UNITS
from potato_iaa.reporter.ledger_tables import POLICIES
from potato_iaa.version import __version__
from tests.golden.projects import SAMPLES

Run = Callable[..., "Outcome"]


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command line in an empty folder."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def once(*arguments: str | Path) -> Outcome:
        with pytest.raises(SystemExit) as ended:
            cli.main([str(argument) for argument in arguments])
        told = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Outcome(ended.value.code, told.out, told.err)

    return once


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of a sample project, to be spoiled."""
    return Path(shutil.copytree(SAMPLES / "pii_spans", tmp_path / "project"))


def subprocess_of(
    arguments: Sequence[str], *, cwd: Path, **options: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "potato_iaa", *arguments],
        capture_output=True,
        check=False,
        cwd=cwd,
        env={**os.environ, **options},
    )


def assert_refused(outcome: Outcome, *parts: str) -> None:
    """Exit code 2, one sentence on stderr that has all these parts, nothing else, no file."""
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("potato-iaa: ")
    assert outcome.err.count("\n") == 1
    assert outcome.err.rstrip().endswith(".")
    assert "Traceback" not in outcome.err
    for part in parts:
        assert part in outcome.err
    assert os.listdir() == []


def test_report_shows_and_writes(run: Run) -> None:
    outcome = run("report", SAMPLES / "pii_spans")
    assert outcome.code == 0
    assert outcome.err == ""
    assert outcome.out.startswith("Span agreement: Personal data in short notes\n")
    assert "\nWritten to iaa_report: report.json, report.md, " in outcome.out
    assert {"report.json", "report.md", "tables"} <= set(os.listdir("iaa_report"))


def test_figures_are_drawn_on_request(run: Run) -> None:
    run("report", SAMPLES / "pii_spans", "--out", "plain")
    outcome = run("report", SAMPLES / "pii_spans", "--out", "drawn", "--figures")
    assert outcome.out.endswith(" files in tables, 16 files in figures\n")
    assert not Path("plain/figures").exists()
    assert Path("drawn/figures/scale.pdf").exists()
    assert Path("plain/report.html").read_bytes() == Path("drawn/report.html").read_bytes()


def test_report_takes_the_configuration_or_its_folder(run: Run) -> None:
    by_folder = run("report", SAMPLES / "pii_spans", "--no-files")
    by_file = run("report", SAMPLES / "pii_spans" / "config.yaml", "--no-files")
    assert by_folder == by_file
    assert os.listdir() == []


def test_json_is_alone_on_stdout(run: Run) -> None:
    outcome = run("report", SAMPLES / "pii_spans", "--json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["format"] == 1
    assert outcome.out.startswith("{")
    assert os.listdir() == []


def test_json_and_files(run: Run) -> None:
    outcome = run("report", SAMPLES / "pii_spans", "--json", "--out", "there")
    assert Path("there/report.json").read_text("utf-8") == outcome.out


def test_choices_arrive_in_the_report(run: Run) -> None:
    outcome = run(
        *("report", SAMPLES / "two_schemes", "--json", "--scheme", "mentions"),
        *("--rule", "overlap(iou>=0.5)", "--rule", "terms", "--passes", "marked"),
        *("--token-unit", "character", "--both-empty", "agree", "--min-shared-items", "2"),
        *("--bootstrap", "20", "--seed", "7", "--measure", "cohen"),
    )
    document = json.loads(outcome.out)
    assert document["settings"] == {
        "rules": ["exact", "overlap", "overlap(iou>=0.5)", "terms"],
        "token_unit": "character",
        "both_empty": "agree",
        "min_shared_items": 2,
        "bootstrap": 20,
        "seed": 7,
        "measures": ["cohen"],
        "passes": "marked",
        "reading": {"schemes": ["mentions"]},
    }
    assert list(document["schemes"]) == ["mentions"]
    assert "|passes:marked|bootstrap:20|seed:7|" in document["signature"]


def test_text_is_shown_on_request_only(run: Run) -> None:
    without = run("inspect", SAMPLES / "two_schemes")
    assert "set aside" in without.out
    assert "“" not in without.out
    assert "“" in run("inspect", SAMPLES / "two_schemes", "--text").out


def test_spans_as_csv_and_jsonl(run: Run) -> None:
    assert run("spans", SAMPLES / "two_schemes", "--out", "spans.csv").code == 0
    assert run("spans", SAMPLES / "two_schemes", "--out", "spans.jsonl").code == 0
    with open("spans.csv", newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    lines = [json.loads(line) for line in Path("spans.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == len(lines)
    assert list(rows[0]) == list(lines[0])
    assert [row["text"] for row in rows] == [line["text"] for line in lines]
    assert {line["parts"] for line in lines} == {1, 2, 3}
    expected = json.loads((SAMPLES / "two_schemes" / "expected.json").read_text("utf-8"))
    shown = {
        (item, field): text
        for item, fields in expected["displayed"].items()
        for field, text in fields.items()
    }
    for line in lines:
        whole = shown[line["item"], line["field"]]
        assert line["text"] == whole[line["start"] : line["end"]]
    assert os.stat("spans.csv").st_mode & 0o444 == 0o444


def test_spans_agree_with_what_was_marked(run: Run) -> None:
    expected = json.loads((SAMPLES / "scripts" / "expected.json").read_text("utf-8"))
    run("spans", SAMPLES / "scripts", "--out", "spans.jsonl")
    lines = [json.loads(line) for line in Path("spans.jsonl").read_text("utf-8").splitlines()]
    marked = {
        (span["annotator"], span["item"], span["label"], start, end)
        for span in expected["spans"]
        for start, end in span["parts"]
    }
    written = {
        (line["annotator"], line["item"], line["label"], line["start"], line["end"])
        for line in lines
    }
    assert written == marked


def test_inspect_tells_what_is_there(run: Run) -> None:
    outcome = run("inspect", SAMPLES / "two_schemes")
    assert outcome.code == 0
    for told in ("config.yaml", "code points", "entities", "mentions", "tone (radio)", "seen"):
        assert told in outcome.out
    assert os.listdir() == []


def test_chance(run: Run) -> None:
    outcome = run("chance", "--share", ".9", "--share", ".1", "--observed", ".85")
    assert outcome.code == 0
    assert " ".join(outcome.out.split()) == "agreement 0.85 chance agreement 0.82 kappa 0.1667"
    independent = run("chance", "--share", ".9", "--share", ".1", "--independent")
    assert independent.out.split()[-1] == "0"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--share", ".9", "--observed", ".85"), "add up to 0.9, not to 1"),
        (("--share", ".9", "--share", ".1"), "give --observed, or --independent"),
        (("--share", "1", "--observed", "1"), "kappa is undefined"),
        (("--share", ".5", "--share", ".5", "--observed", "1.5"), "not between 0 and 1"),
        (("--observed", ".5"), "--share"),
        (("--share", "much", "--observed", ".5"), "--share"),
    ],
)
def test_chance_refuses(run: Run, arguments: tuple[str, ...], part: str) -> None:
    assert_refused(run("chance", *arguments), part)


def test_version_and_help(run: Run) -> None:
    assert run("--version").out == f"potato-iaa {__version__}\n"
    assert run() == run("--help")
    for name in ("report", "spans", "inspect", "chance"):
        assert name in run("--help").out


def test_help_names_every_choice(run: Run) -> None:
    told = run("report", "--help").out
    for choice in (*UNITS, *BOTH_EMPTY, *POLICIES, *SIMILARITIES, "terms"):
        assert choice in told


def test_help_imports_nothing_slow() -> None:
    program = (
        "import sys\nfrom potato_iaa import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "slow = {'pandas', 'numpy', 'scipy', 'matplotlib', 'msgspec', 'yaml', 'jinja2'}\n"
        "print(*slow & set(sys.modules), file=sys.stderr, end='')"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert ended.stderr == b""


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("report",), "PROJECT"),
        (("measure",), "measure"),
        (("report", "x", "--surplus"), "--surplus"),
        (("report", "x", "--bootstrap", "many"), "--bootstrap"),
    ],
)
def test_usage_is_told_in_one_sentence(run: Run, arguments: tuple[str, ...], part: str) -> None:
    assert_refused(run(*arguments), part)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--scheme", "nothing"), "'pii_spans'"),
        (("--rule", "fuzzy"), "no match rule 'fuzzy': there are exact"),
        (("--passes", "all"), "seen"),
        (("--token-unit", "line"), "whitespace"),
        (("--both-empty", "maybe"), "skip and agree"),
        (("--min-shared-items", "0"), "min_shared_items is 0"),
        (("--bootstrap", "-1"), "bootstrap is -1"),
        (("--seed", "-1"), "seed is -1"),
        (("--measure", "luck"), "cohen"),
    ],
)
def test_choices_that_do_not_exist(run: Run, options: tuple[str, ...], part: str) -> None:
    assert_refused(run("report", SAMPLES / "pii_spans", *options), part)


def test_no_such_file(run: Run) -> None:
    assert_refused(run("report", "nowhere.yaml"), "nowhere.yaml", "no such file")


def test_yaml_that_does_not_parse(run: Run, project: Path) -> None:
    (project / "config.yaml").write_text("data_files: [data/notes.jsonl\n")
    assert_refused(run("report", project / "config.yaml"), "config.yaml", "line")


def test_no_span_scheme(run: Run, project: Path) -> None:
    config = project / "config.yaml"
    text = config.read_text("utf-8")
    config.write_text(text.replace("annotation_type: span", "annotation_type: radio"), "utf-8")
    assert_refused(run("report", project), "config.yaml", "pii_spans", "radio")


@pytest.mark.parametrize("empty", [True, False])
def test_output_folder_missing_or_empty(run: Run, project: Path, empty: bool) -> None:
    shutil.rmtree(project / "annotation_output")
    if empty:
        (project / "annotation_output").mkdir()
    assert_refused(run("report", project), "annotation_output")


@pytest.mark.parametrize("content", [b'{"user_id": "bjorn", "inst', b"", b"\xff\xfe", b"[]"])
def test_a_broken_state_names_its_annotator(run: Run, project: Path, content: bytes) -> None:
    (project / "annotation_output" / "bjorn" / "user_state.json").write_bytes(content)
    assert_refused(run("report", project), "bjorn", "user_state.json", "skip")


def test_skip_broken_goes_on_and_says_so(run: Run, project: Path) -> None:
    (project / "annotation_output" / "bjorn" / "user_state.json").write_bytes(b'{"user_id"')
    outcome = run("report", project, "--skip-broken")
    assert outcome.code == 0
    assert "4 annotators" in outcome.out
    assert "left out: unreadable annotator bjorn" in outcome.out
    assert "bjorn" in Path("iaa_report/tables/left_out.csv").read_text("utf-8")
    assert "bjorn" in Path("iaa_report/report.md").read_text("utf-8")


def test_one_annotator_can_be_inspected_but_not_compared(run: Run, project: Path) -> None:
    for name in ("bjorn", "chidi", "dalia", "emil"):
        shutil.rmtree(project / "annotation_output" / name)
    assert_refused(run("report", project), "only 'amara'", "two annotators")
    assert run("inspect", project).code == 0
    assert run("spans", project, "--out", "spans.csv").code == 0


@pytest.mark.parametrize("choice", [("--exclude", "*"), ("--include", "amara")])
def test_who_chooses_one_annotator_is_told_to_choose_more(
    run: Run, project: Path, choice: tuple[str, str]
) -> None:
    outcome = run("report", project, *choice)
    assert_refused(outcome, "agreement takes two annotators: choose more annotators or items.")
    assert "--passes" not in outcome.err


def test_nothing_shared_can_be_inspected_but_not_compared(run: Run, project: Path) -> None:
    for name in ("bjorn", "chidi", "dalia", "emil"):
        shutil.rmtree(project / "annotation_output" / name)
    state_file = project / "annotation_output" / "amara" / "user_state.json"
    state = json.loads(state_file.read_text("utf-8"))
    state["user_id"] = "zoe"
    other = {
        key: {item: value for item, value in state[key].items() if item == "note-33"}
        if key.startswith("instance_id_to_") and isinstance(state[key], dict)
        else value
        for key, value in state.items()
    }
    other["instance_id_ordering"] = ["note-33"]
    other["current_instance_index"] = 0
    for key, value in state.items():
        if key.startswith("instance_id_to_") and isinstance(value, dict):
            value.pop("note-33", None)
    state["user_id"] = "amara"
    state["instance_id_ordering"].remove("note-33")
    state_file.write_text(json.dumps(state), "utf-8")
    (project / "annotation_output" / "zoe").mkdir()
    (project / "annotation_output" / "zoe" / "user_state.json").write_text(
        json.dumps(other), "utf-8"
    )
    assert_refused(run("report", project), "amara, zoe", "no item of which is shared")
    assert run("inspect", project).code == 0


def test_spans_on_items_that_are_not_in_the_data(run: Run, project: Path) -> None:
    data = project / "data" / "notes.jsonl"
    lines = data.read_text("utf-8").splitlines(keepends=True)
    data.write_text("".join(line for line in lines if '"note-01"' not in line), "utf-8")
    outcome = run("report", project)
    assert outcome.code == 0
    assert "set aside" in outcome.out
    assert "note-01" in Path("iaa_report/tables/set_aside.csv").read_text("utf-8")


def test_offsets_outside_the_text(run: Run, project: Path) -> None:
    data = project / "data" / "notes.jsonl"
    first, *others = data.read_text("utf-8").splitlines()
    short = json.dumps({**json.loads(first), "text": "Dr. Ilse"})
    data.write_text("\n".join((short, *others)), "utf-8")
    outcome = run("report", project)
    assert outcome.code == 0
    rows = Path("iaa_report/tables/set_aside.csv").read_text("utf-8")
    assert "note-01" in rows


def test_a_folder_of_work_is_not_replaced(run: Run, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "thesis.tex").write_text("")
    outcome = run("report", SAMPLES / "pii_spans", "--out", tmp_path / "work")
    assert_refused(outcome, "thesis.tex", "name an empty or a new folder")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--no-files", "--out", "x"), "--out asks for files and --no-files for none"),
        (("--no-files", "--figures"), "--figures asks for files and --no-files for none"),
        (("--json", "--figures"), "--figures are files, and with --json none are written"),
    ],
)
def test_options_that_would_come_to_nothing_are_refused(
    run: Run, options: tuple[str, ...], told: str
) -> None:
    assert_refused(run("report", SAMPLES / "scripts", *options), told)


def test_spans_refuses_other_endings(run: Run) -> None:
    assert_refused(run("spans", SAMPLES / "pii_spans", "--out", "spans.xlsx"), ".csv nor .jsonl")
    assert_refused(
        run("spans", SAMPLES / "pii_spans", "--out", "no/such/spans.csv"), "No such file"
    )


def test_control_characters_in_an_argument_do_not_reach_the_terminal(run: Run) -> None:
    outcome = run("report", "no\x1b[31mwhere")
    assert "\x1b" not in outcome.err
    assert "no\\x1b[31mwhere" in outcome.err


def test_a_pipe_has_no_colours_and_its_own_encoding(tmp_path: Path) -> None:
    arguments = ("report", str(SAMPLES / "scripts"), "--no-files", "--bootstrap", "10")
    ended = subprocess_of(arguments, cwd=tmp_path, PYTHONIOENCODING="ascii", TERM="xterm")
    assert ended.returncode == 0
    assert ended.stderr == b""
    assert ended.stdout.isascii()
    assert b"\x1b" not in ended.stdout


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_where_nobody_listens_the_report_is_written(tmp_path: Path, closed: str) -> None:
    command = f"'{sys.executable}' -m potato_iaa report '{SAMPLES / 'scripts'}' --bootstrap 0"
    ended = subprocess.run(
        ["bash", "-c", f"{command} {closed}"], cwd=tmp_path, capture_output=True, check=False
    )
    assert ended.returncode == 0
    assert ended.stderr == b""
    assert (tmp_path / "iaa_report" / "report.json").is_file()


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    command = f"'{sys.executable}' -m potato_iaa inspect '{SAMPLES / 'pii_spans'}' | true"
    ended = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, check=False
    )
    assert ended.returncode == 0
    assert ended.stderr == b""


def test_an_interruption_is_told_in_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("potato_iaa.loaders.read_project", interrupted)
    outcome = run("report", SAMPLES / "pii_spans")
    assert outcome == Outcome(130, "", "potato-iaa: interrupted.\n")
    assert os.listdir() == []


def test_where_memory_runs_out_there_is_a_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_large(*_: object, **__: object) -> None:
        np.zeros(2**59)

    monkeypatch.setattr("potato_iaa.measures.measuring.measure", too_large)
    assert_refused(run("report", SAMPLES / "pii_spans"), "memory ran out", "--include-items")
    assert os.listdir() == []


def test_progress_is_silent_without_a_terminal(tmp_path: Path) -> None:
    ended = subprocess_of(("report", str(SAMPLES / "pii_spans"), "--json"), cwd=tmp_path)
    assert ended.stderr == b""
    json.loads(ended.stdout)
