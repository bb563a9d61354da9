"""Gamma: the exact disorder of two annotators, what pygamma makes of the rest, and its process."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from potato_iaa import Corpus, measure
from potato_iaa.errors import UsageError
from potato_iaa.layer import make_layer
from potato_iaa.measures import gamma, gamma_process
from potato_iaa.measures.bootstrap import item_weights
from potato_iaa.measures.gamma import (
    NOT_INSTALLED,
    GammaFigures,
    GammaSettings,
    categorical_disorder,
    disorder_of_two,
    gamma_figures,
)
from potato_iaa.measures.gamma_process import pair_weights, pygamma_version
from tests.conformance.loading import CASE_IDS, case, case_corpus
from tests.corpora import Figures, corpus_of, estimates, figures_of, parts_corpus
from tests.living import alive, wait_for

with_pygamma = pytest.mark.skipif(
    pygamma_version() is None, reason="pygamma-agreement is not installed (extra gamma)"
)
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
DEFAULTS = GammaSettings()


def units_of(*units: tuple[int, int, int]) -> Any:
    return np.array(units, dtype=np.int64).reshape(-1, 3)


def gamma_of(corpus: Corpus, resamples: int = 0, **choices: Any) -> GammaFigures:
    layer = make_layer(corpus, "spans")
    weights = item_weights(
        len(layer.items), of=layer.items_on_offer, resamples=resamples, seed=choices.get("seed", 0)
    )
    return gamma_figures(layer, weights, settings=GammaSettings(**choices))


def rows_of(figures: GammaFigures) -> dict[str, Figures]:
    return {row["item"]: row for row in figures.to_dict()["items"]}


@pytest.fixture
def without_pygamma(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gamma_process, "pygamma_version", lambda: None)


# The disorder of two annotators -------------------------------------------------------------------


@pytest.mark.usefixtures("without_pygamma")
@pytest.mark.parametrize("case_id", CASE_IDS)
def test_the_disorder_of_two_annotators_of_the_cases_without_pygamma(case_id: str) -> None:
    expected = case(case_id)["expected"]["gamma"]["items"]
    read = {item["id"]: item["annotations"] for item in case(case_id)["items"]}
    for item, row in rows_of(gamma_of(case_corpus(case_id))).items():
        right = expected[item]["observed_disorder"]
        passes = [spans for spans in read[item].values() if spans is not None]
        assert row["value"] is None
        if right is None:
            assert row["observed_disorder"] is None
            assert row["why"] == ("no unit" if len(passes) > 1 else "only one annotator")
        else:
            assert row["why"] == NOT_INSTALLED
            if len(passes) == 2:
                assert row["observed_disorder"] == pytest.approx(right, abs=1e-9)


def slow_disorder(one: Any, other: Any, settings: GammaSettings) -> float:
    """The least disorder over all alignments, each listed."""
    few, many = sorted((one.tolist(), other.tolist()), key=len)

    def distance(u: list[int], v: list[int]) -> float:
        apart = abs(u[0] - v[0]) + abs(u[1] - v[1])
        position = (apart / (u[1] - u[0] + v[1] - v[0])) ** 2 * settings.delta_empty
        label = (u[2] != v[2]) * settings.delta_empty
        return settings.alpha * position + settings.beta * label

    total = len(few) + len(many)
    return min(
        sum(distance(few[i], many[j]) for i, j in zip(chosen, partners, strict=True))
        + settings.delta_empty * (total - 2 * size)
        for size in range(len(few) + 1)
        for chosen in combinations(range(len(few)), size)
        for partners in permutations(range(len(many)), size)
    ) / (total / 2)


def random_units(generator: np.random.Generator, most: int, reach: int) -> Any:
    start = generator.integers(reach, size=generator.integers(1, most + 1))
    end = start + generator.integers(1, 7, size=len(start))
    return np.unique(np.column_stack((start, end, generator.integers(3, size=len(start)))), axis=0)


@pytest.mark.parametrize("seed", range(40))
def test_the_disorder_of_two_is_the_least_of_all_alignments(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(seed)
    one, other = random_units(generator, 4, 15), random_units(generator, 5, 15)
    settings = GammaSettings(
        alpha=float(generator.choice([0.0, 1.0, 3.0])),
        beta=float(generator.choice([0.0, 0.5, 1.0])),
        delta_empty=float(generator.choice([0.3, 1.0])),
    )
    right = slow_disorder(one, other, settings)
    assert disorder_of_two(one, other, settings) == pytest.approx(right, abs=1e-12)
    assert disorder_of_two(other, one, settings) == pytest.approx(right, abs=1e-12)
    monkeypatch.setattr(gamma, "CELLS", 3)
    assert disorder_of_two(one, other, settings) == pytest.approx(right, abs=1e-12)


def test_the_disorder_of_two_by_hand() -> None:
    nothing = units_of()
    assert disorder_of_two(units_of((0, 4, 0)), units_of((0, 4, 0)), DEFAULTS) == 0.0
    assert disorder_of_two(units_of((0, 4, 0)), units_of((0, 4, 1)), DEFAULTS) == 1.0
    # One side found nothing: every unit costs Δ∅, over half as many units per annotator.
    assert disorder_of_two(units_of((0, 4, 0), (9, 12, 1)), nothing, DEFAULTS) == 2.0
    # The second of one with the first of the other at 0 leaves two at Δ∅; 2 · 1.36 would not.
    one, other = units_of((94, 104, 2), (100, 110, 0)), units_of((100, 110, 0), (106, 116, 1))
    assert disorder_of_two(one, other, DEFAULTS) == 1.0
    # Too far apart to be worth pairing: 2 · Δ∅ over 1.
    assert disorder_of_two(units_of((0, 4, 0)), units_of((40, 44, 0)), DEFAULTS) == 2.0


def test_a_long_item_takes_no_time() -> None:
    start = np.arange(6000) * 7
    one = np.column_stack((start, start + 5, start % 3))
    other = one + np.array([1, 1, 0])
    begun = time.perf_counter()
    assert disorder_of_two(one, other, DEFAULTS) == pytest.approx(0.04, abs=1e-12)
    assert time.perf_counter() - begun < 20


# Units --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("without_pygamma")
def test_the_parts_of_a_span_are_units_and_the_units_of_a_pass_are_a_set() -> None:
    corpus = parts_corpus(
        {"d1": {"A": [("X", [(0, 2), (6, 8)]), ("X", [(0, 2), (4, 5)])], "B": [("X", [(0, 2)])]}},
        {"d1": "x" * 10},
    )
    # A has [0, 2), [4, 5) and [6, 8), of which B has the first.
    row = rows_of(gamma_of(corpus))["d1"]
    assert row["observed_disorder"] == pytest.approx(2 / 2)


@pytest.mark.usefixtures("without_pygamma")
def test_offsets_count_from_the_start_of_the_item() -> None:
    marks = {"A": [(0, 4, "X")], "B": [(2, 6, "X")]}
    rows = rows_of(gamma_of(corpus_of({"d1": marks, "d2": marks, "d3": marks})))
    assert [row["observed_disorder"] for row in rows.values()] == [0.25] * 3


# What is undefined, and why -----------------------------------------------------------------------


@pytest.mark.usefixtures("without_pygamma")
@pytest.mark.parametrize(
    ("marks", "why"),
    [
        ({"d1": {"A": [(0, 1, "X")]}}, "only one annotator"),
        ({"d1": {"A": [(0, 1, "X")]}, "d2": {"B": [(0, 1, "X")]}}, "no shared items"),
        ({"d1": {"A": [], "B": []}}, "no unit"),
        ({"d1": {"A": [], "B": []}, "d2": {"A": [(0, 1, "X")], "B": []}}, NOT_INSTALLED),
        ({"d1": {"A": [(0, 1, "X")]}, "d2": {"A": [(0, 1, "X")], "B": []}}, NOT_INSTALLED),
        ({"d1": {"A": [(0, 1, "X")]}, "d2": {"A": [], "B": []}}, "no unit"),
    ],
)
def test_the_mean_says_why_it_is_undefined(marks: Any, why: str) -> None:
    figures = gamma_of(corpus_of(marks))
    for mean in (figures.mean_over_items, figures.gamma_cat):
        assert (mean.value, mean.why, mean.n) == (None, why, 0)
    assert figures.pygamma is None
    assert figures.solver is None


@pytest.mark.usefixtures("without_pygamma")
def test_a_label_is_undefined_for_the_reason_of_its_items() -> None:
    # Nobody marked Z on any item, and X stands on an item that is not known for want of pygamma.
    figures = gamma_of(corpus_of({"d1": {"A": [(0, 1, "X")], "B": []}}, labels=["X", "Z"]))
    assert {label: k.why for label, k in figures.gamma_k.items()} == {
        "X": NOT_INSTALLED,
        "Z": "no unit",
    }
    assert rows_of(figures)["d1"]["gamma_k"] == {"X": {"value": None, "why": NOT_INSTALLED}}


@pytest.mark.usefixtures("without_pygamma")
def test_without_pygamma_three_who_agree_have_no_disorder_and_others_none_that_is_known() -> None:
    same: dict[str, Any] = {who: [(0, 4, "X")] for who in "ABC"}
    rows = rows_of(gamma_of(corpus_of({"d1": same, "d2": same | {"C": [(0, 3, "X")]}})))
    assert [row["observed_disorder"] for row in rows.values()] == [0.0, None]


@pytest.mark.usefixtures("without_pygamma")
def test_the_time_limit_is_no_reason_where_pygamma_is_not_installed() -> None:
    figures = gamma_of(corpus_of({"d1": {"A": [(0, 1, "X")], "B": []}}), total_seconds=1e-9)
    assert figures.mean_over_items.why == NOT_INSTALLED


@pytest.mark.usefixtures("without_pygamma")
def test_gamma_is_in_the_report_on_request_alone() -> None:
    corpus = corpus_of({"d1": {"A": [(0, 4, "X")], "B": [(0, 4, "X")]}})
    assert "gamma" not in figures_of(corpus)
    asked = figures_of(corpus, measures=("gamma",), seed=3)["gamma"]
    assert DEFAULTS.seed == 0
    assert asked["parameters"] == {
        "alpha": 1.0,
        "beta": 1.0,
        "delta_empty": 1.0,
        "sampler": "statistical",
        "samples": 30,
        "precision": None,
        "seed": 3,
        "item_seconds": 30.0,
        "total_seconds": 3600.0,
    }
    # Without pygamma no item has a gamma, not even one of which it is known to be 1.
    assert asked["items"][0]["value"] is None
    assert asked["items"][0]["observed_disorder"] == 0.0
    assert asked["mean_over_items"]["why"] == (
        "pygamma-agreement is not installed: install potato-iaa[gamma]"
    )
    json.dumps(asked, allow_nan=False)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("alpha", (-0.1, math.inf, math.nan)),
        ("beta", (-0.1, math.inf, math.nan)),
        ("delta_empty", (-0.1, 0.0, math.inf, math.nan)),
        ("samples", (0, -1)),
        ("precision", (-0.1, 0.0, 1.0, math.nan)),
        ("item_seconds", (-0.1, 0.0, math.inf, math.nan)),
        ("total_seconds", (-0.1, 0.0, math.inf, math.nan)),
    ],
)
def test_a_choice_that_does_not_exist_is_refused(name: str, values: tuple[Any, ...]) -> None:
    for value in values:
        with pytest.raises(UsageError, match=rf"^gamma's {name} (is|are) {value}: "):
            GammaSettings(**{name: value})


def test_a_sampler_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(UsageError, match="no sampler 'none': there are statistical and shuffle"):
        GammaSettings(sampler="none")


@pytest.mark.parametrize(
    "choice",
    [
        *({name: value} for name in ("alpha", "beta") for value in (0.0, 0.5)),
        *({name: 0.1} for name in ("delta_empty", "item_seconds", "total_seconds")),
        {"total_seconds": None},
        {"samples": 1},
        *({"precision": value} for value in (None, 0.001, 0.999)),
        *({"sampler": sampler} for sampler in ("statistical", "shuffle")),
    ],
)
def test_a_choice_at_the_edge_of_those_there_are_is_taken(choice: dict[str, Any]) -> None:
    assert choice.items() <= GammaSettings(**choice).to_dict().items()


# Labels of aligned units --------------------------------------------------------------------------


def test_pairs_weigh_by_position_and_by_how_many_are_aligned() -> None:
    one, near, far = (0, 4, 0), (2, 6, 1), (4, 8, 0)
    assert pair_weights([(one, near)]) == [(0, 1, 0.75)]
    assert pair_weights([(one, None), (None, near)]) == []
    # Of three aligned units, the two that touch weigh nothing.
    assert pair_weights([(one, near, far)]) == [(0, 0, 0.0), (0, 1, 0.75)]


def test_gamma_cat_leaves_out_what_has_no_partner() -> None:
    assert math.isnan(categorical_disorder([]))
    own, chance = [(0, 0, 3.0), (0, 1, 1.0)], [(0, 0, 1.0), (0, 1, 1.0), (1, 1, 2.0)]
    assert gamma._categorical([own, chance, []]).value == pytest.approx(1 - 0.25 / 0.25)
    assert gamma._categorical([own, chance], 1).value == pytest.approx(1 - 1 / (1 / 3))
    assert gamma._categorical([own, chance], 2).why == "no aligned units"
    assert gamma._categorical([[(0, 0, 1.0)], chance]).value == 1.0
    assert gamma._categorical([[(0, 0, 1.0)], []]).value == 1.0
    assert gamma._categorical([own, []]).why == "the expected disorder is 0"


# What is made of the answers; a stand-in gives them in pygamma's place ----------------------------

ANSWERING = """
import json, sys
print("{}", flush=True)
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"disorders": [%s, 1.0, 3.0], "pairs": [[[0, 0, 1.0], [0, 1, 1.0]],
          [[0, 1, 1.0]], [[0, 0, 1.0]]], "seconds": request["seconds"]}), flush=True)
