"""The report in the terminal: from the headline down to the signature, in 60 to 100 columns."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from rich.cells import cell_len
from rich.console import Console, JustifyMethod, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from potato_iaa.measures.agreement import Agreement, SchemeAgreement
from potato_iaa.measures.findings import Finding, all_findings
from potato_iaa.reporter.coefficient_tables import (
    coefficient_table,
    confusion_table,
    kind_table,
    side_table,
)
from potato_iaa.reporter.detail_tables import categorical_table
from potato_iaa.reporter.display import Column, Table
from potato_iaa.reporter.f1_tables import annotator_table, label_table, pair_table
from potato_iaa.reporter.headline import (
    LOSSES,
    audit_line,
    headline,
    interval_line,
    scaled_figures,
    spread_parts,
    title_parts,
)
from potato_iaa.reporter.ledger_tables import (
    ledger_line,
    left_out_lines,
    passes_line,
    passes_table,
    reason_lines,
)
from potato_iaa.reporter.rounding import interval_text, rounded, value_text
from potato_iaa.reporter.safe_text import encodable, shortened, visible
from potato_iaa.reporter.scale import ASCII, UNICODE, Strokes, bar, draw, lower_end, ruler
from potato_iaa.version import __version__

WIDEST = 100
NARROWEST = 60
ROWS = 12
CONFUSIONS = 5
LEAST_CELLS = 6
JUSTIFY: tuple[JustifyMethod, ...] = ("left", "right", "right", "left")
# Below these widths a table drops its columns of rank 3, and of rank 2.
DROP = {3: 92, 2: 76}


@dataclass(frozen=True)
class Page:
    """What a terminal can show: its width, its encoding, and whether it has colours."""

    width: int = WIDEST
    encoding: str = "utf-8"
    color: bool = False

    @property
    def strokes(self) -> Strokes:
        """Line-drawing characters where the encoding carries them, else plain ASCII."""
        try:
            "".join(vars(UNICODE).values()).encode(self.encoding)
        except UnicodeEncodeError:
            return ASCII
        return UNICODE

    def safe(self, text: str) -> str:
        """The text as this page can show it, control characters written out."""
        return encodable(visible(text), self.encoding)

    def text(self, text: str, style: str = "") -> Text:
        """A piece of safe text."""
        return Text(self.safe(text), style=style)


def page_of(stream: IO[str]) -> Page:
    """What the stream can show: 60 to 100 columns; 100 where it is no terminal."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    console = Console(file=stream)
    known = console.is_terminal or "COLUMNS" in os.environ
    width = console.width if known else WIDEST
    return Page(
        width=min(max(width, NARROWEST), WIDEST), encoding=encoding, color=console.is_terminal
    )


def terminal_report(agreement: Agreement, page: Page | None = None) -> str:
    """The whole report as the text that a terminal shows."""
    shown = page or Page()
    return typeset(_report(agreement, shown), shown)


def typeset(blocks: Iterable[RenderableType], page: Page) -> str:
    """Blocks as text, without blanks at the ends of lines."""
    console = Console(
        file=io.StringIO(),
        width=page.width,
        force_terminal=page.color,
        force_jupyter=False,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
    )
    with console.capture() as capture:
        for block in blocks:
            console.print(block)
    return "".join(line.rstrip() + "\n" for line in capture.get().split("\n")[:-1])


def _report(agreement: Agreement, page: Page) -> Iterator[RenderableType]:
    for number, scheme in enumerate(agreement.schemes.values()):
        if number:
            yield page.text("")
        yield from _scheme(agreement, scheme, page)
    questions = categorical_table(agreement.categorical)
    if questions:
        yield from table_block(questions, page)
    yield from _ledger(agreement, page)
    yield from heading("Signature", page)
    yield page.text(f"  potato-iaa {__version__}", "dim")
    signature = filled(page.safe(agreement.signature).split("|"), "|", page.width - 2)
    yield from (Text(f"  {line}") for line in signature)


