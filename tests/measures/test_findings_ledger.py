"""What the ledger says in words: spans that were lost, passes they emptied, files left unread."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from potato_iaa import Agreement, Corpus, measure, read_project
from potato_iaa.ledger import UNREADABLE, Ledger
from potato_iaa.loaders.opening import LARGEST_FILE
from potato_iaa.measures.findings import Finding, all_findings, findings
from tests.loaders.projects import span, state, write_project

OUTSIDE = "outside the text"
SCHEMES = ("colours", "names")
PEOPLE = ("ann", "ben")


@cache
def agreement() -> Agreement:
    """``names`` and ``colours``; in d2 ann's only span of ``names`` is in the field ``body``."""
    fields = ("title", "body")
    spans = [
        ("d1", "title", "ann", 0, 3, "X", "names"),
        ("d2", "body", "ann", 0, 3, "X", "names"),
        ("d2", "title", "ann", 0, 3, "X", "colours"),
        ("d1", "title", "ben", 0, 3, "X", "names"),
    ]
    corpus = Corpus.from_tables(
        items=pd.DataFrame(
            [(item, field, "Ada met") for item in ("d1", "d2") for field in fields],
            columns=["item", "field", "text"],
        ),
        passes=pd.DataFrame(
            [(item, field, who) for item in ("d1", "d2") for field in fields for who in PEOPLE],
            columns=["item", "field", "annotator"],
        ),
        spans=pd.DataFrame(
            spans, columns=["item", "field", "annotator", "start", "end", "label", "scheme"]
        ),
    )
    return measure(corpus, bootstrap=0, audit=False)


def entry(reason: str = OUTSIDE, **changed: Any) -> dict[str, Any]:
    """A span that was set aside; ann has others in the same field of the same item."""
    usual = {"outcome": "set_aside", "reason": reason, "annotator": "ann", "scheme": "names"}
    place = {"item": "d1", "field": "title", "label": "X", "start": 0, "end": 99, "text": None}
    return usual | place | changed


def told(
    entries: Iterable[dict[str, Any]] = (),
    *,
    read: int = 1000,
    scheme: str = "names",
    unreadable: Iterable[str] = (),
    **more_read: int,
) -> list[Finding]:
    """What is said of ``scheme`` where so many spans of ``names`` were read, and of others."""
    ledger = Ledger.from_rows(
        read=[
            {"annotator": "ann", "scheme": name, "read": spans}
            for name, spans in {"names": read, **more_read}.items()
        ],
        entries=entries,
        left_out=[
            {"what": UNREADABLE, "name": name, "reason": "x: is cut off.", "spans": 0}
            for name in unreadable
        ],
    )
    of_all = replace(agreement(), ledger=ledger)
    figures = of_all.schemes[scheme]
    found = all_findings(of_all, figures)
    own = len(found) - len(findings(figures))
    assert found[own:] == findings(figures)
    assert {finding.topic for finding in found[:own]} <= {"ledger"}
    return list(found[:own])


def warned(finding: Finding) -> bool:
    assert finding.weight in ("note", "warning")
    return finding.weight == "warning"


# Spans that were lost -----------------------------------------------------------------------------


def test_nothing_is_said_of_a_ledger_without_losses() -> None:
    assert told() == []


@pytest.mark.parametrize(
    "harmless",
    [
        entry("duplicate of another span of the pass"),
        entry("an unfinished copy of a discontinuous span"),
        entry(outcome="repaired"),
        entry(scheme="colours"),
    ],
)
def test_copies_and_repairs_and_spans_of_other_schemes_are_no_loss(
    harmless: dict[str, Any],
) -> None:
    assert told([harmless]) == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_span_of_a_scheme_that_is_not_measured_is_told_with_every_scheme(scheme: str) -> None:
    finding, *_ = told([entry(scheme="nmes")], scheme=scheme, read=10, nmes=5, colours=20)
    read = {"names": 15, "colours": 25}[scheme]
    assert finding.text == f"1 span is in no figure, of {read} read: outside the text (1)."


