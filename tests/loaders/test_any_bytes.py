"""Whatever stands in the files of a project, reading ends in a corpus or in one sentence."""

from __future__ import annotations

import copy
import csv
import io
import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from potato_iaa.errors import PotatoIAAError
from potato_iaa.loaders import read_project
from tests.loaders.projects import NER, TONE, assert_accounted, parts, span, state, write_project

ITEMS: list[dict[str, Any]] = [
    {"id": 1, "text": "Ada  met <b>Bob</b> &amp; Cy.", "head": "x 🔥 <i>y</i>", "log": ["A: hi"]},
    {"id": "d2", "text": ["one", "two"], "head": "z", "log": [{"speaker": "B", "text": "no"}]},
]
ODD: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    3.5,
    10**30,
    "",
    "x",
    "d2",
    "\x00",
    "\ud800",
    [],
    [[]],
    {},
    [None],
    {"a": {}},
    {"": []},
    "../..",
    "/",
    "é" * 300,
    [1, "2", {}],
]
FIELDS = [
    {"key": "head", "type": "text", "span_target": True},
    {"key": "log", "type": "dialogue", "span_target": True},
]


def document() -> dict[str, Any]:
    stored = {
        "1": [span(0, 1, target_field="head"), span(0, 1, **parts((4, 6, "<i")))],
        "d2": [span(0, 1, "LOC", target_field="log"), span(0, 0, format_coords={"page": 1})],
        "d9": [],
    }
    more = {
        "instance_id_to_label_to_value": {"1": [[{"schema": "tone", "name": "good"}, "good"]]},
        "instance_id_to_behavioral_data": {"d2": {"interactions": []}},
        "instance_id_to_room_provenance": {"d9": {"tone": {}}},
        "instance_id_to_trial": {"d9": {"outcome": "timeout"}},
        "phase_to_page_to_span_to_value": {"training": {"p": [span(0, 1)]}},
    }
    return {"user_id": "ann", **state(stored, order=["1", "d2"], index=1, **more)}


def configured() -> dict[str, Any]:
    group = {
        "name": "g",
        "annotators": ["ann"],
        "schemes": ["ner"],
        "data_file": "data/items.jsonl",
    }
    return {
        "instance_display": {"fields": FIELDS},
        "adjudication": {"enabled": True, "adjudicator_users": ["jo"]},
        "machine_annotators": {"enabled": True, "annotators": [{"id": "bot"}]},
        "batch_assignment": {"groups": [group]},
        "scheme_sets": {"small": ["ner"]},
        "list_as_text": {"horizontal": True},
        "attention_checks": {"enabled": True, "items_file": "data/items.jsonl.missing"},
    }


def project(folder: Path, states: dict[str, Any]) -> Path:
    return write_project(folder, states, items=ITEMS, schemes=[NER, TONE], **configured())


def refusal(path: Path, *, skip_broken: bool = False) -> str:
    """The sentence with which a project is refused; empty if it is read."""
    try:
        assert_accounted(read_project(path, skip_broken=skip_broken))
    except PotatoIAAError as fault:
        return str(fault)
    return ""


def assert_read_or_refused(path: Path) -> None:
    sentence = refusal(path)
    assert "\n" not in sentence
    if sentence:
        assert len(sentence) > 20
        refusal(path, skip_broken=True)


def spoiled(content: bytes, chance: random.Random) -> bytes:
    """The content with something cut out, doubled or overwritten."""
    here = chance.randrange(len(content) + 1)
    there = min(len(content), here + chance.choice((0, 1, 2, 9, len(content))))
    noise = bytes(chance.randrange(256) for _ in range(chance.choice((0, 1, 4))))
    middle = chance.choice((b"", noise, content[here:there] * 2, b"\x00", b"[" * 3000, b'"', b"\n"))
    return content[:here] + middle + content[there:]


def places(value: Any) -> Iterator[Callable[[Any], None]]:
    """A setter for every place in a document."""
    if isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else range(len(value))
        for key in keys:
            yield lambda new, key=key: value.__setitem__(key, new)  # type: ignore[misc]
            yield from places(value[key])


def test_the_project_is_read_before_anything_is_spoiled(tmp_path: Path) -> None:
    corpus = read_project(project(tmp_path, {"ann": document()}))
    assert_accounted(corpus)
    assert corpus.ledger.totals() == {"read": 4, "kept": 2, "repaired": 0, "set_aside": 2}


@pytest.mark.parametrize(
    "file", ["config.yaml", "data/items.jsonl", "annotation_output/ann/user_state.json"]
)
def test_spoiled_bytes_are_read_or_refused(tmp_path: Path, file: str) -> None:
    path = project(tmp_path, {"ann": document(), "ben": document() | {"user_id": "ben"}})
    content = (tmp_path / file).read_bytes()
    for seed in range(40):
        (tmp_path / file).write_bytes(spoiled(content, random.Random(seed)))
        assert_read_or_refused(path)


