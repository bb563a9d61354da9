"""Rebuild the sample projects: run the real Potato server and annotate in a real browser.

    pip install potato-annotation==2.12.1 selenium
    apt-get install chromium chromium-driver
    python sample_exports/rebuild/annotate.py [project ...]

Each project is run in a temporary folder. Its config and data come from the sample's folder, its
marks from ``plans/<project>.yaml``; the server's output and ``expected.json`` replace the old
ones in the sample's folder.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError

from ground_truth import Record, Span, expected_json, extent, read_states, span_of
from plan import Mark, Part, Pass, Plan, load_plan
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parent
PROJECTS = ("pii_spans", "scripts", "two_schemes")
CHROMIUM_OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1400,1100",
)
PATIENCE_SECONDS = 30

# The text as shown, without the labels and delete buttons Potato draws over it.
TEXT_NODES = """
function textNodes(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT, node =>
    node.parentElement.closest('[id^="span-overlays"]')
      ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return nodes;
}
"""
SHOWN_TEXT = TEXT_NODES + "return textNodes(arguments[0]).map(n => n.data).join('');"

# Select [start, end) (UTF-16 units, as browsers count) and let go of the mouse button.
SELECT = (
    TEXT_NODES
    + """
const [root, start, end, ctrl] = arguments;
const range = document.createRange();
let position = 0;
let started = false;
for (const node of textNodes(root)) {
  const next = position + node.data.length;
  if (!started && start < next) { range.setStart(node, start - position); started = true; }
  if (end <= next) { range.setEnd(node, end - position); break; }
  position = next;
}
const selection = window.getSelection();
selection.removeAllRanges();
selection.addRange(range);
const selected = range.toString();
const box = range.getBoundingClientRect();
range.startContainer.parentElement.dispatchEvent(new MouseEvent('mouseup', {
  bubbles: true, ctrlKey: ctrl, clientX: box.right, clientY: box.bottom}));
return selected;
"""
)

ANSWERED_SAVES = """
return performance.getEntriesByType('resource')
  .filter(entry => new URL(entry.name).pathname === '/updateinstance').length;
"""

# The page is ready for marking once it has drawn the stored spans and knows where its text lies.
READY = """
const manager = window.spanManager;
if (!manager || !manager.isInitialized || !window.currentInstance) return false;
if (document.fonts.status !== 'loaded') return false;
const fields = Object.values(manager.fieldStrategies);
const places = fields.length ? fields : [manager.positioningStrategy];
return places.every(place => place && place.isInitialized)
  && performance.getEntriesByType('resource')
       .some(entry => new URL(entry.name).pathname.startsWith('/api/spans/'));
