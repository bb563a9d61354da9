"""Job files: what they may say, and how they are refused."""

from __future__ import annotations

import inspect
from pathlib import Path

import jsonschema
import pytest

from potato_iaa import measure, read_project
from potato_iaa.errors import UsageError
from potato_iaa.jobs.config import (
    Bound,
    JobFileError,
    Settings,
    job_schema,
    load_job,
    parse_job,
    schema_text,
)
from potato_iaa.jobs.located_yaml import load_located
from potato_iaa.jobs.overrides import parse_override
from potato_iaa.jobs.task import MEASURE, READ
from potato_iaa.reporter.files import write_report
from tests.golden.projects import SAMPLES
from tests.jobs.projects import sample, write_job

CONFIGS = SAMPLES.parent / "configs"


def faults(text: str, *overrides: str) -> tuple[str, ...]:
    with pytest.raises(JobFileError) as refused:
        parse_job(text, shown="job.yaml", overrides=[parse_override(one) for one in overrides])
    return refused.value.sentences


def test_all_faults_at_once_with_their_lines() -> None:
    text = """\
out: 3
bootstrap: 5
engin: dask
defaults:
  rules: [exat]
  pases: seen
  fail_under:
    token_alfa: 0.3
    F1: high
    existence_loss: 1
projects:
  - project: a
    seed: -1
    measures: cohen
    text: yes
  - 7
  - name: ../x
"""
    told = faults(text)
    starts = [
        "job.yaml, line 1: out: is 3: give a text.",
        "job.yaml, line 2: bootstrap: there is no such setting here: write 'bootstrap' under",
        "job.yaml, line 3: engin: there is no such setting: did you mean 'engine'?",
        "job.yaml, line 5: defaults.rules[0]: no match rule 'exat': there are exact, overlap",
        "job.yaml, line 6: defaults.pases: there is no such setting: did you mean 'passes'?",
        "job.yaml, line 8: defaults.fail_under.token_alfa: no measure 'token_alfa': did you mean",
        "job.yaml, line 9: defaults.fail_under.F1: is 'high': give a number, or a mapping with",
        "job.yaml, line 10: defaults.fail_under.existence_loss: existence_loss is better when",
        "job.yaml, line 13: projects[0].seed: is -1, and 0 is the least: correct it.",
        "job.yaml, line 14: projects[0].measures: is 'cohen': give a list.",
        "job.yaml, line 15: projects[0].text: is 'yes': give true or false.",
        "job.yaml, line 16: projects[1]: is 7: give a mapping.",
        "job.yaml, line 17: projects[2].project: is missing: add it.",
        "job.yaml, line 17: projects[2].name: '../x' cannot be the name of a folder.",
    ]
    assert len(told) == len(starts)
    for sentence, start in zip(told, starts, strict=True):
        assert sentence.startswith(start)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: [", "job.yaml, line 1: is not YAML"),
        ("", "job.yaml: holds no settings"),
        ("- a", "job.yaml: holds no settings"),
        (
            "annotation_task_name: t\nannotation_schemes: []",
            "job.yaml: is a configuration of Potato and no job: give it to potato-iaa report",
        ),
        ("projects: []", "job.yaml, line 1: projects: is empty: name at least one."),
        ("projects: [a]\nout: b\nout: c", "job.yaml, line 3: out stands twice: keep one."),
        ("projects: [a]\nengine: dask", "job.yaml: engine 'dask' and the address"),
        ("projects: &a [*a]", "job.yaml, line 1: is not YAML (a value that contains itself)"),
        ("projects: [a]\nworkers: 0", "job.yaml, line 2: workers: is 0, and 1 is the least"),
        ("projects: [a]\nengine: mpi", "line 2: engine: is 'mpi': give 'processes' or 'dask'."),
    ],
)
def test_what_is_refused(text: str, told: str) -> None:
    assert told in faults(text)[0]


def test_words_of_yaml_1_1_are_text() -> None:
    job = parse_job(
        "projects:\n  - {project: no, name: on, schemes: [y, 2026-01-01]}", shown="job.yaml"
    )
    assert job.projects[0].project == "no"
    assert job.projects[0].schemes == ("y", "2026-01-01")


def test_settings_are_the_options_they_are_named_after() -> None:
    for function, names, others in (
        (read_project, {*READ}, {"path", "progress"}),
        (measure, {*MEASURE, "rules", "measures"}, {"corpus", "schemes", "spread", "progress"}),
    ):
        options = inspect.signature(function).parameters
        assert set(options) == names | others
        for name in names:
            assert options[name].default == Settings.model_fields[name].default, name
    for name in ("text", "formats"):
        options = inspect.signature(write_report).parameters
        assert options[name].default == Settings.model_fields[name].default


