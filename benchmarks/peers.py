"""Other packages and ours on the same data in the same run: time, memory, and the figures.

    python -m benchmarks.peers                      # the large corpus: an hour or so
    python -m benchmarks.peers --items 500          # a few minutes
    python -m benchmarks.peers --only krippendorff seqeval

Every package is installed from PyPI into an environment of its own in the cache folder; one that
cannot be installed or run is listed with the reason. Inputs are made beforehand, in the form that
each package takes, and not counted on either side. An interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.bench import THREADS, told
from benchmarks.command import circumstances, limits_of, parsed, parser, publish
from benchmarks.corpora import LARGE, identity, project
from benchmarks.environments import Environment, environment
from benchmarks.generate import Size
from benchmarks.measured import (
    HERE,
    ROOT,
    Cost,
    Limits,
    Results,
    fingerprint,
    run_process,
    run_reporting,
    say,
    table,
)

SAME = 1e-9


@dataclass(frozen=True)
class Peer:
    """A package, what it is given, the figure of ours that it stands beside, and why they differ.

    ``most``: the most items it is given, where its cost grows out of bounds. ``target``: how many
    times our time and memory its own should be at least.
    """

    side: str
    requirements: tuple[str, ...]
    kind: str
    shape: str
    ours: str
    note: str = ""
    most: int | None = None
    target_time: float | None = None
    target_memory: float | None = None

    @property
    def package(self) -> str:
        """The name of the package."""
        return self.requirements[0]


PEERS = (
    Peer(
        "bratiaa",
        ("bratiaa",),
        "brat",
        "all",
        "exact F1",
        "reads each of its files once per pair",
        target_time=50.0,
    ),
    Peer(
        "bratiaa, counting",
        ("bratiaa",),
        "sets",
        "all",
        "exact F1",
        "its counting alone, its files read beforehand",
    ),
    Peer(
        "nervaluate",
        ("nervaluate",),
        "entities",
        "all",
        "four F1s",
        "a span can take the partner of a later one that fits exactly: fewer matches where spans "
        "overlap",
    ),
    Peer(
        "nervaluate, strict",
        ("nervaluate",),
        "entities",
        "flat",
        "exact F1",
        "its strict strategy alone",
    ),
    Peer("seqeval", ("seqeval",), "tags", "flat", "exact F1", "BIO tags hold no overlapping spans"),
    Peer(
        "krippendorff",
        ("krippendorff",),
        "alpha",
        "all",
        "token alpha",
        "is given codes; ours starts from texts and spans; needs memory for tokens × values²",
        most=2000,
        target_time=10.0,
        target_memory=10.0,
    ),
    Peer(
        "simpledorff",
        ("simpledorff", "pandas"),
        "alpha",
        "all",
        "token alpha",
        "is given codes; ours starts from texts and spans",
    ),
    Peer(
        "krippendorff-unitized-alpha",
        ("krippendorff-unitized-alpha",),
        "units",
        "flat",
        "uα",
        "compares every unit with every other",
        most=30,
    ),
    Peer(
        "krippendorff-unitized-alpha, by item",
        ("krippendorff-unitized-alpha",),
        "units",
        "flat",
        "uα",
        "one object per item, whose coincidences this bench adds up",
    ),
)


@dataclass(frozen=True)
class Inputs:
    """Where the dump lies, and what is made of it."""

    folder: Path
    items: int

    def made(self, kind: str, peer: Peer) -> Path:
        """The folder with an input for ``peer``, made when it is not there yet."""
        items = self.number(peer)
        folder = self.folder / f"{kind}_{peer.shape}_{items}"
        if not (folder / "made").exists():
            make = [sys.executable, "-m", "benchmarks.dump", str(self.folder), kind, str(items)]
            cost, _ = run_process([*make, peer.shape, str(folder)], Limits(memory=64.0))
            if cost.failure:
                raise SystemExit(f"the input {folder.name} cannot be made: {cost.failure}")
        return folder

    def number(self, peer: Peer) -> int:
        """How many items ``peer`` is given."""
        return self.items if peer.most is None else min(peer.most, self.items)


def dumped(cache: Path, size: Size) -> Path:
    """The folder with the neutral dump of the corpus."""
    folder = cache / "peers" / f"{identity(size)}_{fingerprint(HERE / 'dump.py')}"
    if not (folder / "corpus.json").exists():
        source = project(cache, "large", size)
        command = [sys.executable, "-m", "benchmarks.dump", str(source), str(folder)]
        cost, _ = run_process(command, Limits(memory=64.0))
        if cost.failure:
            raise SystemExit(f"the corpus cannot be dumped: {cost.failure}")
    return folder


def measure_all(
    results: Results, inputs: Inputs, chosen: argparse.Namespace, limits: Limits
) -> None:
    """Take every cost that is not there yet, a package and ours one after the other."""
    for peer in PEERS:
        if peer.package not in chosen.only:
            continue
        made = environment(chosen.cache, peer.package, peer.requirements)
        results.header["versions"][peer.package] = made.version
        results.take(
            f"{peer.side}: theirs",
            chosen.repeat,
            lambda peer=peer, made=made: _theirs(peer, made, inputs, limits),  # type: ignore[misc]
        )
        results.take(
            f"{peer.side}: ours",
            max(chosen.repeat, 3),
            lambda peer=peer: _ours(peer, inputs, limits),  # type: ignore[misc]
        )


def _theirs(peer: Peer, made: Environment, inputs: Inputs, limits: Limits) -> Cost:
    if made.failure:
        return Cost(failure=made.failure)
    folder = inputs.made(peer.kind, peer)
    side = [str(made.python), "-m", "benchmarks.peer_side", peer.side, str(folder)]
    return run_reporting(side, limits)


def _ours(peer: Peer, inputs: Inputs, limits: Limits) -> Cost:
    folder = inputs.made("ours", peer)
    side = [sys.executable, "-m", "benchmarks.our_side", peer.ours, str(folder)]
    return run_reporting(side, limits, THREADS)


def tables(results: Results, inputs: Inputs) -> str:
    """Everything that was measured, as Markdown."""
    costs, figures, targets = [], [], []
    for peer in PEERS:
        theirs = results.best(f"{peer.side}: theirs")
        ours = results.best(f"{peer.side}: ours")
        if theirs is None or ours is None:
            continue
        name = _name(peer, results)
        items = f"{inputs.number(peer):,}"
        costs.append((name, peer.ours, items, *_cost_cells(theirs, ours)))
        figures.append((name, *_figure_cells(theirs, ours), peer.note))
        targets += _targets(peer, theirs, ours)
    head = ("package", "beside our", "items", "its s", "our s", "time ratio")
    memory = ("its peak MB", "our peak MB", "memory ratio")
    parts = [told(results, f"{inputs.items:,} items of the large corpus")]
    if targets:
        parts.append(table(("ratio", "reached", "at least", ""), targets))
    parts.append(table((*head, *memory), costs, numbers_from=2))
    parts.append(
        table(("package", "its figure", "our figure", "", "note"), figures, numbers_from=5)
    )
    return "\n".join(parts)


def _name(peer: Peer, results: Results) -> str:
    version = results.header["versions"].get(peer.package, "")
    return peer.side.replace(peer.package, f"{peer.package} {version}".strip(), 1)


def _cost_cells(theirs: Cost, ours: Cost) -> tuple[str, ...]:
    if theirs.failure or ours.failure:
        seconds = "" if ours.failure else f"{ours.wall:.3f}"
        return (theirs.failure or f"ours: {ours.failure}", seconds, "", "", "", "")
    return (
        f"{theirs.wall:.3f}",
        f"{ours.wall:.3f}",
        f"{theirs.wall / ours.wall:,.0f}",
        f"{theirs.peak:,.0f}",
        f"{ours.peak:,.0f}",
        f"{theirs.peak / ours.peak:.1f}",
    )


def _figure_cells(theirs: Cost, ours: Cost) -> tuple[str, ...]:
    one, other = theirs.facts.get("figure"), ours.facts.get("figure")
    if one is None or other is None:
        return ("", "" if other is None else f"{other:.12f}", "")
    same = abs(one - other) <= SAME
    verdict = "equal to 1e-9" if same else f"differs by {one - other:+.2e}"
    return (f"{one:.12f}", f"{other:.12f}", verdict)


def _targets(peer: Peer, theirs: Cost, ours: Cost) -> list[tuple[str, ...]]:
    if theirs.failure or ours.failure:
        return []
    rows = []
    for what, least, reached in (
        ("time", peer.target_time, theirs.wall / ours.wall),
        ("memory", peer.target_memory, theirs.peak / ours.peak),
    ):
        if least is not None:
            verdict = "met" if reached >= least else "**not met**"
            rows.append((f"{peer.side} / our {peer.ours}: {what}", reached, least, verdict))
    return [(name, f"{reached:.1f} ×", f"{least:g} ×", word) for name, reached, least, word in rows]


def arguments() -> argparse.Namespace:
    """The command line."""
    packages = tuple(dict.fromkeys(peer.package for peer in PEERS))
    given = parser("peers", __doc__, repeat=1, seconds=3600.0, memory=24.0)
    given.add_argument("--items", type=int, default=LARGE.items, help="items of the corpus")
    given.add_argument("--only", nargs="+", choices=packages, default=packages)
    return parsed(given)


def main() -> None:
    """Measure what is missing, and print the tables."""
    chosen = arguments()
    size = replace(LARGE, items=chosen.items)
    sources = (ROOT / "potato_iaa", HERE / "dump.py", HERE / "peer_side.py", HERE / "generate.py")
    about = circumstances(chosen, scale=chosen.items / LARGE.items) | {"versions": {}}
    of = f"{fingerprint(*sources)} items {chosen.items}"
    results = Results.open(chosen.results, of, about, fresh=chosen.fresh)
    say(f"{about['machine']}; {chosen.items:,} items")
    inputs = Inputs(dumped(chosen.cache, size), chosen.items)
    measure_all(results, inputs, chosen, limits_of(chosen))
    results.save()
    publish(tables(results, inputs), chosen)


if __name__ == "__main__":
    main()
