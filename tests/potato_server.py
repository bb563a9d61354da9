"""A real Potato server for the tests, and an annotator who talks to it as the page does."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener, urlopen

import pytest

PATIENCE_SECONDS = 60.0
LOG = "server.log"

needs_potato = pytest.mark.skipif(
    importlib.util.find_spec("potato") is None,
    reason="needs potato-annotation 2.12.1 in this environment",
)


def potato_version() -> str:
    """The version of Potato that is installed."""
    return importlib.metadata.version("potato-annotation")


def wait_until(condition: Callable[[], object]) -> None:
    """Wait until ``condition`` holds."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)


@contextmanager
def running_server(config: Path) -> Iterator[str]:
    """Potato serving a configuration; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    potato = Path(sys.executable).with_name("potato")
    with (config.parent / LOG).open("w") as log:
        server = subprocess.Popen(
            [potato, "start", config.name, "-p", str(port)],
            cwd=config.parent,
            stdout=log,
            stderr=log,
        )
        try:
            address = f"http://127.0.0.1:{port}/"
            wait_until(lambda: server.poll() is not None or _answers(address))
            assert server.poll() is None, (config.parent / LOG).read_text("utf-8")
            yield address
        finally:
            server.terminate()
            server.wait()


class Annotator:
    """Somebody logged in."""

    def __init__(self, address: str, name: str) -> None:
        self._address = address
        self._opener = build_opener(HTTPCookieProcessor(CookieJar()))
        form = urlencode({"email": name, "pass": ""}).encode()
        self._open(Request(f"{address}auth", data=form))

    def page(self) -> str:
        """The annotation page of the item that is next."""
        return self._open(Request(f"{self._address}annotate"))

    def mark(
        self, item: str, scheme: str, label: str, start: int, end: int, *, field: str | None = None
    ) -> dict[str, Any]:
        """Save one span; what the server answers."""
        span: dict[str, Any] = {"schema": scheme, "name": label, "start": start, "end": end}
        span |= {"value": 1} | ({"target_field": field} if field else {})
        body = {"instance_id": item, "annotations": {}, "span_annotations": [span]}
        answer = self._open(
            Request(
                f"{self._address}updateinstance",
                data=json.dumps(body).encode(),
                headers={"Content-Type": "application/json"},
            )
        )
        found: dict[str, Any] = json.loads(answer)
        return found

    def _open(self, request: Request) -> str:
        with self._opener.open(request, timeout=PATIENCE_SECONDS) as answer:
            text: str = answer.read().decode()
            return text


def _answers(address: str) -> bool:
    try:
        with urlopen(address):
            return True
    except (URLError, ConnectionError):
        return False
