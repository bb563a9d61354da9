"""Run a job: every project read, measured and reported, then the summary over all of them."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from potato_iaa.atomic import write_atomically
from potato_iaa.errors import UsageError
from potato_iaa.jobs.cache import key_of, recall, remember
from potato_iaa.jobs.config import Job, Planned
from potato_iaa.jobs.engines import run_here, run_processes
from potato_iaa.jobs.gates import gates_of
from potato_iaa.jobs.history import add_to_history, courses, history_line, read_history
from potato_iaa.jobs.inputs import Inputs, find_inputs
from potato_iaa.jobs.junit import junit_bytes
from potato_iaa.jobs.outcome import Outcome
from potato_iaa.jobs.summary import (
    Summary,
    summary_csv,
    summary_html,
    summary_json,
    summary_of,
)
from potato_iaa.jobs.task import Task
from potato_iaa.jobs.trend import trend_svg, trend_text

HISTORY = "history.jsonl"
TREND = "trend.svg"

REPORTED, GATE_MISSED, NOT_ALL_REPORTED = 0, 1, 2


class Watcher(Protocol):
    """Who is told how a job goes on."""

    def stage(self, name: str, stage: str) -> None:
        """What a project is at."""

    def done(self, outcome: Outcome) -> None:
        """A project is through."""


class _Nobody:
    def stage(self, name: str, stage: str) -> None:
        """Nothing."""

    def done(self, outcome: Outcome) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Prepared:
    """A project with its inputs, its key (``None``: not to be kept), and what is known of it."""

    planned: Planned
    inputs: Inputs | None
    key: str | None
    known: Outcome | None


@dataclass(frozen=True)
class Run:
    """What a run came to, and the files beside the reports that say so."""

    summary: Summary
    files: tuple[Path, ...]

    @property
    def code(self) -> int:
        """The exit code: 2 where a project failed, else 1 where a gate is missed, else 0."""
        if self.summary.failures:
            return NOT_ALL_REPORTED
        return GATE_MISSED if self.summary.missed else REPORTED


def run_job(
    job: Job, *, fresh: bool = False, watcher: Watcher | None = None, now: datetime | None = None
) -> Run:
    """Report on all projects of a job; with ``fresh``, on those too that have not changed.

    One that fails does not stop the others. Reports that are finished when the run is interrupted
    stay, and are not made again by the next run. Raises UsageError or InputError for what concerns
    the whole job: a folder that cannot be written, a scheduler that does not answer.
    """
    watcher = watcher or _Nobody()
    _check_out(job.out)
    prepared = [prepare(planned, job.out, fresh=fresh) for planned in job.projects]
    outcomes = {one.planned.name: one.known for one in prepared if one.known is not None}
    for known in outcomes.values():
        watcher.done(known)
    keys = {one.planned.name: one.key for one in prepared}
    tasks = [task_of(one, job.out) for one in prepared if one.known is None]
    with closing(_engine(job, tasks, watcher)) as finished:
        for outcome in finished:
            key = keys[outcome.name]
            if outcome.error is None and key is not None:
                remember(job.out, outcome, key)
            outcomes[outcome.name] = outcome
            watcher.done(outcome)
    return _concluded(job, [outcomes[planned.name] for planned in job.projects], now)


def prepare(planned: Planned, out: Path, *, fresh: bool = False) -> Prepared:
    """Find out what is known of a project: nothing, a fault, or all of it from an earlier run."""
    if planned.fault is not None:
        failed = Outcome(planned.name, planned.shown, error=planned.fault)
        return Prepared(planned, None, None, failed)
    settings = planned.settings
    inputs = find_inputs(
        planned.project, config=settings.config, without=out, allow_outside=settings.allow_outside
    )
    key = None if inputs is None else key_of(planned, inputs)
    known = None if key is None or fresh else recall(out, planned, key)
    return Prepared(planned, inputs, key, known)


def task_of(prepared: Prepared, out: Path) -> Task:
    """The task of a project; its paths hold wherever it is run."""
    planned = prepared.planned
    return Task(
        name=planned.name,
        project=Path(planned.project).absolute(),
        shown=planned.shown,
        out=(out / planned.name).absolute(),
        settings=planned.settings,
        size=0 if prepared.inputs is None else prepared.inputs.size,
    )


def _engine(job: Job, tasks: Sequence[Task], watcher: Watcher) -> Generator[Outcome]:
    def on_stage(task: Task, stage: str) -> None:
        watcher.stage(task.name, stage)

    file = job.file
    if not tasks:
        return run_here(tasks, on_stage=on_stage)
    if file.engine == "dask" and file.scheduler is not None:
        from potato_iaa.jobs.dask_engine import run_on_dask

        return run_on_dask(tasks, scheduler=file.scheduler, on_stage=on_stage)
    if len(tasks) == 1:
        return run_here(tasks, on_stage=on_stage)
    return run_processes(tasks, on_stage=on_stage, workers=file.workers)


def _check_out(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise UsageError(f"output {str(out)!r} is a file: name a folder with out.")


def _concluded(job: Job, outcomes: Sequence[Outcome], now: datetime | None) -> Run:
    gates = {
        outcome.name: gates_of(outcome, planned)
        for outcome, planned in zip(outcomes, job.projects, strict=True)
    }
    summary = summary_of(job.path.stem, outcomes, gates)
    line = history_line(outcomes, time=now or datetime.now(UTC), missed=len(summary.missed))
    add_to_history(job.out / HISTORY, line)
    listed = courses(read_history(job.out / HISTORY))
    trend = trend_text(listed)
    contents = {
        job.out / "summary.json": summary_json(summary),
        job.out / "summary.csv": summary_csv(summary),
    }
    if trend is not None:
        contents[job.out / TREND] = trend_svg(listed)
    contents[job.out / "index.html"] = summary_html(summary, trend=trend)
    if job.junit is not None:
        contents[job.junit] = junit_bytes(summary.outcomes, gates)
    for file, content in contents.items():
        write_atomically(file, content)
    return Run(summary, (*contents, job.out / HISTORY))
