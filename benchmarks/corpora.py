"""The generated projects that are measured, by name, at any scale, kept in a cache folder."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict, replace
from pathlib import Path
from zlib import crc32

from benchmarks.generate import Size
from benchmarks.measured import HERE, Limits, fingerprint, run_process, say

LARGE = Size(annotators=5, items=10_000, spans=21.0, words=300)
CROWD = Size(annotators=3600, items=16_000, spans=3.0, words=30, per_item=5, together=0.375)
HUGE = Size(
    annotators=10,
    per_item=10,
    items=1,
    words=14_700,
    spans=1850.0,
    labels=8,
    nested=0.3,
    identical=0.1,
    depth=4,
)
# Real states hold about 3.6 browsing events per span beside the spans: most of their bytes.
BROWSED = replace(LARGE, interactions=70)
SPAN_STEPS = (1_000, 3_000, 10_000)
PAIR_STEPS = (1_600, 4_800, 16_000)


def sizes(scale: float) -> dict[str, Size]:
    """Every corpus by name, with ``scale`` times the items (of the one huge item: times the words).

    ``browsed`` is the large corpus with the browsing data that Potato leaves in the states.
    ``spans N`` are the large corpus with N items, ``pairs N`` the crowd with N; the last of either
    is the large corpus or the crowd itself.
    """
    return {
        "large": _scaled(LARGE, LARGE.items, scale),
        "browsed": _scaled(BROWSED, BROWSED.items, scale),
        "crowd": _crowd(CROWD.items, scale),
        "one item": replace(
            HUGE, words=max(round(HUGE.words * scale), 100), spans=max(HUGE.spans * scale, 10.0)
        ),
        **{f"spans {step:,}": _scaled(LARGE, step, scale) for step in SPAN_STEPS[:-1]},
        **{f"pairs {step:,}": _crowd(step, scale) for step in PAIR_STEPS[:-1]},
    }


def _scaled(size: Size, items: int, scale: float) -> Size:
    return replace(size, items=max(round(items * scale), 2))


def _crowd(items: int, scale: float) -> Size:
    annotators = round(CROWD.annotators * items / CROWD.items * scale)
    return replace(_scaled(CROWD, items, scale), annotators=max(annotators, CROWD.per_item + 1))


def project(cache: Path, name: str, size: Size) -> Path:
    """The folder of a generated project, written when it is not there yet."""
    folder = cache / "projects" / f"{name.replace(' ', '_').replace(',', '')}_{identity(size)}"
    done = folder / "size.json"
    if not done.exists():
        say(f"{name}: generating {folder.name}")
        shutil.rmtree(folder, ignore_errors=True)
        options = [
            part
            for option, value in asdict(size).items()
            for part in (f"--{option.replace('_', '-')}", str(value))
        ]
        command = [sys.executable, "-m", "benchmarks.generate", str(folder), *options]
        cost, _ = run_process(command, Limits())
        if cost.failure:
            raise SystemExit(f"{name}: the generator failed: {cost.failure}")
        done.write_text(json.dumps(asdict(size)) + "\n", encoding="utf-8")
    return folder


def identity(size: Size) -> str:
    """A short name for a size and the generator's version: the same in every run."""
    told = json.dumps(asdict(size), sort_keys=True) + fingerprint(HERE / "generate.py")
    return f"{crc32(told.encode()):08x}"
