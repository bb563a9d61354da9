"""Engines: the same figures whatever they run on, nothing lost when a process or worker dies."""

from __future__ import annotations

import functools
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

from potato_iaa.blocks import cut
from potato_iaa.errors import InputError
from potato_iaa.jobs.config import Settings
from potato_iaa.jobs.dask_engine import run_on_dask
from potato_iaa.jobs.engines import (
    PER_INPUT_BYTE,
    PROCESS_BYTES,
    _next_that_fits,
    available_memory,
    memory_of,
    run_here,
    run_processes,
)
from potato_iaa.jobs.outcome import Outcome
from potato_iaa.jobs.run import run_job
from potato_iaa.jobs.task import Task, Tell, _not_stopped, run_task
from potato_iaa.measures import measuring
from potato_iaa.processes import cores
from tests.golden.projects import SAMPLES
from tests.jobs.projects import QUICK, job_of, sample

needs_dask = pytest.mark.skipif(find_spec("distributed") is None, reason="needs potato-iaa[dask]")


def silent(task: Task, stage: str) -> None:
    """Nobody is told."""


def task_of(folder: Path, name: str, *, size: int = 0, project: str = "scripts") -> Task:
    config = SAMPLES / project / "config.yaml"
    return Task(name, config, name, folder / name, Settings(**QUICK), size)


def tasks_in(folder: Path) -> list[Task]:
    projects = ("pii_spans", "scripts", "two_schemes")
    return [task_of(folder, name, project=name) for name in projects]


def told(outcomes: list[Outcome]) -> dict[str, Outcome]:
    return {outcome.name: outcome for outcome in outcomes}


def dies_the_first_time(folder: Path, task: Task, tell: Tell | None = None) -> Outcome:
    """As run_task, but the process that gets ``victim`` first is killed at it."""
    trace = folder / "died"
    if task.name == "victim" and not trace.exists():
        trace.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return run_task(task, tell)


def always_dies(task: Task, tell: Tell) -> Outcome:
    if task.name == "victim":
        os._exit(3)
    return run_task(task, tell)


def names_itself(task: Task, tell: Tell) -> Outcome:
    tell("at it")
    return Outcome(task.name, str(os.getpid()), title=os.environ.get("OMP_NUM_THREADS", ""))


def sleeps(task: Task, tell: Tell) -> Outcome:
    tell("asleep")
    time.sleep(600)
    return Outcome(task.name, "")


def test_processes_give_the_same_figures_as_one(tmp_path: Path) -> None:
    here = told(list(run_here(tasks_in(tmp_path / "a"), on_stage=silent)))
    apart = told(list(run_processes(tasks_in(tmp_path / "b"), on_stage=silent, workers=2)))
    assert here == apart
    for name in here:
        reports = [tmp_path / side / name / "report.json" for side in "ab"]
        assert reports[0].read_bytes() == reports[1].read_bytes()


def test_processes_are_kept_and_have_one_thread_each(tmp_path: Path) -> None:
    stages: list[tuple[str, str]] = []
    tasks = [task_of(tmp_path, f"t{number}") for number in range(5)]
    outcomes = list(
        run_processes(
            tasks,
            on_stage=lambda task, stage: stages.append((task.name, stage)),
            workers=2,
            work=names_itself,
        )
    )
    assert {outcome.name for outcome in outcomes} == {task.name for task in tasks}
    assert len({outcome.project for outcome in outcomes}) <= 2
    assert {outcome.title for outcome in outcomes} == {"1"}
    assert sorted(stages) == [(task.name, "at it") for task in tasks]
    assert "OMP_NUM_THREADS" not in os.environ or os.environ["OMP_NUM_THREADS"] != ""


def test_a_process_that_dies_costs_nothing(tmp_path: Path) -> None:
    tasks = [task_of(tmp_path, name) for name in ("victim", "other", "third")]
    work = functools.partial(dies_the_first_time, tmp_path)
    outcomes = told(list(run_processes(tasks, on_stage=silent, workers=2, work=work)))
    assert (tmp_path / "died").exists()
    assert {outcome.error for outcome in outcomes.values()} == {None}
    assert outcomes["victim"].schemes == outcomes["other"].schemes


def test_a_process_that_dies_twice_stops_nobody(tmp_path: Path) -> None:
    tasks = [task_of(tmp_path, name) for name in ("victim", "other")]
    outcomes = told(list(run_processes(tasks, on_stage=silent, workers=2, work=always_dies)))
    assert outcomes["other"].error is None
    assert "victim: the process that measured it ended with code 3, twice" in (
        outcomes["victim"].error or ""
    )


def test_processes_are_stopped_with_their_job(tmp_path: Path) -> None:
    started: list[str] = []

    def on_stage(task: Task, stage: str) -> None:
        started.append(task.name)
        raise KeyboardInterrupt

    tasks = [task_of(tmp_path, "one"), task_of(tmp_path, "two")]
    before = time.monotonic()
    with (
        pytest.raises(KeyboardInterrupt),
        closing(run_processes(tasks, on_stage=on_stage, workers=2, work=sleeps)) as outcomes,
    ):
        next(outcomes)
    assert started
    assert time.monotonic() - before < 30


