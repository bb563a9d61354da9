"""The corpus as plain data that belongs to no package, and what each package takes made of it.

    python -m benchmarks.dump PROJECT FOLDER      # writes FOLDER/corpus.json

``corpus.json``: annotators, labels, and per item its text and every annotator's spans as (start,
end, label), half-open, in code points. The flat corpus keeps, of spans that overlap within a pass,
the longest: sequences of tags and units on a continuum cannot hold more.
"""

from __future__ import annotations

import json
import pickle
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from potato_iaa import Corpus, read_project

Span = tuple[int, int, str]
TOKEN = re.compile(r"\S+")
GAP = "_empty"


def dump(project: Path, folder: Path) -> None:
    """Write the corpus of a project as plain JSON."""
    corpus = read_project(project)
    annotators = sorted(map(str, corpus.annotators["annotator"]))
    rows: dict[str, dict[str, list[Span]]] = {
        str(item): {who: [] for who in annotators} for item in corpus.items["item"]
    }
    columns = (corpus.spans[name] for name in ("item", "annotator", "start", "end", "label"))
    for item, who, start, end, label in zip(*columns, strict=True):
        rows[item][who].append((int(start), int(end), str(label)))
    texts = zip(map(str, corpus.items["item"]), corpus.items["text"], strict=True)
    document = {
        "annotators": annotators,
        "labels": sorted(map(str, corpus.spans["label"].unique())),
        "items": [{"id": item, "text": text, "spans": rows[item]} for item, text in texts],
    }
    folder.mkdir(parents=True, exist_ok=True)
    beside = folder / "corpus.part"
    beside.write_text(json.dumps(document), encoding="utf-8")
    beside.replace(folder / "corpus.json")


def load(folder: Path, items: int, *, flat: bool) -> dict[str, Any]:
    """The first ``items`` items of a dump."""
    document: dict[str, Any] = json.loads((folder / "corpus.json").read_text(encoding="utf-8"))
    document["items"] = document["items"][:items]
    for item in document["items"]:
        spans = {who: [(s, e, label) for s, e, label in own] for who, own in item["spans"].items()}
        item["spans"] = {who: flattened(own) for who, own in spans.items()} if flat else spans
    return document


def flattened(spans: list[Span]) -> list[Span]:
    """The spans without those that overlap a longer one (ties: the earlier, then by label)."""
    kept: list[Span] = []
    for start, end, label in sorted(spans, key=lambda one: (one[0] - one[1], one)):
        if all(end <= other[0] or other[1] <= start for other in kept):
            kept.append((start, end, label))
    return sorted(kept)


def for_us(document: dict[str, Any], folder: Path) -> None:
    """A corpus of ours, pickled."""
    corpus = Corpus.from_tables(
        items=[(item["id"], item["text"]) for item in document["items"]],
        passes=[(item["id"], who) for item in document["items"] for who in item["spans"]],
        spans=[
            (item["id"], who, *span)
            for item in document["items"]
            for who, spans in item["spans"].items()
            for span in spans
        ],
        labels=document["labels"],
    )
    (folder / "corpus.pickle").write_bytes(pickle.dumps(corpus))


def for_brat(document: dict[str, Any], folder: Path) -> None:
    """A brat project: a folder per annotator, a text and an annotation file per item."""
    entities = "\n".join(document["labels"])
    (folder / "annotation.conf").write_text(
        f"[entities]\n{entities}\n[relations]\n[events]\n[attributes]\n", encoding="utf-8"
    )
    for who in document["annotators"]:
        (folder / who).mkdir(exist_ok=True)
    for item in document["items"]:
        for who, spans in item["spans"].items():
            lines = [
                f"T{number}\t{label} {start} {end}\t{item['text'][start:end]}\n"
                for number, (start, end, label) in enumerate(spans, 1)
            ]
            (folder / who / f"{item['id']}.ann").write_text("".join(lines), encoding="utf-8")
            (folder / who / f"{item['id']}.txt").write_text(item["text"], encoding="utf-8")


def for_sets(document: dict[str, Any], folder: Path) -> None:
    """Annotators, labels, and per item the spans of each annotator."""
    items = [item["spans"] for item in document["items"]]
    _pickle(folder, (document["annotators"], document["labels"], items))


