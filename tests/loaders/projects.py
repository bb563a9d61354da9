"""Small projects written to disk as Potato writes them, and short ways into what is read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from potato_iaa.corpus import Corpus

ITEMS: list[dict[str, Any]] = [
    {"id": "d1", "text": "Ada met Grace in Paris."},
    {"id": "d2", "text": "No names here."},
]
NER: dict[str, Any] = {"annotation_type": "span", "name": "ner", "labels": ["PER", "LOC"]}
TONE: dict[str, Any] = {"annotation_type": "radio", "name": "tone", "labels": ["good", "bad"]}


def span(start: Any, end: Any, label: Any = "PER", scheme: str = "ner", **more: Any) -> list[Any]:
    """A span as Potato stores it: the span with its value."""
    identity = f"{scheme}_{label}_{start}_{end}"
    stored = {"schema": scheme, "name": label, "title": label, "start": start, "end": end}
    return [{**stored, "id": identity, **more}, 1]


def parts(*extents: tuple[Any, ...]) -> dict[str, Any]:
    """The further parts of a discontinuous span."""
    keys = ("start", "end", "text")
    return {"additional_parts": [dict(zip(keys, extent, strict=False)) for extent in extents]}


def state(
    spans: Any = None, *, order: Sequence[Any] = ("d1", "d2"), index: Any = 0, **more: Any
) -> dict[str, Any]:
    """A state of Potato 2.12 with these spans by item."""
    return {
        "instance_id_ordering": list(order),
        "current_instance_index": index,
        "current_phase_and_page": ["annotation", None],
        "completed_phase_and_pages": [],
        "instance_id_to_behavioral_data": {},
        "instance_id_to_label_to_value": {},
        "instance_id_to_span_to_value": {} if spans is None else spans,
        "phase_to_page_to_span_to_value": {},
        "training_state": {},
        "instance_id_to_presentation_order": {},
        "instance_id_to_room_provenance": {},
        "flow_record": {},
        "origin": {},
        **more,
    }


def write_project(
    folder: Path,
    states: Mapping[str, Any],
    *,
    items: Sequence[Mapping[str, Any]] = ITEMS,
    schemes: Sequence[Mapping[str, Any]] = (NER,),
    **settings: Any,
) -> Path:
    """A project with these states by annotator; the path of its configuration.

    A state may be the document, or the bytes of the file.
    """
    (folder / "data").mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(item) + "\n" for item in items)
    (folder / "data" / "items.jsonl").write_text(lines, encoding="utf-8")
    (folder / "annotation_output").mkdir(exist_ok=True)
    for annotator, document in states.items():
        home = folder / "annotation_output" / annotator
        home.mkdir()
        if isinstance(document, dict):
            document = {"user_id": annotator, **document}
        content = document if isinstance(document, bytes) else json.dumps(document).encode()
        (home / "user_state.json").write_bytes(content)
    return write_config(folder, annotation_schemes=list(schemes), **settings)


def write_config(folder: Path, name: str = "config.yaml", **settings: Any) -> Path:
    """A configuration with the usual settings and these; one that is None is not in it."""
    usual = {
        "annotation_task_name": "Small project",
        "task_dir": ".",
        "output_annotation_dir": "annotation_output",
        "data_files": ["data/items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "annotation_schemes": [NER],
    }
    given = {key: value for key, value in {**usual, **settings}.items() if value is not None}
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(given, allow_unicode=True), encoding="utf-8")
    return path


def rows(frame: pd.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """The rows of a frame as tuples of these columns."""
    return list(zip(*(frame[column].tolist() for column in columns), strict=True))


def marked(corpus: Corpus) -> list[tuple[Any, ...]]:
    """All spans, sorted: item, field, annotator, scheme, label, parts, covered text."""
    texts = {
        (item, field): text for item, field, text in rows(corpus.items, "item", "field", "text")
    }
    heads = ("item", "field", "annotator", "scheme", "label")
    found: dict[int, list[Any]] = {}
    for *head, start, end, number in rows(corpus.spans, *heads, "start", "end", "part_of"):
        found.setdefault(number, [tuple(head)]).append((start, end))
    spans = []
    for head, *extents in found.values():
        text = texts[head[:2]]
        covered = None if text is None else " ... ".join(text[s:e] for s, e in extents)
        spans.append((*head, tuple(extents), covered))
    return sorted(spans, key=str)


def extents(corpus: Corpus) -> list[tuple[Any, ...]]:
    """Annotator, item and parts of all spans, sorted."""
    return sorted((row[2], row[0], row[5]) for row in marked(corpus))


def passes(corpus: Corpus) -> dict[str, list[str]]:
    """Items by annotator, in the order in which they were worked through."""
    found: dict[str, list[str]] = {}
    in_order = corpus.passes.sort_values("order", kind="stable")
    for annotator, item in rows(in_order, "annotator", "item"):
        found.setdefault(annotator, []).append(item)
    return found


def reasons(corpus: Corpus) -> list[tuple[str, str]]:
    """Outcome and reason of every entry in the ledger, sorted."""
    entries = corpus.ledger.entries
    return sorted(zip(entries["outcome"], entries["reason"], strict=True))


def left_out(corpus: Corpus) -> list[tuple[str, str, int]]:
    """What, name and number of spans of everything that was left out, sorted."""
    frame = corpus.ledger.left_out
    return sorted(zip(frame["what"], frame["name"], frame["spans"], strict=True))


def assert_accounted(corpus: Corpus) -> None:
    """Every span read is kept, repaired or set aside, by annotator and scheme."""
    table = corpus.ledger.by_annotator_and_scheme().set_index(["annotator", "scheme"])
    assert (table["read"] == table["kept"] + table["repaired"] + table["set_aside"]).all()
    assert (table >= 0).all(axis=None)
    heads = corpus.spans.drop_duplicates("part_of")
    counts = heads.groupby(["annotator", "scheme"], observed=True).size()
    stand = (table["kept"] + table["repaired"]).loc[lambda number: number > 0]
    assert counts.to_dict() == stand.to_dict()
    assert len(corpus.ledger.entries) == int((table["repaired"] + table["set_aside"]).sum())
