"""Whether processes live, and waiting for what they do."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

PATIENCE = 60  # seconds


def alive(pid: int) -> bool:
    """Whether there is such a process."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_for(condition: Callable[[], bool]) -> None:
    """Return once the condition holds; AssertionError where it never does."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
