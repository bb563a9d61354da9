"""report.html: the report that people look at, one file that needs nothing else and no network."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from potato_iaa.measures.agreement import Agreement, SchemeAgreement
from potato_iaa.measures.findings import all_findings
from potato_iaa.reporter import charts, picture_data
from potato_iaa.reporter.coefficient_tables import (
    KIND_MEANING,
    coefficient_table,
    confusion_table,
    kind_table,
    side_table,
)
from potato_iaa.reporter.detail_tables import (
    categorical_table,
    label_use_table,
    ledger_table,
    tendency_table,
)
from potato_iaa.reporter.disagreement_browser import browser, covered, places
from potato_iaa.reporter.display import reasons, some
from potato_iaa.reporter.f1_tables import (
    annotator_table,
    averages_table,
    item_table,
    label_table,
    pair_table,
)
from potato_iaa.reporter.headline import (
    HEADLINE,
    audit_line,
    headline,
    interval_line,
    spread_parts,
    title_parts,
)
from potato_iaa.reporter.lanes import COLOURS, PATTERNS, lane_style
from potato_iaa.reporter.ledger_tables import (
    ledger_line,
    left_out_lines,
    passes_line,
    passes_table,
    reason_lines,
)
from potato_iaa.reporter.methods import citations, methods
from potato_iaa.reporter.picture_data import Dots
from potato_iaa.reporter.rounding import counted, interval_text, percent, rounded, value_text
from potato_iaa.reporter.svg import shown
from potato_iaa.reporter.words import WORDS, definitions
from potato_iaa.version import __version__

# Rows of a table, of all schemes together; the complete tables are files of their own.
ROWS = 250
LEAST_ROWS = 40
DRAWN = 24
HEAT = 14
COURSES = 12
MANY_PAIRS = 45
ITEMS = 20
MAIN_FINDINGS = 3
NAMES = 6


@dataclass(frozen=True)
class Drawn:
    """Figures on one scale: a row each of name, value, interval and drawing."""

    caption: str
    heading: str
    ruler: Markup
    rows: tuple[tuple[str, str, str, Markup], ...]
    left_out: int
    reasons: tuple[str, ...]
    beside: bool


def html_report(agreement: Agreement, *, text: bool = False) -> str:
    """The page; texts and what spans cover appear only with ``text``."""
    rows = max(ROWS // max(len(agreement.schemes), 1), LEAST_ROWS)
    schemes = [
        _scheme(agreement, scheme, number, rows, text=text)
        for number, scheme in enumerate(agreement.schemes.values(), start=1)
    ]
    heights = [
        len(entry.contested.rows)
        for scheme in schemes
        for entry in scheme["browser"].entries
        if entry.with_text
    ]
    style = Markup(_asset("report.css") + lane_style(heights))
    script = Markup(_asset("report.js"))
    return (
        _environment()
        .get_template("report.html")
        .render(
            version=__version__,
            agreement=agreement,
            policy=_policy(style, script),
            style=style,
            script=script,
            schemes=schemes,
            categorical=categorical_table(agreement.categorical),
            ledger=_ledger(agreement, rows),
            ledger_table=ledger_table(agreement, limit=rows)
            if len(agreement.ledger.read)
            else None,
            passes=passes_table(agreement.ledger, limit=rows),
            interval_line=interval_line(agreement),
            citations=citations(agreement),
            words=WORDS,
            definitions=definitions(agreement.settings),
            text=text,
        )
    )


def _scheme(
    agreement: Agreement, scheme: SchemeAgreement, number: int, rows: int, *, text: bool
) -> dict[str, Any]:
    """All that the template shows of one scheme, its tables with so many rows."""
    return {
        "id": f"s{number}",
        "scheme": scheme,
        **_top(agreement, scheme),
        **_labels(agreement, scheme, rows),
        **_annotators(scheme, rows),
        **_pairs(scheme, rows),
        "item_bars": charts.bar_chart(picture_data.item_bars(scheme)),
        "item_table": item_table(scheme.f1[HEADLINE], limit=ITEMS),
        "boundary_bars": [
            (bars.title, charts.bar_chart(bars)) for bars in picture_data.boundary_bars(scheme)
        ],
        "tendencies": tendency_table(scheme, limit=rows),
        "kinds": kind_table(scheme),
        "browser": browser(agreement, scheme, text=text),
        "averages": averages_table(scheme),
        "coefficients": coefficient_table(scheme),
        "methods": methods(agreement, scheme),
    }


def _top(agreement: Agreement, scheme: SchemeAgreement) -> dict[str, Any]:
    """What is seen within the first minute."""
    told = all_findings(agreement, scheme)
    main = [finding.text for finding in told if finding.weight == "main"]
    notes = [finding.text for finding in told if finding.weight == "note"]
    figure = headline(scheme)
    losses = picture_data.losses(scheme)
    return {
        "parts": title_parts(scheme),
        "figure": figure,
        "value": value_text(figure),
        "interval": interval_text(figure),
        "spread": spread_parts(scheme),
        "plainly": plainly(scheme),
        "main": main[:MAIN_FINDINGS],
        "notes": [*main[MAIN_FINDINGS:], *notes, audit_line(scheme)],
        "warnings": cautions(agreement, scheme),
        "scale": _drawn(picture_data.scale_dots(scheme), "Agreement on one scale", "value"),
        "missing": None if figure.value is None else rounded(1 - figure.value),
        "loss_bar": None if figure.value is None else charts.loss_bar(figure.value, losses),
        "losses": [
            (loss, value_text(loss.estimate), interval_text(loss.estimate)) for loss in losses
        ],
    }


def _labels(agreement: Agreement, scheme: SchemeAgreement, rows: int) -> dict[str, Any]:
    dots = picture_data.label_dots(scheme, limit=DRAWN)
    return {
        "labels": _drawn(dots, "F1 by label, lowest first", beside=True),
        "label_table": label_table(scheme, limit=rows),
        "label_use": label_use_table(agreement, scheme, limit=rows),
        "confusion": confusion_table(scheme, limit=LEAST_ROWS),
    }


def _annotators(scheme: SchemeAgreement, rows: int) -> dict[str, Any]:
    dots = picture_data.annotator_dots(scheme, limit=DRAWN)
    courses, left_out = picture_data.courses(scheme, limit=COURSES)
    return {
        "annotators": _drawn(dots, "Mean F1 with the others by annotator, lowest first"),
        "annotator_table": annotator_table(scheme, limit=rows),
        "sides": side_table(scheme),
        "courses": [(course.name, charts.course_chart(course)) for course in courses],
        "courses_left_out": left_out,
    }


def _pairs(scheme: SchemeAgreement, rows: int) -> dict[str, Any]:
    heat = picture_data.heat(scheme, limit=HEAT)
    many = len(scheme.f1[HEADLINE].pairs) > MANY_PAIRS
    return {
        "heat": charts.heatmap(heat) if heat else None,
        "heat_left_out": heat.left_out if heat else 0,
        "heat_names": len(heat.names) if heat else 0,
        "pair_bars": charts.bar_chart(picture_data.pair_bars(scheme)) if many else None,
        "pair_table": pair_table(scheme, limit=rows),
    }


def plainly(scheme: SchemeAgreement) -> str:
    """What the headline says, for somebody who does not know what F1 is."""
    exact, overlap = headline(scheme), scheme.f1["overlap_untyped"].averages.mean_over_pairs
    if exact.value is None or overlap.value is None:
        return f"There is no figure to give: {exact.why or overlap.why}."
    return (
        f"Of the spans that two annotators mark, {percent(exact.value)} are exactly the same on "
        f"both sides, in place and label; {percent(overlap.value)} can be paired, one to one, with "
        "a span of the other that they overlap. Both are means over the pairs of annotators."
    )


def cautions(agreement: Agreement, scheme: SchemeAgreement) -> tuple[str, ...]:
    """What a reader must know before quoting a figure: warnings and overlaps."""
    told = [
        finding.text for finding in all_findings(agreement, scheme) if finding.weight == "warning"
    ]
    crossed = scheme.unitizing.overlapping_passes
    if crossed:
        told.append(
            f"Spans of one annotator overlap in {counted(crossed, 'pass', 'passes')}: the "
            "unitizing alphas are not defined there, and are given for the longest spans alone "
            "(flattened)."
        )
    return tuple(told)


def _ledger(agreement: Agreement, rows: int) -> list[str]:
    ledger = agreement.ledger
    lines = (ledger_line(ledger), *reason_lines(ledger), *left_out_lines(ledger), *ledger.notes)
    return [*lines, passes_line(agreement.source.passes)]


def _drawn(dots: Dots, caption: str, heading: str = "F1", *, beside: bool = False) -> Drawn:
    return Drawn(
        caption,
        heading,
        charts.ruler(dots.start),
        tuple(
            (
                dot.name,
                value_text(dot.estimate),
                interval_text(dot.estimate),
                charts.dot_scale(dot.estimate, start=dots.start, beside=dot.beside),
            )
            for dot in dots.rows
        ),
        dots.left_out,
        reasons((dot.name, dot.estimate) for dot in dots.rows),
        beside,
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("potato_iaa.reporter"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Whatever is printed has its control characters written out, before it is escaped.
        finalize=lambda value: shown(value) if isinstance(value, str) else value,
    )
    environment.globals |= {
        "kinds": KIND_MEANING,
        "patterns": COLOURS * PATTERNS,
        "covered": covered,
        "places": places,
        "some": lambda names: some(names, NAMES),
        "rounded": rounded,
        "counted": counted,
    }
    return environment


@cache
def _asset(name: str) -> str:
    return (files("potato_iaa.reporter") / "templates" / name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    """A policy under which the page can load nothing, and runs no code but its own."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
