"""Figures for papers: sound SVG and PDF with their letters in them, the same bytes every time."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from potato_iaa import Agreement, Corpus, measure
from potato_iaa.reporter.figures import figure_files
from potato_iaa.reporter.files import report_files
from tests.corpora import corpus_of
from tests.golden.projects import agreement_of
from tests.reporter.crowds import crowd
from tests.reporter.pages import hostile

ALL = {"scale", "lost", "labels", "annotators", "pairs", "drift", "items", "boundaries"}


@pytest.fixture(scope="module")
def drawn() -> dict[str, bytes]:
    return figure_files(agreement_of("pii_spans"))


def test_every_figure_is_there_twice(drawn: dict[str, bytes]) -> None:
    assert set(drawn) == {f"{name}.{ending}" for name in ALL for ending in ("svg", "pdf")}


def test_svg_holds_its_letters_and_needs_nothing(drawn: dict[str, bytes]) -> None:
    for name, content in drawn.items():
        if name.endswith(".svg"):
            root = ElementTree.fromstring(content)
            tags = {element.tag.rsplit("}")[-1] for element in root.iter()}
            assert "text" not in tags
            assert "script" not in tags
            for element in root.iter():
                for key, value in element.attrib.items():
                    assert not key.endswith("href") or value.startswith("#")


def test_pdf_embeds_its_fonts(drawn: dict[str, bytes]) -> None:
    for name, content in drawn.items():
        if name.endswith(".pdf"):
            assert b"/FontFile2" in content


def test_the_bytes_are_the_same_every_time(drawn: dict[str, bytes]) -> None:
    assert figure_files(agreement_of("pii_spans")) == drawn
    assert not any(
        b"CreationDate" in content or b"<dc:date>" in content for content in drawn.values()
    )


def test_no_name_of_a_rule_is_cut() -> None:
    corpus = corpus_of({"d1": {"a": [(0, 3, "X")], "b": [(0, 3, "X")]}})
    agreement = measure(corpus, rules=["overlap(containment>=0.333)"], bootstrap=0, audit=False)
    # What is drawn as paths stands beside them as a comment.
    scale = figure_files(agreement)["scale.svg"].decode()
    assert "containment" in scale
    assert "…" not in scale


@pytest.mark.parametrize("agreement", [hostile()], ids=["hostile"])
def test_no_name_stops_the_drawing(agreement: Agreement) -> None:
    for name, content in figure_files(agreement).items():
        if name.endswith(".svg"):
            ElementTree.fromstring(content)


def test_dollars_scripts_and_boxes_are_names() -> None:
    marks = {
        "d1": {"$x_1$": [(0, 3, r"\frac{1}{2}")], "東京": [(0, 4, "$a$")], "\u0b95": [(0, 3, "ש")]}
    }
    assert figure_files(measure(corpus_of(marks), bootstrap=5))


def test_a_crowd_is_drawn_by_its_ends() -> None:
    names = set(figure_files(measure(crowd(items=40), bootstrap=5)))
    assert "annotators.svg" in names
    assert "pairs.svg" not in names


def test_several_schemes_have_names_of_their_own() -> None:
    names = {name.rsplit(".")[0] for name in figure_files(agreement_of("two_schemes"))}
    assert {"entities_scale", "mentions_scale"} <= names


def test_figures_are_drawn_when_asked_for() -> None:
    agreement = agreement_of("pii_spans")
    assert not any(name.startswith("figures/") for name in report_files(agreement))
    assert set(report_files(agreement, formats=("figures",))) == {
        f"figures/{name}.{ending}" for name in ALL for ending in ("svg", "pdf")
    }


def test_nothing_to_draw_is_no_error() -> None:
    corpus = Corpus.from_tables(items=[("d1", "Ada")], passes=[("d1", "A")], spans=[])
    assert "scale.svg" in figure_files(measure(corpus, bootstrap=0))
