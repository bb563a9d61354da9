"""What Potato 1 left: a folder for each annotator, or all annotations in one file.

An annotator's folder holds ``annotated_instances.jsonl`` with the items that have an answer or a
span, and ``annotation_order.txt`` with all that were assigned. Spans name no scheme. Consent
forms, survey pages, test questions and a pre-study are items among the others.
"""

from __future__ import annotations

import ast
import html
import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from potato_iaa.corpus import Scheme
from potato_iaa.errors import InputError
from potato_iaa.loaders.bases import AS_POTATO_1
from potato_iaa.loaders.entries import (
    NO_LABEL,
    NO_OFFSETS,
    NOT_A_SPAN,
    Entry,
    as_offset,
    as_text,
    entries_of,
    stored_spans,
)
from potato_iaa.loaders.opening import content_of
from potato_iaa.loaders.records import Answer, Found, Leaving, OddSpan, Record, Stray
from potato_iaa.loaders.schemes import resolved_by_label
from potato_iaa.loaders.tables import lines_of, read_table
from potato_iaa.loaders.values import mapping, well_formed

INSTANCES_FILE = "annotated_instances.jsonl"
ORDER_FILE = "annotation_order.txt"
ASSIGNED_FILE = "assigned_user_data.json"
ONE_FILE = "annotated_instances"
ARCHIVE = "archived_users"
SPAN_COLUMN = "span_annotation"
VERSION = "1.2"


@dataclass(frozen=True)
class _Line:
    """The annotations of one annotator on one item."""

    item: str
    text: str | None
    labels: Mapping[Any, Any]
    spans: Sequence[Any]


def has_instances(folder: Path) -> bool:
    """Whether a folder is that of an annotator of Potato 1."""
    return any(os.path.isfile(folder / name) for name in (INSTANCES_FILE, ORDER_FILE))


def instances_in(folder: Path, *, schemes: Sequence[Scheme]) -> Found:
    """The leavings of all annotators of Potato 1 in an annotation folder.

    Without annotators' folders, the one file of all annotations is read. Raises InputError: there
    is neither.
    """
    leavings: list[Leaving] = []
    strays: list[Stray] = []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        name = well_formed(entry.name)
        if entry.is_dir() and has_instances(Path(entry.path)):
            read = partial(_read_folder, Path(entry.path), name, schemes)
            leavings.append(Leaving(name, read))
        elif name == ARCHIVE:
            strays.append(Stray("folder", name, "annotators whom the team removed"))
        elif entry.is_dir():
            strays.append(Stray("folder", name, f"holds no {INSTANCES_FILE}"))
        elif name.startswith(ONE_FILE):
            strays.append(Stray("file", name, "holds the same annotations again"))
        else:
            strays.append(Stray("file", name, "is not an annotator's folder"))
    if leavings:
        return replace(_found("Potato 1 folders", folder, leavings, strays), apart=True)
    for ending in ("jsonl", "json", "csv", "tsv"):
        file = folder / f"{ONE_FILE}.{ending}"
        if os.path.isfile(file):
            return read_one_file(file, schemes=schemes)
    raise InputError(
        f"{folder}: no folder in it holds a {INSTANCES_FILE}, so nobody has annotated: "
        "give the folder that Potato wrote to as output_annotation_dir."
    )


def read_one_file(file: Path, *, schemes: Sequence[Scheme]) -> Found:
    """The leavings in ``annotated_instances.csv``, ``.tsv``, ``.json`` or ``.jsonl``.

    Where the annotators' folders lie beside it, the assigned items are read from there. Raises
    InputError: not such a file, or one of Potato 1.2.0, which names no annotators.
    """
    by_annotator: dict[str, list[_Line]] = {}
    for name, line in _one_file_lines(file):
        by_annotator.setdefault(name, []).append(line)
    folders = {
        well_formed(entry.name): Path(entry.path)
        for entry in sorted(os.scandir(file.parent), key=lambda entry: entry.name)
        if entry.is_dir()
    }
    # Who was assigned items and annotated none stands in no line of the file.
    for name, folder in folders.items():
        if name != ARCHIVE and has_instances(folder):
            by_annotator.setdefault(name, [])
    # Of the folders there are: a name such as .. leads to no other.
    orders = {name: _order(folders[name]) for name in by_annotator if name in folders}
    leavings = [
        Leaving(name, partial(_record, name, str(file), lines, orders.get(name, ()), schemes))
        for name, lines in by_annotator.items()
    ]
    ending = file.suffix.lower().removeprefix(".")
    lossy = (
        ""
        if any(orders.values())
        else (
            "the file holds only items with an answer or a span: whoever passed an item without a "
            "mark is not in it. The annotators' folders would tell."
        )
    )
    return _found(f"Potato 1 {ending} file", file, leavings, (), lossy=lossy)


