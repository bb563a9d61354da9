"""What holds of every corpus: properties, and naive code that computes the same in the slow way."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from potato_iaa import Corpus
from potato_iaa.matcher import parse_rule
from tests.corpora import Figures, estimates, figures_of, headline, walk

RULES = ("exact", "overlap(iou>=0.75)", "overlap(iou>=0.5)", "overlap")
TYPES = ("typed", "untyped")
LABELS = ("P", "Q", "R")

examples = settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


# Corpora ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mark:
    """A span as a label and the characters it covers; touching parts are one part anyhow."""

    label: str
    parts: tuple[tuple[int, int], ...]

    @property
    def characters(self) -> frozenset[int]:
        return frozenset(place for start, end in self.parts for place in range(start, end))


@dataclass(frozen=True)
class Small:
    """A small corpus as plain values, in the order in which it is handed over."""

    texts: tuple[tuple[str, str], ...]
    passes: tuple[tuple[tuple[str, str], tuple[Mark, ...]], ...]

    def corpus(self) -> Corpus:
        rows = [
            (item, who, start, end, mark.label, owner)
            for owner, (item, who, mark) in enumerate(
                (item, who, mark) for (item, who), marks in self.passes for mark in marks
            )
            for start, end in mark.parts
        ]
        columns = ["item", "annotator", "start", "end", "label", "part_of"]
        return Corpus.from_tables(
            items=list(self.texts),
            passes=[key for key, _ in self.passes],
            spans=pd.DataFrame(rows, columns=columns),
        )

    def renamed(self, names: Mapping[str, str]) -> Small:
        return Small(
            self.texts,
            tuple(((item, names[who]), marks) for (item, who), marks in self.passes),
        )

    def with_empty_item(self) -> Small:
        """The same with one more item, which every annotator did and left empty."""
        everyone = sorted({who for (_, who), _ in self.passes})
        return Small(
            (*self.texts, ("another", "one more text")),
            (*self.passes, *(((("another", who)), ()) for who in everyone)),
        )

    def shuffled(self, order: random.Random) -> Small:
        def mixed(values: Iterable[Any]) -> tuple[Any, ...]:
            listed = list(values)
            order.shuffle(listed)
            return tuple(listed)

        return Small(
            mixed(self.texts),
            mixed(
                (key, mixed(Mark(mark.label, mixed(mark.parts)) for mark in marks))
                for key, marks in self.passes
            ),
        )

    @property
    def sets(self) -> dict[tuple[str, str], frozenset[tuple[str, frozenset[int]]]]:
        """The spans of every pass as a set of labels and characters."""
        return {
            key: frozenset((mark.label, mark.characters) for mark in marks)
            for key, marks in self.passes
        }


@st.composite
def marks_in(draw: st.DrawFn, text: str) -> Mark:
    ends = st.integers(0, len(text))
    pair = st.tuples(ends, ends).filter(lambda both: both[0] != both[1]).map(sorted)
    parts = draw(st.lists(pair, min_size=1, max_size=draw(st.sampled_from([1, 1, 1, 2]))))
    return Mark(draw(st.sampled_from(LABELS)), tuple((start, end) for start, end in parts))


@st.composite
def small_corpora(draw: st.DrawFn) -> Small:
    """1–4 annotators, 1–4 items, short texts, spans nested, identical, in parts; passes missing."""
    everyone = [f"ann{n}" for n in range(1, draw(st.integers(1, 4)) + 1)]
    texts, passes = [], []
    for position in range(draw(st.integers(1, 4))):
        item = f"d{position}"
        text = draw(st.text(alphabet="ab .\u0301東", max_size=9))
        texts.append((item, text))
        found = st.lists(marks_in(text), max_size=4) if text else st.just([])
        for who in everyone:
            marks = draw(st.none() | found)
            if marks is not None:
                passes.append(((item, who), tuple(marks)))
    return Small(tuple(texts), tuple(passes))


@cache
def measured(small: Small, token_unit: str = "character") -> Figures:
    return figures_of(small.corpus(), rules=RULES, token_unit=token_unit)


def same(left: Any, right: Any) -> bool:
    """Equal but for the last bits of floating point."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-12, abs_tol=1e-12)
    return bool(left == right)


# Naive code ---------------------------------------------------------------------------------------

NaiveSpan = tuple[str, frozenset[int]]


def eligible(a: NaiveSpan, b: NaiveSpan, rule: str, types: str) -> bool:
    if types == "typed" and a[0] != b[0]:
        return False
    if rule == "exact":
        return a[1] == b[1]
    threshold = 0.0 if rule == "overlap" else float(rule[len("overlap(iou>=") : -1])
    common = len(a[1] & b[1])
    return common > 0 and common / len(a[1] | b[1]) >= threshold


