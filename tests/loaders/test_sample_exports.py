"""The sample projects, against what was marked in the browser when they were made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from potato_iaa.loaders import read_project
from tests.loaders.projects import assert_accounted, marked, rows

SAMPLES = Path(__file__).parents[2] / "sample_exports"
PROJECTS = sorted(path.parent.name for path in SAMPLES.glob("*/expected.json"))


def expected(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((SAMPLES / name / "expected.json").read_text("utf-8"))
    return content


@pytest.mark.parametrize("name", PROJECTS)
def test_the_texts_are_those_of_the_browser(name: str) -> None:
    items = read_project(SAMPLES / name).items
    found = {(item, field): text for item, field, text in rows(items, "item", "field", "text")}
    shown = {
        (item, field): text
        for item, fields in expected(name)["displayed"].items()
        for field, text in fields.items()
    }
    assert {key: found.get(key) for key in shown} == shown


@pytest.mark.parametrize("name", PROJECTS)
def test_the_spans_are_those_that_were_marked(name: str) -> None:
    corpus = read_project(SAMPLES / name)
    assert_accounted(corpus)
    truth = expected(name)
    wrong = truth.get("stored_wrongly", {})
    keys = ("item", "field", "annotator", "scheme", "label")

    def listed(spans: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        return [(*(s[k] for k in keys), tuple(map(tuple, s["parts"])), s["text"]) for s in spans]

    meant = set(listed(truth["spans"])) - set(listed(wrong.get("missing", [])))
    stored = meant | set(listed(wrong.get("extra", [])))
    found = marked(corpus)
    assert len(found) == len(set(found))
    assert set(found) == stored


@pytest.mark.parametrize("name", PROJECTS)
def test_the_passes_are_those_that_were_made(name: str) -> None:
    truth = expected(name)
    frame = read_project(SAMPLES / name).passes
    found: dict[str, set[str]] = {}
    for annotator, item in rows(frame, "annotator", "item"):
        found.setdefault(annotator, set()).add(item)
    # Where somebody left an item without a mark as the last thing, nothing on disk tells of it.
    unproven = truth.get("unproven_passes", {})
    for annotator, items in truth["passes"].items():
        without = {unproven.get(annotator), truth.get("opened_only", {}).get(annotator)}
        assert found[annotator] - without == set(items) - without


@pytest.mark.parametrize("name", PROJECTS)
def test_the_answers_are_those_that_were_given(name: str) -> None:
    answers = read_project(SAMPLES / name).answers
    keys = ("annotator", "item", "scheme", "value")
    found = set(rows(answers, "annotator", "item", "scheme", "label"))
    assert found == {tuple(answer[key] for key in keys) for answer in expected(name)["choices"]}
