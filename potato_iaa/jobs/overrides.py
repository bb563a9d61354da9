"""``--set key=value``: settings of a job that the command line replaces."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Any

from potato_iaa.errors import UsageError
from potato_iaa.jobs.located_yaml import YamlError, load_located

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Override:
    """One replacement: the text that was given, the keys, and the value, read as YAML."""

    text: str
    keys: tuple[str, ...]
    value: Any


def parse_override(text: str) -> Override:
    """The replacement that ``key=value`` stands for; dots lead into mappings and lists.

    Raises UsageError. Within brackets neither ``=`` nor a dot divides, as measure names have both:

    >>> found = parse_override("fail_under.F1(match=overlap(iou>=0.5))=0.7")
    >>> found.keys, found.value
    (('fail_under', 'F1(match=overlap(iou>=0.5))'), 0.7)
    """
    keys, depth = [""], 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "=" and not depth:
            if not all(keys):
                break
            return Override(text, tuple(keys), _value(text, text[position + 1 :]))
        if character == "." and not depth:
            keys.append("")
        else:
            keys[-1] += character
    raise UsageError(f"--set {text!r} is not of the form key=value: write --set bootstrap=200.")


def _value(text: str, written: str) -> Any:
    try:
        return load_located(written).data
    except YamlError as fault:
        raise UsageError(f"--set {text!r}: the value is not YAML: quote it.") from fault


def put(
    data: dict[str, Any], override: Override, *, settings: Container[str]
) -> tuple[dict[str, Any], list[Path]]:
    """The job's data with one replacement, and the paths that were replaced.

    A setting of projects is replaced in every project, whatever its own says.

    >>> job = {"projects": ["a", {"project": "b", "seed": 1}]}
    >>> put(job, parse_override("seed=2"), settings=["seed"])[0]
    {'projects': [{'project': 'a', 'seed': 2}, {'project': 'b', 'seed': 2}]}
    >>> put(job, parse_override("out=there"), settings=["seed"])
    ({'projects': ['a', {'project': 'b', 'seed': 1}], 'out': 'there'}, [('out',)])
    """
    projects = data.get("projects")
    if override.keys[0] not in settings or not isinstance(projects, list):
        keys = tuple(int(key) if key.isdecimal() else key for key in override.keys)
        return _replaced(data, keys, override.value), [keys]
    entries = [{"project": entry} if isinstance(entry, str) else entry for entry in projects]
    replaced = [
        _replaced(entry, override.keys, override.value) if isinstance(entry, dict) else entry
        for entry in entries
    ]
    paths: list[Path] = [("projects", place, *override.keys) for place in range(len(entries))]
    return data | {"projects": replaced}, paths


def _replaced(data: Any, keys: Path, value: Any) -> Any:
    """A copy of ``data`` with another value at the place that ``keys`` lead to."""
    if not keys:
        return value
    first, rest = keys[0], keys[1:]
    if isinstance(data, list) and isinstance(first, int) and first < len(data):
        inside = {"project": data[first]} if rest and isinstance(data[first], str) else data[first]
        return [*data[:first], _replaced(inside, rest, value), *data[first + 1 :]]
    if isinstance(data, list) or (data is not None and not isinstance(data, dict)):
        raise UsageError(f"--set: there is nothing at {first!r} that could be replaced.")
    known = data or {}
    return known | {str(first): _replaced(known.get(str(first)), rest, value)}