"""
HANGING = """
import os, sys, time
print("{}", flush=True)
for line in sys.stdin:
    print(os.getpid(), file=open(sys.argv[0] + ".pid", "a"), flush=True)
    time.sleep(600)
"""
DYING = 'print("{}", flush=True); input(); raise SystemExit(3)'
FAILING = """
import sys
print("{}", flush=True)
for line in sys.stdin:
    print('{"why": "it failed"}', flush=True)
"""
LATE = FAILING.replace('"why": "it failed"', '"overdue": true')
NOT_STARTING = """print('{"why": "it does not start"}')"""
TWO_APART = {"A": [(0, 4, "X"), (6, 8, "Y")], "B": [(2, 6, "X")]}
DISORDER = (0.25 + 1) / 1.5


class StandIn:
    """A program that runs where pygamma would."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        monkeypatch.setattr(gamma_process, "PROGRAM", str(path))
        monkeypatch.setattr(gamma_process, "GRACE_SECONDS", 1.0)
        monkeypatch.setattr(gamma_process, "pygamma_version", lambda: "0.0")
        gamma_process.hang_up()

    def write(self, program: str) -> None:
        self.path.write_text(program, encoding="utf-8")

    def running(self) -> list[int]:
        """The processes that hung and are still there."""
        pids = Path(f"{self.path}.pid").read_text(encoding="utf-8").split()
        return [int(pid) for pid in pids if alive(int(pid))]


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    yield StandIn(tmp_path / "stand_in.py", monkeypatch)
    gamma_process.hang_up()


