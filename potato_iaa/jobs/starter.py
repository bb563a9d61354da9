"""``potato-iaa init``: a commented job file for a project, with every setting at its default."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from potato_iaa.atomic import write_atomically
from potato_iaa.errors import UsageError
from potato_iaa.jobs.config import JobFile, Settings, has_pattern
from potato_iaa.loaders.project import find_config, read_config

_HEAD = """\
# A job of potato-iaa:  potato-iaa run {name}
#
# Paths are relative to this file. What is commented out shows the default, or where there is none
# an example.
# --dry-run says what would be done, --set key=value replaces a setting once.

# {out_doc}
out: {out}

projects:
  - project: {project}
"""
_GATES = """
    # With gates, exit code 1 where a figure, or the low end of its interval, is below.
    # fail_under:
    #   F1(match=exact,types=yes): 0.7
    #   token_alpha: {at_least: 0.667, on: low}
"""
_TAIL = """
# More projects may follow, by patterns too; what they have in common goes under defaults:
# defaults:
#   bootstrap: 200
"""


# Of settings without a default.
_EXAMPLES: dict[str, Any] = {
    "config": "path/to/config.yaml",
    "include_annotators": ["*"],
    "include_items": ["*"],
    "merge": {"ann-at-home": "ann"},
    "roles": {"model-*": "system"},
    "potato_version": "2.12.1",
    "offset_unit": "code-points",
}


def write_starter(project: str | Path, file: Path) -> Path:
    """Write a job file for a project; return its path.

    Raises InputError: no such project. Raises UsageError: the file is there already.
    """
    config = find_config(project)
    schemes = [scheme.name for scheme in read_config(config).declared.spans]
    if file.exists():
        raise UsageError(f"{file}: is there already: name another file with --out, or delete it.")
    shown = os.path.relpath(config, file.absolute().parent)
    write_atomically(file, starter_text(shown, schemes, name=file.name).encode())
    return file


def starter_text(project: str, schemes: list[str], *, name: str) -> str:
    """The text of a job file for the configuration at ``project``, whose span schemes these are."""
    if has_pattern(project):
        raise UsageError(
            f"{project}: has a character that job files read as a pattern (*, ?, [): rename it."
        )
    parts = [
        _HEAD.format(
            name=name,
            out=JobFile.model_fields["out"].default,
            out_doc=_documented(JobFile)["out"],
            project=_yaml(project),
        )
    ]
    for setting, meaning in _documented(Settings).items():
        if setting == "fail_under":
            continue
        default = Settings.model_fields[setting].default
        value = {**_EXAMPLES, "schemes": schemes}[setting] if default is None else default
        plain = meaning.replace("``", "")
        parts.append(f"\n    # {plain}\n    # {setting}: {_yaml(value)}\n")
    return "".join([*parts, _GATES, _TAIL])


def _documented(model: type[BaseModel]) -> dict[str, str]:
    return {name: str(field.description) for name, field in model.model_fields.items()}


def _yaml(value: Any) -> str:
    """A value in YAML's flow style; JSON is that, and quotes what needs it."""
    return json.dumps(value, ensure_ascii=False)
