"""Who and what is not read as an annotator, an item or a pass, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from potato_iaa.errors import InputError
from potato_iaa.loaders import read_project
from tests.loaders.projects import (
    NER,
    TONE,
    assert_accounted,
    extents,
    left_out,
    passes,
    span,
    state,
    write_config,
    write_project,
)

ITEMS = [{"id": f"d{n}", "text": "Ada met Bob."} for n in range(4)]
ORDER = [item["id"] for item in ITEMS]


def marks() -> dict[str, Any]:
    return state({"d0": [span(0, 3), span(8, 11)], "d1": [span(0, 3)]}, order=ORDER)


def read(folder: Path, states: dict[str, Any], **settings: Any) -> Any:
    corpus = read_project(write_project(folder, states, items=ITEMS, **settings))
    assert_accounted(corpus)
    return corpus


def test_adjudicators_are_left_out(tmp_path: Path) -> None:
    block = {"enabled": True, "adjudicator_users": ["jo"]}
    corpus = read(tmp_path / "a", {"ann": marks(), "jo": marks()}, adjudication=block)
    assert list(corpus.annotators["annotator"]) == ["ann"]
    assert left_out(corpus) == [("adjudicator", "jo", 3)]
    off = {**block, "enabled": False}
    corpus = read(tmp_path / "b", {"ann": marks(), "jo": marks()}, adjudication=off)
    assert list(corpus.annotators["annotator"]) == ["ann", "jo"]


@pytest.mark.parametrize(
    "origin", [{"kind": "llm"}, {"kind": "tool", "version": "2"}, {"id": "x"}, {"kind": 3}, ["x"]]
)
def test_machines_are_left_out_by_their_origin(tmp_path: Path, origin: Any) -> None:
    corpus = read(tmp_path, {"ann": marks(), "bot": {**marks(), "origin": origin}})
    assert left_out(corpus) == [("machine annotator", "bot", 3)]


@pytest.mark.parametrize("origin", [None, {}, {"kind": "human"}])
def test_somebody_without_another_origin_is_a_person(tmp_path: Path, origin: Any) -> None:
    corpus = read(tmp_path, {"ann": {**marks(), "origin": origin}})
    assert list(corpus.annotators["annotator"]) == ["ann"]


def test_listed_machines_are_left_out(tmp_path: Path) -> None:
    block = {"enabled": True, "annotators": [{"id": " bot ", "kind": "tool"}, {"kind": "tool"}, 3]}
    corpus = read(tmp_path, {"ann": marks(), "bot": marks()}, machine_annotators=block)
    assert left_out(corpus) == [("machine annotator", "bot", 3)]


def test_the_debug_user_is_left_out(tmp_path: Path) -> None:
    corpus = read(tmp_path, {"ann": marks(), "debug_user": marks()})
    assert left_out(corpus) == [("debug user", "debug_user", 3)]


def test_attention_checks_and_gold_items_are_left_out(tmp_path: Path) -> None:
    checks = [{"id": "check-1", "text": "Mark Bob.", "expected_answer": {}}, {"id": 7, "text": "x"}]
    (tmp_path / "checks.json").write_text(json.dumps(checks), encoding="utf-8")
    (tmp_path / "gold.jsonl").write_text('{"id": "d1"}\n{"no": 1}\n', encoding="utf-8")
    ann = state(
        {"d0": [span(0, 3)], "d1": [span(0, 3)], "check-1": [span(5, 8), span(0, 4)], "7": [5]},
        order=["check-1", *ORDER],
        index=2,
    )
    corpus = read(
        tmp_path,
        {"ann": ann},
        attention_checks={"enabled": True, "items_file": "checks.json"},
        gold_standards={"items_file": "gold.jsonl"},
    )
    assert list(corpus.items["item"]) == ["d0", "d2", "d3"]
    assert passes(corpus) == {"ann": ["d0"]}
    assert corpus.ledger.totals()["read"] == 1
    assert left_out(corpus) == [
        ("attention check", "7", 1),
        ("attention check", "check-1", 2),
        ("gold item", "d1", 1),
    ]


def test_a_missing_file_of_checks_is_noted(tmp_path: Path) -> None:
    corpus = read(tmp_path, {"ann": marks()}, attention_checks={"items_file": "gone.json"})
    assert any("gone.json" in note for note in corpus.ledger.notes)


def test_a_broken_file_of_checks_is_named(tmp_path: Path) -> None:
    (tmp_path / "checks.json").write_text('[{"id": ', encoding="utf-8")
    with pytest.raises(InputError, match=r"checks.json, line 1: is not JSON"):
        read(tmp_path, {"ann": marks()}, attention_checks={"items_file": "checks.json"})


def test_answers_of_a_group_are_left_out(tmp_path: Path) -> None:
    told = {"d0": [[{"schema": "tone", "name": "good"}, 1]]}
    rooms = {"d0": {"tone": {"room_id": "r1"}}, "d1": {"ner": {"room_id": "r1"}}, "d2": {}}
    ann = {
        **marks(),
        "instance_id_to_room_provenance": rooms,
        "instance_id_to_label_to_value": told,
    }
    corpus = read(tmp_path, {"ann": ann}, schemes=[NER, TONE])
    assert passes(corpus) == {"ann": ["d0"]}
    assert len(corpus.answers) == 0
    assert left_out(corpus) == [("room answers", "ann", 1)]


def test_trials_that_ran_out_of_time_are_left_out(tmp_path: Path) -> None:
    trials = {"d0": {"outcome": "timeout"}, "d1": {"outcome": "response"}}
    corpus = read(tmp_path, {"ann": {**marks(), "instance_id_to_trial": trials}})
    assert passes(corpus) == {"ann": ["d1"]}
    assert left_out(corpus) == [("timed-out trials", "ann", 2)]


def test_spans_of_training_are_left_out(tmp_path: Path) -> None:
    training = {"training": {"page": [span(0, 3), span(4, 7)]}}
    corpus = read(tmp_path, {"ann": {**marks(), "phase_to_page_to_span_to_value": training}})
    assert left_out(corpus) == [("phase", "ann", 2)]


def test_stray_files_and_folders_are_listed(tmp_path: Path) -> None:
    config = write_project(tmp_path, {"ann": marks()}, items=ITEMS)
    out = tmp_path / "annotation_output"
    for folder in ("exports", "adjudication", "nobody"):
        (out / folder).mkdir()
    (out / "potato.log").touch()
    (out / "ann" / "annotation_history.jsonl").touch()
    (out / "ann" / "tmpab12.tmp").touch()
    (out / "ann" / "old").mkdir()
    assert left_out(read_project(config)) == [
        ("file", "ann/tmpab12.tmp", 0),
        ("file", "potato.log", 0),
        ("folder", "adjudication", 0),
        ("folder", "ann/old", 0),
        ("folder", "exports", 0),
        ("folder", "nobody", 0),
    ]


def test_a_project_of_one_annotator_is_read(tmp_path: Path) -> None:
    assert len(read(tmp_path, {"ann": marks()}).spans) == 3


def test_a_project_in_which_everybody_is_left_out_is_read(tmp_path: Path) -> None:
    corpus = read(tmp_path, {"debug_user": marks()})
    assert (len(corpus.spans), len(corpus.passes), len(corpus.annotators)) == (0, 0, 0)


EVENTS = {**NER, "name": "events", "labels": ["E"]}
EXTRA = {**NER, "name": "extra", "labels": ["X"]}


def test_a_scheme_belongs_to_those_who_were_shown_it(tmp_path: Path) -> None:
    groups = [
        {"name": "a", "annotators": ["ann"], "schemes": "minimal"},
        {"name": "b", "users": "ben", "schemes": ["events", EXTRA]},
        {"name": "c", "annotators": ["cat"]},
    ]
    states = {name: marks() for name in ("ann", "ben", "cat", "dan")}
    states["dan"] = state({"d0": [span(0, 3, "X", scheme="extra")]})
    states["ben"] = state({"d0": [span(0, 3, "E", scheme="events")]})
    corpus = read(
        tmp_path,
        states,
        schemes=[NER, EVENTS],
        scheme_sets={"minimal": ["ner"]},
        batch_assignment={"groups": groups},
    )
    assert {scheme.name: scheme.annotators for scheme in corpus.schemes} == {
        "ner": ("ann", "cat", "dan"),
        "events": ("ben", "cat", "dan"),
        "extra": ("ben", "dan"),
    }


def test_without_cohorts_everybody_is_shown_every_scheme(tmp_path: Path) -> None:
    groups = [{"name": "a", "annotators": ["ann"]}]
    corpus = read(tmp_path, {"ann": marks()}, batch_assignment={"groups": groups})
    assert [scheme.annotators for scheme in corpus.schemes] == [None]


def test_a_cohort_that_took_in_anybody_is_known_by_its_items(tmp_path: Path) -> None:
    (tmp_path / "second.json").write_text(json.dumps(["d2", "d3"]), encoding="utf-8")
    groups = [
        {"name": "a", "instances": ["d0", "d1"], "schemes": ["ner"]},
        {"name": "b", "instances_file": "second.json", "schemes": ["events"]},
    ]
    states = {
        "ann": state({"d0": [span(0, 3)]}, order=["d0", "d1"]),
        "ben": state({"d2": [], "d3": []}, order=["d1", "d2", "d3"]),
        "cat": state({"d9": []}, order=["d9"]),
    }
    corpus = read(
        tmp_path,
        states,
        schemes=[NER, EVENTS],
        batch_assignment={"auto_assign_annotators": True, "groups": groups},
    )
    assert {scheme.name: scheme.annotators for scheme in corpus.schemes} == {
        "ner": ("ann", "cat"),
        "events": ("ben", "cat"),
    }


def test_the_source_says_what_was_read(tmp_path: Path) -> None:
    config = write_project(tmp_path, {"ann": marks(), "ben": marks()}, items=ITEMS)
    source = read_project(config, passes="assigned").source
    assert (source.name, source.kind, source.path) == ("Small project", "states", str(config))
    assert (source.potato_version, source.offset_unit) == ("≥ 2.12", "code points")
    assert source.passes == "assigned"
    assert [(file.role, Path(file.path).as_posix(), file.records) for file in source.files] == [
        ("config", "config.yaml", 1),
        ("data", "data/items.jsonl", 4),
        ("annotations", "annotation_output", 2),
    ]
    write_config(tmp_path, annotation_task_name=None)
    assert read_project(config).source.name == tmp_path.name


def test_spans_of_the_corpus_are_those_of_the_annotators(tmp_path: Path) -> None:
    corpus = read(tmp_path, {"ann": marks(), "ben": state({"d0": [span(0, 3)]})})
    assert extents(corpus) == [
        ("ann", "d0", ((0, 3),)),
        ("ann", "d0", ((8, 11),)),
        ("ann", "d1", ((0, 3),)),
        ("ben", "d0", ((0, 3),)),
    ]