def brute_force_matching(
    a: Sequence[NaiveSpan], b: Sequence[NaiveSpan], rule: str, types: str
) -> int:
    """The most spans that can be matched one to one: tries everything."""
    if not a:
        return 0
    best = brute_force_matching(a[1:], b, rule, types)
    for position, other in enumerate(b):
        if eligible(a[0], other, rule, types):
            rest = [*b[:position], *b[position + 1 :]]
            best = max(best, 1 + brute_force_matching(a[1:], rest, rule, types))
    return best


def naive_tokens(text: str, unit: str) -> list[tuple[int, int]]:
    if unit == "character":
        return [(place, place + 1) for place in range(len(text))]
    return [found.span() for found in re.finditer(r"\S+", text)]


def naive_codes(
    tokens: Sequence[tuple[int, int]], spans: Iterable[NaiveSpan], coding: str
) -> list[str]:
    owned: set[NaiveSpan] = set()
    codes = []
    for start, end in tokens:
        touching = [span for span in spans if span[1] & set(range(start, end))]
        if not touching:
            codes.append("O")
        elif coding == "label":
            codes.append("+".join(sorted({label for label, _ in touching})))
        elif coding == "binary":
            codes.append("marked")
        elif coding in LABELS:
            codes.append("marked" if any(label == coding for label, _ in touching) else "O")
        else:
            owner = min(touching, key=lambda span: (-len(span[1]), min(span[1]), span[0]))
            if coding == "io_longest":
                codes.append(owner[0])
            else:
                codes.append(("I-" if owner in owned else "B-") + owner[0])
                owned.add(owner)
    return codes


def bio_is_open(small: Small) -> bool:
    """Two spans of a pass share length, start and label: which one owns a token is not laid down.

    Only spans in parts can do so without being identical.
    """
    return any(
        len({(label, len(places), min(places)) for label, places in spans}) < len(spans)
        for spans in small.sets.values()
    )


def naive_units(small: Small, unit: str, coding: str) -> list[dict[str, str]]:
    """Per token of each item, what each annotator says of it."""
    units: list[dict[str, str]] = []
    for item, text in small.texts:
        tokens = naive_tokens(text, unit)
        rows: list[dict[str, str]] = [{} for _ in tokens]
        for (where, who), spans in small.sets.items():
            if where == item:
                for row, code in zip(rows, naive_codes(tokens, spans, coding), strict=True):
                    row[who] = code
        units += rows
    return units


def naive_alpha(units: Iterable[Mapping[str, str]]) -> float | None:
    """Krippendorff's alpha, nominal, straight from the coincidences of section 2."""
    coincidences: dict[tuple[str, str], float] = {}
    for unit in units:
        if len(unit) >= 2:
            for c, k in permutations(unit.values(), 2):
                coincidences[c, k] = coincidences.get((c, k), 0.0) + 1 / (len(unit) - 1)
    totals: dict[str, float] = {}
    for (c, _), weight in coincidences.items():
        totals[c] = totals.get(c, 0.0) + weight
    n = sum(totals.values())
    if len(totals) < 2:
        return None
    observed = sum(weight for (c, k), weight in coincidences.items() if c != k)
    expected = sum(totals[c] * totals[k] for c in totals for k in totals if c != k)
    return 1 - (n - 1) * observed / expected


def package_alpha(units: Sequence[Mapping[str, str]]) -> float:
    """The same by the krippendorff package."""
    raters = sorted({who for unit in units for who in unit})
    values = sorted({value for unit in units for value in unit.values()})
    data = np.full((len(raters), len(units)), np.nan)
    for column, unit in enumerate(units):
        for who, value in unit.items():
            data[raters.index(who), column] = values.index(value)
    return float(krippendorff.alpha(reliability_data=data, level_of_measurement="nominal"))


# Laws ---------------------------------------------------------------------------------------------


@examples
@given(small_corpora())
def test_true_positives_are_those_of_a_brute_force_maximum_matching(small: Small) -> None:
    scheme = measured(small)
    sets = small.sets
    items = [item for item, _ in small.texts]
    everyone = sorted({who for _, who in sets})
    for rule in RULES:
        for types in TYPES:
            rows = scheme["f1"][f"{parse_rule(rule)}_{types}"]["pairs"]
            found = {(row["a"], row["b"]): row for row in rows}
            expected = {}
            for a, b in combinations(everyone, 2):
                shared = [item for item in items if (item, a) in sets and (item, b) in sets]
                if shared:
                    expected[a, b] = (
                        sum(
                            brute_force_matching(
                                sorted(sets[item, a], key=str), list(sets[item, b]), rule, types
                            )
                            for item in shared
                        ),
                        sum(len(sets[item, a]) for item in shared),
                        sum(len(sets[item, b]) for item in shared),
                        len(shared),
                    )
            assert {
                pair: (row["tp"], row["n_a"], row["n_b"], row["items"])
                for pair, row in found.items()
            } == expected


