"""Tokens: where they lie in the texts, which spans touch them, and the coincidences they make."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from potato_iaa.arrays import Flags, Floats, Ints, distinct, expand, group_starts, present, weigh
from potato_iaa.layer import Layer
from potato_iaa.measures.tokenizing import tokenize_all

OUTSIDE = "O"


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of all units on the layer's global axis, and the spans that touch them.

    ``start``, ``end``, ``unit``: int64 (tokens,), sorted. ``weight``: how many times each counts:
    once, or, for segments, once per code point. One mark per token, pass and span:
    ``mark_token``, ``mark_pass``, ``mark_span``: int64 (marks,), sorted by token and pass.
    ``unit_size``: float64 (units,), the weight of each unit's tokens.
    """

    start: Ints
    end: Ints
    unit: Ints
    weight: Ints
    mark_token: Ints
    mark_pass: Ints
    mark_span: Ints
    unit_size: Floats


@dataclass(frozen=True)
class Scale:
    """The values of a coding: their ``names``, and ``keys`` that name and sort them everywhere.

    A key is a tuple of codes, equal for equal values on any items; ``O``, the first, has ``()``.
    """

    names: tuple[str, ...]
    keys: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.names)


def scale_of(names: tuple[str, ...]) -> Scale:
    """The scale of a coding that has the same values on any items: ``O``, then these."""
    return Scale((OUTSIDE, *names), ((), *((code,) for code in range(len(names)))))


@dataclass(frozen=True, eq=False)
class Coincidences:
    """Nominal coincidences of one coding, per item: sums over tokens, of which alpha is made.

    ``disagreement``: float64 (items,): Σ over tokens of Σ_{c≠k} o_ck. ``values``: float64
    (items, values): n_c. Tokens that fewer than two annotators read are left out.
    """

    scale: Scale
    disagreement: Floats
    values: Floats


@dataclass(frozen=True, eq=False)
class LabelCoincidences:
    """Binary coincidences of every label's own layer, per item: on a token or not.

    ``disagreement``, ``marked``: float64 (items, labels); ``read``: float64 (items,), all values.
    """

    disagreement: Floats
    marked: Floats
    read: Floats


@dataclass(frozen=True, eq=False)
class Coding:
    """The value of every marked token and pass; all other tokens of a pass are ``O``.

    ``token``, ``pass_``, ``value``: int64 (marked,), the value's place on the ``scale``.
    """

    scale: Scale
    token: Ints
    pass_: Ints
    value: Ints


def make_tokens(layer: Layer, unit: str = "word") -> Tokens:
    """The tokens of the layer's units, and the spans that share a character with them.

    Units without text have no tokens. Raises UsageError for an unknown ``unit``.
    """
    start, end = tokenize_all(layer.unit_text, layer.unit_base, layer.unit_length, unit)
    token_unit = np.searchsorted(layer.unit_base, start, side="right") - 1
    return _marked(layer, start, end, token_unit.astype(np.int64), np.ones_like(start))


def make_segments(layer: Layer) -> Tokens:
    """The stretches between neighbouring boundaries of any spans, weighted by their code points.

    Every code point of a segment is touched by the same spans: segments give what one token per
    code point would give, at a cost that depends on the spans alone.
    """
    ends = layer.unit_base + layer.unit_length
    (cuts,) = distinct(np.concatenate((layer.part_start, layer.part_end, layer.unit_base, ends)))
    unit = np.searchsorted(layer.unit_base, cuts, side="right") - 1
    inside = np.flatnonzero(cuts[1:] <= ends[unit[:-1]])
    start, end = cuts[inside], cuts[inside + 1]
    return _marked(layer, start, end, unit[inside].astype(np.int64), end - start)


def _marked(layer: Layer, start: Ints, end: Ints, unit: Ints, weight: Ints) -> Tokens:
    first = np.searchsorted(end, layer.part_start, side="right")
    stop = np.searchsorted(start, layer.part_end, side="left")
    part, ahead = expand(np.maximum(stop - first, 0).astype(np.int64))
    span = layer.part_span[part]
    mark_token, mark_pass, mark_span = distinct(first[part] + ahead, layer.span_pass[span], span)
    size = weigh(unit, weight, len(layer.unit_item))
    return Tokens(start, end, unit, weight, mark_token, mark_pass, mark_span, size)


