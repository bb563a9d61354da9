"""A figure drawn on a scale: a dot with its interval, readable without colour."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from potato_iaa.measures.estimate import Estimate


@dataclass(frozen=True)
class Strokes:
    """The characters that a scale is drawn with."""

    ground: str
    line: str
    left: str
    right: str
    dot: str
    bar: str
    tick: str


UNICODE = Strokes(ground="·", line="─", left="├", right="┤", dot="●", bar="█", tick="┬")
ASCII = Strokes(ground=".", line="-", left="[", right="]", dot="o", bar="#", tick="|")


def lower_end(estimates: Iterable[Estimate]) -> float:
    """Where a scale that shows these figures begins: 0, or a quarter below all of them.

    >>> lower_end([Estimate(0.5, low=0.2, high=0.7)]), lower_end([Estimate(-0.1, low=-0.3)])
    (0.0, -0.5)
    """
    least = min(
        (
            bound
            for estimate in estimates
            for bound in (estimate.value, estimate.low)
            if bound is not None
        ),
        default=0.0,
    )
    return min(0.0, math.floor(least * 4) / 4) + 0.0


def draw(estimate: Estimate, *, width: int, start: float, strokes: Strokes) -> str:
    """The figure on a scale from ``start`` to 1 that is ``width`` characters long.

    >>> draw(Estimate(0.5, low=0.25, high=0.75), width=21, start=0.0, strokes=ASCII)
    '.....[----o----].....'
    >>> draw(Estimate(None, "no variation"), width=5, start=0.0, strokes=ASCII)
    '.....'
    """
    drawn = [strokes.ground] * width
    if estimate.value is None:
        return "".join(drawn)
    if estimate.low is not None and estimate.high is not None:
        low, high = (_place(bound, width, start) for bound in (estimate.low, estimate.high))
        drawn[low : high + 1] = strokes.line * (high + 1 - low)
        drawn[low], drawn[high] = strokes.left, strokes.right
    drawn[_place(estimate.value, width, start)] = strokes.dot
    return "".join(drawn)


def ruler(*, width: int, start: float) -> str:
    """The numbers above a scale, from 1 down, one per quarter where there is room.

    >>> ruler(width=41, start=0.0)
    '0        .25       .5        .75        1'
    """
    steps = round((1 - start) * 4)
    step = 1 if width >= 8 * steps else 2 if width >= 4 * steps else 4
    line = [" "] * width
    for number in range(steps, -1, -step):
        value = start + number / 4
        name = f"{value:g}".replace("0.", ".")
        place = _place(value, width, start)
        first = min(max(place - len(name) // 2, 0), width - len(name))
        line[first : first + len(name)] = name
    return "".join(line)


def bar(value: float | None, *, width: int, strokes: Strokes) -> str:
    """A bar that is ``width`` characters long at 1; at least one character above 0.

    >>> bar(0.5, width=10, strokes=ASCII), bar(0.01, width=10, strokes=ASCII)
    ('#####', '#')
    """
    if value is None or value <= 0:
        return ""
    return strokes.bar * max(1, round(min(value, 1.0) * width))


def _place(value: float, width: int, start: float) -> int:
    share = (value - start) / (1 - start)
    return round(min(max(share, 0.0), 1.0) * (width - 1))
