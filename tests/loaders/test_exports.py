"""Every export that keeps the spans gives the spans of the states; the others are refused."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from potato_iaa.corpus import Corpus
from potato_iaa.errors import InputError
from potato_iaa.loaders import read_project
from potato_iaa.measures.measuring import measure
from tests.loaders.projects import (
    ITEMS,
    assert_accounted,
    extents,
    left_out,
    marked,
    passes,
    reasons,
    span,
    state,
    write_project,
)

LEFT = Path(__file__).parent / "left"
TRICKY, FIELDS = LEFT / "tricky_2.12.1", LEFT / "multifield_2.12.1"
LOSSLESS = (
    "csv/annotations.csv",
    "tsv/annotations.tsv",
    "jsonl/annotations.jsonl",
    "parquet",
)
HEADS_ONLY = ("quotation_report/quotations.csv", "web_annotation/web_annotations.jsonld")
NO_EMPTY_PASSES = "holds only items with an answer or a span"


def read(path: Path, **options: Any) -> Corpus:
    corpus = read_project(path, **options)
    assert_accounted(corpus)
    return corpus


def alone(folder: Path, project: Path, *, config: bool = True) -> Path:
    """The project's exports without its states; without configuration and data if asked."""
    shutil.copytree(project / "exports", folder / "exports")
    if config:
        shutil.copy(project / "config.yaml", folder)
        shutil.copytree(project / "data", folder / "data")
    return folder / "exports"


def seen(corpus: Corpus) -> dict[str, set[str]]:
    return {name: set(items) for name, items in passes(corpus).items()}


@pytest.mark.parametrize("project", [TRICKY, FIELDS])
@pytest.mark.parametrize("export", LOSSLESS)
def test_a_lossless_export_with_the_states_beside_it_gives_the_same(
    project: Path, export: str
) -> None:
    states, exported = read(project), read(project / "exports" / export)
    assert marked(exported) == marked(states)
    assert seen(exported) == seen(states)
    assert exported.ledger.totals() == states.ledger.totals()
    assert exported.source.kind.endswith("export, passes from the states beside it")
    assert not any(NO_EMPTY_PASSES in note for note in exported.ledger.notes)


@pytest.mark.parametrize("project", [TRICKY, FIELDS])
@pytest.mark.parametrize("export", LOSSLESS)
def test_a_lossless_export_alone_gives_the_same_spans_and_figures(
    tmp_path: Path, project: Path, export: str
) -> None:
    states = read(project, passes="marked")
    exported = read(alone(tmp_path, project) / export, passes="marked")
    assert marked(exported) == marked(states)
    assert seen(exported) == seen(states)
    assert NO_EMPTY_PASSES in exported.ledger.notes[0]

    def figures(corpus: Corpus) -> Any:
        schemes = measure(corpus, bootstrap=0).schemes
        return {name: scheme.to_dict() for name, scheme in schemes.items()}

    if project == TRICKY:
        assert figures(exported) == figures(states)


@pytest.mark.parametrize("export", LOSSLESS)
def test_a_lossless_export_without_a_configuration_gives_the_same_offsets(
    tmp_path: Path, export: str
) -> None:
    corpus = read(alone(tmp_path, TRICKY, config=False) / export)
    states = read(TRICKY)
    assert [row[:6] for row in marked(corpus)] == [row[:6] for row in marked(states)]
    known = {row[0] for row in marked(corpus) if row[-1] is not None}
    assert known == ({row[0] for row in marked(states)} if export == "parquet" else set())


@pytest.mark.parametrize("project", [TRICKY, FIELDS])
@pytest.mark.parametrize("export", HEADS_ONLY)
def test_exports_of_heads_give_all_but_the_further_parts(
    tmp_path: Path, project: Path, export: str
) -> None:
    heads = sorted({(*row[:5], row[5][0]) for row in marked(read(project))}, key=str)
    for path in (project / "exports" / export, alone(tmp_path, project) / export):
        corpus = read(path)
        assert sorted(((*row[:5], row[5][0]) for row in marked(corpus)), key=str) == heads
        assert any("only the first part of disc" in note for note in corpus.ledger.notes)


