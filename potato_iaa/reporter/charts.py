"""Charts of the page as inline SVG: small pure functions from figures to markup.

Positions are per cent of the width wherever a chart may shrink, so that its text does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from potato_iaa.measures.estimate import Estimate
from potato_iaa.reporter.picture_data import Bars, Course, Heat, Loss
from potato_iaa.reporter.rounding import UNDEFINED, rounded, value_text
from potato_iaa.reporter.safe_text import shortened
from potato_iaa.reporter.svg import element, number

CELL_WIDTH, CELL_HEIGHT = 46, 30
NAME = 16
LEAST_BAR, BAR_HEIGHT = 30, 96
COURSE_WIDTH, COURSE_HEIGHT = 172, 92
SHADES = 10
# Parts of the loss bar narrower than these have no room for their number, or on wide pages only.
LEAST_WRITTEN, LITTLE = 0.055, 0.1


def dot_scale(estimate: Estimate, *, start: float, beside: Estimate | None = None) -> Markup:
    """A dot with its interval on a scale from ``start`` to 1; the numbers stand next to it."""
    drawn = list(_quarters(start))
    if beside and beside.value is not None:
        drawn.append(
            element("circle", cx=_place(beside.value, start), cy=13, r=3.5, class_="hollow")
        )
    if estimate.value is not None:
        if estimate.low is not None and estimate.high is not None:
            low, high = _place(estimate.low, start), _place(estimate.high, start)
            drawn.append(element("line", x1=low, x2=high, y1=13, y2=13, class_="interval"))
            drawn += [
                element("line", x1=end, x2=end, y1=9, y2=17, class_="interval")
                for end in (low, high)
            ]
        drawn.append(
            element("circle", cx=_place(estimate.value, start), cy=13, r=4.5, class_="dot")
        )
    return _hidden(*drawn, class_="scale", height=26)


def ruler(start: float) -> Markup:
    """The numbers above a scale."""
    steps = round((1 - start) * 4)
    drawn = []
    for step in range(0, steps + 1, 1 if steps <= 4 else 2):
        value = start + step / 4
        # The last number ends at the edge, so that the scale may be as wide as its column.
        anchor = "end" if value == 1 else "start" if not step else "middle"
        written = f"{value:g}".replace("0.", ".")
        drawn.append(element("text", written, x=_place(value, start), y=12, text_anchor=anchor))
    return _hidden(*drawn, class_="scale ruler", height=16)


def loss_bar(agreed: float, losses: Sequence[Loss]) -> Markup:
    """One bar from 0 to 1: what is agreed, and what is lost on what."""
    parts = [("agreed", agreed), *((loss.name, loss.estimate.value or 0.0) for loss in losses)]
    drawn, left = [], 0.0
    for name, share in parts:
        share = min(max(share, 0.0), 1 - left)
        if share <= 0:
            continue
        drawn.append(
            element(
                "rect", x=_percent(left), y=0, width=_percent(share), height=30, class_=f"p-{name}"
            )
        )
        if share >= LEAST_WRITTEN:
            drawn.append(
                element(
                    "text",
                    rounded(share),
                    x=_percent(left + share / 2),
                    y=20,
                    text_anchor="middle",
                    class_=f"on-{name} little" if share < LITTLE else f"on-{name}",
                )
            )
        left += share
    told = ", ".join(f"{name} {rounded(share)}" for name, share in parts)
    return _image(f"Of full agreement, 1: {told}", *drawn, class_="loss", width="100%", height=30)


def heatmap(heat: Heat) -> Markup:
    """The F1 of every pair, its number in the cell; darker is higher, whichever the theme."""
    names = [shortened(name, NAME) for name in heat.names]
    left = 12 + 7 * max(map(len, names))
    top = 14 + 5 * max(map(len, names))
    drawn = []
    for row, (name, cells) in enumerate(zip(names, heat.cells, strict=True)):
        middle = top + row * CELL_HEIGHT + CELL_HEIGHT / 2 + 4
        drawn.append(element("text", name, x=left - 8, y=middle, text_anchor="end", class_="axis"))
        x, y = left + (row + 0.5) * CELL_WIDTH, top - 8
        turn = f"rotate(-40 {number(x)} {number(y)})"
        drawn.append(element("text", name, x=x, y=y, transform=turn, class_="axis"))
        drawn += [
            _heat_cell(cell, left + column * CELL_WIDTH, top + row * CELL_HEIGHT)
            for column, cell in enumerate(cells)
            if column != row
        ]
    # The last of the turned names reaches beyond the last column.
    width = left + len(names) * CELL_WIDTH + 6 * len(names[-1])
    height = top + len(names) * CELL_HEIGHT + 2
    return _image(
        "F1 of every pair as a matrix; the table of pairs has the same numbers",
        *drawn,
        class_="heat",
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
    )


def _heat_cell(cell: Estimate | None, x: float, y: float) -> Markup:
    value = None if cell is None else cell.value
    shade = "none" if value is None else str(min(int(value * SHADES), SHADES - 1))
    written = UNDEFINED if value is None else rounded(value)
    return element(
        "g",
        element("rect", x=x + 1, y=y + 1, width=CELL_WIDTH - 2, height=CELL_HEIGHT - 2, rx=2),
        element(
            "text", written, x=x + CELL_WIDTH / 2, y=y + CELL_HEIGHT / 2 + 4, text_anchor="middle"
        ),
        class_=f"shade-{shade}",
    )


def course_chart(course: Course) -> Markup:
    """An annotator's F1 over the quarters of the work, from 0 to 1."""
    top, bottom, left = 8, COURSE_HEIGHT - 18, 22

    def height(value: float) -> float:
        return bottom - (bottom - top) * min(max(value, 0.0), 1.0)

    def across(quarter: int) -> float:
        return left + (COURSE_WIDTH - left) * (quarter - 0.5) / 4

    drawn = []
    for value in (0.0, 0.5, 1.0):
        y = height(value)
        drawn.append(element("line", x1=left, x2=COURSE_WIDTH, y1=y, y2=y, class_="grid"))
        written = f"{value:g}".replace("0.", ".")
        drawn.append(
            element("text", written, x=left - 5, y=y + 4, text_anchor="end", class_="axis")
        )
    points = []
    told = []
    for quarter, estimate in course.quarters:
        x = across(quarter)
        drawn.append(
            element(
                "text", str(quarter), x=x, y=COURSE_HEIGHT - 4, text_anchor="middle", class_="axis"
            )
        )
        told.append(f"quarter {quarter}: {value_text(estimate)}")
        if estimate.value is None:
            continue
        points.append(f"{number(x)},{number(height(estimate.value))}")
        if estimate.low is not None and estimate.high is not None:
            low, high = height(estimate.low), height(estimate.high)
            drawn.append(element("line", x1=x, x2=x, y1=low, y2=high, class_="interval"))
        drawn.append(element("circle", cx=x, cy=height(estimate.value), r=4, class_="dot"))
    drawn.append(element("polyline", points=" ".join(points), class_="course"))
    size = {"width": COURSE_WIDTH, "height": COURSE_HEIGHT}
    return _image(f"{course.name}, {', '.join(told)}", *drawn, class_="small", **size)