def files_beside(file: Path) -> Iterator[Path]:
    """The files in annotators' folders that `read_one_file` takes what was assigned from."""
    for entry in os.scandir(file.parent):
        if entry.is_dir():
            for name in (INSTANCES_FILE, ORDER_FILE, ASSIGNED_FILE):
                beside = Path(entry.path) / name
                if os.path.isfile(beside):
                    yield beside


def _found(
    kind: str, path: Path, leavings: Sequence[Leaving], strays: Sequence[Stray], lossy: str = ""
) -> Found:
    return Found(
        kind=kind,
        path=path,
        leavings=tuple(leavings),
        strays=tuple(strays),
        texts_are="source",
        generation=1,
        lossy=lossy,
    )


def kind_of_page(item: str) -> str:
    """What an item of Potato 1 is if it is not part of the work; empty if it is.

    >>> kind_of_page("consent.html"), kind_of_page("q1_testing_Yes"), kind_of_page("d1")
    ('survey page', 'test question', '')
    """
    if item.endswith(".html"):
        return "survey page"
    if "_testing_" in item:
        return "test question"
    return "pre-study item" if "prestudy" in item else ""


def _read_folder(folder: Path, name: str, schemes: Sequence[Scheme]) -> Record:
    file = folder / INSTANCES_FILE
    lines = []
    if os.path.isfile(file):
        for place, value in lines_of(file):
            lines.append(_line(value, "id", place))
    return _record(name, str(file), lines, _order(folder), schemes)


def _line(value: Any, id_key: str, place: str) -> _Line:
    if not isinstance(value, dict) or id_key not in value:
        raise InputError(
            f"{place}: holds no annotated item of Potato 1 (an object with {id_key!r}): restore "
            "the file, or leave the annotator out with --skip-broken."
        )
    text = value.get("displayed_text")
    return _Line(
        item=well_formed(str(value[id_key])),
        text=well_formed(text) if isinstance(text, str) else None,
        labels=mapping(value.get("label_annotations")),
        # An empty list of spans is written as {}.
        spans=_entries(value.get("span_annotations")),
    )


def _entries(listed: Any) -> list[Any]:
    return [entry for entry, _ in entries_of(listed)]


def _order(folder: Path) -> tuple[str, ...]:
    """The items that were assigned, in their order."""
    order = folder / ORDER_FILE
    found: list[str] = []
    if os.path.isfile(order):
        try:
            found = content_of(order).decode("utf-8").replace("\r\n", "\n").split("\n")
        except (OSError, UnicodeDecodeError) as fault:
            raise InputError(
                f"{order}: cannot be read ({fault}): restore it, or delete it and lose the record "
                "of what was assigned."
            ) from fault
    items = [well_formed(item) for item in found if item]
    assigned = folder / ASSIGNED_FILE
    if os.path.isfile(assigned):
        try:
            items += [well_formed(item) for item in mapping(json.loads(content_of(assigned)))]
        except (OSError, ValueError, RecursionError) as fault:
            raise InputError(
                f"{assigned}: is not JSON that can be read ({fault}): restore it, or delete it."
            ) from fault
    return tuple(dict.fromkeys(items))


def _record(
    name: str, source: str, lines: Sequence[_Line], order: Sequence[str], schemes: Sequence[Scheme]
) -> Record:
    spans: dict[str, list[Entry]] = {}
    odd: list[OddSpan] = []
    for line in lines:
        listed = spans.setdefault(line.item, [])
        for entry in line.spans:
            span = _span(entry, line.item)
            if isinstance(span, OddSpan):
                odd.append(span)
            else:
                listed.append(span)
    return Record(
        annotator=name,
        source=source,
        spans=resolved_by_label(stored_spans(spans.items(), odd=odd), schemes),
        assigned=tuple(order),
        seen=_seen([line.item for line in lines], order),
        answers=tuple(answer for line in lines for answer in _answers(line)),
        version=VERSION,
        countings=(AS_POTATO_1,),
        texts={(line.item, ""): line.text for line in lines if line.text is not None},
    )


