"""figures/*.svg and *.pdf: the pictures of the report for a paper, drawn by matplotlib.

Letters are paths in SVG and embedded fonts in PDF, so that a figure looks the same everywhere.
Nothing in a file depends on when it was written.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager

from potato_iaa.measures.agreement import Agreement, SchemeAgreement
from potato_iaa.measures.estimate import Estimate
from potato_iaa.reporter import picture_data
from potato_iaa.reporter.file_names import prefixes
from potato_iaa.reporter.headline import headline
from potato_iaa.reporter.picture_data import Bars, Course, Dots, Heat, Loss
from potato_iaa.reporter.rounding import UNDEFINED, rounded
from potato_iaa.reporter.safe_text import shortened, visible

DRAWN = 24
HEAT = 14
COURSES = 12
NAME = 28
# Beside dots there is room for the longest name of a rule.
ROW_NAME = 40
WIDTH = 5.6
BLUE, SOFT = "#0b5ca8", "#cfd8e3"
LOSS = {"agreed": SOFT, "existence": "#0b62a8", "label": "#98368a", "boundary": "#e8772e"}
ON_LOSS = {"agreed": "black", "existence": "white", "label": "white", "boundary": "black"}
# Letters that the first font lacks come from the others, as far as they are installed.
FONTS = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans Devanagari",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
)
STYLE: Any = {
    "svg.fonttype": "path",
    "svg.hashsalt": "potato-iaa",
    "pdf.fonttype": 42,
    # A name may hold a dollar sign: nothing here is mathematics.
    "text.parse_math": False,
    "font.size": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#57606a",
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "xtick.color": "#33383f",
    "ytick.color": "#33383f",
    "axes.grid": False,
    "figure.constrained_layout.use": True,
}
UNDATED: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def figure_files(agreement: Agreement) -> dict[str, bytes]:
    """Every figure as SVG and PDF, by its file name."""
    made: dict[str, bytes] = {}
    style: Any = STYLE | {"font.family": _fonts()}
    with matplotlib.rc_context(style), warnings.catch_warnings():
        # A letter that no installed font has is drawn as a box; that is no reason to stop.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        schemes = agreement.schemes
        for prefix, scheme in zip(prefixes(list(schemes)), schemes.values(), strict=True):
            for name, figure in _figures(scheme):
                for ending, metadata in UNDATED.items():
                    stream = io.BytesIO()
                    figure.savefig(stream, format=ending, metadata=metadata)
                    made[f"{prefix}{name}.{ending}"] = stream.getvalue()
    return made


def _fonts() -> list[str]:
    installed = set(fontManager.get_font_names())
    return [name for name in FONTS if name in installed] or ["sans-serif"]


def _figures(scheme: SchemeAgreement) -> Iterator[tuple[str, Figure]]:
    yield "scale", _dots_figure(picture_data.scale_dots(scheme), "agreement")
    losses, figure = picture_data.losses(scheme), headline(scheme)
    if losses and figure.value is not None:
        yield "lost", _loss_figure(figure.value, losses)
    labels = picture_data.label_dots(scheme, limit=DRAWN)
    if labels.rows:
        yield "labels", _dots_figure(labels, "F1, exact (filled) and overlap (hollow)")
    annotators = picture_data.annotator_dots(scheme, limit=DRAWN)
    if annotators.rows:
        yield "annotators", _dots_figure(annotators, "mean F1 with the others, exact")
    heat = picture_data.heat(scheme, limit=HEAT)
    if heat:
        yield "pairs", _heat_figure(heat)
    courses, _ = picture_data.courses(scheme, limit=COURSES)
    if courses:
        yield "drift", _course_figure(courses)
    yield "items", _bars_figure((picture_data.item_bars(scheme),))
    yield "boundaries", _bars_figure(picture_data.boundary_bars(scheme))


def _canvas(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def _dots_figure(dots: Dots, title: str) -> Figure:
    figure = _canvas(WIDTH, 0.65 + 0.23 * len(dots.rows))
    axes = figure.add_subplot()
    for place, dot in enumerate(dots.rows):
        _dot(axes, dot.estimate, place)
        if dot.beside and dot.beside.value is not None:
            axes.plot(dot.beside.value, place, "o", markersize=5, color=BLUE, fillstyle="none")
    axes.set_yticks(range(len(dots.rows)), labels=[_name(dot.name, ROW_NAME) for dot in dots.rows])
    axes.set_ylim(len(dots.rows) - 0.4, -0.6)
    axes.set_xlim(dots.start - 0.01, 1.01)
    axes.set_xlabel(title)
    axes.grid(axis="x", color="#e4e8ed")
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    return figure


def _dot(axes: Axes, estimate: Estimate, at: float, *, upright: bool = False) -> None:
    """A dot with its interval, lying at a height or standing at a place."""
    if estimate.value is None:
        return
    if estimate.low is not None and estimate.high is not None:
        ends, places = [estimate.low, estimate.high], [at, at]
        x, y = (places, ends) if upright else (ends, places)
        axes.plot(x, y, color=BLUE, linewidth=1.4, solid_capstyle="butt")
    point = (at, estimate.value) if upright else (estimate.value, at)
    axes.plot(*point, "o", markersize=5, color=BLUE)


def _loss_figure(agreed: float, losses: Sequence[Loss]) -> Figure:
    figure = _canvas(WIDTH, 1.15)
    axes = figure.add_subplot()
    left = 0.0
    for name, share in (
        ("agreed", agreed),
        *((loss.name, loss.estimate.value or 0.0) for loss in losses),
    ):
        told = f"{name} {rounded(share)}"
        axes.barh(0, share, left=left, color=LOSS[name], edgecolor="white", label=told)
        if share >= 0.05:
            axes.text(
                left + share / 2, 0, rounded(share), ha="center", va="center", color=ON_LOSS[name]
            )
        left += share
    axes.set_xlim(0, 1)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    return figure


def _heat_figure(heat: Heat) -> Figure:
    names = [_name(name) for name in heat.names]
    size = len(names)
    figure = _canvas(1.3 + 0.42 * size, 0.9 + 0.3 * size)
    axes = figure.add_subplot()
    values = [
        [float("nan") if cell is None or cell.value is None else cell.value for cell in row]
        for row in heat.cells
    ]
    edges = [place - 0.5 for place in range(size + 1)]
    axes.pcolormesh(
        edges, edges, values, cmap="Blues", vmin=0, vmax=1.15, edgecolors="white", linewidth=1
    )
    axes.invert_yaxis()
    for row, cells in enumerate(heat.cells):
        for column, cell in enumerate(cells):
            if row == column:
                continue
            value = None if cell is None else cell.value
            dark = value is not None and value >= 0.78
            axes.text(
                column,
                row,
                UNDEFINED if value is None else rounded(value),
                ha="center",
                va="center",
                color="white" if dark else "black",
                fontsize=7.5,
            )
    axes.set_xticks(range(size), labels=names, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(size), labels=names)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure


def _course_figure(courses: Sequence[Course]) -> Figure:
    columns = min(len(courses), 4)
    rows = -(-len(courses) // columns)
    figure = _canvas(max(1.45 * columns, 2.4), 1.25 * rows + 0.25)
    for place, course in enumerate(courses):
        axes = figure.add_subplot(rows, columns, place + 1)
        points = []
        for quarter, estimate in course.quarters:
            _dot(axes, estimate, quarter, upright=True)
            if estimate.value is not None:
                points.append((quarter, estimate.value))
        axes.plot([x for x, _ in points], [y for _, y in points], color=BLUE, linewidth=1)
        axes.set_title(_name(course.name), fontsize=8.5)
        axes.set_xlim(0.5, 4.5)
        axes.set_ylim(0, 1.05)
        axes.set_xticks([1, 2, 3, 4])
        axes.set_yticks([0, 0.5, 1])
        axes.grid(axis="y", color="#e4e8ed")
    figure.supxlabel("quarter of the work", fontsize=8.5)
    figure.supylabel("F1", fontsize=8.5)
    return figure


def _bars_figure(several: Sequence[Bars]) -> Figure:
    figure = _canvas(WIDTH if len(several) > 1 else 3.8, 1.9)
    for place, bars in enumerate(several):
        axes = figure.add_subplot(1, len(several), place + 1)
        drawn = axes.bar(range(len(bars.names)), bars.counts, color=BLUE, width=0.85)
        axes.bar_label(drawn, labels=[f"{count:,}" for count in bars.counts], fontsize=7)
        axes.set_xticks(range(len(bars.names)), labels=list(bars.names))
        axes.set_title(bars.title)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="x", length=0)
    return figure


def _name(name: str, most: int = NAME) -> str:
    return shortened(visible(name), most)
