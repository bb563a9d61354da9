"""What runs inside the environment of another package: one call of it, and its cost.

    python -m benchmarks.peer_side NAME FOLDER

prints the cost as JSON, with the figure among the facts. It is run by the Python of an environment
with that package alone; the inputs in the folder are those that the package itself takes.
"""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmarks.measured import watch

UNITIZED = "krippendorff_unitized_alpha.krippendorffs_unitized_alpha"

Work = Callable[[], dict[str, Any]]


def orjson(folder: Path) -> Work:
    """Parse every state and every line of the items, and keep nothing."""
    package = import_module("orjson")

    states = sorted(folder.glob("annotation_output/*/user_state.json"))
    items = folder / "data" / "items.jsonl"

    def work() -> dict[str, Any]:
        for state in states:
            package.loads(state.read_bytes())
        lines = items.read_bytes().splitlines()
        for line in lines:
            package.loads(line)
        return {"files": len(states) + 1}

    return work


def bratiaa(folder: Path) -> Work:
    """Mean over pairs of exact F1, from files in brat's format."""
    package = import_module("bratiaa")

    def work() -> dict[str, Any]:
        mean, deviation = package.compute_f1_agreement(str(folder)).mean_sd_total()
        return {"figure": float(mean), "sd": float(deviation)}

    return work


def bratiaa_counting(folder: Path) -> Work:
    """The same from annotations that were read beforehand: what it counts, without its files."""
    package = import_module("bratiaa.agree")

    annotators, labels, documents = _pickled(folder)
    marked = [
        {
            who: {package.Annotation("T", label, ((start, end),)) for start, end, label in spans}
            for who, spans in of_document.items()
        }
        for of_document in documents
    ]

    def generate() -> Any:
        for number in range(len(marked)):
            document = package.Document("", doc_id=f"{number:06d}")
            document.ann_files = [package.AnnFile(who, (number, who)) for who in annotators]
            yield document

    def compare(one: tuple[int, str], other: tuple[int, str], tokens: object = None) -> Any:
        expected, found = marked[one[0]][one[1]], marked[other[0]][other[1]]
        return expected & found, expected, found

    def work() -> dict[str, Any]:
        agreement = package.F1Agreement(
            generate,
            labels,
            eval_func=compare,
            annotators=annotators,
            documents=[f"{number:06d}" for number in range(len(marked))],
        )
        return {"figure": float(agreement.mean_sd_total()[0])}

    return work


def nervaluate(folder: Path) -> Work:
    """Mean over pairs of strict F1, from its evaluator: four schemas, in total and per label."""
    package = import_module("nervaluate")

    annotators, labels, entities = _pickled(folder)

    def work() -> dict[str, Any]:
        scores = []
        for one, other in combinations(annotators, 2):
            evaluator = package.Evaluator(
                entities[one], entities[other], tags=labels, loader="dict"
            )
            scores.append(evaluator.evaluate()["overall"]["strict"].f1)
        return {"figure": sum(scores) / len(scores)}

    return work


def nervaluate_strict(folder: Path) -> Work:
    """Mean over pairs of strict F1, from its strict strategy alone."""
    entity_of = import_module("nervaluate.entities").Entity
    result_of = import_module("nervaluate.entities").EvaluationResult
    strict = import_module("nervaluate.strategies").StrictEvaluation()

    annotators, labels, entities = _pickled(folder)
    listed = {
        who: [[entity_of(**entity) for entity in document] for document in documents]
        for who, documents in entities.items()
    }

    def work() -> dict[str, Any]:
        scores = []
        for one, other in combinations(annotators, 2):
            total = result_of()
            for true, found in zip(listed[one], listed[other], strict=True):
                result, _ = strict.evaluate(true, found, labels)
                total.correct += result.correct
                total.incorrect += result.incorrect
                total.missed += result.missed
                total.spurious += result.spurious
            total.compute_metrics()
            scores.append(total.f1)
        return {"figure": sum(scores) / len(scores)}

    return work


