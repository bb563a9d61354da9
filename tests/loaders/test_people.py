"""Who counts: persons with several logins, roles, and annotators and items by pattern."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from potato_iaa.corpus import Corpus
from potato_iaa.errors import UsageError
from potato_iaa.loaders import read_project
from tests.loaders.projects import (
    NER,
    TONE,
    assert_accounted,
    extents,
    left_out,
    passes,
    reasons,
    rows,
    span,
    state,
    write_project,
)

SECOND = ("set_aside", "second pass of one person on the item, under another login")


def read(folder: Path, states: dict[str, Any], **options: Any) -> Corpus:
    config = write_project(folder, states, schemes=[NER, TONE])
    corpus = read_project(config, **options)
    assert_accounted(corpus)
    return corpus


def answer(item: str, label: str) -> dict[str, Any]:
    return {"instance_id_to_label_to_value": {item: [[{"schema": "tone", "name": label}, label]]}}


def test_logins_of_one_person_are_one_annotator(tmp_path: Path) -> None:
    states = {
        "ann": state({"d1": [span(0, 3)]}, order=["d1"]),
        "ann-laptop": state({"d2": [span(3, 8)]}, order=["d2"]),
        "ben": state({"d1": [span(0, 3)]}),
    }
    corpus = read(tmp_path, states, merge={"ann-laptop": "ann"})
    assert extents(corpus) == [
        ("ann", "d1", ((0, 3),)),
        ("ann", "d2", ((3, 8),)),
        ("ben", "d1", ((0, 3),)),
    ]
    assert passes(corpus) == {"ann": ["d1", "d2"], "ben": ["d1"]}
    assert "read as 'ann', as was asked for: 1 other login." in corpus.ledger.notes


def test_of_two_passes_of_one_person_on_an_item_one_stands(tmp_path: Path) -> None:
    states = {
        "ann": state({"d1": [span(0, 3)], "d2": []}, **answer("d1", "good")),
        "a2": state({"d1": [span(0, 3), span(8, 13)], "d2": [span(3, 8)]}, **answer("d1", "bad")),
    }
    corpus = read(tmp_path, states, merge={"a2": "ann"})
    # On d1 the pass under the person's own name, on d2 the only one with a span.
    assert extents(corpus) == [("ann", "d1", ((0, 3),)), ("ann", "d2", ((3, 8),))]
    assert reasons(corpus) == [SECOND, SECOND]
    assert corpus.ledger.totals()["read"] == 4
    assert passes(corpus) == {"ann": ["d1", "d2"]}
    assert corpus.answers["label"].tolist() == ["good"]


def test_two_folders_of_one_user_id_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    states = {
        "one": state({"d1": [span(0, 3)]}) | {"user_id": "ann"},
        "two": state({"d1": [span(8, 13)]}) | {"user_id": "ann"},
    }
    apart = read(tmp_path / "a", states, merge={"two": "ben"})
    assert extents(apart) == [("ann", "d1", ((0, 3),)), ("ben", "d1", ((8, 13),))]
    joined = read(tmp_path / "b", states, merge={"one": "ann", "two": "ann"})
    assert extents(joined) == [("ann", "d1", ((0, 3),))]
    assert reasons(joined) == [SECOND]


def test_logins_of_different_generations_are_one_person(tmp_path: Path) -> None:
    new = state({"d1": [span(2, 5)]})
    old = state({"d2": [span(3, 6)]}) | {"crowd_metadata": {}}
    for key in (
        "flow_record",
        "instance_id_to_presentation_order",
        "instance_id_to_room_provenance",
    ):
        del old[key]
    items = [{"id": name, "text": "🔥 Ada."} for name in ("d1", "d2")]
    config = write_project(tmp_path, {"ann": new, "old": old}, items=items)
    corpus = read_project(config, merge={"old": "ann"})
    assert_accounted(corpus)
    assert extents(corpus) == [("ann", "d1", ((2, 5),)), ("ann", "d2", ((2, 5),))]
    assert reasons(corpus) == []


def test_annotators_are_chosen_by_pattern(tmp_path: Path) -> None:
    states = {name: state({"d1": [span(0, 3)]}) for name in ("ann", "ben", "test-1", "test-2")}
    corpus = read(tmp_path / "a", states, exclude_annotators=["test-*"])
    assert list(corpus.annotators["annotator"]) == ["ann", "ben"]
    assert left_out(corpus) == [("annotator", "test-1", 1), ("annotator", "test-2", 1)]
    corpus = read(tmp_path / "b", states, include_annotators=["*n", "test-1"])
    assert list(corpus.annotators["annotator"]) == ["ann", "ben", "test-1"]
    assert left_out(corpus) == [("annotator", "test-2", 1)]


def test_items_are_chosen_by_pattern(tmp_path: Path) -> None:
    states = {"ann": state({"d1": [span(0, 3)], "d2": []})}
    corpus = read(tmp_path / "a", states, include_items=["d1"])
    assert list(corpus.items["item"]) == ["d1"]
    assert passes(corpus) == {"ann": ["d1"]}
    assert "only some of the items were read: include 'd1'." in corpus.ledger.notes
    corpus = read(tmp_path / "b", states, exclude_items=["*1"])
    assert passes(corpus) == {"ann": ["d2"]}
    assert left_out(corpus) == [("excluded item", "d1", 1)]


def test_annotators_have_the_roles_that_they_are_given(tmp_path: Path) -> None:
    states = {
        "ann": state({"d1": [span(0, 3)]}),
        "boss": state({"d1": [span(0, 3)]}),
        "gpt-5": state({"d1": [span(0, 3)]}, origin={"kind": "llm"}),
    }
    adjudication = {"enabled": True, "adjudicator_users": ["boss"]}
    config = write_project(tmp_path, states, adjudication=adjudication)
    assert list(read_project(config).annotators["annotator"]) == ["ann"]
    corpus = read_project(config, roles={"gpt*": "system", "boss": "gold"})
    assert_accounted(corpus)
    assert rows(corpus.annotators, "annotator", "role") == [
        ("ann", "human"),
        ("boss", "gold"),
        ("gpt-5", "system"),
    ]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"include_annotators": ["zoe"]}, "include annotators: nobody is called 'zoe'"),
        ({"exclude_annotators": ["z*"]}, "exclude annotators: nobody is called 'z\\*'"),
        ({"roles": {"zoe": "gold"}}, "roles: nobody is called 'zoe'"),
        ({"roles": {"ann": "boss"}}, "no role 'boss'"),
        ({"merge": {"zoe": "ann"}}, "merge: nobody is called 'zoe': there are 'ann'"),
        ({"merge": {"ann": " "}}, "merge: 'ann' is given no name"),
    ],
)
def test_a_name_that_nobody_has_is_a_usage_error(
    tmp_path: Path, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        read(tmp_path, {"ann": state({"d1": [span(0, 3)]})}, **options)


def test_blanks_at_the_ends_are_trimmed_where_that_is_asked_for(tmp_path: Path) -> None:
    stored = [span(3, 8), span(4, 7), span(0, 3), span(7, 8), span(13, 17)]
    corpus = read(tmp_path / "a", {"ann": state({"d1": stored})}, trim=True)
    assert [row[2] for row in extents(corpus)] == [((0, 3),), ((4, 7),), ((14, 16),)]
    assert reasons(corpus) == [
        ("repaired", "blanks at its ends were trimmed"),
        ("repaired", "blanks at its ends were trimmed"),
        ("set_aside", "covers only blanks"),
        ("set_aside", "duplicate of another span of the pass"),
    ]
    assert "blanks at the ends of spans were trimmed: 2 spans." in corpus.ledger.notes
    corpus = read(tmp_path / "b", {"ann": state({"d1": stored})})
    assert [row[2] for row in extents(corpus)] == [((0, 3),), ((3, 8),), ((4, 7),), ((13, 17),)]


def test_further_parts_are_trimmed_too(tmp_path: Path) -> None:
    further = {"additional_parts": [{"start": 7, "end": 14}]}
    corpus = read(tmp_path, {"ann": state({"d1": [span(0, 4, **further)]})}, trim=True)
    assert [row[2] for row in extents(corpus)] == [((0, 3), (8, 13))]
