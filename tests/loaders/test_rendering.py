"""The text that an annotator saw, rebuilt from the data."""

from __future__ import annotations

import html
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_iaa.loaders.rendering import (
    Display,
    DisplayField,
    ListStyle,
    Shown,
    default_text,
    field_text,
    item_texts,
    recounted,
    text_content,
)

DEFAULT = Display()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("Tab\tseparated", "Tabseparated"),
        ("one\r\ntwo\rthree", "one\ntwothree"),
        ("a  b   c", "a b c"),
        ("a \x07 b\x00", "a b"),
        ("  ends \n", "ends"),
        ("\u00a0ends\u2003", "ends"),
        ("a\u00a0\u00a0b\u200bc\u00adde\u0301", "a\u00a0\u00a0b\u200bc\u00adde\u0301"),
        ("a\u2028b\x85c", "a\u2028b\x85c"),
        ("two\n\nlines", "two\n\nlines"),
        ("<b>Bold</b> <i class='x'>it</i><br>new", "Bold itnew"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("<script a='&amp;'>&amp;", "<script a='&amp;'>&"),
        ("x < y and y > z", "x < y and y > z"),
        ("a <- b, <3, <!-- c -->", "a <- b, <3, <!-- c -->"),
        ("AT&T &amp; &lt;b&gt; &eacute; &#65;&#x42; &nosuch;", "AT&T & <b> é AB &nosuch;"),
        ("&amp;amp; &amp", "&amp; &amp"),
        ("see data: 5 and javascript:x", "see  5 and x"),
        ("DATA:x VbScript:y expression (z)", "x y z)"),
        ("<p>one</p>\n<pre>\ncode</pre>", "one\ncode"),
        ("🔥 <b>x</b>", "🔥 x"),
        (7, "7"),
        (True, "True"),
        (None, ""),
        ("", ""),
    ],
)
def test_the_default_display_shows(value: Any, shown: str) -> None:
    assert default_text(value, DEFAULT) == shown


def test_line_breaks_shown_as_markup_count_nothing() -> None:
    assert default_text("one\ntwo", Display(linebreaks_as_markup=True)) == "onetwo"


@pytest.mark.parametrize(
    ("style", "shown"),
    [
        (ListStyle(), "A. Ann: Hi yaB. None"),
        (ListStyle(prefix="number"), "1. Ann: Hi ya2. None"),
        (ListStyle(prefix="bullet"), "• Ann: Hi ya• None"),
        (ListStyle(prefix="none"), "Ann: Hi yaNone"),
        (ListStyle(prefix="runes"), "A. Ann: Hi yaB. None"),
        (ListStyle(shaded=True), "Ann: A. Hi yaB. None"),
    ],
)
def test_a_list_is_joined_with_its_prefixes(style: ListStyle, shown: str) -> None:
    assert default_text(["Ann: Hi <b>ya</b> ", None], Display(lists=style)) == shown


