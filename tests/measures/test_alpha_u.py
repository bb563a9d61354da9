"""The unitizing alpha of 1995/2004 against its formulas as measures.md 4b has them, naively."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from potato_iaa import Corpus
from potato_iaa.layer import Layer, make_layer
from potato_iaa.measures.alpha_u import AlphaUFigures, alpha_u_figures
from tests.corpora import NO_SHARED_ITEMS, NO_VARIATION, ONE_ANNOTATOR

Unit = tuple[int, int]
Spans = Sequence[tuple[int, int, str]]
Passes = Mapping[str, Mapping[str, Spans]]
LABELS = ("X", "Y", "Z")
NO_UNIT = "no unit"
OVERLAPPING = "an annotator has overlapping units of the same label"


def gaps_of(units: Sequence[Unit], length: int) -> list[Unit]:
    bounds = [0, *(place for unit in sorted(units) for place in unit), length]
    return [
        (start, end) for start, end in zip(bounds[::2], bounds[1::2], strict=True) if start < end
    ]


def naive_sums(units: Sequence[Sequence[Unit]], length: int) -> tuple[float, float]:
    """Do_c and De_c of one label: the units of every annotator on a continuum."""
    m = len(units)
    observed = 0.0
    for own, other in permutations(units, 2):
        for start, end in own:
            for start_h, end_h in other:
                if max(start, start_h) < min(end, end_h):
                    observed += (start - start_h) ** 2 + (end - end_h) ** 2
        for one, gapped in ((own, other), (other, own)):
            for start, end in one:
                for gap_start, gap_end in gaps_of(gapped, length):
                    if gap_start <= start and end <= gap_end:
                        observed += (end - start) ** 2
    sizes = [end - start for own in units for start, end in own]
    gaps = [end - start for own in units for start, end in gaps_of(own, length)]
    expected = sum(
        (len(sizes) - 1) / 3 * (2 * size**3 - 3 * size**2 + size)
        + size**2 * sum(gap - size + 1 for gap in gaps if gap >= size)
        for size in sizes
    )
    pool = m * length * (m * length - 1) - sum(size * (size - 1) for size in sizes)
    return observed / (m * (m - 1) * length**2), 2 / length * expected / pool


def overlap(units: Sequence[Unit]) -> bool:
    ordered = sorted(units)
    return any(one[1] > other[0] for one, other in pairwise(ordered))


def naive(
    passes: Mapping[str, Spans], length: int
) -> tuple[float | None, str | None, dict[str, float]]:
    """α_U of one continuum, why it has none, and the α_c of its labels."""
    if len(passes) < 2:
        return None, ONE_ANNOTATOR, {}
    sums, alphas, overlapping = [], {}, False
    for label in LABELS:
        units = [[span[:2] for span in spans if span[2] == label] for spans in passes.values()]
        if any(overlap(own) for own in units):
            overlapping = True
        elif any(units):
            observed, expected = naive_sums(units, length)
            sums.append((observed, expected))
            if expected > 0:
                alphas[label] = 1 - observed / expected
    if overlapping:
        return None, OVERLAPPING, alphas
    observed, expected = sum(one for one, _ in sums), sum(one for _, one in sums)
    if not expected:
        return None, NO_UNIT, alphas
    return 1 - observed / expected, None, alphas


def layer_of(items: Passes, lengths: Mapping[str, int], people: str = "") -> Layer:
    corpus = Corpus.from_tables(
        items=[(item, "x" * length) for item, length in lengths.items()],
        passes=[(item, who) for item, by in items.items() for who in by],
        spans=pd.DataFrame(
            [(item, who, *span) for item, by in items.items() for who in by for span in by[who]],
            columns=["item", "annotator", "start", "end", "label"],
        ),
        roles=dict.fromkeys(people, "human"),
        labels=LABELS,
    )
    return make_layer(corpus, "spans")


def figures(items: Passes, lengths: Mapping[str, int], people: str = "") -> AlphaUFigures:
    layer = layer_of(items, lengths, people)
    return alpha_u_figures(layer, np.ones((len(layer.items), 1)))


def random_spans(order: random.Random, length: int) -> Spans:
    """Spans of a label that touch or stand apart, and now and then one that overlaps."""
    spans: set[tuple[int, int, str]] = set()
    for label in LABELS[: order.choice([0, 1, 2, 2])]:
        cuts = sorted(order.sample(range(length + 1), order.choice([0, 2, 3, 4])))
        pairs = list(pairwise(cuts))
        spans |= {(*pair, label) for pair in pairs if order.random() < 0.6}
    if order.random() < 0.1:
        spans.add((0, length, "X"))
    return sorted(spans)


@pytest.mark.parametrize("seed", range(30))
def test_alpha_u_of_items_labels_and_their_means_is_that_of_the_formulas(seed: int) -> None:
    order = random.Random(seed)
    lengths = {f"d{number}": order.choice([3, 5, 9, 14]) for number in range(4)}
    people = "ABC"[: order.choice([2, 3])]
    items = {
        item: {
            who: random_spans(order, length)
            for who in people
            if order.random() < order.choice([0.7, 1])
        }
        for item, length in lengths.items()
    }
    read = {item: by for item, by in items.items() if by}
    layer = layer_of(items, lengths, people)
    weights = np.array([[1.0, order.choice([0, 1, 2])] for _ in layer.items]).reshape(-1, 2)
    found = alpha_u_figures(layer, weights)

    right = {item: naive(by, lengths[item]) for item, by in read.items()}
    assert [(item, field) for item, field, _ in found.items] == [(item, "") for item in right]
    for item, _, alpha in found.items:
        value, why, labels = right[item]
        assert alpha.value == (None if value is None else pytest.approx(value, abs=1e-12))
        assert alpha.why == why
        assert alpha.labels == pytest.approx(labels, abs=1e-12)
    shared = sum(len(by) > 1 for by in read.values())
    for mean, values in [
        (found.mean_over_items, [value for value, _, _ in right.values()]),
        *(
            (found.labels[label], [labels.get(label) for _, _, labels in right.values()])
            for label in LABELS
        ),
    ]:
        weighed = [
            (value, weight)
            for value, weight in zip(values, weights[:, 1].tolist(), strict=True)
            if value is not None
        ]
        defined = [value for value, _ in weighed]
        assert (mean.n, mean.of) == (len(defined), shared)
        if not defined:
            assert mean.value is None
            continue
        assert mean.value == pytest.approx(sum(defined) / len(defined), abs=1e-12)
        total = sum(weight for _, weight in weighed)
        again = sum(value * weight for value, weight in weighed) / total if total else None
        assert mean.low == mean.high == (None if again is None else pytest.approx(again, abs=1e-12))

    joined: dict[str, list[tuple[int, int, str]]] = {who: [] for who in people}
    offset = 0
    complete = [item for item, by in read.items() if len(by) == len(people)]
    for item in complete:
        for who in people:
            joined[who] += [(a + offset, b + offset, label) for a, b, label in read[item][who]]
        offset += lengths[item]
    value, why, labels = naive(joined, offset) if complete else (None, NO_SHARED_ITEMS, {})
    assert found.concatenated.value == (None if value is None else pytest.approx(value, abs=1e-12))
    assert found.concatenated.why == why
    assert found.concatenated.labels == pytest.approx(labels, abs=1e-12)


@pytest.mark.parametrize(
    ("items", "people", "why"),
    [
        ({"d1": {"A": [(0, 1, "X")]}}, "A", ONE_ANNOTATOR),
        ({"d1": {"A": [(0, 1, "X")]}}, "AB", NO_SHARED_ITEMS),
        ({"d1": {"A": []}, "d2": {"B": [(0, 1, "X")]}}, "AB", NO_SHARED_ITEMS),
        ({"d1": {"A": [], "B": []}}, "AB", NO_UNIT),
        ({"d1": {"A": [(0, 2, "X"), (1, 3, "X")], "B": [(0, 2, "X")]}}, "AB", OVERLAPPING),
        # The first item that two have read tells, not the first of all.
        ({"d1": {"A": [(0, 1, "X")]}, "d2": {"A": [], "B": []}}, "AB", NO_UNIT),
    ],
)
def test_an_undefined_mean_says_why(items: Passes, people: str, why: str) -> None:
    found = figures(items, dict.fromkeys(items, 5), people)
    assert (found.mean_over_items.value, found.mean_over_items.why) == (None, why)
    assert (found.labels["Z"].value, found.labels["Z"].why) == (None, why)


def test_a_text_of_one_code_point_that_all_marked_leaves_nothing_to_chance() -> None:
    # Do and De are both 0, of each label and of all.
    found = figures({"d": {"A": [(0, 1, "X")], "B": [(0, 1, "X")]}}, {"d": 1})
    (alpha,) = (alpha for *_, alpha in found.items)
    assert (alpha.value, alpha.why, alpha.labels) == (None, NO_VARIATION, {})
    assert found.mean_over_items.why == NO_VARIATION


def test_a_label_without_overlaps_has_its_alpha_beside_one_that_overlaps() -> None:
    # A and B have the same unit of Y.
    found = figures(
        {"d": {"A": [(0, 2, "X"), (1, 3, "X"), (4, 6, "Y")], "B": [(4, 6, "Y")]}}, {"d": 9}
    )
    (alpha,) = (alpha for *_, alpha in found.items)
    assert (alpha.value, alpha.why, alpha.labels) == (None, OVERLAPPING, {"Y": 1.0})


def test_a_coefficient_is_written_with_its_labels_and_why_it_has_no_interval() -> None:
    found = figures(
        {"d": {"A": [(0, 2, "X")], "B": [(0, 2, "X")]}, "e": {"A": []}}, {"d": 9, "e": 1}
    )
    why = "one continuum is not resampled: the mean over items is"
    of_d = {"value": 1.0, "interval_why": why, "labels": {"X": {"value": 1.0}}}
    of_e: dict[str, Any] = {"value": None, "why": ONE_ANNOTATOR, "interval_why": why, "labels": {}}
    written = found.to_dict()
    assert written["concatenated"] == of_d
    assert written["items"] == [
        {"item": "d", "field": "", **of_d},
        {"item": "e", "field": "", **of_e},
    ]
    assert written["mean_over_items"] == {"value": 1.0, "low": None, "high": None, "n": 1, "of": 1}
    assert written["labels"]["Y"]["value"] is None
    assert set(written) == {"mean_over_items", "labels", "items", "concatenated"}


def test_long_continua_do_not_overflow() -> None:
    # m·L·(m·L − 1) is beyond 2^63; by the formulas in whole numbers of any size.
    length = 10**11
    units = [[(0, 10**10)], [(5 * 10**9, 10**10)], [(0, 10**10), (2 * 10**10, 5 * 10**10)]]
    corpus = Corpus.from_tables(
        items=[("d", None)],
        passes=[("d", who) for who in "ABC"],
        spans=[
            ("d", who, *unit, "X") for who, own in zip("ABC", units, strict=True) for unit in own
        ]
        + [("d", "A", length - 1, length, "Y")],
    )
    found = alpha_u_figures(make_layer(corpus, "spans"), np.ones((1, 1)))
    observed, expected = naive_sums(units, length)
    assert found.items[0][2].labels["X"] == pytest.approx(1 - observed / expected, rel=1e-9)