def _seen(annotated: Sequence[str], order: Sequence[str]) -> frozenset[str]:
    """The annotated items, and those that come before the last of them.

    Potato 1 leaves no trace of an item that was looked at and not annotated, but leads from item
    to item in their order.
    """
    done = set(annotated)
    last = max((place for place, item in enumerate(order) if item in done), default=-1)
    return frozenset((*annotated, *order[: last + 1]))


def _span(entry: Any, item: str) -> Entry | OddSpan:
    if not isinstance(entry, dict):
        return OddSpan(item, NOT_A_SPAN)
    # The label was cut out of the page's source.
    label = html.unescape(as_text(entry.get("annotation")))
    start, end = as_offset(entry.get("start")), as_offset(entry.get("end"))
    if not label:
        return OddSpan(item, NO_LABEL)
    if start is None or end is None:
        return OddSpan(item, NO_OFFSETS, label=label)
    text = as_text(entry.get("span")) or None
    return Entry(schema="", name=label, start=start, end=end, text=text)


def _answers(line: _Line) -> Iterator[Answer]:
    for scheme, values in line.labels.items():
        for label, value in mapping(values).items():
            name, of_scheme = as_text(label), as_text(scheme)
            # A choice is stored as scheme:::label.
            given = as_text(value)
            value_ = name if given == f"{of_scheme}:::{name}" else given
            yield Answer(line.item, of_scheme, name, value_)


def _one_file_lines(file: Path) -> Iterator[tuple[str, _Line]]:
    if file.suffix.lower() in (".csv", ".tsv"):
        yield from _table_lines(file)
        return
    for place, value in lines_of(file):
        given = mapping(value)
        if "user_id" not in given and "user" not in given and "id" in given:
            raise InputError(
                f"{file}: was written by Potato 1.2.0, which names no annotators in it: give the "
                "project's configuration, so that the annotators' own folders are read."
            )
        name = as_text(given.get("user_id", given.get("user")))
        if not name or "instance_id" not in given:
            raise InputError(
                f"{place}: holds no annotated item of Potato 1 (an object with user_id and "
                "instance_id): restore the file, or give the project's configuration."
            )
        yield name, _line(given, "instance_id", place)


def _table_lines(file: Path) -> Iterator[tuple[str, _Line]]:
    table = read_table(file)
    missing = [name for name in ("user", "instance_id") if name not in table.columns]
    if missing:
        raise InputError(
            f"{file}: has no column {missing[0]!r}, so it is not the file of all annotations of "
            "Potato 1: give the project's configuration."
        )
    for place, row in table.rows:
        labels: dict[str, dict[str, str]] = {}
        spans: list[Any] = []
        for column, cell in row.items():
            scheme, colons, label = column.partition(":::")
            if not colons or not cell:
                continue
            if scheme == SPAN_COLUMN:
                spans += _cell(cell, f"{place}, column {column!r}")
            else:
                labels.setdefault(scheme, {})[label] = cell
        line = _Line(
            item=well_formed(row["instance_id"]),
            text=well_formed(row["displayed_text"]) if "displayed_text" in row else None,
            labels=labels,
            spans=spans,
        )
        yield well_formed(row["user"]), line


# The syntax tree of a literal takes about a hundred times its size.
_LONGEST_LITERAL = 5_000_000
_NOTHING = re.compile(r"\s*\[\s*\]\s*")


def _cell(cell: str, place: str) -> list[Any]:
    """The spans in a cell, which is written as Python prints a list."""
    if _NOTHING.fullmatch(cell):
        return []
    if len(cell) > _LONGEST_LITERAL:
        raise InputError(
            f"{place}: holds {len(cell):,} characters, more than any list of spans: restore the "
            "file, or give the project's configuration."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError) as fault:
        raise InputError(
            f"{place}: holds no list of spans as Potato 1 writes it ({fault}): restore the file, "
            "or give the project's configuration."
        ) from fault
    return _entries(list(value) if isinstance(value, tuple) else value)
