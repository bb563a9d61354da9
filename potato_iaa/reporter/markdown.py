"""report.md: the report as Markdown that can go into an appendix as it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from potato_iaa.measures.agreement import Agreement, SchemeAgreement
from potato_iaa.measures.findings import all_findings
from potato_iaa.reporter.detail_tables import categorical_table
from potato_iaa.reporter.display import Table
from potato_iaa.reporter.headline import (
    audit_line,
    headline,
    interval_line,
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
from potato_iaa.reporter.methods import citations, methods
from potato_iaa.reporter.rounding import interval_text, value_text
from potato_iaa.reporter.safe_text import markdown_safe
from potato_iaa.reporter.scheme_tables import scheme_tables

ROWS = 60
ITEMS = 20


def markdown_report(agreement: Agreement) -> str:
    """The whole report as Markdown."""
    return "\n".join(_lines(agreement)) + "\n"


def _lines(agreement: Agreement) -> Iterator[str]:
    yield f"# Span agreement: {markdown_safe(agreement.source.name)}"
    for scheme in agreement.schemes.values():
        yield from _scheme(agreement, scheme)
    questions = categorical_table(agreement.categorical)
    if questions:
        yield from table_lines(questions)
    yield from _ledger(agreement)
    yield from ("", "## Sources", "")
    yield from (f"- {markdown_safe(work)}" for work in citations(agreement))
    yield from ("", "## Signature", "", "```", agreement.signature, "```")


def _scheme(agreement: Agreement, scheme: SchemeAgreement) -> Iterator[str]:
    figure = headline(scheme)
    yield from ("", f"## Scheme {markdown_safe(scheme.scheme)}", "")
    yield f"{markdown_safe(' · '.join(title_parts(scheme)))}"
    value = " ".join(filter(None, (value_text(figure), interval_text(figure), figure.why)))
    spread = markdown_safe(" · ".join(spread_parts(scheme)))
    yield from ("", f"**F1 exact, typed: {markdown_safe(value)}** ({spread})")
    yield from ("", markdown_safe(interval_line(agreement)))
    yield from _findings(agreement, scheme)
    for table in scheme_tables(scheme, rows=ROWS, items=ITEMS):
        yield from table_lines(table)
    yield from ("", "### Methods")
    for paragraph in methods(agreement, scheme):
        yield from ("", markdown_safe(paragraph))


def _findings(agreement: Agreement, scheme: SchemeAgreement) -> Iterator[str]:
    told = all_findings(agreement, scheme)
    for weight, title in (("main", "What to fix"), ("warning", "Warnings"), ("note", "Notes")):
        lines = [finding.text for finding in told if finding.weight == weight]
        if weight == "note":
            lines.append(audit_line(scheme))
        if lines:
            yield from ("", f"### {title}", "")
            yield from _items(lines)


def _ledger(agreement: Agreement) -> Iterator[str]:
    ledger = agreement.ledger
    yield from ("", "## Ledger", "")
    lines = (ledger_line(ledger), *reason_lines(ledger), *left_out_lines(ledger), *ledger.notes)
    yield from _items((*lines, passes_line(agreement.source.passes)))
    passes = passes_table(ledger, limit=ROWS)
    if passes:
        yield from table_lines(passes)


def _items(lines: Iterable[str]) -> Iterator[str]:
    return (f"- {markdown_safe(line)}" for line in lines)


def table_lines(table: Table) -> Iterator[str]:
    """A table with its heading, its reasons and what it leaves out."""
    yield from ("", f"### {markdown_safe(table.title)}", "")
    if not table.rows:
        yield "none"
        return
    yield _row(column.title for column in table.columns)
    yield _row(("--:" if column.number else ":--" for column in table.columns), safe=False)
    yield from (_row(row) for row in table.lines)
    if table.reasons:
        yield ""
        yield from _items(table.reasons)
    if table.left_out:
        more = "row" if table.left_out == 1 else "rows"
        yield from ("", f"{table.left_out:,} more {more} in tables/{table.name}.csv")


def _row(cells: Iterable[str], *, safe: bool = True) -> str:
    return f"| {' | '.join(markdown_safe(cell) if safe else cell for cell in cells)} |"
