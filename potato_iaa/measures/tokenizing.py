"""Tokenizing: where the tokens of texts lie, for each token unit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import regex

from potato_iaa.arrays import Flags, Ints
from potato_iaa.errors import UsageError

# A word keeps its combining marks, and the invisible joiners and soft hyphens between its letters;
# a Han character is a word of its own. What is neither blank nor invisible is a mark of
# punctuation or a symbol: one token per grapheme, so that an emoji is one token.
_WORD = (
    r"\p{Han}\p{M}*"
    r"|[[\p{L}\p{M}\p{N}\p{Pc}]--[\p{Han}]]+"
    r"(?:[\u00AD\u200C\u200D\u2060]+[[\p{L}\p{M}\p{N}\p{Pc}]--[\p{Han}]]+)*"
    r"|(?![\s\p{Cf}\p{Cc}])\X"
)
PATTERNS = {
    "word": _WORD,
    "whitespace": r"\S+",
    "character": r"(?s:.)",
    "regex": r"\w+|[^\w\s]",
}
UNITS = tuple(PATTERNS)

# What a code point does by itself: part no token, a run of its kind, a token of its own; or only
# its neighbours tell (JOINING). A combining mark, and a letter such as ำ that graphemes count as
# one, is of a run (MARK), unless a token of its own stands before it: that it belongs to.
_GAP, _RUN, _SINGLE, _MARK, _JOINING = range(5)
Classes = npt.NDArray[np.uint8]


def tokenize(text: str, unit: str = "word") -> Iterator[tuple[int, int]]:
    r"""Half-open code-point offsets of the tokens of ``text``.

    ``word``: Unicode words, whose combining marks stay in them; every punctuation mark, symbol and
    Han character is a token. ``whitespace``: what stands between blanks. ``character``: every code
    point. ``regex``: Python's ``\w+|[^\w\s]``. Raises UsageError for another unit.

    >>> text = "Ada's café, 東京"
    >>> [text[start:end] for start, end in tokenize(text)]
    ['Ada', "'", 's', 'café', ',', '東', '京']
    """
    for found in _finder(unit)(text):
        yield found.span()


def tokenize_all(
    texts: Sequence[str | None], base: Ints, length: Ints, unit: str = "word"
) -> tuple[Ints, Ints]:
    """Starts and ends of the tokens of all ``texts`` on one axis, int64 (tokens,), sorted.

    Text ``i`` (``None``: no tokens) lies from ``base[i]`` on and has ``length[i]`` code points; one
    position is free between two texts. Code points whose part in a token is plain from their class
    are handled as arrays; a text that has others is read as ``tokenize`` does.
    """
    # Nothing bounds the extent of a text that is not there: the known ones get an axis of theirs.
    known = np.flatnonzero([text is not None for text in texts])
    sizes = length[known] + 1
    packed = np.cumsum(sizes) - sizes
    start, end = _tokenize_known([text for text in texts if text is not None], packed, unit)
    moved = (base[known] - packed)[np.searchsorted(packed, start, side="right") - 1]
    return start + moved, end + moved


def _tokenize_known(texts: Sequence[str], base: Ints, unit: str) -> tuple[Ints, Ints]:
    """As ``tokenize_all``, of texts that lie one after the other, one position between them."""
    find = _finder(unit)
    if not any(texts):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    joined = "\0".join(texts)
    points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    classes = _classify(points, unit)
    gaps = np.concatenate((base[1:] - 1, np.zeros(0, dtype=np.int64)))
    classes[gaps] = _GAP
    run = (classes == _RUN) | (classes == _MARK)
    lone: Flags = classes == _JOINING
    lone[1:] |= (classes[1:] == _MARK) & (classes[:-1] == _SINGLE)
    involved = np.unique(np.searchsorted(base, np.flatnonzero(lone), side="right") - 1)
    plain = np.ones(len(texts), dtype=bool)
    plain[involved] = False

    single = classes == _SINGLE
    begins, ends = single | run, single | run
    begins[1:] &= ~(run[1:] & run[:-1])
    ends[:-1] &= ~(run[1:] & run[:-1])
    start, end = np.flatnonzero(begins), np.flatnonzero(ends) + 1
    kept = plain[np.searchsorted(base, start, side="right") - 1]
    start, end = start[kept], end[kept]
    if len(involved):
        bounds = [
            (found.start() + int(base[place]), found.end() + int(base[place]))
            for place in involved.tolist()
            for found in find(texts[place])
        ]
        further = np.array(bounds, dtype=np.int64).reshape(-1, 2)
        start, end = np.concatenate((start, further[:, 0])), np.concatenate((end, further[:, 1]))
        order = np.argsort(start)
        start, end = start[order], end[order]
    return start.astype(np.int64), end.astype(np.int64)


def _finder(unit: str) -> Callable[[str], Iterator[Any]]:
    if unit not in PATTERNS:
        raise UsageError(f"no token unit {unit!r}: there are {', '.join(UNITS)}.")
    if unit == "word":
        return regex.compile(PATTERNS[unit], regex.V1).finditer
    return re.compile(PATTERNS[unit]).finditer


def _classify(points: npt.NDArray[np.uint32], unit: str) -> Classes:
    used = np.flatnonzero(np.bincount(points))
    classify = _word_class if unit == "word" else _pattern_class(unit)
    table = np.zeros(int(used.max()) + 1, dtype=np.uint8)
    table[used] = [classify(chr(point)) for point in used.tolist()]
    return table[points]


def _pattern_class(unit: str) -> Callable[[str], int]:
    """The class of a code point under a pattern of runs, of single characters, or of both."""
    pattern = re.compile(PATTERNS[unit])

    def classify(character: str) -> int:
        if not pattern.fullmatch(character):
            return _GAP
        return _RUN if pattern.fullmatch(character * 2) else _SINGLE

    return classify


def _word_class(character: str) -> int:
    if regex.match(r"\p{Han}", character):
        # A mark of the Han script belongs to no run, and yet to what stands before it.
        return _JOINING if regex.match(r"\p{M}", character) else _SINGLE
    if regex.match(r"[\u00AD\u200C\u200D\u2060]", character):
        return _JOINING
    if regex.match(r"\p{M}", character):
        return _MARK
    if regex.match(r"[\p{L}\p{N}\p{Pc}]", character):
        return _MARK if regex.fullmatch(r"\X", f"!{character}") else _RUN
    # Graphemes of several code points: modifiers, flags, and what goes with the next one.
    if regex.fullmatch(r"\X", character * 2):
        return _JOINING
    return _GAP if regex.match(r"[\s\p{Cf}\p{Cc}]", character) else _SINGLE
