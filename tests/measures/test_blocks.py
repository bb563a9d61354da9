"""Blocks of items: counted apart, they give the figures of the whole to the last digit."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_iaa import Corpus, measure
from potato_iaa.blocks import cut, take_items
from potato_iaa.layer import Layer, make_layer
from potato_iaa.measures import measuring
from potato_iaa.measures.agreement import SchemeAgreement
from tests.corpora import parts_corpus
from tests.measures.test_laws import Small, examples, figures_of, marks_in, same, small_corpora

RULES = ("overlap(iou>=0.5)", "soft", "soft(dice)", "terms", "token", "character")
KAPPAS = ("cohen", "scott", "fleiss")


def whole(corpus: Corpus, **options: Any) -> SchemeAgreement:
    agreement = measure(corpus, rules=RULES, measures=KAPPAS, bootstrap=20, audit=False, **options)
    return agreement.schemes["spans"]


def tables(scheme: SchemeAgreement) -> list[pd.DataFrame]:
    found = [scheme.disagreements, *scheme.kinds.values(), scheme.matched_labels.pairs]
    return found + [figures.items for figures in scheme.f1.values()]


@examples
@given(small_corpora(), st.integers(1, 200))
def test_blocks_of_any_size_give_the_same_figures_to_the_last_digit(
    small: Small, size: int
) -> None:
    corpus = small.corpus()
    in_one = whole(corpus)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measuring, "cut", partial(cut, size=size))
        in_many = whole(corpus)
    assert in_many.to_dict() == in_one.to_dict()
    for name, figures in in_one.f1.items():
        for average in ("mean_over_pairs", "pooled", "mean_over_items"):
            one, many = (getattr(f1.averages, average) for f1 in (figures, in_many.f1[name]))
            if one.replicates is not None:
                np.testing.assert_array_equal(many.replicates, one.replicates)
    for table, joined in zip(tables(in_one), tables(in_many), strict=True):
        pd.testing.assert_frame_equal(table, joined)


@examples
@given(small_corpora())
def test_systems_and_gold_standards_are_the_same_in_blocks(small: Small) -> None:
    corpus = small.corpus()
    roles = dict.fromkeys(corpus.annotators["annotator"], "human")
    roles |= dict.fromkeys(list(roles)[-1:], "gold")
    with_gold = Corpus.from_tables(
        items=corpus.items, passes=corpus.passes, spans=corpus.spans, roles=roles
    )
    in_one = whole(with_gold)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measuring, "cut", partial(cut, size=1))
        in_many = whole(with_gold)
    assert in_many.to_dict() == in_one.to_dict()


@examples
@given(small_corpora(), st.data())
def test_what_one_annotator_alone_read_moves_no_coefficient(
    small: Small, data: st.DataObject
) -> None:
    text = "all alone here"
    marks = data.draw(st.lists(marks_in(text), max_size=4))
    who = small.passes[0][0][1] if small.passes else "ann1"
    more = Small((*small.texts, ("lone", text)), (*small.passes, (("lone", who), tuple(marks))))
    before, after = (figures_of(one.corpus(), rules=RULES) for one in (small, more))
    for place in ("f1", "lost", "token", "unitizing", "matched_labels"):
        assert same(values_of(before[place]), values_of(after[place])), place


def values_of(found: Any) -> Any:
    """The values and coverages of a part of a report, but for labels, which may be new."""
    if not isinstance(found, dict):
        return None
    if "value" in found:
        return found["value"], found.get("coverage")
    left_out = {"labels", "layers", "k_u_alpha", "label_shares", "annotators"}
    return {key: values_of(value) for key, value in found.items() if key not in left_out}


def layer_of(small: Small) -> Layer:
    return make_layer(small.corpus(), "spans")


@examples
@given(small_corpora(), st.integers(1, 200))
def test_blocks_hold_every_item_pass_span_and_part_once(small: Small, size: int) -> None:
    layer = layer_of(small)
    blocks = cut(layer, size=size)
    assert [name for block in blocks for name in block.layer.items] == list(layer.items)
    assert [text for block in blocks for text in block.layer.unit_text] == list(layer.unit_text)
    for name in ("pass_annotator", "pass_order", "span_label", "span_length", "span_extent"):
        joined = np.concatenate([getattr(block.layer, name) for block in blocks])
        np.testing.assert_array_equal(joined, getattr(layer, name))
    assert sum(len(block.layer.part_span) for block in blocks) == len(layer.part_span)
    assert [block.first_span for block in blocks] == list(
        np.cumsum([0, *(len(block.layer.span_pass) for block in blocks)])[:-1]
    )


@examples
@given(small_corpora(), st.data())
def test_items_that_are_taken_lie_as_in_a_corpus_of_their_own(
    small: Small, data: st.DataObject
) -> None:
    layer = layer_of(small)
    chosen = data.draw(st.sets(st.sampled_from(range(len(layer.items))))) if layer.items else set()
    taken = take_items(layer, np.array(sorted(chosen), dtype=np.int64))
    for span in range(len(taken.span_pass)):
        unit = taken.span_unit[span]
        assert taken.span_start[span] - taken.unit_base[unit] >= 0
        assert taken.span_end[span] <= taken.unit_base[unit] + taken.unit_length[unit]
    alone = Small(
        tuple((item, text) for item, text in small.texts if item in taken.items),
        tuple(one for one in small.passes if one[0][0] in taken.items),
    )
    other = layer_of(alone) if alone.texts else None
    if other is not None and taken.items:
        for name in ("unit_item", "unit_length", "unit_base", "pass_unit", "span_pass"):
            np.testing.assert_array_equal(getattr(taken, name), getattr(other, name))
        for name in ("span_start", "span_end", "part_span", "part_start", "part_end"):
            np.testing.assert_array_equal(getattr(taken, name), getattr(other, name))


def test_an_item_larger_than_a_block_is_a_block() -> None:
    corpus = Corpus.from_tables(
        items=[("d1", "a" * 10), ("d2", "b" * 1000), ("d3", "c" * 10), ("d4", "d" * 10)],
        passes=[(item, who) for item in ("d1", "d2", "d3", "d4") for who in "AB"],
        spans=[],
    )
    blocks = cut(make_layer(corpus, "spans"), size=100)
    assert [block.layer.items for block in blocks] == [("d1", "d2"), ("d3", "d4")]


def test_a_blocks_rows_begin_after_the_pairs_of_passes_of_all_units_before_it() -> None:
    # Of two, of three, of one and of four annotators there are 1, 3, 0 and 6 pairs.
    readers = {"d1": "AB", "d2": "ABC", "d3": "A", "d4": "ABCD", "d5": "AB"}
    corpus = Corpus.from_tables(
        items=[(item, "a" * 10) for item in readers],
        passes=[(item, who) for item, people in readers.items() for who in people],
        spans=[],
    )
    layer = make_layer(corpus, "spans")
    assert [block.first_row for block in cut(layer, size=10)] == [0, 1, 4, 4, 10]
    assert [block.first_row for block in cut(layer, size=20)] == [0, 4, 10]


def test_a_span_costs_as_much_as_thirty_characters() -> None:
    # Items of ten characters with a span cost forty each: two fill a block of eighty.
    items = ["d1", "d2", "d3", "d4"]
    corpus = Corpus.from_tables(
        items=[(item, "a" * 10) for item in items],
        passes=[(item, "A") for item in items],
        spans=[(item, "A", 0, 3, "X") for item in items],
    )
    layer = make_layer(corpus, "spans")
    for size, runs in ((80, [2, 2]), (81, [3, 1]), (121, [4]), (40, [1, 1, 1, 1])):
        assert [len(block.layer.items) for block in cut(layer, size=size)] == runs


def test_an_item_that_fills_a_block_exactly_ends_it() -> None:
    corpus = Corpus.from_tables(
        items=[("d1", "a"), ("d2", "b"), ("d3", "c")],
        passes=[(item, "A") for item in ("d1", "d2", "d3")],
        spans=[],
    )
    blocks = cut(make_layer(corpus, "spans"), size=1)
    assert [block.layer.items for block in blocks] == [("d1",), ("d2",), ("d3",)]


def test_spans_and_parts_keep_their_places_in_the_texts_of_items_that_are_taken() -> None:
    corpus = parts_corpus(
        {
            "d1": {"A": [("X", [(0, 2)])]},
            "d2": {"A": [("X", [(1, 2), (4, 6)])]},
            "d3": {"B": [("Y", [(3, 5)])]},
            "d4": {"B": [("Y", [(0, 4)])]},
        },
        dict.fromkeys(("d1", "d2", "d3", "d4"), "a" * 12),
    )
    taken = take_items(make_layer(corpus, "spans"), np.array([1, 2]))
    base = taken.unit_base[taken.span_unit]
    assert (taken.span_start - base).tolist() == [1, 3]
    assert (taken.span_end - base).tolist() == [6, 5]
    assert taken.span_length.tolist() == [3, 2]
    part_base = base[taken.part_span]
    assert (taken.part_start - part_base).tolist() == [1, 4, 3]
    assert (taken.part_end - part_base).tolist() == [2, 6, 5]
    assert [taken.annotators[code] for code in taken.span_annotator] == ["A", "B"]
    assert [taken.labels[code] for code in taken.span_label] == ["X", "Y"]


def test_items_that_are_taken_keep_the_names_of_their_fields() -> None:
    fields = {"d1": ("body",), "d2": ("body", "title"), "d3": ("title",)}
    rows = [(item, field) for item, names in fields.items() for field in names]
    corpus = Corpus.from_tables(
        items=pd.DataFrame([(*row, "aa") for row in rows], columns=["item", "field", "text"]),
        passes=pd.DataFrame([(*row, "A") for row in rows], columns=["item", "field", "annotator"]),
        spans=[],
    )
    taken = take_items(make_layer(corpus, "spans"), np.array([1, 2]))
    assert taken.unit_field == ("body", "title", "title")


def test_a_layer_without_items_is_one_block() -> None:
    corpus = Corpus.from_tables(items=[("d1", "a")], passes=[], spans=[])
    (block,) = cut(make_layer(corpus, "spans"))
    assert block.layer.items == ()