def test_odd_values_in_a_state_are_read_or_refused(tmp_path: Path) -> None:
    path = project(tmp_path, {"ann": document()})
    file = tmp_path / "annotation_output" / "ann" / "user_state.json"
    for position, _ in enumerate(places(document())):
        changed = document()
        list(places(changed))[position](copy.deepcopy(ODD[position % len(ODD)]))
        file.write_text(json.dumps(changed), encoding="utf-8")
        assert_read_or_refused(path)


def test_odd_values_in_a_configuration_are_read_or_refused(tmp_path: Path) -> None:
    path = project(tmp_path, {"ann": document()})
    given = yaml.safe_load(path.read_text(encoding="utf-8"))
    count = sum(1 for _ in places(given))
    for seed in range(count):
        changed = copy.deepcopy(given)
        list(places(changed))[seed % count](copy.deepcopy(ODD[(seed * 7) % len(ODD)]))
        try:
            text = yaml.safe_dump(changed, allow_unicode=True)
            path.write_text(text, encoding="utf-8")
        except UnicodeEncodeError:
            path.write_text(json.dumps(changed), encoding="utf-8")
        assert_read_or_refused(path)


def test_odd_values_in_items_are_read_or_refused(tmp_path: Path) -> None:
    path = project(tmp_path, {"ann": document()})
    file = tmp_path / "data" / "items.jsonl"
    count = sum(1 for _ in places(ITEMS))
    for seed in range(4 * count):
        changed = copy.deepcopy(ITEMS)
        list(places(changed))[seed % count](copy.deepcopy(ODD[(seed * 5) % len(ODD)]))
        file.write_text("".join(json.dumps(item) + "\n" for item in changed), encoding="utf-8")
        assert_read_or_refused(path)


LEFT = Path(__file__).parent / "left"
EXPORTED = [
    ("1.2.2.4", "annotation_output/alice/annotated_instances.jsonl", "config.yaml"),
    ("1.2.2.4", "annotation_output/alice/annotation_order.txt", "config.yaml"),
    ("1.2.2.4_autoassign", "annotation_output/bob/assigned_user_data.json", "config.yaml"),
    ("1.2.2.4", "annotation_output/annotated_instances.csv", ""),
    ("1.2.2.4_autoassign", "annotation_output/annotated_instances.tsv", ""),
    ("1.2.0.7", "annotation_output/annotated_instances.json", ""),
    ("2.4.5", "annotation_output/alice/user_state.json", "config.yaml"),
    ("multifield_2.12.1", "exports/csv/annotations.csv", ""),
    ("multifield_2.12.1", "exports/tsv/annotations.tsv", ""),
    ("multifield_2.12.1", "exports/jsonl/annotations.jsonl", ""),
    ("multifield_2.12.1", "exports/quotation_report/quotations.csv", ""),
    ("multifield_2.12.1", "exports/web_annotation/web_annotations.jsonld", ""),
    ("multifield_2.12.1", "exports/parquet/spans.parquet", ""),
    ("multifield_2.12.1", "exports/parquet/annotations.parquet", ""),
    ("tricky_2.12.1", "exports/tei/dave/tei/potato.xml", ""),
    ("tricky_2.12.1", "exports/conll_u/annotations.dave.conllu", ""),
    ("tricky_2.12.1", "exports/conll_2003/annotations.dave.conll", ""),
]


@pytest.mark.parametrize(("project_name", "file", "given"), EXPORTED)
def test_spoiled_files_of_every_generation_and_export_are_read_or_refused(
    tmp_path: Path, project_name: str, file: str, given: str
) -> None:
    place = tmp_path / project_name
    shutil.copytree(LEFT / project_name, place)
    content = (place / file).read_bytes()
    for seed in range(14):
        (place / file).write_bytes(spoiled(content, random.Random(seed)))
        assert_read_or_refused(place / (given or file))


NAMES = [
    *("a.csv", "a.tsv", "a.jsonl", "a.json", "a.jsonld", "a.xml", "a.yaml", "quotations.csv"),
    *("spans.parquet", "annotations.a.conll", "annotations.a.conllu", "annotated_instances.json"),
]


@settings(deadline=None, max_examples=60)
@given(
    st.binary(max_size=60)
    | st.sampled_from([b"", b"\x00", b"\xef\xbb\xbf", b"[]", b"{}", b"<x/>"]),
    st.sampled_from(NAMES),
)
def test_any_bytes_under_any_name_are_read_or_refused(content: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tei" / name
        file.parent.mkdir()
        file.write_bytes(content)
        for path in (file, file.parent, file.parent.parent):
            assert_read_or_refused(path)


HEADER = b"instance_id,user_id,ner._spans,tone.good\n"


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(max_size=12) | st.sampled_from(["d1", "ann", "[]", "[{}]", "[[", "null"])))
def test_any_cells_of_an_export_are_read_or_refused(cells: list[str]) -> None:
    rows = [cells[n : n + 4] for n in range(0, len(cells), 4)]
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "annotations.csv"
        file.write_bytes(HEADER + out.getvalue().encode("utf-8", "replace"))
        assert_read_or_refused(file)