def test_projects_have_settings_of_their_own_over_the_defaults(tmp_path: Path) -> None:
    job = load_job(
        write_job(
            tmp_path,
            defaults={"seed": 3, "fail_under": {"F1": 0.5, "token_alpha": 0.6}},
            projects=[
                sample("pii_spans"),
                {
                    "project": sample("scripts"),
                    "seed": 4,
                    "fail_under": {"token_alpha": {"at_least": 0.7, "on": "low"}, "F1": None},
                },
            ],
        )
    )
    first, second = (planned.settings for planned in job.projects)
    assert (first.seed, second.seed, second.bootstrap) == (3, 4, 20)
    assert first.fail_under == {
        "F1(match=exact,types=yes)": Bound(at_least=0.5),
        "token_alpha": Bound(at_least=0.6),
    }
    assert second.fail_under == {"token_alpha": Bound(at_least=0.7, on="low")}


def test_patterns_and_names(tmp_path: Path) -> None:
    for name in ("one", "two", "three/configs"):
        (tmp_path / "rounds" / name).mkdir(parents=True)
        (tmp_path / "rounds" / name / "config.yaml").touch()
    (tmp_path / "rounds" / "notes.txt").touch()
    job = load_job(
        write_job(
            tmp_path,
            projects=[
                "rounds/*",
                {"project": "rounds/two", "seed": 1},
                "rounds/three/configs/config.yaml",
                "nothing/*",
            ],
        ),
        overrides=["projects.2.name=third"],
    )
    assert [(one.name, one.shown, one.settings.seed) for one in job.projects] == [
        ("one", "rounds/one", 0),
        ("three", "rounds/three", 0),
        ("two", "rounds/two", 1),
        ("third", "rounds/three/configs/config.yaml", 0),
        ("nothing/*", "nothing/*", 0),
    ]
    assert job.projects[-1].fault == (
        "nothing/*: matches no folder, no YAML file and no export beside the job file: correct the "
        "pattern."
    )
    with pytest.raises(JobFileError, match="would both be reported in the folder 'one'"):
        load_job(write_job(tmp_path, projects=["rounds/one", "rounds/one/config.yaml"]))


def test_what_is_set_on_the_command_line_counts_most() -> None:
    text = "projects:\n  - a\n  - {project: b, seed: 1}\n"
    overrides = [
        parse_override(one)
        for one in (
            "seed=7",
            "fail_under.F1(match=overlap(iou>=0.5))=0.7",
            "projects.1.passes=marked",
            "out=there",
            "defaults.bootstrap=9",
        )
    ]
    job = parse_job(text, shown="job.yaml", overrides=overrides)
    assert [entry.seed for entry in job.projects] == [7, 7]
    assert [entry.passes for entry in job.projects] == ["seen", "marked"]
    assert list(job.projects[0].fail_under) == ["F1(match=overlap(iou>=0.5),types=yes)"]
    assert (job.out, job.defaults.bootstrap) == ("there", 9)


def test_faults_of_the_command_line_say_where_they_are() -> None:
    told = faults("projects: [a]", "seed=x", "workers=0", "bootstap=9", "worker=2")
    assert "--set seed=x: projects[0].seed: is 'x': give a whole number." in told
    assert "--set workers=0: workers: is 0, and 1 is the least: correct it." in told
    unknown = "there is no such setting: did you mean"
    assert f"--set bootstap=9: bootstap: {unknown} 'bootstrap'?" in told
    assert f"--set worker=2: worker: {unknown} 'workers'?" in told
    for text in ("seed", "=3", "a..b=1"):
        with pytest.raises(UsageError, match="is not of the form key=value"):
            parse_override(text)
    with pytest.raises(UsageError, match="there is nothing at 5"):
        faults("projects: [a]", "projects.5.seed=1")


def test_the_schema_in_the_repository_is_current() -> None:
    kept = (CONFIGS / "job.schema.json").read_text("utf-8")
    assert kept == schema_text(), (
        "write it anew: python -c 'from potato_iaa.jobs.config import schema_text; "
        'print(schema_text(), end="")\' > configs/job.schema.json'
    )


@pytest.mark.parametrize("name", ["report.yaml", "batch.yaml"])
def test_the_sample_jobs_are_valid(name: str) -> None:
    job = load_job(CONFIGS / name)
    assert job.projects
    jsonschema.validate(load_located((CONFIGS / name).read_text("utf-8")).data, job_schema())


def test_the_schema_refuses_what_the_job_refuses() -> None:
    validator = jsonschema.Draft202012Validator(job_schema())
    assert validator.is_valid({"projects": ["a", {"project": "b", "fail_under": {"F1": 0.5}}]})
    assert not validator.is_valid({"projects": []})
    assert not validator.is_valid({"projects": ["a"], "bootstrap": 3})
    assert not validator.is_valid({"projects": [{"project": "a", "passes": "all"}]})


def test_the_gates_in_the_docs_are_valid() -> None:
    text = (SAMPLES.parent / "docs" / "jobs.md").read_text("utf-8")
    block = text.partition("## Gates")[2].partition("```yaml\n")[2].partition("```")[0]
    inside = "".join(f"  {line}\n" for line in block.splitlines())
    job = parse_job(f"projects: [a]\ndefaults:\n{inside}", shown="docs")
    assert len(job.defaults.fail_under) == 6
