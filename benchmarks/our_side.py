"""One figure of ours on a pickled corpus, in a process of its own.

    python -m benchmarks.our_side NAME FOLDER

prints its cost as JSON, with the figure among the facts.
"""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.figures import exact_f1, four_f1, token_alpha, u_alpha
from benchmarks.measured import watch
from potato_iaa.corpus import Corpus

FIGURES: dict[str, Callable[[Corpus], float | None]] = {
    "exact F1": lambda corpus: exact_f1(corpus).averages.mean_over_pairs.value,
    "four F1s": lambda corpus: four_f1(corpus)[0].averages.mean_over_pairs.value,
    "token alpha": token_alpha,
    "uα": u_alpha,
}


def main() -> None:
    """Run the figure that the command line names, and print its cost."""
    name, folder = sys.argv[1:]
    corpus = pickle.loads((Path(folder) / "corpus.pickle").read_bytes())
    cost, figure = watch(lambda: FIGURES[name](corpus))
    sys.stdout.write(json.dumps(asdict(replace(cost, facts={"figure": figure}))) + "\n")


if __name__ == "__main__":
    main()
