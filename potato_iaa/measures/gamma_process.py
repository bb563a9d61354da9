"""pygamma-agreement in a process of its own: both ends of the line to it.

The package prints from C, takes seconds to start, and cannot be interrupted within its solver. So
it runs in a process whose output goes nowhere, that is killed when it is overdue, that leaves when
it is idle or when its owner is gone, and that further layers find already started. This file is
also the program of that process: run as a script, it imports nothing of this package.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import combinations
from typing import IO, Any

PROGRAM = __file__
STARTING_SECONDS = 300.0
GRACE_SECONDS = 2.0
IDLE_SECONDS = 120.0
MEMORY = 8 * 2**30

# Start, end, label: a unit as pygamma aligns it; None is the empty unit.
Unit = tuple[float, float, int]
Message = dict[str, Any]


class NoAnswerError(Exception):
    """The process gave no answer to one request; the message is the reason."""


class OverdueError(NoAnswerError):
    """The process took longer than it may."""


class NotStartedError(Exception):
    """The process does not start, so that further requests are in vain."""


# Our end ------------------------------------------------------------------------------------------


def pygamma_version() -> str | None:
    """The version of pygamma-agreement that is installed, without importing it."""
    try:
        return version("pygamma-agreement")
    except PackageNotFoundError:
        return None


def solver() -> str:
    """The integer solver that pygamma takes: among equal alignments, solvers choose differently."""
    return "CBC" if find_spec("cylp") else "GLPK_MI"


def ask(request: Message, *, seconds: float) -> Message:
    """What pygamma answers to ``request`` (see ``compute``); it is killed if it is overdue.

    Raises OverdueError, NoAnswerError with the reason, or NotStartedError. Whatever else is
    raised, such as KeyboardInterrupt, no process is left behind.
    """
    with _line.lock:
        try:
            answer = _line.process().ask(request | {"seconds": seconds}, seconds)
        except BaseException:
            _line.hang_up()
            raise
    if "overdue" in answer:
        raise OverdueError
    if "why" in answer:
        raise NoAnswerError(answer["why"])
    return answer


def hang_up() -> None:
    """End the process, if one is running."""
    with _line.lock:
        _line.hang_up()


class _Process:
    """A running process and the lines it has written."""

    def __init__(self) -> None:
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-W", "ignore", PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="ascii",
            )
        except OSError as error:
            raise NotStartedError(f"no process for pygamma-agreement: {error}") from error
        assert process.stdin is not None
        assert process.stdout is not None
        self._requests = process.stdin
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        listener = threading.Thread(
            target=_listen, args=(process.stdout, self._lines), daemon=True, name="gamma"
        )
        listener.start()
        self._process = process
        self.owner = os.getpid()
        self.end = weakref.finalize(self, _end, process, listener, self.owner)
        try:
            self._start()
        except BaseException:
            self.end()
            raise

    @property
    def usable(self) -> bool:
        """Whether it is ours, running, and not about to leave because it was idle."""
        idle = time.monotonic() - self.asked
        return (
            self.owner == os.getpid() and self._process.poll() is None and idle < IDLE_SECONDS / 2
        )

    def ask(self, request: Message, seconds: float) -> Message:
        """The answer to one request."""
        with suppress(OSError):  # Gone: the answer says how.
            self._requests.write(json.dumps(request) + "\n")
            self._requests.flush()
        return self._answer(seconds + GRACE_SECONDS)

    def _start(self) -> None:
        try:
            ready = self._answer(STARTING_SECONDS)
        except OverdueError:
            late = f"pygamma-agreement did not start within {STARTING_SECONDS:g} s"
            raise NotStartedError(late) from None
        except NoAnswerError as error:
            raise NotStartedError(str(error)) from None
        if "why" in ready:
            raise NotStartedError(ready["why"])

    def _answer(self, seconds: float) -> Message:
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise OverdueError from None
        if line is None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE_SECONDS)
            code = self._process.returncode
            raise NoAnswerError(f"pygamma-agreement ended without an answer (exit code {code})")
        self.asked = time.monotonic()
        answer: Message = json.loads(line)
        return answer


class _Line:
    """The one process that runs at a time, which the threads of a program share."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._process: _Process | None = None

    def process(self) -> _Process:
        if self._process is None or not self._process.usable:
            self.hang_up()
            self._process = _Process()
        return self._process

    def hang_up(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None


_line = _Line()


def _listen(replies: IO[str], lines: queue.SimpleQueue[str | None]) -> None:
    for line in replies:
        lines.put(line)
    lines.put(None)


def _end(process: subprocess.Popen[str], listener: threading.Thread, owner: int) -> None:
    if os.getpid() != owner:
        return
    process.kill()
    process.wait()
    listener.join(timeout=GRACE_SECONDS)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


# Its end ------------------------------------------------------------------------------------------


def compute(request: Message) -> Message:
    """The disorders and aligned pairs of one item and of its random counterparts.

    ``request``: ``units`` (per annotator the units), ``alpha``, ``beta``, ``delta_empty``,
    ``sampler``, ``samples``, ``precision``, ``seed``, ``seconds``. The answer has ``disorders`` and
    ``pairs`` (``pair_weights``), the item's own first, then one per sample, and ``seconds``; or
    ``overdue``; or ``why`` there is none.
    """
    started = time.perf_counter()
    numpy, pygamma = importlib.import_module("numpy"), importlib.import_module("pygamma_agreement")
    continuum = _continuum(request["units"])
    dissimilarity = _dissimilarity(request["alpha"], request["beta"], request["delta_empty"])
    sampler = getattr(pygamma, f"{request['sampler'].capitalize()}ContinuumSampler")()
    numpy.random.seed(request["seed"])
    sampler.init_sampling(continuum)
    alignments = [continuum.get_best_alignment(dissimilarity)]
    samples = request["samples"]
    while len(alignments) <= samples:
        if time.perf_counter() - started > request["seconds"]:
            return {"overdue": True}
        alignments.append(sampler.sample_from_continuum.get_best_alignment(dissimilarity))
        if len(alignments) == request["samples"] + 1 and request["precision"] is not None:
            chance = [float(alignment.disorder) for alignment in alignments[1:]]
            samples = max(samples, samples_needed(chance, request["precision"]))
    return {
        "disorders": [float(alignment.disorder) for alignment in alignments],
        "pairs": [pair_weights(map(_units, alignment)) for alignment in alignments],
        "seconds": time.perf_counter() - started,
    }


def samples_needed(disorders: Sequence[float], precision: float) -> int:
    """How many samples put the expected disorder within ``precision`` of itself, at 95 %.

    Source: Mathet, Widlöcher & Métivier 2015, doi:10.1162/COLI_a_00227, section 5.3.

    >>> samples_needed([1.0, 3.0], 0.1)
    97
    """
    mean = math.fsum(disorders) / len(disorders)
    variance = math.fsum((disorder - mean) ** 2 for disorder in disorders) / len(disorders)
    return math.ceil(variance * (1.96 / (mean * precision)) ** 2) if mean else 0


def pair_weights(
    alignment: Iterable[Sequence[Unit | None]],
) -> list[tuple[int, int, float]]:
    """How much the aligned units of each two labels weigh: (label, label, weight), unequal or not.

    Two units aligned with each other weigh max(0, 1 − d_pos/Δ∅), over the number of units less 1
    that are aligned together. A unit aligned with empty ones alone weighs nothing.

    Source: Mathet 2017, The agreement measure γ-cat, doi:10.1162/COLI_a_00296, section 4.2.

    >>> pair_weights([((0, 2, 7), (0, 2, 3), (0, 2, 7)), ((5, 9, 3), None, None)])
    [(3, 7, 1.0), (7, 7, 0.5)]
    """
    weights: dict[tuple[int, int], float] = {}
    for together in alignment:
        units = [unit for unit in together if unit is not None]
        for (start, end, label), (other_start, other_end, other_label) in combinations(units, 2):
            apart = abs(start - other_start) + abs(end - other_end)
            apart /= end - start + other_end - other_start
            labels = (min(label, other_label), max(label, other_label))
            weight = max(0.0, 1 - apart**2) / (len(units) - 1)
            weights[labels] = weights.get(labels, 0.0) + weight
    return [(*labels, weight) for labels, weight in sorted(weights.items())]


def _continuum(annotators: Sequence[Sequence[Unit]]) -> Any:
    pygamma = importlib.import_module("pygamma_agreement")
    segment = importlib.import_module("pyannote.core").Segment
    continuum = pygamma.Continuum()
    for number, units in enumerate(annotators):
        continuum.add_annotator(f"{number:09d}")
        for start, end, label in units:
            continuum.add(f"{number:09d}", segment(start, end), f"{label:09d}")
    return continuum


@cache
def _dissimilarity(alpha: float, beta: float, delta_empty: float) -> Any:
    pygamma = importlib.import_module("pygamma_agreement")
    return pygamma.CombinedCategoricalDissimilarity(alpha=alpha, beta=beta, delta_empty=delta_empty)


def _units(together: Any) -> list[Unit | None]:
    return [
        None if unit is None else (unit.segment.start, unit.segment.end, int(unit.annotation))
        for _, unit in together.n_tuple
    ]


def _answered(line: str) -> Message:
    try:
        return compute(json.loads(line))
    except MemoryError:
        return {"why": f"pygamma-agreement needed more than {MEMORY // 2**30} GiB of memory"}
    except Exception as error:
        return {"why": f"pygamma-agreement failed: {_told(error)}"}


def _told(error: Exception) -> str:
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__


def _hear(requests: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)  # Whoever asked is gone.


def _main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    replies = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def say(message: Message) -> None:
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_hear, args=(requests,), daemon=True).start()
    with suppress(ImportError, AttributeError, OSError, ValueError):
        resource = importlib.import_module("resource")
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        _dissimilarity(1.0, 1.0, 1.0)
    except Exception as error:
        say({"why": f"pygamma-agreement does not start: {_told(error)}"})
    else:
        say({})
        with suppress(queue.Empty):
            while True:
                say(_answered(requests.get(timeout=IDLE_SECONDS)))
    os._exit(0)


if __name__ == "__main__":
    _main()
