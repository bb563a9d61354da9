"""Draw docs/report.svg, the picture in the README: ``python docs/picture.py``."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console
from rich.text import Text

from potato_iaa import measure, read_project
from potato_iaa.reporter.terminal import Page, terminal_report

HERE = Path(__file__).parent
# A picture without a web font: whoever looks at it has a monospace font of their own.
FORMAT = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>The report of potato-iaa on a sample project, in a terminal</title>
<style>
.{unique_id}-matrix {{ font: {char_height}px Menlo, Consolas, "DejaVu Sans Mono", monospace;
line-height: {line_height}px; white-space: pre }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def main() -> None:
    """Write the picture of the upper half of the report on ``pii_spans``."""
    agreement = measure(read_project(HERE.parent / "sample_exports" / "pii_spans"))
    report = terminal_report(agreement, Page(color=True))
    shown = report[: report.index("Labels confused")]
    console = Console(record=True, width=100, file=io.StringIO(), force_terminal=True)
    console.print(Text("$ potato-iaa report config.yaml\n", style="dim"))
    console.print(Text.from_ansi(shown.removesuffix("\x1b[1m").rstrip()))
    svg = console.export_svg(title="potato-iaa", code_format=FORMAT, unique_id="report")
    (HERE / "report.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