@pytest.mark.parametrize(("lost", "warning"), [(2, False), (3, True)])
def test_more_than_one_lost_span_in_fifty_is_a_warning(lost: int, warning: bool) -> None:
    (finding,) = told([entry()] * lost, read=100)
    assert warned(finding) == warning
    assert finding.text == f"{lost} spans are in no figure, of 100 read: outside the text ({lost})."


@pytest.mark.parametrize(("lost", "first"), [(50, False), (51, True)])
def test_where_most_spans_are_lost_reading_comes_before_annotators(lost: int, first: bool) -> None:
    found = told([entry()] * lost, read=100)
    assert warned(found[0])
    assert [finding.weight for finding in found[1:]] == ["main"] * first
    text = (
        "Begin with the reading: most spans are in no figure, and what is said here of the "
        "annotators is said of the others alone. See with inspect what became of each."
    )
    assert [finding.text for finding in found[1:]] == [text] * first


def test_the_three_reasons_that_cost_most_are_named() -> None:
    counts = {"one": 1, "four": 4, "three": 3, "two": 1200}
    (finding,) = told(
        [entry(reason) for reason, count in counts.items() for _ in range(count)], read=100_000
    )
    assert finding.text == (
        "1,208 spans are in no figure, of 100,000 read: two (1,200); four (4); three (3)."
    )


# Passes that they emptied -------------------------------------------------------------------------

EMPTIED = (
    "empty only because no span there could be kept: what others marked there is disagreement."
)


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ([{}], None),
        ([{"item": "d2"}], "1 pass counts as"),  # beside spans of another field and scheme
        ([{"item": "d2"}, {"item": "d2", "start": 1}], "1 pass counts as"),
        ([{"item": "d2"}, {"field": "body"}], "2 passes count as"),
        ([{"item": "d2", "annotator": "zoe"}], None),  # no annotator of this measurement
        ([{"item": "d3"}], None),  # an item that nobody else read
    ],
)
def test_passes_that_are_empty_because_their_spans_were_lost_are_counted(
    places: list[dict[str, Any]], said: str | None
) -> None:
    found = [
        finding for finding in told(entry(**place) for place in places) if "empty" in finding.text
    ]
    assert [finding.text for finding in found] == ([f"{said} {EMPTIED}"] if said else [])
    assert all(map(warned, found))


def test_a_thousand_emptied_passes_are_written_with_a_comma() -> None:
    _, finding = told([entry(field=f"f{n}") for n in range(1000)], read=2000)
    assert finding.text == f"1,000 passes count as {EMPTIED}"


# Annotators whose files cannot be read ------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "listed"),
    [("b", "“b”"), ("bc", "“b” and “c”"), ("bcde", "“b”, “c” and “d”")],
)
def test_annotators_whose_files_could_not_be_read_are_a_warning(names: str, listed: str) -> None:
    (finding,) = told(unreadable=names)
    assert warned(finding)
    assert finding.text == f"{listed} could not be read, and the figures are those of the others."


def cut_off(file: Path) -> None:
    os.truncate(file, 1)


def enlarged(file: Path) -> None:
    os.truncate(file, LARGEST_FILE + 1)


def moved_out_of_the_project(file: Path) -> None:
    file.symlink_to(file.rename(file.parents[4] / "state.json"))


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege")
@pytest.mark.parametrize("spoil", [cut_off, enlarged, moved_out_of_the_project])
def test_it_does_not_matter_why_a_file_could_not_be_read(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    # The folder above that of the configuration counts as the project's.
    project = tmp_path / "above" / "project"
    config = write_project(project, {who: state({"d1": [span(0, 3)]}) for who in "abc"})
    spoil(project / "annotation_output" / "c" / "user_state.json")
    read = measure(read_project(config, skip_broken=True), bootstrap=0, audit=False)
    (scheme,) = read.schemes.values()
    said = [finding.text for finding in all_findings(read, scheme)]
    assert "“c” could not be read, and the figures are those of the others." in said
