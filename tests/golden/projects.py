"""The sample projects, and the reports that are kept of them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from potato_iaa import Agreement, measure, read_project
from potato_iaa.reporter.files import report_files
from potato_iaa.reporter.terminal import terminal_report

GOLDEN = Path(__file__).parent
SAMPLES = GOLDEN.parents[1] / "sample_exports"
PROJECTS = ("pii_spans", "scripts", "two_schemes")
NAMES = ("report.json", "report.md", "terminal.txt")
_AUDITOR = re.compile(r"(krippendorff(?: package)? )\d+(?:\.\d+)*")


@cache
def agreement_of(project: str) -> Agreement:
    """The agreement on one sample project."""
    return measure(read_project(SAMPLES / project))


@cache
def reports(project: str) -> dict[str, str]:
    """The reports of one sample project, without the version of the package that audits alpha."""
    agreement = agreement_of(project)
    files = report_files(agreement, formats=("json", "md"))
    texts = {name: content.decode() for name, content in files.items()}
    texts["terminal.txt"] = terminal_report(agreement)
    return {name: _AUDITOR.sub(r"\1X", text) for name, text in texts.items()}
