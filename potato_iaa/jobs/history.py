"""history.jsonl: one line for each run of a job, and the trend that the lines make."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from potato_iaa.errors import UsageError
from potato_iaa.jobs.outcome import Outcome
from potato_iaa.measures.estimate import Estimate
from potato_iaa.measures.names import HEADLINE, estimate_of
from potato_iaa.version import __version__


@dataclass(frozen=True)
class Course:
    """One scheme of one project over the runs: when, and what its headline was."""

    project: str
    scheme: str
    times: tuple[datetime, ...]
    figures: tuple[Estimate, ...]


def history_line(outcomes: Sequence[Outcome], *, time: datetime, missed: int) -> str:
    """The line of a run: its time (UTC), and the figures and failures of its projects."""
    entry = {
        "time": time.astimezone(UTC).isoformat(timespec="seconds"),
        "version": __version__,
        "missed": missed,
        "projects": {outcome.name: _entry(outcome) for outcome in outcomes},
    }
    return json.dumps(entry, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _entry(outcome: Outcome) -> dict[str, Any]:
    if outcome.error is not None:
        return {"error": outcome.error}
    return {
        "signature": outcome.signature,
        "schemes": {
            scheme.scheme: {measure: _short(figure) for measure, figure in scheme.figures.items()}
            for scheme in outcome.schemes
        },
    }


def _short(figure: Estimate) -> dict[str, Any]:
    if figure.value is None:
        return {"value": None, "why": figure.why}
    return {"value": figure.value, "low": figure.low, "high": figure.high}


def add_to_history(file: Path, line: str) -> None:
    """Append a line; one that an interrupt cut off before it is closed first."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab+") as stream:
            stream.seek(max(stream.seek(0, os.SEEK_END) - 1, 0))
            cut_off = stream.read(1) not in (b"", b"\n")
            stream.write((b"\n" if cut_off else b"") + line.encode() + b"\n")
    except OSError as fault:
        raise UsageError(
            f"{file}: cannot be written ({fault.strerror}): free the place."
        ) from fault


def read_history(file: Path) -> list[dict[str, Any]]:
    """The entries of all runs; lines that are none are passed over."""
    try:
        lines = file.read_bytes().split(b"\n")
    except OSError:
        return []
    entries = []
    for line in lines:
        try:
            entry = json.loads(line)
            datetime.fromisoformat(entry["time"])
        except (ValueError, KeyError, TypeError):
            continue
        if isinstance(entry.get("projects"), dict):
            entries.append(entry)
    return entries


def courses(entries: Sequence[Mapping[str, Any]]) -> tuple[Course, ...]:
    """The headline of every scheme over the runs that have it, by project and scheme."""
    found: dict[tuple[str, str], list[tuple[datetime, Estimate]]] = {}
    for entry in sorted(entries, key=lambda entry: str(entry["time"])):
        time = datetime.fromisoformat(entry["time"])
        for project, told in entry["projects"].items():
            for scheme, figures in (told.get("schemes") or {}).items():
                if str(HEADLINE) in figures:
                    points = found.setdefault((project, scheme), [])
                    points.append((time, estimate_of(figures[str(HEADLINE)])))
    return tuple(
        Course(project, scheme, *(tuple(part) for part in zip(*points, strict=True)))
        for (project, scheme), points in sorted(found.items())
    )
