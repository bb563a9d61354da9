"""The adjudication queue, by itself and under a real Potato."""

from __future__ import annotations

import csv
import io
import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from potato_iaa import Corpus, cli, measure, read_project
from potato_iaa.errors import InputError, UsageError
from potato_iaa.jobs.queue import agreed_spans, contested_items, write_queue
from potato_iaa.loaders.project import read_config
from tests.corpora import corpus_of
from tests.golden.projects import SAMPLES, agreement_of
from tests.loaders.projects import NER, span, state, write_project
from tests.potato_server import Annotator, needs_potato, running_server

LEFT = Path(__file__).parents[1] / "loaders" / "left"
PROJECTS = ("pii_spans", "scripts", "two_schemes")


def queue_in(folder: Path, project: str, **options: Any) -> Path:
    path = SAMPLES / project
    write_queue(path, read_project(path), agreement_of(project), folder / project, **options)
    return folder / project


def records_of(queue: Path) -> list[dict[str, Any]]:
    lines = (queue / "data" / "contested.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_the_worst_items_come_first() -> None:
    corpus = corpus_of(
        {
            "agreed": {"ann": [(0, 3, "PER")], "ben": [(0, 3, "PER")]},
            "half": {"ann": [(0, 3, "PER"), (4, 7, "LOC")], "ben": [(0, 3, "PER"), (4, 7, "PER")]},
            "nothing": {"ann": [(0, 3, "PER")], "ben": []},
            "worse": {"ann": [(0, 3, "PER"), (4, 7, "LOC")], "ben": []},
            "empty": {"ann": [], "ben": []},
            "alone": {"ann": [(0, 3, "PER")]},
        }
    )
    found = contested_items(measure(corpus, bootstrap=0))
    assert [(one.item, one.value, one.disagreements) for one in found] == [
        ("worse", 0.0, 2),
        ("nothing", 0.0, 1),
        ("half", 0.5, 1),
    ]


def test_agreed_is_what_more_than_half_marked() -> None:
    corpus = Corpus.from_tables(
        items=[("d1", "Ada met Ben")],
        passes=[("d1", who) for who in "abcd"],
        spans=[
            *(("d1", who, 0, 3, "PER") for who in "abc"),
            *(("d1", who, 8, 11, "PER") for who in "ab"),
            *(("d1", who, 8, 11, "LOC") for who in "cd"),
        ],
    )
    assert agreed_spans(corpus, ["spans"]) == {
        "d1": {"spans": [{"name": "PER", "start": 0, "end": 3}]}
    }


def test_discontinuous_spans_and_fields_are_in_potatos_form() -> None:
    corpus = read_project(SAMPLES / "two_schemes")
    found = agreed_spans(corpus, ["mentions"])
    spans = [span for of_item in found.values() for span in of_item["mentions"]]
    assert {span["target_field"] for span in spans} == {"headline", "body"}
    assert any("additional_parts" in span for span in spans)


@pytest.mark.parametrize("project", PROJECTS)
def test_a_queue_is_a_project(tmp_path: Path, project: str) -> None:
    queue = queue_in(tmp_path, project)
    original, config = read_config(SAMPLES / project), read_config(queue)
    assert replace(config.display, base=Path()) == replace(original.display, base=Path())
    assert config.declared.spans == original.declared.spans
    assert config.data_files[0].path == queue / "data" / "contested.jsonl"
    rows = list(csv.DictReader(io.StringIO((queue / "contested.csv").read_text("utf-8"))))
    assert [row["item"] for row in rows] == [record["id"] for record in records_of(queue)]
    values = [float(row["lowest_f1"]) for row in rows]
    assert values == sorted(values)
    shown = "pre_annotation" in yaml.safe_load((queue / "config.yaml").read_text("utf-8"))
    assert shown == (project != "two_schemes")


def test_the_items_are_as_in_the_data(tmp_path: Path) -> None:
    queue = queue_in(tmp_path, "pii_spans", limit=3)
    lines = (SAMPLES / "pii_spans" / "data" / "notes.jsonl").read_text("utf-8").splitlines()
    original = {record["id"]: record for record in map(json.loads, lines)}
    records = records_of(queue)
    assert len(records) == 3
    for record in records:
        agreed = record.pop("iaa_agreed")
        assert record == original[record["id"]]
        assert set(agreed) <= {"pii_spans"}


def test_data_outside_the_project_is_refused_unless_allowed(tmp_path: Path) -> None:
    inside = tmp_path / "rounds" / "one" / "project"
    shutil.copytree(SAMPLES / "scripts", inside)
    elsewhere = tmp_path / "elsewhere"
    config = yaml.safe_load((inside / "config.yaml").read_text("utf-8"))
    config["data_files"] = ["../../../elsewhere/messages.csv"]
    shutil.copytree(inside / "data", elsewhere)
    (inside / "config.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), "utf-8")
    corpus = read_project(inside, allow_outside=True)
    agreement = measure(corpus, bootstrap=0)
    out = tmp_path / "queue"
    with pytest.raises(InputError, match="--allow-outside"):
        write_queue(inside, corpus, agreement, out)
    assert not out.exists()
    write_queue(inside, corpus, agreement, out, allow_outside=True)
    assert len(records_of(out)) == len(contested_items(agreement))


def queue_of(config: Path, out: Path) -> Path:
    corpus = read_project(config)
    write_queue(config, corpus, measure(corpus, bootstrap=0), out)
    return out


def test_values_of_parquet_are_written_as_ids_and_texts_are_read(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    time = datetime(2026, 1, 2, 3, 4, 5)
    values: dict[str, Any] = {
        "id": time,
        "text": Decimal("12.50"),
        "day": time.date(),
        "hour": time.time(),
        "zoned": time.replace(tzinfo=UTC),
        "lasted": timedelta(hours=1),
        "bytes": b"caf\xc3",
        "nested": {"prices": [Decimal("1.5")]},
        "score": 0.5,
    }
    config = write_project(
        tmp_path / "project",
        {
            "ann": state({str(time): [span(0, 2)]}, order=[str(time)]),
            "ben": state(order=[str(time)], index=1),
        },
        data_files=["items.parquet"],
    )
    table = arrow.table({name: [value] for name, value in values.items()})
    parquet.write_table(table, config.parent / "items.parquet")
    (record,) = records_of(queue_of(config, tmp_path / "queue"))
    assert record == {
        "id": "2026-01-02 03:04:05",
        "text": "12.50",
        "day": "2026-01-02",
        "hour": "03:04:05",
        "zoned": "2026-01-02 03:04:05+00:00",
        "lasted": "1:00:00",
        "bytes": "b'caf\\xc3'",
        "nested": {"prices": ["1.5"]},
        "score": 0.5,
        "iaa_agreed": {},
    }
    (item,) = read_project(config).items.itertuples()
    assert (item.item, item.text) == (record["id"], record["text"])


DISAGREEING = {"ann": state({"d1": [span(0, 3)]}), "ben": state(index=2)}


@pytest.mark.parametrize("first", ["configuration", "file"])
def test_of_two_schemes_of_one_name_the_first_is_offered(tmp_path: Path, first: str) -> None:
    other = {**NER, "labels": ["PER"], "description": "the other"}
    one = {**NER, "description": "the first"}
    config = write_project(
        tmp_path / "project",
        DISAGREEING,
        schemes=[one, other] if first == "configuration" else [],
        phases={"annotation": {"file": "schemes.yaml"}, "more": {"annotation_schemes": [other]}},
    )
    (config.parent / "schemes.yaml").write_text(yaml.safe_dump([one]), "utf-8")
    queue = queue_of(config, tmp_path / "queue")
    (offered,) = yaml.safe_load((queue / "config.yaml").read_text("utf-8"))["annotation_schemes"]
    assert offered == one


def test_items_that_are_in_no_data_file_cannot_be_shown(tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(LEFT / "1.2.2.4", project)
    (project / "data" / "items.jsonl").write_text("")
    with pytest.raises(InputError, match="'a02' is in none of its data files"):
        queue_of(project, tmp_path / "queue")


def test_schemes_that_no_configuration_declares_cannot_be_offered(tmp_path: Path) -> None:
    config = write_project(tmp_path / "project", DISAGREEING, schemes=[])
    with pytest.raises(InputError, match="the labels of scheme 'ner' are not in it"):
        queue_of(config, tmp_path / "queue")
    assert not (tmp_path / "queue").exists()


def test_a_queue_is_never_written_over(tmp_path: Path) -> None:
    queue_in(tmp_path, "scripts")
    with pytest.raises(UsageError, match="is there already"):
        queue_in(tmp_path, "scripts")
    (tmp_path / "pii_spans").mkdir()
    queue_in(tmp_path, "pii_spans")


def test_nothing_contested(tmp_path: Path) -> None:
    corpus = corpus_of({"d1": {"ann": [(0, 3, "PER")], "ben": [(0, 3, "PER")]}})
    with pytest.raises(UsageError, match="no item is contested"):
        write_queue("x", corpus, measure(corpus, bootstrap=0), tmp_path / "queue")
    assert not (tmp_path / "queue").exists()


def test_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        cli.main(["queue", str(SAMPLES / "scripts"), "--out", "second", "--limit", "5"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(
        "Written to second: 5 of 14 contested items, with 14 spans that most agree on"
    )
    assert len(records_of(Path("second"))) == 5


def test_the_command_reads_as_it_is_asked_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ("--exclude", "emil", "--include-items", "note-0*")
    with pytest.raises(SystemExit) as ended:
        cli.main(["queue", str(SAMPLES / "pii_spans"), "--out", str(tmp_path / "q"), *chosen])
    assert ended.value.code == 0
    corpus = read_project(
        SAMPLES / "pii_spans", exclude_annotators=["emil"], include_items=["note-0*"]
    )
    contests = contested_items(measure(corpus, bootstrap=0))
    assert [record["id"] for record in records_of(tmp_path / "q")] == [
        contest.item for contest in contests
    ]
    assert 0 < len(contests) < 10


@needs_potato
@pytest.mark.potato_server
@pytest.mark.parametrize("project", PROJECTS)
def test_a_second_round_starts_on_a_real_server(tmp_path: Path, project: str) -> None:
    queue = queue_in(tmp_path, project)
    first, *_ = records_of(queue)
    with running_server(queue / "config.yaml") as address:
        judge = Annotator(address, "judge")
        page = judge.page()
        assert f'value="{first["id"]}"' in page
        if project == "scripts":
            # What most agree on is highlighted; it is stored when it is marked.
            assert page.count('class="span-highlight"') == len(first["iaa_agreed"]["entities"])
        scheme = read_config(queue).declared.spans[0]
        field = "headline" if project == "two_schemes" else None
        saved = judge.mark(first["id"], scheme.name, scheme.labels[0], 0, 4, field=field)
        assert saved["status"] == "success"
    corpus = read_project(queue)
    assert len(corpus.spans) == 1
    assert list(corpus.annotators["annotator"]) == ["judge"]
    shutil.rmtree(queue / "annotation_output")