def test_gamma_is_one_less_observed_over_expected(stand_in: StandIn) -> None:
    stand_in.write(ANSWERING % DISORDER)
    figures = gamma_of(corpus_of({"d1": TWO_APART, "d2": TWO_APART}), resamples=20)
    row = rows_of(figures)["d1"]
    assert row["value"] == pytest.approx(1 - DISORDER / 2)
    assert row["observed_disorder"] == pytest.approx(DISORDER)
    assert row["expected_disorder"] == 2.0
    assert row["samples"] == 2
    assert "seconds" not in row
    assert row["gamma_cat"] == {"value": 1 - 0.5 / 0.5}
    assert row["gamma_k"] == {"X": {"value": 0.0}, "Y": {"value": 1 - 1 / 1}}
    mean = figures.mean_over_items
    assert mean.value == pytest.approx(1 - DISORDER / 2)
    assert (mean.n, mean.of) == (2, 2)
    assert mean.low == pytest.approx(mean.high)
    assert figures.gamma_k["Y"].n == 2


def test_the_report_has_the_means_each_field_of_an_item_and_the_choices(stand_in: StandIn) -> None:
    stand_in.write(ANSWERING % DISORDER)
    fields = ("", "note")
    units = [("A", 0, 4, "X"), ("A", 6, 8, "Y"), ("B", 2, 6, "X")]
    figures = gamma_of(
        Corpus.from_tables(
            items=pd.DataFrame(
                [("d1", name, "x" * 9) for name in fields], columns=["item", "field", "text"]
            ),
            passes=pd.DataFrame(
                [("d1", name, who) for name in fields for who in "AB"],
                columns=["item", "field", "annotator"],
            ),
            spans=pd.DataFrame(
                [("d1", name, *unit) for name in fields for unit in units],
                columns=["item", "field", "annotator", "start", "end", "label"],
            ),
            labels=["X", "Y", "Z"],
        )
    )
    value = 1 - DISORDER / 2
    row = {
        "item": "d1",
        "value": pytest.approx(value),
        "observed_disorder": pytest.approx(DISORDER),
        "expected_disorder": 2.0,
        "gamma_cat": {"value": 0.0},
        "gamma_k": {"X": {"value": 0.0}, "Y": {"value": 0.0}},
        "samples": 2,
    }
    mean = {"low": None, "high": None, "n": 2, "of": 2}
    seeds = [gamma.seed for _, _, gamma in figures.items]
    assert len({*seeds, None}) == 3
    assert figures.to_dict() == {
        "mean_over_items": {"value": pytest.approx(value)} | mean,
        "gamma_cat": {"value": 0.0} | mean,
        "gamma_k": {
            "X": {"value": 0.0} | mean,
            "Y": {"value": 0.0} | mean,
            "Z": {"value": None, "why": "no unit"} | mean | {"n": 0},
        },
        "items": [
            row | {"field": name, "seed": seed} for name, seed in zip(fields, seeds, strict=True)
        ],
        "parameters": DEFAULTS.to_dict(),
        "pygamma": "0.0",
        "solver": gamma_process.solver(),
    }
    # The stand-in answers with the time that it may take.
    assert [gamma.seconds for _, _, gamma in figures.items] == [30.0] * 2


