"""Mutate modules and list the mutants that no test notices."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from tests.mutation.operators import mutants
from tests.mutation.plans import PLANS


def main() -> None:
    """Run the mutants of every named module, of all that have a plan if none is named."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="paths of modules")
    parser.add_argument("--only", type=int, nargs="+", default=[], help="numbers of mutants")
    parser.add_argument("--tests", nargs="+", help="other tests than those of the plans")
    asked = parser.parse_args()
    # One thread each, before numpy is loaded.
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    from tests.mutation.running import settle

    settle()
    for module in asked.modules or PLANS:
        _run_module(Path(module), tuple(asked.tests or PLANS[module]), set(asked.only))


def _run_module(path: Path, tests: tuple[str, ...], only: set[int]) -> None:
    from tests.mutation.running import load_ahead, survives

    seconds = load_ahead(tests)
    print(f"{path}: {seconds:.1f} s without any mutant", flush=True)
    tried = survived = 0
    for mutant in mutants(path.read_text(encoding="utf-8")):
        if only and mutant.number not in only:
            continue
        tried += 1
        if survives(path, mutant.source, tests, 10 + 3 * seconds):
            survived += 1
            print(f"  {mutant.number:4}  line {mutant.line}: {mutant.change}", flush=True)
    print(f"{path}: {tried} mutants, {tried - survived} killed, {survived} survived", flush=True)


if __name__ == "__main__":
    main()
