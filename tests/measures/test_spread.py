"""Where blocks are counted: in how many threads, in what order, and what is left undone."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from potato_iaa.blocks import Block, cut, take_items
from potato_iaa.layer import make_layer
from potato_iaa.measures import spread
from potato_iaa.measures.spread import in_threads
from tests.corpora import corpus_of


def blocks(number: int) -> list[Block]:
    (block,) = cut(make_layer(corpus_of({"d1": {"A": []}}), "spans"))
    layer = take_items(block.layer, np.array([0]))
    return [Block(layer, first_span=place, first_row=0) for place in range(number)]


def on_cores(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    # 0 is the process that asks.
    cores = {0: set(range(number))}
    monkeypatch.setattr(os, "sched_getaffinity", cores.__getitem__, raising=False)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many threads are asked for."""
    numbers: list[int] = []

    def pool(*, max_workers: int) -> ThreadPoolExecutor:
        numbers.append(max_workers)
        return ThreadPoolExecutor(max_workers=max_workers)

    monkeypatch.setattr(spread, "ThreadPoolExecutor", pool)
    return numbers


@pytest.mark.parametrize(
    ("cores", "number", "threads"), [(1, 9, 1), (2, 9, 2), (16, 9, 4), (16, 3, 3), (16, 0, 1)]
)
def test_there_are_as_many_threads_as_cores_or_blocks_and_four_at_most(
    monkeypatch: pytest.MonkeyPatch, asked: list[int], cores: int, number: int, threads: int
) -> None:
    on_cores(monkeypatch, cores)
    found = list(in_threads(lambda block: block.first_span, blocks(number)))
    assert found == list(range(number))
    assert asked == [threads]


@pytest.mark.parametrize(("known", "threads"), [(3, 3), (None, 1)])
def test_where_a_system_does_not_tell_which_cores_are_free_all_are_counted(
    monkeypatch: pytest.MonkeyPatch, asked: list[int], known: int | None, threads: int
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: known)
    list(in_threads(lambda _: None, blocks(9)))
    assert asked == [threads]


def test_blocks_that_nobody_waits_for_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    on_cores(monkeypatch, 1)
    begun: list[int] = []
    done: list[int] = []
    never = threading.Event()

    def work(block: Block) -> int:
        begun.append(block.first_span)
        never.wait(0.02)
        done.append(block.first_span)
        return block.first_span

    results = in_threads(work, blocks(50))
    assert next(results) == 0
    results.close()
    assert len(begun) < 50
    # Nor is one still being counted.
    assert done == begun


def test_an_error_in_a_block_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    on_cores(monkeypatch, 2)

    def work(block: Block) -> int:
        return 1 // (2 - block.first_span)

    with pytest.raises(ZeroDivisionError):
        list(in_threads(work, blocks(5)))