def seqeval(folder: Path) -> Work:
    """Mean over pairs of F1, from sequences of BIO tags."""
    f1_score = import_module("seqeval.metrics").f1_score

    annotators, _, tags = _pickled(folder)

    def work() -> dict[str, Any]:
        scores = [
            float(f1_score(tags[one], tags[other])) for one, other in combinations(annotators, 2)
        ]
        return {"figure": sum(scores) / len(scores)}

    return work


def krippendorff(folder: Path) -> Work:
    """Nominal alpha, from codes of annotators × tokens."""
    import numpy as np

    package = import_module("krippendorff")

    codes = np.load(folder / "codes.npy").astype(np.float64)

    def work() -> dict[str, Any]:
        alpha = package.alpha(reliability_data=codes, level_of_measurement="nominal")
        return {"figure": float(alpha)}

    return work


def simpledorff(folder: Path) -> Work:
    """Nominal alpha, from a frame with a row per annotator and token."""
    import numpy as np
    import pandas as pd

    package = import_module("simpledorff")

    codes = np.load(folder / "codes.npy")
    annotators, tokens = codes.shape
    frame = pd.DataFrame(
        {
            "token": np.tile(np.arange(tokens), annotators),
            "annotator": np.repeat(np.arange(annotators), tokens),
            "value": codes.ravel(),
        }
    )

    def work() -> dict[str, Any]:
        alpha = package.calculate_krippendorffs_alpha_for_df(frame, "token", "annotator", "value")
        return {"figure": float(alpha)}

    return work


def unitized(folder: Path) -> Work:
    """The unitizing alpha of 2016, from segments and gaps of one continuum."""
    package = import_module(UNITIZED)

    data = {
        who: [package.Segment(tag, start, end) for tag, start, end in segments]
        for who, segments in _pickled(folder)["continuum"].items()
    }

    def work() -> dict[str, Any]:
        return {"figure": float(package.KrippendorffUnitizedAlpha(data).result)}

    return work


def unitized_by_item(folder: Path) -> Work:
    """The same, from one object per item, whose observed coincidences are added up."""
    package = import_module(UNITIZED)

    items = [
        {
            who: [package.Segment(tag, start, end) for tag, start, end in segments]
            for who, segments in item.items()
        }
        for item in _pickled(folder)["items"]
    ]

    def work() -> dict[str, Any]:
        alike = total = squares = 0.0
        lengths: dict[str, float] = {}
        for item in items:
            found = package.KrippendorffUnitizedAlpha(item)
            alike += float(found.observed_coincidence_matrix_.diagonal().sum())
            total += float(found.l_dot_dot_)
            for tag, place in found.tag_2_pos.items():
                lengths[tag] = lengths.get(tag, 0.0) + float(found.l_dot_tag_[place])
            squares += sum(
                segment.length if segment.tag == package.EMPTY_TAG else segment.length**2
                for segments in item.values()
                for segment in segments
            )
        expected = total * (total**2 - sum(length**2 for length in lengths.values()))
        return {"figure": 1 - (total - alike) * (total**2 - squares) / expected}

    return work


def _pickled(folder: Path) -> Any:
    return pickle.loads((folder / "input.pickle").read_bytes())


SIDES: dict[str, Callable[[Path], Work]] = {
    "orjson": orjson,
    "bratiaa": bratiaa,
    "bratiaa, counting": bratiaa_counting,
    "nervaluate": nervaluate,
    "nervaluate, strict": nervaluate_strict,
    "seqeval": seqeval,
    "krippendorff": krippendorff,
    "simpledorff": simpledorff,
    "krippendorff-unitized-alpha": unitized,
    "krippendorff-unitized-alpha, by item": unitized_by_item,
}


def main() -> None:
    """Run the side that the command line names, and print its cost."""
    name, folder = sys.argv[1:]
    work = SIDES[name](Path(folder))
    cost, facts = watch(work)
    sys.stdout.write(json.dumps(asdict(replace(cost, facts=facts))) + "\n")


if __name__ == "__main__":
    main()
