"""Our costs per stage, on corpora of several shapes, beside the targets.

    python -m benchmarks.bench                 # everything: about half an hour
    python -m benchmarks.bench --scale 0.1     # a tenth of the items: a few minutes
    python -m benchmarks.bench --only large --repeat 1

Each cost is taken in a process of its own and kept at once: a run that was interrupted goes on
where it stopped, and what was measured with other sources or sizes is measured again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.command import circumstances, limits_of, parsed, parser, publish
from benchmarks.corpora import PAIR_STEPS, SPAN_STEPS, project, sizes
from benchmarks.environments import environment
from benchmarks.measured import (
    HERE,
    ROOT,
    Cost,
    Limits,
    Results,
    fingerprint,
    run_measured,
    run_reporting,
    say,
    table,
)

REPORT = "report, as a process"
ORJSON = "orjson.loads of the same files"
OPERATIONS = "operations"
STARTS = 10
BUSY = 0.5
FULL_STAGES = (
    "read",
    "render",
    "layer",
    "match",
    "exact F1",
    "tokens",
    "unitizing",
    "count",
    "bootstrap",
    "measure, no resamples",
    "measure",
    "write json",
    "write md",
    "write csv",
    "write tex",
    "write html",
)
# Columns of the tables of steps that hold whole numbers.
WHOLE = (0, 5, 6)
STEP_STAGES = ("read", "measure", "write html")
FULL = ("large", "crowd", "one item")
BROWSED = "browsed"
# What is worth knowing where only the reading differs; neither needs anything prepared.
READ_STAGES = ("read",)
SERIES = {"large": "spans", "crowd": "pairs"}
SAMPLE = ROOT / "sample_exports" / "pii_spans"
# The report's second core does what a library's thread would have to wait for: see the CLI.
THREADS = {"OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Target:
    """A bound on something measured: a value, its unit and bound, and how it is found."""

    what: str
    most: float
    unit: str
    value: Callable[[Results], float | None]


def _wall(name: str) -> Callable[[Results], float | None]:
    def value(results: Results) -> float | None:
        cost = results.best(name)
        return None if cost is None or cost.failure else cost.wall

    return value


def _peak(name: str) -> Callable[[Results], float | None]:
    def value(results: Results) -> float | None:
        cost = results.best(name)
        return None if cost is None or cost.failure else cost.peak / 1000

    return value


def _ratio(above: str, below: str) -> Callable[[Results], float | None]:
    def value(results: Results) -> float | None:
        found = _wall(above)(results), _wall(below)(results)
        return None if found[0] is None or found[1] is None else found[0] / found[1]

    return value


TARGETS = (
    Target("large: report", 10.0, "s", _wall(f"large: {REPORT}")),
    Target("large: memory of the report", 1.0, "GB", _peak(f"large: {REPORT}")),
    Target(
        "large: report / orjson.loads of the same files",
        3.0,
        "×",
        _ratio(f"large: {REPORT}", f"large: {ORJSON}"),
    ),
    Target(
        "browsed: report / orjson.loads of the same files",
        3.0,
        "×",
        _ratio(f"browsed: {REPORT}", f"browsed: {ORJSON}"),
    ),
    Target("crowd: report", 20.0, "s", _wall(f"crowd: {REPORT}")),
    Target("crowd: memory of the report", 1.5, "GB", _peak(f"crowd: {REPORT}")),
    Target("one item: report", 5.0, "s", _wall(f"one item: {REPORT}")),
    Target(
        "10 × the spans: report / report",
        11.0,
        "×",
        _ratio(f"large: {REPORT}", f"spans {SPAN_STEPS[0]:,}: {REPORT}"),
    ),
    Target("potato-iaa --help", 0.3, "s", _wall("help")),
    Target("report on sample_exports/pii_spans", 1.5, "s", _wall("pii_spans")),
)


def measure_all(results: Results, chosen: argparse.Namespace, limits: Limits) -> None:
    """Take every cost that is not there yet."""
    with tempfile.TemporaryDirectory(dir=chosen.cache) as scratch:
        out = Path(scratch) / "report"
        if "start" in chosen.only:
            _measure_starts(results, chosen.repeat, limits, out)
        for name, size in sizes(chosen.scale).items():
            stages = wanted_stages(name, chosen.only)
            if stages:
                folder = project(chosen.cache, name, size)
                _measure_corpus(results, name, folder, stages, chosen, limits, out)


def wanted_stages(name: str, only: Sequence[str]) -> tuple[str, ...]:
    """The stages to measure of a corpus: the largest of a series of steps also belongs to it."""
    if name in only:
        return READ_STAGES if name == BROWSED else FULL_STAGES
    series = SERIES.get(name, name.split()[0])
    return STEP_STAGES if series in only else ()


def _measure_starts(results: Results, repeat: int, limits: Limits, out: Path) -> None:
    """The command's start, and a small report; short, so taken more often."""
    results.take("help", max(repeat, STARTS), lambda: run_measured(_command("--help"), limits))
    small = _command("report", str(SAMPLE), "--out", str(out))
    results.take("pii_spans", max(repeat, STARTS), lambda: run_measured(small, limits))


