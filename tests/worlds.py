"""Random small worlds for tests of arrays: what was marked, as plain values, and its layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import pandas as pd
from hypothesis import strategies as st

from potato_iaa import Corpus
from potato_iaa.layer import Layer, make_layer

LENGTH = 12
# In the order of their names, which is neither that of the strategies nor that of numbers.
TEXTS: dict[str, str | None] = {"d1": "ab Ab\tÅ b c!", "d10": None, "d2": "x a  B a b c"}
FIELDS = ("", "two")
PEOPLE = "ABCD"

Parts = tuple[tuple[int, int], ...]
Place = tuple[str, str]


@dataclass(frozen=True, order=True)
class Marked:
    """A span as somebody marked it; sorted as layers sort: by unit, place, label and annotator."""

    item: str
    field: str
    start: int
    end: int
    label: str
    who: str
    parts: Parts

    @property
    def unit(self) -> Place:
        return self.item, self.field

    @property
    def characters(self) -> frozenset[int]:
        return frozenset(place for part in self.parts for place in range(*part))


@dataclass(frozen=True)
class World:
    """Passes in the order of their making, each a set of (label, parts)."""

    passes: Mapping[tuple[str, str, str], frozenset[tuple[str, Parts]]]

    @property
    def spans(self) -> list[Marked]:
        """All spans in the canonical order."""
        return sorted(
            Marked(item, field, parts[0][0], parts[-1][1], label, who, parts)
            for (item, field, who), marks in self.passes.items()
            for label, parts in marks
        )

    @property
    def places(self) -> list[tuple[str, str, str]]:
        """The passes in the canonical order."""
        return sorted(self.passes)

    def corpus(self) -> Corpus:
        rows = [
            (item, field, who, label, start, end, owner)
            for owner, ((item, field, who), label, parts) in enumerate(
                (place, label, parts)
                for place, marks in self.passes.items()
                for label, parts in sorted(marks, key=hash)
            )
            for start, end in parts
        ]
        columns = ["item", "field", "annotator", "label", "start", "end", "part_of"]
        return Corpus.from_tables(
            items=pd.DataFrame(
                [(item, field, text) for field in FIELDS for item, text in TEXTS.items()],
                columns=["item", "field", "text"],
            ),
            passes=pd.DataFrame(
                [(*place, 7 - n) for n, place in enumerate(self.passes)],
                columns=["item", "field", "annotator", "order"],
            ),
            spans=pd.DataFrame(rows, columns=columns),
        )

    def layer(self) -> Layer:
        return make_layer(self.corpus(), "spans")


def _parts(cuts: set[int]) -> Parts:
    ordered = sorted(cuts)
    return tuple(pairwise(ordered))[::2] if len(ordered) > 1 else ((ordered[0], ordered[0] + 1),)


# One part mostly, two or three at times; none of them touch.
PARTS = st.sets(st.integers(0, LENGTH - 1), min_size=1, max_size=2).map(_parts) | st.sets(
    st.integers(0, LENGTH), min_size=4, max_size=6
).map(lambda cuts: _parts(set(sorted(cuts)[: len(cuts) // 2 * 2])))
PASSES = st.frozensets(st.tuples(st.sampled_from("XY"), PARTS), max_size=4)
PLACES = st.tuples(st.sampled_from([*TEXTS]), st.sampled_from(FIELDS), st.sampled_from(PEOPLE))


def worlds(places: st.SearchStrategy[tuple[str, str, str]] = PLACES) -> st.SearchStrategy[World]:
    """Worlds with passes at some of ``places``."""
    return st.dictionaries(places, PASSES, max_size=8).map(World)


# All passes on one unit: the spans meet more often.
ONE_UNIT = st.tuples(st.just("d1"), st.just(""), st.sampled_from(PEOPLE))