def test_the_seed_of_an_item_is_that_of_its_name_alone(stand_in: StandIn) -> None:
    stand_in.write(ANSWERING % DISORDER)

    def seeds(*items: str, seed: int = 0) -> dict[str, Any]:
        rows = rows_of(gamma_of(corpus_of(dict.fromkeys(items, TWO_APART)), seed=seed))
        return {item: row["seed"] for item, row in rows.items()}

    both = seeds("d1", "d2")
    assert both["d1"] != both["d2"]
    assert both == seeds("d2") | seeds("d1")
    assert not both.items() & seeds("d1", "d2", seed=1).items()


def test_the_program_is_asked_for_the_units_with_all_choices(stand_in: StandIn) -> None:
    # It gives what it was asked for as the reason why it has no answer.
    stand_in.write(FAILING.replace("""'{"why": "it failed"}'""", 'json.dumps({"why": line})', 1))
    stand_in.write("import json" + stand_in.path.read_text("utf-8"))
    settings = GammaSettings(alpha=2.0, precision=0.5, item_seconds=9.0, seed=7)
    (row,) = rows(gamma_of(corpus_of({"d1": TWO_APART}), **vars(settings)))
    assert json.loads(row["why"]) == settings.to_dict() | {
        "units": [[[0, 4, 0], [6, 8, 1]], [[2, 6, 0]]],
        "seed": row["seed"],
        "seconds": 9.0,
    }
    # No longer than what is left for all items.
    (row,) = rows(gamma_of(corpus_of({"d1": TWO_APART}), total_seconds=5.0))
    assert 0 < json.loads(row["why"])["seconds"] <= 5.0
    (row,) = rows(gamma_of(corpus_of({"d1": TWO_APART}), total_seconds=None))
    assert json.loads(row["why"])["seconds"] == DEFAULTS.item_seconds


