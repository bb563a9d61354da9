"""Annotators' states: spans, passes and traces as Potato leaves them."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from potato_iaa.errors import InputError, UsageError
from potato_iaa.loaders import read_project
from tests.loaders.projects import (
    NER,
    TONE,
    assert_accounted,
    extents,
    left_out,
    marked,
    parts,
    passes,
    reasons,
    span,
    state,
    write_project,
)

MORE_ITEMS = [{"id": f"d{n}", "text": f"Ada met Bob and Cy in {n}."} for n in range(6)]
ORDER = [item["id"] for item in MORE_ITEMS]


def read(folder: Path, states: dict[str, Any], **options: Any) -> Any:
    config = write_project(folder, states, items=MORE_ITEMS, schemes=[NER, TONE])
    corpus = read_project(config, **options)
    assert_accounted(corpus)
    return corpus


def test_spans_are_read_from_pairs(tmp_path: Path) -> None:
    corpus = read(tmp_path, {"ann": state({"d0": [span(0, 3), span(8, 11, "LOC")]}, order=ORDER)})
    assert marked(corpus) == [
        ("d0", "", "ann", "ner", "LOC", ((8, 11),), "Bob"),
        ("d0", "", "ann", "ner", "PER", ((0, 3),), "Ada"),
    ]


def test_deleted_spans_leave_an_empty_pass(tmp_path: Path) -> None:
    corpus = read(tmp_path, {"ann": state({"d4": []}, order=ORDER)})
    assert passes(corpus) == {"ann": ["d4"]}
    assert corpus.ledger.totals()["read"] == 0


def test_every_trace_of_an_item_is_a_pass(tmp_path: Path) -> None:
    ann = state(
        {"d5": [span(0, 3)]},
        order=["d3", "d4", "d2", "d5", "d1", "d0"],
        index=1,
        instance_id_to_label_to_value={"d2": [[{"schema": "tone", "name": "good"}, "good"]]},
        instance_id_to_behavioral_data={"d4": {"interactions": []}},
    )
    corpus = read(tmp_path, {"ann": ann})
    assert passes(corpus) == {"ann": ["d3", "d4", "d2", "d5"]}
    assert sorted(corpus.passes["order"]) == [0, 1, 2, 3]


def test_the_policy_decides_which_items_are_passes(tmp_path: Path) -> None:
    ann = state({"d1": [span(0, 3)], "d2": []}, order=ORDER[:5], index=1)
    by_policy = {
        policy: passes(read(tmp_path / policy, {"ann": ann}, passes=policy))["ann"]
        for policy in ("seen", "assigned", "marked")
    }
    assert by_policy == {
        "seen": ["d0", "d1", "d2"],
        "assigned": ["d0", "d1", "d2", "d3", "d4"],
        "marked": ["d1"],
    }


def test_the_ledger_counts_passes_under_every_policy(tmp_path: Path) -> None:
    corpus = read(tmp_path, {"ann": state({"d1": [span(0, 3)], "d2": []}, order=ORDER, index=1)})
    counts = corpus.ledger.passes.set_index("policy")[["passes", "empty_passes"]]
    assert counts.T.to_dict("list") == {"seen": [3, 2], "assigned": [6, 5], "marked": [1, 0]}


def test_an_unknown_policy_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="seen, assigned, marked"):
        read_project(tmp_path, passes="all")


def test_somebody_without_a_pass_is_left_out(tmp_path: Path) -> None:
    states = {"ann": state({"d1": [span(0, 3)]}), "eve": state(order=ORDER)}
    corpus = read(tmp_path, states)
    assert list(corpus.annotators["annotator"]) == ["ann"]
    assert ("annotator", "eve", 0) in left_out(corpus)
    assert set(corpus.ledger.passes["annotator"]) == {"ann", "eve"}


def test_a_discontinuous_span_stored_with_each_part_is_one_span(tmp_path: Path) -> None:
    stored = [
        span(0, 3),
        span(0, 3, **parts((8, 11, "Bob"))),
        span(0, 3, **parts((8, 11, "Bob"), (16, 18, "Cy"))),
        span(0, 3, "LOC"),
    ]
    corpus = read(tmp_path, {"ann": state({"d0": stored})})
    assert extents(corpus) == [("ann", "d0", ((0, 3),)), ("ann", "d0", ((0, 3), (8, 11), (16, 18)))]
    unfinished = ("set_aside", "an unfinished copy of a discontinuous span")
    assert reasons(corpus) == [unfinished, unfinished]


def test_two_discontinuous_spans_with_one_head_are_two_spans(tmp_path: Path) -> None:
    stored = [span(0, 3), span(0, 3, **parts((8, 11))), span(0, 3, **parts((16, 18)))]
    corpus = read(tmp_path, {"ann": state({"d0": stored})})
    assert extents(corpus) == [("ann", "d0", ((0, 3), (8, 11))), ("ann", "d0", ((0, 3), (16, 18)))]


def test_a_part_may_stand_before_the_head(tmp_path: Path) -> None:
    corpus = read(tmp_path, {"ann": state({"d0": [span(8, 11, **parts((0, 3, "Ada")))]})})
    assert marked(corpus)[0][5:] == (((0, 3), (8, 11)), "Ada ... Bob")


def test_parts_that_touch_are_one_part_and_a_copy_of_it_is_a_duplicate(tmp_path: Path) -> None:
    corpus = read(tmp_path, {"ann": state({"d0": [span(0, 3, **parts((3, 7))), span(0, 7)]})})
    assert extents(corpus) == [("ann", "d0", ((0, 7),))]
    assert reasons(corpus) == [("set_aside", "duplicate of another span of the pass")]


def test_identical_spans_collapse_and_are_counted(tmp_path: Path) -> None:
    stored = [span(0, 3), span(0, 3), span(0, 3, "LOC"), span(0, 3, id="another")]
    corpus = read(tmp_path, {"ann": state({"d0": stored}), "ben": state({"d0": stored})})
    assert len(corpus.spans) == 4
    assert corpus.ledger.by_reason()["spans"].tolist() == [4]


def test_answers_to_other_schemes_are_kept_beside_the_spans(tmp_path: Path) -> None:
    ann = state(
        instance_id_to_label_to_value={
            "d0": [[{"schema": "tone", "name": "good"}, "good"], [{"schema": "x", "name": "y"}, 1]],
            "d1": {"tone": {"bad": True}},
            "zz": [[{"schema": "tone", "name": "good"}, "good"]],
        }
    )
    corpus = read(tmp_path, {"ann": ann})
    assert corpus.answers.astype(str).to_numpy().tolist() == [
        ["d0", "ann", "tone", "good", "good"],
        ["d1", "ann", "tone", "bad", "true"],
    ]
    assert corpus.categorical[0].labels == ("good", "bad")


@pytest.mark.parametrize(
    "document",
    [
        {"user_id": "ann", "instance_id_to_span_to_value": {"d0": [span(0, 3)]}},
        state({"d0": [[span(0, 3)[0]]]}),
        state({"d0": [span(0, 3)[0]]}),
        state({"d0": [span("0", 3.0)]}),
        state({"d0": {"ner": [span(0, 3)[0]]}}),
        state({"d0": {"ner": {"x": {"name": "PER", "start": 0, "end": 3}}}}),
        state({"d0": [span(0, 3)]}, index=None, instance_id_to_behavioral_data=None),
        state({"d0": [span(0, 3)]}, instance_id_to_label_to_value=[1, 2]),
        state({"d0": [span(0, 3, text="Ada", target_field="", additional_parts=[])]}),
    ],
)
def test_other_shapes_of_a_state_are_read(tmp_path: Path, document: dict[str, Any]) -> None:
    assert extents(read(tmp_path, {"ann": document})) == [("ann", "d0", ((0, 3),))]


def test_entries_that_are_no_spans_are_set_aside_by_name(tmp_path: Path) -> None:
    stored = [
        span(0, 3),
        7,
        [],
        [None, 1],
        [{"schema": "ner", "start": 0, "end": 3}, 1],
        span("x", 3),
        span(0.5, 3),
        span(0, 10**30),
        span(True, 3),
        span(0, 3, **parts(("a", 4))),
    ]
    corpus = read(tmp_path, {"ann": state({"d0": stored, "d1": "text", "d2": 5})})
    assert extents(corpus) == [("ann", "d0", ((0, 3),))]
    assert corpus.ledger.totals() == {"read": 12, "kept": 1, "repaired": 0, "set_aside": 11}
    assert {reason for _, reason in reasons(corpus)} == {
        "the entry is not a span",
        "the span has no label",
        "the offsets are not whole numbers",
    }


@pytest.mark.parametrize(
    "stored",
    [
        span(0, 3),
        span(0, 3, ""),
        span(0, 3, " "),
        span(0, 3, "PER", ""),
        span(0, 3, text=""),
        span(0, 3, target_field=""),
        span(0, 3, additional_parts=[]),
        span(0, 3, **parts((5, 6, ""))),
        span(3, 0),
        span(0, 0),
        span(-1, 3),
        span(0, 10**6),
        span(0, 2**40),
        span(0, 2**40 + 1),
        span(0, 3, "a \ud800"),
    ],
)
def test_a_span_is_read_the_same_beside_one_that_is_odd(tmp_path: Path, stored: list[Any]) -> None:
    alone = read(tmp_path / "alone", {"ann": state({"d0": [stored]})})
    beside = read(tmp_path / "beside", {"ann": state({"d0": [stored], "d1": [7]})})
    assert marked(beside) == marked(alone)
    odd = ("set_aside", "the entry is not a span")
    assert reasons(beside) == sorted([*reasons(alone), odd])


def test_a_state_with_numbers_that_json_does_not_know_is_read(tmp_path: Path) -> None:
    traces = {"d1": {"time": float("nan")}}
    document = state({"d0": [span(0, 3)]}, order=ORDER, instance_id_to_behavioral_data=traces)
    corpus = read(tmp_path, {"ann": json.dumps(document).encode()})
    assert passes(corpus) == {"ann": ["d0", "d1"]}


def test_half_a_surrogate_pair_in_a_name_is_replaced(tmp_path: Path) -> None:
    content = json.dumps(state({"d0": [span(0, 3, "P\ud83d")]})).encode()
    corpus = read(tmp_path, {"ann": content})
    assert [row[4] for row in marked(corpus)] == ["P\ufffd"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is cut off"),
        (b'{"user_id": "ann", "instance_id_to_span_to_value": {"d0": [[{"sch', "is cut off"),
        (b'{"user_id": "ann", "instance_id_ordering": ["d0",', "is cut off"),
        (b"{'user_id': 'ann'}", r"line 1, column 2: .* is not JSON"),
        (b'{"user_id": "\xff"}', r"byte 13: .* is not text in UTF-8"),
        (b"[" * 100_000, "ann"),
        (b'{"user_id": ' + b"9" * 5000 + b"}", "ann"),
        (b"[1, 2]", "holds something else"),
        (b"null", "holds something else"),
    ],
)
def test_a_broken_state_names_its_annotator_and_can_be_skipped(
    tmp_path: Path, content: bytes, message: str
) -> None:
    states = {"ann": content, "ben": state({"d0": [span(0, 3)]})}
    config = write_project(tmp_path, states, items=MORE_ITEMS)
    with pytest.raises(InputError, match=message) as raised:
        read_project(config)
    assert "'ann'" in str(raised.value)
    assert "user_state.json" in str(raised.value)
    assert "\n" not in str(raised.value)
    corpus = read_project(config, skip_broken=True)
    assert extents(corpus) == [("ben", "d0", ((0, 3),))]
    assert left_out(corpus) == [("unreadable annotator", "ann", 0)]
    assert str(raised.value) in set(corpus.ledger.left_out["reason"])


AFTER_2_8 = (
    "instance_id_to_presentation_order",
    "instance_id_to_room_provenance",
    "flow_record",
)


@pytest.mark.parametrize(
    ("keys", "version", "unit"),
    [
        ((), "2.0", "UTF-16 units"),
        (("link",), "2.1", "UTF-16 units"),
        (("link", "event"), "2.2 to 2.6", "UTF-16 units"),
        (("link", "event", "crowd"), "2.7 or 2.8", "UTF-16 units"),
        (("presentation",), "≥ 2.9", "code points"),
    ],
)
def test_the_keys_of_a_state_tell_its_generation(
    tmp_path: Path, keys: tuple[str, ...], version: str, unit: str
) -> None:
    names = {
        "link": "instance_id_to_link_to_value",
        "event": "instance_id_to_event_to_value",
        "crowd": "crowd_metadata",
        "presentation": "instance_id_to_presentation_order",
    }
    old = {key: value for key, value in state({"d0": [span(0, 3)]}).items() if key not in AFTER_2_8}
    corpus = read(tmp_path, {"ann": old | {names[key]: {} for key in keys}})
    assert (corpus.source.potato_version, corpus.source.offset_unit) == (version, unit)
    assert extents(corpus) == [("ann", "d0", ((0, 3),))]


def test_the_generation_is_that_of_the_oldest_state(tmp_path: Path) -> None:
    new, older = state({"d0": []}), state({"d0": []})
    del older["flow_record"]
    assert read(tmp_path / "a", {"ann": new}).source.potato_version == "≥ 2.12"
    assert read(tmp_path / "b", {"ann": new, "ben": older}).source.potato_version == "≥ 2.9"
    seeded = {"user_id": "ann", "instance_id_to_label_to_value": {"d0": {"tone": {"good": 1}}}}
    assert read(tmp_path / "c", {"ann": seeded}).source.potato_version == ""


def test_the_user_id_in_the_state_is_the_annotator(tmp_path: Path) -> None:
    states = {
        "a-folder": {**state({"d0": [span(0, 3)]}), "user_id": "ann"},
        "77】": {**state({"d0": [span(0, 3)]}), "user_id": None},
        "{{user}}": {**state({"d0": [span(0, 3)]}), "user_id": 12},
    }
    corpus = read(tmp_path, states)
    assert list(corpus.annotators["annotator"]) == ["12", "77】", "ann"]


def test_two_folders_for_one_annotator_are_refused(tmp_path: Path) -> None:
    states = {name: {**state({"d0": [span(0, 3)]}), "user_id": "ann"} for name in ("one", "two")}
    config = write_project(tmp_path, states, items=MORE_ITEMS)
    with pytest.raises(
        InputError, match=r"two.user_state.json: holds the work of 'ann', and so does"
    ) as raised:
        read_project(config)
    assert "--merge two=NAME" in str(raised.value)
    corpus = read_project(config, merge={"two": "ann 2"})
    assert list(corpus.annotators["annotator"]) == ["ann", "ann 2"]


def test_ids_are_text_everywhere(tmp_path: Path) -> None:
    items: list[dict[str, Any]] = [{"id": 15, "text": "Ada"}, {"id": "016", "text": "Bob"}]
    config = write_project(
        tmp_path, {"ann": state({"15": [span(0, 3)]}, order=[15, "016"], index=2)}, items=items
    )
    corpus = read_project(config)
    assert passes(corpus) == {"ann": ["15", "016"]}
    assert extents(corpus) == [("ann", "15", ((0, 3),))]


def test_progress_is_told_for_every_annotator(tmp_path: Path) -> None:
    said: list[tuple[str, int, int]] = []
    states = {"ann": state({"d0": []}), "ben": state({"d0": []})}
    read(tmp_path, states, progress=lambda *step: said.append(step))
    assert said == [("annotators", 0, 2), ("annotators", 1, 2), ("annotators", 2, 2)]


def test_a_state_with_nothing_but_a_user_id_is_an_annotator_without_a_pass(tmp_path: Path) -> None:
    corpus = read(tmp_path, {"ann": state({"d0": [span(0, 3)]}), "eve": {"user_id": "eve"}})
    assert ("annotator", "eve", 0) in left_out(corpus)


def test_big_states_are_read_one_at_a_time(tmp_path: Path) -> None:
    size = 4_000_000
    traces = {"d1": {"interactions": ["x" * 1000] * (size // 1000)}}
    states = {
        f"ann{n}": state({"d0": [span(0, 3)]}, instance_id_to_behavioral_data=traces)
        for n in range(6)
    }
    config = write_project(tmp_path, states, items=MORE_ITEMS)
    read_project(config)
    tracemalloc.start()
    corpus = read_project(config)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(corpus.spans) == 6
    assert peak < 2 * size
