"""Work in child processes: the same results as here, in order, and nobody left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest

from potato_iaa.processes import in_processes
from tests.living import alive, wait_for

HERE = os.getpid()
forks = pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux only")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process without threads: a runner of tests may have some."""
    monkeypatch.setattr(threading, "active_count", lambda: 1)


def where(_: int) -> int:
    return os.getpid()


@pytest.mark.parametrize("most", [0, 1, 2, 3, 9])
@pytest.mark.parametrize("things", [[], [-1], [-1, 2, -3, 4, -5, 6, -7]])
def test_results_come_in_the_order_of_the_things(most: int, things: list[int]) -> None:
    with in_processes(abs, things, most=most) as results:
        assert list(results) == [abs(thing) for thing in things]


@forks
def test_every_child_works_on_its_share() -> None:
    with in_processes(where, range(6), most=3) as results:
        pids = list(results)
    assert pids[:3] == pids[3:]
    assert len({*pids, HERE}) == 4


def test_one_thing_is_done_here() -> None:
    with in_processes(where, [0], most=4) as results:
        assert list(results) == [HERE]


def test_nothing_is_done_here_before_it_is_asked_for() -> None:
    done: list[int] = []
    with in_processes(done.append, [1, 2], most=1) as results:
        next(results)
        assert done == [1]


def test_beside_a_thread_all_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        with in_processes(where, range(3), most=2) as results:
            assert list(results) == [HERE] * 3
    finally:
        stop.set()
        thread.join()


def test_on_other_systems_all_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with in_processes(where, range(3), most=2) as results:
        assert list(results) == [HERE] * 3


@forks
@pytest.mark.parametrize("failing", [1, 2, 3])
def test_where_a_child_cannot_be_had_all_is_done_here(
    monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    forked: list[int] = []
    fork = os.fork

    def limited() -> int:
        if len(forked) + 1 == failing:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        pid = fork()
        forked.append(pid)
        return pid

    monkeypatch.setattr(os, "fork", limited)
    with in_processes(where, range(6), most=3) as results:
        # Nobody works on what is done here.
        assert not any(map(alive, forked))
        assert list(results) == [HERE] * 6
    assert len(forked) == failing - 1


@forks
@pytest.mark.parametrize("fatal", range(5))
def test_what_a_killed_child_leaves_is_done_here(fatal: int) -> None:
    def work(thing: int) -> tuple[int, bool]:
        if thing == fatal and os.getpid() != HERE:
            os.kill(os.getpid(), signal.SIGKILL)
        return thing, os.getpid() == HERE

    with in_processes(work, range(5), most=2) as results:
        found = list(results)
    assert found == [(thing, thing >= fatal and thing % 2 == fatal % 2) for thing in range(5)]


def test_a_fault_of_the_work_is_raised_here() -> None:
    with in_processes(lambda thing: 6 // thing, [1, 2, 3, 0], most=2) as results:
        assert [next(results) for _ in range(3)] == [6, 3, 2]
        with pytest.raises(ZeroDivisionError):
            next(results)


def test_a_result_that_cannot_be_sent_is_made_here() -> None:
    def made(thing: int) -> Callable[[], int]:
        return lambda: thing

    with in_processes(made, [1, 2], most=2) as results:
        assert [result() for result in results] == [1, 2]


def test_large_results_come_whole() -> None:
    with in_processes(lambda size: bytes(size), [3_000_000, 0, 70_000], most=2) as results:
        assert [len(result) for result in results] == [3_000_000, 0, 70_000]


@forks
def test_no_child_outlives_the_with_even_in_the_middle_of_its_work() -> None:
    def work(thing: int) -> int:
        if thing > 1:
            time.sleep(60)
        return os.getpid()

    began = time.monotonic()
    with in_processes(work, range(4), most=2) as results:
        pids = [next(results), next(results)]
        assert all(map(alive, pids))
    assert not any(map(alive, pids))
    assert time.monotonic() - began < 30


@forks
def test_where_children_are_not_to_be_waited_for_all_is_well() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with in_processes(abs, [-1, 2, -3], most=2) as results:
            assert list(results) == [1, 2, 3]
    finally:
        signal.signal(signal.SIGCHLD, before)


@forks
def test_no_pipe_stays_open_beyond_the_with() -> None:
    before = os.listdir("/proc/self/fd")
    with in_processes(abs, [1, 2, 3], most=3) as results:
        next(results)
        assert len(os.listdir("/proc/self/fd")) == len(before) + 3
    # Whoever keeps the results keeps no pipes.
    assert len(os.listdir("/proc/self/fd")) == len(before)
    del results


ORPHANS = """
import os, signal, time
from potato_iaa.processes import in_processes

def work(thing):
    time.sleep(0.05)
    return os.getpid(), bytes(200_000)

with in_processes(work, range(60), most=3) as results:
    print(*[next(results)[0] for _ in range(3)], flush=True)
    os.kill(os.getpid(), signal.{how})
    time.sleep(60)
"""


@forks
@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_children_do_not_outlive_their_parent(how: str) -> None:
    script = ORPHANS.format(how=how)
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert ran.returncode
    pids = [int(pid) for pid in ran.stdout.split()]
    assert len(pids) == 3
    wait_for(lambda: not any(map(alive, pids)))


BUSY = """
import os, signal, time
from potato_iaa.processes import in_processes

begun, begins = os.pipe()

def work(thing):
    os.write(1, b"%d\\n" % os.getpid())  # in one piece, where print may take two
    os.write(begins, b".")
    time.sleep(60)

with in_processes(work, range(2), most=2):
    for _ in range(2):
        os.read(begun, 1)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@forks
def test_children_at_work_end_with_their_parent() -> None:
    ran = subprocess.run([sys.executable, "-c", BUSY], capture_output=True, text=True, timeout=50)
    pids = [int(pid) for pid in ran.stdout.split()]
    assert len(pids) == 2
    wait_for(lambda: not any(map(alive, pids)))


@forks
def test_an_interrupted_child_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    def work(thing: int) -> int:
        if os.getpid() != HERE:
            os.kill(os.getpid(), signal.SIGINT)
        return thing

    with in_processes(work, range(4), most=2) as results:
        assert list(results) == [0, 1, 2, 3]
    assert capfd.readouterr() == ("", "")
