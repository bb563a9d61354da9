"""One stage of our work on one project, in a process of its own.

    python -m benchmarks.stages STAGE PROJECT CACHE

prints its cost as JSON. What a stage works on is prepared before and not counted: ``prepare``
reads and measures the project once, and leaves both results in the cache folder.
"""

from __future__ import annotations

import json
import pickle
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figures import exact_f1, ground_of, match_all, only_layer
from benchmarks.measured import watch
from potato_iaa import read_project
from potato_iaa.blocks import cut
from potato_iaa.corpus import Corpus
from potato_iaa.layer import Layer
from potato_iaa.loaders.items import read_items
from potato_iaa.loaders.project import read_config
from potato_iaa.loaders.rendering import item_texts
from potato_iaa.matcher import overlap_edges
from potato_iaa.measures.agreement import Agreement, Settings
from potato_iaa.measures.bootstrap import item_weights
from potato_iaa.measures.counting import count_block, join
from potato_iaa.measures.f1 import f1_figures
from potato_iaa.measures.measuring import measure
from potato_iaa.measures.spread import in_threads
from potato_iaa.measures.token_figures import count_tokens
from potato_iaa.measures.tokens import make_tokens
from potato_iaa.measures.unitizing import count_units, unitizing_figures
from potato_iaa.reporter.files import report_files

RESAMPLES = 1000

Work = Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class Place:
    """The project on disk, and the folder of what is prepared of it."""

    project: Path
    cache: Path

    def corpus(self) -> Corpus:
        """The corpus, as ``prepare`` left it."""
        found: Corpus = pickle.loads((self.cache / "corpus.pickle").read_bytes())
        return found

    def agreement(self) -> Agreement:
        """The agreement, as ``prepare`` left it."""
        found: Agreement = pickle.loads((self.cache / "agreement.pickle").read_bytes())
        return found


def prepare(place: Place) -> Work:
    """Read and measure the project once, and keep both results."""

    def work() -> dict[str, Any]:
        place.cache.mkdir(parents=True, exist_ok=True)
        corpus = read_project(place.project)
        (place.cache / "corpus.pickle").write_bytes(pickle.dumps(corpus))
        (place.cache / "agreement.pickle").write_bytes(pickle.dumps(measure(corpus)))
        return {}

    return work


def read(place: Place) -> Work:
    """From disk to the corpus: configuration, items, texts, states, ledger."""

    def work() -> dict[str, Any]:
        corpus = read_project(place.project)
        return {
            "items": len(corpus.items),
            "passes": len(corpus.passes),
            "spans": len(corpus.spans),
            "annotators": len(corpus.annotators),
        }

    return work


def render(place: Place) -> Work:
    """Read the items and make the texts that the annotators saw; a part of ``read``."""
    project = read_config(place.project)

    def work() -> dict[str, Any]:
        records = read_items(project).records.values()
        texts = [
            item_texts(record, text_key=project.text_key, display=project.display)
            for record in records
        ]
        return {"texts": sum(len(of_item) for of_item in texts)}

    return work


def layer(place: Place) -> Work:
    """From the corpus to sorted arrays of codes."""
    corpus = place.corpus()
    return lambda: {"parts": len(only_layer(corpus).part_span)}


def match(place: Place) -> Work:
    """Candidates and one-to-one matchings of four rules."""
    own = only_layer(place.corpus())
    ground = ground_of(own)

    def work() -> dict[str, Any]:
        counts = match_all(own, ground)
        return {
            "comparisons": len(ground.comparisons.item),
            "pairs": len(ground.comparisons.pair_a),
            "matches": [int(rule.tp_a.sum()) for rule in counts],
        }

    return work


def exact(place: Place) -> Work:
    """Exact F1 alone, from the corpus on, without resamples."""
    corpus = place.corpus()
    return lambda: {"f1": exact_f1(corpus).averages.mean_over_pairs.value}


