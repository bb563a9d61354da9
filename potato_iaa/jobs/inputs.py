"""The files that a project is read from, and a hash that changes whenever one of them does."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from potato_iaa.errors import PotatoIAAError
from potato_iaa.loaders.project import Project, read_config, read_settings
from potato_iaa.loaders.sources import PROJECT, find_place

BLOCK = 1 << 20


@dataclass(frozen=True)
class Inputs:
    """The files of a project, and their bytes together."""

    files: tuple[Path, ...]
    size: int


def find_inputs(project: Path, *, config: str | None = None, without: Path) -> Inputs | None:
    """The files that may tell in a project's figures; None where they cannot be known.

    These are the configuration, every file that it names, those of its data folder and all in its
    annotation folder; of an export, the export besides. Rather one too many: a change in one of
    them costs a computation, one that is missed a wrong figure. Nothing in ``without``, which has
    our reports.
    """
    try:
        place = find_place(project, config)
        files = set() if place.config is None else _of_project(read_config(place.config))
        if place.form != PROJECT:
            files |= set(_inside(place.path)) if place.path.is_dir() else {place.path}
        ours = without.resolve()
        kept = sorted(file for file in files if not file.resolve().is_relative_to(ours))
        return Inputs(tuple(kept), sum(_size(file) for file in kept))
    except (PotatoIAAError, OSError, ValueError):
        return None


def _of_project(project: Project) -> set[Path]:
    named = _named(read_settings(project.config), project)
    files = {project.config, *named, *_inside(project.output)}
    files |= {file.path for file in project.data_files}
    if project.data_folder is not None:
        files |= set(_inside(project.data_folder.path))
    return files


def digest(inputs: Inputs, *, base: Path, salt: str) -> str:
    """SHA-256 over the names (relative to ``base``) and contents of the files, and ``salt``."""
    whole = hashlib.sha256(salt.encode())
    for file in inputs.files:
        whole.update(os.path.relpath(file, base).encode("utf-8", "surrogateescape") + b"\0")
        whole.update(_digest_of(file))
    return whole.hexdigest()


def _digest_of(file: Path) -> bytes:
    content = hashlib.sha256()
    try:
        # A FIFO or a device would never end.
        if file.exists() and not file.is_file():
            return b"no file"
        with file.open("rb") as stream:
            while block := stream.read(BLOCK):
                content.update(block)
    except OSError as fault:
        return f"not readable: {fault.errno}".encode()
    return content.digest()


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _named(settings: Any, project: Project) -> Iterator[Path]:
    """Files that any text in a configuration names."""
    here = project.config.parent
    for text in _texts(settings):
        for base in (project.base, here, here.parent):
            file = base / text
            if len(text) < 1000 and "\0" not in text and file.is_file():
                yield file
                break


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _all_texts(value.values())
    elif isinstance(value, list):
        yield from _all_texts(value)


def _all_texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        yield from _texts(value)


def _inside(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders.sort()
        # A FIFO or a device among the files would never end.
        yield from (path for name in names if (path := Path(root) / name).is_file())
