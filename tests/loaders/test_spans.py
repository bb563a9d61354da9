"""Every span is checked against the text, and none is cut to fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potato_iaa.corpus import Corpus
from potato_iaa.errors import InputError, UsageError
from potato_iaa.loaders import read_project
from potato_iaa.loaders.page import Page
from potato_iaa.loaders.records import Part, StoredSpans
from potato_iaa.loaders.rendering import Shown
from potato_iaa.loaders.spans import check
from tests.loaders.projects import (
    NER,
    TONE,
    assert_accounted,
    extents,
    marked,
    parts,
    reasons,
    span,
    state,
    write_project,
)

TEXT = "Ada  met Bob in  Oslo."
ITEMS = [{"id": "d1", "text": TEXT}, {"id": "d2", "text": "x\n \n y 🔥 z"}]


def read(folder: Path, spans: Any, **project: Any) -> Corpus:
    config = write_project(folder, {"ann": state(spans)}, **{"items": ITEMS, **project})
    corpus = read_project(config)
    assert_accounted(corpus)
    return corpus


def test_offsets_count_the_text_as_it_was_shown(tmp_path: Path) -> None:
    corpus = read(tmp_path, {"d1": [span(8, 11), span(15, 19)], "d2": [span(9, 10)]})
    assert [row[-1] for row in marked(corpus)] == ["Oslo", "Bob", "z"]


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        (span(16, 21), "lies outside the text"),
        (span(-1, 3), "lies outside the text"),
        (span(900, 903), "lies outside the text"),
        (span(8, 4), "ends before it starts"),
        (span(8, 8), "covers no character"),
        (span(0, 0, format_coords={"page": 1}), "marks a region of the page, not a text"),
        (span(3, 4), "covers only blanks"),
        (span(0, 3, **parts((3, 4))), "covers only blanks"),
        (span(0, 3, **parts((4, 99))), "lies outside the text"),
        (span(0, 3, **parts((8, 8))), "covers no character"),
        (span(0, 3, **parts((11, 8))), "ends before it starts"),
        (span(0, 3, **parts((8, 11, "Oslo"))), "the stored text is not the text at its offsets"),
        (span(0, 3, text="Eve"), "its stored text was not found in the text"),
    ],
)
def test_a_span_that_is_none_is_set_aside_by_name(
    tmp_path: Path, stored: list[Any], reason: str
) -> None:
    corpus = read(tmp_path, {"d1": [span(8, 11), stored]})
    assert extents(corpus) == [("ann", "d1", ((8, 11),))]
    assert reasons(corpus) == [("set_aside", reason)]
    entry = corpus.ledger.entries.iloc[0]
    assert (entry["start"], entry["end"]) == (stored[0]["start"], stored[0]["end"])
    assert (entry["item"], entry["label"], entry["scheme"]) == ("d1", "PER", "ner")


def test_a_stored_text_may_differ_in_blanks(tmp_path: Path) -> None:
    stored = [span(0, 7, text=" Ada\nmet "), span(0, 3, **parts((4, 11, "met  Bob ")))]
    assert reasons(read(tmp_path, {"d1": stored})) == []


def test_blanks_around_a_span_are_kept(tmp_path: Path) -> None:
    corpus = read(tmp_path, {"d1": [span(3, 8)], "d2": [span(1, 6)]})
    assert [row[-1] for row in marked(corpus)] == [" met ", "\n \n y"]


def test_spans_of_unknown_items_are_set_aside(tmp_path: Path) -> None:
    corpus = read(tmp_path, {"d1": [span(0, 3)], "zz": [span(0, 3), span(4, 7)]})
    assert reasons(corpus) == [("set_aside", "item not in the data files")] * 2


def test_if_no_span_is_on_a_known_item_the_ids_are_wrong(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"like 'zz', the data files have 'd1' and 1 more"
    ) as raised:
        read(tmp_path, {"zz": [span(0, 3)]})
    assert "id_key ('id')" in str(raised.value)


def test_spans_of_unknown_schemes_are_set_aside(tmp_path: Path) -> None:
    stored = [span(0, 3), span(0, 3, "X", scheme="old"), span(0, 3, "good", scheme="tone")]
    corpus = read(tmp_path, {"d1": stored}, schemes=[NER, TONE])
    assert reasons(corpus) == [("set_aside", "scheme not in the configuration")] * 2
    assert set(corpus.ledger.read["scheme"]) == {"ner", "old", "tone"}


def test_schemes_can_be_chosen(tmp_path: Path) -> None:
    other = {**NER, "name": "events", "labels": ["E"]}
    stored = [span(0, 3), span(4, 7, "E", scheme="events"), span(4, 7, "X", scheme="old")]
    config = write_project(
        tmp_path, {"ann": state({"d1": stored})}, items=ITEMS, schemes=[NER, other, TONE]
    )
    corpus = read_project(config, schemes=["events"])
    assert_accounted(corpus)
    assert [scheme.name for scheme in corpus.schemes] == ["events"]
    assert [row[3] for row in marked(corpus)] == ["events"]
    assert corpus.ledger.totals()["read"] == 1
    assert [note for note in corpus.ledger.notes if "not asked for" in note] == [
        "scheme 'ner' was not asked for: 1 span not read.",
        "scheme 'old' was not asked for: 1 span not read.",
    ]
    for wrong in ("tone", "nothing"):
        with pytest.raises(
            UsageError, match=r"'ner' \(span\), 'events' \(span\), 'tone' \(radio\)"
        ):
            read_project(config, schemes=[wrong])


def test_a_project_without_a_span_scheme_is_refused_with_its_schemes(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is a span scheme \(there are 'tone' \(radio\)\)"):
        read(tmp_path, {"d1": [span(0, 3)]}, schemes=[TONE])


def test_without_any_declared_scheme_the_spans_tell(tmp_path: Path) -> None:
    corpus = read(tmp_path / "a", {"d1": [span(0, 3)]}, schemes=[])
    assert [scheme.name for scheme in corpus.schemes] == ["ner"]
    assert len(corpus.spans) == 1
    with pytest.raises(InputError, match="declares no annotation schemes"):
        read(tmp_path / "b", {"d1": []}, schemes=[])


def test_undeclared_labels_are_kept_and_noted(tmp_path: Path) -> None:
    corpus = read(tmp_path, {"d1": [span(0, 3), span(4, 7, "FOO"), span(8, 11, "FOO")]})
    assert len(corpus.spans) == 3
    assert corpus.ledger.notes == (
        "scheme 'ner': labels used but not declared: 'FOO' (2 spans, kept).",
    )


def test_a_span_scheme_may_have_no_labels_of_its_own(tmp_path: Path) -> None:
    scheme = {"annotation_type": "span", "name": "ner", "codebook": True, "bad_text_label": "None"}
    corpus = read(tmp_path, {"d1": [span(0, 3)]}, schemes=[scheme])
    assert corpus.schemes[0].labels == ()
    assert ["codebook" in note or "bad_text_label" in note for note in corpus.ledger.notes] == [
        True,
        True,
    ]


def test_labels_of_the_simulator_are_noted(tmp_path: Path) -> None:
    answers = {"d1": [[{"schema": "ner", "name": "PER:0:3"}, True]]}
    states = {"ann": state({"d1": [span(0, 3)]}, instance_id_to_label_to_value=answers)}
    corpus = read_project(write_project(tmp_path, states, items=ITEMS))
    assert any("simulator" in note for note in corpus.ledger.notes)


FIELDS = [
    {"id": "d1", "text": "t", "head": "Ada  met", "body": "one\ntwo <b>x</b>", "log": ["A: hi"]},
    {"id": "d2", "text": "t", "head": "Bob", "body": "more", "log": []},
    {"id": "d3", "text": "t", "head": "Cy"},
]


def displaying(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"items": FIELDS, "instance_display": {"fields": list(fields)}}


HEAD = {"key": "head", "type": "text", "span_target": True}
BODY = {"key": "body", "type": "text", "span_target": True}
LOG = {"key": "log", "type": "dialogue", "span_target": True, "show_turn_numbers": True}
PICTURE = {"key": "picture", "type": "image"}


def test_spans_lie_in_their_display_field(tmp_path: Path) -> None:
    stored = [
        span(5, 8, target_field="head"),
        span(7, 15, target_field="body"),
        span(4, 9, target_field="log"),
    ]
    corpus = read(tmp_path, {"d1": stored, "d3": []}, **displaying(HEAD, BODY, LOG, PICTURE))
    covered = {row[1]: row[-1] for row in marked(corpus)}
    assert covered == {"head": "met", "body": "<b>x</b>", "log": "A: hi"}


def test_a_pass_is_on_every_display_field_that_the_item_has(tmp_path: Path) -> None:
    corpus = read(
        tmp_path, {"d1": [span(0, 3, target_field="head")], "d3": []}, **displaying(HEAD, BODY)
    )
    rows = corpus.passes[["item", "field"]].astype(str).to_numpy().tolist()
    assert rows == [["d1", "head"], ["d1", "body"], ["d3", "head"]]
    assert "field 'body': 1 item without it." in corpus.ledger.notes


def test_the_only_field_is_filled_in_where_none_was_stored(tmp_path: Path) -> None:
    corpus = read(tmp_path, {"d1": [span(0, 3)]}, **displaying(HEAD, PICTURE))
    assert [row[1] for row in marked(corpus)] == ["head"]
    assert reasons(corpus) == [
        ("repaired", "no display field stored: the only one that takes spans was filled in")
    ]


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        (span(0, 3), "no display field stored, and several take spans"),
        (
            span(0, 3, target_field="picture"),
            "display field that takes no spans in the configuration",
        ),
    ],
)
def test_a_span_without_a_place_is_set_aside(
    tmp_path: Path, stored: list[Any], reason: str
) -> None:
    corpus = read(
        tmp_path,
        {"d1": [span(0, 3, target_field="head"), stored]},
        **displaying(HEAD, BODY, PICTURE),
    )
    assert reasons(corpus) == [("set_aside", reason)]


def test_a_span_in_a_field_that_the_item_lacks_is_set_aside(tmp_path: Path) -> None:
    stored = {"d1": [span(0, 3, target_field="head")], "d3": [span(0, 1, target_field="body")]}
    corpus = read(tmp_path, stored, **displaying(HEAD, BODY))
    assert reasons(corpus) == [("set_aside", "the item has no such display field")]


def test_a_field_that_no_item_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="instance_display shows 'tail'"):
        read(tmp_path, {"d1": []}, **displaying({**HEAD, "key": "tail"}))


def test_spans_are_read_where_the_text_cannot_be_rebuilt(tmp_path: Path) -> None:
    stored = [span(0, 9, target_field="head"), span(7, 3, target_field="head")]
    corpus = read(tmp_path, {"d1": stored}, **displaying({**HEAD, "type": "agent_trace"}))
    assert marked(corpus) == [("d1", "head", "ann", "ner", "PER", ((0, 9),), None)]
    assert reasons(corpus) == [("set_aside", "ends before it starts")]
    assert any("cannot be rebuilt" in note for note in corpus.ledger.notes)


def test_a_scheme_is_offered_on_its_target_field(tmp_path: Path) -> None:
    schemes = [
        {**NER, "target_field": "head"},
        {**NER, "name": "other", "target_field": "nowhere"},
        {**NER, "name": "used", "target_field": "head"},
    ]
    stored = [span(0, 3, scheme="used", target_field="body")]
    corpus = read(tmp_path / "a", {"d1": stored}, schemes=schemes, **displaying(HEAD, BODY))
    assert [scheme.fields for scheme in corpus.schemes] == [("head",), None, ("body", "head")]
    corpus = read(tmp_path / "b", {"d1": [span(0, 3, target_field="head")]}, schemes=schemes)
    assert [scheme.fields for scheme in corpus.schemes] == [None, None, None]
    assert [row[1] for row in marked(corpus)] == [""]


def read_head(folder: Path, head: str, *stored: list[Any]) -> Corpus:
    items = [{"id": "d1", "text": "t", "head": head}]
    return read(folder, {"d1": list(stored)}, items=items, instance_display={"fields": [HEAD]})


def test_offsets_that_potato_counted_on_another_text_are_counted_again(tmp_path: Path) -> None:
    head = "<i>no</i> 🔥 marked 🏆 Ann, and more"
    stored = [span(12, 17, target_field="head"), span(0, 2, "LOC", target_field="head")]
    corpus = read_head(tmp_path, head, *stored)
    assert {row[4]: row[-1] for row in marked(corpus)} == {"PER": "marked", "LOC": "<i"}
    assert reasons(corpus) == [
        ("repaired", "offsets that Potato counted on another text were counted again")
    ]
    assert corpus.ledger.entries["end"].tolist() == [17]


@pytest.mark.parametrize(
    ("head", "stored"),
    [
        # "now" lies beyond the end of the text without mark-up.
        ("🔥 see <i>now</i>.", span(9, 10, "LOC", target_field="head")),
        # The browser's start may be before or in the middle of the second emoji.
        ("<i>no</i> 🔥 mark 🏆 Ann, and more", span(11, 16, "LOC", target_field="head")),
    ],
)
def test_offsets_that_cannot_be_told_are_set_aside(
    tmp_path: Path, head: str, stored: list[Any]
) -> None:
    corpus = read_head(tmp_path, head, span(0, 1, target_field="head"), stored)
    assert len(corpus.spans) == 1
    assert reasons(corpus) == [
        ("set_aside", "offsets lost when Potato turned them into code points")
    ]


_OFFSETS = st.integers(-2, 14)
_PARTS = st.lists(st.tuples(_OFFSETS, _OFFSETS), max_size=2)
_SPANS = st.lists(
    st.tuples(
        st.sampled_from("ab?"),
        st.sampled_from("xy"),
        st.sampled_from("PL"),
        _OFFSETS,
        _OFFSETS,
        _PARTS,
    ),
    max_size=8,
)


@settings(deadline=None)
@given(_SPANS)
def test_every_stored_span_is_kept_repaired_or_set_aside(
    given_spans: list[tuple[str, str, str, int, int, list[tuple[int, int]]]],
) -> None:
    def column(position: int, codes: str) -> Any:
        return np.array([codes.index(str(row[position])) for row in given_spans], dtype=np.int64)

    stored = StoredSpans(
        items=("a", "b", "?"),
        schemes=("x", "y"),
        labels=("P", "L"),
        fields=("",),
        item=column(0, "ab?"),
        scheme=column(1, "xy"),
        label=column(2, "PL"),
        field=np.zeros(len(given_spans), dtype=np.int64),
        start=np.array([row[3] for row in given_spans], dtype=np.int64),
        end=np.array([row[4] for row in given_spans], dtype=np.int64),
        parts={
            n: tuple(Part(start, end) for start, end in row[5])
            for n, row in enumerate(given_spans)
            if row[5]
        },
    )
    page = Page.of({"a": 0, "b": 1}, {"": [Shown("ab cd  ef gh"), Shown("one two")]})
    checked = check(stored, page=page, schemes=["x"])
    set_aside = int((checked.entries["outcome"] == "set_aside").sum())
    assert sum(checked.read.values()) == len(given_spans)
    assert len(set(checked.span.tolist())) + set_aside == len(given_spans)
    assert (checked.start < checked.end).all()
    assert (checked.end <= page.lengths[checked.unit]).all()
    kept: dict[int, list[Any]] = {}
    for n, unit, label, start, end in zip(
        *(c.tolist() for c in (checked.span, checked.unit, checked.label)),
        checked.start.tolist(),
        checked.end.tolist(),
        strict=True,
    ):
        kept.setdefault(n, [unit, label]).append((start, end))
    assert len({tuple(value) for value in kept.values()}) == len(kept)
