"""Spans that Potato keeps inside answers: error_span, extractive_qa, and its simulator's."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from potato_iaa.loaders.bases import AS_SIMULATED, IN_ANSWERS, Counting
from potato_iaa.loaders.entries import (
    NO_LABEL,
    NO_OFFSETS,
    NOT_A_SPAN,
    Entry,
    as_offset,
    as_text,
    stored_spans,
)
from potato_iaa.loaders.records import Answer, OddSpan, Record, StoredSpans, both
from potato_iaa.loaders.schemes import ANSWER_LABEL, Declared, InAnswers
from potato_iaa.loaders.values import mapping, sequence

# How Potato's simulator writes a span: as the name of a label.
_SIMULATED = re.compile(r"(.+):(\d{1,15}):(\d{1,15})", re.DOTALL)


def with_spans_of_answers(record: Record, declared: Declared) -> Record:
    """The record with the spans that lie in its answers, counted as what wrote them counts.

    >>> from potato_iaa.corpus import Scheme
    >>> record = Record("ann", "", answers=(Answer("d1", "ner", "PER:0:3", "true"),))
    >>> found = with_spans_of_answers(record, Declared(spans=(Scheme("ner"),)))
    >>> found.spans.labels, found.spans.end
    (('PER',), array([3]))
    """
    in_answers = {scheme.name: scheme for scheme in declared.in_answers}
    marked = {scheme.name for scheme in declared.marked}
    written: list[tuple[str, Entry | OddSpan]] = []
    simulated: list[tuple[str, Entry | OddSpan]] = []
    for answer in record.answers:
        if answer.scheme in in_answers:
            scheme = in_answers[answer.scheme]
            written += ((answer.item, span) for span in _written(answer, scheme))
        elif answer.scheme in marked:
            simulated += ((answer.item, span) for span in _simulated(answer))
    spans = record.spans
    for found, counting in ((written, IN_ANSWERS), (simulated, AS_SIMULATED)):
        if found:
            spans = both(spans, _columns(found, counting))
    return record if spans is record.spans else replace(record, spans=spans)


def simulated_spans(answers: Collection[Answer], schemes: Collection[str]) -> int:
    """The number of answers that are spans of Potato's simulator."""
    return sum(
        answer.scheme in schemes and _SIMULATED.fullmatch(answer.label) is not None
        for answer in answers
    )


def _columns(found: list[tuple[str, Entry | OddSpan]], counting: Counting) -> StoredSpans:
    by_item: dict[str, list[Entry]] = {}
    for item, span in found:
        if isinstance(span, Entry):
            by_item.setdefault(item, []).append(span)
    odd = [span for _, span in found if isinstance(span, OddSpan)]
    spans = stored_spans(by_item.items(), odd=odd)
    return replace(spans, countings=(counting,), counting=np.zeros_like(spans.start))


def _simulated(answer: Answer) -> Iterator[Entry]:
    found = _SIMULATED.fullmatch(answer.label)
    if found is not None:
        label, start, end = found.groups()
        yield Entry(schema=answer.scheme, name=label, start=int(start), end=int(end))


def _written(answer: Answer, scheme: InAnswers) -> Iterator[Entry | OddSpan]:
    """The spans in an answer; one that is cleared is empty, an unanswerable question has none."""
    if not answer.value.strip() or answer.value == "null":
        return
    try:
        value = json.loads(answer.value)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        yield OddSpan(answer.item, NOT_A_SPAN, scheme.name, scheme.field)
    elif scheme.kind == "extractive_qa":
        if not value.get("unanswerable") and value.get("start") != -1:
            yield _span(value, ANSWER_LABEL, value.get("answer_text"), answer, scheme.field)
    else:
        for error in sequence(value.get("errors")):
            given = mapping(error)
            kind, subtype = as_text(given.get("type")), as_text(given.get("subtype"))
            label = f"{kind}/{subtype}" if kind and subtype else kind
            yield _span(given, label, given.get("text"), answer, scheme.field)


def _span(
    value: dict[Any, Any], label: str, text: Any, answer: Answer, field: str
) -> Entry | OddSpan:
    start, end = as_offset(value.get("start")), as_offset(value.get("end"))
    if not label:
        return OddSpan(answer.item, NO_LABEL, answer.scheme, field)
    if start is None or end is None:
        return OddSpan(answer.item, NO_OFFSETS, answer.scheme, field, label)
    return Entry(
        schema=answer.scheme,
        name=label,
        start=start,
        end=end,
        target_field=field or None,
        text=as_text(text) or None,
    )
