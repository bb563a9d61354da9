"""The terminal report: whatever the width, the encoding and the data, it stays readable."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len

from potato_iaa import Agreement, Corpus, measure
from potato_iaa.measures.estimate import Estimate
from potato_iaa.reporter.terminal import Page, page_of, terminal_report
from tests.corpora import corpus_of
from tests.golden.projects import PROJECTS, agreement_of

HOSTILE = "\x1b[31mred\x9b2J\u202egnirts\u2066\x07"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def hostile_agreement() -> Agreement:
    corpus = Corpus.from_tables(
        items=[(HOSTILE, "Ada met Grace."), ("d2", "Ben")],
        passes=[(HOSTILE, "ann\n"), (HOSTILE, HOSTILE), ("d2", "ann\n"), ("d2", HOSTILE)],
        spans=[
            (HOSTILE, "ann\n", 0, 3, HOSTILE),
            (HOSTILE, HOSTILE, 0, 7, "[bold]PER[/bold]"),
            ("d2", HOSTILE, 0, 3, "東京"),
        ],
        name=HOSTILE,
    )
    return measure(corpus, bootstrap=20)


def narrow_interval(value: float) -> Estimate:
    return Estimate(value, low=value - 0.005, high=value + 0.005, n=1, of=1)


@pytest.mark.parametrize("width", [60, 100])
def test_longer_figures_leave_room_for_the_scale(width: int) -> None:
    agreement = agreement_of("pii_spans")
    scheme = agreement.schemes["pii_spans"]
    token = replace(scheme.token, alpha=narrow_interval(-0.3))
    changed = replace(agreement, schemes={"pii_spans": replace(scheme, token=token)})
    report = terminal_report(changed, Page(width=width))
    assert "-0.300  [-0.305, -0.295]" in report
    assert re.search(r"\n +(-\.5 .*)?0 .*1\n", report)
    assert "…" not in report


@pytest.mark.parametrize("width", [60, 72, 80, 92, 100])
@pytest.mark.parametrize("project", PROJECTS)
def test_no_line_is_wider_than_the_page(project: str, width: int) -> None:
    report = terminal_report(agreement_of(project), Page(width=width))
    assert max(cell_len(line) for line in report.splitlines()) <= width
    assert all(line == line.rstrip() for line in report.splitlines())


def test_narrow_pages_keep_the_figures() -> None:
    report = terminal_report(agreement_of("pii_spans"), Page(width=60))
    wide = terminal_report(agreement_of("pii_spans"))
    headline = re.search(r"F1 exact, typed +(\S+) +(\[.+?\])", wide)
    assert headline
    assert report.count(headline[2]) >= 2
    for name in ("amara", "bjorn", "chidi", "dalia", "emil"):
        assert name in report


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp437", "utf-8"])
def test_every_encoding_can_carry_the_report(encoding: str) -> None:
    for agreement in (agreement_of("scripts"), hostile_agreement()):
        terminal_report(agreement, Page(encoding=encoding)).encode(encoding)


def test_an_ascii_page_draws_with_ascii_and_says_the_same() -> None:
    plain = terminal_report(agreement_of("pii_spans"), Page(encoding="ascii"))
    drawn = terminal_report(agreement_of("pii_spans"))
    numbers = re.compile(r"\d\.\d\d")
    assert numbers.findall(plain) == numbers.findall(drawn)
    assert plain.isascii()


def test_control_characters_of_the_data_are_written_out() -> None:
    report = terminal_report(hostile_agreement())
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", report)
    assert "\\x1b[31mred\\x9b2J\\u202egnirts" in report
    assert "ann\\n" in report


def test_markup_in_the_data_is_text() -> None:
    assert "[bold]PER[/bold]" in terminal_report(hostile_agreement())


def test_only_a_terminal_gets_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    agreement = agreement_of("pii_spans")
    assert "\x1b[" not in terminal_report(agreement, page_of(io.StringIO()))
    assert "\x1b[" in terminal_report(agreement, page_of(Terminal()))
    coloured = terminal_report(agreement, page_of(Terminal()))
    monkeypatch.setenv("NO_COLOR", "1")
    bare = terminal_report(agreement, page_of(Terminal()))
    colours = re.compile(r"\x1b\[[0-9;]*3[0-9][0-9;]*m")
    assert colours.search(coloured)
    assert not colours.search(bare)


@pytest.mark.parametrize(("columns", "width"), [("40", 60), ("75", 75), ("250", 100), (None, 100)])
def test_a_page_has_60_to_100_columns(
    monkeypatch: pytest.MonkeyPatch, columns: str | None, width: int
) -> None:
    if columns is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", columns)
    assert page_of(io.StringIO()).width == width


def test_the_report_reads_top_down() -> None:
    report = terminal_report(agreement_of("pii_spans"))
    places = [
        report.index(heading)
        for heading in (
            "Span agreement: ",
            "scheme pii_spans",
            "F1 exact, typed",
            "On one scale",
            "token alpha",
            "What to fix",
            "missing to full agreement\n  existence",
            "Labels, lowest",
            "Annotators, lowest",
            "Pairs, lowest",
            "Ledger",
            "Signature",
        )
    ]
    assert places == sorted(places)


def test_what_is_undefined_is_a_dash_with_its_reason() -> None:
    marks = {"d1": {"A": [], "B": [], "C": [(0, 3, "x")]}}
    report = terminal_report(measure(corpus_of(marks), bootstrap=0))
    assert "— nothing marked by either: A and B" in report
    assert "nan" not in report.lower()
    assert "no intervals" in report


def test_nothing_shared_still_gives_a_page() -> None:
    marks: dict[str, Any] = {"d1": {"A": [(0, 3, "x")]}, "d2": {"B": [(0, 3, "x")]}}
    report = terminal_report(measure(corpus_of(marks), bootstrap=0))
    assert "no shared items" in report


def test_many_rows_are_cut_to_both_ends_and_say_where_the_rest_is() -> None:
    people = [f"p{number:02}" for number in range(30)]
    marks = {
        "d1": {who: [(0, 3, f"label {number:02}")] for number, who in enumerate(people)},
        "d2": {who: [(0, 3 + number % 3, "x")] for number, who in enumerate(people)},
    }
    report = terminal_report(measure(corpus_of(marks), bootstrap=10))
    assert "423 more rows in tables/pairs.csv" in report
    assert "18 more rows in tables/annotators.csv" in report
    assert "19 more rows in tables/labels.csv" in report
    assert len(report.splitlines()) < 160
    # Where they lie.
    assert report.count("\n  …\n") == 3


@pytest.mark.parametrize("width", [60, 80, 100])
def test_columns_without_room_are_named(width: int) -> None:
    report = terminal_report(agreement_of("pii_spans"), Page(width=width))
    pairs = report[report.index("Pairs, lowest F1 first") :]
    pairs = pairs[: pairs.index("\n\n")]
    for title in ("spans a", "spans b", "matched", "P of b", "R of b"):
        assert title in pairs
    assert ("no room for: " in pairs) == (width < 92)


def test_no_figure_shows_more_than_three_decimals() -> None:
    for project in PROJECTS:
        report, _ = terminal_report(agreement_of(project)).split("Signature")
        # The audit alone shows six, so that the two coefficients can be seen to be equal.
        figures = re.sub(r"\d\.\d{6}\s+(?:there|here)", "", report)
        assert not re.search(r"\d\.\d{4}", figures)
