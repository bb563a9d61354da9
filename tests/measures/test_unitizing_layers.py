"""The unitizing alphas of 2016 against slow code, per label, flattened, and for spans in parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potato_iaa.blocks import cut
from potato_iaa.layer import Layer, make_layer
from potato_iaa.measures.tokens import make_segments
from potato_iaa.measures.unitizing import (
    count_units,
    cu_alpha,
    flat_layer,
    join_units,
    k_u_alpha,
    u_alpha,
    unit_layer,
)
from tests.corpora import (
    NO_SHARED_ITEMS,
    ONE_ANNOTATOR,
    Figures,
    assert_undefined,
    assert_value,
    corpus_of,
    figures,
    figures_of,
    parts_corpus,
)
from tests.measures.helpers import Continuum, Unit, naive_family
from tests.measures.test_laws import LABELS, NaiveSpan, Small, examples, small_corpora

Passes = dict[str, list[Unit]]
LONG = (0, 8, "X")
few = settings(examples, max_examples=10)


def unitizing(marks: Mapping[str, Passes], lengths: Mapping[str, int]) -> Figures:
    """The family on items of so many characters."""
    texts = {item: "x" * lengths[item] for item in marks}
    found: Figures = figures(marks, texts=texts)["unitizing"]
    return found


def assert_family(found: Figures, right: Mapping[str, Any]) -> None:
    """All coefficients of the family are those of the slow code."""
    assert_value(found["u_alpha"], right["u"])
    assert_value(found["binary_u_alpha"], right["binary"])
    assert_value(found["cu_alpha"], right["cu"])
    if right["cu_coverage"] is not None:
        assert found["cu_alpha"]["coverage"] == pytest.approx(right["cu_coverage"], abs=1e-9)
    for label, figure in found["k_u_alpha"].items():
        assert_value(figure, right["k"].get(label))
    assert {*right["k"]} <= {*found["k_u_alpha"]}


# The slow code itself -----------------------------------------------------------------------------


def test_the_slow_code_finds_what_the_formulas_give_by_hand() -> None:
    # L = 10, two annotators: X[0,4) against X[2,6). They differ on 4 characters, each of which is
    # met from both sides: l.. − Σ l_cc = 8 of l.. = 20. l_X = 8, l_φ = 12, Σ f = 16 + 16 + 12 = 44.
    # l.. − Σ e_cc = 2·20·8·12 / (20² − 44) = 3840/356; uα = 1 − 8·356/3840.
    family = naive_family([(10, {"A": [(0, 4, "X")], "B": [(2, 6, "X")]})])
    assert family["u"] == pytest.approx(1 - 8 * 356 / 3840)
    # One side of it alone: (l_φ − l_φφ) = 4, e_φ − e_φφ = 1920/356.
    assert family["binary"] == pytest.approx(1 - 4 * 356 / 1920)
    assert (family["cu"], family["cu_coverage"]) == (None, pytest.approx(4 / 20))


def test_cu_alpha_by_hand() -> None:
    # X[0,4) Y[4,8) against X[0,2) Y[2,8): 8 characters meet, 2 of them X–Y, each from both sides.
    # l* = 16, l*_X = 6, l*_Y = 10. |g ∩ the other's units|²: 16 + 16 by A, 4 + 36 by B: X_X = 20,
    # X_Y = 52. e*_XX = (36 − 20)/d, e*_YY = (100 − 52)/d with d = 16 − 72/16 = 11.5.
    # cuα = 1 − 4/(16 − 64/11.5).
    marks = {"A": [(0, 4, "X"), (4, 8, "Y")], "B": [(0, 2, "X"), (2, 8, "Y")]}
    right = 1 - 4 / (16 - 64 / 11.5)
    assert naive_family([(8, marks)])["cu"] == pytest.approx(right)
    found = unitizing({"d1": marks}, {"d1": 8})
    assert_value(found["cu_alpha"], right)
    assert found["cu_alpha"]["coverage"] == 1.0
    # (X)uα = 1 − (e*_X/l*_X)(l*_X − l*_XX)/(e*_X − e*_XX): l*_XX = 4, e*_XY = 60/d, e*_XX = 16/d.
    assert_value(found["k_u_alpha"]["X"], 1 - (76 / 6) * 2 / 60)
    assert_value(found["k_u_alpha"]["Y"], 1 - (108 / 10) * 2 / 60)


# The units ----------------------------------------------------------------------------------------

# X of A has 3 + 3 characters in its parts: it takes [5,7) from Y, which has 5, and [1,3) from Z.
PARTS = parts_corpus(
    {
        "d1": {"A": [], "B": []},
        "d2": {
            "A": [("X", [(0, 3), (4, 7)]), ("Y", [(5, 10)]), ("Z", [(1, 3)])],
            "B": [("X", [(2, 10)]), ("Z", [(3, 4)])],
        },
    },
    {"d1": "x" * 5, "d2": "x" * 10},
)


def units_of(layer: Layer) -> list[tuple[str, int, int, int, str]]:
    """Annotator, start, end, length and label of the spans, each of which is its only part."""
    base = layer.unit_base[layer.span_unit]
    assert layer.part_span.tolist() == list(range(len(layer.span_pass)))
    assert layer.part_start.tolist() == layer.span_start.tolist()
    assert layer.part_end.tolist() == layer.span_end.tolist()
    # No two of them are on one place.
    assert len({*layer.span_extent.tolist()}) == len(layer.span_extent) == len(layer.span_pass)
    return [
        (layer.annotators[who], start, end, length, layer.labels[label])
        for who, start, end, length, label in zip(
            layer.span_annotator.tolist(),
            (layer.span_start - base).tolist(),
            (layer.span_end - base).tolist(),
            layer.span_length.tolist(),
            layer.span_label.tolist(),
            strict=True,
        )
    ]


def test_units_are_the_parts_of_all_spans() -> None:
    assert units_of(unit_layer(make_layer(PARTS, "spans"))) == [
        ("A", 0, 3, 3, "X"),
        ("A", 1, 3, 2, "Z"),
        ("B", 2, 10, 8, "X"),
        ("B", 3, 4, 1, "Z"),
        ("A", 4, 7, 3, "X"),
        ("A", 5, 10, 5, "Y"),
    ]


def test_flattened_units_are_what_the_longest_span_has_in_one_stretch() -> None:
    layer = make_layer(PARTS, "spans")
    assert units_of(flat_layer(layer, make_segments(unit_layer(layer)))) == [
        ("A", 0, 3, 3, "X"),
        ("B", 2, 10, 8, "X"),
        ("A", 4, 7, 3, "X"),
        ("A", 7, 10, 3, "Y"),
    ]
    nothing = make_layer(corpus_of({"d1": {"A": [], "B": []}}), "spans")
    assert units_of(flat_layer(nothing, make_segments(nothing))) == []


# Against the slow code ----------------------------------------------------------------------------


@st.composite
def continua(draw: st.DrawFn) -> dict[str, Continuum]:
    """1–3 items, each with 1–4 annotators whose units do not overlap but may touch."""
    items: dict[str, Continuum] = {}
    for position in range(draw(st.integers(1, 3))):
        length = draw(st.integers(1, 12))
        everyone = draw(st.sampled_from(["A", "AB", "BC", "ABC", "ABCD"]))
        passes: Passes = {}
        for who in everyone:
            cuts = draw(st.lists(st.integers(0, length), max_size=6, unique=True).map(sorted))
            stretches = pairwise(cuts)
            passes[who] = [
                (start, end, label)
                for start, end in stretches
                if (label := draw(st.sampled_from(["", *LABELS])))
            ]
        items[f"d{position}"] = (length, passes)
    return items


@few
@given(continua())
def test_the_family_is_that_of_the_slow_code(items: dict[str, Continuum]) -> None:
    marks = {
        item: {who: list(units) for who, units in by.items()} for item, (_, by) in items.items()
    }
    found = unitizing(marks, {item: length for item, (length, _) in items.items()})
    assert found["overlapping_passes"] == 0
    assert found["flattened"] is None
    assert_family(found, naive_family(items.values()))


@settings(examples, max_examples=6)
@given(small_corpora())
def test_a_label_has_the_alpha_of_the_corpus_restricted_to_it(small: Small) -> None:
    layers = figures_of(small.corpus())["unitizing"]["layers"]
    for label in LABELS:
        kept = Small(
            small.texts,
            tuple(
                (key, tuple(mark for mark in marks if mark.label == label))
                for key, marks in small.passes
            ),
        )
        alone = figures_of(kept.corpus())["unitizing"]["u_alpha"]
        if label in layers:
            assert layers[label]["value"] == alone["value"]
            assert layers[label].get("why") == alone.get("why")
        else:
            assert alone["value"] is None


def flattened_by_hand(spans: Iterable[NaiveSpan], length: int) -> list[Unit]:
    """The longest span on each character has it (ties: smaller start, then label).

    What a span has in one stretch is one unit.
    """
    ranked = sorted(spans, key=lambda span: (-len(span[1]), min(span[1]), span[0]))
    owner = [
        next((rank for rank, span in enumerate(ranked) if place in span[1]), -1)
        for place in range(length)
    ]
    units: list[Unit] = []
    for place, rank in enumerate(owner):
        if rank >= 0:
            touching = units and units[-1][1] == place and owner[place - 1] == rank
            start = units.pop()[0] if touching else place
            units.append((start, place + 1, ranked[rank][0]))
    return units


def tie_is_open(small: Small) -> bool:
    """Two spans of a pass share length, start and label; only spans in parts can do so."""
    return any(
        len({(label, len(places), min(places)) for label, places in spans}) < len(spans)
        for spans in small.sets.values()
    )


@few
@given(small_corpora())
def test_the_flattened_family_is_that_of_a_corpus_flattened_by_hand(small: Small) -> None:
    whole = figures_of(small.corpus())["unitizing"]
    if tie_is_open(small):
        return
    sets, lengths = small.sets, {item: len(text) for item, text in small.texts}
    marks: dict[str, Passes] = {item: {} for item in lengths}
    for (item, who), spans in sets.items():
        marks[item][who] = flattened_by_hand(spans, lengths[item])
    right = naive_family((lengths[item], by_annotator) for item, by_annotator in marks.items())
    if whole["overlapping_passes"]:
        for name in ("u_alpha", "binary_u_alpha", "cu_alpha"):
            assert whole[name]["value"] is None
            assert "overlap" in whole[name]["why"]
        assert_family(whole["flattened"], right)
        by_hand = unitizing(marks, {item: max(length, 1) for item, length in lengths.items()})
        if all(lengths.values()):
            for name in ("u_alpha", "binary_u_alpha", "cu_alpha"):
                assert whole["flattened"][name]["value"] == by_hand[name]["value"]
    else:
        assert whole["flattened"] is None
        assert_family(whole, right)


# Several items, several weights -------------------------------------------------------------------

FOUR: dict[str, Passes] = {
    "d1": {"A": [(0, 4, "X"), (4, 6, "Z")], "B": [(2, 6, "X")]},
    "d2": {"A": [(1, 3, "Y")], "B": [(0, 3, "Z"), (3, 7, "Y")], "C": [(2, 5, "Y")]},
    "d3": {"A": [(0, 5, "Z")], "B": [(0, 4, "Z"), (6, 8, "X")]},
    "d4": {"C": [(0, 2, "X"), (1, 4, "X")]},
}


def test_the_sums_of_items_are_those_of_each_item_alone() -> None:
    layer = make_layer(corpus_of(FOUR, texts=dict.fromkeys(FOUR, "x" * 10)), "spans")
    whole = count_units(layer)
    alone = join_units([count_units(block.layer) for block in cut(layer, size=1)])
    assert len(alone.crossed) == 4
    for name, sums in vars(whole.sums).items():
        np.testing.assert_allclose(sums, getattr(alone.sums, name))
    for name, sums in vars(whole.layers).items():
        np.testing.assert_allclose(sums, getattr(alone.layers, name))
    assert whole.layer_squares.tolist() == alone.layer_squares.tolist()
    # X, Y, Z. Nobody faces C in d4, who marks one character twice.
    assert whole.layer_squares.tolist() == [[32, 0, 4], [0, 29, 9], [4, 0, 41], [0, 0, 0]]
    assert alone.crossed.sum() == alone.label_crossed.sum() == 0


def test_every_weight_of_the_items_has_a_coefficient_of_its_own() -> None:
    layer = make_layer(corpus_of(FOUR, texts=dict.fromkeys(FOUR, "x" * 10)), "spans")
    counted = count_units(layer)
    weights = np.array([[1, 2, 0], [1, 0, 3], [1, 1, 1], [1, 5, 0]], dtype=np.float64)

    def coefficients(columns: list[int]) -> dict[str, list[float]]:
        columns_of = weights[:, columns]
        tables = {name: sums.T @ columns_of for name, sums in vars(counted.sums).items()}
        of_units = [tables[name] for name in ("met", "met_alike", "met_squares")]
        found = {
            "u": u_alpha(tables["disagreement"], tables["lengths"], tables["squares"]),
            "cu": cu_alpha(*of_units),
        }
        k_u = dict(zip("XYZ", k_u_alpha(*of_units), strict=True))
        return {name: list(values) for name, values in (found | k_u).items()}

    together = coefficients([0, 1, 2])
    for column in range(3):
        for name, (value,) in coefficients([column]).items():
            assert together[name][column] == pytest.approx(value, nan_ok=True)
    assert len({round(value, 9) for value in together["cu"]}) == 3


def test_of_one_label_among_the_intersecting_units_nothing_is_told_whatever_its_length() -> None:
    # All that is expected is what is there: 0/0, or the noise of rounding over itself.
    met = np.vstack((np.arange(1, 1000) / 3, np.zeros(999)))
    assert np.isnan(cu_alpha(met, met, met / 7)).all()
    assert np.isnan(k_u_alpha(met, met, met / 7)).all()


# Overlaps -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("passes", "crossed"),
    [
        pytest.param({"A": [LONG, (6, 9, "Y")], "B": [LONG]}, 1, id="labels differ"),
        pytest.param({"A": [LONG, (6, 9, "X")], "B": [LONG]}, 1, id="labels are equal"),
        pytest.param({"A": [LONG, (0, 8, "Y")], "B": [LONG, (2, 3, "X")]}, 2, id="two passes"),
        pytest.param({"A": [LONG, (8, 9, "X")], "B": [LONG]}, 0, id="touching is no overlap"),
    ],
)
def test_overlapping_units_of_a_pass_leave_the_family_undefined_and_are_counted(
    passes: Passes, crossed: int
) -> None:
    found = unitizing({"d1": passes}, {"d1": 10})
    assert found["overlapping_passes"] == crossed
    for name in ("u_alpha", "binary_u_alpha", "cu_alpha"):
        if crossed:
            assert_undefined(found[name])
            assert "overlap" in found[name]["why"]
        else:
            assert found[name].get("why") is None or "overlap" not in found[name]["why"]
    assert (found["flattened"] is None) == (crossed == 0)


@pytest.mark.parametrize(
    ("items", "passes"), [(1, "1 pass"), (2, "2 passes"), (1000, "1,000 passes")]
)
def test_the_reason_counts_the_passes_whose_units_overlap(items: int, passes: str) -> None:
    marks: dict[str, Passes] = {
        f"d{number}": {"A": [LONG, (6, 9, "Y")], "B": []} for number in range(items)
    }
    why = unitizing(marks, dict.fromkeys(marks, 10))["u_alpha"]["why"]
    assert why == f"units of one annotator overlap in {passes}"


def test_a_layer_says_why_it_has_no_value_and_of_how_many_items_it_is() -> None:
    marks: dict[str, Passes] = {
        "d1": {"A": [(0, 10, "X"), (0, 3, "Y")], "B": [(0, 10, "X")]},
        "d2": {"A": [(0, 3, "Y"), (5, 9, "Y")]},
    }
    corpus = corpus_of(marks, texts=dict.fromkeys(marks, "x" * 10), labels=["X", "Y", "Z"])
    layers = figures_of(corpus)["unitizing"]["layers"]
    assert_undefined(layers["X"], "no variation")
    assert_undefined(layers["Z"], "no unit")
    # As if d2 were not there.
    alone = figures_of(corpus_of({"d1": marks["d1"]}))["unitizing"]["layers"]
    assert_value(layers["Y"], alone["Y"]["value"])
    assert {(layer["n"], layer["of"]) for layer in layers.values()} == {(1, 2)}


def test_an_overlap_that_nobody_else_read_does_no_harm() -> None:
    passes: dict[str, Passes] = {
        "d1": {"A": [(0, 4, "X")], "B": [(2, 6, "X")]},
        "d2": {"A": [LONG, (6, 9, "Y")]},
    }
    found = unitizing(passes, {"d1": 10, "d2": 10})
    assert found["overlapping_passes"] == 0
    assert_value(found["u_alpha"], 1 - 8 * 356 / 3840)


def test_an_overlap_that_nobody_else_read_is_no_intersection() -> None:
    shared: dict[str, Passes] = {
        "d1": {"A": [(0, 5, "X"), (7, 9, "Y")], "B": [(0, 4, "X"), (6, 9, "X")]}
    }
    lone: dict[str, Passes] = {"d2": {"A": [(0, 5, "X"), (2, 7, "Y"), (3, 7, "X")]}}
    lengths = {"d1": 20, "d2": 20}
    alone, both = unitizing(shared, lengths), unitizing(shared | lone, lengths)
    for name in ("u_alpha", "binary_u_alpha", "cu_alpha"):
        assert_value(both[name], alone[name]["value"])
    # Of 40 places of the two annotators, X covers 5 + 4 + 3 and Y 2; they meet on 4 and on 2.
    assert both["cu_alpha"]["coverage"] == alone["cu_alpha"]["coverage"] == 12 / 40
    assert both["k_u_alpha"]["Y"]["coverage"] == 1.0
    assert_value(both["k_u_alpha"]["X"], alone["k_u_alpha"]["X"]["value"])


def test_a_label_that_overlaps_itself_is_undefined_and_the_others_are_not() -> None:
    passes: dict[str, Passes] = {
        "d1": {"A": [(0, 4, "X"), (3, 6, "Y"), (5, 9, "Y")], "B": [(2, 6, "X")]}
    }
    layers = unitizing(passes, {"d1": 10})["layers"]
    assert_value(layers["X"], 1 - 8 * 356 / 3840)
    assert_undefined(layers["Y"])
    assert "overlap" in layers["Y"]["why"]


@pytest.mark.parametrize(
    ("spans", "flat"),
    [
        pytest.param(
            [(0, 8, "X"), (6, 9, "Y")], [(0, 8, "X"), (8, 9, "Y")], id="the longer span keeps all"
        ),
        pytest.param(
            [(0, 4, "Y"), (2, 6, "X")], [(0, 4, "Y"), (4, 6, "X")], id="of equals the first"
        ),
        pytest.param([(0, 4, "Y"), (0, 4, "X")], [(0, 4, "X")], id="in one place the first label"),
        pytest.param(
            [(0, 9, "X"), (2, 4, "Y")], [(0, 9, "X")], id="a nested span disappears in one unit"
        ),
        pytest.param(
            [(0, 3, "X"), (2, 7, "Y"), (6, 9, "X")],
            [(0, 2, "X"), (2, 7, "Y"), (7, 9, "X")],
            id="a span may lose both its neighbours' ends",
        ),
    ],
)
def test_flattening_gives_each_character_to_the_longest_span(
    spans: list[Unit], flat: list[Unit]
) -> None:
    other = [(1, 5, "X"), (7, 8, "Y")]
    found = unitizing({"d1": {"A": spans, "B": other}}, {"d1": 10})["flattened"]
    assert_family(found, naive_family([(10, {"A": flat, "B": other})]))


# Spans in parts -----------------------------------------------------------------------------------


def test_the_parts_of_a_span_are_units_of_their_own() -> None:
    # Σ f(S) counts the squares of the parts, not that of the span.
    corpus = parts_corpus(
        {"d1": {"A": [("X", [(0, 2), (5, 8)])], "B": [("X", [(0, 8)])]}}, {"d1": "x" * 10}
    )
    right = naive_family([(10, {"A": [(0, 2, "X"), (5, 8, "X")], "B": [(0, 8, "X")]})])
    assert_family(figures_of(corpus)["unitizing"], right)


def test_a_span_in_the_gap_of_another_does_not_overlap_it() -> None:
    corpus = parts_corpus(
        {"d1": {"A": [("X", [(0, 2), (5, 8)]), ("Y", [(3, 4)])], "B": [("Y", [(3, 5)])]}},
        {"d1": "x" * 10},
    )
    found = figures_of(corpus)["unitizing"]
    assert found["overlapping_passes"] == 0
    a: Sequence[Unit] = [(0, 2, "X"), (3, 4, "Y"), (5, 8, "X")]
    assert_family(found, naive_family([(10, {"A": a, "B": [(3, 5, "Y")]})]))


def test_a_span_in_parts_owns_characters_by_the_length_of_all_its_parts() -> None:
    # X has 3 + 3 characters in its parts and takes [4,7) from Y, which has 5.
    corpus = parts_corpus(
        {"d1": {"A": [("X", [(0, 3), (4, 7)]), ("Y", [(5, 10)])], "B": [("X", [(0, 7)])]}},
        {"d1": "x" * 10},
    )
    flat: Sequence[Unit] = [(0, 3, "X"), (4, 7, "X"), (7, 10, "Y")]
    right = naive_family([(10, {"A": flat, "B": [(0, 7, "X")]})])
    assert_family(figures_of(corpus)["unitizing"]["flattened"], right)


# Undefined ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("marks", "figure", "why"),
    [
        ({"d1": {"A": [LONG]}}, "u_alpha", ONE_ANNOTATOR),
        ({"d1": {"A": [LONG]}, "d2": {"B": [LONG]}}, "u_alpha", NO_SHARED_ITEMS),
        ({"d1": {"A": [], "B": []}}, "u_alpha", "no unit"),
        ({"d1": {"A": [], "B": []}}, "binary_u_alpha", "no unit"),
        ({"d1": {"A": [(0, 10, "X")], "B": [(0, 10, "X")]}}, "u_alpha", "no variation"),
        ({"d1": {"A": [(0, 10, "X")], "B": [(0, 10, "Y")]}}, "binary_u_alpha", "no gap"),
        ({"d1": {"A": [LONG], "B": [(8, 9, "X")]}}, "cu_alpha", "no intersection of units"),
        (
            {"d1": {"A": [LONG, (8, 9, "Y")], "B": [LONG]}},
            "cu_alpha",
            "fewer than two labels among the intersecting units",
        ),
    ],
)
def test_what_leaves_a_coefficient_undefined(
    marks: dict[str, Passes], figure: str, why: str
) -> None:
    assert_undefined(unitizing(marks, dict.fromkeys(marks, 10))[figure], why)


@pytest.mark.parametrize(("others", "defined"), [("", True), ("C", False), ("CD", False)])
def test_one_intersection_among_more_than_two_annotators_leaves_cu_alpha_undefined(
    others: str, defined: bool
) -> None:
    # X and Y share two characters: l*.. = 4/(m−1), X = 8/(m−1), l*.. − X/l*.. = 4/(m−1) − 2, which
    # is 2, 0, −2/3 for m = 2, 3, 4. What is divided by it is an expectation only if it is positive.
    passes: Passes = {"A": [(0, 4, "X")], "B": [(2, 6, "Y")]} | {who: [] for who in others}
    found = unitizing({"d1": passes}, {"d1": 10})
    assert found["cu_alpha"]["coverage"] == pytest.approx(4 / (1 + len(others)) / 10 / len(passes))
    for figure in (found["cu_alpha"], *found["k_u_alpha"].values()):
        if defined:
            assert_value(figure, 0.0)
        else:
            assert_undefined(figure)


def test_of_a_label_of_which_less_than_nothing_is_expected_nothing_is_told() -> None:
    # Of five annotators two share 60 characters of K, and K meets Z on one: l*_K = 121/4,
    # X_K = (2·60² + 1)/4, and with one character of Z by all, l*_Z = (1 + 20)/4: l*_K·l*.. < X_K.
    passes: Passes = {
        "A": [(0, 60, "K"), (61, 62, "K"), (63, 64, "Z")],
        "B": [(0, 60, "K"), (61, 62, "Z"), (63, 64, "Z")],
        **{who: [(63, 64, "Z")] for who in "CDE"},
    }
    found = unitizing({"d1": passes}, {"d1": 100})["k_u_alpha"]
    assert_undefined(found["K"], "too few intersections to expect anything by chance")
    # l*_K·l*.. − X_K is 2·5 − X_K: at 0 nothing is expected, just above it little.
    met, alike = np.array([[2.0], [3.0]]), np.array([[1.0], [2.0]])
    for squares, undefined in ((10.0, True), (9.5, False)):
        alphas = k_u_alpha(met, alike, np.array([[squares], [3.0]]))
        assert np.isnan(alphas[:, 0]).tolist() == [undefined, False]


def test_a_label_says_whether_it_meets_nothing_or_nothing_else_does() -> None:
    marks = {"d1": {"A": [LONG, (8, 9, "Y")], "B": [LONG]}}
    found = unitizing(marks, {"d1": 10})["k_u_alpha"]
    assert_undefined(found["X"], "fewer than two labels among the intersecting units")
    assert_undefined(found["Y"], "no intersection of units")


def test_what_is_written_where_units_overlap() -> None:
    found = unitizing({"d1": {"A": [LONG, (6, 9, "Y")], "B": [LONG]}}, {"d1": 10})
    why = "units of one annotator overlap in 1 pass"
    nothing = {"value": None, "why": why, "low": None, "high": None, "n": 1, "of": 1}
    covered = nothing | {"coverage": None}
    assert {key: value for key, value in found.items() if key not in ("layers", "flattened")} == {
        "unit": "character",
        "u_alpha": nothing,
        "binary_u_alpha": nothing,
        "cu_alpha": covered,
        "k_u_alpha": {"X": covered, "Y": covered},
        "overlapping_passes": 1,
    }
    assert found["flattened"]["unit"] == "character"
    assert {found["flattened"]["u_alpha"][key] for key in ("n", "of")} == {1}


def test_the_reason_for_one_intersection_is_not_that_labels_are_missing() -> None:
    passes: Passes = {"A": [(0, 4, "X")], "B": [(2, 6, "Y")], "C": []}
    found = unitizing({"d1": passes}, {"d1": 10})
    why = "too few intersections to expect anything by chance"
    assert_undefined(found["cu_alpha"], why)
    assert_undefined(found["k_u_alpha"]["X"], why)


def test_the_whole_text_marked_with_two_labels_is_defined() -> None:
    # No gap, yet two values: uα is defined where |uα is not.
    marks: Passes = {"A": [(0, 10, "X")], "B": [(0, 5, "X"), (5, 10, "Y")]}
    assert_family(unitizing({"d1": marks}, {"d1": 10}), naive_family([(10, marks)]))


def test_several_items_are_pooled_with_an_m_of_their_own() -> None:
    items: dict[str, Continuum] = {
        "d1": (10, {"A": [(0, 4, "X")], "B": [(2, 6, "X")], "C": [(0, 4, "Y")]}),
        "d2": (7, {"A": [(0, 3, "Y")], "C": [(1, 3, "Y")]}),
        "d3": (5, {"B": [(0, 5, "X")]}),
    }
    marks = {
        item: {who: list(units) for who, units in by.items()} for item, (_, by) in items.items()
    }
    found = unitizing(marks, {item: length for item, (length, _) in items.items()})
    assert_family(found, naive_family(items.values()))


def test_two_items_of_the_same_annotators_are_one_continuum() -> None:
    apart = {"d1": {"A": [(0, 4, "X")], "B": [(2, 6, "X")]}, "d2": {"A": [], "B": [(1, 3, "Y")]}}
    joined = {"A": [(0, 4, "X")], "B": [(2, 6, "X"), (11, 13, "Y")]}
    whole = unitizing({"d1": joined}, {"d1": 20})
    parted = figures_of(corpus_of(apart, texts={"d1": "x" * 10, "d2": "x" * 10}))["unitizing"]
    assert parted["u_alpha"]["value"] == whole["u_alpha"]["value"]
    assert parted["binary_u_alpha"]["value"] == whole["binary_u_alpha"]["value"]
