"""Drift: agreement with the others in each quarter of an annotator's passes."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import combinations

import pandas as pd
import pytest

from potato_iaa import Corpus
from tests.corpora import NOTHING_MARKED, figures_of
from tests.measures.helpers import scheme_of, table_rows

COLUMNS = ["annotator", "quarter", "items", "value", "why", "low", "high"]
SPAN = (0, 4, "X")

Found = set[tuple[int, int, str]]
Worked = Mapping[str, Sequence[tuple[str, Found]]]


def corpus_in_order(worked: Worked) -> Corpus:
    """A corpus from ``{annotator: [(item, spans), …]}``, each in the order of their work."""
    items = sorted({item for passes in worked.values() for item, _ in passes})
    passes = [
        (item, who, order)
        for who, listed in worked.items()
        for order, (item, _) in enumerate(listed)
    ]
    spans = [
        (item, who, *span)
        for who, listed in worked.items()
        for item, found in listed
        for span in sorted(found)
    ]
    return Corpus.from_tables(
        items=[(item, "x" * 40) for item in items],
        passes=pd.DataFrame(passes, columns=["item", "annotator", "order"]),
        spans=spans,
    )


Quarters = list[tuple[int, int, float | None]]


def all_quarters(worked: Worked) -> dict[str, Quarters]:
    """Annotator → quarter, items and F1, in the order of the table."""
    table = scheme_of(corpus_in_order(worked)).drift
    assert list(table.columns) == COLUMNS
    found: dict[str, Quarters] = {who: [] for who in worked}
    for row in table_rows(table):
        value = None if pd.isna(row["value"]) else row["value"]
        found[row["annotator"]].append((row["quarter"], row["items"], value))
    return found


def quarters(worked: Worked, who: str) -> Quarters:
    return all_quarters(worked)[who]


def same_in(agreed: Sequence[bool], names: Sequence[str] | None = None) -> Worked:
    """A and B mark the same span on the items that are agreed on, and A alone on the others."""
    named = names or [f"d{position:02}" for position in range(len(agreed))]
    return {
        "A": [(item, {SPAN}) for item in named],
        "B": [(item, {SPAN} if same else set()) for item, same in zip(named, agreed, strict=True)],
    }


# By hand ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agreed", "expected"),
    [
        pytest.param([True] * 8, [1.0, 1.0, 1.0, 1.0], id="steady"),
        pytest.param([True] * 4 + [False] * 4, [1.0, 1.0, 0.0, 0.0], id="it ends in the middle"),
        pytest.param([False] * 2 + [True] * 6, [0.0, 1.0, 1.0, 1.0], id="a bad start"),
        # One of two items: 2·1 / (2 + 1).
        pytest.param([True, False] * 4, [2 / 3] * 4, id="every other item"),
    ],
)
def test_eight_items_are_four_quarters_of_two(agreed: list[bool], expected: list[float]) -> None:
    for who in "AB":
        found = quarters(same_in(agreed), who)
        assert [(quarter, items) for quarter, items, _ in found] == [(n, 2) for n in (1, 2, 3, 4)]
        assert [value for *_, value in found] == pytest.approx(expected)


def test_quarters_follow_the_passes_and_not_the_names_of_the_items() -> None:
    backwards = [f"d{position}" for position in range(8, 0, -1)]
    found = quarters(same_in([True] * 4 + [False] * 4, backwards), "A")
    assert [value for *_, value in found] == [1.0, 1.0, 0.0, 0.0]


def test_every_annotator_has_an_order_of_their_own() -> None:
    worked = dict(same_in([True] * 4 + [False] * 4))
    worked["B"] = [*reversed(worked["B"])]
    corpus = worked
    assert [value for *_, value in quarters(corpus, "A")] == [1.0, 1.0, 0.0, 0.0]
    assert [value for *_, value in quarters(corpus, "B")] == [0.0, 0.0, 1.0, 1.0]


def test_what_nobody_else_read_is_in_no_quarter() -> None:
    # A read eight more items in between, alone: they neither fill quarters nor make any.
    worked = dict(same_in([True] * 4 + [False] * 4))
    alone: list[tuple[str, Found]] = [(f"e{position}", {SPAN}) for position in range(8)]
    worked["A"] = [*worked["A"][:4], *alone, *worked["A"][4:]]
    assert quarters(worked, "A") == [(1, 2, 1.0), (2, 2, 1.0), (3, 2, 0.0), (4, 2, 0.0)]


@pytest.mark.parametrize("count", [8, 9, 10, 11, 12, 13, 17, 100])
def test_the_quarters_hold_all_items_and_differ_by_at_most_one(count: int) -> None:
    sizes = [items for _, items, _ in quarters(same_in([True] * count), "A")]
    assert len(sizes) == 4
    assert sum(sizes) == count
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("count", [1, 7])
def test_annotators_with_fewer_than_eight_shared_items_are_left_out(count: int) -> None:
    table = scheme_of(corpus_in_order(same_in([True] * count))).drift
    assert list(table.columns) == COLUMNS
    assert len(table) == 0


def test_only_the_one_with_few_items_is_left_out() -> None:
    worked = dict(same_in([True] * 8))
    worked["C"] = worked["A"][:3]
    table = scheme_of(corpus_in_order(worked)).drift
    assert set(table["annotator"]) == {"A", "B"}


def test_a_quarter_in_which_nobody_marked_anything_is_undefined_and_says_why() -> None:
    worked = dict(same_in([True] * 8))
    worked = {
        who: [*passes[:6], *((item, set()) for item, _ in passes[6:])]
        for who, passes in worked.items()
    }
    corpus = corpus_in_order(worked)
    rows = figures_of(corpus, bootstrap=20)["drift"]
    last = [row for row in rows if row["quarter"] == 4]
    assert [(row["value"], row["why"]) for row in last] == [(None, NOTHING_MARKED)] * 2
    assert [(row["low"], row["high"]) for row in last] == [(None, None)] * 2
    assert [row["why"] for row in rows if row["quarter"] != 4] == [None] * 6


def test_a_quarter_is_pooled_over_all_others() -> None:
    # In every quarter A has 2 spans, B the same 2, C none: A meets 2·2 of (2 + 2) + (2 + 0).
    worked = dict(same_in([True] * 8))
    worked["C"] = [(item, set()) for item, _ in worked["A"]]
    assert [value for *_, value in quarters(worked, "A")] == pytest.approx([4 / 6] * 4)
    assert [value for *_, value in quarters(worked, "C")] == [0.0] * 4


# At random ----------------------------------------------------------------------------------------


def naive_drift(worked: Worked, who: str, sizes: Sequence[int]) -> list[float | None]:
    """Exact typed F1 of quarters of these sizes: what two passes share is what is equal."""
    marks = {(item, name): found for name, passes in worked.items() for item, found in passes}
    others = [name for name in worked if name != who]
    shared = [item for item, _ in worked[who] if any((item, other) in marks for other in others)]
    if len(shared) < 8:
        return []
    values: list[float | None] = []
    first = 0
    for size in sizes:
        both = [
            (marks[item, who], marks[item, other])
            for item in shared[first : first + size]
            for other in others
            if (item, other) in marks
        ]
        first += size
        marked = sum(len(mine) + len(theirs) for mine, theirs in both)
        matched = sum(len(mine & theirs) for mine, theirs in both)
        values.append(2 * matched / marked if marked else None)
    assert first == len(shared)
    return values


@pytest.mark.parametrize("seed", range(8))
def test_drift_is_that_of_slow_code(seed: int) -> None:
    order = random.Random(seed)
    names = [f"d{position:02}" for position in range(18)]
    places = [(start, start + 2, label) for start in range(0, 12, 3) for label in "XY"]
    worked: dict[str, list[tuple[str, Found]]] = {}
    for who in "ABCD":
        mine = order.sample(names, order.choice([5, 9, 14, 18]))
        worked[who] = [
            (item, set(order.sample(places, order.choice([0, 0, 1, 3])))) for item in mine
        ]
    for who, rows in all_quarters(worked).items():
        found = [value for *_, value in rows]
        right = naive_drift(worked, who, [items for _, items, _ in rows])
        assert len(found) == len(right)
        for value, expected in zip(found, right, strict=True):
            assert value == (None if expected is None else pytest.approx(expected))


def test_a_table_of_two_annotators_is_symmetric_where_their_order_is_the_same() -> None:
    worked = same_in([True, False, False, True, True, True, False, True, True])
    for one, other in combinations("AB", 2):
        assert quarters(worked, one) == quarters(worked, other)


def test_a_bootstrap_gives_every_quarter_an_interval_around_its_value() -> None:
    rows = figures_of(corpus_in_order(same_in([True, False] * 8)), bootstrap=200)["drift"]
    for row in rows:
        assert 0 <= row["low"] <= row["value"] <= row["high"] <= 1


def test_one_resample_bounds_the_interval_by_itself() -> None:
    for row in figures_of(corpus_in_order(same_in([True] * 12)), bootstrap=1)["drift"]:
        assert row["low"] == row["high"] == 1.0


def test_items_of_one_place_in_the_order_follow_by_name() -> None:
    names = [f"d{position}" for position in range(8)]
    corpus = Corpus.from_tables(
        items=[(item, "x" * 9) for item in names],
        passes=pd.DataFrame(
            [(item, who, 0) for item in reversed(names) for who in "AB"],
            columns=["item", "annotator", "order"],
        ),
        spans=[(item, who, 0, 4, "X") for item in names for who in ("AB" if item < "d4" else "A")],
    )
    rows = [row for row in table_rows(scheme_of(corpus).drift) if row["annotator"] == "A"]
    assert [row["value"] for row in rows] == [1.0, 1.0, 0.0, 0.0]


def test_without_a_bootstrap_there_is_no_interval() -> None:
    for row in figures_of(corpus_in_order(same_in([True] * 8)))["drift"]:
        assert (row["low"], row["high"]) == (None, None)


def test_an_item_of_two_fields_is_one_item() -> None:
    fields, names = ("one", "two"), [f"d{position}" for position in range(8)]
    passes = [
        (item, field, who, order)
        for who in "AB"
        for order, item in enumerate(names)
        for field in fields
    ]
    spans = [
        (item, "one", who, 0, 4, "X") for item in names for who in ("AB" if item < "d4" else "A")
    ]
    corpus = Corpus.from_tables(
        items=pd.DataFrame(
            [(item, field, "x" * 9) for item in names for field in fields],
            columns=["item", "field", "text"],
        ),
        passes=pd.DataFrame(passes, columns=["item", "field", "annotator", "order"]),
        spans=pd.DataFrame(spans, columns=["item", "field", "annotator", "start", "end", "label"]),
    )
    rows = [row for row in table_rows(scheme_of(corpus).drift) if row["annotator"] == "A"]
    assert [(row["items"], row["value"]) for row in rows] == [
        (2, 1.0),
        (2, 1.0),
        (2, 0.0),
        (2, 0.0),
    ]
