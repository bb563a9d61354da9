"""The glossary: every measure with its definition and source, for the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from potato_iaa.measures.registry import KINDS, REGISTRY

HEADINGS = {
    "rule": "Match rules of F1 (--rule), each typed and untyped",
    "average": "Averages of F1",
    "loss": "What the exact, typed F1 loses",
    "coefficient": "Coefficients (--measure for those on request)",
}


def print_glossary(console: Console | None = None) -> None:
    """Print the registry, one entry per measure, under the heading of its kind."""
    console = console or Console(width=min(Console().width, 100), highlight=False)
    for kind in KINDS:
        console.print(Text(HEADINGS[kind], style="bold"))
        for entry in REGISTRY:
            if entry.kind == kind:
                made = "" if entry.made == "always" else "  (on request)"
                console.print(Padding(Text(f"{entry.name}{made}", style="cyan"), (0, 0, 0, 2)))
                console.print(Padding(Text(entry.definition), (0, 0, 0, 6)))
                console.print(Padding(Text(entry.source, style="dim"), (0, 0, 0, 6)))
        console.print()
