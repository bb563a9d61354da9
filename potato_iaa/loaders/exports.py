"""Potato's exports in tables and JSON: csv, tsv, jsonl, parquet, quotations, Web Annotation.

An export holds the items on which somebody left an answer or a span, in no order; who passed an
item without a mark is not in it. Potato 2.8 wrote some of them without the labels.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from potato_iaa.errors import InputError
from potato_iaa.loaders.bases import AS_BROWSERS_DO, AS_SHOWN
from potato_iaa.loaders.entries import (
    NOT_A_SPAN,
    Entry,
    answers_of,
    as_text,
    entries_of,
    lenient_entry,
    stored_spans,
)
from potato_iaa.loaders.opening import content_of
from potato_iaa.loaders.records import Answer, Found, Leaving, OddSpan, Record, StoredSpans
from potato_iaa.loaders.tables import Table, json_of, numbered_lines, read_table, text_of
from potato_iaa.loaders.values import mapping, one_or_many, sequence, well_formed

SPANS_COLUMN = "._spans"
ROOM_COLUMN = "._room_id"
ORIGIN = "annotator_origin"
_OWN_COLUMNS = (
    "instance_id",
    "user_id",
    ORIGIN,
    "annotator_origin_detail",
    "engine_purpose",
    "engine_request",
)
# The motivations of the Web Annotation vocabulary.
_PURPOSES = frozenset(
    (
        *("assessing", "bookmarking", "classifying", "commenting", "describing", "editing"),
        *("highlighting", "identifying", "linking", "moderating"),
        *("questioning", "replying", "tagging"),
    )
)
_NO_PARTS = "has only the first part of discontinuous spans"
_cells = msgspec.json.Decoder(list[Entry])


@dataclass
class _Person:
    """What the rows of an export tell of one annotator, as they are gathered."""

    spans: dict[str, list[Entry]] = field(default_factory=dict)
    odd: list[OddSpan] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    rooms: dict[str, frozenset[str]] = field(default_factory=dict)
    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    origin: str = "human"


class _Line(msgspec.Struct):
    """A line of the jsonl export, named as on disk."""

    instance_id: Any
    user_id: Any
    labels: Any = None
    spans: dict[str, list[Entry]] = {}
    annotator_origin: Any = None


_lines = msgspec.json.Decoder(_Line)


def lossy(kind: str) -> str:
    """What a reader should know of figures that were made from an export alone.

    >>> lossy("csv")[:60]
    'a csv export holds only items with an answer or a span: who '
    """
    return (
        f"a {kind} export holds only items with an answer or a span: who passed an item without a "
        "mark is not in it, so agreement on nothing to mark cannot be counted. Give the project's "
        "configuration to read it from the annotators' states."
    )


def read_table_export(file: Path, *, schemes: Collection[str]) -> Found:
    """``annotations.csv`` or ``.tsv``; ``schemes`` are the declared ones of any kind.

    Raises InputError: not such a table, a cell of spans that is not JSON.
    """
    table = read_table(file)
    people = defaultdict[str, _Person](_Person)
    columns = _answer_columns(table, schemes)
    for place, row in table.rows:
        item, person = well_formed(row["instance_id"]), people[well_formed(row["user_id"])]
        person.spans.setdefault(item, [])
        for column, cell in row.items():
            if not cell:
                continue
            if column.endswith(SPANS_COLUMN):
                scheme = column.removesuffix(SPANS_COLUMN)
                _add_cell(person, item, scheme, cell, f"{place}, column {column!r}")
            elif column.endswith(ROOM_COLUMN):
                _add_room(person, item, column.removesuffix(ROOM_COLUMN))
            elif column in columns:
                scheme, label = columns[column]
                person.answers.append(Answer(item, scheme, label, well_formed(cell)))
        person.origin = row.get(ORIGIN) or person.origin
    return _found(file.suffix.lower().removeprefix("."), file, people)


def _answer_columns(table: Table, schemes: Collection[str]) -> dict[str, tuple[str, str]]:
    """Scheme and label of the columns with answers; either may hold a dot."""
    found = {}
    for column in table.columns:
        if column in _OWN_COLUMNS or column.endswith((SPANS_COLUMN, ROOM_COLUMN, "._room")):
            continue
        known = [name for name in schemes if column == name or column.startswith(f"{name}.")]
        scheme = max(known, key=len, default=column.partition(".")[0])
        found[column] = (well_formed(scheme), well_formed(column[len(scheme) + 1 :]))
    return found


def _add_cell(person: _Person, item: str, scheme: str, cell: str, place: str) -> None:
    try:
        person.spans[item] += _cells.decode(cell)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        _add_entries(person, item, {scheme: json_of(cell, place)})


def _add_entries(person: _Person, item: str, listed: Any) -> None:
    for entry, scheme in entries_of(listed):
        span = lenient_entry(entry, item, scheme)
        if isinstance(span, OddSpan):
            person.odd.append(span)
        else:
            person.spans.setdefault(item, []).append(span)


def _add_room(person: _Person, item: str, scheme: str) -> None:
    person.rooms[item] = person.rooms.get(item, frozenset()) | {scheme}


def read_lines_export(file: Path) -> Found:
    """``annotations.jsonl``; raises InputError: a line that is not one of its records."""
    people = defaultdict[str, _Person](_Person)
    for place, line in numbered_lines(file):
        value = _line(line, place)
        item, person = well_formed(str(value.instance_id)), people[as_text(value.user_id)]
        of_item = person.spans.setdefault(item, [])
        for spans in value.spans.values():
            of_item += spans
        person.answers += answers_of({item: value.labels})
        if value.annotator_origin:
            person.origin = as_text(mapping(value.annotator_origin).get("kind")) or "unknown"
        if isinstance(value, _OddLine):
            _add_entries(person, item, value.odd)
    return _found("jsonl", file, people)


@dataclass(frozen=True)
class _OddLine:
    """A line of which not every value has the shape that Potato gives it."""

    instance_id: Any
    user_id: Any
    labels: Any
    annotator_origin: Any
    odd: Any
    spans: Mapping[str, list[Entry]] = field(default_factory=dict)


def _line(line: str, place: str) -> _Line | _OddLine:
    try:
        return _lines.decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        value = json_of(line, place)
    if not isinstance(value, dict) or not {"instance_id", "user_id"} <= value.keys():
        raise InputError(
            f"{place}: is no record of an export (an object with instance_id and user_id): "
            "restore the file, or give the project's configuration."
        )
    return _OddLine(
        instance_id=value["instance_id"],
        user_id=value["user_id"],
        labels=value.get("labels"),
        annotator_origin=value.get(ORIGIN),
        odd=value.get("spans"),
    )


def read_quotations(file: Path) -> Found:
    """``quotations.csv``; raises InputError: one of Potato 2.8, which has no labels."""
    people = defaultdict[str, _Person](_Person)
    table = read_table(file)
    # Memos stand among the quotations, with a bracketed word for a scheme.
    rows = [(p, row) for p, row in table.rows if not row["schema"].startswith("(")]
    _check_labels(file, "quotation report", [row["code"] for _, row in rows])
    for _, row in rows:
        item, person = well_formed(row["instance_id"]), people[well_formed(row["coder"])]
        entry = {
            "name": row["code"],
            "start": row["start"],
            "end": row["end"],
            "target_field": row["field"],
            "text": row["text"],
        }
        _add_entries(person, item, {row["schema"]: [entry]})
        if not row["field"] and row.get("source_doc") and row["source_doc"] != item:
            person.texts[item, ""] = well_formed(row["source_doc"])
    found = _found("quotation_report", file, people, texts_are="source")
    return dataclasses.replace(found, notes=(f"a quotation report {_NO_PARTS}.",))


def _check_labels(path: Path, kind: str, labels: Collection[Any]) -> None:
    if labels and not any(labels):
        raise InputError(
            f"{path}: this {kind} was written by Potato 2.8, which left all its labels empty: "
            "give the csv or jsonl export, or the project's configuration."
        )


def read_web_annotations(file: Path) -> Found:
    """``web_annotations.jsonld``; raises InputError: no Web Annotations of Potato."""
    people = defaultdict[str, _Person](_Person)
    document = mapping(json_of(text_of(file), str(file)))
    listed = mapping(document.get("first")).get("items", document.get("items"))
    for annotation in map(mapping, sequence(listed)):
        creator = mapping(annotation.get("creator"))
        name = as_text(creator.get("nickname") or creator.get("id")).rpartition(":user:")[2]
        item = as_text(annotation.get("potato:instance"))
        scheme = as_text(annotation.get("potato:schema"))
        if not name or not item:
            raise InputError(
                f"{file}: holds an annotation without a creator or without potato:instance, so it "
                "is not Potato's Web Annotation export: give that, or the csv or jsonl export."
            )
        person = people[name]
        person.spans.setdefault(item, [])
        bodies = annotation.get("body")
        for body in map(mapping, one_or_many(bodies) or [None]):
            _add_body(person, item, scheme, body, annotation.get("target"))
    if not people:
        raise InputError(
            f"{file}: holds no annotations, or not as Potato's Web Annotation export does: give "
            "the csv or jsonl export, or the project's configuration."
        )
    found = _found("web_annotation", file, people)
    return dataclasses.replace(found, notes=(f"the Web Annotation export {_NO_PARTS}.",))


def _add_body(
    person: _Person, item: str, scheme: str, body: Mapping[Any, Any], target: Any
) -> None:
    value = as_text(body.get("value"))
    purpose = as_text(body.get("purpose"))
    if purpose not in _PURPOSES:
        person.odd.append(OddSpan(item, NOT_A_SPAN, scheme))
        return
    if purpose != "tagging":
        label = value if purpose == "classifying" else ""
        person.answers.append(Answer(item, scheme, label, value))
        return
    selector = mapping(mapping(target).get("selector"))
    position = mapping(selector.get("refinedBy", selector))
    entry = {
        "name": value,
        "start": position.get("start"),
        "end": position.get("end"),
        "target_field": mapping(target).get("potato:field"),
        "text": selector.get("exact"),
    }
    _add_entries(person, item, {scheme: [entry]})


def read_parquet_export(folder: Path) -> Found:
    """The folder with ``spans.parquet``, ``annotations.parquet`` and ``items.parquet``.

    Raises InputError: without pyarrow; not readable; one of Potato 2.8, which has no labels.
    """
    people = defaultdict[str, _Person](_Person)
    spans = _parquet(folder / "spans.parquet")
    _check_labels(folder, "parquet export", [row.get("label") for row in spans])
    for row in _parquet(folder / "annotations.parquet"):
        item, person = as_text(row.get("instance_id")), people[as_text(row.get("user_id"))]
        person.spans.setdefault(item, [])
        person.origin = as_text(row.get(ORIGIN)) or person.origin
        person.answers += (
            Answer(item, column, as_text(value), as_text(value))
            for column, value in row.items()
            if column not in _OWN_COLUMNS and value is not None
        )
    for row in spans:
        item, person = as_text(row.get("instance_id")), people[as_text(row.get("user_id"))]
        parts = as_text(row.get("additional_parts"))
        entry = {
            **row,
            "name": row.get("label"),
            "additional_parts": json_of(parts, str(folder / "spans.parquet")) if parts else None,
        }
        _add_entries(person, item, {as_text(row.get("schema_name")): [entry]})
    texts = {
        (as_text(row.get("item_id")), ""): well_formed(row["text"])
        for row in _parquet(folder / "items.parquet")
        if isinstance(row.get("text"), str)
    }
    for person in people.values():
        person.texts.update({key: texts[key] for key in texts if key[0] in person.spans})
    return _found("parquet", folder, people, texts_are="source")


def _parquet(file: Path) -> list[dict[str, Any]]:
    """The rows of one file; none without it."""
    if not os.path.isfile(file):
        return []
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError as fault:
        raise InputError(
            f"{file}: reading Parquet needs pyarrow: install potato-iaa[parquet], or give the csv "
            "or jsonl export."
        ) from fault
    try:
        rows: list[dict[str, Any]] = parquet.read_table(
            arrow.BufferReader(content_of(file))
        ).to_pylist()
    except (arrow.ArrowException, OSError, ValueError) as fault:
        problem = " ".join(str(fault).split())
        raise InputError(
            f"{file}: is no Parquet file that can be read ({problem}): restore it, or give the "
            "csv or jsonl export."
        ) from fault
    return rows


def _with_texts_of_default(spans: StoredSpans) -> StoredSpans:
    """The spans with the texts that Potato cut from the default display.

    It cuts those of other display fields from texts that were not shown.
    """
    default = [not name for name in spans.fields]
    texts = {row: text for row, text in spans.texts.items() if default[spans.field[row]]}
    return dataclasses.replace(spans, texts=texts, texts_are_cut=True)


def _found(kind: str, path: Path, people: Mapping[str, _Person], texts_are: str = "") -> Found:
    nobody = [name for name in people if not name.strip()]
    if nobody or not people:
        raise InputError(
            f"{path}: names no annotators, or holds no annotations: give the csv or jsonl export, "
            "or the project's configuration."
        )
    has_texts = any(
        span.text is not None
        for person in people.values()
        for spans in person.spans.values()
        for span in spans
    )
    # Exports with the covered texts come from versions that count code points.
    countings = (AS_SHOWN, AS_BROWSERS_DO) if has_texts else (AS_BROWSERS_DO, AS_SHOWN)

    def reading(name: str, person: _Person) -> Callable[[], Record]:
        record = Record(
            annotator=name,
            source=str(path),
            spans=_with_texts_of_default(stored_spans(person.spans.items(), odd=person.odd)),
            seen=frozenset(person.spans),
            answers=tuple(person.answers),
            room=person.rooms,
            origin=person.origin,
            countings=countings,
            texts=person.texts,
        )
        return lambda: record

    return Found(
        kind=f"{kind} export",
        path=path,
        leavings=tuple(
            Leaving(name, reading(name, person)) for name, person in sorted(people.items())
        ),
        texts_are=texts_are,
        lossy=lossy(kind),
    )