def code_label(layer: Layer, tokens: Tokens) -> Coding:
    """The set of labels on a token is one value: ``O``, ``person``, ``org+person``."""
    token, pass_, label = distinct(
        tokens.mark_token, tokens.mark_pass, layer.span_label[tokens.mark_span]
    )
    first = group_starts(token * len(layer.pass_unit) + pass_)
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
    keys = [sets[number] for number in used]
    names = ["+".join(sorted(_plain(layer.labels[code]) for code in key)) for key in keys]
    scale = Scale((OUTSIDE, *names), ((), *keys))
    return Coding(scale, token[first], pass_[first], value.astype(np.int64) + 1)


def _plain(label: str) -> str:
    """The label, quoted where it could be taken for ``O`` or for a set of labels."""
    mistakable = label == OUTSIDE or "+" in label or label.startswith('"')
    return json.dumps(label, ensure_ascii=False) if mistakable else label


def code_io_longest(layer: Layer, tokens: Tokens) -> Coding:
    """The label of the longest span that touches the token (ties: smaller start, then label)."""
    token, pass_, owner = owned(layer, tokens)
    return Coding(scale_of(layer.labels), token, pass_, layer.span_label[owner] + 1)


def code_bio(layer: Layer, tokens: Tokens) -> Coding:
    """``B-`` at the first token that a span owns, ``I-`` at its others; the longest span owns."""
    token, pass_, owner = owned(layer, tokens)
    begins = np.zeros(len(token), dtype=bool)
    first = np.full(len(layer.span_pass), len(owner))
    np.minimum.at(first, owner, np.arange(len(owner)))
    begins[first[first < len(owner)]] = True
    names = tuple(f"{prefix}-{label}" for label in layer.labels for prefix in "BI")
    value = 1 + 2 * layer.span_label[owner] + np.where(begins, 0, 1)
    return Coding(scale_of(names), token, pass_, value)


def code_binary(layer: Layer, tokens: Tokens) -> Coding:
    """Touched by any span or by none."""
    token, pass_ = distinct(tokens.mark_token, tokens.mark_pass)
    return Coding(scale_of(("marked",)), token, pass_, np.ones_like(token))


def owned(layer: Layer, tokens: Tokens) -> tuple[Ints, Ints, Ints]:
    """Per marked token and pass the span that owns it: token, pass, span, each (marked,).

    The longest owns (ties: smaller start, then label by name).
    """
    rank = np.empty_like(layer.longest_first)
    rank[layer.longest_first] = np.arange(len(rank))
    first = group_starts(tokens.mark_token * len(layer.pass_unit) + tokens.mark_pass)
    owner = layer.longest_first[np.minimum.reduceat(rank[tokens.mark_span], first)]
    return tokens.mark_token[first], tokens.mark_pass[first], owner


def multi_label_tokens(layer: Layer, tokens: Tokens) -> int:
    """The number of tokens that carry more than one label of one annotator."""
    token, pass_, _ = distinct(
        tokens.mark_token, tokens.mark_pass, layer.span_label[tokens.mark_span]
    )
    key = token * len(layer.pass_unit) + pass_
    again = np.flatnonzero(key[1:] == key[:-1]) + 1
    return len(present(token[again]))


def spans_cutting_tokens(layer: Layer, tokens: Tokens) -> int:
    """The number of spans of which a part begins or ends inside a token."""
    inside = _inside(tokens, layer.part_start) | _inside(tokens, layer.part_end)
    return len(present(layer.part_span[inside]))


def _inside(tokens: Tokens, offset: Ints) -> Flags:
    """Whether an offset lies between two code points of one token."""
    if not len(tokens.start):
        return np.zeros(len(offset), dtype=bool)
    token = np.searchsorted(tokens.end, offset, side="right")
    found = token < len(tokens.start)
    return found & (tokens.start[np.minimum(token, len(tokens.start) - 1)] < offset)


def readers(layer: Layer) -> Ints:
    """The number of passes on each unit."""
    return np.bincount(layer.pass_unit, minlength=len(layer.unit_item))


def coincide(layer: Layer, tokens: Tokens, coding: Coding) -> Coincidences:
    """Coincidences of all tokens that two or more annotators read."""
    return _coincide(layer, tokens, coding, tokens.unit_size)


def coincide_marked(layer: Layer, tokens: Tokens, coding: Coding) -> Coincidences:
    """Coincidences of those tokens that at least one annotator marked."""
    marked = coding.token[group_starts(coding.token)]
    size = weigh(tokens.unit[marked], tokens.weight[marked], len(layer.unit_item))
    return _coincide(layer, tokens, coding, size)


