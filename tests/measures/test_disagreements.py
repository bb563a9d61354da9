"""Every disagreement has one kind and two sides: by hand, and by what must hold of all of them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potato_iaa import Corpus
from potato_iaa.layer import Layer, make_layer
from potato_iaa.matcher import align, compare_passes, overlap_edges
from potato_iaa.measures.disagreements import (
    BOTH,
    BOUNDARY,
    KIND_COLUMNS,
    KINDS,
    LABEL,
    MISSED,
    NOBODY,
    SPLIT,
    Disagreements,
    find_disagreements,
    lifted,
)
from tests.corpora import Marks, Span, corpus_of, parts_corpus
from tests.measures.helpers import scheme_of, table_rows
from tests.measures.test_laws import LABELS, Mark, Small, examples, small_corpora

Row = tuple[str, str, str, str, Span | None, Span | None]
few = settings(examples, max_examples=8)


def side(row: Mapping[str, Any], letter: str) -> Span | None:
    """One side of a row; ``None`` where that annotator has no span."""
    label, start, end = (row[f"{name}_{letter}"] for name in ("label", "start", "end"))
    missing = [bool(pd.isna(value)) for value in (label, start, end)]
    assert len(set(missing)) == 1
    return None if missing[0] else (int(start), int(end), str(label))


def rows_of(corpus: Corpus) -> list[Row]:
    """The disagreements as tuples, sorted."""
    rows = [
        (row["item"], row["a"], row["b"], row["kind"], side(row, "a"), side(row, "b"))
        for row in table_rows(scheme_of(corpus).disagreements)
    ]
    return sorted(rows, key=str)


Sides = tuple[str, Span | None, Span | None]


def between(a: Iterable[Span], b: Iterable[Span]) -> list[Sides]:
    """Kind and sides of the disagreements of A and B on one item."""
    return [row[3:] for row in rows_of(corpus_of({"d1": {"A": a, "B": b}}))]


def counts(table: pd.DataFrame, *keys: str) -> dict[Any, dict[str, int]]:
    """Key (or keys) → kind → number, kinds without a disagreement left out."""
    assert list(table.columns) == [*keys, *KIND_COLUMNS]
    return {
        row[keys[0]] if len(keys) == 1 else tuple(row[key] for key in keys): {
            kind: row[column]
            for kind, column in zip(KINDS, KIND_COLUMNS, strict=True)
            if row[column]
        }
        for row in table_rows(table)
    }


# Kinds by hand ------------------------------------------------------------------------------------

WHOLE = (0, 10, "X")
LEFT, RIGHT = (0, 5, "X"), (5, 10, "X")

KINDS_BY_HAND: list[Any] = [
    pytest.param([WHOLE], [WHOLE], [], id="the same span is no disagreement"),
    pytest.param([], [], [], id="two empty passes are no disagreement"),
    pytest.param([WHOLE], [], [("missed", WHOLE, None)], id="b missed what a marked"),
    pytest.param([], [WHOLE], [("missed", None, WHOLE)], id="a missed what b marked"),
    pytest.param(
        [LEFT],
        [(5, 9, "X")],
        [("missed", LEFT, None), ("missed", None, (5, 9, "X"))],
        id="touching spans are missed on both sides",
    ),
    pytest.param(
        [WHOLE], [(0, 9, "X")], [("boundary", WHOLE, (0, 9, "X"))], id="another end is boundary"
    ),
    pytest.param(
        [(3, 6, "X")],
        [(5, 9, "X")],
        [("boundary", (3, 6, "X"), (5, 9, "X"))],
        id="one shared character is enough for boundary",
    ),
    pytest.param(
        [WHOLE], [(0, 10, "Y")], [("label", WHOLE, (0, 10, "Y"))], id="another label is label"
    ),
    pytest.param(
        [WHOLE],
        [(1, 10, "Y")],
        [("boundary+label", WHOLE, (1, 10, "Y"))],
        id="another label on other offsets is boundary+label",
    ),
    pytest.param(
        [WHOLE],
        [LEFT, RIGHT],
        [("split/merge", WHOLE, LEFT), ("split/merge", WHOLE, RIGHT)],
        id="one span against its two halves is split/merge",
    ),
    pytest.param(
        [LEFT, RIGHT],
        [WHOLE],
        [("split/merge", LEFT, WHOLE), ("split/merge", RIGHT, WHOLE)],
        id="two halves against one span are split/merge",
    ),
    pytest.param(
        [WHOLE],
        [(0, 4, "Y"), (4, 10, "X")],
        [("split/merge", WHOLE, (0, 4, "Y")), ("split/merge", WHOLE, (4, 10, "X"))],
        id="split/merge whatever the labels",
    ),
    pytest.param(
        [WHOLE],
        [(0, 3, "X"), (3, 6, "X"), (6, 10, "X")],
        [
            ("split/merge", WHOLE, (0, 3, "X")),
            ("split/merge", WHOLE, (3, 6, "X")),
            ("split/merge", WHOLE, (6, 10, "X")),
        ],
        id="one span against three is three rows",
    ),
    pytest.param(
        [WHOLE],
        [WHOLE, (2, 4, "Y")],
        [("missed", None, (2, 4, "Y"))],
        id="an extra span in an exactly matched one is missed",
    ),
    pytest.param(
        [WHOLE, (2, 4, "Y")],
        [WHOLE],
        [("missed", (2, 4, "Y"), None)],
        id="an extra span in an exactly matched one is missed on the other side too",
    ),
    pytest.param(
        [WHOLE],
        [(0, 10, "Y"), (2, 4, "Z")],
        [("label", WHOLE, (0, 10, "Y")), ("missed", None, (2, 4, "Z"))],
        id="an extra span in one matched on the same offsets under another label is missed",
    ),
    pytest.param(
        [WHOLE],
        [WHOLE, (0, 10, "Y")],
        [("missed", None, (0, 10, "Y"))],
        id="a second label on the same offsets is missed",
    ),
    pytest.param(
        [WHOLE, (0, 10, "Y")],
        [(0, 10, "Y"), (0, 10, "Z")],
        [("label", WHOLE, (0, 10, "Z"))],
        id="equal labels find each other on the same offsets",
    ),
    pytest.param(
        [(0, 4, "X"), (6, 9, "X")],
        [(0, 4, "X"), (6, 9, "Y"), (12, 14, "X")],
        [("label", (6, 9, "X"), (6, 9, "Y")), ("missed", None, (12, 14, "X"))],
        id="several places of one text",
    ),
    pytest.param(
        [(0, 9, "X"), (12, 20, "X")],
        [(0, 4, "X"), (5, 8, "X"), (12, 19, "X")],
        [
            ("boundary", (12, 20, "X"), (12, 19, "X")),
            ("split/merge", (0, 9, "X"), (0, 4, "X")),
            ("split/merge", (0, 9, "X"), (5, 8, "X")),
        ],
        id="a split beside a boundary",
    ),
    pytest.param(
        [(0, 8, "X"), (8, 14, "X")],
        [(0, 5, "X"), (5, 10, "X"), (10, 14, "X")],
        [
            ("split/merge", (0, 8, "X"), (0, 5, "X")),
            ("split/merge", (0, 8, "X"), (5, 10, "X")),
            ("boundary", (8, 14, "X"), (10, 14, "X")),
        ],
        id="a span across two belongs to the one it overlaps more, the first",
    ),
    pytest.param(
        [(0, 8, "X"), (8, 14, "X")],
        [(0, 5, "X"), (6, 12, "X"), (9, 14, "X")],
        [
            ("boundary", (0, 8, "X"), (0, 5, "X")),
            ("split/merge", (8, 14, "X"), (6, 12, "X")),
            ("split/merge", (8, 14, "X"), (9, 14, "X")),
        ],
        id="a span across two belongs to the one it overlaps more, the second",
    ),
    pytest.param(
        [(0, 6, "X"), (6, 12, "X")],
        [(0, 3, "X"), (3, 9, "X")],
        [
            ("boundary", (0, 6, "X"), (0, 3, "X")),
            ("boundary", (6, 12, "X"), (3, 9, "X")),
        ],
        id="a chain in which each has a partner is boundary",
    ),
]


@cache
def found_by_hand(swapped: bool) -> dict[str, list[Sides]]:
    """Kind and sides of all these cases, each an item of one corpus."""
    sides = {str(case.id): case.values[:2] for case in KINDS_BY_HAND}
    marks: dict[str, dict[str, list[Span]]] = {
        name: dict(zip("BA" if swapped else "AB", both, strict=True))
        for name, both in sides.items()
    }
    found: dict[str, list[Sides]] = {name: [] for name in marks}
    for item, _, _, kind, of_a, of_b in rows_of(corpus_of(marks)):
        found[item].append((kind, of_a, of_b))
    return found


EXPECTED = [pytest.param(case.id, case.values[2], id=case.id) for case in KINDS_BY_HAND]


@pytest.mark.parametrize(("case", "expected"), EXPECTED)
def test_a_disagreement_has_its_kind_and_its_two_sides(case: str, expected: list[Sides]) -> None:
    assert found_by_hand(False)[case] == sorted(expected, key=str)


@pytest.mark.parametrize(("case", "expected"), EXPECTED)
def test_the_sides_swap_with_the_annotators(case: str, expected: list[Sides]) -> None:
    swapped = [(kind, of_b, of_a) for kind, of_a, of_b in expected]
    assert found_by_hand(True)[case] == sorted(swapped, key=str)


def test_the_kinds_are_those_of_the_measures_and_have_a_column_each() -> None:
    assert KINDS == ("missed", "boundary", "label", "boundary+label", "split/merge")
    assert (
        *("n_missed", "n_boundary", "n_label", "n_boundary_label", "n_split_merge"),
    ) == KIND_COLUMNS


def test_rows_come_from_the_maximum_matching_even_where_it_breaks_an_exact_pair() -> None:
    # [2,8) is on both sides; matched with itself it would leave two spans alone, so that two pairs
    # and not one are what a maximum matching finds (measures.md, section 1).
    a, b = [(0, 3, "X"), (2, 8, "X")], [(2, 8, "X"), (7, 10, "X")]
    assert between(a, b) == [
        ("boundary", (0, 3, "X"), (2, 8, "X")),
        ("boundary", (2, 8, "X"), (7, 10, "X")),
    ]


# Three annotators, items, passes, fields ----------------------------------------------------------


def test_three_annotators_are_three_comparisons() -> None:
    marks: Marks = {"d1": {"A": [WHOLE], "B": [WHOLE], "C": [(0, 9, "X")]}}
    assert rows_of(corpus_of(marks)) == [
        ("d1", "A", "C", "boundary", WHOLE, (0, 9, "X")),
        ("d1", "B", "C", "boundary", WHOLE, (0, 9, "X")),
    ]


def test_three_annotators_who_differ_each_in_a_way_of_their_own() -> None:
    marks: Marks = {"d1": {"A": [WHOLE], "B": [(0, 10, "Y")], "C": []}}
    assert rows_of(corpus_of(marks)) == [
        ("d1", "A", "B", "label", WHOLE, (0, 10, "Y")),
        ("d1", "A", "C", "missed", WHOLE, None),
        ("d1", "B", "C", "missed", (0, 10, "Y"), None),
    ]


def test_rows_follow_the_items_and_the_places_in_their_texts() -> None:
    late, early, middle = (15, 18, "X"), (0, 4, "Y"), (6, 9, "X")
    marks: Marks = {
        "d2": {"A": [early], "B": []},
        "d1": {"A": [late, middle], "B": [early, (15, 19, "X")], "C": [late, middle]},
    }
    table = scheme_of(corpus_of(marks)).disagreements
    for column in ("item", "a", "b"):
        names = list(table[column].cat.categories)
        assert names == sorted(names)
    rows = [
        (row["item"], row["a"], row["b"], side(row, "a"), side(row, "b"))
        for row in table_rows(table)
    ]
    assert rows == [
        ("d1", "A", "B", None, early),
        ("d1", "B", "C", early, None),
        ("d1", "A", "B", middle, None),
        ("d1", "B", "C", None, middle),
        ("d1", "A", "B", late, (15, 19, "X")),
        ("d1", "B", "C", (15, 19, "X"), late),
        ("d2", "A", "B", early, None),
    ]


def test_who_did_not_read_an_item_does_not_disagree_on_it() -> None:
    marks: Marks = {"d1": {"A": [WHOLE], "B": None}, "d2": {"A": [WHOLE], "B": []}}
    assert rows_of(corpus_of(marks)) == [("d2", "A", "B", "missed", WHOLE, None)]


def test_offsets_are_code_points_of_the_items_own_text() -> None:
    # 🙂 is one code point (two UTF-16 units, four bytes), and d2 follows d1 on no axis.
    texts = {"d1": "🙂🙂 Ada met Grace", "d2": "🙂 Cem, 東京"}
    marks: Marks = {
        "d1": {"A": [(3, 6, "PER")], "B": [(3, 10, "PER")]},
        "d2": {"A": [(7, 9, "LOC")], "B": [(2, 5, "PER")]},
    }
    corpus = corpus_of(marks, texts=texts)
    assert rows_of(corpus) == [
        ("d1", "A", "B", "boundary", (3, 6, "PER"), (3, 10, "PER")),
        ("d2", "A", "B", "missed", (7, 9, "LOC"), None),
        ("d2", "A", "B", "missed", None, (2, 5, "PER")),
    ]
    covered = {
        texts[item][start:end]
        for item, _, _, _, *sides in rows_of(corpus)
        for start, end, _ in filter(None, sides)
    }
    assert covered == {"Ada", "Ada met", "Cem", "東京"}


def test_the_fields_of_an_item_are_kept_apart_and_named() -> None:
    texts = {"hypothesis": "She sleeps.", "premise": "Ada is asleep."}
    everywhere = [("d1", field, who) for field in texts for who in "AB"]
    spans = [
        ("d1", "premise", "A", 0, 3, "X"),
        ("d1", "premise", "B", 0, 6, "X"),
        ("d1", "hypothesis", "A", 0, 3, "X"),
    ]
    corpus = Corpus.from_tables(
        items=pd.DataFrame(
            [("d1", *entry) for entry in texts.items()], columns=["item", "field", "text"]
        ),
        passes=pd.DataFrame(everywhere, columns=["item", "field", "annotator"]),
        spans=pd.DataFrame(spans, columns=["item", "field", "annotator", "start", "end", "label"]),
    )
    found = [
        (row["item"], row["field"], row["kind"], side(row, "a"), side(row, "b"))
        for row in table_rows(scheme_of(corpus).disagreements)
    ]
    assert sorted(found, key=str) == [
        ("d1", "hypothesis", "missed", (0, 3, "X"), None),
        ("d1", "premise", "boundary", (0, 3, "X"), (0, 6, "X")),
    ]


# Spans in parts -----------------------------------------------------------------------------------

Parts = list[tuple[str, Sequence[tuple[int, int]]]]
IN_PARTS = ("X", [(0, 2), (5, 7)])


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param([IN_PARTS], [IN_PARTS], [], id="the same parts are no disagreement"),
        pytest.param(
            [IN_PARTS],
            [("Y", [(0, 2), (5, 7)])],
            [("label", (0, 7, "X"), (0, 7, "Y"))],
            id="the same parts under another label",
        ),
        pytest.param(
            [IN_PARTS],
            [("X", [(0, 7)])],
            [("boundary", (0, 7, "X"), (0, 7, "X"))],
            id="the gap filled is boundary, though first start and last end are equal",
        ),
        pytest.param(
            [IN_PARTS],
            [("X", [(0, 2), (4, 7)])],
            [("boundary", (0, 7, "X"), (0, 7, "X"))],
            id="another part",
        ),
        pytest.param(
            [IN_PARTS],
            [("X", [(3, 4)])],
            [("missed", None, (3, 4, "X")), ("missed", (0, 7, "X"), None)],
            id="a span in the gap is missed on both sides",
        ),
        pytest.param(
            [IN_PARTS],
            [("X", [(0, 2)]), ("X", [(5, 7)])],
            [
                ("split/merge", (0, 7, "X"), (0, 2, "X")),
                ("split/merge", (0, 7, "X"), (5, 7, "X")),
            ],
            id="each part a span of its own is split/merge",
        ),
    ],
)
def test_spans_in_parts_disagree_like_others(a: Parts, b: Parts, expected: list[Sides]) -> None:
    corpus = parts_corpus({"d1": {"A": a, "B": b}}, {"d1": "abcdefgh"})
    assert [row[3:] for row in rows_of(corpus)] == sorted(expected, key=str)


# Counts -------------------------------------------------------------------------------------------


def counted_corpus() -> Corpus:
    return corpus_of(
        {
            "d1": {"A": [WHOLE], "B": [(0, 10, "Y")], "C": []},
            "d2": {"A": [WHOLE], "B": [LEFT, RIGHT]},
            "d3": {"A": [(0, 4, "Y")], "C": [(0, 4, "Y")]},
        },
        labels=("X", "Y", "Z"),
    )


def test_kinds_are_counted_per_pair() -> None:
    assert counts(scheme_of(counted_corpus()).kinds["pair"], "a", "b") == {
        ("A", "B"): {"label": 1, "split/merge": 2},
        ("A", "C"): {"missed": 1},
        ("B", "C"): {"missed": 1},
    }


def test_kinds_are_counted_once_for_each_label_on_their_sides() -> None:
    # The split is X against X twice: two rows, each of them one disagreement about X.
    assert counts(scheme_of(counted_corpus()).kinds["label"], "label") == {
        "X": {"missed": 1, "label": 1, "split/merge": 2},
        "Y": {"missed": 1, "label": 1},
        "Z": {},
    }


def test_kinds_are_counted_per_item_over_all_pairs() -> None:
    found = counts(scheme_of(counted_corpus()).kinds["item"], "item")
    assert found.pop("d3", {}) == {}
    assert found == {"d1": {"missed": 2, "label": 1}, "d2": {"split/merge": 2}}


def test_kinds_are_counted_for_both_annotators() -> None:
    assert counts(scheme_of(counted_corpus()).kinds["annotator"], "annotator") == {
        "A": {"missed": 1, "label": 1, "split/merge": 2},
        "B": {"missed": 1, "label": 1, "split/merge": 2},
        "C": {"missed": 2},
    }


def test_the_total_in_the_report_is_that_of_the_rows() -> None:
    assert scheme_of(counted_corpus()).to_dict()["disagreements"]["total"] == {
        "missed": 2,
        "boundary": 0,
        "label": 1,
        "boundary+label": 0,
        "split/merge": 2,
    }


def test_without_a_disagreement_every_count_is_zero() -> None:
    scheme = scheme_of(corpus_of({"d1": {"A": [WHOLE], "B": [WHOLE]}}))
    assert len(scheme.disagreements) == 0
    assert set(scheme.to_dict()["disagreements"]["total"].values()) == {0}
    assert counts(scheme.kinds["pair"], "a", "b") == {("A", "B"): {}}


def test_the_disagreements_of_a_block_are_lifted_to_the_spans_and_rows_of_the_whole() -> None:
    found = Disagreements(
        left=np.array([0, NOBODY, 2]),
        right=np.array([NOBODY, 1, 3]),
        kind=np.array([MISSED, MISSED, LABEL]),
        row=np.array([0, 1, 2]),
    )
    whole = lifted(found, 100, 7)
    assert whole.left.tolist() == [100, NOBODY, 102]
    assert whole.right.tolist() == [NOBODY, 101, 103]
    assert whole.kind.tolist() == [MISSED, MISSED, LABEL]
    assert whole.row.tolist() == [7, 8, 9]


@pytest.mark.parametrize(
    "marks",
    [
        pytest.param({"d1": {"A": [WHOLE]}}, id="one annotator"),
        pytest.param({"d1": {"A": [WHOLE]}, "d2": {"B": [WHOLE]}}, id="no shared item"),
        pytest.param({"d1": {"A": [], "B": []}}, id="nothing marked"),
    ],
)
def test_without_a_comparison_there_is_no_disagreement(marks: Marks) -> None:
    scheme = scheme_of(corpus_of(marks))
    assert len(scheme.disagreements) == 0
    assert set(scheme.to_dict()["disagreements"]["total"].values()) == {0}


# Laws ---------------------------------------------------------------------------------------------


@few
@given(small_corpora())
def test_the_counts_are_sums_of_the_rows(small: Small) -> None:
    scheme = scheme_of(small.corpus())
    rows = table_rows(scheme.disagreements)
    pairs = Counter((row["a"], row["b"], row["kind"]) for row in rows)
    items = Counter((row["item"], row["kind"]) for row in rows)
    people = Counter((row[letter], row["kind"]) for row in rows for letter in "ab")
    labels = Counter(
        (label, row["kind"])
        for row in rows
        for label in {found[2] for found in (side(row, "a"), side(row, "b")) if found}
    )
    expected: dict[str, tuple[tuple[str, ...], Counter[Any]]] = {
        "pair": (("a", "b"), pairs),
        "item": (("item",), items),
        "annotator": (("annotator",), people),
        "label": (("label",), labels),
    }
    for name, (keys, right) in expected.items():
        found = {
            (*(key if isinstance(key, tuple) else (key,)), kind): number
            for key, kinds in counts(scheme.kinds[name], *keys).items()
            for kind, number in kinds.items()
        }
        assert found == dict(right), name


@dataclass(frozen=True)
class Facing:
    """The spans of one layer by number, and who is matched with whom."""

    characters: dict[int, frozenset[int]]
    labels: dict[int, int]
    partner: dict[tuple[int, int], int]
    by_pass: dict[int, list[int]]

    def overlapped(self, span: int, other_pass: int) -> dict[int, int]:
        """The spans of another pass that share characters with ``span``, and how many."""
        shared = {
            other: len(self.characters[span] & self.characters[other])
            for other in self.by_pass.get(other_pass, [])
        }
        return {other: size for other, size in shared.items() if size}


def facing(layer: Layer) -> Facing:
    characters: dict[int, set[int]] = {span: set() for span in range(len(layer.span_pass))}
    for span, start, end in zip(layer.part_span, layer.part_start, layer.part_end, strict=True):
        characters[int(span)].update(range(start, end))
    by_pass: dict[int, list[int]] = {}
    for span, owner in enumerate(layer.span_pass.tolist()):
        by_pass.setdefault(owner, []).append(span)
    alignment = align(layer, overlap_edges(layer))
    pairs = list(zip(alignment.left.tolist(), alignment.right.tolist(), strict=True))
    partner = {}
    for left, right in pairs:
        for span, other in ((left, right), (right, left)):
            key = (span, int(layer.span_pass[other]))
            assert key not in partner
            partner[key] = other
    return Facing(
        {span: frozenset(places) for span, places in characters.items()},
        dict(enumerate(layer.span_label.tolist())),
        partner,
        by_pass,
    )


@few
@given(small_corpora())
def test_every_span_of_every_comparison_is_matched_exactly_or_on_one_row_of_its_own(
    small: Small,
) -> None:
    """Kinds, and who is on which row, worked out again from the matching alone.

    A row is a span's own if it shows the span with its partner, or the span that has none. A
    split/merge row of a span without a partner also shows the one it overlaps most.
    """
    layer = make_layer(small.corpus(), "spans")
    comparisons, overlaps = compare_passes(layer), overlap_edges(layer)
    rows = find_disagreements(layer, comparisons, overlaps, align(layer, overlaps))
    seen = facing(layer)

    own: Counter[tuple[int, int]] = Counter()
    matched_kind: dict[tuple[int, int], int] = {}
    split_pairs: set[tuple[int, int]] = set()
    pass_of = dict(enumerate(layer.span_pass.tolist()))
    for left, right, kind, row in zip(
        rows.left.tolist(), rows.right.tolist(), rows.kind.tolist(), rows.row.tolist(), strict=True
    ):
        passes = [int(comparisons.pass_a[row]), int(comparisons.pass_b[row])]
        assert [pass_of.get(left, passes[0]), pass_of.get(right, passes[1])] == passes
        if NOBODY not in (left, right) and seen.partner.get((left, passes[1])) == right:
            own[left, passes[1]] += 1
            own[right, passes[0]] += 1
            matched_kind[left, right] = kind
            continue
        alone = [
            (span, other, facing_pass)
            for span, other, facing_pass in ((left, right, passes[1]), (right, left, passes[0]))
            if span != NOBODY and (span, facing_pass) not in seen.partner
        ]
        assert len(alone) == 1
        span, other, facing_pass = alone[0]
        own[span, facing_pass] += 1
        reach = {
            met: size
            for met, size in seen.overlapped(span, facing_pass).items()
            if seen.characters[met] != seen.characters[seen.partner[met, pass_of[span]]]
        }
        if reach:
            assert kind == SPLIT
            assert reach[other] == max(reach.values())
            partner = seen.partner[other, pass_of[span]]
            split_pairs.add((partner, other) if span == left else (other, partner))
        else:
            assert kind == MISSED
            assert other == NOBODY

    for left, right in {
        (min(pair, key=lambda span: pass_of[span]), max(pair, key=lambda span: pass_of[span]))
        for pair in ((span, other) for (span, _), other in seen.partner.items())
    }:
        same_place = seen.characters[left] == seen.characters[right]
        same_label = seen.labels[left] == seen.labels[right]
        if same_place and same_label:
            assert (left, right) not in matched_kind
        elif (left, right) in split_pairs:
            assert matched_kind[left, right] == SPLIT
        else:
            expected = LABEL if same_place else BOUNDARY if same_label else BOTH
            assert matched_kind[left, right] == expected

    for a, b in zip(comparisons.pass_a.tolist(), comparisons.pass_b.tolist(), strict=True):
        for mine, theirs in ((a, b), (b, a)):
            for span in seen.by_pass.get(mine, []):
                mate = seen.partner.get((span, theirs))
                agreed = (
                    mate is not None
                    and seen.characters[span] == seen.characters[mate]
                    and seen.labels[span] == seen.labels[mate]
                )
                assert own[span, theirs] == (0 if agreed else 1)


@few
@given(small_corpora())
def test_rows_and_agreements_add_up_to_the_counts_of_f1(small: Small) -> None:
    """Rows = spans − untyped overlap matches − exactly and typed matched ones, in each pair.

    Of the latter there are at most as many as exact typed F1 counts: a maximum matching by overlap
    may have to break an exact pair.
    """
    scheme = scheme_of(small.corpus())
    overlap = table_rows(scheme.f1["overlap_untyped"].pairs)
    exact = table_rows(scheme.f1["exact_typed"].pairs)
    per_pair = scheme.kinds["pair"]
    rows = dict(
        zip(
            zip(per_pair["a"], per_pair["b"], strict=True),
            per_pair[list(KIND_COLUMNS)].sum(axis=1),
            strict=True,
        )
    )
    assert sum(rows.values()) == len(scheme.disagreements)
    for loose, strict in zip(overlap, exact, strict=True):
        accounted = loose["n_a"] + loose["n_b"] - loose["tp"] - rows[loose["a"], loose["b"]]
        assert 0 <= accounted <= strict["tp"]


@st.composite
def apart(draw: st.DrawFn) -> Small:
    """Corpora whose passes mark no place twice, where no exact pair can be broken."""
    small = draw(small_corpora())
    kept = []
    for key, marks in small.passes:
        taken: set[int] = set()
        chosen: list[Mark] = []
        for mark in marks:
            if not taken & mark.characters:
                taken |= mark.characters
                chosen.append(mark)
        kept.append((key, tuple(chosen)))
    return Small(small.texts, tuple(kept))


@few
@given(apart())
def test_where_passes_mark_no_place_twice_the_rows_follow_from_f1_alone(small: Small) -> None:
    # An exact pair shares no character with any other span of either side then.
    scheme = scheme_of(small.corpus())
    for loose, strict, row in zip(
        table_rows(scheme.f1["overlap_untyped"].pairs),
        table_rows(scheme.f1["exact_typed"].pairs),
        scheme.kinds["pair"][list(KIND_COLUMNS)].sum(axis=1),
        strict=True,
    ):
        assert row == loose["n_a"] + loose["n_b"] - loose["tp"] - strict["tp"]


@few
@given(small_corpora(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_changes_no_row(small: Small, order: random.Random) -> None:
    straight, mixed = (scheme_of(version.corpus()) for version in (small, small.shuffled(order)))
    pd.testing.assert_frame_equal(straight.disagreements, mixed.disagreements)
    for name, table in straight.kinds.items():
        pd.testing.assert_frame_equal(table, mixed.kinds[name])


@few
@given(small_corpora())
def test_the_sides_of_every_row_are_spans_that_these_annotators_marked(small: Small) -> None:
    marked = {
        (item, who): {
            (min(start for start, _ in mark.parts), max(end for _, end in mark.parts), mark.label)
            for mark in marks
        }
        for (item, who), marks in small.passes
    }
    for item, a, b, _, of_a, of_b in rows_of(small.corpus()):
        assert of_a or of_b
        for who, found in ((a, of_a), (b, of_b)):
            assert found is None or found in marked[item, who]
            assert found is None or found[2] in LABELS
