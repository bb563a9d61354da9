"""What an earlier run found out, kept as long as neither inputs nor settings change."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from potato_iaa.atomic import write_atomically
from potato_iaa.jobs.config import Planned, Settings
from potato_iaa.jobs.inputs import Inputs, digest
from potato_iaa.jobs.outcome import Outcome
from potato_iaa.jobs.task import figure_names, measure_options
from potato_iaa.measures.signature import SPECIFICATION
from potato_iaa.version import __version__

FOLDER = ".cache"
FORMAT = 1


def key_of(planned: Planned, inputs: Inputs) -> str:
    """The hash of all that a project's report depends on: files, settings, and our version."""
    salt = json.dumps(
        [FORMAT, __version__, SPECIFICATION, planned.name, _told(planned.settings)], sort_keys=True
    )
    return digest(inputs, base=planned.project, salt=salt)


def _told(settings: Settings) -> dict[str, Any]:
    """The settings; of the gates, not where they are set but what they have measured."""
    told = settings.model_dump(mode="json", exclude={"fail_under"})
    options = measure_options(settings)
    return told | {"rules": options["rules"], "measures": options["measures"]}


def recall(out: Path, planned: Planned, key: str) -> Outcome | None:
    """The outcome under this key, if its report is still there as it was written."""
    try:
        kept = json.loads((out / FOLDER / f"{planned.name}.json").read_bytes())
        if kept["key"] != key:
            return None
        outcome = Outcome.from_dict(kept["outcome"])
        report = out / planned.name
        if kept["report"] != _hash(report / "report.json"):
            return None
        if not all((report / name).is_file() for name in outcome.files):
            return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    names = figure_names(planned.settings)
    if not all(name in scheme.figures for scheme in outcome.schemes for name in names):
        return None
    return replace(outcome, project=planned.shown, cached=True)


def remember(out: Path, outcome: Outcome, key: str) -> None:
    """Keep an outcome for the next run. What cannot be written is computed again."""
    kept = {
        "key": key,
        "report": _hash(out / outcome.name / "report.json"),
        "outcome": outcome.to_dict(),
    }
    content = json.dumps(kept, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")
    write_atomically(out / FOLDER / f"{outcome.name}.json", content)


def _hash(file: os.PathLike[str]) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()
