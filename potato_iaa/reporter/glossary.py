"""The glossary: every measure with its definition and source, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding

from potato_iaa.measures.registry import KINDS, REGISTRY
from potato_iaa.reporter.terminal import Page, typeset

HEADINGS = {
    "rule": "Match rules of F1 (--rule), each typed and untyped",
    "average": "Averages of F1",
    "loss": "What the exact, typed F1 loses",
    "coefficient": "Coefficients (--measure for those on request)",
}


def glossary(page: Page) -> str:
    """The registry, one entry per measure, under the heading of its kind."""
    return typeset(_blocks(page), page)


def _blocks(page: Page) -> Iterator[RenderableType]:
    for kind in KINDS:
        yield page.text(HEADINGS[kind], "bold")
        for entry in REGISTRY:
            if entry.kind == kind:
                made = "" if entry.made == "always" else "  (on request)"
                yield Padding(page.text(f"{entry.name}{made}", "cyan"), (0, 0, 0, 2))
                yield Padding(page.text(entry.definition), (0, 0, 0, 6))
                yield Padding(page.text(entry.source, "dim"), (0, 0, 0, 6))
        yield page.text("")
