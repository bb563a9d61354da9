"""Virtual environments with one package from PyPI each, kept in a cache folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

DONE = "installed.txt"


@dataclass(frozen=True)
class Environment:
    """An environment with a package, or the reason why there is none."""

    python: Path
    version: str = ""
    failure: str = ""


def environment(cache: Path, name: str, requirements: Sequence[str]) -> Environment:
    """The environment ``name`` in ``cache``, made when it is not there yet."""
    folder = cache / "environments" / name
    python = folder / "bin" / "python"
    done = folder / DONE
    wanted = "\n".join(requirements)
    if not (done.exists() and done.read_text(encoding="utf-8") == wanted):
        commands = (
            [sys.executable, "-m", "venv", "--clear", str(folder)],
            [str(python), "-m", "pip", "install", "--quiet", *requirements],
        )
        for command in commands:
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            if ended.returncode:
                return Environment(python, failure=f"not installed: {_last(ended.stderr)}")
        done.write_text(wanted, encoding="utf-8")
    return Environment(python, version=_version(python, name))


def _version(python: Path, name: str) -> str:
    code = f"from importlib.metadata import version; print(version({name!r}))"
    ended = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False)
    return ended.stdout.strip()


def _last(complaint: str) -> str:
    errors = [line for line in complaint.splitlines() if line.startswith("ERROR")]
    return (errors or complaint.splitlines() or ["no reason given"])[-1][:200]
