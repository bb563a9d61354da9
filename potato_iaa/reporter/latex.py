"""Tables as LaTeX (booktabs), to be read into a paper as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from potato_iaa.measures.agreement import Agreement
from potato_iaa.reporter.display import Table
from potato_iaa.reporter.file_names import prefixes
from potato_iaa.reporter.rounding import UNDEFINED
from potato_iaa.reporter.safe_text import visible
from potato_iaa.reporter.scheme_tables import scheme_tables

# As many rows as a page of A4 holds.
ROWS = 40
_SPECIAL: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    UNDEFINED: "--",
}
_SPECIALS = re.compile("[" + re.escape("".join(_SPECIAL)) + "]")


def latex_tables(agreement: Agreement) -> dict[str, str]:
    """The tables of all schemes by name; with several schemes, the scheme's name comes first."""
    return {
        f"{prefix}{table.name}": latex_table(table, label=f"{prefix}{table.name}")
        for prefix, scheme in zip(
            prefixes(list(agreement.schemes)), agreement.schemes.values(), strict=True
        )
        for table in scheme_tables(scheme, rows=ROWS, items=0)
    }


def latex_table(table: Table, *, label: str) -> str:
    """One table as a tabular with its caption above it."""
    columns = "".join("r" if column.number else "l" for column in table.columns)
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex_safe(table.title)}.}}",
        rf"\label{{tab:{label}}}",
        rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        r"\toprule",
        _row(column.title for column in table.columns),
        r"\midrule",
        *(_row(row) for row in table.lines),
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\smallskip\footnotesize {latex_safe(reason)}" for reason in table.reasons),
        r"\end{table}",
    ]
    if table.left_out:
        lines.append(f"% {table.left_out:,} more rows in tables/{table.name}.csv")
    return "\n".join(lines) + "\n"


def _row(cells: Iterable[str]) -> str:
    safe = [latex_safe(cell) for cell in cells]
    # A bracket at the beginning of a row would be taken for the option of the \\ before it.
    first = f"{{{safe[0]}}}" if safe[0].startswith("[") else safe[0]
    return " & ".join((first, *safe[1:])) + r" \\"


def latex_safe(text: str) -> str:
    r"""The text as LaTeX prints it, whatever is in it.

    >>> latex_safe("50% of_a {b} \\input")
    '50\\% of\\_a \\{b\\} \\textbackslash{}input'
    """
    return _SPECIALS.sub(lambda found: _SPECIAL[found[0]], visible(text))
