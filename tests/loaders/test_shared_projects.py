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


@pytest.mark.parametrize("name", ["1.2.0.7", "1.2.2.4", "1.2.2.4_autoassign"])
def test_projects_of_potato_1_are_refused_with_the_reason(name: str) -> None:
    with pytest.raises(InputError, match="written by Potato 1"):
        read_project(SHARED / "old" / name)


@pytest.mark.parametrize("name", ["2.0.0", "2.0.0_nonascii", "2.4.5", "2.8.2"])
def test_projects_before_potato_2_9_are_refused_with_the_reason(name: str) -> None:
    with pytest.raises(InputError, match=r"before 2\.9"):
        read_project(SHARED / "old" / name)
