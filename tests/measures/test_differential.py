"""Random corpora, other ones every day, against other packages and the formulas written out.

The seed is in the id of every test and in what a failure prints; ``POTATO_IAA_SEED=<seed>`` runs
the same corpora again. A *world* is one corpus of many groups that share neither items nor
annotators: each group is a random corpus of its own, and one measurement serves for all of them.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]
from statsmodels.stats.inter_rater import fleiss_kappa  # type: ignore[import-untyped]

from potato_iaa import Corpus
from potato_iaa.arrays import Floats
from potato_iaa.layer import Layer, make_layer
from potato_iaa.matcher import align, overlap_edges
from potato_iaa.measures.alpha import label_alphas, nominal_alpha, weighted
from potato_iaa.measures.tokens import (
    code_binary,
    code_bio,
    code_io_longest,
    code_label,
    coincide,
    coincide_labels,
    make_tokens,
)
from potato_iaa.measures.unitizing import cu_alpha, intersect, k_u_alpha, u_alpha
from tests.corpora import Figures, figures_of
from tests.measures.helpers import Continuum, naive_family
from tests.measures.test_laws import (
    LABELS,
    Mark,
    NaiveSpan,
    Small,
    naive_alpha,
    naive_units,
    package_alpha,
)

BASE = int(os.environ.get("POTATO_IAA_SEED") or date.today().strftime("%Y%m%d"))
WORLDS, GROUPS = 8, 30
SINGLES = 24
UNIT = "whitespace"
CODINGS = {
    "label": code_label,
    "io_longest": code_io_longest,
    "bio": code_bio,
    "binary": code_binary,
}
RULES: dict[str, tuple[str, str] | None] = {
    "exact": None,
    "overlap": ("iou", "0"),
    "overlap(iou>=0.5)": ("iou", "0.5"),
    "overlap(dice>=0.7)": ("dice", "0.7"),
    "overlap(containment>=0.9)": ("containment", "0.9"),
}

each_world = pytest.mark.parametrize(
    "world_number", range(WORLDS), ids=[f"POTATO_IAA_SEED={BASE}, world {n}" for n in range(WORLDS)]
)
each_single = pytest.mark.parametrize(
    "number", range(SINGLES), ids=[f"POTATO_IAA_SEED={BASE}, corpus {n}" for n in range(SINGLES)]
)


# Random corpora -----------------------------------------------------------------------------------


def random_text(order: random.Random) -> str:
    words = (
        "".join(order.choice("abé東\u0301.") for _ in range(order.randint(1, 4)))
        for _ in range(order.randint(1, 7))
    )
    return order.choice([" ", "  ", " \n"]).join(words)


def random_mark(order: random.Random, text: str) -> Mark:
    def part() -> tuple[int, int]:
        start = order.randrange(len(text))
        return start, min(len(text), start + order.choice([1, 2, 3, 5, 9]))

    parts = [part() for _ in range(order.choice([1] * 9 + [2]))]
    return Mark(order.choice(LABELS), tuple(parts))


def marks_with_overlaps(order: random.Random, text: str) -> tuple[Mark, ...]:
    return tuple(random_mark(order, text) for _ in range(order.choice([0, 1, 2, 3, 5, 7])))


def marks_apart(order: random.Random, text: str) -> tuple[Mark, ...]:
    """Spans that do not overlap, some of which touch."""
    cuts = sorted(order.sample(range(len(text) + 1), min(len(text) + 1, order.randint(0, 6))))
    return tuple(
        Mark(order.choice(LABELS), (stretch,)) for stretch in pairwise(cuts) if order.random() < 0.6
    )


def random_group(order: random.Random, name: str, *, apart: bool) -> Small:
    everyone = [f"{name}{who}" for who in "ABCD"[: order.choice([2, 2, 3, 4])]]
    texts, passes = [], []
    for number in range(order.choice([1, 2, 3])):
        item, text = f"{name}-{number}", random_text(order)
        texts.append((item, text))
        usual = (marks_apart if apart else marks_with_overlaps)(order, text)
        for who in everyone:
            if order.random() < 0.85:
                own = (marks_apart if apart else marks_with_overlaps)(order, text)
                # Half of the passes are near another's, so that agreement is not all chance.
                kept = tuple(mark for mark in usual if order.random() < 0.8)
                if order.random() < 0.5:
                    own = kept if apart else (*kept, *own[:1])
                passes.append(((item, who), own))
    return Small(tuple(texts), tuple(passes))


@dataclass(frozen=True, eq=False)
class World:
    """Groups, the corpus of all of them, and its one layer."""

    groups: tuple[Small, ...]
    corpus: Corpus
    layer: Layer

    @property
    def by_group(self) -> Floats:
        """Weights, float64 (items, groups): 1 where an item is of a group."""
        names = [{item for item, _ in group.texts} for group in self.groups]
        return np.array(
            [[float(item in own) for own in names] for item in self.layer.items], dtype=np.float64
        )


@cache
def world(number: int, *, apart: bool = False) -> World:
    order = random.Random(f"{BASE}/{number}/{apart}")
    groups = tuple(random_group(order, f"g{place:02}", apart=apart) for place in range(GROUPS))
    together = Small(
        tuple(text for group in groups for text in group.texts),
        tuple(entry for group in groups for entry in group.passes),
    )
    corpus = together.corpus()
    return World(groups, corpus, make_layer(corpus, "spans"))


@cache
def measured(number: int) -> Figures:
    return figures_of(
        world(number).corpus,
        rules=[*RULES, "soft"],
        token_unit=UNIT,
        measures=("cohen", "scott"),
        audit=False,
    )


@cache
def single(number: int) -> tuple[Small, Figures]:
    """A corpus of one group, measured by itself; every other one has no overlaps."""
    order = random.Random(f"{BASE}/single {number}")
    small = random_group(order, "", apart=number % 2 == 0)
    return small, figures_of(small.corpus(), token_unit=UNIT, measures=("fleiss", "cohen"))


def people(small: Small) -> list[str]:
    return sorted({who for (_, who), _ in small.passes})


def shared_items(small: Small, a: str, b: str) -> list[str]:
    return [item for item, _ in small.texts if {(item, a), (item, b)} <= {*small.sets}]


def sharing_pairs(small: Small) -> Iterator[tuple[str, str, list[str]]]:
    for a, b in combinations(people(small), 2):
        items = shared_items(small, a, b)
        if items:
            yield a, b, items


def ties(small: Small) -> bool:
    """Two spans of a pass share length, start and label; only spans in parts can do so."""
    return any(
        len({(label, len(places), min(places)) for label, places in spans}) < len(spans)
        for spans in small.sets.values()
    )


# Matching against networkx ------------------------------------------------------------------------


def similarity(a: NaiveSpan, b: NaiveSpan, name: str) -> Fraction:
    common = len(a[1] & b[1])
    if name == "iou":
        return Fraction(common, len(a[1] | b[1]))
    if name == "dice":
        return Fraction(2 * common, len(a[1]) + len(b[1]))
    return Fraction(common, min(len(a[1]), len(b[1])))


def may_match(a: NaiveSpan, b: NaiveSpan, rule: str, types: str) -> bool:
    if types == "typed" and a[0] != b[0]:
        return False
    limit = RULES[rule]
    if limit is None:
        return a[1] == b[1]
    found = similarity(a, b, limit[0])
    return found > 0 and found >= Fraction(limit[1])


def graph_of(a: Sequence[NaiveSpan], b: Sequence[NaiveSpan], rule: str, types: str) -> Any:
    graph = nx.Graph()
    graph.add_nodes_from(("a", place) for place in range(len(a)))
    graph.add_nodes_from(("b", place) for place in range(len(b)))
    graph.add_edges_from(
        (("a", i), ("b", j), {"common": len(mine[1] & theirs[1]), "same": mine[0] == theirs[0]})
        for i, mine in enumerate(a)
        for j, theirs in enumerate(b)
        if may_match(mine, theirs, rule, types)
    )
    return graph


def maximum_matching(graph: Any) -> int:
    top = [node for node in graph if node[0] == "a"]
    matching = nx.bipartite.hopcroft_karp_matching(graph, top_nodes=top)
    return len(matching) // 2


@pytest.mark.parametrize("rule", RULES)
@each_world
def test_true_positives_are_those_of_networkx(world_number: int, rule: str) -> None:
    for types in ("typed", "untyped"):
        rows = measured(world_number)["f1"][f"{rule}_{types}"]["pairs"]
        found = {
            (row["a"], row["b"]): (row["items"], row["n_a"], row["n_b"], row["tp"]) for row in rows
        }
        right = {}
        for group in world(world_number).groups:
            sets = group.sets
            for a, b, items in sharing_pairs(group):
                sides = [([*sets[item, a]], [*sets[item, b]]) for item in items]
                right[a, b] = (
                    len(items),
                    sum(len(mine) for mine, _ in sides),
                    sum(len(theirs) for _, theirs in sides),
                    sum(maximum_matching(graph_of(*both, rule, types)) for both in sides),
                )
        assert found == right


@each_world
def test_listed_matches_have_the_greatest_overlap_then_the_most_equal_labels(
    world_number: int,
) -> None:
    here = world(world_number)
    layer = here.layer
    edges = overlap_edges(layer)
    alignment = align(layer, edges)
    common = {
        (left, right): size
        for left, right, size in zip(
            edges.left.tolist(), edges.right.tolist(), edges.overlap.tolist(), strict=True
        )
    }
    found: dict[tuple[str, str, str], list[int]] = {}
    for left, right in zip(alignment.left.tolist(), alignment.right.tolist(), strict=True):
        key = (
            layer.items[layer.unit_item[layer.span_unit[left]]],
            layer.annotators[layer.span_annotator[left]],
            layer.annotators[layer.span_annotator[right]],
        )
        tally = found.setdefault(key, [0, 0, 0])
        tally[0] += 1
        tally[1] += common[left, right]
        tally[2] += int(layer.span_label[left] == layer.span_label[right])
    right_ones = {}
    for group in here.groups:
        for a, b, items in sharing_pairs(group):
            for item in items:
                graph = graph_of(
                    [*group.sets[item, a]], [*group.sets[item, b]], "overlap", "untyped"
                )
                for *_, edge in graph.edges(data=True):
                    edge["weight"] = 1000 * edge["common"] + edge["same"]
                best = nx.max_weight_matching(graph, maxcardinality=True)
                if best:
                    chosen = [graph.edges[edge] for edge in best]
                    right_ones[item, a, b] = [
                        len(chosen),
                        sum(edge["common"] for edge in chosen),
                        sum(edge["same"] for edge in chosen),
                    ]
    assert found == right_ones


@each_world
def test_soft_matches_have_the_greatest_total_similarity(world_number: int) -> None:
    rows = measured(world_number)["f1"]["soft_typed"]["pairs"]
    found = {(row["a"], row["b"]): row["tp"] for row in rows}
    for group in world(world_number).groups:
        for a, b, items in sharing_pairs(group):
            total = Fraction(0)
            for item in items:
                mine, theirs = [*group.sets[item, a]], [*group.sets[item, b]]
                graph = graph_of(mine, theirs, "overlap", "typed")
                worth = {
                    frozenset((("a", i), ("b", j))): similarity(one, other, "iou")
                    for i, one in enumerate(mine)
                    for j, other in enumerate(theirs)
                }
                for one, other, edge in graph.edges(data=True):
                    # Whole numbers: networkx compares them without rounding.
                    edge["weight"] = int(worth[frozenset((one, other))] * 10**12)
                total += sum(worth[frozenset(edge)] for edge in nx.max_weight_matching(graph))
            assert found[a, b] == pytest.approx(float(total), abs=1e-9)


# Token alpha against krippendorff -----------------------------------------------------------------


def assert_alpha(found: float, units: Sequence[Mapping[str, str]], what: str) -> None:
    """``found`` is NaN, or the alpha of the package, whichever the units ask for."""
    right = naive_alpha(units)
    if right is None:
        assert np.isnan(found), what
    else:
        assert found == pytest.approx(right, abs=1e-9), what
        assert found == pytest.approx(package_alpha(units), abs=1e-9), what


@pytest.mark.parametrize("unit", ["whitespace", "character"])
@each_world
def test_token_alpha_of_every_group_is_that_of_krippendorff(world_number: int, unit: str) -> None:
    here = world(world_number)
    tokens = make_tokens(here.layer, unit)
    for coding, code in CODINGS.items():
        met = coincide(here.layer, tokens, code(here.layer, tokens))
        alphas = nominal_alpha(*weighted(met, here.by_group))
        for group, found in zip(here.groups, alphas.tolist(), strict=True):
            if coding != "bio" or not ties(group):
                assert_alpha(found, naive_units(group, unit, coding), f"{coding} {group}")


@each_world
def test_alpha_of_every_label_is_that_of_krippendorff(world_number: int) -> None:
    here = world(world_number)
    met = coincide_labels(here.layer, make_tokens(here.layer, UNIT))
    for label, alphas in zip(here.layer.labels, label_alphas(met, here.by_group), strict=True):
        for group, found in zip(here.groups, alphas.tolist(), strict=True):
            assert_alpha(found, naive_units(group, UNIT, label), f"{label} {group}")


@each_world
def test_token_alpha_in_the_report_is_that_of_all_groups_together(world_number: int) -> None:
    groups = world(world_number).groups
    token = measured(world_number)["token"]
    for coding, key in {"label": "alpha", "binary": "alpha_binary"}.items():
        units = [unit for group in groups for unit in naive_units(group, UNIT, coding)]
        assert token[key]["value"] == pytest.approx(naive_alpha(units), abs=1e-9)


# Kappas against scikit-learn and statsmodels ------------------------------------------------------


def scott(a: Sequence[str], b: Sequence[str]) -> float:
    """Scott's pi of two raters is Fleiss' kappa of them."""
    values = sorted({*a, *b})
    table = [
        [(one, other).count(value) for value in values] for one, other in zip(a, b, strict=True)
    ]
    return float(fleiss_kappa(np.array(table), method="fleiss"))


@pytest.mark.parametrize("coding", CODINGS)
@each_world
def test_cohen_and_scott_are_those_of_scikit_learn_and_statsmodels(
    world_number: int, coding: str
) -> None:
    token = measured(world_number)["token"]
    found = {
        name: {(row["a"], row["b"]): row for row in token[name][coding]["pairs"]}
        for name in ("cohen", "scott")
    }
    for group in world(world_number).groups:
        if coding == "bio" and ties(group):
            continue
        units = naive_units(group, UNIT, coding)
        for a, b, _ in sharing_pairs(group):
            both = [(unit[a], unit[b]) for unit in units if {a, b} <= {*unit}]
            of_a, of_b = zip(*both, strict=True)
            if len({*of_a, *of_b}) == 1:
                assert found["cohen"][a, b]["value"] is None
                assert found["scott"][a, b]["value"] is None
                continue
            cohen = float(cohen_kappa_score(of_a, of_b))
            assert found["cohen"][a, b]["value"] == pytest.approx(cohen, abs=1e-9)
            assert found["scott"][a, b]["value"] == pytest.approx(scott(of_a, of_b), abs=1e-9)
            assert found["cohen"][a, b]["tokens"] == len(both)


@each_single
def test_fleiss_is_that_of_statsmodels_on_the_items_that_all_did(number: int) -> None:
    small, figures = single(number)
    everyone = people(small)
    for coding in CODINGS:
        if coding == "bio" and ties(small):
            continue
        complete = [unit for unit in naive_units(small, UNIT, coding) if {*unit} == {*everyone}]
        values = sorted({value for unit in complete for value in unit.values()})
        found = figures["token"]["fleiss"][coding]
        if len(everyone) < 2 or len(values) < 2:
            assert found["value"] is None
            assert found["why"]
            continue
        table = [[[*unit.values()].count(value) for value in values] for unit in complete]
        right = float(fleiss_kappa(np.array(table), method="fleiss"))
        assert found["value"] == pytest.approx(right, abs=1e-9)


# Unitizing alphas against the formulas ------------------------------------------------------------


def continua_of(small: Small) -> list[Continuum]:
    marks: dict[str, dict[str, list[tuple[int, int, str]]]] = {item: {} for item, _ in small.texts}
    for (item, who), own in small.passes:
        marks[item][who] = [(*mark.parts[0], mark.label) for mark in own]
    return [(len(text), marks[item]) for item, text in small.texts]


def assert_same(found: float | None, right: float | None, what: str) -> None:
    """Both undefined, or equal."""
    if right is None:
        assert found is None or np.isnan(found), what
    else:
        assert found == pytest.approx(right, abs=1e-9), what


@each_world
def test_the_unitizing_family_of_every_group_is_that_of_the_formulas(world_number: int) -> None:
    here = world(world_number, apart=True)
    met, chosen = intersect(here.layer), here.by_group
    # Per figure one array (values, groups) or (groups,), each group's items summed.
    lengths, starred, alike, squares = (
        table.T @ chosen for table in (met.lengths, met.met, met.met_alike, met.met_squares)
    )
    u = u_alpha(met.disagreement @ chosen, lengths, met.squares @ chosen)
    cu = cu_alpha(starred, alike, squares)
    k = dict(zip(here.layer.labels, k_u_alpha(starred, alike, squares), strict=True))
    for place, group in enumerate(here.groups):
        right = naive_family(continua_of(group))
        assert_same(float(u[place]), right["u"], f"uα {group}")
        assert_same(float(cu[place]), right["cu"], f"cuα {group}")
        for label, values in k.items():
            assert_same(float(values[place]), right["k"].get(label), f"({label})uα {group}")


@each_single
def test_the_unitizing_family_in_the_report_is_that_of_the_formulas(number: int) -> None:
    small, figures = single(number)
    found = figures["unitizing"]
    if number % 2:
        assert found["overlapping_passes"] == 0 or found["u_alpha"]["value"] is None
        return
    right = naive_family(continua_of(small))
    assert_same(found["u_alpha"]["value"], right["u"], f"uα {small}")
    assert_same(found["binary_u_alpha"]["value"], right["binary"], f"|uα {small}")
    assert_same(found["cu_alpha"]["value"], right["cu"], f"cuα {small}")
    for label, figure in found["k_u_alpha"].items():
        assert_same(figure["value"], right["k"].get(label), f"({label})uα {small}")