def _scheme(agreement: Agreement, scheme: SchemeAgreement, page: Page) -> Iterator[RenderableType]:
    told = all_findings(agreement, scheme)
    yield page.text(f"Span agreement: {agreement.source.name}", "bold")
    yield from flowing((f"scheme {scheme.scheme}", *title_parts(scheme)), page)
    yield page.text("")
    yield from _headline(agreement, scheme, told, page)
    yield from _scale(scheme, page)
    yield from sentences("What to fix", _of_weight(told, "main"), page)
    yield from _losses(scheme, page)
    for table in (
        kind_table(scheme),
        label_table(scheme, limit=ROWS),
        confusion_table(scheme, limit=CONFUSIONS),
        annotator_table(scheme, limit=ROWS),
        pair_table(scheme, limit=ROWS),
        side_table(scheme),
        coefficient_table(scheme),
    ):
        if table:
            yield from table_block(table, page)
    yield from sentences("Notes", (*_of_weight(told, "note"), audit_line(scheme)), page)
    yield from sentences("Warnings", _of_weight(told, "warning"), page, style="yellow", mark="!")


def _headline(
    agreement: Agreement, scheme: SchemeAgreement, told: Iterable[Finding], page: Page
) -> Iterator[RenderableType]:
    figure = headline(scheme)
    line = page.text("F1 exact, typed  ", "bold")
    line.append_text(page.text(value_text(figure), "bold cyan"))
    line.append_text(page.text(f"  {interval_text(figure)}".rstrip(), "cyan"))
    if figure.why:
        line.append_text(page.text(f"  {figure.why}", "yellow"))
    yield line
    yield from flowing(spread_parts(scheme), page)
    yield page.text(interval_line(agreement), "dim")
    warnings = len(_of_weight(told, "warning"))
    if warnings:
        plural = "warning" if warnings == 1 else "warnings"
        yield page.text(f"! {warnings} {plural} below", "yellow")


def _scale(scheme: SchemeAgreement, page: Page) -> Iterator[RenderableType]:
    figures = scaled_figures(scheme)
    start = lower_end(figure.estimate for figure in figures)
    written = [
        (page.safe(figure.name), value_text(figure.estimate), interval_text(figure.estimate))
        for figure in figures
    ]
    width = page.width - _taken(written) - 4
    yield from heading("On one scale", page)
    grid = _drawing()
    grid.add_row("", "", "", page.text(ruler(width=width, start=start), "dim"))
    for cells, figure in zip(written, figures, strict=True):
        drawn = draw(figure.estimate, width=width, start=start, strokes=page.strokes)
        grid.add_row(*_figure_cells(cells, page), page.text(drawn, "cyan"))
    yield Padding(grid, (0, 0, 0, 2))
    for figure in figures:
        if figure.estimate.why:
            yield from item(f"{figure.name} has no value: {figure.estimate.why}", page)
    for line in (
        "exact: same offsets; overlap: a shared character; typed: same label",
        f"token alpha: Krippendorff's nominal alpha per {scheme.token.unit}; "
        "u alpha: his unitizing alpha per character",
    ):
        yield Padding(page.text(line, "dim"), (0, 0, 0, 2))


def _losses(scheme: SchemeAgreement, page: Page) -> Iterator[RenderableType]:
    figure = headline(scheme)
    if figure.value is None:
        return
    missing = 1 - figure.value
    losses = {name: getattr(scheme.lost, name) for name in LOSSES}
    written = [(name, value_text(loss), interval_text(loss)) for name, loss in losses.items()]
    meanings = page.width >= DROP[2]
    width = page.width - _taken(written) - 4
    if meanings:
        width -= max(map(len, LOSSES.values())) + 2
    yield from heading(f"The {rounded(missing)} missing to full agreement", page)
    grid = _drawing()
    grid.add_column(no_wrap=True)
    for cells, (name, loss) in zip(written, losses.items(), strict=True):
        share = loss.value / missing if loss.value and missing > 0 else 0.0
        drawn = bar(share, width=width, strokes=page.strokes)
        meaning = LOSSES[name] if meanings else ""
        grid.add_row(
            *_figure_cells(cells, page), page.text(drawn, "magenta"), page.text(meaning, "dim")
        )
    yield Padding(grid, (0, 0, 0, 2))


def _taken(written: Sequence[tuple[str, str, str]]) -> int:
    """The cells that names, values and intervals take, with the blanks after them."""
    return sum(max(map(cell_len, column)) + 2 for column in zip(*written, strict=True))


def _figure_cells(cells: tuple[str, str, str], page: Page) -> tuple[Text, Text, Text]:
    name, value, interval = cells
    return page.text(name), page.text(value, "bold"), page.text(interval)


def _drawing() -> Grid:
    """A grid of a name, a value, its interval, and what is drawn of them."""
    grid = _grid()
    for justify in JUSTIFY:
        grid.add_column(justify=justify, no_wrap=True)
    return grid


