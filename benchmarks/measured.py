"""Costs of work that runs in a process of its own, and results that survive an interrupted run."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

MB = 1e6
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PEAK_RESET = "5"
LOOK_EVERY = 0.02

Result = TypeVar("Result")


@dataclass(frozen=True)
class Cost:
    """What one run took: seconds of wall and CPU, and megabytes (10⁶ bytes).

    ``peak`` is the most memory the process held during the work, ``before`` what it held when the
    work began (the interpreter, imports, inputs). ``facts`` are counts and figures; ``failure``
    says why there is no cost.
    """

    wall: float = 0.0
    cpu: float = 0.0
    peak: float = 0.0
    before: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)
    failure: str = ""


def watch(work: Callable[[], Result]) -> tuple[Cost, Result]:
    """Run ``work`` and take its cost within this process."""
    gc.collect()
    before = _memory("VmRSS")
    _reset_peak()
    wall, cpu = time.perf_counter(), _cpu_seconds()
    result = work()
    cost = Cost(
        wall=time.perf_counter() - wall,
        cpu=_cpu_seconds() - cpu,
        peak=_memory("VmHWM"),
        before=before,
    )
    return cost, result


def _cpu_seconds() -> float:
    """What this process and its children that are gone have used."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _reset_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text(PEAK_RESET)
    except OSError:
        return


def _memory(name: str) -> float:
    """A line of /proc/self/status in MB; elsewhere than on Linux, the peak since the start."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MB
    return next(int(line.split()[1]) * 1024 / MB for line in lines if line.startswith(name))


@dataclass(frozen=True)
class Limits:
    """What a process may take before it is given up: seconds, and 10⁹ bytes of address space."""

    seconds: float = 1800.0
    memory: float = 16.0


def run_process(
    command: Sequence[str], limits: Limits, environment: Mapping[str, str] | None = None
) -> tuple[Cost, str]:
    """Run a command; its cost as a process, children included, and what it printed."""
    wall = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        start_new_session=True,
        preexec_fn=lambda: _limit(limits.memory),
    )
    try:
        printed, complaint = process.communicate(timeout=limits.seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Cost(failure=f"stopped after {limits.seconds:.0f} s"), ""
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    wall = time.perf_counter() - wall
    if process.returncode:
        return Cost(wall=wall, failure=_reason(process.returncode, complaint)), printed
    return Cost(wall=wall), printed


def run_measured(command: Sequence[str], limits: Limits) -> Cost:
    """The cost of a whole command, start and imports included.

    A process between this one and the command tells the memory of the command from that of others.
    """
    wrapped = [sys.executable, str(HERE / "measured.py"), *command]
    outer, printed = run_process(wrapped, limits)
    return outer if outer.failure else Cost(**json.loads(printed.splitlines()[-1]))


def run_reporting(
    command: Sequence[str], limits: Limits, environment: Mapping[str, str] | None = None
) -> Cost:
    """The cost that a command took within itself, and printed as JSON in its last line."""
    outer, printed = run_process(command, limits, environment)
    return outer if outer.failure else Cost(**json.loads(printed.splitlines()[-1]))


def _limit(memory: float) -> None:
    most = int(memory * 1e9)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _reason(code: int, complaint: str) -> str:
    lines = [line for line in complaint.splitlines() if line.strip()]
    last = lines[-1].strip()[:200] if lines else f"exit code {code}"
    return f"out of memory ({last})" if "MemoryError" in complaint else last


def _measure_command(command: Sequence[str]) -> Cost:
    wall = time.perf_counter()
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    wall = time.perf_counter() - wall
    if ended.returncode:
        failure = _reason(ended.returncode, ended.stderr.decode("utf-8", "replace"))
        return Cost(wall=wall, failure=failure)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1 if sys.platform == "darwin" else 1024
    peak = max(used.ru_maxrss * unit / MB, _peak_of(command))
    return Cost(wall=wall, cpu=used.ru_utime + used.ru_stime, peak=peak, before=0.0)


def _peak_of(command: Sequence[str]) -> float:
    """The most MB that a command and its children held together, looked at again and again.

    What they share counts once. It is run for this alone, for looking takes time. 0 elsewhere than
    on Linux.
    """
    peak = 0.0
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        while process.poll() is None:
            peak = max(peak, _held_by_session(process.pid))
            time.sleep(LOOK_EVERY)
    return peak


def _held_by_session(session: int) -> float:
    held = 0.0
    for folder in Path("/proc").glob("[0-9]*"):
        # A process can be gone at any moment.
        with suppress(OSError):
            _, _, status = (folder / "stat").read_text().rpartition(")")
            if int(status.split()[3]) == session:
                lines = (folder / "smaps_rollup").read_text().splitlines()
                held += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return held * 1024 / MB


def fingerprint(*folders: Path) -> str:
    """A hash of the Python sources in ``folders`` (or of single files): 12 digits."""
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


@dataclass(frozen=True)
class Results:
    """Costs by name in a JSON file, written after each; kept only for the same ``of``.

    ``of`` names the sources, sizes and versions that a cost depends on: what was measured for
    another one is measured again.
    """

    file: Path
    of: str
    runs: dict[str, list[Cost]]
    header: dict[str, Any]

    @classmethod
    def open(cls, file: Path, of: str, header: dict[str, Any], *, fresh: bool) -> Results:
        """The results in ``file``, empty if there are none for ``of`` or ``fresh`` is wanted."""
        runs: dict[str, list[Cost]] = {}
        if file.exists() and not fresh:
            stored = json.loads(file.read_text(encoding="utf-8"))
            if stored.get("of") == of:
                runs = {
                    name: [Cost(**cost) for cost in costs] for name, costs in stored["runs"].items()
                }
        return cls(file, of, runs, header)

    def take(self, name: str, repeat: int, work: Callable[[], Cost]) -> None:
        """Measure ``name`` until there are ``repeat`` costs of it; a failure is not tried again."""
        costs = self.runs.setdefault(name, [])
        while len(costs) < repeat and not any(cost.failure for cost in costs):
            costs.append(work())
            self.save()
        say(f"{name}: {summary(best(costs))}")

    def save(self) -> None:
        """Write the file, whole or not at all."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        runs = {name: [asdict(cost) for cost in costs] for name, costs in self.runs.items()}
        beside = self.file.with_suffix(".part")
        stored = {"of": self.of, **self.header, "runs": runs}
        beside.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        beside.replace(self.file)

    def best(self, name: str) -> Cost | None:
        """The quickest run of ``name``, with the highest peak of all; ``None``: not measured."""
        costs = self.runs.get(name)
        return best(costs) if costs else None


