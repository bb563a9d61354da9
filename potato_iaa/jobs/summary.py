"""The summary of a job over its projects: terminal, HTML, JSON and CSV, the worst first."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any
from urllib.parse import quote

import pandas as pd
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup
from rich.console import RenderableType

from potato_iaa.jobs.gates import Gate, gate_lines, misses
from potato_iaa.jobs.outcome import Outcome, SchemeOutcome
from potato_iaa.measures.names import HEADLINE
from potato_iaa.reporter.csv_tables import csv_bytes
from potato_iaa.reporter.display import Column, Table, reasons
from potato_iaa.reporter.rounding import counted, interval_text, value_text
from potato_iaa.reporter.svg import element, shown
from potato_iaa.reporter.terminal import Page, heading, item, table_block, typeset

FORMAT = 1
# What a reader opens first, of what a report has.
ENTRANCES = ("report.html", "report.md", "report.json")
_COLUMNS = (
    Column("project", number=False),
    Column("scheme", number=False),
    Column("F1"),
    Column("95 % interval"),
    Column("token alpha", rank=2),
    Column("annotators", rank=3),
    Column("shared items", rank=2),
    Column("spans", rank=3),
)
_GATES = Column("gates", number=False)


@dataclass(frozen=True)
class Summary:
    """What a run came to; ``gates`` by the names of the projects, ``outcomes`` the worst first."""

    title: str
    outcomes: tuple[Outcome, ...]
    gates: Mapping[str, tuple[Gate, ...]]

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """The projects that could not be reported."""
        return tuple(outcome for outcome in self.outcomes if outcome.error is not None)

    @property
    def missed(self) -> tuple[str, ...]:
        """A sentence for each gate that is missed."""
        return tuple(gate_lines([gate for gates in self.gates.values() for gate in gates]))

    @property
    def told(self) -> str:
        """The run in one line."""
        reported = [outcome for outcome in self.outcomes if outcome.error is None]
        cached = sum(outcome.cached for outcome in reported)
        kept = f", {cached:,} unchanged since an earlier run" if cached else ""
        asked = sum(map(len, self.gates.values()))
        gates = f", {len(self.missed):,} of {counted(asked, 'gate')} missed" if asked else ""
        of = counted(len(self.outcomes), "project")
        return f"{len(reported):,} of {of} reported{kept}{gates}."


def summary_of(
    title: str, outcomes: Sequence[Outcome], gates: Mapping[str, tuple[Gate, ...]]
) -> Summary:
    """The summary, its outcomes in order: failures, then by the lowest headline of a scheme."""
    return Summary(title, tuple(sorted(outcomes, key=_badness)), dict(gates))


def _badness(outcome: Outcome) -> tuple[bool, float, str]:
    return outcome.error is None, min(map(_height, outcome.schemes), default=-1.0), outcome.name


def _height(scheme: SchemeOutcome) -> float:
    """The headline; below any where it is undefined."""
    value = scheme.headline.value
    return -math.inf if value is None else value


def _rows(summary: Summary) -> Iterator[tuple[Outcome, SchemeOutcome]]:
    for outcome in summary.outcomes:
        for scheme in sorted(outcome.schemes, key=_height):
            yield outcome, scheme


def terminal_summary(summary: Summary, page: Page) -> str:
    """The summary as the text that a terminal shows."""
    return typeset(_blocks(summary, page), page)


def _blocks(summary: Summary, page: Page) -> Iterator[RenderableType]:
    yield page.text(f"Span agreement over projects: {summary.title}", "bold")
    yield page.text(summary.told)
    rows = list(_rows(summary))
    if rows:
        yield from table_block(_table(summary, rows), page)
    if summary.failures:
        yield from heading("Not reported", page)
    for outcome in summary.failures:
        yield from item(f"{outcome.name}: {outcome.error}", page, style="bold", mark="!")
    if summary.missed:
        yield from heading("Gates that are missed", page)
    for line in summary.missed:
        yield from item(line, page, mark="!")


def _table(summary: Summary, rows: Sequence[tuple[Outcome, SchemeOutcome]]) -> Table:
    figures = [(f"{outcome.name}, {scheme.scheme}", scheme.headline) for outcome, scheme in rows]
    gated = any(summary.gates.values())
    return Table(
        name="summary",
        title="Projects, the worst first (F1 exact, typed: mean over pairs)",
        columns=(*_COLUMNS, _GATES) if gated else _COLUMNS,
        rows=tuple(
            (
                outcome.name,
                scheme.scheme,
                value_text(scheme.headline),
                interval_text(scheme.headline),
                value_text(scheme.figures["token_alpha"]),
                f"{scheme.annotators:,}",
                f"{scheme.items_shared:,}",
                f"{scheme.spans:,}",
                *([_gates_cell(summary, outcome, scheme)[0]] if gated else []),
            )
            for outcome, scheme in rows
        ),
        reasons=reasons(figures),
    )


def _gates_cell(summary: Summary, outcome: Outcome, scheme: SchemeOutcome) -> tuple[str, bool]:
    """How a scheme fares at its gates, in a word, and whether it misses one."""
    own = [gate for gate in summary.gates.get(outcome.name, ()) if gate.scheme == scheme.scheme]
    missed = misses(own)
    if not own:
        return "", False
    return (f"{len(missed)} missed", True) if missed else (f"{len(own)} passed", False)


def summary_json(summary: Summary) -> bytes:
    """summary.json: every outcome and every gate."""
    document = {
        "format": FORMAT,
        "title": summary.title,
        "projects": [
            outcome.to_dict()
            | {"gates": [_gate_dict(gate) for gate in summary.gates.get(outcome.name, ())]}
            for outcome in summary.outcomes
        ],
    }
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _gate_dict(gate: Gate) -> dict[str, Any]:
    return {
        "scheme": gate.scheme,
        "measure": gate.measure,
        "on": gate.on,
        "at_least": gate.at_least,
        "found": gate.found,
        "why": gate.why,
        "passed": gate.passed,
    }


def summary_csv(summary: Summary) -> bytes:
    """summary.csv: a row for each figure of each scheme; one for each failure."""
    rows: list[dict[str, Any]] = []
    for outcome in summary.outcomes:
        project = {"project": outcome.name, "path": outcome.project}
        if outcome.error is not None:
            rows.append(project | {"status": "failed", "why": outcome.error})
        for scheme in sorted(outcome.schemes, key=_height):
            for measure, figure in scheme.figures.items():
                rows.append(
                    project
                    | {
                        "status": "reported",
                        "scheme": scheme.scheme,
                        "measure": measure,
                        "value": figure.value,
                        "why": figure.why,
                        "low": figure.low,
                        "high": figure.high,
                        "n": figure.n,
                        "of": figure.of,
                        "at_least": _asked(summary, outcome, scheme, measure),
                    }
                )
    columns = (
        *("project", "path", "status", "scheme", "measure"),
        *("value", "why", "low", "high", "n", "of", "at_least"),
    )
    table = pd.DataFrame(rows, columns=list(columns))
    numbers = ("value", "low", "high", "at_least")
    return csv_bytes(
        table.astype(dict.fromkeys(numbers, float)).astype(dict.fromkeys(("n", "of"), "Int64"))
    )


def _asked(summary: Summary, outcome: Outcome, scheme: SchemeOutcome, measure: str) -> float | None:
    own = summary.gates.get(outcome.name, ())
    asked = (
        gate.at_least for gate in own if (gate.scheme, gate.measure) == (scheme.scheme, measure)
    )
    return next(asked, None)


def summary_html(summary: Summary, *, trend: str | None) -> bytes:
    """index.html; ``trend`` says what trend.svg shows, ``None`` where there is none."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["shown"] = shown
    template = files("potato_iaa.jobs") / "templates" / "index.html"
    page = environment.from_string(template.read_text("utf-8")).render(
        title=summary.title,
        told=summary.told,
        failures=summary.failures,
        missed=summary.missed,
        rows=[_page_row(summary, outcome, scheme) for outcome, scheme in _rows(summary)],
        trend=trend,
    )
    return page.encode("utf-8", "backslashreplace") + b"\n"


