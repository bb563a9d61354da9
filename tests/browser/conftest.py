"""One browser for all tests, and the reports that it opens."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from potato_iaa import Agreement, measure
from potato_iaa.reporter.html import html_report
from tests.browser.chromium import chromium, missing, prefer, requests, resize
from tests.golden.projects import PROJECTS, agreement_of
from tests.reporter.crowds import crowd
from tests.reporter.pages import hostile

PAGES = (*PROJECTS, "hostile", "crowd")


@cache
def _agreement(name: str) -> Agreement:
    if name == "hostile":
        return hostile()
    return measure(crowd(), bootstrap=20) if name == "crowd" else agreement_of(name)


class Reader:
    """Opens reports in the browser."""

    def __init__(self, driver: Chrome, folder: Path) -> None:
        self.driver = driver
        self.folder = folder

    def open(
        self, name: str, *, text: bool = True, scheme: str = "light", width: int = 1280
    ) -> str:
        """Open the report and return its address, with nothing said or asked for before."""
        path = self.folder / f"{name}-{text}.html"
        if not path.exists():
            path.write_text(html_report(_agreement(name), text=text), encoding="utf-8")
        self.driver.get("about:blank")
        prefer(self.driver, scheme)
        resize(self.driver, width)
        self.driver.get_log("browser")
        requests(self.driver)
        self.driver.get(path.as_uri())
        return path.as_uri()


@pytest.fixture(scope="session")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    why = missing()
    if why:
        pytest.skip(why)
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield Reader(driver, tmp_path_factory.mktemp("reports"))
