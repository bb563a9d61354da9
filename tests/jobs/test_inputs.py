"""The hash of what a project is read from: it changes whenever something of it does."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from potato_iaa import read_project
from potato_iaa.jobs.inputs import digest, find_inputs
from potato_iaa.jobs.run import run_job
from tests.jobs.projects import job_of
from tests.loaders.projects import extents, span, state, write_project

STATES = {name: state({"d1": [span(0, 3)]}) for name in ("ann", "ben")}
OTHER = state({"d1": [span(8, 13)]})
links = pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")


def hash_of(path: Path, out: Path = Path("nowhere"), **options: Any) -> str:
    found = find_inputs(path, without=out, **options)
    assert found is not None
    return digest(found, base=path, salt="")


def as_potato_1(folder: Path) -> Path:
    """The one file of Potato 1 with an annotator's folder beside it, and no configuration."""
    (folder / "ann").mkdir(parents=True)
    (folder / "ann" / "annotation_order.txt").write_text("d1\n")
    file = folder / "annotated_instances.csv"
    span_cell = "\"[{'start': 0, 'end': 3, 'span': 'Ada', 'annotation': 'PER'}]\""
    marked = (("ann", "d1"), ("ben", "d1"), ("ben", "d2"))
    lines = [f"{name},{item},Ada met Grace.,{span_cell}\n" for name, item in marked]
    file.write_text("user,instance_id,displayed_text,span_annotation:::PER\n" + "".join(lines))
    return file


@links
def test_what_lies_behind_a_link_to_an_annotators_folder_counts(tmp_path: Path) -> None:
    config = write_project(tmp_path, STATES)
    (tmp_path / "annotation_output" / "ben").rename(tmp_path / "real_ben")
    (tmp_path / "annotation_output" / "ben").symlink_to("../real_ben")
    before = hash_of(config), extents(read_project(config))
    file = tmp_path / "real_ben" / "user_state.json"
    file.write_bytes(file.read_bytes().replace(b'"end": 3', b'"end": 7'))
    after = hash_of(config), extents(read_project(config))
    assert before[1] != after[1]
    assert before[0] != after[0]


@links
def test_two_links_to_one_folder_are_told_from_one_that_leads_elsewhere(tmp_path: Path) -> None:
    config = write_project(tmp_path, {**STATES, "cat": OTHER})
    output = tmp_path / "annotation_output"
    (output / "dan").symlink_to("ann")
    before = hash_of(config)
    (output / "dan").unlink()
    (output / "dan").symlink_to("cat")
    assert hash_of(config) != before


@links
def test_links_in_a_circle_come_to_an_end(tmp_path: Path) -> None:
    config = write_project(tmp_path, STATES)
    output = tmp_path / "annotation_output"
    for name, target in (("self", "self"), ("here", "."), ("up", ".."), ("ann/up", "../..")):
        (output / name).symlink_to(target)
    found = find_inputs(config, without=tmp_path / "out")
    assert found is not None
    assert len(found.paths) < 40
    assert hash_of(config) == hash_of(config)


@links
def test_a_link_out_of_the_project_is_followed_where_that_is_allowed(tmp_path: Path) -> None:
    config = write_project(tmp_path / "x" / "y" / "project", STATES)
    folder = config.parent / "annotation_output" / "ben"
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    file = tmp_path / "elsewhere" / "user_state.json"
    for allowed in (False, True):
        before = hash_of(config, allow_outside=allowed)
        file.write_bytes(file.read_bytes() + b" ")
        assert (hash_of(config, allow_outside=allowed) != before) == allowed


@links
def test_exports_behind_links_count(tmp_path: Path) -> None:
    (tmp_path / "store" / "ann" / "tei").mkdir(parents=True)
    (tmp_path / "tei").mkdir()
    (tmp_path / "tei" / "ann").symlink_to("../store/ann")
    file = tmp_path / "store" / "ann" / "tei" / "d1.xml"
    file.write_text("<TEI/>")
    before = hash_of(tmp_path)
    file.write_text("<TEI />")
    assert hash_of(tmp_path) != before


@pytest.mark.parametrize(
    ("changed", "content"),
    [("annotation_order.txt", "d1\nd2\n"), ("assigned_user_data.json", '{"d2": {}}')],
)
def test_what_was_assigned_counts_beside_the_one_file_of_potato_1(
    tmp_path: Path, changed: str, content: str
) -> None:
    file = as_potato_1(tmp_path)
    before = hash_of(file), list(read_project(file, passes="assigned").passes["item"])
    (tmp_path / "ann" / changed).write_text(content)
    after = hash_of(file), list(read_project(file, passes="assigned").passes["item"])
    assert before[1] != after[1]
    assert before[0] != after[0]


def test_folders_without_a_file_count_as_the_ledger_tells_of_them(tmp_path: Path) -> None:
    config = write_project(tmp_path, STATES)
    before = hash_of(config)
    (tmp_path / "annotation_output" / "cat").mkdir()
    assert hash_of(config) != before


def test_documents_that_items_name_count(tmp_path: Path) -> None:
    display = {"fields": [{"key": "text", "type": "document", "span_target": True}]}
    items = [{"id": "d1", "text": "notes.txt"}]
    config = write_project(tmp_path, STATES, items=items, instance_display=display)
    before = hash_of(config), list(read_project(config).items["text"])
    (tmp_path / "notes.txt").write_text("Ada met Grace.")
    after = hash_of(config), list(read_project(config).items["text"])
    assert before[1] != after[1]
    assert before[0] != after[0]


def test_a_text_too_long_to_be_a_name_does_not_hinder(tmp_path: Path) -> None:
    config = write_project(tmp_path, STATES, annotation_codebook_url="x" * 100_000 + "\0")
    assert hash_of(config) == hash_of(config)


@pytest.mark.parametrize("place", ["project", "out"])
def test_reports_are_no_inputs_but_projects_in_their_folder_are(tmp_path: Path, place: str) -> None:
    config = write_project(tmp_path / place, STATES)
    out = config.parent / "annotation_output" / "out" if place == "project" else tmp_path / place
    before = hash_of(config, out)
    out.mkdir(exist_ok=True)
    (out / "index.html").write_text("figures")
    assert hash_of(config, out) == before
    file = config.parent / "annotation_output" / "ben" / "user_state.json"
    file.write_bytes(file.read_bytes() + b" ")
    assert hash_of(config, out) != before


def test_a_moved_project_has_the_hash_that_it_had(tmp_path: Path) -> None:
    config = write_project(tmp_path / "here", STATES)
    before = hash_of(config)
    shutil.move(config.parent, tmp_path / "there")
    assert hash_of(tmp_path / "there" / config.name) == before


@links
def test_a_job_computes_again_what_changed_behind_a_link(tmp_path: Path) -> None:
    write_project(tmp_path / "p", STATES)
    (tmp_path / "p" / "annotation_output" / "ben").rename(tmp_path / "p" / "real_ben")
    (tmp_path / "p" / "annotation_output" / "ben").symlink_to("../real_ben")
    file = tmp_path / "p" / "real_ben" / "user_state.json"
    told = []
    for content in (file.read_bytes(), file.read_bytes().replace(b'"end": 3', b'"end": 7')):
        file.write_bytes(content)
        (outcome,) = run_job(job_of(tmp_path, projects=["p"])).summary.outcomes
        told.append((outcome.cached, outcome.schemes[0].headline.value))
    assert told == [(False, 1.0), (False, 0.0)]
