"""Opens the files of a project: only files, only in its folders, and each as it stood at once."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from potato_iaa.errors import InputError
from potato_iaa.loaders.values import counted, quoted

LARGEST_FILE = 4 << 30
# A FIFO must not block, a terminal must not become ours, and Windows must not change the bytes.
_FLAGS = os.O_RDONLY
for _flag in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"):
    _FLAGS |= getattr(os, _flag, 0)
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)

_Mark = tuple[int, int]


@dataclass(eq=False)
class Opening:
    """The folders in which files may be opened (None: anywhere), and how the files stood."""

    folders: tuple[str, ...] | None = None
    rewritten: set[Path] = field(default_factory=set)
    marks: dict[Path, _Mark] = field(default_factory=dict)

    def keep_within(self, folders: Iterable[Path]) -> None:
        """Open no files but those in these folders, wherever links lead."""
        self.folders = tuple(dict.fromkeys(os.path.realpath(folder) for folder in folders))

    def allows(self, path: Path) -> bool:
        """Whether a path leads into the folders."""
        if self.folders is None:
            return True
        real = os.path.realpath(path)
        return any(_is_within(real, folder) for folder in self.folders)

    def check(self, file: Path) -> None:
        """Raise InputError if a file lies outside the folders."""
        if not self.allows(file):
            raise InputError(
                f"{file}: leads out of the project, to {os.path.realpath(file)!r}: copy it into "
                "the project, or allow such paths with --allow-outside."
            )

    def add(self, other: Opening) -> None:
        """Enter the files that were opened elsewhere."""
        self.rewritten |= other.rewritten
        self.marks |= other.marks

    def notes(self) -> Iterator[str]:
        """Sentences on the files that changed while the project was read."""
        if self.rewritten:
            yield (
                f"{counted(len(self.rewritten), 'file')} changed while being read, and read "
                f"again: {_told(self.rewritten)}."
            )
        later = [file for file, mark in self.marks.items() if _mark_at(file) != mark]
        if later:
            yield (
                f"{counted(len(later), 'file')} changed after being read, so the project was "
                f"still at work, and what came later is not counted: {_told(later)}."
            )


_current: ContextVar[Opening | None] = ContextVar("opening", default=None)


@contextmanager
def opening(path: str | os.PathLike[str]) -> Iterator[Opening]:
    """While it lasts, files are opened within limits, and every fault of a file is an InputError.

    ``path`` is what is being read, for the message.
    """
    limits = Opening()
    token = _current.set(limits)
    try:
        yield limits
    except OSError as fault:
        place = fault.filename if isinstance(fault.filename, str) else os.fspath(path)
        raise InputError(
            f"{place}: cannot be read ({fault.strerror or fault}): check its permissions."
        ) from fault
    except (MemoryError, RecursionError) as fault:
        problem = "nested too deeply" if isinstance(fault, RecursionError) else "too large"
        raise InputError(
            f"{os.fspath(path)}: is {problem} to be read on this computer: "
            "restore the files as Potato wrote them."
        ) from fault
    finally:
        _current.reset(token)


@contextmanager
def opened_apart() -> Iterator[Opening]:
    """What is opened while it lasts, within the same limits, for `Opening.add` to enter later."""
    limits = _current.get()
    apart = Opening(None if limits is None else limits.folders)
    token = _current.set(apart)
    try:
        yield apart
    finally:
        _current.reset(token)


def folders_of(*paths: Path, config: Path | None) -> Iterator[Path]:
    """The folders that belong to a project: of the paths given, of the configuration, and above.

    Potato takes the folder that it was started in for the project, and refuses what lies outside.
    Nobody knows that folder later; the configuration lies in it or one level below, unless that is
    the root or somebody's home.
    """
    for path in paths:
        yield path
        if not os.path.isdir(path):
            yield path.parent
    if config is None:
        return
    folder = Path(os.path.abspath(config)).parent
    yield folder
    above = folder.parent
    if above != above.parent and os.path.realpath(above) != os.path.realpath(
        os.path.expanduser("~")
    ):
        yield above


def content_of(file: Path) -> bytes:
    """The bytes of a file; read once more if it changes meanwhile.

    Raises OSError as `open`, and InputError: no file but a folder, FIFO, socket or device; larger
    than any file of Potato's; outside the folders that `opening` was limited to.
    """
    limits = _current.get()
    if limits is not None:
        limits.check(file)
    content, mark, steady = _read(file)
    if not steady:
        content, mark, _ = _read(file)
        if limits is not None:
            limits.rewritten.add(file)
    if limits is not None:
        limits.marks[file] = mark
    return content


def _read(file: Path) -> tuple[bytes, _Mark, bool]:
    """The bytes, the file's mark before, and whether it had the same mark afterwards."""
    # Opening a device can set it going, so it is looked at first.
    _check_kind(file, os.stat(file))
    handle = os.open(file, _FLAGS)
    with open(handle, "rb") as stream:
        before = os.fstat(handle)
        _check_kind(file, before)
        content = stream.read()
    mark = _mark_of(before)
    return content, mark, _mark_at(file) == mark and len(content) == before.st_size


def _check_kind(file: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = next((name for is_kind, name in _KINDS if is_kind(found.st_mode)), "something else")
        raise InputError(
            f"{file}: is {kind} where a file should be, so it is not read: put the file there, or "
            "correct the configuration."
        )
    if found.st_size > LARGEST_FILE:
        raise InputError(
            f"{file}: has {found.st_size:,} bytes, more than any file of Potato's "
            f"({LARGEST_FILE:,} at most are read): correct the file."
        )


def _mark_of(found: os.stat_result) -> _Mark:
    return found.st_size, found.st_mtime_ns


def _mark_at(file: Path) -> _Mark | None:
    try:
        return _mark_of(os.stat(file))
    except OSError:
        return None


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _told(files: Iterable[Path]) -> str:
    return quoted(sorted(f"{file.parent.name}/{file.name}" for file in files), most=3)
