"""Where the tasks of a job run: in processes on this machine, as many as cores and memory allow."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext
from pathlib import Path

from potato_iaa.jobs.outcome import Outcome
from potato_iaa.jobs.task import Task, Tell, run_task
from potato_iaa.processes import cores

Work = Callable[[Task, Tell], Outcome]
OnStage = Callable[[Task, str], None]

# What a process takes in memory: itself, and so many times the bytes of the project's files.
PROCESS_BYTES = 300_000_000
PER_INPUT_BYTE = 6
# One thread each: the processes share the cores, and sums are made in one order.
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
PATIENCE_SECONDS = 10.0


def run_here(
    tasks: Sequence[Task], *, on_stage: OnStage, work: Work = run_task
) -> Generator[Outcome]:
    """Run the tasks one after the other in this process."""
    for task in tasks:
        yield work(task, partial(on_stage, task))


def run_processes(
    tasks: Sequence[Task],
    *,
    on_stage: OnStage,
    workers: int | None = None,
    memory: int | None = None,
    work: Work = run_task,
) -> Generator[Outcome]:
    """Run the tasks in processes of their own; outcomes come as they are made.

    ``workers``: at most so many at once (default: cores); ``memory``: bytes that they may take
    together (default: what is available), by which fewer may run. Processes are spawned, so that a
    script that calls this needs ``if __name__ == "__main__":``. A process that dies costs nothing
    but its own task, which is tried once more with nothing beside it. When the iterator is closed
    early, the processes are stopped.
    """
    room = available_memory() if memory is None else memory
    crew = _Crew(multiprocessing.get_context("spawn"), work)
    # The largest first, or the last one would run alone for long.
    waiting = sorted(tasks, key=lambda task: (-task.size, task.name))
    again: list[Task] = []
    try:
        while waiting or again or crew.busy:
            while len(crew.busy) < (workers or cores()):
                task = _next_that_fits(waiting, crew.tasks, room)
                if task is None and again and not crew.busy:
                    task = again.pop(0)
                if task is None:
                    break
                crew.give(task)
            for task, message in crew.messages():
                if isinstance(message, str):
                    on_stage(task, message)
                elif isinstance(message, Outcome):
                    yield message
                elif task.name in crew.died:
                    yield Outcome(task.name, task.shown, error=_death(task, message))
                else:
                    crew.died.add(task.name)
                    again.append(task)
    finally:
        crew.dismiss()


def available_memory() -> int:
    """Bytes that may be taken: what the machine has left, or less where a limit is set on us."""
    free = _meminfo("MemAvailable")
    if free is None:
        try:
            free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
        except (AttributeError, OSError, ValueError):
            free = 4 * 10**9
    limit = _number_in(Path("/sys/fs/cgroup/memory.max"))
    taken = _number_in(Path("/sys/fs/cgroup/memory.current"))
    return free if limit is None or taken is None else min(free, max(limit - taken, 0))


def memory_of(task: Task) -> int:
    """An estimate of the bytes that a task takes."""
    return PROCESS_BYTES + PER_INPUT_BYTE * task.size


def _next_that_fits(waiting: list[Task], running: Sequence[Task], room: int) -> Task | None:
    """Takes the first task that the memory left has room for; any, if nothing runs."""
    taken = sum(map(memory_of, running))
    for position, task in enumerate(waiting):
        if not running or taken + memory_of(task) <= room:
            return waiting.pop(position)
    return None


class _Worker:
    """A process, and the task that it is at."""

    def __init__(self, context: SpawnContext, work: Work) -> None:
        self.connection, there = context.Pipe()
        self.process = context.Process(target=_serve, args=(there, work), daemon=True)
        with _one_thread_each():
            self.process.start()
        there.close()
        self.task: Task | None = None


class _Crew:
    """The processes of a job."""

    def __init__(self, context: SpawnContext, work: Work) -> None:
        self._context = context
        self._work = work
        self._idle: list[_Worker] = []
        self.busy: dict[Connection, _Worker] = {}
        self.died: set[str] = set()

    @property
    def tasks(self) -> list[Task]:
        """The tasks that run."""
        return [worker.task for worker in self.busy.values() if worker.task is not None]

    def give(self, task: Task) -> None:
        """Start a task in an idle process, or in a new one."""
        worker = self._idle.pop() if self._idle else _Worker(self._context, self._work)
        worker.task = task
        self.busy[worker.connection] = worker
        # A process that died idle is found out by the end of its connection.
        with suppress(BrokenPipeError, ConnectionResetError):
            worker.connection.send(task)

    def messages(self) -> Iterator[tuple[Task, str | Outcome | int | None]]:
        """Wait for the processes: what they are at, an outcome, or the exit code of a dead one."""
        for connection in wait(list(self.busy)):
            assert isinstance(connection, Connection)
            worker = self.busy[connection]
            assert worker.task is not None
            try:
                message = connection.recv()
            except (EOFError, ConnectionResetError):
                del self.busy[connection]
                worker.process.join()
                connection.close()
                yield worker.task, worker.process.exitcode
                continue
            if isinstance(message, Outcome):
                del self.busy[connection]
                self._idle.append(worker)
            yield worker.task, message

    def dismiss(self) -> None:
        """Let the idle processes go and stop the others; none is left behind."""
        for worker in self.busy.values():
            worker.process.terminate()
        for worker in (*self._idle, *self.busy.values()):
            worker.connection.close()
        for worker in (*self._idle, *self.busy.values()):
            worker.process.join(PATIENCE_SECONDS)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


def _serve(connection: Connection, work: Work) -> None:
    """The life of a process: a task, its stages, its outcome; until nobody is there any more."""
    # The keyboard's interrupt reaches every process of a terminal; the first one decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    one_at_a_time = threading.Lock()

    def send(message: str | Outcome) -> None:
        with one_at_a_time:
            connection.send(message)

    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        send(work(task, send))


@contextmanager
def _one_thread_each() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update({name: value or "1" for name, value in before.items()})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]


def _death(task: Task, code: int | None) -> str:
    killed = code is not None and code < 0
    ended = f"was killed by signal {-(code or 0)}" if killed else f"ended with code {code}"
    return (
        f"{task.shown}: the process that measured it {ended}, twice, the second time with nothing "
        "beside it, as happens when memory runs out: give it more memory, or fewer resamples."
    )


def _meminfo(key: str) -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
    except (OSError, ValueError):
        return None
    found = (line.split() for line in lines if line.startswith(f"{key}:"))
    return next((int(words[1]) * 1024 for words in found), None)


def _number_in(file: Path) -> int | None:
    try:
        return int(file.read_text("ascii"))
    except (OSError, ValueError):
        return None
