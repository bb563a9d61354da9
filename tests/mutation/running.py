"""Running tests against a mutant: in a fork of a process that has all other packages loaded."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType
from typing import Any, NoReturn

OPTIONS = (
    *("-x", "-q", "--no-header", "-p", "no:cacheprovider", "-o", "addopts="),
    *("--hypothesis-profile", "mutation"),
    # Plugins are loaded ahead too.
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)
# What must be loaded anew: what is tested and what tests it.
OWN = ("potato_iaa", "tests", "benchmarks")
POLL = 0.005  # seconds
# Not 0: a mutant that ends its process at once has passed no test.
PASSED = 77


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self.source = source

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.source, self.path, "exec")


class _Finder(MetaPathFinder):
    """Finds one module, with another source than it has, which ``file`` holds."""

    def __init__(self, path: Path, source: str, file: Path) -> None:
        self.file, self.source = str(file), source
        self.name = ".".join(path.with_suffix("").parts)

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        if name != self.name:
            return None
        loader = _Loader(name, self.file, self.source)
        return spec_from_file_location(name, self.file, loader=loader)


def settle() -> None:
    """Settle what would differ from run to run: the examples of hypothesis, never shrunk."""
    from hypothesis import Phase, settings

    settings.register_profile(
        "mutation",
        deadline=None,
        derandomize=True,
        database=None,
        max_examples=20,
        phases=(Phase.explicit, Phase.generate),
    )


def load_ahead(tests: Sequence[str]) -> float:
    """Load all packages that ``tests`` use but ours; the seconds that the tests then take.

    Raises RuntimeError: a test fails without any mutant.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        failed = _run(tests)
        names = [name for name in sys.modules if name.partition(".")[0] not in OWN]
        with os.fdopen(writing, "w") as told:
            told.write(" ".join(names))
        os._exit(failed)
    os.close(writing)
    with os.fdopen(reading) as told:
        names = told.read().split()
    _, status = os.waitpid(child, 0)
    if status:
        raise RuntimeError(f"a test of {' '.join(tests)} fails without any mutant.")
    for name in names:
        # Some can only be loaded by their own packages.
        with suppress(Exception):
            import_module(name)
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os._exit(_run(tests))
    os.waitpid(child, 0)
    return time.monotonic() - began


def survives(path: Path, source: str, tests: Sequence[str], seconds: float) -> bool:
    """Whether all ``tests`` pass, within ``seconds``, with ``source`` in the place of ``path``."""
    with TemporaryDirectory() as folder:
        # For those that run the module as a program.
        file = Path(folder, path.name)
        file.write_text(source, encoding="utf-8")
        return _survives(_Finder(path, source, file), tests, seconds)


def _survives(finder: _Finder, tests: Sequence[str], seconds: float) -> bool:
    child = os.fork()
    if child == 0:
        _run_mutant(finder, tests)
    # Polls are counted, not the clock: a pause of both must not pass for a kill.
    for _ in range(int(seconds / POLL)):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            _end_group(child)
            return os.waitstatus_to_exitcode(status) == PASSED
        time.sleep(POLL)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    _end_group(child)
    return False


def _end_group(leader: int) -> None:
    """End what a mutant has started and left behind."""
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _run_mutant(finder: _Finder, tests: Sequence[str]) -> NoReturn:
    # A group of its own: a mutant that ends its whole group must not end this process too.
    os.setpgid(0, 0)
    sys.meta_path.insert(0, finder)
    os._exit(1 if _run(tests) else PASSED)


def _run(tests: Sequence[str]) -> int:
    import pytest

    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    try:
        return int(bool(pytest.main([*OPTIONS, *tests])))
    except BaseException:
        return 1
