"""Spread: where the blocks of a layer are counted; here, in threads, unless a caller says else."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from potato_iaa.blocks import Block
from potato_iaa.processes import cores

Counted = TypeVar("Counted")
# More would cost memory: arrays leave the interpreter free, but not all the time.
MOST_THREADS = 4


class Spread(Protocol):
    """Does the same work on every block, and gives the results in the blocks' order."""

    def __call__(
        self, work: Callable[[Block], Counted], blocks: Sequence[Block], /
    ) -> Iterable[Counted]:
        """Yield ``work(block)`` of all blocks."""


def in_threads(work: Callable[[Block], Counted], blocks: Sequence[Block], /) -> Generator[Counted]:
    """Work on the blocks in as many threads as there are cores, four at most."""
    pool = ThreadPoolExecutor(max_workers=max(1, min(cores(), MOST_THREADS, len(blocks))))
    try:
        yield from pool.map(work, blocks)
    finally:
        pool.shutdown(cancel_futures=True)
