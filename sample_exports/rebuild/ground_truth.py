"""Compare what Potato stored with what was marked, and write it down as ``expected.json``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plan import Mark, Part

Extents = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Span:
    """One span, with offsets in code points of the text shown in the browser."""

    annotator: str
    item: str
    field: str
    scheme: str
    label: str
    parts: Extents

    def as_json(self, displayed: Displayed) -> dict[str, Any]:
        """The span as it stands in ``expected.json``."""
        text = displayed[self.item][self.field]
        return {
            "annotator": self.annotator,
            "item": self.item,
            "field": self.field,
            "scheme": self.scheme,
            "label": self.label,
            "parts": [list(part) for part in self.parts],
            "text": " ... ".join(text[start:end] for start, end in self.parts),
        }


Displayed = dict[str, dict[str, str]]


@dataclass
class Record:
    """What happened in the browser while a project was annotated."""

    displayed: Displayed = field(default_factory=dict)
    marked: list[Span] = field(default_factory=list)
    erased: list[Span] = field(default_factory=list)
    passes: dict[str, list[str]] = field(default_factory=dict)
    opened_only: dict[str, str] = field(default_factory=dict)
    choices: list[dict[str, str]] = field(default_factory=list)


def extent(text: str, part: Part) -> tuple[int, int]:
    """Where ``part`` lies in ``text``."""
    start = -1
    for _ in range(part.occurrence):
        start = text.find(part.text, start + 1)
        if start < 0:
            raise ValueError(f"{part.text!r} (occurrence {part.occurrence}) is not in {text!r}")
    return start, start + len(part.text)


def span_of(annotator: str, item: str, mark: Mark, text: str) -> Span:
    """The span that ``mark`` should leave on disk."""
    parts = sorted(extent(text, part) for part in mark.parts)
    return Span(annotator, item, mark.field, mark.scheme, mark.label, tuple(parts))


def stored_spans(states: Iterable[Mapping[str, Any]]) -> list[Span]:
    """All spans in the ``user_state.json`` documents, discontinuous ones counted once."""
    return [
        span
        for state in states
        for item, entries in state["instance_id_to_span_to_value"].items()
        for span in _whole_spans(state["user_id"], item, [entry for entry, _ in entries])
    ]


def _whole_spans(annotator: str, item: str, entries: list[dict[str, Any]]) -> list[Span]:
    """Potato keeps the first parts of a discontinuous span beside the whole span: drop them."""
    spans = [
        Span(
            annotator,
            item,
            entry.get("target_field") or "",
            entry["schema"],
            entry["name"],
            tuple((p["start"], p["end"]) for p in [entry, *entry.get("additional_parts", ())]),
        )
        for entry in entries
    ]
    return [
        Span(s.annotator, s.item, s.field, s.scheme, s.label, tuple(sorted(s.parts)))
        for s in spans
        if not any(_is_unfinished_copy(s, other) for other in spans)
    ]


def _is_unfinished_copy(span: Span, other: Span) -> bool:
    same = (span.field, span.scheme, span.label) == (other.field, other.scheme, other.label)
    longer = len(other.parts) > len(span.parts)
    return (
        same
        and longer
        and span.parts[0] == other.parts[0]
        and (set(span.parts) <= set(other.parts))
    )


def read_states(project: Path) -> list[dict[str, Any]]:
    """The state documents of a project's annotators, by name."""
    paths = sorted((project / "annotation_output").glob("*/user_state.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def unproven_passes(record: Record, states: list[dict[str, Any]]) -> dict[str, str]:
    """Passes that the files cannot tell from an item that was opened and left.

    Potato writes the step to the next item only with the next answer. An annotator who stops
    after an empty pass is therefore still at that item, with nothing stored for it.
    """
    unproven = {}
    for state in states:
        item = state["instance_id_ordering"][state["current_instance_index"]]
        answered = (
            item in state["instance_id_to_span_to_value"]
            or item in state["instance_id_to_label_to_value"]
        )
        if not answered and item in record.passes[state["user_id"]]:
            unproven[state["user_id"]] = item
    return unproven


def expected_json(record: Record, states: list[dict[str, Any]]) -> dict[str, Any]:
    """The contents of ``expected.json``, including every difference found on disk."""
    wanted = Counter(record.marked)
    stored = Counter(stored_spans(states))

    def listed(spans: Iterable[Span]) -> list[dict[str, Any]]:
        return [span.as_json(record.displayed) for span in spans]

    return {
        "displayed": dict(sorted(record.displayed.items())),
        "spans": listed(record.marked),
        "passes": record.passes,
        "opened_only": record.opened_only,
        "unproven_passes": unproven_passes(record, states),
        "deleted": listed(record.erased),
        "choices": record.choices,
        "stored_wrongly": {
            "missing": listed((wanted - stored).elements()),
            "extra": listed((stored - wanted).elements()),
        },
    }