@examples
@given(small_corpora())
def test_f1_precision_and_recall_follow_from_the_counts(small: Small) -> None:
    for figures in measured(small)["f1"].values():
        for row in figures["pairs"]:
            tp, n_a, n_b = row["tp"], row["n_a"], row["n_b"]
            assert row["value"] == (pytest.approx(2 * tp / (n_a + n_b)) if n_a + n_b else None)
            assert row["precision"] == (pytest.approx(tp / n_b) if n_b else None)
            assert row["recall"] == (pytest.approx(tp / n_a) if n_a else None)


@examples
@given(small_corpora())
def test_the_averages_follow_from_the_pairs(small: Small) -> None:
    for figures in measured(small)["f1"].values():
        rows = figures["pairs"]
        defined = [row["value"] for row in rows if row["value"] is not None]
        mean = figures["mean_over_pairs"]
        assert mean["value"] == (pytest.approx(sum(defined) / len(defined)) if defined else None)
        assert mean["n"] == len(defined)
        if defined:
            assert mean["sd"] == pytest.approx(float(np.std(defined)), abs=1e-12)
            assert (mean["min"], mean["max"]) == pytest.approx((min(defined), max(defined)))
        marked = sum(row["n_a"] + row["n_b"] for row in rows)
        matched = sum(row["tp"] for row in rows)
        pooled = figures["pooled"]["value"]
        assert pooled == (pytest.approx(2 * matched / marked) if marked else None)
        for annotator in figures["annotators"]:
            own = [
                row["value"]
                for row in rows
                if annotator["annotator"] in (row["a"], row["b"]) and row["value"] is not None
            ]
            assert annotator["value"] == (pytest.approx(sum(own) / len(own)) if own else None)
            assert annotator["n"] == len(own)


@examples
@given(small_corpora())
def test_turning_the_names_round_swaps_precision_and_recall_and_leaves_every_value(
    small: Small,
) -> None:
    names = {f"ann{n}": f"ann{5 - n}" for n in range(1, 5)}
    straight, turned = measured(small), measured(small.renamed(names))
    for key, figures in straight["f1"].items():
        mirrored = turned["f1"][key]
        for average in ("mean_over_pairs", "pooled", "mean_over_items"):
            assert same(figures[average], mirrored[average])
        assert same(figures["labels"], mirrored["labels"])
        rows = {(row["a"], row["b"]): row for row in mirrored["pairs"]}
        assert len(rows) == len(figures["pairs"])
        for row in figures["pairs"]:
            other = rows[names[row["b"]], names[row["a"]]]
            assert (other["tp"], other["items"]) == (row["tp"], row["items"])
            assert (other["n_a"], other["n_b"]) == (row["n_b"], row["n_a"])
            assert (other["precision"], other["recall"]) == (row["recall"], row["precision"])
            assert other["value"] == row["value"]
    assert same(straight["lost"], turned["lost"])
    assert same(straight["token"], turned["token"])


@examples
@given(small_corpora(), st.randoms(use_true_random=False))
def test_the_order_of_spans_items_annotators_and_passes_changes_nothing(
    small: Small, order: random.Random
) -> None:
    assert same(measured(small), measured(small.shuffled(order)))


@examples
@given(small_corpora())
def test_true_positives_grow_from_exact_to_overlap_and_from_typed_to_untyped(small: Small) -> None:
    f1 = measured(small)["f1"]
    keys = [str(parse_rule(rule)) for rule in RULES]
    for types in TYPES:
        for strict, loose in combinations(keys, 2):
            for left, right in zip(
                f1[f"{strict}_{types}"]["pairs"], f1[f"{loose}_{types}"]["pairs"], strict=True
            ):
                assert left["tp"] <= right["tp"]
    for key in keys:
        for left, right in zip(
            f1[f"{key}_typed"]["pairs"], f1[f"{key}_untyped"]["pairs"], strict=True
        ):
            assert left["tp"] <= right["tp"]


@settings(examples, max_examples=10)
@given(small_corpora())
def test_true_positives_of_the_labels_add_up_to_those_of_the_typed_rule(small: Small) -> None:
    labelled = [
        Small(
            small.texts,
            tuple(
                (key, tuple(mark for mark in marks if mark.label == label))
                for key, marks in small.passes
            ),
        )
        for label in LABELS
    ]
    whole = measured(small)["f1"]["overlap_typed"]["pairs"]
    split = [measured(part)["f1"]["overlap_typed"]["pairs"] for part in labelled]
    for row, *rows in zip(whole, *split, strict=True):
        for count in ("tp", "n_a", "n_b"):
            assert row[count] == sum(part[count] for part in rows)
    # And a label's row in the whole report is what the label gives alone.
    for label, part in zip(LABELS, labelled, strict=True):
        for rule in ("exact", "overlap"):
            figures = measured(small)["f1"][f"{rule}_typed"]["labels"].get(label)
            alone = measured(part)["f1"][f"{rule}_typed"]
            for average in ("mean_over_pairs", "pooled", "mean_over_items"):
                if figures is None:
                    assert alone[average]["value"] is None
                else:
                    assert same(figures[average]["value"], alone[average]["value"])