def bar_chart(bars: Bars) -> Markup:
    """A histogram, its counts above the bars."""
    most = max(bars.counts, default=0) or 1
    wide = max(LEAST_BAR, 7 * len(f"{most:,}") + 6)
    drawn = []
    for place, (name, count) in enumerate(zip(bars.names, bars.counts, strict=True)):
        tall = BAR_HEIGHT * count / most
        middle, top = place * wide + wide / 2, 16 + BAR_HEIGHT - tall
        drawn.append(
            element(
                "rect",
                x=place * wide + 2,
                y=top,
                width=wide - 4,
                height=tall,
                class_="bar",
            )
        )
        drawn.append(
            element("text", f"{count:,}", x=middle, y=top - 4, text_anchor="middle", class_="count")
        )
        drawn.append(
            element("text", name, x=middle, y=BAR_HEIGHT + 32, text_anchor="middle", class_="axis")
        )
    width, height = len(bars.names) * wide, BAR_HEIGHT + 38
    base = 16 + BAR_HEIGHT
    drawn.append(element("line", x1=0, x2=width, y1=base, y2=base, class_="base"))
    told = ", ".join(
        f"{name}: {count:,}" for name, count in zip(bars.names, bars.counts, strict=True)
    )
    size = {"width": width, "height": height}
    return _image(f"{bars.title}: {told}", *drawn, class_="bars", **size)


def _quarters(start: float) -> list[Markup]:
    steps = round((1 - start) * 4)
    places = [_place(start + step / 4, start) for step in range(steps + 1)]
    return [element("line", x1=x, x2=x, y1=0, y2=26, class_="grid") for x in places]


def _place(value: float, start: float) -> str:
    return _percent((min(max(value, start), 1.0) - start) / (1 - start))


def _percent(share: float) -> str:
    return f"{number(100 * share)}%"


def _hidden(*drawn: str, class_: str, height: float) -> Markup:
    """A picture of numbers that stand next to it as text."""
    return element("svg", *drawn, class_=class_, width="100%", height=height, aria_hidden="true")


def _image(told: str, *drawn: str, **attributes: str | float) -> Markup:
    return element("svg", *drawn, role="img", aria_label=told, **attributes)
