"""The index tricks, each against plain Python."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from potato_iaa.arrays import (
    Floats,
    Ints,
    any_of,
    dense_codes,
    distinct,
    expand,
    flags_at,
    group_starts,
    group_stop,
    pairs_ahead,
    present,
    ratio,
    row_keys,
    stack,
    weigh,
)

KEYS = st.lists(st.integers(-3, 5), max_size=8)
# Numbers whose products and sums fit into 64 bits in one column, and not in two or three.
WIDE = st.sampled_from([0, 1, 2**30, 2**31, 2**31 + 1, 2**40, 2**61])


def ints(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)


@given(counts=st.lists(st.integers(0, 4), max_size=6))
def test_expand_counts_the_copies_of_every_row(counts: list[int]) -> None:
    row, place = expand(ints(counts))
    right = [(row, place) for row, count in enumerate(counts) for place in range(count)]
    assert list(zip(row.tolist(), place.tolist(), strict=True)) == right
    assert row.dtype == place.dtype == np.int64


@given(stop=st.lists(st.integers(0, 8), max_size=8))
def test_pairs_ahead_are_all_pairs_up_to_each_stop(stop: list[int]) -> None:
    left, right = pairs_ahead(ints(stop))
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == [
        (i, j) for i, end in enumerate(stop) for j in range(i + 1, end)
    ]


@given(keys=KEYS.map(sorted))
def test_groups_of_sorted_keys_start_and_stop_where_the_key_changes(keys: list[int]) -> None:
    lengths = [len(list(group)) for _, group in groupby(keys)]
    starts = [sum(lengths[:place]) for place in range(len(lengths))]
    assert group_starts(ints(keys)).tolist() == starts
    assert group_stop(ints(keys)).tolist() == [
        start + length for start, length in zip(starts, lengths, strict=True) for _ in range(length)
    ]
    assert group_starts(ints(keys)).dtype == group_stop(ints(keys)).dtype == np.int64


@given(keys=KEYS)
def test_dense_codes_are_ranks_among_the_distinct_keys(keys: list[int]) -> None:
    assert dense_codes(ints(keys)).tolist() == [sorted(set(keys)).index(key) for key in keys]


@given(codes=st.lists(st.integers(0, 9), max_size=6))
def test_present_are_the_distinct_codes_in_order(codes: list[int]) -> None:
    assert present(ints(codes)).tolist() == sorted(set(codes))


@pytest.mark.parametrize(
    ("above", "below", "right"),
    [
        ([1.0, 0.0, 3.0], [2.0, 4.0, 3.0], [0.5, 0.0, 1.0]),
        ([1.0, 0.0, -1.0], [0.0, 0.0, -2.0], [math.nan, math.nan, math.nan]),
        # One for all, on either side.
        ([1.0, 3.0], 2.0, [0.5, 1.5]),
        (6.0, [2.0, 3.0, 0.0], [3.0, 2.0, math.nan]),
        ([[1.0], [2.0]], [1.0, 2.0], [[1.0, 0.5], [2.0, 1.0]]),
    ],
)
def test_a_ratio_is_undefined_where_its_denominator_is_not_positive(
    above: list[float], below: list[float], right: list[float]
) -> None:
    np.testing.assert_array_equal(ratio(np.array(above), np.array(below)), right)


@given(pairs=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=8))
def test_weights_add_up_at_their_places(pairs: list[tuple[int, int]]) -> None:
    place = ints([place for place, _ in pairs])
    weight = ints([weight for _, weight in pairs])
    found = weigh(place, weight, 7)
    assert found.tolist() == [
        sum(weight for at, weight in pairs if at == place) for place in range(7)
    ]
    assert found.dtype == np.float64


@pytest.mark.parametrize("values", [st.integers(0, 3), WIDE])
@pytest.mark.parametrize("width", [1, 2, 3, 4])
@given(data=st.data())
def test_distinct_rows_are_sorted_by_the_first_column_first(
    values: st.SearchStrategy[int], width: int, data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.tuples(*[values] * width), max_size=6))
    found = distinct(*(ints([row[place] for row in rows]) for place in range(width)))
    assert len(found) == width
    assert list(zip(*(column.tolist() for column in found), strict=True)) == sorted(set(rows))


@pytest.mark.parametrize(
    "rows",
    [
        # 2^62 · 2 numbers are one more than 64 bits hold with a sign.
        [(2**62 - 1, 1), (2**62 - 1, 0), (0, 1)],
        [(2**62, 1), (0, 1), (1, 0)],
        # 2^61 · 3 fit.
        [(2**61 - 1, 2), (0, 2), (2**61 - 1, 1)],
        [(2**21 - 1, 2**21 - 1, 2**21 - 1), (0, 0, 0), (2**21 - 1, 0, 2**21 - 1)],
        [(2**21 - 1, 2**21 - 1, 2**20 - 1), (0, 0, 0), (2**21 - 1, 0, 2**20 - 1)],
    ],
)
def test_distinct_rows_at_the_edge_of_one_number(rows: list[tuple[int, ...]]) -> None:
    columns = [ints([row[place] for row in rows]) for place in range(len(rows[0]))]
    found = distinct(*columns)
    assert list(zip(*(column.tolist() for column in found), strict=True)) == sorted(rows)


@pytest.mark.parametrize("values", [st.integers(-3, 3), WIDE | WIDE.map(lambda value: -value)])
@pytest.mark.parametrize("width", [1, 2, 3, 5])
@given(data=st.data())
def test_row_keys_are_equal_exactly_where_rows_are(
    values: st.SearchStrategy[int], width: int, data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.tuples(*[values] * width), max_size=6))
    keys = row_keys([ints([row[place] for row in rows]) for place in range(width)]).tolist()
    for one, key in zip(rows, keys, strict=True):
        for other, another in zip(rows, keys, strict=True):
            assert (key == another) == (one == other)


@pytest.mark.parametrize("top", [2**31 - 2, 2**31 - 1, 2**31])
def test_row_keys_of_many_wide_columns_stay_apart(top: int) -> None:
    # Every corner of a cube of four wide columns.
    rows = [tuple(top * (number >> place & 1) for place in range(4)) for number in range(16)]
    keys = row_keys([ints([row[place] for row in rows]) for place in range(4)])
    assert len(set(keys.tolist())) == 16


@pytest.mark.parametrize(
    "rows",
    [
        # Keys that were equal if they were multiplied up without a look at 64 bits: by 2^62, …
        [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (0, 2**62 - 1)],
        # … by 2^31 twice, …
        [(0, 0, 0), (4, 0, 0), (2**31 - 1, 2**31 - 1, 2**31 - 1)],
        # … and by 2^31 and 2^31 − 1 after the first column was counted as less than it is.
        [
            *[(4, 5, 4), (0, 1, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0)],
            (2**31 - 1, 2**31 - 1, 2**31 - 2),
        ],
    ],
)
def test_row_keys_do_not_wrap_around_into_each_other(rows: list[tuple[int, ...]]) -> None:
    keys = row_keys([ints([row[place] for row in rows]) for place in range(len(rows[0]))])
    assert len(set(keys.tolist())) == len(rows)


@pytest.mark.parametrize("rows", [[], [0], [2, 0, 2], range(3), {1}])
def test_flags_are_at_the_rows_that_are_named(rows: list[int]) -> None:
    right = [row in rows for row in range(4)]
    assert flags_at(rows, 4).tolist() == right
    assert flags_at(ints(list(rows)), 4).tolist() == right


@pytest.mark.parametrize(
    ("several", "right"),
    [
        ([], [False, False, False]),
        ([[True, False, False]], [True, False, False]),
        ([[True, False, False], [True, True, False]], [True, True, False]),
    ],
)
def test_any_of_several_flags_is_enough(several: list[list[bool]], right: list[bool]) -> None:
    flags = [np.array(one) for one in several]
    assert any_of(flags, 3).tolist() == right
    # What was asked of stays as it is.
    assert [one.tolist() for one in flags] == several


@dataclass(frozen=True, eq=False)
class Tables:
    one: Floats
    two: sparse.csr_array


def test_tables_are_stacked_field_by_field() -> None:
    parts = [
        Tables(np.array([[number, 2.0]]), sparse.csr_array(np.array([[0.0, number], [1.0, 0.0]])))
        for number in (3.0, 4.0)
    ]
    found = stack(parts)
    assert isinstance(found, Tables)
    assert found.one.tolist() == [[3, 2], [4, 2]]
    assert found.two.toarray().tolist() == [[0, 3], [1, 0], [0, 4], [1, 0]]
    assert found.two.format == "csr"
    assert stack(parts[1:]) is parts[1]