@pytest.mark.parametrize(
    "export", ["csv/annotations.csv", "tsv/annotations.tsv", "jsonl/annotations.jsonl"]
)
def test_exports_by_2_8_without_covered_texts_are_read(tmp_path: Path, export: str) -> None:
    expected = marked(read(TRICKY))
    assert marked(read(TRICKY / "exports_by_2.8.2" / export)) == expected
    shutil.copytree(TRICKY / "exports_by_2.8.2", tmp_path / "exports")
    shutil.copy(TRICKY / "config.yaml", tmp_path)
    shutil.copytree(TRICKY / "data", tmp_path / "data")
    # Nothing but the spans themselves tells that these are code points.
    by_itself = read(tmp_path / "exports" / export)
    assert marked(by_itself) == expected
    assert by_itself.source.offset_unit == "code points"


def test_the_automatic_export_of_2_8_counts_utf_16_units(tmp_path: Path) -> None:
    export = LEFT / "2.8.2" / "annotation_output" / "exports" / "jsonl" / "annotations.jsonl"
    corpus = read(export)
    assert len(corpus.spans) == corpus.ledger.totals()["read"] == 38
    assert set(marked(corpus)) < set(marked(read(LEFT / "2.8.2")))
    # The states have three spans more, on two items, one of which the export lacks.
    assert any("so it is older or a part" in note for note in corpus.ledger.notes)
    for file in ("config.yaml", "data/items.jsonl"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(LEFT / "2.8.2" / file, tmp_path / file)
    shutil.copy(export, tmp_path / "annotations.jsonl")
    by_itself = read(tmp_path / "annotations.jsonl")
    assert marked(by_itself) == marked(corpus)
    assert by_itself.source.offset_unit == "UTF-16 units"


def test_tei_gives_the_spans_whose_scheme_the_label_tells(tmp_path: Path) -> None:
    states = marked(read(TRICKY))
    by_label = {(row[0], row[2], row[3], row[4], row[5][:1]) for row in states if row[4] != "PER"}
    for path in (TRICKY / "exports" / "tei", alone(tmp_path, TRICKY) / "tei"):
        corpus = read(path)
        found = {(row[0], row[2], row[3], row[4], row[5]) for row in marked(corpus)}
        assert found == by_label
        assert corpus.ledger.totals() == {"read": 58, "kept": 31, "repaired": 0, "set_aside": 27}
        assert any("TEI loses the scheme" in note for note in corpus.ledger.notes)


def test_tei_without_a_configuration_has_its_own_texts(tmp_path: Path) -> None:
    corpus = read(alone(tmp_path, TRICKY, config=False) / "tei")
    texts = dict(zip(corpus.items["item"], corpus.items["text"], strict=True))
    truth = json.loads((TRICKY / "expected_spans.json").read_text("utf-8"))["displayed_text"]
    assert texts["a11"] == truth["a11"]
    assert texts["a04"] == truth["a04"]
    assert texts["item_15"] == truth["15"]
    covered = {row[-1] for row in marked(read(TRICKY))} | {"Tim Cook"}
    assert {row[-1] for row in marked(corpus)} <= covered
    assert len(corpus.spans) == 58


def test_one_annotator_s_tei_leads_to_all(tmp_path: Path) -> None:
    folder = alone(tmp_path, TRICKY) / "tei"
    expected = marked(read(folder))
    assert marked(read(folder / "alice")) == expected
    assert marked(read(folder / "dave" / "tei" / "potato.xml")) == expected


@pytest.mark.parametrize("export", ["conll_u", "conll_2003"])
def test_conll_gives_the_spans_of_the_first_scheme_in_whole_tokens(
    tmp_path: Path, export: str
) -> None:
    states = [row for row in marked(read(TRICKY)) if row[3] == "entities"]
    for path in (TRICKY / "exports" / export, alone(tmp_path, TRICKY) / export):
        corpus = read(path)
        found = {(row[0], row[2], row[4]): [] for row in marked(corpus)}
        for row in marked(corpus):
            found[row[0], row[2], row[4]].append(row[5][0])
        assert len(corpus.spans) == corpus.ledger.totals()["kept"] == 48
        for item, annotator, label in found:
            of_states = [
                row[5][0] for row in states if (row[0], row[2], row[4]) == (item, annotator, label)
            ]
            for start, end in found[item, annotator, label]:
                assert any(s < end and start < e for s, e in of_states)
        berlin = [row[-1] for row in marked(corpus) if row[0] == "a01" and row[2] == "bob"]
        assert "Berlin." in berlin
        assert any("CoNLL loses all span schemes" in note for note in corpus.ledger.notes)


def test_conll_u_without_a_configuration_has_its_own_texts(tmp_path: Path) -> None:
    corpus = read(alone(tmp_path, TRICKY, config=False) / "conll_u")
    assert len(corpus.spans) == 48
    assert {row[3] for row in marked(corpus)} == {"spans"}
    assert "Berlin." in {row[-1] for row in marked(corpus)}
    with pytest.raises(InputError, match=r"neither the ids of the items nor their texts.*--config"):
        read_project(tmp_path / "exports" / "conll_2003")
    shutil.copytree(TRICKY, tmp_path / "elsewhere")
    named = read(tmp_path / "exports" / "conll_2003", config=tmp_path / "elsewhere")
    assert len(named.spans) == 48


CONLL = "-DOCSTART- -X- -X- O\n\n"


def conll(folder: Path, *documents: tuple[str, str], name: str = "ann") -> Path:
    items = [
        {"id": "d1", "text": "Ada met Bob."},
        {"id": "d2", "text": "Ada met  Bob."},
        {"id": "d3", "text": "No names."},
    ]
    write_project(folder, {}, items=items)
    (folder / "conll").mkdir()
    text = ""
    for tokens, tags in documents:
        rows = zip(tokens.split(), tags.split(), strict=True)
        text += CONLL + "".join(f"{token}\t_\t_\t{tag}\n" for token, tag in rows) + "\n"
    file = folder / "conll" / f"annotations.{name}.conll"
    file.write_text(text, encoding="utf-8")
    return file


def test_texts_of_the_same_tokens_are_set_aside_as_ambiguous(tmp_path: Path) -> None:
    corpus = read(
        conll(
            tmp_path,
            ("No names.", "O B-PER"),
            ("Ada met Bob.", "B-PER O I-LOC"),
            ("Something else.", "O B-PER"),
        )
    )
    assert [row[-1] for row in marked(corpus)] == ["names."]
    ambiguous = "ambiguous: several items have the tokens of its text, and the file names none"
    assert reasons(corpus) == [
        ("set_aside", ambiguous),
        ("set_aside", ambiguous),
        ("set_aside", "no item has the tokens of its text"),
    ]


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("exports_by_2.8.2/conll_2003/annotations.conll", r"names no annotator.*2\.8"),
        ("exports_by_2.8.2/conll_2003", r"names no annotator.*2\.8"),
        ("exports_by_2.8.2/conll_u", r"names no annotator.*2\.8"),
        ("exports_by_2.8.2/parquet", r"2\.8, which left all its labels empty"),
        ("exports_by_2.8.2/quotation_report", r"2\.8, which left all its labels empty"),
        ("exports/codebook", "counts how often each code was used"),
        ("exports/codebook/codebook.csv", "counts how often each code was used"),
        ("exports/reliability", "coefficients for questions about whole items"),
        ("exports/reliability/reliability.md", "coefficients for questions about whole items"),
        ("exports/qdpx", "is a REFI-QDA project"),
        ("annotation_output/alice", "the folder of one annotator"),
        ("annotation_output/alice/user_state.json", "the state of one annotator"),
        ("data/items.jsonl", "no instance_id and user_id"),
        ("expected_spans.json", "neither Potato's configuration nor an export"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_to_give_instead(path: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as raised:
        read_project(TRICKY / path)
    assert "give the csv or jsonl export, or the project's configuration." in str(raised.value)


def test_several_exports_in_one_folder_are_named() -> None:
    with pytest.raises(
        InputError, match=r"holds 9 exports \('conll_2003', 'conll_u', 'csv', .*name the one"
    ):
        read_project(TRICKY / "exports")


def test_tei_of_several_display_fields_is_refused() -> None:
    with pytest.raises(InputError, match="does not say in which display field a span lies"):
        read_project(FIELDS / "exports" / "tei")


def test_ids_that_tei_writes_in_one_way_are_refused(tmp_path: Path) -> None:
    exports = alone(tmp_path, TRICKY)
    with (tmp_path / "data" / "items.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "item_15", "text": "Another."}\n')
    with pytest.raises(InputError, match="the ids '15' and 'item_15' in one way"):
        read_project(exports / "tei")


def test_the_configuration_can_be_named(tmp_path: Path) -> None:
    exports = alone(tmp_path / "a", TRICKY, config=False)
    corpus = read(exports / "csv", config=TRICKY / "config.yaml")
    assert marked(corpus) == marked(read(TRICKY))
    assert [file.role for file in corpus.source.files] == ["config", "data", "annotations"]


def test_several_configurations_near_an_export_are_refused(tmp_path: Path) -> None:
    exports = alone(tmp_path, TRICKY)
    shutil.copy(tmp_path / "config.yaml", tmp_path / "other.yaml")
    with pytest.raises(InputError, match=r"2 Potato configurations lie near it.*--config"):
        read_project(exports / "csv")
    assert len(read(exports / "csv", config=tmp_path / "other.yaml").spans) == 60


def test_a_configuration_of_other_items_nearby_is_not_used(tmp_path: Path) -> None:
    exports = alone(tmp_path, TRICKY)
    (tmp_path / "data" / "items.jsonl").write_text('{"id": "z", "text": "z"}\n', encoding="utf-8")
    corpus = read(exports / "csv")
    assert len(corpus.spans) == 60
    assert any("none of its items is in it" in note for note in corpus.ledger.notes)


def test_an_export_whose_data_are_lost_is_read(tmp_path: Path) -> None:
    exports = alone(tmp_path, TRICKY)
    shutil.rmtree(tmp_path / "data")
    corpus = read(exports / "csv")
    assert len(corpus.spans) == 60
    assert any("the texts of the items are not known" in note for note in corpus.ledger.notes)


LINE = {"instance_id": "d1", "user_id": "ann", "labels": {}, "links": {}}


def exported(folder: Path, *lines: dict[str, Any], **project: Any) -> Path:
    config = write_project(folder, {}, **project)
    file = config.parent / "annotations.jsonl"
    text = "".join(json.dumps(LINE | line) + "\n" for line in lines)
    file.write_text(text, encoding="utf-8")
    return file


def test_entries_of_an_export_that_are_no_spans_are_set_aside(tmp_path: Path) -> None:
    odd = [7, {"schema": "ner", "start": 0, "end": 3}, {**span(0, 3)[0], "start": "x"}]
    corpus = read(exported(tmp_path, {"spans": {"ner": [span(0, 3)[0], *odd]}}))
    assert extents(corpus) == [("ann", "d1", ((0, 3),))]
    assert corpus.ledger.totals() == {"read": 4, "kept": 1, "repaired": 0, "set_aside": 3}


def test_machines_and_room_answers_of_an_export_are_left_out(tmp_path: Path) -> None:
    write_project(tmp_path, {})
    file = tmp_path / "annotations.csv"
    with file.open("w", newline="", encoding="utf-8") as out:
        table = csv.writer(out)
        columns = ("instance_id", "user_id", "annotator_origin", "ner._spans", "ner._room_id")
        table.writerow(columns)
        cell = json.dumps([span(0, 3)[0]])
        table.writerow(("d1", "ann", "human", cell, ""))
        table.writerow(("d1", "ben", "human", cell, "r1"))
        table.writerow(("d1", "gpt", "llm", cell, ""))
    corpus = read(file)
    assert extents(corpus) == [("ann", "d1", ((0, 3),))]
    assert left_out(corpus) == [
        ("annotator", "ben", 0),
        ("machine annotator", "gpt", 1),
        ("room answers", "ben", 1),
    ]


def test_texts_that_an_exporter_cut_do_not_hide_the_wrong_unit(tmp_path: Path) -> None:
    text = "🔥 Ada met Bob."
    cut = {**span(3, 6)[0], "text": text[3:6]}
    items = [{"id": "d1", "text": text}, *ITEMS[1:]]
    corpus = read(exported(tmp_path, {"spans": {"ner": [cut]}}, items=items))
    assert [row[-1] for row in marked(corpus)] == ["Ada"]


def test_a_text_that_was_changed_after_the_export_is_noticed(tmp_path: Path) -> None:
    cuts = [{**span(0, 3)[0], "text": "Bob"}, {**span(4, 7)[0], "text": "saw"}]
    items = [{"id": "d1", "text": "Then Bob met Ada."}, *ITEMS[1:]]
    corpus = read(exported(tmp_path, {"spans": {"ner": cuts}}, items=items))
    assert [row[-1] for row in marked(corpus)] == ["Bob"]
    assert [reason for _, reason in reasons(corpus)] == [
        "found by its stored text, which is not at its offsets",
        "its stored text was not found in the text",
    ]


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    exports = alone(tmp_path, TRICKY)
    file = exports / "jsonl" / "annotations.jsonl"
    expected = read(file)
    lines = file.read_text("utf-8").splitlines(keepends=True)
    file.write_text("".join(reversed(lines)), encoding="utf-8")
    again = read(file)
    assert marked(again) == marked(expected)
    assert again.passes.equals(expected.passes)


def test_states_that_do_not_fit_the_export_give_no_passes_against_it(tmp_path: Path) -> None:
    states = {
        "ann": state({"d1": [span(0, 3)], "d2": [span(0, 2)]}),
        "ben": state({"d1": [span(0, 3)]}),
        "eve": state({"d1": []}),
    }
    config = write_project(tmp_path, states)
    file = config.parent / "annotations.jsonl"
    file.write_text(json.dumps(LINE | {"spans": {"ner": [span(0, 3)[0]]}}) + "\n", "utf-8")
    corpus = read(file)
    assert passes(corpus) == {"ann": ["d1"], "eve": ["d1"]}
    assert any("on 2 passes where it has none" in note for note in corpus.ledger.notes)


def test_ids_of_an_export_are_text_whatever_they_look_like(tmp_path: Path) -> None:
    ids = ["007", "1e3", "15", "1.0", " x"]
    rows = "".join(f'"{name}",Ada met Bob.\n' for name in ids)
    config = write_project(tmp_path, {}, data_files=["data/items.csv"])
    (tmp_path / "data" / "items.csv").write_text(f"id,text\n{rows}", encoding="utf-8-sig")
    file = config.parent / "annotations.csv"
    with file.open("w", newline="", encoding="utf-8-sig") as out:
        table = csv.writer(out)
        table.writerow(("instance_id", "user_id", "ner._spans"))
        for name in ids:
            table.writerow((name, "01", json.dumps([span(0, 3)[0]])))
    corpus = read(file)
    assert extents(corpus) == [("01", name, ((0, 3),)) for name in sorted(ids)]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_a_cell_may_be_longer_than_python_s_limit(tmp_path: Path, ending: str) -> None:
    config = write_project(tmp_path, {}, items=[{"id": "d1", "text": "Ada " * 5000}])
    file = config.parent / f"annotations.{ending}"
    spans = [span(4 * n, 4 * n + 3)[0] for n in range(5000)]
    with file.open("w", newline="", encoding="utf-8") as out:
        table = csv.writer(out, delimiter="\t" if ending == "tsv" else ",")
        table.writerow(("instance_id", "user_id", "ner._spans"))
        table.writerow(("d1", "ann", json.dumps(spans)))
    assert len(read(file).spans) == 5000


def test_scheme_names_and_labels_with_dots_are_told_apart(tmp_path: Path) -> None:
    tone = {"annotation_type": "radio", "name": "a.tone", "labels": ["v.good"]}
    ner = {"annotation_type": "span", "name": "a.ner", "labels": ["PER"]}
    config = write_project(tmp_path, {}, schemes=[ner, tone])
    file = config.parent / "annotations.csv"
    with file.open("w", newline="", encoding="utf-8") as out:
        table = csv.writer(out)
        table.writerow(("instance_id", "user_id", "a.ner._spans", "a.tone.v.good"))
        table.writerow(("d1", "ann", json.dumps([span(0, 3, scheme="a.ner")[0]]), "v.good"))
    corpus = read(file)
    assert [row[3] for row in marked(corpus)] == ["a.ner"]
    assert corpus.answers[["scheme", "label"]].astype(str).to_numpy().tolist() == [
        ["a.tone", "v.good"]
    ]