def _coincide(layer: Layer, tokens: Tokens, coding: Coding, size: Floats) -> Coincidences:
    """Coincidences of ``size`` tokens per unit, all the coding's marked ones among them.

    Only marked tokens can disagree, and a value that k of m annotators gave a token adds
    k·(k−1)/(m−1) agreeing pairs to it: nothing has to be done for the tokens that all left ``O``.
    """
    m = readers(layer)
    unit = tokens.unit[coding.token]
    kept = m[unit] >= 2
    token, value, unit = coding.token[kept], coding.value[kept], unit[kept]
    weight = tokens.weight[token]
    item = layer.unit_item[unit]

    marked, agreeing = _agreeing(token, value, len(coding.scale), m[unit])
    marked_unit = tokens.unit[marked]
    reader = m[marked_unit]
    disagreement = weigh(
        layer.unit_item[marked_unit],
        tokens.weight[marked] * (reader - agreeing / np.maximum(reader - 1, 1)),
        len(layer.items),
    )
    columns = len(coding.scale)
    given = weigh(item * columns + value, weight, len(layer.items) * columns)
    given = given.reshape(len(layer.items), columns)
    read = weigh(layer.unit_item, np.where(m >= 2, size * m, 0), len(layer.items))
    given[:, 0] = read - given.sum(axis=1)
    return Coincidences(coding.scale, disagreement, given)


def join_coincidences(parts: Sequence[Coincidences]) -> Coincidences:
    """The coincidences of several runs of items, one after the other, on one scale."""
    scale = join_scales([part.scale for part in parts])
    return Coincidences(
        scale,
        np.concatenate([part.disagreement for part in parts]),
        np.concatenate([on_scale(part.values, part.scale, scale) for part in parts]),
    )


def join_scales(scales: Sequence[Scale]) -> Scale:
    """All values of the scales: single labels first, then sets of two, of three, …"""
    names = {
        key: name for scale in scales for key, name in zip(scale.keys, scale.names, strict=True)
    }
    keys = tuple(sorted(names, key=lambda key: (len(key), key)))
    return Scale(tuple(names[key] for key in keys), keys)


def on_scale(columns: Floats, own: Scale, scale: Scale) -> Floats:
    """``columns`` (rows, values of ``own``) under the values of a larger scale."""
    if own == scale:
        return columns
    place = {key: position for position, key in enumerate(scale.keys)}
    widened = np.zeros((len(columns), len(scale)))
    widened[:, [place[key] for key in own.keys]] = columns
    return widened


def coincide_labels(layer: Layer, tokens: Tokens) -> LabelCoincidences:
    """Coincidences of each label alone: a token bears it or not, whatever else it bears."""
    m = readers(layer)
    labels = len(layer.labels)
    size = tokens.unit_size
    read = weigh(layer.unit_item, np.where(m >= 2, size * m, 0), len(layer.items))
    token, label, _ = distinct(
        tokens.mark_token, layer.span_label[tokens.mark_span], tokens.mark_pass
    )
    kept = m[tokens.unit[token]] >= 2
    token, label = token[kept], label[kept]
    first = group_starts(token * max(labels, 1) + label)
    k = np.diff(np.append(first, len(token)))
    token, label = token[first], label[first]
    m = m[tokens.unit[token]]
    place = layer.unit_item[tokens.unit[token]] * labels + label
    weight, shape = tokens.weight[token], (len(layer.items), labels)
    # k of m bear the label: 2·k·(m − k) of the m·(m − 1) ordered pairs differ.
    differing = weight * 2 * k * (m - k) / np.maximum(m - 1, 1)
    return LabelCoincidences(
        disagreement=weigh(place, differing, shape[0] * shape[1]).reshape(shape),
        marked=weigh(place, weight * k, shape[0] * shape[1]).reshape(shape),
        read=read,
    )


def _agreeing(token: Ints, value: Ints, values: int, readers: Ints) -> tuple[Ints, Ints]:
    """The marked tokens, and per token the ordered pairs of equal values, ``O`` among them.

    ``token`` is sorted; ``readers``: how many annotators read each one's unit.
    """
    begin = group_starts(token)
    marked, m = token[begin], readers[begin]
    left = m - np.diff(np.append(begin, len(token)))
    cell = np.sort(token * values + value)
    first = group_starts(cell)
    same = np.diff(np.append(first, len(cell)))
    alike = np.add.reduceat(same * (same - 1), group_starts(cell[first] // values))
    return marked, alike + left * (left - 1)