def test_where_one_label_alone_was_used_labels_have_no_agreement(stand_in: StandIn) -> None:
    stand_in.write(ANSWERING % 0.25)
    marks = {"A": [(0, 4, "X")], "B": [(2, 6, "X")]}
    row = rows_of(gamma_of(corpus_of({"d1": marks}, labels=["W", "X"])))["d1"]
    undefined = {"value": None, "why": "no variation"}
    assert (row["value"], row["gamma_cat"]) == (1 - 0.25 / 2, undefined)
    assert row["gamma_k"] == {"X": undefined}


def test_a_mean_weighs_items_as_the_resample_draws_them(stand_in: StandIn) -> None:
    stand_in.write(ANSWERING % DISORDER)
    same = {"A": [(0, 4, "X"), (6, 8, "Y")], "B": [(0, 4, "X"), (6, 8, "Y")]}
    layer = make_layer(corpus_of({"d1": TWO_APART, "d2": same, "d3": {"A": []}}), "spans")
    apart = 1 - DISORDER / 2
    for weights, bounds in (
        ([[1, 3, 3], [1, 1, 1], [1, 5, 0]], (3 * apart + 1) / 4),
        ([[1, 0, 0], [1, 2, 2], [1, 0, 0]], 1.0),
    ):
        mean = gamma_figures(layer, np.array(weights, dtype=np.float64)).mean_over_items
        assert mean.value == pytest.approx((apart + 1) / 2)
        assert mean.low == mean.high == pytest.approx(bounds)
        assert (mean.n, mean.of) == (2, 2)


def test_every_item_is_told(stand_in: StandIn) -> None:
    stand_in.write(ANSWERING % DISORDER)
    told: list[str] = []
    layer = make_layer(corpus_of({"d1": TWO_APART, "d2": TWO_APART}), "spans")
    gamma_figures(layer, np.ones((2, 1)), progress=told.append)
    assert told == ["gamma, item 1 of 2", "gamma, item 2 of 2"]


@pytest.mark.parametrize(
    ("delta_empty", "off", "refused"),
    [
        (1.0, 0.9e-4, False),
        (1.0, -0.9e-4, False),
        (1.0, 1.1e-4, True),
        (1.0, -1.1e-4, True),
        # A disorder of 100 · 5/6 differs by as large a share of it.
        (100.0, 0.9e-4 * 100 * DISORDER, False),
        (100.0, 1.1e-4 * 100 * DISORDER, True),
    ],
)
def test_a_disorder_may_differ_by_one_in_ten_thousand(
    stand_in: StandIn, delta_empty: float, off: float, refused: bool
) -> None:
    stand_in.write(ANSWERING % (delta_empty * DISORDER + off))
    figures = gamma_of(corpus_of({"d1": TWO_APART}), delta_empty=delta_empty)
    assert (figures.mean_over_items.value is None) == refused
    # Where it is near enough, the exact one is taken.
    assert rows(figures)[0]["observed_disorder"] == pytest.approx(delta_empty * DISORDER)


