"""A layer of a corpus: every array against what was marked, sorted by hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise, permutations

import pandas as pd
import pytest
from hypothesis import given, settings

from potato_iaa import Agreement, Corpus, measure
from potato_iaa.corpus import FARTHEST, Scheme
from potato_iaa.errors import UsageError
from potato_iaa.layer import Layer, make_layer
from tests.corpora import parts_corpus
from tests.worlds import FIELDS, LENGTH, TEXTS, World, worlds

# A world has many spans, and a corpus of it is slow to make.
few = settings(max_examples=20)


def units(layer: Layer) -> list[tuple[str, str]]:
    return [
        (layer.items[item], field)
        for item, field in zip(layer.unit_item, layer.unit_field, strict=True)
    ]


def passes(layer: Layer) -> list[tuple[str, str, str]]:
    names = units(layer)
    return [
        (*names[unit], layer.annotators[who])
        for unit, who in zip(layer.pass_unit, layer.pass_annotator, strict=True)
    ]


@few
@given(worlds())
def test_units_and_passes_are_those_that_were_made_by_name(world: World) -> None:
    layer = world.layer()
    assert passes(layer) == world.places
    assert units(layer) == sorted({place[:2] for place in world.passes})
    assert layer.items == tuple(sorted({item for item, *_ in world.passes}))
    assert layer.annotators == tuple(sorted({who for *_, who in world.passes}))
    assert layer.items_on_offer == len(TEXTS)
    order = {place: 7 - n for n, place in enumerate(world.passes)}
    assert layer.pass_order.tolist() == [order[place] for place in world.places]


@few
@given(worlds())
def test_spans_are_in_canonical_order_with_all_that_was_marked(world: World) -> None:
    layer = world.layer()
    named = passes(layer)
    base = layer.unit_base[layer.span_unit]
    found = [
        (*named[pass_][:2], start, end, layer.labels[label], named[pass_][2], length)
        for pass_, start, end, label, length in zip(
            layer.span_pass.tolist(),
            (layer.span_start - base).tolist(),
            (layer.span_end - base).tolist(),
            layer.span_label.tolist(),
            layer.span_length.tolist(),
            strict=True,
        )
    ]
    assert found == [
        (
            *(span.item, span.field, span.start, span.end, span.label, span.who),
            len(span.characters),
        )
        for span in in_order(world, layer)
    ]
    assert layer.labels == tuple(sorted({span.label for span in world.spans}))
    assert [layer.annotators[code] for code in layer.span_annotator] == [
        span.who for span in in_order(world, layer)
    ]


def in_order(world: World, layer: Layer) -> list:  # type: ignore[type-arg]
    """The spans of the world as the layer has them: equal places are told apart by their parts."""
    parts: dict[int, list[tuple[int, int]]] = {}
    base = layer.unit_base[layer.span_unit]
    for span, start, end in zip(layer.part_span, layer.part_start, layer.part_end, strict=True):
        parts.setdefault(int(span), []).append((int(start - base[span]), int(end - base[span])))
    left = list(world.spans)
    ordered = []
    named = passes(layer)
    for span in range(len(layer.span_start)):
        *unit, who = named[layer.span_pass[span]]
        label = layer.labels[layer.span_label[span]]
        (marked,) = (
            one
            for one in left
            if (*one.unit, one.who, one.label) == (*unit, who, label)
            and list(one.parts) == parts[span]
        )
        left.remove(marked)
        ordered.append(marked)
    assert not left
    keys = [
        (*one.unit, one.start, one.end, one.label, one.who, len(one.parts) > 1, one.parts)
        for one in ordered
    ]
    assert keys == sorted(keys)
    return ordered


PARTS: dict[str, list[tuple[int, int]]] = {
    "one": [(0, 9)],
    "a few": [(0, 1), (2, 3), (8, 9)],
    "others": [(0, 1), (4, 5), (8, 9)],
}


@pytest.mark.parametrize("order", list(permutations(PARTS)))
def test_the_order_in_which_spans_in_parts_were_stored_changes_nothing(
    order: tuple[str, ...],
) -> None:
    def measured(names: Iterable[str]) -> Agreement:
        marked = [("X", PARTS[name]) for name in names]
        texts = {"d1": "a b c d e f"}
        corpus = parts_corpus({"d1": {"ann": marked, "ben": [("X", PARTS["others"])]}}, texts)
        return measure(corpus, bootstrap=20)

    found, right = measured(order), measured(PARTS)
    assert found.signature == right.signature
    assert found.to_dict() == right.to_dict()


def test_spans_of_one_place_are_sorted_by_their_parts() -> None:
    marked = [("X", [(0, 1), (middle, middle + 1), (30, 31)]) for middle in range(28, 1, -2)]
    layer = make_layer(parts_corpus({"d1": {"ann": marked}}, {"d1": "x" * 31}), "spans")
    order = {
        int(start): int(span) for span, start in zip(layer.part_span, layer.part_start, strict=True)
    }
    assert [order[middle] for middle in range(2, 29, 2)] == list(range(14))


def test_places_as_far_out_as_can_be_are_told_apart() -> None:
    far = FARTHEST
    names = [f"d{number}" for number in range(1000)]
    spans = [(item, who, far - 2, far, "X") for item in names for who in ("ann", "ben")]
    spans += [(item, "ann", far - 1, far, "X") for item in names]
    corpus = Corpus.from_tables(items=[(item, None) for item in names], passes=[], spans=spans)
    layer = make_layer(corpus, "spans")
    assert (layer.span_start >= 0).all()
    assert len(set(layer.span_extent.tolist())) == 2000
    figure = measure(corpus, bootstrap=0).schemes["spans"].f1["exact_typed"].averages.pooled
    assert figure.value == pytest.approx(2 * 1000 / 3000)


@few
@given(worlds())
def test_parts_lie_sorted_on_one_axis_on_which_no_two_units_touch(world: World) -> None:
    layer = world.layer()
    for unit, (item, field) in enumerate(units(layer)):
        ends = [span.end for span in world.spans if span.unit == (item, field)]
        text = TEXTS[item]
        assert layer.unit_text[unit] == text
        assert layer.unit_length[unit] == (max(ends, default=0) if text is None else LENGTH)
    for (base, length), (following, _) in pairwise(
        zip(layer.unit_base.tolist(), layer.unit_length.tolist(), strict=True)
    ):
        assert following == base + length + 1
    assert layer.unit_base[:1].tolist() in ([], [0])
    parts = list(
        zip(
            layer.part_start.tolist(),
            layer.part_end.tolist(),
            layer.part_span.tolist(),
            strict=True,
        )
    )
    assert parts == sorted(parts)
    assert len(parts) == sum(len(span.parts) for span in world.spans)


@few
@given(worlds())
def test_extents_are_equal_where_unit_and_parts_are(world: World) -> None:
    layer = world.layer()
    spans = in_order(world, layer)
    for one, extent in zip(spans, layer.span_extent, strict=True):
        for other, another in zip(spans, layer.span_extent, strict=True):
            assert (extent == another) == ((one.unit, one.parts) == (other.unit, other.parts))


def test_extents_of_parts_are_no_others_start_and_length() -> None:
    # Codes of whole spans and of spans in parts come from different ranges.
    spans = pd.DataFrame(
        [
            *[("d", "A", start, end, "X", n) for n, (start, end) in enumerate([(0, 1), (0, 9)])],
            *[("d", "A", start, end, "X", 7) for start, end in [(0, 1), (8, 9)]],
            *[("d", "B", start, end, "X", 8) for start, end in [(0, 2), (8, 9)]],
            *[("d", "B", start, end, "X", 9) for start, end in [(0, 1), (8, 9)]],
            *[("d", "C", start, end, "X", 10) for start, end in [(0, 1), (3, 4), (8, 9)]],
        ],
        columns=["item", "annotator", "start", "end", "label", "part_of"],
    )
    corpus = Corpus.from_tables(
        items=[("d", "abcdefghi")], passes=[("d", who) for who in "ABC"], spans=spans
    )
    layer = make_layer(corpus, "spans")
    assert len(set(layer.span_extent.tolist())) == 5


# Schemes that are not for everybody ---------------------------------------------------------------


def corpus_of_two_fields(scheme: Scheme, **roles: str) -> Corpus:
    """Ann and ben passed both fields of d1; each marked one span, in ``left``; cem nothing."""
    corpus = Corpus.from_tables(
        items=pd.DataFrame(
            [("d1", "left", "abc"), ("d1", "right", "abc"), ("d2", "right", "abc")],
            columns=["item", "field", "text"],
        ),
        passes=pd.DataFrame(
            [("d1", field, who) for who in ("ann", "ben") for field in ("left", "right")]
            + [("d2", "right", "cem")],
            columns=["item", "field", "annotator"],
        ),
        spans=pd.DataFrame(
            [("d1", "left", "ann", 0, 1, "X"), ("d1", "left", "ben", 1, 3, "Y")],
            columns=["item", "field", "annotator", "start", "end", "label"],
        ),
        roles=roles or {"ann": "human"},
    )
    return replace(corpus, schemes=(scheme,))


LEFT, RIGHT = ("d1", "left"), ("d1", "right")


@pytest.mark.parametrize(
    ("scheme", "right"),
    [
        # measures.md and `Scheme`: a pass counts where the scheme was offered on its field and to
        # its annotator, or where it has a span of it.
        (
            Scheme("spans"),
            [
                (*LEFT, "ann"),
                (*LEFT, "ben"),
                (*RIGHT, "ann"),
                (*RIGHT, "ben"),
                ("d2", "right", "cem"),
            ],
        ),
        (Scheme("spans", fields=("left",)), [(*LEFT, "ann"), (*LEFT, "ben")]),
        (
            Scheme("spans", fields=("right",)),
            [
                (*LEFT, "ann"),
                (*LEFT, "ben"),
                (*RIGHT, "ann"),
                (*RIGHT, "ben"),
                ("d2", "right", "cem"),
            ],
        ),
        (
            Scheme("spans", annotators=("ann",)),
            [(*LEFT, "ann"), (*LEFT, "ben"), (*RIGHT, "ann")],
        ),
        (
            Scheme("spans", fields=("left",), annotators=("cem",)),
            [(*LEFT, "ann"), (*LEFT, "ben")],
        ),
    ],
)
def test_a_pass_belongs_to_a_scheme_that_was_offered_or_used(
    scheme: Scheme, right: list[tuple[str, str, str]]
) -> None:
    assert passes(make_layer(corpus_of_two_fields(scheme), "spans")) == right


@pytest.mark.parametrize(
    ("scheme", "right"),
    [
        (Scheme("spans"), ("ann", "ben", "cem", "dan")),
        (Scheme("spans", annotators=("dan", "ann")), ("ann", "ben", "dan")),
        (Scheme("spans", fields=("left",)), ("ann", "ben", "cem", "dan")),
    ],
)
def test_who_was_offered_a_scheme_belongs_to_it_even_without_a_pass(
    scheme: Scheme, right: tuple[str, ...]
) -> None:
    layer = make_layer(corpus_of_two_fields(scheme, dan="human"), "spans")
    assert layer.annotators == right


@pytest.mark.parametrize(
    ("roles", "right"),
    [
        (("human",), ("ann", "cem")),
        (("system",), ("ben",)),
        (("human", "system"), ("ann", "ben", "cem")),
        (("gold",), ()),
    ],
)
def test_a_layer_has_the_annotators_of_the_roles_asked_for(
    roles: tuple[str, ...], right: tuple[str, ...]
) -> None:
    corpus = corpus_of_two_fields(Scheme("spans"), ben="system")
    layer = make_layer(corpus, "spans", roles=roles)
    assert layer.annotators == right
    assert [layer.annotators[code] for code in layer.span_annotator] == [
        who for who in right if who != "cem"
    ]
    assert {who for *_, who in passes(layer)} == set(right)


def test_every_role_is_in_a_layer_unless_one_is_asked_for() -> None:
    corpus = corpus_of_two_fields(Scheme("spans"), ben="system", cem="gold")
    assert make_layer(corpus, "spans").annotators == ("ann", "ben", "cem")


def test_declared_labels_come_first_and_in_their_order() -> None:
    scheme = Scheme("spans", labels=("Z", "Y", "W"))
    layer = make_layer(corpus_of_two_fields(scheme), "spans")
    assert layer.labels == ("Z", "Y", "W", "X")
    assert [layer.labels[code] for code in layer.span_label] == ["X", "Y"]
    assert layer.scheme == "spans"


def test_labels_that_were_not_declared_follow_by_name() -> None:
    names = ["m", "c", "x", "a", "q", "b", "z"]
    corpus = Corpus.from_tables(
        items=[(item, "abc") for item in names],
        passes=[],
        spans=[(item, "ann", 0, 1, item) for item in names],
        labels=["q"],
    )
    layer = make_layer(corpus, "spans")
    assert layer.labels == ("q", "a", "b", "c", "m", "x", "z")
    assert layer.items == tuple(sorted(names))
    assert layer.unit_item.tolist() == list(range(7))
    assert layer.unit_field == ("",) * 7
    assert [layer.labels[code] for code in layer.span_label] == sorted(names)


def test_longer_spans_come_first_then_those_that_begin_earlier_then_labels_by_name() -> None:
    spans = [(0, 8, "B"), (2, 9, "Z"), (0, 4, "B"), (0, 4, "Z"), (5, 9, "B")]
    corpus = Corpus.from_tables(
        items=[("d1", "x" * 9)],
        passes=[("d1", "ann")],
        spans=[("d1", "ann", *span) for span in sorted(spans)],
        labels=("Z", "B"),
    )
    layer = make_layer(corpus, "spans")
    found = [
        (int(layer.span_start[span]), int(layer.span_end[span]), layer.labels[label])
        for span, label in zip(
            layer.longest_first, layer.span_label[layer.longest_first], strict=True
        )
    ]
    assert found == spans


def test_spans_of_another_scheme_are_in_another_layer() -> None:
    corpus = Corpus.from_tables(
        items=[("d1", "abc")],
        passes=[("d1", "ann")],
        spans=pd.DataFrame(
            [("d1", "ann", 0, 1, "X", "one"), ("d1", "ann", 1, 3, "Y", "other")],
            columns=["item", "annotator", "start", "end", "label", "scheme"],
        ),
    )
    for name, label, start in (("one", "X", 0), ("other", "Y", 1)):
        layer = make_layer(corpus, name)
        assert (layer.scheme, layer.labels, layer.span_start.tolist()) == (name, (label,), [start])


def test_a_scheme_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="no span scheme 'names'"):
        make_layer(World({}).corpus(), "names")


def test_one_annotator_may_read_many_units() -> None:
    marks = frozenset([("X", ((1, 2),))])
    world = World({(item, field, "A"): marks for item in TEXTS for field in FIELDS})
    layer = world.layer()
    assert passes(layer) == world.places
    assert layer.annotators == ("A",)
    assert (layer.span_start - layer.unit_base).tolist() == [1] * 6


def test_nothing_read_is_an_empty_layer() -> None:
    layer = World({}).layer()
    assert (layer.items, layer.annotators, layer.labels) == ((), (), ())
    assert len(layer.unit_base) == len(layer.pass_unit) == len(layer.span_start) == 0
    assert len(layer.part_start) == len(layer.span_extent) == 0
