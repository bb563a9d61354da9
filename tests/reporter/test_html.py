"""report.html: nothing in it is markup that came from data, it needs nothing, and stays small."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from itertools import pairwise
from typing import Any

import pytest

from potato_iaa import Corpus, measure
from potato_iaa.reporter import html as html_module
from potato_iaa.reporter.contested import MOST_ITEMS, contested
from potato_iaa.reporter.disagreement_browser import browser
from potato_iaa.reporter.f1_tables import label_table, pair_table
from potato_iaa.reporter.html import html_report
from potato_iaa.reporter.markdown import markdown_report
from tests.corpora import corpus_of
from tests.golden.projects import PROJECTS, agreement_of
from tests.reporter.crowds import crowd
from tests.reporter.pages import ANNOTATOR, BIDI, ITEM, LABEL, TEXT, Page, hostile, parse

LIMIT = 1_500_000


@pytest.fixture(scope="module", params=[*PROJECTS, "hostile"])
def page(request: pytest.FixtureRequest) -> Page:
    agreement = hostile() if request.param == "hostile" else agreement_of(request.param)
    return parse(html_report(agreement, text=True))


def test_data_is_never_markup() -> None:
    html = html_report(hostile(), text=True)
    page = parse(html)
    assert not page.all("img")
    assert [script.attributes.get("type") for script in page.all("script")] == [
        "application/json",
        None,
    ]
    for element in page.elements:
        assert not any(name.startswith("on") for name in element.attributes), element
    assert "49" not in page.all("bdi")[0].text
    texts = "".join(element.text for element in page.all("main"))
    for shown in (LABEL, ANNOTATOR, ITEM, "{{ 7*7 }}", "'; alert(4); '"):
        assert shown in texts
    assert "</script><script>alert(3)</script>" in texts
    assert "<script>alert(5)</script>" in page.all("h1")[0].text


def test_control_characters_are_written_out() -> None:
    html = html_report(hostile(), text=True)
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", html
    )
    assert f"ben{BIDI}".encode("unicode_escape").decode() + "\\n" in html
    assert '<span class="ctl">\\u202e</span>' in html


def test_no_script_data_ends_its_element() -> None:
    for script in parse(html_report(hostile(), text=True)).all("script")[:-1]:
        assert "<" not in script.text
        json.loads(script.text)


def test_everything_is_in_the_page(page: Page) -> None:
    for element in page.elements:
        for name in ("src", "srcset", "action", "formaction", "background", "style", "xlink:href"):
            assert name not in element.attributes, element
        assert (element.attributes.get("href") or "#").startswith("#")
        assert element.name not in ("link", "iframe", "object", "embed", "base", "form") or (
            element.name == "form" and "action" not in element.attributes
        )
    style = page.all("style")[0].text
    assert "url(" not in style
    assert "@import" not in style


def test_the_policy_allows_this_style_and_this_script_alone(page: Page) -> None:
    policy = next(
        element.attributes["content"]
        for element in page.all("meta")
        if element.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    allowed = dict(part.strip().split(" ", 1) for part in str(policy).split(";"))
    for directive, content in (
        ("style-src", page.all("style")[0].text),
        ("script-src", page.all("script")[-1].text),
    ):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert allowed[directive] == f"'sha256-{digest}'"
    assert allowed["default-src"] == allowed["base-uri"] == allowed["form-action"] == "'none'"


def test_references_lead_somewhere(page: Page) -> None:
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    for element in page.elements:
        for name in ("href", "aria-labelledby", "data-copy"):
            if element.attributes.get(name):
                assert str(element.attributes[name]).removeprefix("#") in ids


def test_tables_have_captions_and_scopes(page: Page) -> None:
    assert len(page.all("caption")) == len(page.all("table"))
    assert all(head.attributes.get("scope") in ("col", "row") for head in page.all("th"))
    assert page.all("html")[0].attributes["lang"] == "en"


def test_pictures_have_words(page: Page) -> None:
    for picture in page.all("svg"):
        hidden = picture.attributes.get("aria-hidden") == "true"
        named = picture.attributes.get("role") == "img" and picture.attributes.get("aria-label")
        assert hidden or named


def test_headings_step_down_one_at_a_time(page: Page) -> None:
    levels = [int(element.name[1]) for element in page.elements if re.match(r"h\d$", element.name)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("project", PROJECTS)
def test_the_page_says_what_markdown_says(project: str) -> None:
    agreement = agreement_of(project)
    page = parse(html_report(agreement))
    cells = {" ".join(element.text.split()) for element in (*page.all("td"), *page.all("th"))}
    for scheme in agreement.schemes.values():
        for table in (pair_table(scheme, limit=60), label_table(scheme, limit=60)):
            assert {cell for row in table.rows for cell in row} - {""} <= cells
    assert re.findall(r"doi\.org/\S+", markdown_report(agreement))[0] in page.all("main")[0].text
    signature = next(element for element in page.all("code"))
    assert signature.text == agreement.signature


def test_text_appears_only_on_request() -> None:
    agreement = measure(
        corpus_of(
            {"d1": {"A": [(0, 5, "x")], "B": [(6, 12, "x")]}}, texts={"d1": "Grace Hopper wrote."}
        ),
        bootstrap=0,
    )
    without, with_text = html_report(agreement), html_report(agreement, text=True)
    for secret in ("Grace", "Hopper", "wrote"):
        assert secret not in without
        assert secret in with_text
    assert "0–5" in without


@pytest.mark.parametrize("text", [True, False])
def test_a_crowd_stays_readable_and_small(text: bool) -> None:
    agreement = measure(crowd(), bootstrap=10)
    html = html_report(agreement, text=text)
    assert len(html.encode()) < LIMIT
    page = parse(html)
    drawn = [e for e in page.all("svg") if "scale" in str(e.attributes.get("class"))]
    assert len(drawn) < 80
    assert "176 more rows" in " ".join(page.all("main")[0].text.split())
    assert html.count("annotator-000</bdi></th>") >= 2


def test_ten_thousand_items_stay_small() -> None:
    corpus = crowd(annotators=3, items=10_000, per_item=2, labels=5, spans=2, words=12)
    agreement = measure(corpus, bootstrap=0)
    html = html_report(agreement, text=True)
    assert len(html.encode()) < LIMIT
    told = " ".join(parse(html).all("main")[0].text.split())
    assert re.search(
        rf"The {MOST_ITEMS} most contested of \d,\d\d\d items with disagreements", told
    )
    assert "tables/disagreements.csv" in told


def test_long_texts_end_the_browser_before_the_page_grows() -> None:
    corpus = crowd(annotators=12, items=30, per_item=12, labels=8, spans=60, words=200)
    agreement = measure(corpus, bootstrap=0)
    scheme = agreement.schemes["spans"]
    shown = browser(agreement, scheme, text=True, most=200_000)
    assert 1 <= shown.items < shown.of
    assert sum(len(entry.drawn) for entry in shown.entries) < 250_000


def test_the_page_is_the_same_every_time() -> None:
    agreement = agreement_of("two_schemes")
    assert html_report(agreement, text=True) == html_report(agreement, text=True)
    again = measure(crowd(items=20), bootstrap=5)
    assert html_report(again) == html_report(measure(crowd(items=20), bootstrap=5))


def test_most_contested_come_first_and_no_disagreement_is_lost() -> None:
    agreement = agreement_of("pii_spans")
    scheme = agreement.schemes["pii_spans"]
    fields = list(contested(agreement, scheme))
    values = [field.value for field in fields]
    assert values == sorted(values)
    pairs = sum(len(dispute.pairs) for field in fields for dispute in field.disputes)
    assert pairs == len(scheme.disagreements)


def test_whoever_marked_nothing_has_a_lane() -> None:
    marks: dict[str, Any] = {"d1": {"A": [(0, 3, "x")], "B": [], "C": [(0, 3, "x")]}}
    agreement = measure(corpus_of(marks), bootstrap=0)
    (field,) = contested(agreement, agreement.schemes["spans"])
    assert [(lane.annotator, len(lane.marks)) for lane in field.lanes] == [
        ("A", 1),
        ("B", 0),
        ("C", 1),
    ]
    (dispute,) = field.disputes
    assert [(side.label, side.who) for side in dispute.sides] == [("x", ("A", "C")), (None, ("B",))]
    assert dispute.pairs == (("A", "B"), ("C", "B"))


def test_systems_stand_beside_the_humans_and_below_their_lanes() -> None:
    who = ("ann", "ben", "system")
    corpus = Corpus.from_tables(
        items=[("d1", "Ada met Grace."), ("d2", "Ben")],
        passes=[(item, name) for item in ("d1", "d2") for name in who],
        spans=[("d1", "ann", 0, 3, "x"), ("d1", "ben", 0, 7, "x"), ("d1", "system", 8, 13, "x")],
        roles={"system": "system"},
    )
    agreement = measure(corpus, bootstrap=0)
    (field,) = contested(agreement, agreement.schemes["spans"])
    assert [lane.annotator for lane in field.lanes] == ["ann", "ben", "system"]
    told = parse(html_report(agreement, text=True)).all("main")[0].text
    assert "Systems and gold standards beside the humans" in told


def test_what_is_undefined_has_a_page_too() -> None:
    nothing: dict[str, Any] = {"d1": {"A": [(0, 3, "x")]}, "d2": {"B": [(0, 3, "x")]}}
    page = parse(html_report(measure(corpus_of(nothing), bootstrap=0), text=True))
    told = " ".join(page.all("main")[0].text.split())
    assert "There is no figure to give: no shared items." in told
    assert "Nobody disagrees on anything." in told
    assert "nan" not in told.lower().split()


def test_full_agreement_has_a_page_too() -> None:
    marks = {"d1": {"A": [(0, 3, "x")], "B": [(0, 3, "x")], "C": [(0, 3, "x")]}}
    told = parse(html_report(measure(corpus_of(marks), bootstrap=5))).all("main")[0].text
    assert "Nothing to fix" in told
    assert "Nobody disagrees on anything." in told


def test_warnings_that_matter_come_before_the_figures() -> None:
    html = html_report(agreement_of("two_schemes"))
    warned = html.index("overlap in 5 passes")
    assert warned < html.index("Agreement on one scale", html.index('id="s2"'))
    # What was set aside are copies of discontinuous spans: no span is lost.
    assert "in no figure" not in html


def test_questions_about_whole_items_have_their_section() -> None:
    page = parse(html_report(agreement_of("two_schemes")))
    assert "Questions about whole items" in page.all("main")[0].text
    single = parse(html_report(agreement_of("pii_spans")))
    assert "Questions about whole items" not in single.all("main")[0].text


def test_templates_and_assets_are_shipped() -> None:
    for name in ("report.css", "report.js"):
        assert html_module._asset(name)
        assert "</" not in html_module._asset(name)


def test_no_page_needs_matplotlib() -> None:
    script = (
        "import sys; from potato_iaa import Corpus, measure;"
        "from potato_iaa.reporter.files import report_files;"
        "corpus = Corpus.from_tables(items=[('d', 'Ada')], passes=[('d', 'A'), ('d', 'B')],"
        " spans=[('d', 'A', 0, 3, 'x')]);"
        "report_files(measure(corpus, bootstrap=0));"
        "sys.exit('matplotlib' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_text_that_is_markup_is_shown_whole() -> None:
    shown = parse(html_report(hostile(), text=True))
    laid = [e for e in shown.all("div") if e.attributes.get("class") == "text"]
    expected = TEXT.replace(BIDI, "\\u202e").replace("\x07", "\\x07")
    assert expected in [element.text for element in laid]
