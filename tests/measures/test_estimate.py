"""An estimate is a value or a reason, and what is written of it is plain."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from potato_iaa.measures.estimate import (
    NO_SHARED_ITEMS,
    NO_TEXT,
    NO_VARIATION,
    NOTHING_MARKED,
    ONE_ANNOTATOR,
    Estimate,
    below,
    plain,
    reasons,
    records,
)


@pytest.mark.parametrize(
    ("value", "right"),
    [
        pytest.param(None, None, id="None"),
        pytest.param(math.nan, None, id="NaN"),
        pytest.param(-math.nan, None, id="-NaN"),
        pytest.param(0.0, 0.0, id="0"),
        pytest.param(-0.0, 0.0, id="-0"),
        pytest.param(-1e-15, 0.0, id="the noise of rounding"),
        pytest.param(1.0, 1.0, id="1"),
        pytest.param(0.1 + 0.2, 0.3, id="0.1+0.2"),
        pytest.param(1 / 3, 0.333333333333, id="1/3"),
        pytest.param(-2 / 3, -0.666666666667, id="-2/3"),
        pytest.param(1 - 1e-13, 1.0, id="13 digits"),
        pytest.param(1 - 1e-12, 0.999999999999, id="12 digits"),
        pytest.param(0.000123456789012345, 0.000123456789012, id="digits that count are kept"),
        pytest.param(-1234.5678901234567, -1234.56789012, id="great negative alphas"),
    ],
)
def test_a_figure_has_twelve_digits_and_no_negative_zero(
    value: float | None, right: float | None
) -> None:
    written = plain(value)
    assert written == right
    if written is not None:
        assert math.copysign(1, written) == math.copysign(1, right or 0.0)
        assert type(written) is float


def test_numpy_numbers_become_plain_ones() -> None:
    assert type(plain(np.float64(0.5))) is float
    assert plain(np.float64("nan")) is None
    assert json.dumps(plain(np.float64(-0.0))) == "0.0"


def test_sums_in_another_order_are_written_alike() -> None:
    values = [0.1, 0.2, 0.3, 0.7, 1e-3]
    assert plain(sum(values)) == plain(sum(reversed(values)))


@pytest.mark.parametrize(
    ("estimate", "written"),
    [
        pytest.param(
            Estimate(0.1 + 0.2, n=1, of=3),
            {"value": 0.3, "low": None, "high": None, "n": 1, "of": 3},
            id="a value without a bootstrap",
        ),
        pytest.param(
            Estimate(-0.0, low=-0.0, high=1 / 3, undefined=0.0, n=2, of=2),
            {"value": 0.0, "low": 0.0, "high": 0.333333333333, "undefined": 0.0, "n": 2, "of": 2},
            id="a value with an interval",
        ),
        pytest.param(
            Estimate(None, "no variation", n=0, of=3),
            {"value": None, "why": "no variation", "low": None, "high": None, "n": 0, "of": 3},
            id="a reason",
        ),
    ],
)
def test_an_estimate_is_written_plain(estimate: Estimate, written: dict[str, Any]) -> None:
    assert estimate.to_dict() == written
    assert "-0.0" not in json.dumps(estimate.to_dict(), allow_nan=False)


def test_a_reason_stands_only_where_there_is_no_value() -> None:
    assert "why" not in Estimate(0.5).to_dict()
    assert Estimate(None, "no text").to_dict()["why"] == "no text"


def test_an_estimate_averages_nothing_unless_it_says_so() -> None:
    assert Estimate(0.5).to_dict() == {"value": 0.5, "low": None, "high": None, "n": 0, "of": 0}


def test_the_reasons_are_those_of_the_measures() -> None:
    # measures.md, "Undefined is a value", and section 2 for texts.
    assert (
        *("no shared items", "nothing marked by either", "only one annotator"),
        *("no variation", "no text"),
    ) == (NO_SHARED_ITEMS, NOTHING_MARKED, ONE_ANNOTATOR, NO_VARIATION, NO_TEXT)


def test_nan_never_leaves_to_dict() -> None:
    written = Estimate(math.nan, low=math.nan, high=math.nan, undefined=math.nan).to_dict()
    json.dumps(written, allow_nan=False)
    assert (written["value"], written["low"], written["high"]) == (None, None, None)


def test_reasons_stand_where_values_are_undefined() -> None:
    found = reasons(np.array([0.5, np.nan, 0.0]), "no unit")
    assert list(found) == [None, "no unit", None]
    each = reasons(np.array([np.nan, 1.0, np.nan]), np.array(["p", "q", "r"], dtype=object))
    assert list(each) == ["p", None, "r"]


def test_rows_of_a_table_are_written_plain() -> None:
    table = pd.DataFrame(
        {
            "label": pd.Categorical(["X", "Y"]),
            "spans": np.array([3, 0]),
            "value": [-0.0, np.nan],
            "why": np.array([None, "no unit"], dtype=object),
        }
    )
    rows = records(table)
    assert rows == [
        {"label": "X", "spans": 3, "value": 0.0, "why": None},
        {"label": "Y", "spans": 0, "value": None, "why": "no unit"},
    ]
    assert "-0.0" not in json.dumps(rows, allow_nan=False)
    assert [type(row["spans"]) for row in rows] == [int, int]


def test_a_table_without_rows_has_no_records() -> None:
    assert records(pd.DataFrame({"value": pd.Series(dtype=float)})) == []


def test_replicates_neither_tell_estimates_apart_nor_are_printed() -> None:
    one, other = (Estimate(0.5, replicates=np.full(3, value)) for value in (0.1, 0.2))
    assert one == other
    assert "replicates" not in repr(one)


@pytest.mark.parametrize("kind", [np.int64, np.uint8])
def test_whole_numbers_of_a_table_stay_whole(kind: type) -> None:
    rows = records(pd.DataFrame({"spans": np.array([2, 2, 0], dtype=kind)}))
    assert [(row["spans"], type(row["spans"])) for row in rows] == [(2, int), (2, int), (0, int)]


@pytest.mark.parametrize(
    ("one", "other", "right"),
    [
        (0.7, 0.8, True),
        (0.8, 0.7, False),
        (0.7, 0.7, False),
        (0.3, 0.1 + 0.2, False),
        (0.1 + 0.2, 0.3, False),
        (-1e-17, 0.0, False),
        (0.0, 1e-13, True),
        (0.7, 0.7 + 1e-11, True),
    ],
)
def test_a_figure_is_below_another_by_more_than_noise(
    one: float, other: float, right: bool
) -> None:
    assert below(one, other) == right
