"""Whole runs of jobs: reports, summaries, gates, the cache, and what an interrupt leaves."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from potato_iaa import cli
from potato_iaa.jobs import run as run_module
from potato_iaa.jobs.config import Job, load_job
from potato_iaa.jobs.outcome import Outcome
from potato_iaa.jobs.run import Run, run_job
from potato_iaa.jobs.summary import terminal_summary
from potato_iaa.reporter.terminal import Page
from tests.golden.projects import SAMPLES
from tests.jobs.projects import job_of, sample, write_job

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Watcher:
    def __init__(self) -> None:
        self.cached: dict[str, bool] = {}

    def stage(self, name: str, stage: str) -> None:
        pass

    def done(self, outcome: Outcome) -> None:
        self.cached[outcome.name] = outcome.cached


def cached_in(job: Job, **options: Any) -> dict[str, bool]:
    watcher = Watcher()
    run_job(job, watcher=watcher, now=NOW, **options)
    return watcher.cached


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    """Copies of two sample projects, to be changed."""
    for name in ("pii_spans", "scripts"):
        shutil.copytree(SAMPLES / name, tmp_path / "projects" / name)
    return tmp_path


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> tuple[Job, Run]:
    """configs/batch.yaml as it is, but for the places it writes to."""
    folder = tmp_path_factory.mktemp("batch")
    overrides = [f"out={folder / 'out'}", f"junit={folder / 'junit.xml'}"]
    job = load_job(
        SAMPLES.parent / "configs" / "batch.yaml", overrides=[*overrides, "bootstrap=50"]
    )
    return job, run_job(job, now=NOW)


def test_all_sample_projects_and_one_that_is_not_there(batch: tuple[Job, Run]) -> None:
    job, run = batch
    assert run.code == 2
    assert [outcome.name for outcome in run.summary.outcomes] == [
        *("moved_away", "scripts", "two_schemes", "pii_spans")
    ]
    assert (run.summary.failures[0].error or "").startswith(
        "../sample_exports/moved_away/config.yaml: there is no such file or folder: give Potato's "
    )
    for name in ("scripts", "two_schemes", "pii_spans"):
        assert {"report.json", "report.html", "tables"} <= set(os.listdir(job.out / name))
    assert {*("index.html", "summary.json", "summary.csv", "history.jsonl")} <= set(
        os.listdir(job.out)
    )
    text = terminal_summary(run.summary, Page())
    assert "3 of 4 projects reported, 1 of 7 gates missed." in text
    assert "two_schemes, entities: token_alpha is 0.8694, below the 0.9 that is asked." in text


def test_names_have_all_the_room_there_is(batch: tuple[Job, Run]) -> None:
    _, run = batch
    # Pages of 76 to 91 cells have the same columns.
    text = terminal_summary(run.summary, Page(width=91))
    needed = max(len(line) for line in text.splitlines() if line.endswith(" missed"))
    assert 76 < needed < 91
    for width, cut in ((needed, False), (needed - 1, True)):
        assert ("…" in terminal_summary(run.summary, Page(width=width))) == cut


def test_without_gates_there_is_no_column_for_them(batch: tuple[Job, Run]) -> None:
    _, run = batch
    assert " gates\n" in terminal_summary(run.summary, Page(width=80))
    assert "gates" not in terminal_summary(replace(run.summary, gates={}), Page(width=80))


def test_again_at_once_from_the_cache(
    batch: tuple[Job, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    job, first = batch
    reports = {file: file.stat().st_mtime_ns for file in job.out.glob("*/report.json")}

    def only_failures(*arguments: Any, **options: Any) -> Any:
        assert [task.name for task in arguments[1]] == ["moved_away"]
        return engine(*arguments, **options)

    engine = run_module._engine
    monkeypatch.setattr(run_module, "_engine", only_failures)
    second = run_job(job, now=NOW)
    assert "3 of 4 projects reported, 3 unchanged since an earlier run" in second.summary.told
    assert {file: file.stat().st_mtime_ns for file in reports} == reports
    figures = [[outcome.schemes for outcome in run.summary.outcomes] for run in (first, second)]
    assert figures[0] == figures[1]
    assert len((job.out / "history.jsonl").read_text("utf-8").splitlines()) == 2
    assert (job.out / "trend.svg").read_bytes().startswith(b"<?xml")


def test_the_files_of_the_summary_agree(batch: tuple[Job, Run]) -> None:
    job, _ = batch
    document = json.loads((job.out / "summary.json").read_bytes())
    by_name = {project["name"]: project for project in document["projects"]}
    report = json.loads((job.out / "scripts" / "report.json").read_bytes())
    headline = report["schemes"]["entities"]["f1"]["exact_typed"]["mean_over_pairs"]
    told = by_name["scripts"]["schemes"][0]["figures"]["F1(match=exact,types=yes)"]
    assert told["value"] == headline["value"]
    assert by_name["moved_away"]["status"] == "failed"
    rows = list(csv.DictReader(io.StringIO((job.out / "summary.csv").read_text("utf-8"))))
    row = next(
        row
        for row in rows
        if (row["project"], row["measure"]) == ("scripts", "F1(match=exact,types=yes)")
    )
    assert (float(row["value"]), row["at_least"]) == (headline["value"], "0.6")
    assert (rows[0]["project"], rows[0]["status"]) == ("moved_away", "failed")
    page = (job.out / "index.html").read_text("utf-8")
    assert '<a href="./scripts/report.html">scripts</a>' in page
    assert "moved_away" in page
    assert '<td class="number">14</td>\n<td class="number">143</td>' in page
    assert "built-in" not in page
    suites = ElementTree.parse(job.junit or "").getroot()
    assert dict(suites.attrib) == {
        "name": "potato-iaa",
        "tests": "11",
        "failures": "1",
        "errors": "1",
    }


@pytest.mark.parametrize(
    ("bounds", "code", "told"),
    [
        ({"F1": 0.5}, 0, None),
        ({"F1": 0.99}, 1, "F1(match=exact,types=yes) is 0.6359, below the 0.99 that is asked"),
        (
            {"F1": {"at_least": 0.63, "on": "low"}},
            1,
            "the low end of F1(match=exact,types=yes) is 0.5",
        ),
        (
            {"F1(match=exact,types=yes,label=VERB)": 0.1},
            1,
            "is undefined (no such label), at least 0.1 is asked.",
        ),
        ({"F1(match=terms,types=yes)": 0.99}, 1, "F1(match=terms,types=yes) is 0."),
        ({"alpha_u": 1.0}, 1, "alpha_u is "),
        ({"cohen(coding=bio)": 1.0}, 1, "cohen(coding=bio) is 0."),
        ({"fleiss": 1.0}, 1, "fleiss is 0."),
        ({"F1": {"at_least": 0.1, "schemes": ["verbs"]}}, 1, "no such scheme was measured"),
    ],
)
def test_gates(tmp_path: Path, bounds: dict[str, Any], code: int, told: str | None) -> None:
    job = job_of(tmp_path, projects=[{"project": sample("scripts"), "fail_under": bounds}])
    run = run_job(job, now=NOW)
    assert run.code == code
    assert len(run.summary.missed) == code
    if told:
        assert told in run.summary.missed[0]


def test_a_low_end_without_a_bootstrap_misses_its_gate(tmp_path: Path) -> None:
    bound = {"token_alpha": {"at_least": 0.1, "on": "low"}}
    entry = {"project": sample("scripts"), "fail_under": bound, "bootstrap": 0}
    run = run_job(job_of(tmp_path, projects=[entry]), now=NOW)
    assert "is undefined (no interval, as there is no bootstrap)" in run.summary.missed[0]


def test_all_misses_are_listed_and_the_worst_first(tmp_path: Path) -> None:
    bounds = {"F1": 0.99, "token_alpha": 0.8, "u_alpha(flattened=yes)": 0.5}
    job = job_of(tmp_path, projects=[{"project": sample("scripts"), "fail_under": bounds}])
    missed = run_job(job, now=NOW).summary.missed
    assert [line.split(": ")[1].split(" is ")[0] for line in missed] == [
        *("u_alpha(flattened=yes)", "F1(match=exact,types=yes)", "token_alpha")
    ]


def test_another_threshold_computes_nothing_again(copies: Path) -> None:
    entry = {"project": "projects/scripts", "fail_under": {"F1": 0.1}}
    assert cached_in(job_of(copies, projects=[entry])) == {"scripts": False}
    entry["fail_under"] = {"F1": 0.99}
    assert cached_in(job_of(copies, projects=[entry])) == {"scripts": True}
    entry["fail_under"] = {"F1(match=terms,types=yes)": 0.99}
    assert cached_in(job_of(copies, projects=[entry])) == {"scripts": False}


def _more_text(folder: Path) -> None:
    file = folder / "projects" / "scripts" / "data" / "messages.csv"
    file.write_bytes(file.read_bytes() + b"\n")


def _other_states(folder: Path) -> None:
    state = folder / "projects" / "scripts" / "annotation_output" / "mei" / "user_state.json"
    state.write_bytes(state.read_bytes() + b" ")


def _fewer_annotators(folder: Path) -> None:
    shutil.rmtree(folder / "projects" / "scripts" / "annotation_output" / "mei")


def _other_configuration(folder: Path) -> None:
    config = folder / "projects" / "scripts" / "config.yaml"
    config.write_bytes(config.read_bytes() + b"# nothing\n")


def _no_report(folder: Path) -> None:
    shutil.rmtree(folder / "out" / "scripts")


def _report_of_somebody_else(folder: Path) -> None:
    report = folder / "out" / "scripts" / "report.json"
    report.write_bytes(report.read_bytes() + b" ")


def _broken_cache(folder: Path) -> None:
    for file in (folder / "out" / ".cache").iterdir():
        file.write_bytes(b"[]")


@pytest.mark.parametrize(
    "changed",
    [
        _more_text,
        _other_states,
        _fewer_annotators,
        _other_configuration,
        _no_report,
        _report_of_somebody_else,
        _broken_cache,
    ],
)
def test_what_has_changed_is_computed_again(copies: Path, changed: Callable[[Path], None]) -> None:
    job = job_of(copies, projects=["projects/scripts"])
    assert cached_in(job) == {"scripts": False}
    assert cached_in(job) == {"scripts": True}
    changed(copies)
    assert cached_in(job) == {"scripts": False}
    assert cached_in(job) == {"scripts": True}
    assert cached_in(job, fresh=True) == {"scripts": False}


def test_other_settings_are_computed_again(copies: Path) -> None:
    job = job_of(copies, projects=["projects/scripts"])
    assert cached_in(job) == {"scripts": False}
    again = job_of(copies, projects=[{"project": "projects/scripts", "seed": 1}])
    assert cached_in(again) == {"scripts": False}


def test_bad_projects_do_not_stop_the_others(copies: Path) -> None:
    projects = copies / "projects"
    (projects / "pii_spans" / "annotation_output" / "amara" / "user_state.json").write_text("{")
    (projects / "empty").mkdir()
    (copies / "out" / "taken").mkdir(parents=True)
    (copies / "out" / "taken" / "thesis.txt").touch()
    job = job_of(
        copies,
        workers=2,
        projects=[
            "projects/*",
            {"project": sample("scripts"), "name": "taken"},
            {"project": sample("scripts"), "name": "no scheme", "schemes": ["verbs"]},
            {"project": sample("scripts"), "name": "nobody", "include_annotators": ["x*"]},
            "nothing/*",
        ],
    )
    run = run_job(job, now=NOW)
    told = {outcome.name: outcome.error for outcome in run.summary.outcomes}
    assert told.pop("scripts") is None
    parts = {
        "pii_spans": "projects/pii_spans/annotation_output/amara/user_state.json",
        "empty": "projects/empty: holds no Potato configuration",
        "taken": "holds 'thesis.txt', which is not part of a report",
        "no scheme": "no span scheme 'verbs'",
        "nobody": "nobody is called 'x*'",
        "nothing/*": "nothing/*: matches no folder, no YAML file and no export",
    }
    assert set(told) == set(parts)
    for name, part in parts.items():
        assert part in (told[name] or "")
        assert str(copies) + "/projects" not in (told[name] or "")
    assert run.code == 2
    assert (copies / "out" / "taken" / "thesis.txt").exists()


def test_names_that_mean_something_to_a_page_are_harmless(copies: Path) -> None:
    name = "<img src=x onerror=alert(1)>&\"'"
    job = job_of(copies, projects=[{"project": "projects/scripts", "name": name}, "=cmd|x"])
    run_job(job, now=NOW)
    page = (copies / "out" / "index.html").read_text("utf-8")
    assert "<img src=x" not in page
    assert "%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E%26%22%27/report.json" in page
    assert "\n=cmd" not in (copies / "out" / "summary.csv").read_text("utf-8")


def test_pseudonyms_are_everywhere(copies: Path) -> None:
    settings = {"formats": ["json", "md", "csv", "html"], "text": True, "pseudonyms": True}
    job = job_of(copies, defaults=settings, projects=["projects/scripts"])
    assert run_job(job, now=NOW).code == 0
    files = [file for file in (copies / "out").rglob("*") if file.is_file()]
    assert len(files) > 10
    for file in files:
        for name in ("mei", "noor", "pavel"):
            assert f'"{name}"' not in file.read_text("utf-8"), (file, name)
            assert f"{name}," not in file.read_text("utf-8"), (file, name)


def test_items_are_chosen_by_patterns(copies: Path) -> None:
    entry = {
        "project": "projects/pii_spans",
        "include_items": ["note-0*", "note-1*"],
        "exclude_items": ["note-0[1-5]"],
    }
    run = run_job(job_of(copies, projects=[entry]), now=NOW)
    assert run.summary.outcomes[0].schemes[0].items == 14


def test_annotators_are_chosen_and_put_together(copies: Path) -> None:
    entry = {
        "project": "projects/pii_spans",
        "exclude_annotators": ["emil"],
        "merge": {"bjorn": "chidi"},
        "roles": {"dalia": "gold"},
    }
    run_job(job_of(copies, projects=[entry]), now=NOW)
    report = json.loads((copies / "out" / "pii_spans" / "report.json").read_bytes())
    assert report["schemes"]["pii_spans"]["corpus"]["annotators"] == ["amara", "chidi"]


def test_an_export_is_a_project(copies: Path) -> None:
    states = copies / "projects" / "scripts" / "annotation_output"
    rows = [["instance_id", "user_id", "entities._spans"]]
    for state in sorted(states.glob("*/user_state.json")):
        found = json.loads(state.read_bytes())["instance_id_to_span_to_value"]
        for item, spans in found.items():
            told = json.dumps([span for span, _ in spans])
            rows.append([item, state.parent.name, told])
    export = copies / "projects" / "scripts" / "exports" / "annotations.csv"
    export.parent.mkdir()
    with export.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)
    entry = {
        "project": "projects/scripts/exports/annotations.csv",
        "name": "export",
        "config": "projects/scripts/config.yaml",
    }
    job = job_of(copies, projects=[entry, "projects/scripts"])
    run = run_job(job, now=NOW)
    assert run.code == 0
    first, second = (outcome.schemes[0].headline for outcome in run.summary.outcomes)
    assert first == second
    assert cached_in(job) == {"export": True, "scripts": True}
    export.write_bytes(export.read_bytes() + b"\n")
    assert cached_in(job) == {"export": False, "scripts": True}


def test_the_command_line(
    copies: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(copies)
    write_job(copies, projects=["projects/scripts", "projects/gone"])

    def command(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(arguments)
        told = capsys.readouterr()
        return ended.value.code, told.out, told.err

    code, out, _ = command("run", "job.yaml", "--dry-run", "--set", "fail_under.F1=0.9")
    assert code == 0
    assert "scripts: projects/scripts: would be measured" in out
    assert "  fail_under: F1(match=exact,types=yes) at least 0.9" in out
    assert not (copies / "out").exists()
    code, out, err = command("run", "job.yaml")
    assert (code, err) == (2, "")
    assert "1 of 2 projects reported." in out
    assert "! gone: projects/gone: there is no such file or folder" in out
    assert "unchanged, would be taken over" in command("run", "job.yaml", "--dry-run")[1]
    code, out, _ = command("run", "job.yaml", "--set", "projects=[projects/scripts]")
    assert (code, "1 unchanged since an earlier run" in out) == (0, True)
    code, out, err = command("run", "job.yaml", "--set", "seed=x", "--set", "engin=dask")
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 3
    code, _, err = command("run", "nowhere.yaml")
    assert code == 2
    assert err.startswith("potato-iaa: nowhere.yaml: cannot be read (No such file or directory)")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_leaves_finished_reports_whole(copies: Path) -> None:
    slow = {"bootstrap": 1000, "formats": ["json", "html"]}
    entries = [
        {"project": "projects/scripts", "name": f"p{number}", "seed": number} for number in range(6)
    ]
    job = write_job(copies, workers=2, defaults=slow, projects=entries)
    running = subprocess.Popen(
        [sys.executable, "-m", "potato_iaa", "run", str(job)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    kept = copies / "out" / ".cache"
    end = time.monotonic() + 60
    while not (kept.is_dir() and list(kept.glob("*.json"))):
        assert time.monotonic() < end
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert err == b"potato-iaa: interrupted.\n"
    finished = {file.stem for file in kept.glob("*.json")}
    assert 0 < len(finished) < 6
    for folder in (copies / "out").iterdir():
        if folder != kept:
            assert not folder.name.startswith(".")
            json.loads((folder / "report.json").read_bytes())
            assert (folder / "report.html").read_bytes().rstrip().endswith(b"</html>")
    cached = cached_in(load_job(job))
    assert {name for name, was_cached in cached.items() if was_cached} == finished
    assert len(cached) == 6


@pytest.mark.skipif(os.name == "nt", reason="no FIFOs among files")
def test_a_fifo_among_the_data_files_fails_its_project_and_stops_nothing(tmp_path: Path) -> None:
    inside = tmp_path / "project"
    shutil.copytree(SAMPLES / "scripts", inside)
    data = inside / "data" / "messages.csv"
    data.unlink()
    os.mkfifo(data)
    job = job_of(tmp_path, projects=["project", sample("scripts")])
    run = run_job(job, now=NOW)
    failed, reported = run.summary.outcomes
    assert failed.error is not None
    assert "is a FIFO where a file should be" in failed.error
    assert reported.error is None


def test_the_low_end_of_one_item_passes_no_gate(tmp_path: Path) -> None:
    entry = {
        "project": sample("two_schemes"),
        "include_items": ["brief-1"],
        "schemes": ["mentions"],
        "fail_under": {"F1": {"at_least": 0.1, "on": "low"}, "token_alpha": 0.1},
    }
    run = run_job(job_of(tmp_path, projects=[entry]), now=NOW)
    assert run.code == 1
    (missed,) = run.summary.missed
    assert "no interval, as one item cannot be resampled" in str(missed)
