"""What a project is read from on disk, and a hash that changes whenever any of it does."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from potato_iaa.errors import PotatoIAAError
from potato_iaa.loaders.instances import files_beside
from potato_iaa.loaders.opening import Opening, folders_of, opening
from potato_iaa.loaders.paging import items_of
from potato_iaa.loaders.project import Project, read_config, read_settings
from potato_iaa.loaders.rendering import converted_files
from potato_iaa.loaders.sources import POTATO_1, PROJECT, Place, find_place

BLOCK = 1 << 20


@dataclass(frozen=True)
class Inputs:
    """The files and folders of a project, and the bytes of all files together."""

    paths: tuple[Path, ...]
    size: int


@dataclass(frozen=True)
class _Walk:
    """How folders are looked through: as far as files may be opened, and not into our reports."""

    limits: Opening
    without: Path

    def inside(self, folder: Path) -> Iterator[Path]:
        """All in a folder, behind links too; what is in a folder only once, so that this ends."""
        ours = os.path.realpath(self.without)
        met = {os.path.realpath(folder)}
        for root, folders, names in os.walk(folder, followlinks=True):
            here, below = Path(root), sorted(folders)
            yield from (here / name for name in names)
            folders.clear()
            for name in below:
                real = os.path.realpath(here / name)
                if real == ours:
                    continue
                yield here / name
                if real not in met and self.limits.allows(here / name):
                    met.add(real)
                    folders.append(name)


def find_inputs(
    project: Path, *, config: str | None = None, without: Path, allow_outside: bool = False
) -> Inputs | None:
    """What may tell in a project's figures; None where that cannot be known.

    This is the configuration, every file that it names, those of its data folder, the documents
    that its items name and all in its annotation folder; of an export, the export besides. Rather
    one too many: a change in one of them costs a computation, one that is missed a wrong figure.
    Not what a walk finds in ``without``, which has our reports, nor, as the reader refuses that,
    what lies outside the project unless ``allow_outside``.
    """
    try:
        with opening(project) as limits:
            place = find_place(project, config)
            if not allow_outside:
                limits.keep_within(folders_of(project, place.path, config=place.config))
            walk = _Walk(limits, without)
            paths = set(_of_place(place, walk))
            if place.config is not None:
                paths |= set(_of_project(place, read_config(place.config), walk))
            return Inputs(tuple(sorted(paths)), sum(_size(path) for path in paths))
    except (PotatoIAAError, OSError, ValueError):
        return None


def _of_place(place: Place, walk: _Walk) -> Iterator[Path]:
    """What is read of a place that is no project: its configuration tells nothing of it."""
    if place.form == PROJECT:
        return
    yield place.path
    if place.path.is_dir():
        yield from walk.inside(place.path)
    elif place.form == POTATO_1:
        yield from files_beside(place.path)


def _of_project(place: Place, project: Project, walk: _Walk) -> Iterator[Path]:
    yield project.config
    yield from _named(read_settings(project.config), project)
    yield from walk.inside(project.output)
    yield from (file.path for file in project.data_files)
    if project.data_folder is not None:
        yield from walk.inside(project.data_folder.path)
    # To read all items takes time, and few displays look for files.
    if project.display.converts:
        for record in items_of(place, project).records.values():
            yield from converted_files(record, project.display)


def digest(inputs: Inputs, *, base: Path, salt: str) -> str:
    """SHA-256 over the names (relative to ``base``) and contents of all inputs, and ``salt``."""
    whole = hashlib.sha256(salt.encode())
    for path in inputs.paths:
        whole.update(_relative(path, base) + b"\0")
        whole.update(_digest_of(path, base))
    return whole.hexdigest()


def _digest_of(path: Path, base: Path) -> bytes:
    content = hashlib.sha256()
    try:
        # Links may lead to one folder, in which only one of them was followed.
        if path.is_dir():
            return b"folder " + _relative(path.resolve(), base.resolve())
        # A FIFO or a device would never end.
        if path.exists() and not path.is_file():
            return b"no file"
        with path.open("rb") as stream:
            while block := stream.read(BLOCK):
                content.update(block)
    except OSError as fault:
        return f"not readable: {fault.errno}".encode()
    return content.digest()


def _relative(path: Path, base: Path) -> bytes:
    try:
        return os.fsencode(os.path.relpath(path, base))
    # There is no way from one drive of Windows to another.
    except ValueError:
        return os.fsencode(path)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0


def _named(settings: Any, project: Project) -> Iterator[Path]:
    """Files that any text in a configuration names."""
    here = project.config.parent
    for text in _texts(settings):
        places = (base / text for base in (project.base, here, here.parent))
        # Unlike Path.is_file, this is false of a text that is too long to be a name.
        yield from islice(filter(os.path.isfile, places), 1)


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
