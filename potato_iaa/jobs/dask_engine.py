"""The tasks of a job on a Dask cluster, and the blocks of the large ones.

What a worker was at when it died is done again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from importlib import import_module
from typing import Any, TypeVar
from uuid import uuid4

from potato_iaa.blocks import Block
from potato_iaa.errors import InputError, UsageError
from potato_iaa.jobs.engines import OnStage, Work
from potato_iaa.jobs.outcome import Outcome
from potato_iaa.jobs.task import Task, run_task

Counted = TypeVar("Counted")
PATIENCE_SECONDS = 20
# Bytes of a project's files from which on its blocks are spread, which costs sending them.
LARGE = 20_000_000


def run_on_dask(
    tasks: Sequence[Task], *, scheduler: str, on_stage: OnStage, work: Work = run_task
) -> Generator[Outcome]:
    """Run the tasks on the cluster of the Dask scheduler at this address.

    The workers read the projects and write the reports themselves, so that all of them need the
    folders of the job under the same paths. A project of ``LARGE`` files is read and written here,
    one after the other, and its blocks of items are counted by the workers. Raises UsageError: Dask
    is not installed. Raises InputError: no scheduler answers.
    """
    distributed = _distributed()
    client = _client(distributed, scheduler)
    try:
        small = [task for task in tasks if task.size < LARGE]
        for task in small:
            on_stage(task, "on the cluster")
        futures = {
            # A key of its own: Dask would hand out an old result for an equal task.
            client.submit(work, task, key=f"potato-iaa-{task.name}-{uuid4()}", pure=False): task
            for task in sorted(small, key=lambda task: (-task.size, task.name))
        }
        try:
            for task in tasks:
                if task.size >= LARGE:
                    yield run_task(task, partial(on_stage, task), spread=partial(_spread, client))
            for future in distributed.as_completed(futures):
                yield _outcome(future, futures[future])
        finally:
            client.cancel(list(futures))
    finally:
        client.close()


def _spread(
    client: Any, work: Callable[[Block], Counted], blocks: Sequence[Block], /
) -> Generator[Counted]:
    """Have the workers count the blocks, before any task that waits; in the blocks' order."""
    futures = [
        client.submit(work, block, key=f"potato-iaa-block-{uuid4()}", pure=False, priority=1)
        for block in blocks
    ]
    try:
        for future in futures:
            yield future.result()
    finally:
        client.cancel(futures)


def _outcome(future: Any, task: Task) -> Outcome:
    try:
        outcome = future.result()
    except Exception as fault:
        outcome = None
        said = f"{type(fault).__name__}: {fault}"
    if isinstance(outcome, Outcome):
        return outcome
    return Outcome(
        task.name,
        task.shown,
        error=f"{task.shown}: the Dask cluster gave it up ({said}): see the workers' logs, and "
        "whether they have this version of potato-iaa.",
    )


def _client(distributed: Any, scheduler: str) -> Any:
    try:
        return distributed.Client(scheduler, timeout=PATIENCE_SECONDS)
    except (OSError, ValueError, TimeoutError) as fault:
        raise InputError(
            f"scheduler {scheduler!r}: no Dask scheduler answers there ({fault}): start one with "
            "dask scheduler, or correct the address."
        ) from fault


def _distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError as fault:
        raise UsageError("engine 'dask' needs Dask: install potato-iaa[dask].") from fault