def _measure_corpus(
    results: Results,
    name: str,
    folder: Path,
    stages: Sequence[str],
    chosen: argparse.Namespace,
    limits: Limits,
    out: Path,
) -> None:
    def take(what: str, repeat: int, work: Callable[[], Cost]) -> None:
        results.take(f"{name}: {what}", repeat, work)

    report = _command("report", str(folder), "--out", str(out))
    if name in chosen.only:
        _measure_orjson(take, folder, chosen, limits)
    take(REPORT, chosen.repeat, lambda: run_measured(report, limits))
    wanted = [(stage, chosen.repeat) for stage in stages]
    if stages != READ_STAGES:
        wanted.append((OPERATIONS, 1))
    if all(_enough(results, f"{name}: {stage}", repeat) for stage, repeat in wanted):
        return
    prepared = chosen.cache / "prepared" / f"{folder.name}_{fingerprint(ROOT / 'potato_iaa')}"
    if stages != READ_STAGES and not (prepared / "agreement.pickle").exists():
        failure = run_reporting(_stage("prepare", folder, prepared), limits, THREADS).failure
        if failure:
            say(f"{name}: cannot be measured stage by stage: {failure}")
            return
    for stage, repeat in wanted:
        command = _stage(stage, folder, prepared)
        take(stage, repeat, lambda command=command: run_reporting(command, limits, THREADS))  # type: ignore[misc]


def _enough(results: Results, name: str, repeat: int) -> bool:
    costs = results.runs.get(name, [])
    return len(costs) >= repeat or any(cost.failure for cost in costs)


def _measure_orjson(
    take: Callable[[str, int, Callable[[], Cost]], None],
    folder: Path,
    chosen: argparse.Namespace,
    limits: Limits,
) -> None:
    made = environment(chosen.cache, "orjson", ["orjson"])

    def work() -> Cost:
        if made.failure:
            return Cost(failure=made.failure)
        side = [str(made.python), "-m", "benchmarks.peer_side", "orjson", str(folder)]
        return run_reporting(side, limits)

    take(ORJSON, chosen.repeat, work)


def _command(*arguments: str) -> list[str]:
    """The console script beside the running Python, as a user starts it; else the module."""
    script = Path(sys.executable).with_name("potato-iaa")
    start = [str(script)] if script.exists() else [sys.executable, "-m", "potato_iaa"]
    return [*start, *arguments]


def _stage(name: str, folder: Path, prepared: Path) -> list[str]:
    return [sys.executable, "-m", "benchmarks.stages", name, str(folder), str(prepared)]


def tables(results: Results, scale: float) -> str:
    """Everything that was measured, as Markdown."""
    parts = [told(results, f"scale {scale:g}"), target_table(results, scale)]
    parts += [corpus_table(results, name) for name in (*FULL, BROWSED)]
    parts += [step_table(results, "spans", SPAN_STEPS, "large")]
    parts += [step_table(results, "pairs", PAIR_STEPS, "crowd")]
    return "\n".join(part for part in parts if part)


def told(results: Results, size: str) -> str:
    """When, where and on what it was measured."""
    about = results.header
    busy = f" The machine was busy with other work (load {about['load']:.1f} at the start)."
    return (
        f"Measured on {about['date']} on {about['machine']}: {size}, of {about['repeat']} runs the "
        f"quickest.{busy if about['load'] > BUSY else ''}\n"
    )


