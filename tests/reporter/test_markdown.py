"""report.md: it says the same as the terminal, and data cannot become markup in it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from markdown_it import MarkdownIt

from potato_iaa import Corpus, measure
from potato_iaa.measures.registry import ON_REQUEST
from potato_iaa.reporter.markdown import markdown_report
from potato_iaa.reporter.methods import CITATIONS, REQUESTED, citations, methods
from potato_iaa.reporter.safe_text import markdown_safe
from tests.corpora import corpus_of
from tests.golden.projects import PROJECTS, agreement_of

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    '"><script>alert(1)</script>',
    "a|b",
    "[text](javascript:alert(1))",
    "[1](javascript:alert(1))",
    "![x](http://example.org/x.png)",
    "*bold* __bold__ `code` ~~gone~~",
    "# heading",
    "- item",
    "1. item",
    "back\\slash",
    "two\nlines",
    "&lt;",
)


def html(markdown: str) -> str:
    return MarkdownIt("gfm-like", {"linkify": False}).render(markdown)


@pytest.mark.parametrize("name", HOSTILE)
def test_data_stays_text(name: str) -> None:
    cell = html(f"| a |\n| --- |\n| {markdown_safe(name)} |\n")
    item = html(f"- {markdown_safe(name)}\n")
    shown = name.replace("\n", "\\n")
    for rendered in (cell, item):
        tags = set(re.findall(r"<(\w+)", rendered))
        assert tags <= {"table", "thead", "tbody", "tr", "th", "td", "ul", "li"}
        text = re.sub(r"<[^>]+>", "", rendered)
        for escaped, plain in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
            text = text.replace(escaped, plain)
        assert shown in text


def test_names_from_the_data_break_no_table() -> None:
    marks = {"d|1": {"a|b": [(0, 3, "x|y")], "<b>": [(0, 3, "x|y")], "c": []}}
    report = markdown_report(measure(corpus_of(marks), bootstrap=0))
    rendered = html(report)
    assert "<b>" not in rendered
    for table in re.findall(r"<table>.*?</table>", rendered, re.DOTALL):
        rows = re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
        assert len({len(re.findall(r"<t[hd]", row)) for row in rows}) == 1


def test_the_methods_name_what_was_asked_for_and_what_was_set_aside() -> None:
    spans = [("d1", "ann", 0, 3, "PER"), ("d1", "ann", 0, 3, "PER"), ("d1", "ben", 0, 3, "PER")]
    corpus = Corpus.from_tables(items=[("d1", "Ada met")], passes=[], spans=spans)
    options: dict[str, Any] = {"rules": ["terms"], "measures": ["cohen", "gamma"], "audit": False}
    agreement = measure(corpus, bootstrap=0, **options)
    paragraphs = " ".join(methods(agreement, agreement.schemes["spans"]))
    assert "Of 3 spans read in the whole project 1 were set aside: duplicate" in paragraphs
    asked = "F1 under the rule terms; Cohen's kappa of the tokens (Cohen 1960); gamma (Mathet"
    assert f"Asked for and in the tables: {asked}" in paragraphs
    assert "in which nothing was marked" not in paragraphs
    works = " ".join(citations(agreement))
    assert "Mathet, Y., Widlöcher, A., & Métivier" in works
    assert {*REQUESTED} == {*ON_REQUEST} <= {*CITATIONS}


def test_no_interval_of_a_single_item_is_quoted() -> None:
    corpus = Corpus.from_tables(
        items=[("d1", "Ada met"), ("d2", "Ben met")],
        passes=[("d1", "ann"), ("d1", "ben"), ("d2", "ben")],
        spans=[("d1", "ann", 0, 3, "PER"), ("d1", "ben", 4, 7, "PER")],
    )
    agreement = measure(corpus, audit=False)
    paragraphs = " ".join(methods(agreement, agreement.schemes["spans"]))
    assert "F1 is 0.00 (population SD" in paragraphs
    assert "nterval" not in paragraphs


@pytest.mark.parametrize("project", PROJECTS)
def test_the_methods_name_this_runs_choices(project: str) -> None:
    report = markdown_report(agreement_of(project))
    for words in (
        "Hripcsak & Rothschild (2005)",
        "Krippendorff 2011",
        "1,000 resamples, seed 0",
        "policy “seen”",
        "unweighted mean over pairs",
        "10.1197/jamia.M1733",
    ):
        assert words in report
    assert agreement_of(project).signature in report
