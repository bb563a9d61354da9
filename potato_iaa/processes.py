"""Processes: the same work on many things, in children of this process, one for each core."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import NoReturn, TypeVar

PR_SET_PDEATHSIG = 1

Thing = TypeVar("Thing")
Result = TypeVar("Result")


@dataclass(frozen=True)
class _Child:
    pid: int
    pipe: Connection


@contextmanager
def in_processes(
    work: Callable[[Thing], Result], things: Sequence[Thing], *, most: int
) -> Generator[Iterator[Result]]:
    """What ``work`` gives of all ``things``, in their order, at most so many at a time.

    The children begin at once, each with every n-th thing, and are gone at the end of the ``with``.
    Results must be such as can be pickled. What a child does not give (the work raises, the child
    is killed) is done here, and raises here. All is done here, one thing after the other as they
    are asked for, where there is work for fewer than two, and where a process cannot be forked
    safely: on other systems than Linux, and beside threads.

    >>> with in_processes(abs, [-3, 2, -1], most=2) as results:
    ...     list(results)
    [3, 2, 1]
    """
    count = min(most, len(things))
    if count < 2 or sys.platform != "linux" or threading.active_count() > 1:
        yield map(work, things)
        return
    _give_back()
    children: list[_Child] = []
    try:
        try:
            for first in range(count):
                children.append(_started(work, things[first::count], children))
        except OSError:
            # Fewer children would have other shares, and none may work on what is done here.
            _end(children)
        yield _results(work, things, children) if children else map(work, things)
    finally:
        _end(children)


def _end(children: list[_Child]) -> None:
    while children:
        child = children.pop()
        child.pipe.close()
        # Where SIGCHLD is ignored, nobody is left to wait for.
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)


def _give_back() -> None:
    """Return free memory to the system, where the library of C can: children would hold it too."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _started(
    work: Callable[[Thing], Result], things: Sequence[Thing], siblings: Sequence[_Child]
) -> _Child:
    reading, writing = Pipe(duplex=False)
    try:
        pid = os.fork()
    except OSError:
        reading.close()
        writing.close()
        raise
    if pid == 0:
        _work_through(work, things, writing, [reading, *(child.pipe for child in siblings)])
    writing.close()
    return _Child(pid, reading)


def _work_through(
    work: Callable[[Thing], Result],
    things: Sequence[Thing],
    told: Connection,
    others: Sequence[Connection],
) -> NoReturn:
    try:
        # It would notice the end of its parent only when it has something to tell.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # Where one of these stayed open, whoever writes to it would not learn that the parent died.
        for pipe in others:
            pipe.close()
        for thing in things:
            told.send(work(thing))
    finally:
        # Nothing of the parent's may be flushed, cleaned up or said twice.
        os._exit(0)


def _results(
    work: Callable[[Thing], Result], things: Sequence[Thing], children: Sequence[_Child]
) -> Iterator[Result]:
    for position, thing in enumerate(things):
        try:
            result = children[position % len(children)].pipe.recv()
        except (EOFError, OSError):
            result = work(thing)
        yield result


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