def target_table(results: Results, scale: float) -> str:
    """The targets, what was reached, and whether that is enough."""
    rows = []
    for target in TARGETS:
        value = target.value(results)
        if value is not None:
            verdict = "met" if value <= target.most else "**not met**"
            bound = f"{target.most:g} {target.unit}"
            rows.append((target.what, f"{value:.3g} {target.unit}", bound, verdict))
    if not rows:
        return ""
    note = "" if scale == 1 else "\nThe targets are set for scale 1.\n"
    return f"### Targets\n\n{table(('work', 'reached', 'at most', ''), rows)}{note}"


def corpus_table(results: Results, name: str) -> str:
    """The stages of one corpus."""
    rows = []
    for stage in (REPORT, ORJSON, *FULL_STAGES):
        cost = results.best(f"{name}: {stage}")
        if cost is not None:
            rows.append((stage, *_cells(cost)))
    if not rows:
        return ""
    return (
        f"### {name[0].upper()}{name[1:]}\n\n{_what(results, name)}\n"
        f"{table(('stage', 'wall s', 'CPU s', 'peak MB', 'of it before MB'), rows)}"
    )


def _cells(cost: Cost) -> tuple[str, ...]:
    if cost.failure:
        return (cost.failure, "", "", "")
    before = f"{cost.before:,.0f}" if cost.before else ""
    return (f"{cost.wall:.3f}", f"{cost.cpu:.3f}", f"{cost.peak:,.0f}", before)


def _what(results: Results, name: str) -> str:
    """What a corpus holds, in one line."""
    counts: dict[str, int] = {}
    for stage in ("read", OPERATIONS):
        cost = results.best(f"{name}: {stage}")
        counts.update(cost.facts if cost else {})
    names = ("annotators", "items", "passes", "spans", "tokens", "pairs", "comparisons", "edges")
    listed = [f"{counts[one]:,} {one}" for one in names if one in counts]
    return f"{', '.join(listed)}.\n" if listed else ""


def step_table(results: Results, kind: str, steps: Sequence[int], last: str) -> str:
    """Cost against size: how many times the smallest, for the size and for each cost."""
    names = [*(f"{kind} {step:,}" for step in steps[:-1]), last]
    rows = []
    for name in names:
        report, counts = results.best(f"{name}: {REPORT}"), results.best(f"{name}: {OPERATIONS}")
        stages = [results.best(f"{name}: {stage}") for stage in STEP_STAGES]
        if report is None or report.failure or counts is None or counts.failure:
            continue
        walls = [cost.wall if cost and not cost.failure else 0.0 for cost in stages]
        calls = float(counts.facts["calls_to_measure"])
        size = float(counts.facts[kind])
        rows.append([size, report.wall, *walls, calls, report.peak])
    if not rows:
        return ""
    shown = [
        [
            f"{value:,.0f}" if place in WHOLE else f"{value:.2f} ({value / (first or 1):.1f} ×)"
            for place, (value, first) in enumerate(zip(row, rows[0], strict=True))
        ]
        for row in rows
    ]
    head = (kind, "report s", "read s", "measure s", "write html s", "calls to measure", "peak MB")
    return f"### Cost against {kind}\n\n{table(head, shown, numbers_from=0)}"


def arguments() -> argparse.Namespace:
    """The command line."""
    kinds = ("start", *FULL, BROWSED, "spans", "pairs")
    given = parser("bench", __doc__, repeat=3, seconds=1800.0, memory=16.0)
    given.add_argument("--scale", type=float, default=1.0, help="times the items of each corpus")
    given.add_argument("--only", nargs="+", choices=kinds, default=kinds, help="what to measure")
    return parsed(given)


def main() -> None:
    """Measure what is missing, and print the tables."""
    chosen = arguments()
    of = f"{fingerprint(ROOT / 'potato_iaa', HERE / 'stages.py', HERE / 'generate.py')}"
    of += f" scale {chosen.scale:g}"
    about = circumstances(chosen, scale=chosen.scale)
    results = Results.open(chosen.results, of, about, fresh=chosen.fresh)
    limits = limits_of(chosen)
    say(f"{about['machine']}; {', '.join(f'{k} {v}' for k, v in asdict(limits).items())}")
    measure_all(results, chosen, limits)
    results.save()
    publish(tables(results, chosen.scale), chosen)


if __name__ == "__main__":
    main()
