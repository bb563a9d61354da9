"""Job files on the sample projects, in a folder of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from potato_iaa.jobs.config import Job, load_job
from tests.golden.projects import SAMPLES

QUICK: dict[str, Any] = {"bootstrap": 20, "audit": False, "formats": ["json"]}


def sample(name: str) -> str:
    """The path of a sample project's configuration."""
    return str(SAMPLES / name / "config.yaml")


def write_job(folder: Path, **settings: Any) -> Path:
    """Write a job file; its projects are quick unless they say otherwise."""
    file = folder / "job.yaml"
    job = {"out": "out", **settings}
    job["defaults"] = QUICK | settings.get("defaults", {})
    file.write_text(yaml.safe_dump(job, allow_unicode=True), encoding="utf-8")
    return file


def job_of(folder: Path, **settings: Any) -> Job:
    """A job, read from a file."""
    return load_job(write_job(folder, **settings))
