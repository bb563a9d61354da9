"""trend.svg: the headline of every project over the runs of a job."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from potato_iaa.jobs.history import Course
from potato_iaa.reporter.safe_text import shortened, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 24
COLUMNS = 3
WIDTH, HEIGHT = 3.2, 1.9
COLOUR = "#0a58a6"
_STYLE: Any = {
    "svg.hashsalt": "potato-iaa",
    "svg.fonttype": "none",
    "font.size": 8,
    "font.family": "sans-serif",
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def trend_text(listed: Sequence[Course]) -> str | None:
    """What the plot shows, in words; ``None`` where there is nothing to show yet."""
    shown = _shown(listed)
    if not shown:
        return None
    more = f", the first {MOST} of {len(_grown(listed))}" if len(_grown(listed)) > MOST else ""
    runs = max(len(course.times) for course in shown)
    return (
        f"F1 exact, typed (mean over pairs) over {runs} runs, by project and scheme{more}; "
        "95 % intervals shaded."
    )


def trend_svg(listed: Sequence[Course]) -> bytes:
    """The plot: a panel for each project and scheme, all on one scale from 0 to 1."""
    # Not pyplot: nothing is left behind, and no display is looked for.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    shown = _shown(listed)
    columns = min(COLUMNS, len(shown))
    rows = math.ceil(len(shown) / columns)
    with rc_context(_STYLE):
        figure = Figure(figsize=(WIDTH * columns, HEIGHT * rows), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
        for panel, course in zip(panels, shown, strict=False):
            _draw(panel, course)
        for panel in panels[len(shown) :]:
            panel.set_axis_off()
        written = io.BytesIO()
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    return written.getvalue()


def _grown(listed: Sequence[Course]) -> list[Course]:
    """Those with two runs at least: one point is no trend."""
    return [course for course in listed if len(course.times) > 1]


def _shown(listed: Sequence[Course]) -> list[Course]:
    return _grown(listed)[:MOST]


def _draw(panel: Axes, course: Course) -> None:
    # Its functions have no types.
    dates: Any = import_module("matplotlib.dates")
    times = [float(dates.date2num(time)) for time in course.times]
    values = [_number(figure.value) for figure in course.figures]
    low = [_number(figure.low) for figure in course.figures]
    high = [_number(figure.high) for figure in course.figures]
    panel.fill_between(times, low, high, color=COLOUR, alpha=0.18, linewidth=0)
    panel.plot(times, values, color=COLOUR, marker="o", markersize=3, linewidth=1.2)
    panel.set_ylim(0, 1)
    panel.grid(axis="y", color="#e4e8ed", linewidth=0.6)
    locator = dates.AutoDateLocator(minticks=2, maxticks=4)
    panel.xaxis.set_major_locator(locator)
    panel.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    panel.set_title(_plain(f"{course.project}, {course.scheme}"), fontsize=8, loc="left")


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _plain(title: str) -> str:
    """A title that fits."""
    return shortened(visible(title), 44)
