"""Tokens: where they lie in the texts, which spans touch them, and the coincidences they make."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import regex
import scipy.sparse as sparse

from potato_iaa.arrays import Flags, Floats, Ints, expand, group_starts
from potato_iaa.errors import UsageError
from potato_iaa.layer import Layer

OUTSIDE = "O"
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


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of all units on the layer's global axis, and the spans that touch them.

    ``start``, ``end``, ``unit``: int64 (tokens,), sorted. One mark per token, pass and span:
    ``mark_token``, ``mark_pass``, ``mark_span``: int64 (marks,), sorted by token and pass.
    """

    start: Ints
    end: Ints
    unit: Ints
    mark_token: Ints
    mark_pass: Ints
    mark_span: Ints


@dataclass(frozen=True, eq=False)
class Coincidences:
    """Nominal coincidences of one coding, per item: sums over tokens, of which alpha is made.

    ``disagreement``: float64 (items,): Σ over tokens of Σ_{c≠k} o_ck. ``values``: float64
    (items, values): n_c. Tokens that fewer than two annotators read are left out.
    """

    names: tuple[str, ...]
    disagreement: Floats
    values: sparse.csr_array


@dataclass(frozen=True, eq=False)
class Coding:
    """The value of every marked token and pass; all other tokens of a pass are ``O``.

    ``token``, ``pass_``, ``value``: int64 (marked,); ``names``: the values' names, ``O`` first.
    """

    names: tuple[str, ...]
    token: Ints
    pass_: Ints
    value: Ints


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


def _finder(unit: str) -> Callable[[str], Iterator[Any]]:
    if unit not in PATTERNS:
        raise UsageError(f"no token unit {unit!r}: there are {', '.join(UNITS)}.")
    if unit == "word":
        return regex.compile(PATTERNS[unit], regex.V1).finditer
    return re.compile(PATTERNS[unit]).finditer


def make_tokens(layer: Layer, unit: str = "word") -> Tokens:
    """The tokens of the layer's units, and the spans that share a character with them.

    Units without text have no tokens. Raises UsageError for an unknown ``unit``.
    """
    find = _finder(unit)
    bounds: list[tuple[int, int]] = []
    counts = np.zeros(len(layer.unit_text), dtype=np.int64)
    for position, text in enumerate(layer.unit_text):
        if text is not None:
            before = len(bounds)
            bounds.extend(found.span() for found in find(text))
            counts[position] = len(bounds) - before
    token_unit, _ = expand(counts)
    offsets = np.array(bounds, dtype=np.int64).reshape(-1, 2) + layer.unit_base[token_unit, None]
    start, end = offsets[:, 0], offsets[:, 1]
    first = np.searchsorted(end, layer.part_start, side="right")
    stop = np.searchsorted(start, layer.part_end, side="left")
    part, ahead = expand(np.maximum(stop - first, 0).astype(np.int64))
    span = layer.part_span[part]
    return Tokens(
        start, end, token_unit, *_distinct(first[part] + ahead, layer.span_pass[span], span)
    )


