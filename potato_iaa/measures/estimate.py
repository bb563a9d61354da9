"""An estimate: a value, or undefined with its reason, with its interval and what it averages."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from potato_iaa.arrays import Floats

NO_SHARED_ITEMS = "no shared items"
NOTHING_MARKED = "nothing marked by either"
ONE_ANNOTATOR = "only one annotator"
NO_VARIATION = "no variation"
NO_TEXT = "no text"
NOISE = 1e-14


@dataclass(frozen=True)
class Estimate:
    """One figure: ``value``, or ``None`` and ``why``; never NaN.

    ``low`` and ``high`` bound the bootstrap interval, ``undefined`` is the share of resamples in
    which the figure had no value; all three are ``None`` without a bootstrap. ``n`` of ``of`` says
    how many of the things averaged over had a value of their own. ``replicates``: float64
    (resamples,), what the interval was made of, for differences; no report has them.
    """

    value: float | None
    why: str | None = None
    low: float | None = None
    high: float | None = None
    undefined: float | None = None
    n: int = 0
    of: int = 0
    replicates: Floats | None = field(default=None, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The figure as in report.json; ``why`` only where the value is undefined.

        >>> Estimate(0.1 + 0.2, n=1, of=3).to_dict()["value"]
        0.3
        """
        figure: dict[str, Any] = {"value": plain(self.value)}
        if self.value is None:
            figure["why"] = self.why
        figure["low"], figure["high"] = plain(self.low), plain(self.high)
        if self.undefined is not None:
            figure["undefined"] = plain(self.undefined)
        return figure | {"n": self.n, "of": self.of}


def plain(value: float | None) -> float | None:
    """``value`` to 12 significant digits, 0 where it is no more than the noise of rounding.

    ``None`` for NaN and ``None``. These digits are what sums in another order still agree on.

    >>> plain(-1e-17), plain(1 / 3), plain(float("nan"))
    (0.0, 0.333333333333, None)
    """
    if value is None or math.isnan(value):
        return None
    return 0.0 if abs(value) < NOISE else float(f"{value:.12g}")


def below(one: float, other: float) -> bool:
    """Whether a figure is below another by more than the noise of rounding.

    >>> below(0.7, 0.8), below(0.1 + 0.2, 0.3), below(0.3, 0.1 + 0.2), below(-1e-17, 0.0)
    (True, False, False, False)
    """
    return one < other and plain(one) != plain(other)


def reasons(value: Floats, why: Any) -> npt.NDArray[np.object_]:
    """``why`` where ``value`` is undefined, ``None`` where it has a value."""
    told = np.full(len(value), None, dtype=object)
    undefined = np.isnan(value)
    told[undefined] = np.broadcast_to(np.asarray(why, dtype=object), value.shape)[undefined]
    return told


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a table of figures as plain values: floats shortened, missing values as ``None``."""
    names = list(table.columns)
    columns = [_plain_column(table[name]) for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _plain_column(column: pd.Series[Any]) -> list[Any]:
    if column.dtype.kind in "iu":
        return column.tolist()
    # Figures of many pairs, and names, are few different ones: each is made plain once.
    place, known = pd.factorize(column)
    floats = column.dtype.kind == "f"
    told = [plain(value) if floats else value for value in known.tolist()]
    told.append(None)
    return [told[code] for code in place.tolist()]