@examples
@given(small_corpora())
def test_an_item_everybody_left_empty_changes_no_pooled_f1(small: Small) -> None:
    before, after = measured(small), measured(small.with_empty_item())
    for key, figures in before["f1"].items():
        for average in ("pooled", "mean_over_pairs", "mean_over_items"):
            assert same(figures[average]["value"], after["f1"][key][average]["value"])
    assert same(
        [before["lost"][part]["value"] for part in sorted(before["lost"])],
        [after["lost"][part]["value"] for part in sorted(after["lost"])],
    )


@examples
@given(small_corpora())
def test_the_losses_add_up_to_what_exact_typed_f1_lacks(small: Small) -> None:
    scheme = measured(small)
    exact = headline(scheme)["value"]
    losses = [scheme["lost"][part]["value"] for part in ("existence", "label", "boundary")]
    if exact is None:
        assert losses == [None] * 3
    else:
        assert sum(losses) == pytest.approx(1 - exact, abs=1e-9)
        assert min(losses) >= -1e-9


@examples
@given(small_corpora(), st.sampled_from(["skip", "agree"]))
def test_no_nan_and_no_infinity_leaves_a_report_and_every_n_is_at_most_its_of(
    small: Small, both_empty: str
) -> None:
    scheme = figures_of(
        small.corpus(), rules=RULES, token_unit="word", both_empty=both_empty, bootstrap=5, seed=1
    )
    json.dumps(scheme, allow_nan=False)
    for path, node in walk(scheme):
        if isinstance(node, float):
            assert math.isfinite(node), path
        if isinstance(node, Mapping) and "n" in node and "of" in node:
            assert 0 <= node["n"] <= node["of"], path
    for path, estimate in estimates(scheme):
        if estimate["value"] is None:
            assert estimate["why"], path
        else:
            assert estimate.get("why") is None, path


@pytest.mark.parametrize("unit", ["character", "whitespace"])
@examples
@given(small=small_corpora())
def test_token_alpha_is_that_of_the_naive_code_and_of_the_krippendorff_package(
    unit: str, small: Small
) -> None:
    token = measured(small, unit)["token"]
    keys = {
        "label": "alpha",
        "bio": "alpha_bio",
        "binary": "alpha_binary",
        "io_longest": "alpha_io_longest",
    }
    found = {coding: token[key] for coding, key in keys.items()} | token["labels"]
    if bio_is_open(small):
        del found["bio"]
    for coding, estimate in found.items():
        units = naive_units(small, unit, coding)
        expected = naive_alpha(units)
        if expected is None:
            assert estimate["value"] is None, coding
        else:
            assert estimate["value"] == pytest.approx(expected, abs=1e-9), coding
            assert package_alpha(units) == pytest.approx(expected, abs=1e-9), coding


@examples
@given(small_corpora())
def test_alpha_of_marked_tokens_is_alpha_where_some_annotator_marked(small: Small) -> None:
    units = [unit for unit in naive_units(small, "character", "label") if {*unit.values()} - {"O"}]
    expected = naive_alpha(units)
    estimate = measured(small)["token"]["alpha_marked"]
    assert estimate["value"] == (None if expected is None else pytest.approx(expected, abs=1e-9))


@examples
@given(small_corpora())
def test_tokens_with_more_than_one_label_are_counted(small: Small) -> None:
    # Once per token or once per token and annotator: between the two.
    units = naive_units(small, "character", "label")
    tokens = sum(any("+" in code for code in unit.values()) for unit in units)
    codes = sum("+" in code for unit in units for code in unit.values())
    assert tokens <= measured(small)["token"]["multi_label_tokens"] <= codes


@examples
@given(small_corpora())
def test_chance_agreement_is_the_sum_of_the_squared_label_shares(small: Small) -> None:
    token = measured(small)["token"]
    shares = [
        share["value"] if isinstance(share, Mapping) else share
        for share in token["label_shares"].values()
    ]
    chance = token["chance_agreement"]
    chance = chance["value"] if isinstance(chance, Mapping) else chance
    if chance is not None:
        assert sum(shares) == pytest.approx(1)
        assert chance == pytest.approx(sum(share**2 for share in shares))