def _ledger(agreement: Agreement, page: Page) -> Iterator[RenderableType]:
    ledger = agreement.ledger
    lines = (ledger_line(ledger), *reason_lines(ledger), *left_out_lines(ledger), *ledger.notes)
    yield from sentences("Ledger", (*lines, passes_line(agreement.source.passes)), page)
    passes = passes_table(ledger, limit=ROWS)
    if passes:
        yield from table_block(passes, page)


def heading(title: str, page: Page) -> Iterator[RenderableType]:
    """A heading with a blank line above it."""
    yield page.text("")
    yield page.text(title, "bold")


def sentences(
    title: str, lines: Iterable[str], page: Page, *, style: str = "", mark: str = "-"
) -> Iterator[RenderableType]:
    """A heading and one item per sentence; nothing at all if there are none."""
    listed = list(lines)
    if listed:
        yield from heading(title, page)
    for line in listed:
        yield from item(line, page, style=style, mark=mark)


def item(line: str, page: Page, *, style: str = "", mark: str = "-") -> Iterator[RenderableType]:
    """One sentence, wrapped under its mark."""
    grid = Grid.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=1)
    grid.add_column(overflow="fold")
    grid.add_row(page.text(mark, style), page.text(line, style))
    yield Padding(grid, (0, 0, 0, 2))


def table_block(table: Table, page: Page) -> Iterator[RenderableType]:
    """A table with its heading, as many of its columns as the page has room for."""
    yield from heading(table.title, page)
    kept = [number for number, column in enumerate(table.columns) if _fits(column, page)]
    columns = [table.columns[number] for number in kept]
    rows = [[page.safe(row[number]) for number in kept] for row in table.lines]
    limits = _limits(columns, rows, page)
    grid = _grid()
    for column in columns:
        grid.add_column(justify="right" if column.number else "left", no_wrap=True, overflow="crop")
    grid.add_row(*(page.text(column.title, "dim") for column in columns))
    ellipsis = page.safe("…")
    for row in rows:
        cells = zip(row, limits, strict=True)
        grid.add_row(*(Text(shortened(cell, limit, ellipsis=ellipsis)) for cell, limit in cells))
    yield Padding(grid, (0, 0, 0, 2))
    dropped = [column.title for column in table.columns if not _fits(column, page)]
    if dropped:
        yield from item(f"no room for: {', '.join(dropped)}", page, style="dim", mark="")
    for reason in table.reasons:
        yield from item(reason, page, style="dim", mark="")
    if table.left_out:
        more = "row" if table.left_out == 1 else "rows"
        yield page.text(f"  {table.left_out:,} more {more} in tables/{table.name}.csv", "dim")


def _limits(columns: Sequence[Column], rows: Sequence[Sequence[str]], page: Page) -> list[int]:
    """How many cells each column may take: numbers all they need, names share what is left."""
    needed = [
        max([cell_len(column.title), *(cell_len(row[number]) for row in rows)])
        for number, column in enumerate(columns)
    ]
    names = [number for number, column in enumerate(columns) if not column.number]
    limits = list(needed)
    gaps = 2 * len(columns)  # before every column
    left = page.width - gaps - sum(needed) + sum(needed[name] for name in names)
    for done, name in enumerate(sorted(names, key=lambda name: needed[name])):
        limits[name] = min(needed[name], max(left // (len(names) - done), LEAST_CELLS))
        left -= limits[name]
    return limits


def flowing(parts: Sequence[str], page: Page, style: str = "") -> Iterator[RenderableType]:
    """Parts between dots, over as many lines as they take."""
    for line in filled([page.safe(part) for part in parts], page.safe(" · "), page.width):
        yield Text(line, style=style)


def filled(parts: Sequence[str], separator: str, width: int) -> list[str]:
    """Parts put into lines of ``width``, broken before a separator only.

    >>> filled(["F1", "match:exact", "types:yes"], "|", 16)
    ['F1|match:exact', '|types:yes']
    """
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(separator) + len(part) <= width:
            lines[-1] += separator + part
        else:
            lines.append(separator.lstrip() + part)
    return lines


def _of_weight(told: Iterable[Finding], weight: str) -> tuple[str, ...]:
    return tuple(finding.text for finding in told if finding.weight == weight)


def _fits(column: Column, page: Page) -> bool:
    return page.width >= DROP.get(column.rank, 0)


def _grid() -> Grid:
    return Grid.grid(padding=(0, 2, 0, 0))
