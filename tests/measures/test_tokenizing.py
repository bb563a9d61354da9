"""Tokens of each unit: right offsets by hand, and arrays against the definition text by text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from potato_iaa.errors import UsageError
from potato_iaa.measures import tokenizing
from potato_iaa.measures.tokenizing import UNITS, tokenize, tokenize_all

# Characters whose part in a token depends on their neighbours, with plain ones between them.
TROUBLE = (
    "a1_ Z.,!\t\n\r\0\u00a0\u00ad\u200b\u200c\u200d\u2028\u2060\ufeff\u0301\u0308\u20e3\ufe0f"
    "中東々\U00020bb7カひ한ᄀᆨกำ่ຳﾞनि्क्षةَ\u0600\U0001f525\U0001f3fd\U0001f468\U0001f1eb\U0001f1f7"
    "\U000e0067\ud800①½#"
)


def pieces(text: str, unit: str) -> list[str]:
    return [text[start:end] for start, end in tokenize(text, unit)]


def pieces_at_once(text: str, unit: str) -> list[str]:
    start, end = tokenize_all([text], np.array([0]), np.array([len(text)]), unit)
    return [text[first:last] for first, last in zip(start.tolist(), end.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Ada's café, 3.5%", ["Ada", "'", "s", "café", ",", "3", ".", "5", "%"]),
        ("cafe\u0301 no", ["cafe\u0301", "no"]),
        ("नरेंद्र मोदी ने", ["नरेंद्र", "मोदी", "ने"]),
        ("مُحَمَّد علي", ["مُحَمَّد", "علي"]),
        ("กำแพง", ["กำแพง"]),
        ("習近平在", ["習", "近", "平", "在"]),
        ("soft\u00adhyphen می\u200cخواهم", ["soft\u00adhyphen", "می\u200cخواهم"]),
        ("soft\u00adhyphen", ["soft\u00adhyphen"]),
        ("word\u2060joiner", ["word\u2060joiner"]),
        ("zero\u200dwidth", ["zero\u200dwidth"]),
        ("a\u200bb", ["a", "b"]),
        ("👨‍👩‍👧 👍🏽🇫🇷!", ["👨‍👩‍👧", "👍🏽", "🇫🇷", "!"]),
        (" \u0301a", ["\u0301a"]),
        ("\U0001f3fd", ["\U0001f3fd"]),
        ("", []),
    ],
)
def test_words_keep_their_marks_and_symbols_stand_alone(text: str, right: list[str]) -> None:
    assert pieces(text, "word") == right
    assert pieces_at_once(text, "word") == right


@pytest.mark.parametrize(
    ("unit", "right"),
    [
        ("whitespace", ["a-b,", "c"]),
        ("character", ["a", "-", "b", ",", " ", "c"]),
        ("regex", ["a", "-", "b", ",", "c"]),
    ],
)
def test_other_units_are_what_their_patterns_say(unit: str, right: list[str]) -> None:
    assert pieces("a-b, c", unit) == right
    assert pieces_at_once("a-b, c", unit) == right


@pytest.mark.parametrize("unit", UNITS)
def test_plain_texts_are_not_read_one_by_one(monkeypatch: pytest.MonkeyPatch, unit: str) -> None:
    def unwanted(text: str) -> Iterator[Any]:
        raise AssertionError(text)

    text = "Ada's cafe\u0301, नरेंद्र 東京\n(3.5 %)"
    right = list(tokenize(text, unit))
    monkeypatch.setattr(tokenizing, "_finder", lambda unit: unwanted)
    start, end = tokenize_all([text], np.array([0]), np.array([len(text)]), unit)
    assert list(zip(start.tolist(), end.tolist(), strict=True)) == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        # Letters (Lo, Lm) whose Grapheme_Cluster_Break is SpacingMark or Extend (UAX #29).
        ("กำ", ["กำ"]),
        (".ำ", [".ำ"]),
        (".ຳ", [".ຳ"]),
        ("ｶﾞ。ﾞ", ["ｶﾞ", "。ﾞ"]),
        ("ﾟa", ["ﾟa"]),
        ("中ﾞ", ["中", "ﾞ"]),
        # Marks (Mc) whose script is Han.
        ("中\U00016ff0", ["中\U00016ff0"]),
        (".\U00016ff0", [".\U00016ff0"]),
        ("a\U00016ff0", ["a", "\U00016ff0"]),
    ],
)
def test_letters_that_join_what_stands_before_them_are_read_as_marks(
    text: str, right: list[str]
) -> None:
    assert pieces(text, "word") == right
    assert pieces_at_once(text, "word") == right


def test_whatever_breaks_graphemes_in_a_way_of_its_own_is_read_as_by_itself() -> None:
    everything = "".join(map(chr, range(0x110000)))
    special = regex.findall(
        r"[[\P{GCB=Other}\p{M}]--[\p{GCB=LV}\p{GCB=LVT}\p{GCB=Control}]]", everything, regex.V1
    )
    assert len(special) > 2000
    texts = [before + character + "a." for before in ("", "a", ".", "中") for character in special]
    length = np.array([len(text) for text in texts])
    base = np.cumsum(length + 1) - length - 1
    start, end = tokenize_all(texts, base, length)
    bounds = [
        (first + place, last + place)
        for text, place in zip(texts, base.tolist(), strict=True)
        for first, last in tokenize(text)
    ]
    assert list(zip(start.tolist(), end.tolist(), strict=True)) == bounds


def test_an_unknown_unit_is_refused_with_the_units_there_are() -> None:
    with pytest.raises(UsageError, match="word, whitespace, character, regex"):
        list(tokenize("a", "syllable"))


@pytest.mark.parametrize("unit", UNITS)
@given(texts=st.lists(st.none() | st.text(st.sampled_from(TROUBLE), max_size=12), max_size=5))
def test_all_texts_at_once_give_the_tokens_of_each(unit: str, texts: list[str | None]) -> None:
    length = np.array([3 if text is None else len(text) for text in texts], dtype=np.int64)
    base = np.cumsum(length + 1) - length - 1
    start, end = tokenize_all(texts, base, length, unit)
    right = [
        (first + int(base[place]), last + int(base[place]))
        for place, text in enumerate(texts)
        if text is not None
        for first, last in tokenize(text, unit)
    ]
    assert list(zip(start.tolist(), end.tolist(), strict=True)) == right


def test_the_extent_of_a_text_that_is_not_there_costs_nothing() -> None:
    far = 10**12
    length = np.array([far, 7, far, 0, 3, far])
    base = np.append(0, np.cumsum(length + 1)[:-1])
    start, end = tokenize_all([None, "Ada met", None, "", "Ben", None], base, length)
    unit = np.searchsorted(base, start, side="right") - 1
    found = zip(
        unit.tolist(), (start - base[unit]).tolist(), (end - base[unit]).tolist(), strict=True
    )
    assert list(found) == [(1, 0, 3), (1, 4, 7), (4, 0, 3)]
