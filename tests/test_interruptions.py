"""Killed, without room or without permission: the old report or the new one, and one sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.loaders.projects import span, state, write_project

COMMAND = (sys.executable, "-m", "potato_iaa", "report")
LIGHT = ("--bootstrap", "0")
MOMENTS = 8
posix = pytest.mark.skipif(os.name == "nt", reason="needs signals and limits of POSIX")


def project(folder: Path, end: int) -> Path:
    states = {"ann": state({"d1": [span(0, 3)]}), "ben": state({"d1": [span(0, end)]})}
    return write_project(folder, states)


def run(
    config: Path, out: Path, *, before: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, str(config), "--out", str(out), *LIGHT],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=before,
    )


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a report by their names."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def assert_one_sentence(ended: subprocess.CompletedProcess[str], problem: str) -> None:
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("potato-iaa: ")
    assert ended.stderr.count("\n") == 1
    assert problem in ended.stderr


@posix
def test_a_report_that_is_killed_leaves_the_old_one_or_the_new_one(tmp_path: Path) -> None:
    old, new = project(tmp_path / "old", 3), project(tmp_path / "new", 4)
    out, other = tmp_path / "out", tmp_path / "other"
    assert run(old, out).returncode == 0
    old_report = contents(out)
    started = time.monotonic()
    assert run(new, other).returncode == 0
    lasts = time.monotonic() - started
    new_report = contents(other)
    assert old_report.keys() == new_report.keys()
    assert old_report != new_report
    killed = 0
    # Most of the moments are near the end, when files are written.
    for moment in range(MOMENTS):
        process = subprocess.Popen(
            [*COMMAND, str(new), "--out", str(out), *LIGHT],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(lasts * (0.3 + 0.7 * (moment / MOMENTS) ** 0.5))
        process.send_signal(signal.SIGKILL)
        killed += process.wait(timeout=60) == -signal.SIGKILL
        assert contents(out) in (old_report, new_report)
    assert killed
    # What was left beside it is in the way of nothing.
    assert run(new, out).returncode == 0
    assert contents(out) == new_report


@posix
def test_a_report_that_is_interrupted_from_the_keyboard_says_so(tmp_path: Path) -> None:
    config, out = project(tmp_path / "p", 3), tmp_path / "out"
    script = (
        "import os, signal\n"
        "import potato_iaa.reporter.files as files\n"
        "from potato_iaa.cli import main\n"
        "files.replace_folder = lambda *args, **names: os.kill(os.getpid(), signal.SIGINT)\n"
        f"main(['report', {str(config)!r}, '--out', {str(out)!r}, '--bootstrap', '0'])\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.returncode in (2, 130)
    assert ended.stderr == "potato-iaa: interrupted.\n"
    assert sorted(os.listdir(tmp_path)) == ["p"]


@posix
def test_a_full_disk_is_one_sentence_and_leaves_the_old_report(tmp_path: Path) -> None:
    """Stands for a full disk: no file may grow beyond 2,000 bytes."""
    import resource

    config, out = project(tmp_path / "p", 3), tmp_path / "out"
    assert run(config, out).returncode == 0
    before = contents(out)

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    assert_one_sentence(run(config, out, before=small), "cannot be written")
    assert contents(out) == before
    assert sorted(os.listdir(tmp_path)) == ["out", "p"]


@pytest.fixture
def full_disk(tmp_path: Path) -> Path:
    """A file system of 64 KiB; skips where none can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("a small file system cannot be mounted here")
    return folder


@posix
def test_a_file_system_without_room_is_one_sentence(tmp_path: Path, full_disk: Path) -> None:
    try:
        assert_one_sentence(run(project(tmp_path / "p", 3), full_disk / "out"), "No space left")
        assert os.listdir(full_disk) == []
    finally:
        subprocess.run(["umount", str(full_disk)], check=False)


@posix
def test_a_folder_that_takes_no_files_is_one_sentence(tmp_path: Path) -> None:
    config = project(tmp_path / "p", 3)
    if os.path.isdir("/proc/self"):
        assert_one_sentence(run(config, Path("/proc/report")), "cannot be written")
    if os.geteuid() == 0:
        pytest.skip("permissions do not bind root; only /proc was tried")
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(0o500)
    try:
        assert_one_sentence(run(config, locked / "out"), "cannot be written")
    finally:
        locked.chmod(0o700)


def test_a_project_that_vanishes_is_one_sentence(tmp_path: Path) -> None:
    assert_one_sentence(run(tmp_path / "gone.yaml", tmp_path / "out"), "no such file")
    assert not (tmp_path / "out").exists()
