"""Term lists: each text of a pass once, and equal texts matched whatever their offsets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from potato_iaa.layer import Layer
from potato_iaa.matcher import (
    exact_edges,
    term_layer,
    typed_edges,
)
from potato_iaa.matcher.terms import normalised
from tests.worlds import ONE_UNIT, World, worlds

SMALL = worlds() | worlds(ONE_UNIT)
few = settings(max_examples=20)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("  Cafe\u0301\n du  NORD ", "caf\u00e9 du nord"),
        ("Stra\u00dfe", "strasse"),
        # Folding can leave what is not composed: ΐ folds to three code points.
        ("\u0390", "\u0390"),
        ("\u1fd3", "\u0390"),
    ],
)
def test_a_term_is_composed_folded_and_has_single_blanks(text: str, right: str) -> None:
    assert normalised(text) == right


def test_equal_terms_are_matched_whatever_their_offsets() -> None:
    # "ab" stands at 0 and, in capitals, at 3; "b" at 8; d10 has no text and so no terms.
    world = World(
        {
            ("d1", "", "A"): frozenset([("X", ((0, 2),)), ("Y", ((3, 5),)), ("X", ((8, 9),))]),
            ("d1", "", "B"): frozenset([("Y", ((0, 2),)), ("X", ((6, 7), (8, 9)))]),
            ("d10", "", "A"): frozenset([("X", ((0, 2),))]),
            ("d10", "", "B"): frozenset([("X", ((0, 2),))]),
        }
    )
    layer = world.layer()
    untyped, typed = term_layer(layer, typed=False), term_layer(layer, typed=True)
    # Untyped, a's two "ab" are one term, under the first label; typed, each label has its own.
    assert terms(untyped) == [("A", 0, "X"), ("B", 0, "Y"), ("B", 6, "X"), ("A", 8, "X")]
    assert terms(typed) == [
        *[("A", 0, "X"), ("B", 0, "Y"), ("A", 3, "Y"), ("B", 6, "X"), ("A", 8, "X")]
    ]
    edges = exact_edges(untyped)
    assert list(zip(edges.left.tolist(), edges.right.tolist(), strict=True)) == [(0, 1)]
    same = typed_edges(typed, exact_edges(typed))
    assert list(zip(same.left.tolist(), same.right.tolist(), strict=True)) == [(2, 1)]


def test_every_text_of_a_pass_stands_once_and_meets_its_own_unit_only() -> None:
    # a, b and c in two texts; b stands twice in the first and a in the second.
    letters = {"d1": [(0, 1), (1, 2), (8, 9), (10, 11)], "d2": [(2, 3), (5, 6), (7, 8), (11, 12)]}
    world = World(
        {
            (item, "", who): frozenset(("X", (place,)) for place in places)
            for item, places in letters.items()
            for who in "AB"
        }
    )
    for typed in (False, True):
        layer = term_layer(world.layer(), typed=typed)
        starts = (layer.span_start - layer.unit_base[layer.span_unit]).tolist()
        assert starts == [0, 0, 1, 1, 10, 10, 2, 2, 5, 5, 11, 11]
        edges = exact_edges(layer)
        assert sorted(zip(edges.left.tolist(), edges.right.tolist(), strict=True)) == [
            (span, span + 1) for span in range(0, 12, 2)
        ]


def terms(layer: Layer) -> list[tuple[str, int, str]]:
    """Annotator, start and label of the spans of a term layer, all of them in its first unit."""
    assert not layer.span_unit.any()
    return [
        (layer.annotators[who], start, layer.labels[label])
        for who, start, label in zip(
            layer.span_annotator, layer.span_start.tolist(), layer.span_label, strict=True
        )
    ]


@few
@given(SMALL)
def test_a_term_layer_has_each_text_once_with_the_parts_of_its_first_span(world: World) -> None:
    layer = world.layer()
    for typed in (False, True):
        reduced = term_layer(layer, typed=typed)
        seen: dict[tuple[object, ...], int] = {}
        for span, (pass_, label) in enumerate(
            zip(layer.span_pass.tolist(), layer.span_label.tolist(), strict=True)
        ):
            unit = layer.pass_unit[pass_]
            text, base = layer.unit_text[unit], layer.unit_base[unit]
            if text is not None:
                pieces = [
                    text[start - base : end - base]
                    for owner, start, end in zip(
                        layer.part_span, layer.part_start, layer.part_end, strict=True
                    )
                    if owner == span
                ]
                term = " ".join(" ".join(pieces).casefold().split())
                key = (pass_, term, label if typed else None)
                seen.setdefault(key, span)
        kept = sorted(seen.values())
        for name in ("span_pass", "span_label", "span_start", "span_end", "span_length"):
            assert getattr(reduced, name).tolist() == getattr(layer, name)[kept].tolist()
        parts = zip(reduced.part_span, reduced.part_start, reduced.part_end, strict=True)
        assert [tuple(map(int, part)) for part in parts] == [
            (kept.index(owner), start, end)
            for owner, start, end in zip(
                layer.part_span.tolist(),
                layer.part_start.tolist(),
                layer.part_end.tolist(),
                strict=True,
            )
            if owner in kept
        ]
        owners = {span: key for key, span in seen.items()}
        for one, extent in zip(kept, reduced.span_extent, strict=True):
            for other, another in zip(kept, reduced.span_extent, strict=True):
                same = layer.span_unit[one] == layer.span_unit[other]
                assert (extent == another) == (same and owners[one][1] == owners[other][1])