def test_a_disorder_that_is_not_the_exact_one_is_refused(stand_in: StandIn) -> None:
    stand_in.write(ANSWERING % (DISORDER + 0.01))
    row = rows_of(gamma_of(corpus_of({"d1": TWO_APART})))["d1"]
    assert row["value"] is None
    assert row["why"] == "pygamma-agreement's disorder is 0.843333, and 0.833333 is exact"
    assert row["gamma_k"]["Y"]["why"] == row["why"]
    assert row["seed"] is not None
    assert row["observed_disorder"] == pytest.approx(DISORDER)


def test_three_annotators_have_the_disorder_that_pygamma_found(stand_in: StandIn) -> None:
    stand_in.write(ANSWERING % 0.5)
    row = rows_of(gamma_of(corpus_of({"d1": TWO_APART | {"C": []}})))["d1"]
    assert (row["observed_disorder"], row["value"]) == (0.5, 0.75)


def test_the_same_units_from_all_are_gamma_1_without_sampling(stand_in: StandIn) -> None:
    stand_in.write(DYING)
    two = [(0, 4, "X"), (6, 8, "Y")]
    rows = rows_of(
        gamma_of(
            corpus_of(
                {
                    "d1": {"A": two, "B": two, "C": two},
                    "d2": {"A": [(0, 4, "X")], "B": [(0, 4, "X")]},
                }
            )
        )
    )
    assert (rows["d1"]["value"], rows["d1"]["gamma_cat"]) == (1.0, {"value": 1.0})
    assert rows["d1"]["gamma_k"] == {"X": {"value": 1.0}, "Y": {"value": 1.0}}
    # With one label there is nothing to disagree on.
    assert (rows["d2"]["value"], rows["d2"]["samples"]) == (1.0, 0)
    disorders = [(row["observed_disorder"], row["expected_disorder"]) for row in rows.values()]
    assert disorders == [(0.0, None)] * 2
    assert rows["d2"]["gamma_cat"] == {"value": None, "why": "no variation"}


# The process --------------------------------------------------------------------------------------


def test_an_item_beyond_its_time_is_undefined_and_its_process_is_ended(stand_in: StandIn) -> None:
    stand_in.write(HANGING)
    figures = gamma_of(corpus_of({"d1": TWO_APART, "d2": TWO_APART}), item_seconds=0.1)
    for row in rows_of(figures).values():
        assert (row["value"], row["why"]) == (None, "pygamma-agreement needed more than 0.1 s")
        assert row["observed_disorder"] == pytest.approx(DISORDER)
    assert figures.mean_over_items.why == "pygamma-agreement needed more than 0.1 s"
    assert (figures.mean_over_items.n, figures.mean_over_items.of) == (0, 2)
    assert stand_in.running() == []


def test_items_beyond_the_time_for_all_are_undefined(stand_in: StandIn) -> None:
    stand_in.write(HANGING)
    corpus = corpus_of({f"d{number}": TWO_APART for number in range(9)})
    rows = list(rows_of(gamma_of(corpus, total_seconds=0.3)).values())
    assert {row["why"] for row in rows} == {"beyond the time limit of 0.3 s for all items"}
    assert rows[-1]["observed_disorder"] == pytest.approx(DISORDER)
    assert len(Path(f"{stand_in.path}.pid").read_text(encoding="utf-8").split()) == 1


def test_an_answer_that_comes_after_the_time_for_all_is_late(stand_in: StandIn) -> None:
    stand_in.write(LATE)
    (row,) = rows(gamma_of(corpus_of({"d1": TWO_APART}), total_seconds=5.0))
    assert row["why"] == "beyond the time limit of 5 s for all items"


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (DYING, "pygamma-agreement ended without an answer (exit code 3)"),
        (FAILING, "it failed"),
        (LATE, "pygamma-agreement needed more than 30 s"),
        (NOT_STARTING, "it does not start"),
        ("raise SystemExit(4)", "pygamma-agreement ended without an answer (exit code 4)"),
    ],
)
def test_a_process_that_fails_is_a_reason(stand_in: StandIn, program: str, why: str) -> None:
    stand_in.write(program)
    rows = rows_of(gamma_of(corpus_of({"d1": TWO_APART, "d2": TWO_APART})))
    assert [row["why"] for row in rows.values()] == [why, why]
    assert [row["gamma_cat"]["why"] for row in rows.values()] == [why, why]
    assert [row["gamma_k"]["X"]["why"] for row in rows.values()] == [why, why]
    assert [row["observed_disorder"] for row in rows.values()] == [pytest.approx(DISORDER)] * 2


