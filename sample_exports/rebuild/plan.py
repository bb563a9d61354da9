"""What each annotator marks in each item: the plan files beside this module, read into objects.

A plan file names the marks most annotators make in an item (``marks``) and, below the name of
an annotator, how that annotator departs from them. Marks are given by the text to mark, never
by counted offsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_DEPARTURES = {"omit", "add", "erase", "nothing", "choose"}


@dataclass(frozen=True)
class Part:
    """One stretch of text to select: the text and which of its occurrences is meant."""

    text: str
    occurrence: int = 1


@dataclass(frozen=True)
class Mark:
    """One span to make. More than one part means a discontinuous span."""

    field: str
    scheme: str
    label: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Pass:
    """All that one annotator does in one item."""

    marks: tuple[Mark, ...]
    erased: tuple[Mark, ...] = ()
    choices: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Plan:
    """The plan of one project."""

    annotators: tuple[str, ...]
    default_scheme: str
    default_choices: Mapping[str, str]
    closes_at: Mapping[str, str]
    items: Mapping[str, Mapping[str, Any]]

    def pass_of(self, annotator: str, item: str) -> Pass:
        """What ``annotator`` does in ``item``."""
        entry = self.items[item]
        usual = self._marks(entry.get("marks", ()))
        own: Mapping[str, Any] = entry.get(annotator, {})
        if own.get("nothing"):
            marks: tuple[Mark, ...] = ()
        else:
            omitted = [self._omission(raw, usual, item) for raw in own.get("omit", ())]
            kept = tuple(m for m in usual if not any(m in group for group in omitted))
            marks = kept + self._marks(own.get("add", ()))
        choices = {**self.default_choices, **entry.get("choose", {}), **own.get("choose", {})}
        answered = tuple((scheme, option) for scheme, option in choices.items() if option)
        return Pass(marks, self._marks(own.get("erase", ())), answered)

    def _marks(self, raw_marks: Iterable[Mapping[str, Any]]) -> tuple[Mark, ...]:
        return tuple(self._mark(raw) for raw in raw_marks)

    def _mark(self, raw: Mapping[str, Any]) -> Mark:
        """``{label: text}``, ``{scheme label: text}`` or ``{field scheme label: text}``."""
        ((target, value),) = raw.items()
        words = target.split()
        label = words[-1]
        scheme = words[-2] if len(words) > 1 else self.default_scheme
        field = words[-3] if len(words) > 2 else ""
        parts = value if isinstance(value, list) else [value]
        return Mark(field, scheme, label, tuple(_part(part) for part in parts))

    def _omission(self, raw: Any, usual: tuple[Mark, ...], item: str) -> tuple[Mark, ...]:
        """The usual marks meant by one entry of ``omit``: a whole mark, or just its text."""
        if isinstance(raw, str):
            found = tuple(m for m in usual if m.parts[0].text == raw)
        else:
            found = tuple(m for m in usual if m == self._mark(raw))
        if not found:
            raise ValueError(f"{item}: nothing to omit for {raw!r}")
        return found


def _part(raw: str | Mapping[str, Any]) -> Part:
    if isinstance(raw, str):
        return Part(raw)
    return Part(raw["text"], raw["occurrence"])


def load_plan(path: Path) -> Plan:
    """Read one plan file and refuse words it does not know."""
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    plan = Plan(
        annotators=tuple(raw["annotators"]),
        default_scheme=raw["scheme"],
        default_choices=raw.get("choose", {}),
        closes_at=raw.get("closes_at", {}),
        items=raw["items"],
    )
    for item, entry in plan.items.items():
        unknown = set(entry) - {"marks", "choose", *plan.annotators}
        for annotator in plan.annotators:
            unknown |= set(entry.get(annotator, {})) - _DEPARTURES
        if unknown:
            raise ValueError(f"{path.name}: {item}: unknown {sorted(unknown)}")
    return plan
