"""A headless Chromium, Debian's or whichever is installed, driven from Python; it never phones."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def missing() -> str | None:
    """Why there is no browser to drive, or nothing."""
    if not any(map(shutil.which, BROWSERS)):
        return "no Chromium is installed"
    return None if shutil.which("chromedriver") else "no chromedriver is installed"


@contextmanager
def chromium(profile: Path) -> Iterator[Chrome]:
    """A browser with a profile of its own, which logs what it says and what it asks for."""
    options = ChromeOptions()
    options.binary_location = next(filter(None, map(shutil.which, BROWSERS)))
    for argument in (*ARGUMENTS, f"--user-data-dir={profile}", "--window-size=1280,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


def requests(driver: Chrome) -> list[str]:
    """The addresses that were asked for since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]


def prefer(driver: Chrome, scheme: str) -> None:
    """Let pages be shown in the ``light`` or the ``dark`` scheme."""
    feature = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def resize(driver: Chrome, width: int, *, scale: float = 1) -> None:
    """Let the window be so many CSS pixels wide."""
    size = {"width": width, "height": 1000, "deviceScaleFactor": scale, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def picture(driver: Chrome, *, height: int) -> bytes:
    """The top of the page as PNG."""
    width = driver.execute_script("return document.documentElement.clientWidth")
    clip: dict[str, Any] = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    command = {"format": "png", "captureBeyondViewport": True, "clip": clip}
    return base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", command)["data"])


def printed(driver: Chrome) -> bytes:
    """The page as PDF, in the size that it asks for."""
    command = {"preferCSSPageSize": True, "printBackground": False}
    return base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", command)["data"])
