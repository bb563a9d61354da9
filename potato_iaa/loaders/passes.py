"""Which items an annotator worked through, by policy, and in which order."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from potato_iaa.arrays import Flags, Ints
from potato_iaa.loaders.page import Page
from potato_iaa.loaders.records import Record

POLICIES = ("seen", "assigned", "marked")


@dataclass(frozen=True, eq=False)
class Passes:
    """Passes of one annotator, each unit once: parallel ``unit``, ``order`` and ``marked``.

    ``order`` is the place of the item in the annotator's work; ``marked`` tells whether a span
    stands in the pass.
    """

    unit: Ints
    order: Ints
    marked: Flags

    def __len__(self) -> int:
        return len(self.unit)


def passes_by_policy(
    record: Record, *, page: Page, without: Collection[str], marked: Ints
) -> dict[str, Passes]:
    """The passes of an annotator under every policy.

    ``seen``: the item has an answer, a list of spans (even an empty one) or a trace of behaviour,
    or lies before the item on which the annotator stopped. ``assigned``: it was given to the
    annotator, or seen. ``marked``: the unit is one of ``marked``, where a span stands. There is a
    pass on every unit of an item; on the items ``without`` there is none.

    >>> from potato_iaa.loaders.rendering import Shown
    >>> page = Page.of({"a": 0, "b": 1, "c": 2}, {"": [Shown("x"), Shown("y"), Shown("z")]})
    >>> record = Record("ann", "", assigned=("a", "b", "c"), seen=frozenset({"a", "b"}))
    >>> found = passes_by_policy(record, page=page, without=(), marked=np.array([1, 1]))
    >>> {policy: passes.unit.tolist() for policy, passes in found.items()}
    {'seen': [0, 1], 'assigned': [0, 1, 2], 'marked': [1]}
    """
    place = {item: position for position, item in enumerate(record.assigned)}
    unassigned = sorted(record.seen - place.keys(), key=lambda item: page.item_code.get(item, -1))
    place.update({item: len(place) + n for n, item in enumerate(unassigned)})
    items = [item for item in place if item in page.item_code and item not in without]
    unit, row = _units(np.array([page.item_code[item] for item in items], dtype=np.int64), page)
    order = np.array([place[item] for item in items], dtype=np.int64)[row]
    seen = np.array([item in record.seen for item in items], dtype=bool)[row]
    assigned = Passes(unit, order, np.isin(unit, marked))
    return {
        "seen": _where(assigned, seen),
        "assigned": assigned,
        "marked": _where(assigned, assigned.marked),
    }


def _units(item: Ints, page: Page) -> tuple[Ints, Ints]:
    """The units of these items that exist, and the row of the item of each."""
    fields = len(page.fields)
    unit = (item[:, None] * fields + np.arange(fields)).ravel()
    exists = page.lengths[unit] >= 0
    return unit[exists], np.repeat(np.arange(len(item)), fields)[exists]


def _where(passes: Passes, rows: Flags) -> Passes:
    return Passes(passes.unit[rows], passes.order[rows], passes.marked[rows])
