"""The generator of projects: the same bytes for the same seed, projects that load, asked rates."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.generate import Size, annotate, readers, true_spans, write_project
from potato_iaa import Corpus, read_project

SMALL = Size(annotators=4, items=12, spans=6.0, words=80, per_item=3)
DEEP = Size(
    annotators=3, items=2, spans=64.0, words=700, nested=0.3, identical=0.2, depth=2, labels=8
)
CROWD = Size(annotators=60, items=900, spans=2.0, words=30, per_item=4, together=0.5)
APART = Size(
    spans=20.0, words=300, nested=0.0, missed=0.0, boundary=0.0, label=0.0, added=0.0, labels=5
)
NOISELESS: dict[str, Any] = {"missed": 0.0, "boundary": 0.0, "label": 0.0, "added": 0.0}


def written(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def loaded(folder: Path, size: Size) -> Corpus:
    write_project(folder, size)
    return read_project(folder)


@pytest.mark.parametrize("size", [SMALL, DEEP, replace(SMALL, interactions=2)])
def test_the_same_size_and_seed_write_the_same_bytes(tmp_path: Path, size: Size) -> None:
    write_project(tmp_path / "one", size)
    write_project(tmp_path / "two", size)
    assert written(tmp_path / "one") == written(tmp_path / "two")


def test_another_seed_writes_other_spans_and_texts(tmp_path: Path) -> None:
    write_project(tmp_path / "one", SMALL)
    write_project(tmp_path / "two", replace(SMALL, seed=1))
    one, two = written(tmp_path / "one"), written(tmp_path / "two")
    assert one.keys() == two.keys()
    assert one["data/items.jsonl"] != two["data/items.jsonl"]


@pytest.mark.parametrize("size", [SMALL, DEEP, CROWD, replace(SMALL, interactions=2)])
def test_every_span_is_kept_when_the_project_is_loaded(tmp_path: Path, size: Size) -> None:
    corpus = loaded(tmp_path, size)
    totals = corpus.ledger.totals()
    assert totals["kept"] == totals["read"] == len(corpus.spans) > 0
    assert len(corpus.items) == size.items
    assert len(corpus.passes) == size.items * min(size.per_item, size.annotators)


def test_a_pass_without_spans_is_still_a_pass(tmp_path: Path) -> None:
    corpus = loaded(tmp_path, replace(SMALL, spans=0.0, added=0.0))
    assert (len(corpus.spans), len(corpus.passes)) == (0, SMALL.items * SMALL.per_item)


def test_annotators_without_noise_mark_the_same_spans(tmp_path: Path) -> None:
    spans = loaded(tmp_path, replace(SMALL, per_item=4, **NOISELESS)).spans
    marked = [
        set(zip(own["item"], own["start"], own["end"], own["label"], strict=True))
        for _, own in spans.groupby("annotator", observed=True)
    ]
    assert all(one == marked[0] for one in marked)


@pytest.mark.parametrize("rate", ["missed", "added"])
def test_missed_and_added_spans_are_about_as_many_as_asked(rate: str) -> None:
    generator = np.random.default_rng(0)
    size = replace(SMALL, spans=20.0, words=300, **(NOISELESS | {rate: 0.2}))
    true = [true_spans(size, generator) for _ in range(300)]
    marked = [annotate(spans, size, generator) for spans in true]
    change = sum(map(len, marked)) / sum(map(len, true)) - 1
    assert change == pytest.approx(0.2 if rate == "added" else -0.2, abs=0.02)


def changed(size: Size, column: int) -> tuple[float, float]:
    """The share of spans of which ``column`` changed, and that of spans of several words."""
    generator = np.random.default_rng(0)
    true = [true_spans(size, generator) for _ in range(300)]
    pairs = [(spans, annotate(spans, size, generator)) for spans in true]
    different = [
        len(
            {(row[0], row[column]) for row in spans.tolist()}
            - {(row[0], row[column]) for row in own.tolist()}
        )
        for spans, own in pairs
    ]
    spans = np.concatenate(true)
    return sum(different) / len(spans), float((spans[:, 1] > spans[:, 0]).mean())


def test_as_many_spans_get_another_label_as_asked() -> None:
    share, _ = changed(replace(APART, label=0.5), 2)
    # One draw in five gives the label that was there.
    assert share == pytest.approx(0.5 * 4 / 5, abs=0.02)


def test_as_many_spans_get_another_end_as_asked() -> None:
    share, longer = changed(replace(APART, boundary=0.5), 1)
    # A third is moved by nothing, and a span of one word cannot lose one.
    assert share == pytest.approx(0.5 * (1 + longer) / 3, abs=0.02)


@pytest.mark.parametrize(
    ("more", "times"),
    [({"nested": 0.3}, 1.3), ({"identical": 0.2}, 1.2), ({"depth": 2}, 1 + 1 / 4 + 1 / 16)],
)
def test_further_spans_are_about_as_many_as_asked(more: dict[str, Any], times: float) -> None:
    generator = np.random.default_rng(0)
    plain = replace(APART, spans=640.0, words=7000)

    def count(size: Size) -> float:
        return float(np.mean([len(true_spans(size, generator)) for _ in range(50)]))

    assert count(replace(plain, **more)) / count(plain) == pytest.approx(times, abs=0.02)


def test_an_enclosing_span_covers_four_of_the_level_below() -> None:
    spans = true_spans(replace(DEEP, nested=0.0, identical=0.0, depth=1), np.random.default_rng(0))
    apart, wide = spans[: len(spans) * 4 // 5], spans[-(len(spans) // 5) :]
    inside = (apart[:, 0] >= wide[:, :1]) & (apart[:, 1] <= wide[:, 1:2])
    assert (inside.sum(axis=1) == 4).all()


def test_each_item_is_read_by_as_many_as_asked_and_never_twice_by_one() -> None:
    read = readers(CROWD, np.random.default_rng(0))
    assert len(read) == CROWD.items
    assert all(len(set(who.tolist())) == CROWD.per_item for who in read)


def test_pairs_share_several_items_where_items_are_handed_out_together() -> None:
    def runs(size: Size) -> list[int]:
        read = [tuple(who.tolist()) for who in readers(size, np.random.default_rng(0))]
        lengths = [1]
        for before, now in pairwise(read):
            if now == before:
                lengths[-1] += 1
            else:
                lengths.append(1)
        return lengths

    together = runs(CROWD)
    assert max(runs(replace(CROWD, together=0.0))) == 1
    assert max(together) <= CROWD.most_together
    assert 1 - len(together) / CROWD.items == pytest.approx(CROWD.together, abs=0.05)


def test_everybody_reads_everything_where_there_are_no_more_annotators_than_readers() -> None:
    read = readers(replace(SMALL, per_item=9), np.random.default_rng(0))
    pairs = {pair for who in read for pair in combinations(who.tolist(), 2)}
    assert len(pairs) == 6