"""


class Browser:
    """One annotator at the annotation page."""

    def __init__(self, driver: webdriver.Chrome, address: str) -> None:
        self.driver = driver
        self.address = address
        self._armed: tuple[str, str] | None = None

    def log_in(self, annotator: str) -> None:
        self.driver.delete_all_cookies()
        self.driver.get(self.address)
        self.driver.find_element(By.ID, "login-email").send_keys(annotator)
        self._click(self.driver.find_element(By.CSS_SELECTOR, "form[action='/auth'] [type=submit]"))
        wait_until(self.item)
        self._wait_for_page()

    def item(self) -> str:
        """The item shown, or "" when the annotator has no item left."""
        found = self.driver.find_elements(By.ID, "instance_id")
        return str(found[0].get_attribute("value")) if found else ""

    def next(self) -> bool:
        """Go on with the Next button; False if there is no further item."""
        before = self.item()
        self.driver.execute_script("window.beforeNext = true;")
        self._click(self.driver.find_element(By.ID, "next-btn"))
        wait_until(lambda: not self.driver.execute_script("return window.beforeNext"))
        self._wait_for_page()
        return self.item() not in ("", before)

    def texts(self) -> dict[str, str]:
        """The text of each field; the field of an ordinary text has no name."""
        prefix = "text-content-"
        fields = self.driver.find_elements(By.CSS_SELECTOR, f"[id^='{prefix}']")
        named = {str(e.get_attribute("id"))[len(prefix) :]: e for e in fields}
        elements = named or {"": self.driver.find_element(By.ID, "text-content")}
        return {
            name: str(self.driver.execute_script(SHOWN_TEXT, element))
            for name, element in elements.items()
        }

    def mark(self, mark: Mark, text: str) -> None:
        """Click the label, then select every part, with Ctrl held if there are several."""
        self._arm(mark.scheme, mark.label)
        if len(mark.parts) > 1:
            # Otherwise Potato takes the first part for one more part of the span before.
            self._click(self.driver.find_element(By.CLASS_NAME, "task-name"))
        for part in mark.parts:
            self._select(mark.field, text, part, ctrl=len(mark.parts) > 1)

    def erase(self, span: Span) -> None:
        """Press the delete button of a span."""
        (start, end) = span.parts[0]
        span_id = f"{span.scheme}_{span.label}_{start}_{end}"
        overlays = f"span-overlays-{span.field}" if span.field else "span-overlays"
        button = self.driver.find_element(
            By.CSS_SELECTOR, f"#{overlays} [data-annotation-id='{span_id}'] .span-delete-btn"
        )
        self._saving(lambda: self.driver.execute_script("arguments[0].click()", button))

    def choose(self, scheme: str, option: str) -> None:
        """Answer a radio question."""
        button = self.driver.find_element(
            By.CSS_SELECTOR, f"input[type=radio][schema='{scheme}'][value='{option}']"
        )
        if not button.is_selected():
            self._saving(lambda: self._click(button))

    def _click(self, element: WebElement) -> None:
        """Click an element, away from whatever floats at the edges of the page."""
        self.driver.execute_script(
            "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element
        )
        element.click()

    def _arm(self, scheme: str, label: str) -> None:
        if self._armed == (scheme, label):
            return
        box = self.driver.find_element(
            By.CSS_SELECTOR, f"input[name='span_label:::{scheme}'][value='{label}']"
        )
        self._click(box)
        if not box.is_selected():
            self._click(box)
        self._armed = (scheme, label)

    def _select(self, field: str, text: str, part: Part, ctrl: bool) -> None:
        start, end = (utf16_length(text[:offset]) for offset in extent(text, part))
        root = self.driver.find_element(By.ID, f"text-content-{field}" if field else "text-content")
        selected = self._saving(lambda: self.driver.execute_script(SELECT, root, start, end, ctrl))
        if selected != part.text:
            raise RuntimeError(f"selected {selected!r} instead of {part.text!r}")

    def _saving(self, action: Callable[[], object]) -> object:
        """Do something that Potato saves at once, and wait until the server has answered."""
        before = self.driver.execute_script(ANSWERED_SAVES)
        result = action()
        wait_until(lambda: self.driver.execute_script(ANSWERED_SAVES) > before)
        time.sleep(0.3)  # the page redraws its spans after the answer
        return result

    def _wait_for_page(self) -> None:
        self._armed = None
        wait_until(lambda: self.driver.execute_script("return document.readyState") == "complete")
        if self.item():
            wait_until(lambda: self.driver.execute_script(READY))
            wait_until(self.driver.find_element(By.ID, "next-btn").is_displayed)
            time.sleep(0.3)


def utf16_length(text: str) -> int:
    """The length of ``text`` as browsers count it."""
    return len(text.encode("utf-16-le")) // 2


def wait_until(condition: Callable[[], object]) -> None:
    """Wait until ``condition`` holds."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the annotation page did not respond")
        time.sleep(0.05)


