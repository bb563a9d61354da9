"""The reports of the sample projects are the kept ones, and fit the schema that is shipped."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from tests.corpora import walk
from tests.golden.projects import GOLDEN, NAMES, PROJECTS, reports

REFRESH = "if it is meant, run python -m tests.golden.refresh and read the diff"


def schema() -> Any:
    return json.loads((files("potato_iaa.reporter") / "report.schema.json").read_text("utf-8"))


def kept(project: str, name: str) -> str:
    return (GOLDEN / project / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("project", PROJECTS)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "report.json"])
def test_the_text_is_the_kept_one(project: str, name: str) -> None:
    assert reports(project)[name] == kept(project, name), REFRESH


@pytest.mark.parametrize("project", PROJECTS)
def test_the_figures_are_the_kept_ones(project: str) -> None:
    # The twelfth digit may differ between processors; nothing else may.
    now = list(walk(json.loads(reports(project)["report.json"])))
    before = list(walk(json.loads(kept(project, "report.json"))))
    assert [path for path, _ in now] == [path for path, _ in before], REFRESH
    for (path, value), (_, old) in zip(now, before, strict=True):
        if isinstance(value, float) and isinstance(old, float | int):
            assert math.isclose(value, old, rel_tol=1e-9, abs_tol=1e-9), f"{path}: {REFRESH}"
        elif not isinstance(value, dict | list):
            assert value == old, f"{path}: {REFRESH}"


@pytest.mark.parametrize("project", PROJECTS)
def test_the_kept_report_fits_the_schema(project: str) -> None:
    jsonschema.Draft202012Validator(schema()).validate(json.loads(kept(project, "report.json")))


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("format", 2),
        ("surplus", 1),
        ("schemes/pii_spans/lost/existence", {"value": None, "low": None, "high": None}),
        ("schemes/pii_spans/f1/exact_typed/mean_over_pairs/value", "high"),
        ("schemes/pii_spans/f1/exact_typed/pairs/0/items", 0),
        ("ledger/totals/kept", -1),
    ],
)
def test_the_schema_refuses_what_is_wrong(path: str, value: Any) -> None:
    document = json.loads(kept("pii_spans", "report.json"))
    place = document
    *way, last = path.split("/")
    for step in way:
        place = place[int(step) if isinstance(place, list) else step]
    place[int(last) if isinstance(place, list) else last] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema()).validate(document)