def test_one_process_serves_several_layers(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in.write(ANSWERING % DISORDER)
    started: list[Any] = []

    class Counted(subprocess.Popen[str]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            started.append(arguments)
            super().__init__(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", Counted)
    for _ in range(3):
        gamma_of(corpus_of({"d1": TWO_APART}))
    assert len(started) == 1
    # Who listens to it keeps no program from ending.
    listeners = [thread for thread in threading.enumerate() if thread.name == "gamma"]
    assert [thread.daemon for thread in listeners] == [True]
    # One that was idle for long is about to leave by itself: another takes its place.
    for idle, count in ((0.4, 1), (0.6, 2)):
        assert gamma_process._line._process is not None
        gamma_process._line._process.asked -= idle * gamma_process.IDLE_SECONDS
        gamma_of(corpus_of({"d1": TWO_APART}))
        assert len(started) == count


@posix
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_does_not_end_the_process_of_its_parent(stand_in: StandIn) -> None:
    stand_in.write(ANSWERING % DISORDER)
    gamma_of(corpus_of({"d1": TWO_APART}))
    running = gamma_process._line._process
    child = os.fork()
    if not child:
        gamma_process.hang_up()
        os._exit(0)
    os.waitpid(child, 0)
    gamma_of(corpus_of({"d1": TWO_APART}))
    assert gamma_process._line._process is running


def test_a_warning_of_pygamma_is_no_fault_whatever_the_user_makes_of_warnings(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    stand_in.write(f"import warnings; warnings.warn('old')\n{ANSWERING % DISORDER}")
    assert gamma_of(corpus_of({"d1": TWO_APART})).mean_over_items.why is None


def test_a_process_that_does_not_start_in_time_is_a_reason(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in.write("import time; time.sleep(600)")
    monkeypatch.setattr(gamma_process, "STARTING_SECONDS", 1.0)
    figures = gamma_of(corpus_of({"d1": TWO_APART}))
    assert figures.mean_over_items.why == "pygamma-agreement did not start within 1 s"


def test_what_the_process_complains_of_reaches_no_terminal(
    stand_in: StandIn, capfd: pytest.CaptureFixture[str]
) -> None:
    stand_in.write(f"import sys; print('a complaint', file=sys.stderr)\n{ANSWERING % DISORDER}")
    assert gamma_of(corpus_of({"d1": TWO_APART})).mean_over_items.why is None
    gamma_process.hang_up()
    assert capfd.readouterr() == ("", "")


SCRIPT = """
import sys
from potato_iaa import Corpus, measure
from potato_iaa.measures import gamma_process
if sys.argv[1] != "pygamma":
    gamma_process.PROGRAM = sys.argv[1]
    gamma_process.pygamma_version = lambda: "0.0"
corpus = Corpus.from_tables(
    items=[("d1", "x" * 9)], passes=[],
    spans=[("d1", "A", 0, 4, "X"), ("d1", "A", 6, 8, "Y"), ("d1", "B", 2, 6, "X")],
)
agreement = measure(corpus, measures=("gamma",), bootstrap=0)
value = agreement.schemes["spans"].gamma.items[0][2].gamma
open(sys.argv[2], "w").write(repr(value.value or value.why))
"""


@posix
@pytest.mark.parametrize("whom", ["program", "group"])
def test_an_interrupt_leaves_nothing_behind(stand_in: StandIn, tmp_path: Path, whom: str) -> None:
    stand_in.write(HANGING)
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(stand_in.path), str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    wait_for(Path(f"{stand_in.path}.pid").exists)
    if whom == "group":
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert b"KeyboardInterrupt" in error
    wait_for(lambda: not stand_in.running())
    assert not (tmp_path / "out").exists()


@posix
def test_an_interrupt_between_items_ends_the_process(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in.write(ANSWERING % DISORDER)
    layer = make_layer(corpus_of({"d1": TWO_APART, "d2": TWO_APART}), "spans")

    def interrupt(stage: str) -> None:
        if "2 of 2" in stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gamma_figures(layer, np.ones((2, 1)), progress=interrupt)
    assert gamma_process._line._process is None


def first_line(*options: str) -> Any:
    """What the program says first; its owner is gone once it has."""
    program = subprocess.Popen(
        [sys.executable, *options, gamma_process.PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with program:
        assert program.stdout is not None
        assert program.stdin is not None
        said = json.loads(program.stdout.readline())
        program.stdin.close()
        assert program.wait(timeout=60) == 0
    return said


def test_the_program_says_that_it_does_not_start_where_pygamma_is_not() -> None:
    why = first_line("-I", "-S")["why"]
    assert why.startswith("pygamma-agreement does not start: ModuleNotFoundError")


# With pygamma -------------------------------------------------------------------------------------


@with_pygamma
@pytest.mark.parametrize("case_id", CASE_IDS)
def test_pygamma_finds_the_disorder_and_gamma_of_the_cases(case_id: str) -> None:
    items = case(case_id)["expected"]["gamma"]["items"]
    for found in gamma._items(make_layer(case_corpus(case_id), "spans")):
        # Null where there is nothing to align, a word where it was too much for brute force.
        if isinstance(items[found.item]["observed_disorder"], float):
            assert_disorders(found.units, items[found.item])


def assert_disorders(units: list[Any], expected: Figures) -> None:
    sampled = expected.get("pygamma", {})
    for sampler in sampled or ("statistical",):
        settings = GammaSettings(sampler=sampler, samples=30 if sampled else 1)
        request = settings.to_dict() | {"units": [own.tolist() for own in units], "seed": 4772}
        answer = gamma_process.ask(request, seconds=60)
        found, *chance = answer["disorders"]
        assert found == pytest.approx(expected["observed_disorder"], abs=1e-5)
        if sampled:
            right = sampled[sampler]["seed_4772_30_samples"]
            assert np.mean(chance) == pytest.approx(right["expected"], abs=1e-5)
            if found:
                assert 1 - found / np.mean(chance) == pytest.approx(right["gamma"], abs=1e-5)


@with_pygamma
@pytest.mark.parametrize("sampler", ["statistical", "shuffle"])
def test_gamma_lies_in_the_range_of_the_cases(sampler: str) -> None:
    for case_id in CASE_IDS:
        expected = case(case_id)["expected"]["gamma"]["items"]
        if not any("pygamma" in right for right in expected.values()):
            continue
        for item, row in rows_of(gamma_of(case_corpus(case_id), sampler=sampler)).items():
            if "pygamma" in expected[item]:
                low, high = expected[item]["pygamma"][sampler]["gamma_range_30_samples_4se"]
                assert low <= row["value"] <= high, (case_id, item)


def rows(figures: GammaFigures) -> list[Figures]:
    return list(figures.to_dict()["items"])


@with_pygamma
def test_gamma_depends_on_the_seed_and_on_nothing_beside_the_item() -> None:
    marks = {
        "d1": TWO_APART,
        "d2": TWO_APART | {"C": [(1, 4, "Y")]},
        "d3": {"A": [(0, 4, "X")], "B": []},
    }
    once = gamma_of(corpus_of(marks))
    gamma_process.hang_up()
    again = gamma_of(corpus_of({item: marks[item] for item in ("d3", "d2")}))
    assert rows(once)[1:] == rows(again)
    other = gamma_of(corpus_of(marks), seed=1)
    assert rows(other)[1]["expected_disorder"] != rows(once)[1]["expected_disorder"]
    assert once.pygamma == pygamma_version()
    assert once.solver in ("CBC", "GLPK_MI")
    assert all(
        figure["value"] is not None or figure["why"] for _, figure in estimates(once.to_dict())
    )


@with_pygamma
def test_a_precision_draws_as_many_samples_as_it_takes() -> None:
    corpus = corpus_of({"d1": TWO_APART})
    few, many = (gamma_of(corpus, precision=share).items[0][2].samples for share in (None, 0.1))
    assert few == 30 < many


@with_pygamma
def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    gamma_process.hang_up()
    figures = measure(corpus_of({"d1": TWO_APART}), measures=("gamma",), bootstrap=0)
    gamma_process.hang_up()
    assert figures.schemes["spans"].gamma is not None
    assert figures.schemes["spans"].gamma.mean_over_items.value is not None
    assert capfd.readouterr() == ("", "")


@posix
@pytest.mark.parametrize("which", ["stand-in", pytest.param("pygamma", marks=with_pygamma)])
def test_it_works_where_standard_input_and_output_are_closed(
    stand_in: StandIn, tmp_path: Path, which: str
) -> None:
    stand_in.write(ANSWERING % DISORDER)
    program = which if which == "pygamma" else str(stand_in.path)
    out = tmp_path / "out"
    subprocess.run(
        [
            "sh",
            "-c",
            'exec "$@" <&- >&-',
            "sh",
            sys.executable,
            "-c",
            SCRIPT,
            program,
            str(out),
        ],
        check=True,
        timeout=300,
    )
    assert float(out.read_text(encoding="utf-8")) < 1


@with_pygamma
def test_the_program_leaves_when_its_owner_is_gone() -> None:
    assert first_line("-P") == {}
