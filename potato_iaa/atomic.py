"""Files that are there whole or not at all."""

from __future__ import annotations

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


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