def for_entities(document: dict[str, Any], folder: Path) -> None:
    """Per annotator and item a list of entities as dictionaries, whose ends are inclusive."""
    entities = {
        who: [
            [
                {"label": label, "start": start, "end": end - 1}
                for start, end, label in item["spans"][who]
            ]
            for item in document["items"]
        ]
        for who in document["annotators"]
    }
    _pickle(folder, (document["annotators"], document["labels"], entities))


def for_tags(document: dict[str, Any], folder: Path) -> None:
    """Per annotator and item a BIO tag per token."""
    tags: dict[str, list[list[str]]] = {who: [] for who in document["annotators"]}
    for item in document["items"]:
        starts, ends = token_bounds(item["text"])
        for who, spans in item["spans"].items():
            own = ["O"] * len(starts)
            for start, end, label in spans:
                first, stop = touched(starts, ends, start, end)
                own[first:stop] = [f"B-{label}", *[f"I-{label}"] * (stop - first - 1)]
            tags[who].append(own)
    _pickle(folder, (document["annotators"], document["labels"], tags))


def for_alpha(document: dict[str, Any], folder: Path) -> None:
    """A code per annotator and token; a set of labels is one value, as none is."""
    known: dict[frozenset[str], int] = {frozenset(): 0}
    columns = []
    for item in document["items"]:
        starts, ends = token_bounds(item["text"])
        codes = np.zeros((len(document["annotators"]), len(starts)), dtype=np.int16)
        for row, who in enumerate(document["annotators"]):
            sets: dict[int, frozenset[str]] = {}
            for start, end, label in item["spans"][who]:
                for token in range(*touched(starts, ends, start, end)):
                    sets[token] = sets.get(token, frozenset()) | {label}
            for token, labels in sets.items():
                codes[row, token] = known.setdefault(labels, len(known))
        columns.append(codes)
    np.save(folder / "codes.npy", np.concatenate(columns, axis=1))


def for_units(document: dict[str, Any], folder: Path) -> None:
    """Units and gaps as (tag, start, end): all items on one continuum, and item by item."""
    offset = 0
    continuum: dict[str, list[tuple[str, int, int]]] = {who: [] for who in document["annotators"]}
    items = []
    for item in document["items"]:
        size = len(item["text"])
        by_annotator = {who: with_gaps(spans, size) for who, spans in item["spans"].items()}
        for who, segments in by_annotator.items():
            continuum[who] += [(tag, start + offset, end + offset) for tag, start, end in segments]
        items.append(by_annotator)
        offset += size
    _pickle(folder, {"continuum": continuum, "items": items})


def with_gaps(spans: list[Span], size: int) -> list[tuple[str, int, int]]:
    """The spans, and a gap wherever there is none."""
    segments = []
    reached = 0
    for start, end, label in [*spans, (size, size, GAP)]:
        if start > reached:
            segments.append((GAP, reached, start))
        if end > start:
            segments.append((label, start, end))
        reached = end
    return segments


def token_bounds(text: str) -> tuple[list[int], list[int]]:
    """Starts and ends of what stands between blanks."""
    bounds = [found.span() for found in TOKEN.finditer(text)]
    return [start for start, _ in bounds], [end for _, end in bounds]


def touched(starts: list[int], ends: list[int], start: int, end: int) -> tuple[int, int]:
    """The tokens that share a character with [start, end)."""
    return int(np.searchsorted(ends, start, side="right")), int(np.searchsorted(starts, end))


def _pickle(folder: Path, data: Any) -> None:
    (folder / "input.pickle").write_bytes(pickle.dumps(data))


INPUTS: dict[str, Callable[[dict[str, Any], Path], None]] = {
    "ours": for_us,
    "brat": for_brat,
    "sets": for_sets,
    "entities": for_entities,
    "tags": for_tags,
    "alpha": for_alpha,
    "units": for_units,
}


def main() -> None:
    """Write the dump of a project, or an input made of a dump."""
    if len(sys.argv) == 3:
        dump(Path(sys.argv[1]), Path(sys.argv[2]))
        return
    source, kind, items, shape, target = sys.argv[1:]
    folder = Path(target)
    folder.mkdir(parents=True, exist_ok=True)
    INPUTS[kind](load(Path(source), int(items), flat=shape == "flat"), folder)
    (folder / "made").touch()


if __name__ == "__main__":
    main()