class _Collector(HTMLParser):
    """Text of a fragment, as Python's own parser sees it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def _parsed(markup: str) -> str:
    collector = _Collector()
    collector.feed(markup)
    collector.close()
    return "".join(collector.parts)


@given(st.text(alphabet=list("ab <>/&;#x3é🔥\n"), max_size=30))
def test_text_without_allowed_elements_reads_as_an_escaped_page_would(text: str) -> None:
    if "<a" in text or "<b" in text or "</a" in text or "</b" in text or "&#" in text:
        return
    assert text_content(text) == text


@given(st.lists(st.sampled_from(["<b>", "</b>", "<i a='1'>", "<br/>", "x ", "é", "&amp;", "&lt;"])))
def test_markup_reads_as_a_parser_reads_it(pieces: list[str]) -> None:
    markup = "".join(pieces)
    assert text_content(markup) == _parsed(markup)
    assert text_content(html.escape(markup, quote=False)) == markup


def field(kind: str, **options: Any) -> DisplayField:
    return DisplayField.of("f", kind, {"key": "f", "type": kind, **options})


@pytest.mark.parametrize(
    ("value", "options", "shown"),
    [
        ("a\nb  c <b>d</b>\t&amp;", {}, "ab  c <b>d</b>\t&amp;"),
        ("a\r\nb\rc", {}, "a\nb\nc"),
        ("a\r\nb\nc", {"preserve_whitespace": False}, "a\nb\nc"),
        ("a\nb", {"display_options": {"preserve_whitespace": False}}, "a\nb"),
        (" ends ", {}, " ends "),
        (["x", "<b>y</b>"], {}, "A. xB. y"),
        ({"k": "v"}, {}, '{  "k": "v"}'),
        (None, {}, ""),
        (5, {}, "5"),
    ],
)
def test_a_text_field_shows(value: Any, options: dict[str, Any], shown: str) -> None:
    assert field_text(value, field("text", **options), DEFAULT).text == shown


TURNS = [{"speaker": "Ann", "text": "Hi\r\n <b>"}, {"text": "no one"}, "Bob 2: yes ", 7]


@pytest.mark.parametrize(
    ("value", "options", "shown"),
    [
        (TURNS, {}, "Ann: Hi\n <b>\nno one\nBob 2: yes\n7"),
        (TURNS[:2], {"show_turn_numbers": True}, "[1] Ann: Hi\n <b>\n[2] no one"),
        (["Bob: yes"], {"speaker_extraction": False}, "Bob: yes"),
        (["B:  yes "], {"display_options": {"speaker_extraction": False}}, "B:  yes "),
        ([{"who": "A", "said": "x"}], {"speaker_key": "who", "text_key": "said"}, "A: x"),
        ("Ann: Hi\n\n  Bob:   yes \n", {}, "Ann: Hi\nBob: yes"),
        ([{"speaker": 3, "text": {"a": 1}}], {}, '3: {\n  "a": 1\n}'),
        ([{"speaker": "A"}], {}, "A: {'speaker': 'A'}"),
        ([], {}, ""),
        (None, {}, ""),
    ],
)
def test_a_dialogue_shows_a_line_per_turn(value: Any, options: dict[str, Any], shown: str) -> None:
    assert field_text(value, field("dialogue", **options), DEFAULT).text == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("<p>First   para.</p>\n<p>Second &amp; last.</p>", "First   para.\nSecond & last."),
        ("plain\n\n  text\t.", "plain\n\n  text\t."),
        ({"rendered_html": "<h1>A</h1>b", "text": "ignored"}, "Ab"),
        ("<script>x</script>", "<script>x</script>"),
        (["a", "b"], None),
        (None, None),
    ],
)
def test_a_document_shows_its_text(value: Any, shown: str | None) -> None:
    assert field_text(value, field("document"), DEFAULT).text == shown


def test_code_stands_in_an_indented_block() -> None:
    shown = field_text("if a < b:\r\n    c", field("code"), DEFAULT).text
    assert shown == "\n" + " " * 16 + "if a < b:\n    c" + "\n" + " " * 12


def test_a_file_that_potato_converts_is_not_rebuilt(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text("# Guide", encoding="utf-8")
    here = Display(base=tmp_path)
    assert field_text("guide.md", field("document"), here).text is None
    assert field_text("guide.md", field("code"), here).text is None
    assert field_text("other.md", field("document"), here).text == "other.md"


@pytest.mark.parametrize("kind", ["pdf", "spreadsheet", "agent_trace", "no_such_display"])
def test_other_displays_are_not_rebuilt(kind: str) -> None:
    assert field_text("x", field(kind), DEFAULT) == Shown(None)


def test_a_field_that_the_item_lacks_is_not_there() -> None:
    display = Display(fields=(field("text"), DisplayField("g", "text")))
    assert set(item_texts({"f": "x"}, text_key="text", display=display)) == {"f"}


def _utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _as_potato_counts(offset: int, counted_on: str) -> int:
    """Code points of ``counted_on`` before a UTF-16 offset, half pairs counted whole."""
    here = points = 0
    while here < offset and points < len(counted_on):
        here += _utf16(counted_on[points])
        points += 1
    return points


@given(st.text(alphabet=list("ab <>i/🔥🏆\n"), max_size=20), st.data())
def test_offsets_counted_on_another_text_are_found_again(text: str, data: st.DataObject) -> None:
    shown = field_text(text, field("text"), DEFAULT)
    assert shown.text is not None
    offset = data.draw(st.integers(0, len(shown.text)))
    units = _utf16(shown.text[:offset])
    if shown.counted_on is None:
        return
    stored = _as_potato_counts(units, shown.counted_on)
    others = {
        position
        for position in range(len(shown.text) + 1)
        if _as_potato_counts(_utf16(shown.text[:position]), shown.counted_on) == stored
    }
    assert recounted(stored, shown) == (offset if others == {offset} else None)


def test_offsets_after_mark_up_and_an_emoji_are_found_again() -> None:
    shown = field_text("<i>no</i> 🔥 marked 🏆 Ann, too", field("text"), DEFAULT)
    assert shown.counted_on == "no 🔥 marked 🏆 Ann, too"
    assert shown.text is not None
    start = shown.text.index("marked")
    stored = _as_potato_counts(_utf16(shown.text[:start]), shown.counted_on)
    assert (stored, start, recounted(stored, shown)) == (12, 12, 12)
    end = start + len("marked")
    stored = _as_potato_counts(_utf16(shown.text[:end]), shown.counted_on)
    assert (stored, end, recounted(stored, shown)) == (17, 18, 18)
