"""What the process of pygamma computes and says, and who may go on without it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from potato_iaa.measures import gamma_process
from potato_iaa.measures.gamma_process import (
    compute,
    pair_weights,
    pygamma_version,
    samples_needed,
    solver,
)

with_pygamma = pytest.mark.skipif(
    pygamma_version() is None, reason="pygamma-agreement is not installed (extra gamma)"
)


def test_the_version_is_that_of_the_package_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name not in installed:
            raise PackageNotFoundError
        return installed[name]

    installed: dict[str, str] = {}
    monkeypatch.setattr(gamma_process, "version", version)
    assert pygamma_version() is None
    installed["pygamma-agreement"] = "0.5.9"
    assert pygamma_version() == "0.5.9"


@pytest.mark.parametrize(("installed", "name"), [("cylp", "CBC"), ("other", "GLPK_MI")])
def test_the_solver_is_cbc_where_cylp_is_installed(
    monkeypatch: pytest.MonkeyPatch, installed: str, name: str
) -> None:
    monkeypatch.setattr(gamma_process, "find_spec", lambda asked: asked == installed or None)
    assert solver() == name


@pytest.mark.parametrize(
    ("disorders", "precision", "samples"),
    [
        # (1.96 · sd / (mean · precision))², rounded up.
        ([1.0, 3.0], 0.1, 97),  # 96.04
        ([1.0, 2.0], 0.2, 11),  # 10.67
        ([2.0, 2.0, 5.0], 0.5, 4),  # 3.41
        ([2.0, 2.0], 0.1, 0),
        ([0.0, 0.0], 0.1, 0),
    ],
)
def test_more_samples_are_needed_the_more_they_differ(
    disorders: list[float], precision: float, samples: int
) -> None:
    assert samples_needed(disorders, precision) == samples


@pytest.mark.parametrize(
    ("alignment", "weights"),
    [
        # ((2 + 4) / (4 + 6))² = .36
        ([((10, 14, 7), (12, 18, 3))], [(3, 7, 0.64)]),
        ([((12, 18, 3), (10, 14, 7))], [(3, 7, 0.64)]),
        # Of three that are aligned each pair weighs half.
        ([((10, 14, 7), None, (12, 18, 3), (10, 14, 7))], [(3, 7, 0.64), (7, 7, 0.5)]),
        ([((5, 9, 7), (5, 9, 7)), ((0, 2, 3), (0, 2, 7))], [(3, 7, 1.0), (7, 7, 1.0)]),
        ([((5, 9, 3), (5, 9, 7)), ((0, 2, 7), (0, 2, 3))], [(3, 7, 2.0)]),
        ([((0, 2, 3), (8, 9, 3))], [(3, 3, 0.0)]),
        ([((0, 2, 3), None)], []),
    ],
)
def test_pairs_weigh_the_less_the_farther_they_are_apart(
    alignment: Any, weights: list[tuple[int, int, float]]
) -> None:
    assert pair_weights(alignment) == [(*labels, pytest.approx(w)) for *labels, w in weights]


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (MemoryError(), "pygamma-agreement needed more than 8 GiB of memory"),
        (ValueError("a b\nc"), "pygamma-agreement failed: ValueError: a b"),
        (KeyError(), "pygamma-agreement failed: KeyError"),
        (ZeroDivisionError(" \n"), "pygamma-agreement failed: ZeroDivisionError"),
    ],
)
def test_a_fault_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, fault: Exception, why: str
) -> None:
    def failing(request: Any) -> Any:
        raise fault

    monkeypatch.setattr(gamma_process, "compute", failing)
    assert gamma_process._answered("{}") == {"why": why}


# What it computes ---------------------------------------------------------------------------------

REQUEST: dict[str, Any] = {
    # One unit of the same label half a length off, and one that has no partner.
    "units": [[[0, 4, 0], [6, 8, 1]], [[2, 6, 0]]],
    "alpha": 1.0,
    "beta": 1.0,
    "delta_empty": 1.0,
    "sampler": "statistical",
    "samples": 5,
    "precision": None,
    "seed": 3,
    "seconds": 600.0,
}


@with_pygamma
@pytest.mark.filterwarnings("ignore")
def test_pygamma_is_asked_for_the_item_first_and_then_for_its_samples() -> None:
    answer = compute(REQUEST)
    assert answer["disorders"][0] == pytest.approx((0.25 + 1) / 1.5, abs=1e-5)
    assert answer["pairs"][0] == [(0, 0, pytest.approx(0.75))]
    assert len(answer["disorders"]) == len(answer["pairs"]) == 6
    assert len(set(answer["disorders"])) > 2
    assert 0 < answer["seconds"] < 600
    json.dumps(answer)


@pytest.mark.parametrize(
    ("units", "choice", "disorder"),
    [
        # d = α·.25 for the pair, Δ∅ for the unit without a partner.
        (REQUEST["units"], {"alpha": 2.0}, (0.5 + 1) / 1.5),
        (REQUEST["units"], {"delta_empty": 0.5}, (0.125 + 0.5) / 1.5),
        # Other labels: β.
        ([[[0, 4, 0]], [[0, 4, 1]]], {"beta": 0.5}, 0.5),
        # The third found nothing: two of three pairs have an empty unit, among 2/3 of a unit each.
        ([[[0, 4, 0]], [[0, 4, 0]], []], {}, 1.0),
    ],
)
@with_pygamma
@pytest.mark.filterwarnings("ignore")
def test_pygamma_weighs_position_label_and_empty_units_as_chosen(
    units: Any, choice: dict[str, float], disorder: float
) -> None:
    answer = compute(REQUEST | choice | {"units": units, "samples": 1})
    assert answer["disorders"][0] == pytest.approx(disorder, abs=1e-5)


@with_pygamma
@pytest.mark.filterwarnings("ignore")
def test_pygamma_draws_the_samples_of_the_seed_and_the_sampler() -> None:
    once, again, seed, sampler = (
        compute(REQUEST | changed)["disorders"]
        for changed in ({}, {}, {"seed": 4}, {"sampler": "shuffle"})
    )
    assert once == again
    assert once[0] == pytest.approx(seed[0]) == pytest.approx(sampler[0])
    assert once[1:] != seed[1:]
    assert once[1:] != sampler[1:]


@with_pygamma
@pytest.mark.filterwarnings("ignore")
def test_pygamma_draws_as_many_samples_as_those_drawn_call_for() -> None:
    drawn = compute(REQUEST)["disorders"]
    needed = samples_needed(drawn[1:], 0.3)
    assert needed > 5
    found = compute(REQUEST | {"precision": 0.3})["disorders"]
    assert len(found) == needed + 1
    assert found[:6] == drawn
    # They are looked at when as many are there as were asked for, and no sooner.
    for samples in (2, 3):
        needed = samples_needed(drawn[1 : samples + 1], 0.1)
        assert needed > samples
        found = compute(REQUEST | {"precision": 0.1, "samples": samples})["disorders"]
        assert len(found) == needed + 1
    # As many as were asked for are drawn in any case.
    assert len(compute(REQUEST | {"precision": 0.99, "samples": 40})["disorders"]) == 41


def test_names_of_annotators_and_labels_sort_as_their_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Continuum:
        def __init__(self) -> None:
            self.annotators: list[str] = []
            self.units: list[tuple[str, object, str]] = []

        def add_annotator(self, name: str) -> None:
            self.annotators.append(name)

        def add(self, annotator: str, segment: object, label: str) -> None:
            self.units.append((annotator, segment, label))

    package = SimpleNamespace(Continuum=Continuum, Segment=lambda *bounds: bounds)
    modules = SimpleNamespace(import_module=lambda name: package)
    monkeypatch.setattr(gamma_process, "importlib", modules)
    found = gamma_process._continuum([[(0, 4, number)] for number in range(12)])
    names = [f"{number:09d}" for number in range(12)]
    assert found.annotators == sorted(names) == names
    assert found.units == [(name, (0, 4), name) for name in names]


@with_pygamma
@pytest.mark.filterwarnings("ignore")
def test_pygamma_is_not_asked_on_when_the_time_is_up() -> None:
    assert compute(REQUEST | {"seconds": 0.0}) == {"overdue": True}


# The program, with another package in pygamma's place ---------------------------------------------

STAND_IN = """
import os
print("printed on import")
os.write(1, b"and past Python")

