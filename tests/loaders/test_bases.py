"""On which text and in which unit offsets were counted is tried on the texts themselves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from potato_iaa.corpus import Corpus
from potato_iaa.loaders import read_project
from potato_iaa.loaders.bases import Traced, as_potato_1_showed, as_shown, countings_of, replaced
from potato_iaa.loaders.rendering import Display, default_text
from tests.loaders.projects import (
    assert_accounted,
    marked,
    parts,
    reasons,
    span,
    state,
    write_project,
)

FIRE = "🔥 Ada met 🏆 Bob in Oslo."
OLD_KEYS = ("flow_record", "instance_id_to_presentation_order", "instance_id_to_room_provenance")
READ_UTF_16 = ("repaired", "read as UTF-16 units of the text as shown")


def utf_16(text: str, word: str) -> tuple[int, int]:
    start = len(text[: text.index(word)].encode("utf-16-le")) // 2
    return start, start + len(word.encode("utf-16-le")) // 2


def points(text: str, word: str) -> tuple[int, int]:
    return text.index(word), text.index(word) + len(word)


def of(version: str, spans: dict[str, Any]) -> dict[str, Any]:
    """A state as that version of Potato writes it."""
    document = state(spans)
    if version == "2.12":
        return document
    for key in OLD_KEYS:
        del document[key]
    later = {
        "2.1": ("instance_id_to_link_to_value",),
        "2.3": ("instance_id_to_link_to_value", "instance_id_to_event_to_value"),
        "2.8": ("instance_id_to_event_to_value", "crowd_metadata"),
    }
    return document | {key: {} for key in later[version]}


def read(folder: Path, version: str, text: Any, *spans: list[Any], **options: Any) -> Corpus:
    items = [{"id": "d1", "text": text}, {"id": "d2", "text": "x"}]
    config = write_project(folder, {"ann": of(version, {"d1": list(spans)})}, items=items)
    corpus = read_project(config, **options)
    assert_accounted(corpus)
    return corpus


def words(corpus: Corpus) -> set[str]:
    return {row[-1] for row in marked(corpus)}


def test_units_are_those_of_the_version(tmp_path: Path) -> None:
    for version, unit in (("2.8", utf_16), ("2.12", points), ("2.1", utf_16)):
        stored = [span(*unit(FIRE, word)) for word in ("Ada", "Bob", "🏆")]
        corpus = read(tmp_path / version, version, FIRE, *stored)
        assert words(corpus) == {"Ada", "Bob", "🏆"}
        assert reasons(corpus) == []


def test_a_project_that_was_moved_to_2_12_mixes_units_in_one_state(tmp_path: Path) -> None:
    stored = [span(*utf_16(FIRE, "Bob")), span(*points(FIRE, "Oslo")), span(*utf_16(FIRE, "Ada"))]
    corpus = read(tmp_path, "2.12", FIRE, *stored)
    assert words(corpus) == {"Ada", "Bob", "Oslo"}
    assert reasons(corpus) == [READ_UTF_16, READ_UTF_16]
    assert corpus.ledger.entries["start"].tolist() == [utf_16(FIRE, w)[0] for w in ("Bob", "Ada")]


def test_an_offset_within_a_surrogate_pair_tells_the_other_unit(tmp_path: Path) -> None:
    # As UTF-16 these would start in the middle of the second emoji.
    corpus = read(tmp_path / "a", "2.8", FIRE, span(*points(FIRE, "Bob")))
    assert words(corpus) == {"Bob"}
    assert reasons(corpus) == [("repaired", "read as code points of the text as shown")]
    certain = read(tmp_path / "b", "2.8", FIRE, span(*points(FIRE, "Bob")), offset_unit="utf-16")
    assert reasons(certain) == [("set_aside", "begins or ends within a surrogate pair")]


def test_the_middle_of_a_word_alone_changes_nothing(tmp_path: Path) -> None:
    corpus = read(tmp_path, "2.12", FIRE, span(2, 4), span(*points(FIRE, "slo")))
    assert words(corpus) == {"Ad", "slo"}
    assert reasons(corpus) == []


def test_a_given_unit_is_not_doubted(tmp_path: Path) -> None:
    start, end = utf_16(FIRE, "Bob")
    corpus = read(tmp_path, "2.12", FIRE, span(start, end), offset_unit="code-points")
    assert words(corpus) == {FIRE[start:end]}
    assert reasons(corpus) == []


def test_words_that_no_blanks_part_are_never_cut(tmp_path: Path) -> None:
    text = "𠮷野家也在東京。"
    corpus = read(tmp_path, "2.12", text, span(*points(text, "野家")), span(*points(text, "東")))
    assert words(corpus) == {"野家", "東"}
    assert reasons(corpus) == []


def test_versions_that_showed_ascii_only_are_told_by_their_spans(tmp_path: Path) -> None:
    text = "Café José in Zürich met Bob."
    shown = re.sub(r"[^\x20-\x7E\n]", "", text)
    stored = [span(*points(shown, word)) for word in ("Caf", "Jos", "Zrich", "Bob")]
    corpus = read(tmp_path / "a", "2.3", text, *stored)
    assert words(corpus) == {"Caf", "Jos", "Zürich", "Bob"}
    assert corpus.source.offset_basis == "text as shown, without all that is not ASCII"
    assert reasons(corpus) == []
    as_shown_ = [span(*utf_16(text, word)) for word in ("Café", "José", "Bob")]
    later = read(tmp_path / "b", "2.3", text, *as_shown_)
    assert words(later) == {"Café", "José", "Bob"}
    assert later.source.offset_basis == "text as shown"
    given = read(tmp_path / "c", "2.3", text, *stored[:1], potato_version="2.3")
    assert words(given) == {"Caf"}


def test_potato_2_1_looked_selections_up_in_the_text_without_tags(tmp_path: Path) -> None:
    text = "  <b>Ada</b>  met   Bob &amp; Cy."
    plain = "Ada  met   Bob &amp; Cy."
    stored = [span(*utf_16(plain, word)) for word in ("Ada", "met   Bob", "&amp; Cy")]
    corpus = read(tmp_path, "2.1", text, *stored)
    assert words(corpus) == {"Ada", "met Bob", "& Cy"}
    assert reasons(corpus) == []


def test_offsets_of_the_data_file_are_recognized(tmp_path: Path) -> None:
    text = "  Ada  met  <b>Bob</b> &amp; Cy."
    stored = [span(*points(text, word)) for word in ("Ada", "met", "Bob", "Cy")]
    corpus = read(tmp_path, "2.12", text, *stored)
    assert words(corpus) == {"Ada", "met", "Bob", "Cy"}
    assert set(reasons(corpus)) == {
        ("repaired", "read as code points of the text of the data file")
    }


def test_a_stored_text_decides_before_the_words_do(tmp_path: Path) -> None:
    stored = [
        span(*utf_16(FIRE, "ob"), text="ob"),
        span(*points(FIRE, "da"), text="da"),
        span(0, 3, text="Oslo"),
        span(0, 3, text="Ada\n met"),
        span(0, 5, text="o"),
        span(0, 3, text="Eve"),
    ]
    corpus = read(tmp_path, "2.12", FIRE, *stored)
    assert words(corpus) == {"ob", "da", "Oslo", "Ada met"}
    assert reasons(corpus) == [
        ("repaired", "found by its stored text, which is not at its offsets"),
        ("repaired", "found by its stored text, which is not at its offsets"),
        READ_UTF_16,
        (
            "set_aside",
            "ambiguous: its stored text stands in several places, and not at its offsets",
        ),
        ("set_aside", "its stored text was not found in the text"),
    ]


def test_discontinuous_spans_are_read_as_a_whole(tmp_path: Path) -> None:
    bob, ada = utf_16(FIRE, "Bob"), utf_16(FIRE, "Ada")
    whole = span(*ada, **parts((*bob, "Bob")))
    other = span(*ada, **parts((*bob, "Eve")))
    corpus = read(tmp_path / "a", "2.12", FIRE, whole)
    assert words(corpus) == {"Ada ... Bob"}
    assert reasons(corpus) == [READ_UTF_16]
    assert reasons(read(tmp_path / "b", "2.12", FIRE, other)) == [
        ("set_aside", "the stored text is not the text at its offsets")
    ]


@pytest.mark.parametrize(
    ("version", "counting"),
    [
        ("1.2", "code points of the source of the page, with entities and CRLF"),
        ("v1.2.2.4", "code points of the source of the page, with entities and CRLF"),
        ("2.0.1", "UTF-16 units of the text of the data file without its tags"),
        ("2.3", "UTF-16 units of the text as shown, without all that is not ASCII"),
        ("2.4", "UTF-16 units of the text as shown"),
        ("2.8.2", "UTF-16 units of the text as shown"),
        ("2.9", "code points of the text as shown"),
        ("2.12.1", "code points of the text as shown"),
        ("2", "code points of the text as shown"),
    ],
)
def test_every_version_has_its_way_of_counting(version: str, counting: str) -> None:
    assert [str(found) for found in countings_of(version)] == [counting]


_PIECES = [*"ab<>/&; \t\n\r\x00é🔥", "<b>", "</b>", "<pre>", "&amp;", "&#65;", "data:"]
_MARKUP = st.lists(st.sampled_from(_PIECES), max_size=25).map("".join) | st.text(max_size=25)


@settings(deadline=None)
@given(_MARKUP, st.booleans())
@example("<aa\na", True)
def test_a_traced_text_is_the_text_as_shown(source: str, breaks: bool) -> None:
    traced = as_shown(source, linebreaks_as_markup=breaks)
    assert traced.text == default_text(source, Display(linebreaks_as_markup=breaks))
    assert len(traced.start) == len(traced.end) == len(traced.text)
    assert (traced.start < traced.end).all()
    assert (traced.start[1:] >= traced.start[:-1]).all()
    assert (traced.end[1:] >= traced.end[:-1]).all()
    for character, start, end in zip(traced.text, traced.start, traced.end, strict=True):
        # Where a tag that is none is shown, a line break in it is shown as its mark-up.
        broken = breaks and source[start:end] == "\n" and character in "<br/>"
        assert character in source[start:end] or end - start > 1 or broken


@settings(deadline=None)
@given(_MARKUP)
def test_what_is_replaced_stands_for_all_that_it_replaces(source: str) -> None:
    traced = replaced(Traced.of(source), re.compile(" +"), lambda _: "__")
    assert traced.text == re.sub(" +", "__", source)
    stretches = sorted(set(zip(traced.start.tolist(), traced.end.tolist(), strict=True)))
    assert "".join(source[start:end] for start, end in stretches) == source


@settings(deadline=None)
@given(_MARKUP)
def test_what_potato_1_showed_has_no_more_blanks_at_its_ends(source: str) -> None:
    assert as_potato_1_showed(source).text == as_potato_1_showed(source).text.strip()