def code_label(layer: Layer, tokens: Tokens) -> Coding:
    """The set of labels on a token is one value: ``O``, ``person``, ``org+person``."""
    token, pass_, label = _distinct(
        tokens.mark_token, tokens.mark_pass, layer.span_label[tokens.mark_span]
    )
    first = group_starts(token * max(len(layer.pass_unit), 1) + pass_)
    group, rank = expand(np.diff(np.append(first, len(token))))
    size = max(len(layer.labels), 1)
    sets: list[tuple[int, ...]] = [(code,) for code in range(len(layer.labels))]
    value = label[first]
    for depth in range(1, int(rank.max(initial=0)) + 1):
        here = rank == depth
        grown, inverse = np.unique(value[group[here]] * size + label[here], return_inverse=True)
        value[group[here]] = len(sets) + inverse
        sets.extend((*sets[code // size], int(code % size)) for code in grown)
    used, value = np.unique(value, return_inverse=True)
    names = ["+".join(sorted(layer.labels[code] for code in sets[number])) for number in used]
    return Coding((OUTSIDE, *names), token[first], pass_[first], value.astype(np.int64) + 1)


def code_io_longest(layer: Layer, tokens: Tokens) -> Coding:
    """The label of the longest span that touches the token (ties: smaller start, then label)."""
    token, pass_, owner = owned(layer, tokens)
    return Coding((OUTSIDE, *layer.labels), token, pass_, layer.span_label[owner] + 1)


def code_bio(layer: Layer, tokens: Tokens) -> Coding:
    """``B-`` at the first token that a span owns, ``I-`` at its others; the longest span owns."""
    token, pass_, owner = owned(layer, tokens)
    begins = np.zeros(len(token), dtype=bool)
    begins[np.unique(owner, return_index=True)[1]] = True
    names = [f"{prefix}-{label}" for label in layer.labels for prefix in "BI"]
    value = 1 + 2 * layer.span_label[owner] + np.where(begins, 0, 1)
    return Coding((OUTSIDE, *names), token, pass_, value)


def code_binary(layer: Layer, tokens: Tokens) -> Coding:
    """Touched by any span or by none."""
    token, pass_ = _distinct(tokens.mark_token, tokens.mark_pass)
    return Coding((OUTSIDE, "marked"), token, pass_, np.ones_like(token))


def code_one_label(layer: Layer, tokens: Tokens, label: int) -> Coding:
    """Touched by a span of one label or not."""
    of_label = layer.span_label[tokens.mark_span] == label
    token, pass_ = _distinct(tokens.mark_token[of_label], tokens.mark_pass[of_label])
    return Coding((OUTSIDE, layer.labels[label]), token, pass_, np.ones_like(token))


def owned(layer: Layer, tokens: Tokens) -> tuple[Ints, Ints, Ints]:
    """Per marked token and pass the span that owns it: token, pass, span, each (marked,)."""
    by_name = np.argsort(np.argsort(np.array(layer.labels, dtype=object)))
    span = tokens.mark_span
    order = np.lexsort(
        (
            span,
            by_name[layer.span_label[span]],
            layer.span_start[span],
            -layer.span_length[span],
            tokens.mark_pass,
            tokens.mark_token,
        )
    )
    key = tokens.mark_token[order] * max(len(layer.pass_unit), 1) + tokens.mark_pass[order]
    chosen = order[group_starts(key)]
    return tokens.mark_token[chosen], tokens.mark_pass[chosen], span[chosen]


def multi_label_tokens(layer: Layer, tokens: Tokens) -> int:
    """The number of tokens that carry more than one label of one annotator."""
    token, pass_, _ = _distinct(
        tokens.mark_token, tokens.mark_pass, layer.span_label[tokens.mark_span]
    )
    key = token * max(len(layer.pass_unit), 1) + pass_
    again = np.flatnonzero(key[1:] == key[:-1]) + 1
    return len(np.unique(token[again]))


def coincide(layer: Layer, tokens: Tokens, coding: Coding) -> Coincidences:
    """Coincidences of all tokens that two or more annotators read."""
    return _coincide(layer, tokens, coding, np.bincount(tokens.unit, minlength=_units(layer)))


def coincide_marked(layer: Layer, tokens: Tokens, coding: Coding) -> Coincidences:
    """Coincidences of those tokens that at least one annotator marked."""
    marked_unit = tokens.unit[np.unique(coding.token)]
    return _coincide(layer, tokens, coding, np.bincount(marked_unit, minlength=_units(layer)))


def _units(layer: Layer) -> int:
    return len(layer.unit_item)


def _coincide(layer: Layer, tokens: Tokens, coding: Coding, size: Ints) -> Coincidences:
    """Coincidences of ``size`` tokens per unit, all the coding's marked ones among them.

    Only marked tokens can disagree, and a value that k of m annotators gave a token adds
    k·(k−1)/(m−1) agreeing pairs to it: nothing has to be counted for the tokens that
    all left ``O``.
    """
    readers = np.bincount(layer.pass_unit, minlength=_units(layer))
    pairable = readers >= 2
    kept = pairable[tokens.unit[coding.token]]
    token, value = coding.token[kept], coding.value[kept]
    unit = tokens.unit[token]

    cell = token * len(coding.names) + value
    order = np.argsort(cell, kind="stable")
    first = group_starts(cell[order])
    same = np.diff(np.append(first, len(order)))
    row = token[order][first]
    begin = group_starts(row)
    marked_token = row[begin]
    marks = np.add.reduceat(same, begin) if len(begin) else np.zeros(0, dtype=np.int64)
    agreeing = np.add.reduceat(same * (same - 1), begin) if len(begin) else marks
    m = readers[tokens.unit[marked_token]]
    agreeing = agreeing + (m - marks) * (m - marks - 1)
    disagreement = np.zeros(len(layer.items))
    np.add.at(
        disagreement,
        layer.unit_item[tokens.unit[marked_token]],
        m - agreeing / np.maximum(m - 1, 1),
    )

    read = np.where(pairable, size * readers, 0)
    outside = read - np.bincount(unit, minlength=_units(layer))
    items = np.concatenate((layer.unit_item, layer.unit_item[unit]))
    columns = np.concatenate((np.zeros(_units(layer), dtype=np.int64), value))
    weights = np.concatenate((outside, np.ones(len(value), dtype=np.int64)))
    values = sparse.coo_array(
        (weights.astype(np.float64), (items, columns)), shape=(len(layer.items), len(coding.names))
    )
    return Coincidences(coding.names, disagreement, sparse.csr_array(values))


def _distinct(*columns: Ints) -> tuple[Ints, ...]:
    """The distinct rows of equally long columns, sorted by the first, then the second, …"""
    order = np.lexsort(columns[::-1])
    rows = [column[order] for column in columns]
    new: Flags = np.ones(len(order), dtype=bool)
    if len(order):
        new[1:] = np.logical_or.reduce([row[1:] != row[:-1] for row in rows])
    return tuple(row[new] for row in rows)
