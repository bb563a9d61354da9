"""Potato's configuration: found, read and resolved as Potato does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from potato_iaa.errors import InputError
from potato_iaa.loaders import read_project
from tests.loaders.projects import NER, TONE, marked, span, state, write_config, write_project


def one_annotator() -> dict[str, Any]:
    return {"ann": state({"d1": [span(0, 3)]})}


def test_a_folder_stands_for_its_only_configuration(tmp_path: Path) -> None:
    config = write_project(tmp_path, one_annotator())
    (tmp_path / "compose.yaml").write_text("services: {}\n", encoding="utf-8")
    assert marked(read_project(tmp_path)) == marked(read_project(config))


def test_a_configuration_in_configs_is_found_and_its_files_beside_the_folder(
    tmp_path: Path,
) -> None:
    config = write_project(tmp_path, one_annotator())
    (tmp_path / "configs").mkdir()
    config.rename(tmp_path / "configs" / "task.yaml")
    corpus = read_project(tmp_path)
    assert [row[-1] for row in marked(corpus)] == ["Ada"]
    assert "task_dir" in corpus.ledger.notes[0]


def test_several_configurations_in_a_folder_are_named(tmp_path: Path) -> None:
    write_project(tmp_path, one_annotator())
    write_config(tmp_path, "other.yaml")
    with pytest.raises(InputError, match=r"2 Potato configurations \('config.yaml', 'other.yaml'"):
        read_project(tmp_path)


def test_a_folder_without_a_configuration_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no Potato configuration"):
        read_project(tmp_path)


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        read_project(tmp_path / "nothing.yaml")


def test_a_json_configuration_is_read(tmp_path: Path) -> None:
    config = write_project(tmp_path, one_annotator())
    settings = {
        "task_dir": ".",
        "output_annotation_dir": "annotation_output",
        "data_files": ["data/items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "annotation_schemes": [{**NER, "annotation_type": "highlight"}],
    }
    config.unlink()
    (tmp_path / "config.json").write_text(json.dumps(settings, indent="\t"), encoding="utf-8")
    assert [row[-1] for row in marked(read_project(tmp_path))] == ["Ada"]


def test_yaml_that_does_not_parse_names_line_and_column(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("item_properties: {}\nannotation_schemes: [\n  name: 'x\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"config.yaml, line \d+, column \d+: is not valid YAML"):
        read_project(config)
    with pytest.raises(InputError, match=r"config.yaml, line \d+, column \d+: is not valid YAML"):
        read_project(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "a: 2024-13-45",
        "a: !!int ''",
        "!!python/object:os.system {}",
        "? [1]\n: 2",
        "a: \x00",
        "&a [*a]",
    ],
)
def test_yaml_that_cannot_be_loaded_is_an_input_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"config\.yaml"):
        read_project(tmp_path / "config.yaml")


def test_a_file_that_is_no_configuration_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.yaml").write_text("title: Notes\n", encoding="utf-8")
    with pytest.raises(InputError, match="no Potato configuration"):
        read_project(tmp_path / "notes.yaml")


def test_a_configuration_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_bytes(b"annotation_task_name: caf\xe9\n")
    with pytest.raises(InputError, match="byte 25: is not UTF-8"):
        read_project(tmp_path / "config.yaml")


def test_task_dir_is_relative_to_the_configuration(tmp_path: Path) -> None:
    write_project(tmp_path / "work", one_annotator())
    config = write_config(tmp_path / "setup", task_dir="../work")
    assert [row[-1] for row in marked(read_project(config))] == ["Ada"]


def test_a_task_dir_from_another_machine_is_looked_for_beside_the_configuration(
    tmp_path: Path,
) -> None:
    config = write_project(tmp_path, one_annotator(), task_dir="/srv/elsewhere/project")
    corpus = read_project(config)
    assert [row[-1] for row in marked(corpus)] == ["Ada"]
    assert "/srv/elsewhere/project" in corpus.ledger.notes[0]


def test_the_output_folder_is_as_configured(tmp_path: Path) -> None:
    config = write_project(tmp_path, one_annotator(), output_annotation_dir="out/task-1/")
    (tmp_path / "out").mkdir()
    (tmp_path / "annotation_output").rename(tmp_path / "out" / "task-1")
    assert [row[-1] for row in marked(read_project(config))] == ["Ada"]


def test_a_missing_output_folder_is_named(tmp_path: Path) -> None:
    config = write_config(tmp_path, output_annotation_dir="elsewhere")
    with pytest.raises(InputError, match=r"elsewhere: there is no such folder"):
        read_project(config)


def test_an_output_folder_without_annotators_is_refused(tmp_path: Path) -> None:
    config = write_project(tmp_path, {})
    (tmp_path / "annotation_output" / "potato.log").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="nobody has annotated"):
        read_project(config)


def test_annotations_in_a_database_are_refused_with_the_reason(tmp_path: Path) -> None:
    config = write_project(tmp_path, one_annotator(), database={"type": "mysql"})
    with pytest.raises(InputError, match="mysql"):
        read_project(config)


@pytest.mark.parametrize(
    "listed",
    [
        "data/items.jsonl",
        ["data/items.jsonl"],
        [{"path": "data/items.jsonl"}],
        [{"path": "data/items.jsonl", "encoding": "utf-8", "filter_by_prior_annotation": {}}],
    ],
)
def test_data_files_are_read_in_every_form(tmp_path: Path, listed: Any) -> None:
    config = write_project(tmp_path, one_annotator(), data_files=listed)
    assert len(read_project(config).items) == 2


def test_data_files_of_batch_groups_are_read_once(tmp_path: Path) -> None:
    more = {"id": "d3", "text": "More."}
    (tmp_path / "more.jsonl").write_text(json.dumps(more), encoding="utf-8")
    groups = [
        {"name": "a", "data_file": "more.jsonl"},
        {"name": "b", "input_data_file": "./data/items.jsonl"},
        {"name": "c", "input_file": {"path": "data/../more.jsonl"}},
    ]
    config = write_project(tmp_path, one_annotator(), batch_assignment={"groups": groups})
    assert list(read_project(config).items["item"]) == ["d1", "d2", "d3"]


def test_a_data_folder_is_read_and_the_first_item_of_an_id_counts(tmp_path: Path) -> None:
    folder = tmp_path / "incoming"
    folder.mkdir()
    (folder / "b.jsonl").write_text('{"id": "d1", "text": "late"}\n', encoding="utf-8")
    (folder / "a.csv").write_text("id,text\nd1,Ada\nd2,Bob\n", encoding="utf-8")
    (folder / "readme.md").write_text("not data", encoding="utf-8")
    config = write_project(tmp_path, one_annotator(), data_files=None, data_directory="incoming")
    corpus = read_project(config)
    assert dict(zip(corpus.items["item"], corpus.items["text"], strict=True)) == {
        "d1": "Ada",
        "d2": "Bob",
    }
    assert any("b.jsonl" in note for note in corpus.ledger.notes)


def test_data_sources_that_are_files_are_read_and_others_refused(tmp_path: Path) -> None:
    config = write_project(
        tmp_path,
        one_annotator(),
        data_files=None,
        data_sources=[
            {"type": "file", "path": "data/items.jsonl"},
            {"type": "url", "enabled": False},
        ],
    )
    assert len(read_project(config).items) == 2
    write_config(tmp_path, data_sources=[{"type": "url", "url": "https://example.org/items.json"}])
    with pytest.raises(InputError, match=r"data_sources\[0\] is of type 'url'"):
        read_project(config)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"data_files": None}, "names no data_files"),
        ({"data_files": [{"encoding": "utf-8"}]}, r"data_files\[0\] has no path"),
        ({"data_files": ["data/items.xlsx"]}, r"data_files\[0\] is 'data/items.xlsx'"),
        ({"data_files": ["data/gone.jsonl"]}, r"gone.jsonl: this data file cannot be read"),
        ({"data_files": None, "data_directory": "gone"}, r"gone: there is no such folder"),
    ],
)
def test_data_that_cannot_be_found_is_named(
    tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    config = write_project(tmp_path, one_annotator(), **settings)
    with pytest.raises(InputError, match=message):
        read_project(config)


def test_labels_are_strings_or_mappings(tmp_path: Path) -> None:
    labels = ["PER", {"name": "LOC", "tooltip": "place", "key_value": "l"}, {"name": "ORG"}]
    config = write_project(tmp_path, one_annotator(), schemes=[{**NER, "labels": labels}])
    assert read_project(config).schemes[0].labels == ("PER", "LOC", "ORG")


@pytest.mark.parametrize(
    "phases",
    [
        {"order": ["consent", "work"], "work": {"annotation_schemes": [NER, TONE]}},
        [{"name": "work", "annotation_schemes": [NER]}],
        {"annotation": {"type": "annotation", "file": "schemes.yaml"}},
        {"annotation": {"file": "schemes.json"}, "prestudy": {"file": "survey.json"}},
    ],
)
def test_schemes_are_found_under_phases(tmp_path: Path, phases: Any) -> None:
    write_project(tmp_path, one_annotator())
    config = write_config(tmp_path, annotation_schemes=None, phases=phases)
    (tmp_path / "schemes.yaml").write_text(json.dumps([NER]), encoding="utf-8")
    (tmp_path / "schemes.json").write_text(json.dumps([NER]), encoding="utf-8")
    (tmp_path / "survey.json").write_text(json.dumps([TONE]), encoding="utf-8")
    corpus = read_project(config)
    assert [scheme.name for scheme in corpus.schemes] == ["ner"]
    assert len(corpus.spans) == 1


def test_of_two_schemes_of_one_name_the_first_counts_and_the_ledger_says_so(
    tmp_path: Path,
) -> None:
    other = {**NER, "labels": ["PER"]}
    layouts: list[tuple[dict[str, Any], bool]] = [
        ({"annotation_schemes": [NER, other]}, True),
        ({"annotation_schemes": [NER, {**TONE, "name": "ner"}]}, True),
        ({"phases": {"work": {"annotation_schemes": [other]}}}, True),
        ({"scheme_sets": {"minimal": [other]}}, True),
        ({"batch_assignment": {"groups": [{"annotators": ["ann"], "schemes": [other]}]}}, True),
        # The same again is no second scheme.
        ({"phases": {"work": {"annotation_schemes": [NER]}}}, False),
        ({"scheme_sets": {"minimal": ["ner", NER]}}, False),
    ]
    write_project(tmp_path, one_annotator())
    for settings, noted in layouts:
        corpus = read_project(write_config(tmp_path, **settings))
        assert [(scheme.name, scheme.labels) for scheme in corpus.schemes] == [
            ("ner", ("PER", "LOC"))
        ]
        note = "scheme 'ner' is declared more than once: the first declaration counts."
        assert (note in corpus.ledger.notes) == noted, settings


def test_a_phase_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    config = write_project(tmp_path, one_annotator(), phases={"annotation": {"file": "gone.yaml"}})
    with pytest.raises(InputError, match=r"phase 'annotation' names the file 'gone.yaml'"):
        read_project(config)


def test_categorical_schemes_are_described(tmp_path: Path) -> None:
    schemes: list[dict[str, Any]] = [
        NER,
        TONE,
        {"annotation_type": "likert", "name": "clarity", "size": 5, "min_label": "a"},
        {"annotation_type": "slider", "name": "weight", "min_value": 0, "max_value": 10},
        {"annotation_type": "text", "name": "remarks"},
    ]
    config = write_project(tmp_path, one_annotator(), schemes=schemes)
    described = {scheme.name: scheme for scheme in read_project(config).categorical}
    assert set(described) == {"tone", "clarity", "weight"}
    assert described["tone"].labels == ("good", "bad")
    assert described["clarity"].labels == ("1", "2", "3", "4", "5")
    assert (described["clarity"].minimum, described["clarity"].maximum) == (1.0, 5.0)
    assert (described["weight"].minimum, described["weight"].maximum) == (0.0, 10.0)
