"""Fuzz one reader with atheris: ``python -m tests.fuzz TARGET [OPTION OF LIBFUZZER ...]``.

For example ``python -m tests.fuzz state -max_total_time=300``. What was found lies in the working
folder as ``crash-…``, ``timeout-…`` or ``oom-…``; fixed, it belongs into ``tests/fuzz/found``.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["potato_iaa.loaders"]):
    from tests.fuzz.changes import changed, has_form
    from tests.fuzz.targets import FOUND, LEFT, TARGETS, Trial

LONGEST = 1 << 14
LIMITS = ("-timeout=10", "-rss_limit_mb=1500", f"-max_len={LONGEST}")
# Measuring takes several times as long as reading, which is what is fuzzed.
ONE_OF = 8
SHARED_MEMORY = Path("/dev/shm")


def main(arguments: list[str]) -> None:
    """Fuzz the target that is the first argument; libFuzzer takes the others."""
    if not arguments or arguments[0] not in TARGETS:
        sys.exit(f"name one of these targets: {', '.join(TARGETS)}.")
    name, options = arguments[0], arguments[1:]
    # libFuzzer ends the process without a chance to clean up, so a folder is used again.
    here = SHARED_MEMORY if SHARED_MEMORY.is_dir() else Path(tempfile.gettempdir())
    home = here / f"potato_iaa_fuzz_{name}"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(mode=0o700)
    trial = Trial.of(name, home / "project", one_of=ONE_OF)
    corpus = home / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(seeds(name, trial)):
        (corpus / f"seed-{number}").write_bytes(seed)

    def one_input(content: bytes) -> None:
        trial.try_bytes(content)

    form = TARGETS[name].form
    atheris.Setup(
        [sys.argv[0], *LIMITS, *options, str(corpus)],
        one_input,
        custom_mutator=mutator(form) if has_form(form) else None,
    )
    atheris.Fuzz()


def mutator(form: str) -> Callable[[bytes, int, int], bytes]:
    """Changes bytes, or every other time what the bytes stand for if they are well-formed."""

    def mutate(content: bytes, longest: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if chance.random() < 0.5:
            with suppress(Exception):
                return changed(content, form, chance)[:longest]
        return bytes(atheris.Mutate(content, longest))

    return mutate


def seeds(name: str, trial: Trial) -> list[bytes]:
    """The files to begin with, and what was found before."""
    target = trial.target
    files = [file for pattern in target.seeds for file in sorted(LEFT.glob(pattern))]
    found = sorted((FOUND / name).glob("*"))
    return [file.read_bytes() for file in (trial.folder / target.file, *files, *found)]


if __name__ == "__main__":
    main(sys.argv[1:])
