"""The report in a real browser: it is quiet, it sorts, filters and prints, and is accessible."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from tests.browser.chromium import printed, requests
from tests.browser.conftest import PAGES, Reader

pytestmark = pytest.mark.browser

AXE = Path(os.environ.get("AXE_CORE", Path(__file__).parents[2] / "build" / "axe.min.js"))
RUN_AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"]}).then((result) => done(JSON.stringify(
  result.violations.map((found) => [found.impact, found.id, found.nodes.slice(0, 3).map(
    (node) => node.html)]))), (fault) => done(JSON.stringify([["critical", String(fault), []]])));
"""


@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize("name", PAGES)
def test_the_page_says_nothing_and_asks_for_nothing(reader: Reader, name: str, text: bool) -> None:
    address = reader.open(name, text=text)
    for button in reader.driver.find_elements(By.CSS_SELECTOR, "button")[:3]:
        reader.driver.execute_script("arguments[0].click()", button)
    assert reader.driver.get_log("browser") == []
    assert requests(reader.driver) == [address]


def test_the_policy_holds(reader: Reader) -> None:
    reader.open("pii_spans")
    reader.driver.execute_script(
        "const image = document.createElement('img'); image.alt = ''; image.src = 'file:///x.png';"
        "document.body.append(image);"
        "const code = document.createElement('script'); code.textContent = 'document.title = 1';"
        "document.body.append(code);"
    )
    told = [entry["message"] for entry in reader.driver.get_log("browser")]
    assert len(told) == 2
    assert all("Content Security Policy" in message for message in told)
    assert reader.driver.title.startswith("Span agreement: ")


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_wider_than_the_window(reader: Reader, name: str, width: int) -> None:
    reader.open(name, width=width)
    assert reader.driver.execute_script(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


def test_a_table_is_sorted_with_the_keyboard(reader: Reader) -> None:
    reader.open("pii_spans")
    table = next(
        table
        for table in reader.driver.find_elements(By.CSS_SELECTOR, "table.sortable")
        if "Annotators, lowest" in table.text
    )
    heads = table.find_elements(By.CSS_SELECTOR, "thead th")
    place = next(place for place, head in enumerate(heads) if head.text.startswith("mean length"))

    def column() -> list[float]:
        rows = table.find_elements(By.CSS_SELECTOR, "tbody tr")
        return [float(row.find_elements(By.CSS_SELECTOR, "th, td")[place].text) for row in rows]

    before = column()
    button = heads[place].find_element(By.TAG_NAME, "button")
    button.send_keys(Keys.ENTER)
    assert column() == sorted(before) != before
    assert heads[place].get_attribute("aria-sort") == "ascending"
    button.send_keys(Keys.SPACE)
    assert column() == sorted(before, reverse=True)
    assert heads[place].get_attribute("aria-sort") == "descending"


def test_dashes_are_sorted_to_the_end(reader: Reader) -> None:
    reader.open("crowd")
    table = next(
        table
        for table in reader.driver.find_elements(By.CSS_SELECTOR, "table.sortable")
        if table.find_element(By.TAG_NAME, "caption").text.startswith("Pairs, lowest")
    )
    button = table.find_elements(By.CSS_SELECTOR, "thead button")[7]
    for _ in range(2):
        reader.driver.execute_script("arguments[0].click()", button)
        cells = [
            cell.get_attribute("textContent")
            for cell in table.find_elements(By.CSS_SELECTOR, "tbody td:nth-child(8)")
        ]
        dashes = cells.count("—")
        assert 0 < dashes < len(cells)
        assert set(cells[-dashes:]) == {"—"}


def test_the_browser_filters(reader: Reader) -> None:
    reader.open("pii_spans")
    form = reader.driver.find_element(By.CSS_SELECTOR, ".filters")
    told = form.find_element(By.TAG_NAME, "output")

    def choose(name: str, option: str) -> None:
        select = Select(form.find_element(By.CSS_SELECTOR, f"[data-filter={name}]"))
        select.select_by_visible_text(option)

    def shown() -> list[str]:
        rows = reader.driver.find_elements(By.CSS_SELECTOR, ".disputes tbody tr")
        return [row.text for row in rows if row.is_displayed()]

    everything = shown()
    assert told.text.startswith(f"{len(everything)} of {len(everything)} ")
    choose("kind", "boundary+label")
    assert 0 < len(shown()) < len(everything)
    assert all(row.startswith("boundary+label") for row in shown())
    choose("label", "location")
    assert all("location" in row for row in shown())
    choose("one", "amara")
    choose("other", "bjorn")
    assert all("amara" in row and "bjorn" in row for row in shown())
    assert told.text.startswith(f"{len(shown())} of {len(everything)} ")
    for article in reader.driver.find_elements(By.CSS_SELECTOR, "article"):
        rows = article.find_elements(By.CSS_SELECTOR, "tbody tr")
        assert article.is_displayed() == any(row.is_displayed() for row in rows)
    for name in ("kind", "label", "one", "other"):
        choose(name, "any")
    assert shown() == everything


def test_without_scripts_everything_is_there(reader: Reader) -> None:
    reader.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        reader.open("pii_spans")
        rows = reader.driver.find_elements(By.CSS_SELECTOR, ".disputes tbody tr")
        assert rows
        assert all(row.is_displayed() for row in rows)
        assert not reader.driver.find_element(By.CSS_SELECTOR, ".filters").is_displayed()
        assert not reader.driver.find_elements(By.CSS_SELECTOR, "th button")
    finally:
        reader.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("name", PAGES)
def test_the_page_prints(reader: Reader, name: str) -> None:
    reader.open(name, scheme="dark")
    content = printed(reader.driver)
    assert content.startswith(b"%PDF-")
    assert len(content) > 20_000


def test_print_is_dark_on_light_a4_without_controls(reader: Reader) -> None:
    reader.open("pii_spans", scheme="dark")
    command = {
        "media": "print",
        "features": [{"name": "prefers-color-scheme", "value": "dark"}],
    }
    reader.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", command)
    try:
        assert background(reader) == "rgb(255, 255, 255)"
        for selector in ("nav", ".filters", ".copy"):
            assert not reader.driver.find_element(By.CSS_SELECTOR, selector).is_displayed()
    finally:
        reader.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_dark_is_dark(reader: Reader) -> None:
    reader.open("pii_spans")
    assert background(reader) == "rgb(255, 255, 255)"
    reader.open("pii_spans", scheme="dark")
    assert max(map(int, background(reader)[4:-1].split(","))) < 60


def test_lanes_lie_beneath_what_they_cover(reader: Reader) -> None:
    reader.open("scripts")
    drawn = reader.driver.execute_script(
        "return Array.from(document.querySelectorAll('.text .s')).map((piece) => {"
        "const style = getComputedStyle(piece);"
        "return [piece.className, style.backgroundImage.split('linear-gradient').length - 1,"
        "style.paddingLeft, style.marginLeft, style.borderLeftWidth, style.display]})"
    )
    assert drawn
    for _, layers, *widths, display in drawn:
        assert layers >= 2
        # A piece with a width of its own would tear letters apart that join.
        assert (widths, display) == (["0px", "0px", "0px"], "inline")


def test_right_to_left_texts_begin_on_the_right(reader: Reader) -> None:
    reader.open("scripts")
    directions = reader.driver.execute_script(
        "return Object.fromEntries(Array.from(document.querySelectorAll('article')).map((one) =>"
        "[one.querySelector('h4 bdi').textContent,"
        "getComputedStyle(one.querySelector('.text')).direction]))"
    )
    assert directions["arabic"] == "rtl"
    assert directions["hindi"] == "ltr"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_everybody_can_use_it(reader: Reader, name: str, scheme: str) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not there: .ci/run fetches it where npm is installed")
    reader.open(name, scheme=scheme)
    reader.driver.set_script_timeout(120)
    reader.driver.execute_script(AXE.read_text("utf-8"))
    violations = json.loads(reader.driver.execute_async_script(RUN_AXE))
    assert [found for found in violations if found[0] in ("serious", "critical")] == []


def background(reader: Reader) -> str:
    colour: str = reader.driver.execute_script(
        "return getComputedStyle(document.body).backgroundColor"
    )
    return colour