def tokens(place: Place) -> Work:
    """Tokens, their codings, and the coincidences of every alpha over tokens."""
    own = only_layer(place.corpus())
    comparisons = ground_of(own).comparisons

    def work() -> dict[str, Any]:
        made = make_tokens(own)
        count_tokens(own, made, comparisons, judged=False)
        return {"tokens": len(made.start), "marks": len(made.mark_token)}

    return work


def unitizing(place: Place) -> Work:
    """The unitizing alphas of 2016, without resamples."""
    own = only_layer(place.corpus())
    weights = np.ones((len(own.items), 1))

    def work() -> dict[str, Any]:
        figures = unitizing_figures(own, count_units(own), weights)
        return {"overlapping_passes": figures.overlapping_passes}

    return work


def count(place: Place) -> Work:
    """Everything that is counted, block by block, in threads, and the counts joined."""
    own = only_layer(place.corpus())
    settings = Settings()

    def work() -> dict[str, Any]:
        blocks = cut(own)
        tallies = join(list(in_threads(partial(count_block, settings), blocks)))
        return {"blocks": len(blocks), "disagreements": len(tallies.disagreements.kind)}

    return work


def bootstrap(place: Place) -> Work:
    """1,000 resamples of items, and the four F1s under all of them."""
    own = only_layer(place.corpus())
    ground = ground_of(own)
    counts = match_all(own, ground)

    def work() -> dict[str, Any]:
        weights = item_weights(len(own.items), of=own.items_on_offer, resamples=RESAMPLES, seed=0)
        found = f1_figures(counts, replace(ground, weights=weights), own.labels)
        return {"rules": len(found)}

    return work


def measured(place: Place) -> Work:
    """From the corpus to all figures, with resamples."""
    corpus = place.corpus()
    return lambda: {"schemes": len(measure(corpus, bootstrap=RESAMPLES).schemes)}


def plain(place: Place) -> Work:
    """From the corpus to all figures, without resamples."""
    corpus = place.corpus()
    return lambda: {"schemes": len(measure(corpus, bootstrap=0).schemes)}


def writing(name: str) -> Callable[[Place], Work]:
    """The stage that makes the files of one format."""

    def stage(place: Place) -> Work:
        agreement = place.agreement()

        def work() -> dict[str, Any]:
            files = report_files(agreement, formats=[name])
            return {"files": len(files), "bytes": sum(map(len, files.values()))}

        return work

    return stage


def operations(place: Place) -> Work:
    """Counts of operations: what does not move with the machine. Its time means nothing."""
    corpus = place.corpus()

    def work() -> dict[str, Any]:
        own = only_layer(corpus)
        return {**_sizes(own), "calls_to_measure": _calls(lambda: measure(corpus))}

    return work


def _sizes(own: Layer) -> dict[str, int]:
    ground = ground_of(own)
    return {
        "spans": len(own.span_pass),
        "pairs": len(ground.comparisons.pair_a),
        "comparisons": len(ground.comparisons.item),
        "edges": len(overlap_edges(own)),
        "tokens": len(make_tokens(own).start),
    }


def _calls(work: Callable[[], object]) -> int:
    """Calls of functions, Python's and C's, in all threads."""
    count = [0]

    def seen(_frame: object, event: str, _argument: object) -> None:
        count[0] += event in ("call", "c_call")

    threading.setprofile(seen)
    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return count[0]


STAGES: dict[str, Callable[[Place], Work]] = {
    "prepare": prepare,
    "read": read,
    "render": render,
    "layer": layer,
    "match": match,
    "exact F1": exact,
    "tokens": tokens,
    "unitizing": unitizing,
    "count": count,
    "bootstrap": bootstrap,
    "measure, no resamples": plain,
    "measure": measured,
    **{f"write {name}": writing(name) for name in ("json", "md", "csv", "tex", "html", "figures")},
    "operations": operations,
}


def main() -> None:
    """Run the stage that the command line names, and print its cost."""
    stage, project, cache = sys.argv[1:]
    work = STAGES[stage](Place(Path(project), Path(cache)))
    cost, facts = watch(work)
    sys.stdout.write(json.dumps(asdict(replace(cost, facts=facts))) + "\n")


if __name__ == "__main__":
    main()
