"""``potato-iaa init``: a job file that runs as it is, and that shows every setting."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from potato_iaa import cli
from potato_iaa.errors import InputError, UsageError
from potato_iaa.jobs.config import Settings, load_job, parse_job
from potato_iaa.jobs.starter import starter_text, write_starter
from tests.golden.projects import SAMPLES


def test_the_job_runs_as_it_is(tmp_path: Path) -> None:
    job = load_job(write_starter(SAMPLES / "two_schemes", tmp_path / "iaa.yaml"))
    (planned,) = job.projects
    assert planned.project.resolve() == (SAMPLES / "two_schemes" / "config.yaml").resolve()
    assert planned.settings == Settings()


def test_everything_in_comments_is_the_default_and_valid(tmp_path: Path) -> None:
    text = starter_text("p/config.yaml", ["entities", "on"], name="iaa.yaml")
    uncommented = re.sub(
        r"^    # ([a-z_]+: |  \w|fail_under:)", r"    \1", text, flags=re.MULTILINE
    )
    entry = parse_job(uncommented, shown="iaa.yaml").projects[0]
    assert entry.model_fields_set == {*Settings.model_fields, "project"}
    assert entry.schemes == ("entities", "on")
    assert len(entry.fail_under) == 2
    fields = {name: field.default for name, field in Settings.model_fields.items()}
    defaults = {name: value for name, value in fields.items() if value not in (None, {})}
    assert {name: getattr(entry, name) for name in defaults} == defaults


def test_its_comments_are_plain_text() -> None:
    assert "``" not in starter_text("p/config.yaml", ["entities"], name="iaa.yaml")


def test_what_is_there_stays(tmp_path: Path) -> None:
    file = tmp_path / "iaa.yaml"
    file.write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        write_starter(SAMPLES / "scripts", file)
    assert file.read_text() == "mine"
    with pytest.raises(InputError, match="there is no such file or folder"):
        write_starter(tmp_path / "gone", tmp_path / "new.yaml")
    with pytest.raises(UsageError, match="read as a pattern"):
        starter_text("p[1]/config.yaml", [], name="iaa.yaml")


def test_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        cli.main(["init", str(SAMPLES / "scripts")])
    assert ended.value.code == 0
    told = "Written to iaa.yaml: run it with potato-iaa run iaa.yaml\n"
    assert capsys.readouterr().out == told
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", "iaa.yaml", "--dry-run"])
    assert ended.value.code == 0
