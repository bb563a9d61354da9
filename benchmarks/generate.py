"""Write a finished Potato 2.12 project of any size, with annotators who disagree as people do.

    python -m benchmarks.generate OUT --annotators 5 --items 10000 --spans 20

Every item has true spans; an annotator misses some, moves boundaries by a word, gives another
label, or adds spans of their own. The same options and seed write the same bytes.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
WORDS = (  # noqa: SIM905
    "the river town market lamp quiet garden winter letter bridge morning copper station "
    "window field harbour teacher paper yellow distant mountain bread evening silver road "
    "engine summer doctor island corner music story village stone captain ribbon forest"
).split()


GROUP = 4  # How many spans of one level a span of the next level encloses.


@dataclass(frozen=True)
class Size:
    """What is generated.

    ``spans``: true spans per item, on average, apart from each other; to them are added ``nested``
    (the share that has a smaller one inside), ``identical`` (the share that has another label on
    the same extent) and ``depth`` levels of spans, each enclosing four of the level below.
    ``missed``, ``boundary``, ``label`` and ``added`` are noise, per true span and annotator.

    ``per_item`` annotators read each item. With chance ``together`` they are those of the item
    before, for at most ``most_together`` items on end: so pairs come to share several items.
    ``interactions``: browsing events that the state holds for each item read.
    """

    annotators: int = 5
    items: int = 10_000
    spans: float = 20.0
    words: int = 300
    labels: int = 5
    per_item: int = 5
    missed: float = 0.08
    boundary: float = 0.10
    label: float = 0.05
    added: float = 0.04
    nested: float = 0.05
    identical: float = 0.0
    depth: int = 0
    together: float = 0.0
    most_together: int = 7
    interactions: int = 0
    seed: int = 0


@dataclass(frozen=True)
class Text:
    """A text and where its words lie, in code points."""

    text: str
    start: Ints
    end: Ints


def make_text(words: int, generator: np.random.Generator) -> Text:
    """A text of ``words`` words."""
    chosen = [WORDS[code] for code in generator.integers(len(WORDS), size=words)]
    lengths = np.array([len(word) for word in chosen], dtype=np.int64)
    end = np.cumsum(lengths + 1) - 1
    return Text(" ".join(chosen), end - lengths, end)


def true_spans(size: Size, generator: np.random.Generator) -> Ints:
    """(first word, last word, label) of an item's true spans."""
    room = max(size.words // max(round(size.spans), 1), 2)
    count = min(generator.poisson(size.spans), size.words // room)
    slots = np.sort(generator.choice(size.words // room, size=count, replace=False)) * room
    length = generator.integers(1, max(room // 2, 2), size=count)
    first = slots + generator.integers(0, 2, size=count) * (room > 3)
    last = np.minimum(first + length - 1, size.words - 1)
    label = generator.integers(size.labels, size=count)
    apart = np.column_stack((first, last, label)).astype(np.int64)
    inner = apart[generator.random(count) < size.nested]
    nested = np.column_stack((inner[:, 0], inner[:, 0], (inner[:, 2] + 1) % size.labels))
    kinds = [apart, nested]
    if size.identical:
        again = apart[generator.random(count) < size.identical]
        kinds.append(np.column_stack((again[:, :2], (again[:, 2] + 2) % size.labels)))
    return np.concatenate((*kinds, *enclosing(apart, size, generator)))


def enclosing(apart: Ints, size: Size, generator: np.random.Generator) -> list[Ints]:
    """Level by level, spans that enclose four neighbours of the level below each."""
    levels: list[Ints] = []
    below = apart
    for _ in range(size.depth):
        groups = len(below) // GROUP
        rows = below[: groups * GROUP].reshape(groups, GROUP, 3)
        label = generator.integers(size.labels, size=groups)
        below = np.column_stack((rows[:, 0, 0], rows[:, -1, 1], label)).astype(np.int64)
        levels.append(below)
    return levels


def annotate(true: Ints, size: Size, generator: np.random.Generator) -> Ints:
    """What one annotator marks of the true spans, with noise; distinct rows."""
    marked = true[generator.random(len(true)) >= size.missed].copy()
    moved = generator.random(len(marked)) < size.boundary
    marked[moved, 1] += generator.integers(-1, 2, size=int(moved.sum()))
    marked[:, 1] = np.clip(marked[:, 1], marked[:, 0], size.words - 1)
    renamed = generator.random(len(marked)) < size.label
    marked[renamed, 2] = generator.integers(size.labels, size=int(renamed.sum()))
    extra = generator.poisson(size.added * max(len(true), 1))
    first = generator.integers(size.words, size=extra)
    added = np.column_stack((first, first, generator.integers(size.labels, size=extra)))
    return np.unique(np.concatenate((marked, added)), axis=0)


def stored(spans: Ints, text: Text) -> list[list[object]]:
    """The spans as Potato 2.12 stores them: pairs of a span and 1."""
    rows: list[list[object]] = []
    for first, last, label in spans.tolist():
        name = f"L{label}"
        start, end = int(text.start[first]), int(text.end[last])
        span = {
            "schema": "entities",
            "name": name,
            "title": name,
            "start": start,
            "end": end,
            "id": f"entities_{name}_{start}_{end}",
        }
        rows.append([span, 1])
    return rows


def readers(size: Size, generator: np.random.Generator) -> list[Ints]:
    """Per item the annotators who read it."""
    if size.per_item >= size.annotators:
        return [np.arange(size.annotators)] * size.items
    found: list[Ints] = []
    on_end = 0
    for _ in range(size.items):
        if found and size.together and generator.random() < size.together:
            on_end += 1
        else:
            on_end = 0
        if on_end % size.most_together:
            found.append(found[-1])
        else:
            who = generator.choice(size.annotators, size=size.per_item, replace=False)
            found.append(np.sort(who).astype(np.int64))
    return found


def behaviour(item: str, interactions: int) -> dict[str, object]:
    """The browsing data of one pass, as Potato 2.12 stores them."""
    began = 1_790_000_000
    events = [
        {
            "event_type": "click",
            "timestamp": began + number / 8,
            "target": "label:span_label:::entities:L0",
            "instance_id": item,
            "client_timestamp": 1000 * began + 125 * number,
            "metadata": {"x": 294, "y": 378},
        }
        for number in range(interactions)
    ]
    return {
        "instance_id": item,
        "session_start": float(began),
        "session_end": began + interactions / 8,
        "total_time_ms": 125 * interactions,
        "interactions": events,
        "ai_usage": [],
        "annotation_changes": [],
        "navigation_history": [],
        "focus_time_by_element": {"label:span_label:::entities:L0": 442},
        "scroll_depth_max": 0.0,
        "keyword_highlights_shown": [],
    }


def state_of(name: str, spans: dict[str, list[list[object]]], size: Size) -> dict[str, object]:
    """An annotator's state, with spans by item."""
    return {
        "user_id": name,
        "instance_id_ordering": list(spans),
        "current_instance_index": max(len(spans) - 1, 0),
        "instance_id_to_behavioral_data": {
            item: behaviour(item, size.interactions) for item in spans if size.interactions
        },
        "instance_id_to_label_to_value": {},
        "instance_id_to_span_to_value": spans,
        "instance_id_to_presentation_order": {},
    }


def write_project(out: Path, size: Size) -> None:
    """Write config.yaml, data/items.jsonl and one user_state.json per annotator into ``out``."""
    generator = np.random.default_rng(size.seed)
    (out / "data").mkdir(parents=True, exist_ok=True)
    states: list[dict[str, list[list[object]]]] = [{} for _ in range(size.annotators)]
    with (out / "data" / "items.jsonl").open("w", encoding="utf-8") as data:
        for item, who in enumerate(readers(size, generator)):
            text = make_text(size.words, generator)
            data.write(json.dumps({"id": f"i{item:06d}", "text": text.text}) + "\n")
            true = true_spans(size, generator)
            for annotator in who.tolist():
                states[annotator][f"i{item:06d}"] = stored(annotate(true, size, generator), text)
    for annotator, spans in enumerate(states):
        name = f"annotator_{annotator:04d}"
        folder = out / "annotation_output" / name
        folder.mkdir(parents=True, exist_ok=True)
        state = json.dumps(state_of(name, spans, size))
        (folder / "user_state.json").write_text(state, encoding="utf-8")
    labels = ", ".join(f"L{label}" for label in range(size.labels))
    (out / "config.yaml").write_text(
        "annotation_task_name: generated\n"
        "task_dir: .\n"
        "output_annotation_dir: annotation_output\n"
        "data_files: [data/items.jsonl]\n"
        "item_properties: {id_key: id, text_key: text}\n"
        "annotation_schemes:\n"
        f"  - {{annotation_type: span, name: entities, description: '', labels: [{labels}]}}\n",
        encoding="utf-8",
    )


def main() -> None:
    """Parse the command line and write the project."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    defaults = Size()
    for name, value in vars(defaults).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    chosen = vars(parser.parse_args())
    write_project(chosen.pop("out"), Size(**chosen))


if __name__ == "__main__":
    main()