def CombinedCategoricalDissimilarity(**weights):
    if weights != {"alpha": 1.0, "beta": 1.0, "delta_empty": 1.0}:
        raise ValueError(weights)
"""


def started(tmp_path: Path, package: str) -> subprocess.Popen[str]:
    (tmp_path / "pygamma_agreement.py").write_text(package, encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, "-P", "-W", "ignore", gamma_process.PROGRAM],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def said(tmp_path: Path, package: str, *requests: str) -> list[Any]:
    """What the program says at first and to each request; then its owner is gone, and so is it."""
    with started(tmp_path, package) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        lines = [program.stdout.readline()]
        for request in requests:
            program.stdin.write(f"{request}\n")
            program.stdin.flush()
            lines.append(program.stdout.readline())
        program.stdin.close()
        assert program.stdout.read() == ""
        assert program.wait(timeout=60) == 0
    return [json.loads(line) for line in lines]


def test_the_program_writes_nothing_but_its_answers(tmp_path: Path) -> None:
    why = {"why": "pygamma-agreement failed: KeyError: 'units'"}
    assert said(tmp_path, STAND_IN, "{}", "{}") == [{}, why, why]


def test_a_package_that_fails_is_told_at_once(tmp_path: Path) -> None:
    package = 'raise ImportError("no\\nsolver")'
    why = "pygamma-agreement does not start: ImportError: no"
    assert said(tmp_path, package) == [{"why": why}]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems limit no address space")
def test_the_program_may_take_eight_gib_of_memory(tmp_path: Path) -> None:
    package = "import resource; raise ImportError(resource.getrlimit(resource.RLIMIT_AS))"
    limits = (8 * 1024**3, 8 * 1024**3)
    why = f"pygamma-agreement does not start: ImportError: {limits}"
    assert said(tmp_path, package) == [{"why": why}]


def test_the_program_leaves_when_it_is_idle(tmp_path: Path) -> None:
    package = f"{STAND_IN}\nimport __main__\n__main__.IDLE_SECONDS = 0.1"
    with started(tmp_path, package) as program:
        try:
            assert program.wait(timeout=60) == 0
        finally:
            program.kill()