def annotate_item(browser: Browser, annotator: str, todo: Pass, record: Record) -> None:
    """Do one pass and note what was marked."""
    item = browser.item()
    texts = browser.texts()
    if record.displayed.setdefault(item, texts) != texts:
        raise RuntimeError(f"{item} looks different to {annotator}")
    for scheme, option in todo.choices:
        browser.choose(scheme, option)
        record.choices.append(
            {"annotator": annotator, "item": item, "scheme": scheme, "value": option}
        )
    for mark in todo.erased:
        browser.mark(mark, texts[mark.field])
        record.erased.append(span_of(annotator, item, mark, texts[mark.field]))
        browser.erase(record.erased[-1])
    for mark in todo.marks:
        browser.mark(mark, texts[mark.field])
        record.marked.append(span_of(annotator, item, mark, texts[mark.field]))
    record.passes.setdefault(annotator, []).append(item)


def annotate_all(browser: Browser, annotator: str, plan: Plan, record: Record) -> None:
    """Go through all items Potato gives to one annotator."""
    browser.log_in(annotator)
    more = True
    while more:
        item = browser.item()
        if plan.closes_at.get(annotator) == item:
            record.opened_only[annotator] = item
            return
        annotate_item(browser, annotator, plan.pass_of(annotator, item), record)
        print(f"  {annotator}: {item}", flush=True)
        more = browser.next()


@contextmanager
def running_server(folder: Path) -> Iterator[str]:
    """Potato serving the project in ``folder``; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    potato = Path(sys.executable).with_name("potato")
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(
            [potato, "start", "config.yaml", "-p", str(port)], cwd=folder, stdout=log, stderr=log
        )
        try:
            address = f"http://127.0.0.1:{port}/"
            wait_until(lambda: answers(address))
            yield address
        finally:
            server.terminate()
            server.wait()


def answers(address: str) -> bool:
    """Whether a server answers at ``address``."""
    try:
        with urllib.request.urlopen(address):
            return True
    except (URLError, ConnectionError):
        return False


@contextmanager
def running_chromium() -> Iterator[webdriver.Chrome]:
    """Debian's Chromium with a profile of its own."""
    with tempfile.TemporaryDirectory() as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for option in (*CHROMIUM_OPTIONS, f"--user-data-dir={profile}"):
            options.add_argument(option)
        driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        try:
            yield driver
        finally:
            driver.quit()


def keep_output(run: Path, sample: Path) -> None:
    """Replace the sample's annotations by those of a finished run."""
    kept = sample / "annotation_output"
    shutil.rmtree(kept, ignore_errors=True)
    for state in sorted((run / "annotation_output").glob("*/user_state.json")):
        (kept / state.parent.name).mkdir(parents=True)
        shutil.copyfile(state, kept / state.parent.name / state.name)  # readable for everybody


def rebuild(project: str) -> bool:
    """Annotate one project anew; whether Potato stored everything as marked."""
    sample = SAMPLES / project
    plan = load_plan(HERE / "plans" / f"{project}.yaml")
    record = Record()
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / project
        run.mkdir()
        shutil.copy(sample / "config.yaml", run)
        shutil.copytree(sample / "data", run / "data")
        with running_server(run) as address, running_chromium() as driver:
            for annotator in plan.annotators:
                annotate_all(Browser(driver, address), annotator, plan, record)
        keep_output(run, sample)
    expected = expected_json(record, read_states(sample))
    (sample / "expected.json").write_text(
        json.dumps(expected, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )
    wrong = expected["stored_wrongly"]
    print(
        f"{project}: {len(record.marked)} spans marked; stored wrongly: "
        f"{len(wrong['missing'])} missing, {len(wrong['extra'])} extra"
    )
    return not wrong["missing"] and not wrong["extra"]


def main() -> int:
    parser = argparse.ArgumentParser(description="Rebuild the sample projects.")
    parser.add_argument("projects", nargs="*", default=PROJECTS)
    projects = parser.parse_args().projects
    complete = [rebuild(project) for project in projects]
    return 0 if all(complete) else 1


if __name__ == "__main__":
    sys.exit(main())
