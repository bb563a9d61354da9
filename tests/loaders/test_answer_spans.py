"""Spans that Potato keeps inside answers are spans of the schemes that they answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from potato_iaa.corpus import Corpus
from potato_iaa.loaders import read_project
from tests.loaders.projects import (
    NER,
    assert_accounted,
    marked,
    passes,
    reasons,
    span,
    state,
    write_project,
)

ITEMS = [
    {"id": "d1", "text": "🔥 Ada  met Bob.", "translation": "🔥 Ada  traf Bob."},
    {"id": "d2", "text": "No names."},
]
MQM: dict[str, Any] = {
    "annotation_type": "error_span",
    "name": "mqm",
    "error_types": [{"name": "Accuracy", "subtypes": ["Addition", "Omission"]}, {"name": "Style"}],
}
QA: dict[str, Any] = {"annotation_type": "extractive_qa", "name": "qa"}


def labels(item: str, scheme: str, value: Any) -> dict[str, Any]:
    stored = value if isinstance(value, str) else json.dumps(value)
    return {item: [[{"schema": scheme, "name": scheme}, stored]]}


def read(folder: Path, *schemes: dict[str, Any], spans: Any = None, **answers: Any) -> Corpus:
    document = state(spans, instance_id_to_label_to_value=answers)
    config = write_project(folder, {"ann": document}, items=ITEMS, schemes=schemes)
    corpus = read_project(config)
    assert_accounted(corpus)
    return corpus


def error(start: int, end: int, text: str, kind: str = "Accuracy", **more: str) -> dict[str, Any]:
    return {"start": start, "end": end, "text": text, "type": kind, "severity": "Major", **more}


def test_errors_lie_in_the_text_in_utf_16_units(tmp_path: Path) -> None:
    value = {
        "errors": [error(3, 6, "Ada", subtype="Addition"), error(8, 11, "met", "Style")],
        "score": 90,
    }
    corpus = read(tmp_path, MQM, **labels("d1", "mqm", value))
    assert marked(corpus) == [
        ("d1", "", "ann", "mqm", "Accuracy/Addition", ((2, 5),), "Ada"),
        ("d1", "", "ann", "mqm", "Style", ((6, 9),), "met"),
    ]
    assert corpus.schemes[0].labels == ("Accuracy/Addition", "Accuracy/Omission", "Style")
    assert reasons(corpus) == []


def test_errors_in_another_field_concern_that_field_only(tmp_path: Path) -> None:
    value = {"errors": [error(8, 12, "traf")]}
    mqm = {**MQM, "source_field": "translation"}
    ner = {"d1": [span(2, 5)], "d2": []}
    corpus = read(tmp_path, mqm, NER, spans=ner, **labels("d1", "mqm", value))
    assert marked(corpus) == [
        ("d1", "", "ann", "ner", "PER", ((2, 5),), "Ada"),
        ("d1", "translation", "ann", "mqm", "Accuracy", ((7, 11),), "traf"),
    ]
    assert [(scheme.name, scheme.fields) for scheme in corpus.schemes] == [
        ("mqm", ("translation",)),
        ("ner", ("",)),
    ]


def test_an_answer_is_a_span_and_an_unanswerable_question_a_pass_without_one(
    tmp_path: Path,
) -> None:
    given = {"answer_text": "Bob", "start": 12, "end": 15, "unanswerable": False}
    none = {"answer_text": "", "start": -1, "end": -1, "unanswerable": True}
    corpus = read(tmp_path, QA, **labels("d1", "qa", given), **labels("d2", "qa", none))
    assert marked(corpus) == [("d1", "", "ann", "qa", "answer", ((10, 13),), "Bob")]
    assert passes(corpus) == {"ann": ["d1", "d2"]}
    assert corpus.ledger.totals()["read"] == 1


def test_answers_that_are_no_spans_are_set_aside(tmp_path: Path) -> None:
    odd = {"errors": [error(3, 6, "Ada", ""), error(3, 6, "Eve"), {"type": "Style"}, 7]}
    answers = {**labels("d1", "mqm", odd), **labels("d2", "mqm", "[1")}
    corpus = read(tmp_path, MQM, NER, spans={"d1": [span(2, 5)]}, **answers)
    assert [reason for _, reason in reasons(corpus)] == [
        "its stored text was not found in the text",
        "the entry is not a span",
        "the offsets are not whole numbers",
        "the span has no label",
        "the span has no label",
    ]
    assert passes(corpus) == {"ann": ["d1", "d2"]}


def test_an_empty_answer_is_a_pass_without_spans(tmp_path: Path) -> None:
    corpus = read(tmp_path, MQM, NER, **labels("d1", "mqm", ""), **labels("d2", "mqm", "null"))
    assert len(corpus.spans) == 0
    assert corpus.ledger.totals()["read"] == 0


def test_labels_of_the_simulator_are_spans_counted_in_single_blanks(tmp_path: Path) -> None:
    answers = {
        "d1": [
            [{"schema": "ner", "name": "PER:2:5"}, "true"],
            [{"schema": "ner", "name": "LOC:6:9"}, "true"],
            [{"schema": "ner", "name": "PER:6"}, "true"],
        ]
    }
    corpus = read(tmp_path, NER, spans={"d1": [span(10, 13)]}, **answers)
    assert [(row[4], row[-1]) for row in marked(corpus)] == [
        ("LOC", "met"),
        ("PER", "Bob"),
        ("PER", "Ada"),
    ]
    assert (
        "2 spans stood as LABEL:start:end among the answers, as Potato's simulator writes spans: "
        "read as such."
    ) in corpus.ledger.notes
