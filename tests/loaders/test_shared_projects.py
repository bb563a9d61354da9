"""Projects that real Potato servers left behind, and public data in their layout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from potato_iaa.corpus import Corpus
from potato_iaa.errors import InputError
from potato_iaa.loaders import read_project
from tests.loaders.projects import assert_accounted, marked, passes, reasons, rows

SHARED = Path(__file__).parents[2].parent / "shared" / "projects"
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared projects are not here")


def read(name: str) -> Corpus:
    corpus = read_project(SHARED / name)
    assert_accounted(corpus)
    return corpus


def empty_passes(corpus: Corpus, policy: str = "seen") -> dict[str, list[int]]:
    frame = corpus.ledger.passes
    chosen = frame[frame["policy"] == policy]
    return {who: counts for who, *counts in rows(chosen, "annotator", "passes", "empty_passes")}


def test_all_55_spans_of_the_tricky_texts_cover_what_was_meant() -> None:
    corpus = read("tricky_2.12.1")
    expected = json.loads((SHARED / "tricky_2.12.1" / "expected_spans.json").read_text("utf-8"))
    texts = dict(zip(corpus.items["item"], corpus.items["text"], strict=True))
    assert texts == expected["displayed_text"]
    found = {
        (annotator, item, scheme, label, *parts[0]): covered
        for item, _, annotator, scheme, label, parts, covered in marked(corpus)
    }
    keys = ("user", "item", "schema", "label", "start", "end")
    meant = {tuple(span[key] for key in keys): span["text"] for span in expected["spans"]}
    assert len(meant) == 55
    assert {key: found.get(key) for key in meant} == meant
    assert len(corpus.spans) - len(meant) == 5


def test_what_else_the_tricky_project_holds() -> None:
    corpus = read("tricky_2.12.1")
    of_dave = [row for row in marked(corpus) if row[2] == "dave"]
    assert [row[5:] for row in of_dave if row[3] == "claims"] == [
        (((16, 24), (54, 59)), "Tim Cook ... Paris")
    ]
    assert reasons(corpus) == [("set_aside", "an unfinished copy of a discontinuous span")]
    assert empty_passes(corpus) == {
        "alice": [15, 2],
        "bob": [14, 8],
        "carol": [14, 14],
        "dave": [3, 1],
        "frank": [0, 0],
    }
    assert passes(corpus)["dave"] == ["a01", "a02", "a03"]
    assert [scheme.name for scheme in corpus.schemes] == ["entities", "claims"]
    assert set(corpus.answers["scheme"]) == {"tone"}


def test_the_fields_of_the_multifield_project_hold_what_was_marked() -> None:
    corpus = read("multifield_2.12.1")
    assert [(row[1], row[-1]) for row in marked(corpus) if row[0] == "m1"] == [
        ("chat", "Paris"),
        ("chat", "Rome"),
        ("doc", "Tim"),
        ("hypothesis", "Rome"),
        ("hypothesis", "Tim Cook"),
        ("premise", "bold"),
        ("premise", "with"),
        ("premise", "Tim Cook"),
    ]
    lost = ("set_aside", "offsets lost when Potato turned them into code points")
    assert reasons(corpus) == [lost, lost]


def test_the_empty_passes_of_the_news_are_kept() -> None:
    with pytest.raises(InputError, match="2 Potato configurations"):
        read_project(SHARED / "news_2.12.1")
    corpus = read("news_2.12.1/config.yaml")
    assert len(corpus.spans) == corpus.ledger.totals()["read"] == 146
    assert empty_passes(corpus) == {
        "ann": [11, 0],
        "ben": [12, 1],
        "cat": [12, 1],
        "dan": [9, 3],
        "eve": [11, 11],
    }
    assert empty_passes(corpus, "assigned")["eve"] == [12, 12]
    spans_of = corpus.spans.groupby("annotator", observed=False)["item"].unique()
    empty_of_dan = set(passes(corpus)["dan"]) - set(spans_of["dan"])
    assert empty_of_dan == {"news_05", "news_08", "news_15"}
    assert "eve" not in spans_of
    assert len(passes(corpus)["eve"]) == 11


@pytest.mark.parametrize(
    ("name", "spans", "items", "annotators"),
    [
        ("bratiaa_es_conll", 1567, 7, 4),
        ("btc_a_per", 789, 1000, 6),
        ("btc_e_loc", None, None, None),
    ],
)
def test_public_data_is_read_in_full(
    name: str, spans: int | None, items: int | None, annotators: int | None
) -> None:
    corpus = read(name)
    totals = corpus.ledger.totals()
    assert totals["read"] == totals["kept"] == len(corpus.spans)
    assert spans in (None, totals["read"])
    assert items in (None, len(corpus.items))
    assert annotators in (None, len(corpus.annotators))


@pytest.mark.parametrize(
    ("name", "version", "spans"),
    [
        ("2.0.0", "2.0", 8),
        ("2.0.0_nonascii", "2.0", 1),
        ("2.4.5", "2.2 to 2.6", 8),
        ("2.8.2", "2.7 or 2.8", 41),
    ],
)
def test_projects_before_potato_2_9_are_read_in_utf_16_units(
    name: str, version: str, spans: int
) -> None:
    corpus = read(f"old/{name}")
    assert (corpus.source.potato_version, corpus.source.offset_unit) == (version, "UTF-16 units")
    assert corpus.ledger.totals() == {"read": spans, "kept": spans, "repaired": 0, "set_aside": 0}
    meant = json.loads((SHARED / "tricky_2.12.1" / "expected_spans.json").read_text("utf-8"))
    words = {(span["item"], span["text"]) for span in meant["spans"]}
    others = {
        ("a01", "Merkel in Berlin."),
        ("a01", "met Angela Merkel in Berlin."),
    }
    assert {(row[0], row[-1]) for row in marked(corpus)} <= words | others


STATES = {
    "bratiaa_es_conll": (1567, 0, 0),
    "btc_a_per": (789, 0, 0),
    "btc_e_loc": (548, 0, 0),
    "multifield_2.12.1": (14, 0, 2),
    "news_2.12.1": (146, 0, 0),
    "tricky_2.12.1": (60, 0, 1),
    "old/1.2.0.7": (19, 0, 10),
    "old/1.2.2.4": (19, 0, 10),
    "old/1.2.2.4_autoassign": (17, 0, 10),
    "old/2.0.0": (8, 0, 0),
    "old/2.0.0_nonascii": (1, 0, 0),
    "old/2.4.5": (8, 0, 0),
    "old/2.8.2": (41, 0, 0),
}
# Spans read, repaired and set aside by what ends the path, first by project.
EXPORTS = {
    "old/1.2.2.4/annotation_output/annotated_instances.csv": (19, 0, 10),
    "old/1.2.2.4_autoassign/annotation_output/annotated_instances.tsv": (17, 0, 10),
    "old/2.8.2/annotation_output/exports/jsonl/annotations.jsonl": (38, 0, 0),
    "news_2.12.1/annotation_output/exports/jsonl/annotations.jsonl": (90, 0, 0),
    "tricky_2.12.1/exports/tei/": (58, 0, 27),
    "tricky_2.12.1/exports/conll": (48, 0, 0),
    "tricky_2.12.1/exports_by_2.8.2/csv/": (60, 0, 1),
    "tricky_2.12.1/exports_by_2.8.2/tsv/": (60, 0, 1),
    "tricky_2.12.1/exports_by_2.8.2/jsonl/": (60, 0, 1),
    "tricky_2.12.1/annotation_output/exports/": (60, 0, 1),
}
READ_EXPORTS = ("csv", "tsv", "jsonl", "parquet", "quotation_report", "web_annotation", "tei")
READ_TOO = ("data_package/annotations.csv", "psych_ds/data/", "conll_2003/", "conll_u/")
REFUSED = {
    "user_state.json": "is the state of one annotator",
    "annotation_history.jsonl": "is a log of clicks",
    ".tmp": "no export of Potato that holds spans",
    ".qdpx": "is a REFI-QDA project",
    "codebook.csv": "counts how often each code was used",
    "reliability.csv": "holds coefficients",
    "reliability.md": "holds coefficients",
    "agent_evaluation.json": "rates the traces of agents",
    "agent_evaluation_summary.csv": "rates the traces of agents",
    "datapackage.json": "describes the annotations.csv",
    "dataset_description.json": "describes the tables",
    "items.jsonl": "no instance_id and user_id",
    "items.json": "neither Potato's configuration nor an export",
    "news.json": "neither Potato's configuration nor an export",
    "expected_spans.json": "neither Potato's configuration nor an export",
    "annotation_order.txt": "lists the items of one annotator",
    "assigned_user_data.json": "holds the items of one annotator",
    "task_assignment.json": "tells who was assigned which items",
    "alice/annotated_instances.jsonl": "holds the spans of one annotator of Potato 1",
    "bob/annotated_instances.jsonl": "holds the spans of one annotator of Potato 1",
    "1.2.0.7/annotation_output/annotated_instances.json": "names no annotators",
    "multifield_2.12.1/exports/conll_2003/annotations.conll": "names no annotator",
    "multifield_2.12.1/exports/conll_u/annotations.conllu": "names no annotator",
    "multifield_2.12.1/exports/tei/tei/potato.xml": "in which display field",
    "exports_by_2.8.2/conll_2003/annotations.conll": "names no annotator",
    "exports_by_2.8.2/conll_u/annotations.conllu": "names no annotator",
    "exports_by_2.8.2/parquet/annotations.parquet": "left all its labels empty",
    "exports_by_2.8.2/parquet/spans.parquet": "left all its labels empty",
    "exports_by_2.8.2/quotation_report/quotations.csv": "left all its labels empty",
}


def outcome(path: str) -> tuple[int, int, int] | str:
    """Spans read, repaired and set aside of a file, or the sentence with which it is refused."""
    project = next(name for name in sorted(STATES, key=len, reverse=True) if f"{name}/" in path)
    refused = next((told for end, told in REFUSED.items() if path.endswith(end)), None)
    if refused is not None:
        return refused
    if Path(path).suffix == ".yaml":
        return STATES[project]
    found = next((counts for start, counts in EXPORTS.items() if path.startswith(start)), None)
    known = [f"/exports/{name}" for name in (*READ_EXPORTS, *READ_TOO)]
    assert found or any(part in path for part in known), path
    if found is None and project == "tricky_2.12.1":
        return (60, 0, 1)
    return found or STATES[project]


FILES = [
    path.relative_to(SHARED).as_posix()
    for path in (sorted(SHARED.rglob("*")) if SHARED.is_dir() else ())
    if path.is_file()
]


@pytest.mark.parametrize("project", STATES)
def test_every_file_is_read_or_refused_with_what_to_give_instead(project: str) -> None:
    paths = [path for path in FILES if path.startswith(f"{project}/")]
    assert paths
    # Two configurations lie in this folder.
    config = SHARED / project / "config.yaml" if project.startswith("news") else None
    for path in paths:
        expected = outcome(path)
        if isinstance(expected, str):
            with pytest.raises(InputError, match=expected) as raised:
                read_project(SHARED / path, config=config)
            assert "\n" not in str(raised.value)
            assert ": give the " in str(raised.value)
            continue
        corpus = read_project(SHARED / path, config=config)
        assert_accounted(corpus)
        totals = corpus.ledger.totals()
        found = (totals["read"], totals["repaired"], totals["set_aside"])
        assert found == expected, path
