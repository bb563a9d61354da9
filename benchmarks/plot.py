"""Cost against spans and against pairs, drawn from the bench's results.

python -m benchmarks.plot                  # results/bench.json → cost.svg
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

from benchmarks.bench import OPERATIONS, REPORT, STEP_STAGES
from benchmarks.corpora import PAIR_STEPS, SPAN_STEPS
from benchmarks.measured import HERE, Cost, best

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Runs = dict[str, list[Cost]]
Points = list[tuple[float, float]]
COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73")


def series(runs: Runs, kind: str, names: Sequence[str], stage: str) -> Points:
    """Size and seconds of one stage, for the corpora that have both."""
    points = []
    for name in names:
        counts, cost = runs.get(f"{name}: {OPERATIONS}"), runs.get(f"{name}: {stage}")
        if counts and cost and not best(counts).failure and not best(cost).failure:
            points.append((float(best(counts).facts[kind]), best(cost).wall))
    return sorted(points)


def draw(axes: Axes, runs: Runs, kind: str, names: Sequence[str]) -> None:
    """One line per stage, and the slope that costs have that grow with the size."""
    markers = ("o", "s", "^", "D")
    for place, stage in enumerate((REPORT, *STEP_STAGES)):
        points = series(runs, kind, names, stage)
        if points:
            sizes, seconds = zip(*points, strict=True)
            axes.plot(
                sizes,
                seconds,
                marker=markers[place],
                markersize=4,
                color=COLOURS[place],
                label=stage,
            )
    whole = series(runs, kind, names, REPORT)
    if whole:
        size, second = whole[-1]
        first = whole[0][0]
        axes.plot(
            (first, size),
            (second * first / size, second),
            linestyle=":",
            color="grey",
            label="in proportion",
        )
    axes.set(xscale="log", yscale="log", xlabel=kind)
    axes.grid(visible=True, which="major", linewidth=0.3)


def main() -> None:
    """Read the results and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--results", type=Path, default=HERE / "results" / "bench.json")
    parser.add_argument("--out", type=Path, default=HERE / "cost.svg")
    chosen = parser.parse_args()
    stored: dict[str, Any] = json.loads(chosen.results.read_text(encoding="utf-8"))
    runs = {name: [Cost(**cost) for cost in costs] for name, costs in stored["runs"].items()}
    plt.rcParams.update({"svg.hashsalt": "cost", "font.size": 9})
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
    draw(panels[0], runs, "spans", [*(f"spans {step:,}" for step in SPAN_STEPS[:-1]), "large"])
    draw(panels[1], runs, "pairs", [*(f"pairs {step:,}" for step in PAIR_STEPS[:-1]), "crowd"])
    panels[0].set_ylabel("seconds")
    panels[1].legend(frameon=False, fontsize=8)
    figure.savefig(chosen.out, metadata={"Date": None})


if __name__ == "__main__":
    main()
