"""Figures as text: no more digits than their interval supports, a dash where undefined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from potato_iaa.measures.estimate import Estimate

UNDEFINED = "—"
# An interval narrower than this supports a third decimal.
NARROW = 0.02


def decimals(estimate: Estimate) -> int:
    """Two decimals, or three where the interval is narrow enough to support a third.

    >>> decimals(Estimate(0.5, low=0.4, high=0.6)), decimals(Estimate(0.5, low=0.495, high=0.505))
    (2, 3)
    """
    if estimate.low is None or estimate.high is None:
        return 2
    return 3 if 0 < estimate.high - estimate.low < NARROW else 2


def rounded(value: float | None, digits: int = 2) -> str:
    """A plain number with ``digits`` decimals and no negative zero; a dash for ``None``.

    >>> rounded(-0.001), rounded(None), rounded(0.12345, 3)
    ('0.00', '—', '0.123')
    """
    return UNDEFINED if value is None else f"{round(value, digits) + 0.0:.{digits}f}"


def value_text(estimate: Estimate) -> str:
    """The value of an estimate, or a dash.

    >>> value_text(Estimate(0.7123, low=0.6, high=0.8)), value_text(Estimate(None, "no variation"))
    ('0.71', '—')
    """
    return rounded(estimate.value, decimals(estimate))


def interval_text(estimate: Estimate) -> str:
    """The interval of an estimate in brackets; empty where it has none.

    >>> interval_text(Estimate(0.7, low=0.6, high=0.8)), interval_text(Estimate(0.7))
    ('[0.60, 0.80]', '')
    """
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return ""
    digits = decimals(estimate)
    return f"[{rounded(estimate.low, digits)}, {rounded(estimate.high, digits)}]"


def row_estimate(row: Mapping[str, Any]) -> Estimate:
    """The estimate that a row of a table of figures holds."""
    return Estimate(row["value"], row.get("why"), row["low"], row["high"])


def counted(number: int, thing: str, many: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "pass", "passes"), counted(1200, "span")
    ('1 pass', '1,200 spans')
    """
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {many or thing + 's'}"


def percent(share: float) -> str:
    """A share in per cent, with a decimal below ten.

    >>> percent(0.816), percent(0.05)
    ('82%', '5.0%')
    """
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"