def best(costs: Sequence[Cost]) -> Cost:
    """The quickest of several runs, with the highest peak among them."""
    failed = [cost for cost in costs if cost.failure]
    if failed:
        return failed[0]
    quickest = min(costs, key=lambda cost: cost.wall)
    return Cost(**{**asdict(quickest), "peak": max(cost.peak for cost in costs)})


def summary(cost: Cost) -> str:
    """A cost in one line."""
    if cost.failure:
        return cost.failure
    return f"{cost.wall:.3f} s wall, {cost.cpu:.3f} s CPU, {cost.peak:,.0f} MB"


def say(line: str) -> None:
    """Tell how far the run is, on stderr."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def machine() -> str:
    """The machine in one line: processor, cores, memory, system, Python."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    except (ValueError, OSError):
        memory = 0.0
    return (
        f"{_processor()}, {cores} cores, {memory:.0f} GB, {platform.system()} "
        f"{platform.machine()}, Python {platform.python_version()}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"


def load() -> float:
    """How many processes wanted a core over the last minute: above 0.5 others are at work."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, numbers_from: int = 1) -> str:
    """A Markdown table; columns from ``numbers_from`` on are set to the right."""
    rule = ["---" if place < numbers_from else "---:" for place in range(len(head))]
    cells = ([cell.replace("|", "\\|") for cell in row] for row in (head, rule, *rows))
    return "\n".join("| " + " | ".join(row) + " |" for row in cells) + "\n"


def put_between(file: Path, name: str, content: str) -> None:
    """Replace what stands between ``<!-- name -->`` and ``<!-- /name -->`` in a file."""
    text = file.read_text(encoding="utf-8")
    before, mark, rest = text.partition(f"<!-- {name} -->\n")
    _, close, after = rest.partition(f"<!-- /{name} -->")
    if not mark or not close:
        raise SystemExit(f"{file.name}: there is no <!-- {name} --> … <!-- /{name} --> in it.")
    file.write_text(before + mark + "\n" + content + "\n" + close + after, encoding="utf-8")


if __name__ == "__main__":
    print(json.dumps(asdict(_measure_command(sys.argv[1:]))))
