"""Files and folders that are there whole or not at all."""

from __future__ import annotations

import ctypes
import os
import tempfile
from pathlib import Path

from potato_iaa.errors import UsageError


def write_atomically(file: Path, content: bytes) -> None:
    """Write beside ``file``, then put it in its place. Raises UsageError where that fails."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
            # As any new file, which mkstemp makes for its owner's eyes only.
            os.chmod(beside, 0o666 & ~_umask())
            os.replace(beside, file)
        except BaseException:
            os.unlink(beside)
            raise
    except OSError as fault:
        raise UsageError(
            f"{file}: cannot be written ({fault.strerror}): free the place or name another one."
        ) from fault


def replace_folder(folder: Path, *, new: Path, old: Path) -> None:
    """Put the folder ``new`` in the place of ``folder``, and that, if there is one, at ``old``.

    In one step where the system has one (Linux); elsewhere in two, and a process that is killed
    between them leaves what was there at ``old``. Raises OSError, with ``folder`` as it was.
    """
    if folder.exists() and _exchange(folder, new):
        new.rename(old)
        return
    if folder.exists():
        folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        if old.exists():
            old.rename(folder)
        raise


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders change names in one step; whether the system could."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, TypeError, AttributeError):
        return False
    here, exchange = -100, 2
    failed: int = renameat2(here, os.fsencode(one), here, os.fsencode(other), exchange)
    return not failed


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