def test_memory_decides_how_many_run_at_once(tmp_path: Path) -> None:
    small, big = task_of(tmp_path, "small"), task_of(tmp_path, "big", size=10**9)
    assert memory_of(big) == PROCESS_BYTES + PER_INPUT_BYTE * 10**9
    waiting = [big, small]
    assert _next_that_fits(waiting, [], room=0) == big
    assert _next_that_fits(waiting, [big], room=memory_of(big)) is None
    assert _next_that_fits(waiting, [big], room=memory_of(big) + memory_of(small)) == small
    assert waiting == []
    assert cores() >= 1
    assert available_memory() > 0


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A Dask scheduler with two workers of one thread, each a process, on the loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    environment = {**os.environ, "PYTHONPATH": str(SAMPLES.parent)}

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments, "--host", "127.0.0.1", "--no-dashboard"],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    processes = [start("scheduler", "--port", str(port))]
    try:
        for _ in range(2):
            processes.append(start("worker", address, "--nthreads", "1", "--no-nanny"))
        yield address, processes[1:]
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


@needs_dask
@pytest.mark.dask
@pytest.mark.filterwarnings("default")
def test_dask_gives_the_same_figures_though_a_worker_is_killed(
    tmp_path: Path, scheduler: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, workers = scheduler
    names = ("pii_spans", "scripts", "two_schemes")
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    entries = [
        {"project": sample(name), "name": f"{name}_{seed}", "seed": seed}
        for name in names
        for seed in range(3)
    ]
    local = job_of(tmp_path / "here", projects=entries, workers=1)
    spread = job_of(tmp_path / "there", projects=entries, engine="dask", scheduler=address)
    here = run_job(local)

    class KillsOne:
        """Kills one of the two workers when the first project is through."""

        killed = False

        def stage(self, name: str, stage: str) -> None:
            """Nothing."""

        def done(self, outcome: Outcome) -> None:
            """The first time: the kill."""
            if not self.killed:
                workers[0].send_signal(signal.SIGKILL)
                self.killed = True

    watcher = KillsOne()
    there = run_job(spread, watcher=watcher)
    assert watcher.killed
    assert workers[0].wait() == -signal.SIGKILL
    assert workers[1].poll() is None
    assert there.code == here.code == 0
    assert [one.to_dict() for one in there.summary.outcomes] == [
        one.to_dict() for one in here.summary.outcomes
    ]
    for entry in entries:
        reports = [
            folder / "out" / str(entry["name"]) / "report.json"
            for folder in (tmp_path / "here", tmp_path / "there")
        ]
        assert reports[0].read_bytes() == reports[1].read_bytes()


@needs_dask
@pytest.mark.dask
@pytest.mark.filterwarnings("default")
def test_blocks_of_a_large_project_give_the_same_figures_though_a_worker_is_killed(
    tmp_path: Path,
    scheduler: tuple[str, list[subprocess.Popen[bytes]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address, workers = scheduler
    whole = run_task(task_of(tmp_path, "whole", project="pii_spans"))
    monkeypatch.setattr("potato_iaa.jobs.dask_engine.LARGE", 1)
    monkeypatch.setattr(measuring, "cut", functools.partial(cut, size=400))
    seen: list[str] = []

    def kills_at_the_third(task: Task, stage: str) -> None:
        seen.append(stage)
        if len([one for one in seen if "counted" in one]) == 3:
            workers[0].send_signal(signal.SIGKILL)

    tasks = [task_of(tmp_path, "spread", size=1, project="pii_spans"), task_of(tmp_path, "small")]
    outcomes = told(list(run_on_dask(tasks, scheduler=address, on_stage=kills_at_the_third)))
    assert workers[0].wait() == -signal.SIGKILL
    assert len([one for one in seen if "counted" in one]) > 10
    assert {outcome.error for outcome in outcomes.values()} == {None}
    assert outcomes["spread"].schemes == whole.schemes
    reports = [tmp_path / name / "report.json" for name in ("whole", "spread")]
    assert reports[0].read_bytes() == reports[1].read_bytes()


@needs_dask
@pytest.mark.dask
@pytest.mark.filterwarnings("default")
def test_dask_does_again_what_a_worker_died_of(
    tmp_path: Path, scheduler: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, workers = scheduler
    tasks = [task_of(tmp_path, name) for name in ("victim", "other", "third")]
    work = functools.partial(dies_the_first_time, tmp_path)
    outcomes = told(list(run_on_dask(tasks, scheduler=address, on_stage=silent, work=work)))
    assert sorted(worker.poll() is None for worker in workers) == [False, True]
    assert {outcome.error for outcome in outcomes.values()} == {None}
    assert outcomes["victim"].schemes == outcomes["other"].schemes


@needs_dask
@pytest.mark.dask
@pytest.mark.filterwarnings("default")
def test_no_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("potato_iaa.jobs.dask_engine.PATIENCE_SECONDS", 1)
    with pytest.raises(InputError, match="no Dask scheduler answers there"):
        list(run_on_dask([], scheduler="tcp://127.0.0.1:9", on_stage=silent))


def test_a_report_that_is_being_written_is_finished_first() -> None:
    written: list[str] = []

    def write() -> None:
        with _not_stopped():
            signal.raise_signal(signal.SIGINT)
            written.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        write()
    assert written == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
