"""The command line of a bench: what both take, what is said of a run, and where its tables go."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.measured import HERE, ROOT, Limits, load, machine, put_between


def parser(
    name: str, about: str | None, *, repeat: int, seconds: float, memory: float
) -> argparse.ArgumentParser:
    """The options of every bench; ``name`` is that of its results and of its place in README.md."""
    given = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    results = HERE / "results" / f"{name}.json"
    given.set_defaults(name=name)
    given.add_argument(
        "--repeat", type=int, default=repeat, help="runs of each, the quickest counts"
    )
    given.add_argument("--cache", type=Path, default=ROOT / "build" / "benchmarks")
    given.add_argument("--results", type=Path, default=results)
    given.add_argument("--fresh", action="store_true", help="measure again what is there")
    given.add_argument("--readme", action="store_true", help="put the tables into README.md")
    given.add_argument("--seconds", type=float, default=seconds, help="the most a run may take")
    given.add_argument("--memory", type=float, default=memory, help="the most it may hold, in GB")
    return given


def parsed(given: argparse.ArgumentParser) -> argparse.Namespace:
    """The arguments, with a cache that exists."""
    chosen = given.parse_args()
    chosen.cache = chosen.cache.resolve()
    chosen.cache.mkdir(parents=True, exist_ok=True)
    return chosen


def limits_of(chosen: argparse.Namespace) -> Limits:
    """What a run may take."""
    return Limits(seconds=chosen.seconds, memory=chosen.memory)


def circumstances(chosen: argparse.Namespace, *, scale: float) -> dict[str, Any]:
    """When, where and how often it was measured."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "load": load(),
        "scale": scale,
        "repeat": chosen.repeat,
    }


def publish(markdown: str, chosen: argparse.Namespace) -> None:
    """Print the tables, and put them into README.md if that was asked for."""
    sys.stdout.write(markdown)
    if chosen.readme:
        put_between(HERE / "README.md", chosen.name, markdown)
