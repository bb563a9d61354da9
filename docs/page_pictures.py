"""Take the README's pictures of report.html in a Chromium: ``python -m docs.page_pictures``."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from PIL import Image
from selenium.webdriver import Chrome

from potato_iaa import measure, read_project
from potato_iaa.reporter.html import html_report
from tests.browser.chromium import chromium, picture, prefer, resize

HERE = Path(__file__).parent
WIDTH = 1000
COLOURS = 96
# Texts in which annotators cut and name differently.
ITEMS = ("note-11", "note-17", "note-26")


def main() -> None:
    """Write the top of the page, and a few texts with their lanes, from ``pii_spans``."""
    agreement = measure(read_project(HERE.parent / "sample_exports" / "pii_spans"))
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(html_report(agreement, text=True), encoding="utf-8")
        with chromium(Path(folder) / "profile") as driver:
            prefer(driver, "light")
            resize(driver, WIDTH, scale=1.5)
            driver.get(page.as_uri())
            _leave_navigation_out(driver)
            _save(picture(driver, height=_bottom(driver, ".legend") + 24), "report_top.png")
            _leave_articles(driver)
            _save(picture(driver, height=_bottom(driver, "main") + 16), "report_texts.png")


def _leave_navigation_out(driver: Chrome) -> None:
    driver.execute_script(
        "document.querySelector('nav').hidden = true;"
        "document.body.style.display = 'block'; document.body.style.padding = '0 2rem';"
        "document.querySelector('header').style.paddingTop = '1.2rem';"
        "document.documentElement.style.overflow = 'hidden'"
    )


def _leave_articles(driver: Chrome) -> None:
    driver.execute_script(
        "const main = document.querySelector('main');"
        "const kept = [document.querySelector('.keys'), ...Array.from("
        "document.querySelectorAll('article')).filter((article) =>"
        "arguments[0].includes(article.querySelector('h4 bdi').textContent))];"
        "main.replaceChildren(...kept);"
        "document.querySelector('header').hidden = true;"
        "document.querySelector('footer').hidden = true;"
        "document.body.style.padding = '1rem 2rem';",
        list(ITEMS),
    )


def _bottom(driver: Chrome, selector: str) -> int:
    return int(
        driver.execute_script(
            "return document.querySelector(arguments[0]).getBoundingClientRect().bottom"
            " + window.scrollY",
            selector,
        )
    )


def _save(content: bytes, name: str) -> None:
    image = Image.open(io.BytesIO(content)).convert("RGB")
    small = image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    small.save(HERE / name, optimize=True)


if __name__ == "__main__":
    main()