@dataclass(frozen=True)
class PageRow:
    """A row of the page's table, every cell as it is shown."""

    project: str
    link: str | None
    scheme: str
    value: str
    interval: str
    why: str | None
    scale: Markup
    token_alpha: str
    annotators: str
    shared_items: str
    spans: str
    gates: str
    missed: bool


def _page_row(summary: Summary, outcome: Outcome, scheme: SchemeOutcome) -> PageRow:
    entrance = next((name for name in ENTRANCES if name in outcome.files), None)
    gates, missed = _gates_cell(summary, outcome, scheme)
    headline = scheme.headline
    # A relative link: a name with a colon would otherwise be read as a scheme.
    link = f"./{quote(outcome.name, safe='', errors='surrogateescape')}/{entrance}"
    return PageRow(
        project=outcome.name,
        link=link if entrance else None,
        scheme=scheme.scheme,
        value=value_text(headline),
        interval=interval_text(headline),
        why=headline.why,
        scale=_scale(scheme),
        token_alpha=value_text(scheme.figures["token_alpha"]),
        annotators=f"{scheme.annotators:,}",
        shared_items=f"{scheme.items_shared:,}",
        spans=f"{scheme.spans:,}",
        gates=gates,
        missed=missed,
    )


def _scale(scheme: SchemeOutcome) -> Markup:
    """The headline and its interval on a line from 0 to 1."""
    headline = scheme.figures[str(HEADLINE)]
    drawn = [_line(0, 1, "var(--track)", 2)]
    if headline.low is not None and headline.high is not None:
        drawn.append(_line(headline.low, headline.high, "var(--accent)", 4))
    if headline.value is not None:
        drawn.append(
            element("circle", cx=f"{headline.value:.2%}", cy=10, r=5, fill="var(--accent)")
        )
    return element("svg", *drawn, height=20, aria_hidden="true")


def _line(start: float, end: float, colour: str, width: int) -> Markup:
    return element(
        "line",
        x1=f"{start:.2%}",
        x2=f"{end:.2%}",
        y1=10,
        y2=10,
        stroke=colour,
        stroke_width=width,
    )
