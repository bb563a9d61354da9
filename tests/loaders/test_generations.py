"""Every generation of Potato is read into the same corpus, from what real servers left."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from potato_iaa.corpus import Corpus
from potato_iaa.errors import InputError, UsageError
from potato_iaa.loaders import read_project
from tests.loaders.projects import (
    NER,
    TONE,
    assert_accounted,
    extents,
    left_out,
    marked,
    passes,
    reasons,
    write_config,
)

LEFT = Path(__file__).parent / "left"
AMBIGUOUS = "ambiguous: several schemes have this label, and the file names no scheme"
OF_POTATO_1 = [
    ("a01", "", "alice", "entities", "LOC", ((43, 49),), "Berlin"),
    ("a01", "", "bob", "entities", "LOC", ((40, 49),), "in Berlin"),
    ("a02", "", "alice", "claims", "CLAIM", ((52, 57),), "today"),
    ("a02", "", "alice", "entities", "LOC", ((43, 48),), "Paris"),
    ("a02", "", "bob", "entities", "ORG", ((43, 48),), "Paris"),
    ("a03", "", "alice", "entities", "LOC", ((56, 60),), "Rome"),
    ("a03", "", "alice", "entities", "ORG", ((17, 21),), "AT&T"),
    ("a06", "", "alice", "entities", "LOC", ((31, 36),), "Paris"),
    ("a09", "", "alice", "entities", "LOC", ((10, 16),), "Madrid"),
]


def read(path: Path, **options: Any) -> Corpus:
    corpus = read_project(path, **options)
    assert_accounted(corpus)
    return corpus


@pytest.mark.parametrize(("name", "items"), [("1.2.0.7", 9), ("1.2.2.4", 9)])
def test_spans_of_potato_1_lie_in_the_text_that_was_shown(name: str, items: int) -> None:
    corpus = read(LEFT / name)
    assert marked(corpus) == OF_POTATO_1
    assert corpus.ledger.totals() == {"read": 19, "kept": 9, "repaired": 0, "set_aside": 10}
    assert reasons(corpus) == [("set_aside", AMBIGUOUS)] * 10
    assert set(corpus.ledger.entries["label"]) == {"PER"}
    assert set(corpus.ledger.entries["scheme"]) == {"entities or claims"}
    assert len(corpus.items) == items
    assert dict(zip(corpus.items["item"], corpus.items["text"], strict=True))["a06"] == (
        "Bold Tim and italic Rome break Paris."
    )
    assert (corpus.source.kind, corpus.source.potato_version) == ("Potato 1 folders", "1.2")
    assert corpus.source.offset_basis == "source of the page, with entities and CRLF"


def test_the_order_of_annotation_tells_the_passes_of_potato_1() -> None:
    corpus = read(LEFT / "1.2.2.4")
    # alice looked at a08 without marking anything, on her way to a09.
    assert passes(corpus) == {
        "alice": [f"a0{n}" for n in range(1, 10)],
        "bob": ["a01", "a02"],
    }
    assigned = passes(read(LEFT / "1.2.2.4", passes="assigned"))
    assert {name: len(items) for name, items in assigned.items()} == {"alice": 9, "bob": 9}
    automatic = passes(read(LEFT / "1.2.2.4_autoassign", passes="assigned"))
    assert {name: len(items) for name, items in automatic.items()} == {"alice": 5, "bob": 5}


def test_with_one_scheme_for_a_label_nothing_of_potato_1_is_ambiguous(tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(LEFT / "1.2.2.4", project)
    config = project / "config.yaml"
    text = config.read_text("utf-8").replace('"labels":["CLAIM","PER"]', '"labels":["CLAIM"]')
    config.write_text(text, encoding="utf-8")
    corpus = read(project)
    assert corpus.ledger.totals() == {"read": 19, "kept": 19, "repaired": 0, "set_aside": 0}
    words = [
        (row[0], row[-1]) for row in marked(corpus) if row[2:5] == ("alice", "entities", "PER")
    ]
    assert words == [
        ("a01", "Tim Cook"),
        ("a01", "Angela Merkel"),
        ("a02", "Tim Cook"),
        ("a03", "y and"),
        ("a04", "Alice"),
        ("a04", "Bob"),
        ("a04", "Carol"),
        ("a05", "Dave"),
        ("a05", "Erin"),
    ]


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("1.2.2.4", "annotated_instances.csv"),
        ("1.2.2.4_autoassign", "annotated_instances.tsv"),
    ],
)
def test_the_one_file_of_potato_1_gives_the_same_as_the_folders(name: str, file: str) -> None:
    folders, one = read(LEFT / name), read(LEFT / name / "annotation_output" / file)
    assert marked(one) == marked(folders)
    assert passes(one) == passes(folders)
    assert one.ledger.totals() == folders.ledger.totals()


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json"])
def test_the_one_file_is_enough(tmp_path: Path, ending: str) -> None:
    project, out = tmp_path / "project", tmp_path / "project" / "annotation_output"
    shutil.copytree(LEFT / "1.2.2.4", project)
    if ending != "csv":
        lines = []
        for name in ("alice", "bob"):
            for line in (out / name / "annotated_instances.jsonl").read_text("utf-8").splitlines():
                given = json.loads(line)
                lines.append({"user_id": name, "instance_id": given.pop("id"), **given})
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (out / f"annotated_instances.{ending}").write_text(text, encoding="utf-8")
        (out / "annotated_instances.csv").unlink()
    for name in ("alice", "bob"):
        shutil.rmtree(out / name)
    corpus = read(project)
    assert marked(corpus) == OF_POTATO_1
    assert {name: len(items) for name, items in passes(corpus).items()} == {"alice": 8, "bob": 2}
    assert corpus.source.kind == f"Potato 1 {ending} file"
    assert "holds only items with an answer or a span" in corpus.ledger.notes[0]


def test_a_name_in_the_one_file_leads_to_no_other_folder(tmp_path: Path) -> None:
    project = Path(shutil.copytree(LEFT / "1.2.2.4", tmp_path / "project"))
    file = project / "annotation_output" / "annotated_instances.csv"
    text = file.read_text(encoding="utf-8")
    assert "\nalice," in text
    file.write_text(text.replace("\nalice,", "\n..,"), encoding="utf-8")
    shutil.move(file.parent / "alice" / "annotation_order.txt", project)
    shutil.rmtree(file.parent / "alice")
    told = passes(read(file, passes="assigned", allow_outside=True))
    (project / "annotation_order.txt").unlink()
    assert passes(read(file, passes="assigned", allow_outside=True)) == told


def test_the_one_file_of_1_2_0_names_no_annotators() -> None:
    file = LEFT / "1.2.0.7" / "annotation_output" / "annotated_instances.json"
    with pytest.raises(InputError, match=r"Potato 1\.2\.0, which names no annotators.*config"):
        read_project(file)


def line(item: str, *spans: tuple[int, int, str, str], text: str = "", **more: Any) -> str:
    listed = [{"start": s, "end": e, "span": w, "annotation": name} for s, e, w, name in spans]
    return json.dumps(
        {
            "id": item,
            "displayed_text": text or TEXTS.get(item, item),
            "label_annotations": {},
            "span_annotations": listed or {},
            "behavioral_data": {},
            **more,
        }
    )


TEXTS = {"d1": "A & B\r\nmet <i>Cy</i> in\u00a0Rome.", "d2": "No names here."}


def potato_1(
    folder: Path, lines: list[str], order: list[str], name: str = "ann", **settings: Any
) -> Path:
    home = folder / "annotation_output" / name
    home.mkdir(parents=True)
    (home / "annotated_instances.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (home / "annotation_order.txt").write_text("".join(f"{i}\n" for i in order), encoding="utf-8")
    (folder / "data").mkdir(exist_ok=True)
    items = "".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in TEXTS.items())
    (folder / "data" / "items.jsonl").write_text(items, encoding="utf-8")
    scheme = {**NER, "annotation_type": "highlight"}
    return write_config(folder, **{"annotation_schemes": [scheme, TONE], **settings})


def test_offsets_of_potato_1_count_entities_tags_and_line_ends(tmp_path: Path) -> None:
    source = "A &amp; B\r\nmet <i>Cy</i> in&nbsp;Rome."
    spans = [(source.index(w), source.index(w) + len(w), w, "PER") for w in ("B", "Cy", "Rome")]
    across = source.index("met"), source.index("</i>"), "met <i>Cy", "LOC"
    corpus = read(potato_1(tmp_path, [line("d1", *spans, across)], ["d1"]))
    assert {row[-1] for row in marked(corpus)} == {"met Cy", "B", "Cy", "Rome"}
    assert reasons(corpus) == []


def test_offsets_of_potato_1_that_fit_nothing_are_found_by_the_text(tmp_path: Path) -> None:
    spans = [
        (90, 94, "Rome", "LOC"),
        (0, 4, "Cy", "PER"),
        (0, 4, "Eve", "PER"),
        (50, 51, "e", "LOC"),
        # Counted on the text of the data file.
        (7, 10, "met", "LOC"),
    ]
    corpus = read(potato_1(tmp_path, [line("d1", *spans)], ["d1"]))
    assert [row[-1] for row in marked(corpus)] == ["Rome", "met", "Cy"]
    assert reasons(corpus) == [
        ("repaired", "found by its stored text, which is not at its offsets"),
        ("repaired", "found by its stored text, which is not at its offsets"),
        ("repaired", "read as code points of the text of the data file"),
        (
            "set_aside",
            "ambiguous: its stored text stands in several places, and not at its offsets",
        ),
        ("set_aside", "its stored text was not found in the text"),
    ]


def test_survey_pages_and_test_questions_are_no_items(tmp_path: Path) -> None:
    pages = ["1-consent.html", "d1", "q1_testing_Yes", "prestudy_3", "d2"]
    lines = [
        line("1-consent.html", label_annotations={"tone": {"good": "tone:::good"}}),
        line("q1_testing_Yes", (0, 2, "q1", "PER")),
        line("prestudy_3", (0, 2, "pr", "PER")),
        line("d2", label_annotations={"tone": {"bad": "tone:::bad"}}),
    ]
    corpus = read(potato_1(tmp_path, lines, pages))
    assert passes(corpus) == {"ann": ["d1", "d2"]}
    assert left_out(corpus) == [
        ("pre-study item", "prestudy_3", 1),
        ("survey page", "1-consent.html", 0),
        ("test question", "q1_testing_Yes", 1),
    ]
    assert corpus.answers[["item", "label", "value"]].astype(str).to_numpy().tolist() == [
        ["d2", "bad", "bad"]
    ]


def test_a_choice_that_there_is_nothing_to_mark_is_a_pass_without_spans(tmp_path: Path) -> None:
    lines = [line("d2", label_annotations={"ner": {"bad_text": "0"}})]
    corpus = read(potato_1(tmp_path, lines, ["d2", "d1"]))
    assert passes(corpus) == {"ann": ["d2"]}
    assert len(corpus.spans) == 0
    assert (
        "1 choice that there is nothing to mark (bad_text): passes without spans."
        in corpus.ledger.notes
    )


def test_what_else_lies_among_the_annotators_of_potato_1_is_left_out(tmp_path: Path) -> None:
    config = potato_1(tmp_path, [line("d2", (0, 2, "No", "PER"))], ["d2"])
    out = tmp_path / "annotation_output"
    shutil.copytree(out / "ann", out / "archived_users" / "eve")
    (out / "empty").mkdir()
    (out / "task_assignment.json").write_text("{}", encoding="utf-8")
    home = out / "only assigned"
    home.mkdir()
    (home / "annotation_order.txt").write_text("d1\nd2\n", encoding="utf-8")
    corpus = read(config, passes="assigned")
    assert passes(corpus) == {"ann": ["d2"], "only assigned": ["d1", "d2"]}
    assert left_out(corpus) == [
        ("file", "task_assignment.json", 0),
        ("folder", "archived_users", 0),
        ("folder", "empty", 0),
    ]


def test_entries_of_potato_1_that_are_no_spans_are_set_aside(tmp_path: Path) -> None:
    odd: Any = [
        7,
        {"start": 0, "end": 2, "span": "No"},
        {"start": "x", "end": 2, "annotation": "PER"},
        {"start": 0, "end": 2, "span": "No", "annotation": "PER"},
        {"start": 0, "end": 2, "span": "No", "annotation": "PER"},
    ]
    corpus = read(potato_1(tmp_path, [line("d2", span_annotations=odd)], ["d2"]))
    assert corpus.ledger.totals() == {"read": 5, "kept": 1, "repaired": 0, "set_aside": 4}
    assert [reason for _, reason in reasons(corpus)] == [
        "duplicate of another span of the pass",
        "the entry is not a span",
        "the offsets are not whole numbers",
        "the span has no label",
    ]


@pytest.mark.parametrize("content", ['{"id": "d2", "displ', "[1]", '"text"', '{"a": 1}'])
def test_a_broken_file_of_potato_1_can_be_skipped(tmp_path: Path, content: str) -> None:
    potato_1(tmp_path, [content], ["d2"], name="eve")
    config = potato_1(tmp_path, [line("d2", (0, 2, "No", "PER"))], ["d2"])
    with pytest.raises(InputError, match=r"eve.annotated_instances\.jsonl, line 1"):
        read_project(config)
    corpus = read(config, skip_broken=True)
    assert extents(corpus) == [("ann", "d2", ((0, 2),))]
    assert ("unreadable annotator", "eve", 0) in left_out(corpus)


@pytest.mark.parametrize(
    ("name", "spans"), [("2.0.0", 8), ("2.0.0_nonascii", 1), ("2.4.5", 8), ("2.8.2", 41)]
)
def test_potato_2_before_2_9_counted_utf_16_units(name: str, spans: int) -> None:
    corpus = read(LEFT / name)
    assert corpus.ledger.totals() == {"read": spans, "kept": spans, "repaired": 0, "set_aside": 0}
    truth = json.loads((LEFT / "tricky_2.12.1" / "expected_spans.json").read_text("utf-8"))
    meant = {(span["item"], span["text"]) for span in truth["spans"]}
    others = {("a01", "Merkel in Berlin."), ("a01", "met Angela Merkel in Berlin.")}
    assert {(row[0], row[-1]) for row in marked(corpus)} <= meant | others
    assert corpus.source.offset_unit == "UTF-16 units"


def test_potato_2_0_stored_the_first_place_of_the_marked_words() -> None:
    assert (
        "Potato 2.0 and 2.1 stored the first place of the marked words in the text, whichever "
        "place was marked: 0 of 8 spans have words that stand in the text more than once."
    ) in read(LEFT / "2.0.0").ledger.notes


def test_the_version_can_be_given() -> None:
    as_potato_2_12 = read(LEFT / "2.8.2", potato_version="2.12", offset_unit="code-points")
    assert as_potato_2_12.source.potato_version == "2.12"
    assert as_potato_2_12.source.offset_unit == "code points"
    wrong = {row[-1] for row in marked(as_potato_2_12) if row[0] == "a02"}
    assert "Tim Cook" not in wrong
    for version in ("3.1", "x", ""):
        with pytest.raises(UsageError, match="no Potato version"):
            read_project(LEFT / "2.8.2", potato_version=version)
    with pytest.raises(UsageError, match="was written by Potato 1, so it cannot be of version 2"):
        read_project(LEFT / "1.2.2.4", potato_version="2.0")
    with pytest.raises(UsageError, match="there are code-points, utf-16"):
        read_project(LEFT / "2.8.2", offset_unit="bytes")
