"""Items from Potato's data files: JSON, JSON lines, CSV, TSV and Parquet, every id as text."""

from __future__ import annotations

import csv
import glob
import importlib
import io
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from potato_iaa.errors import InputError
from potato_iaa.loaders.opening import content_of
from potato_iaa.loaders.project import CheckFile, Project
from potato_iaa.loaders.schemes import DataFile
from potato_iaa.loaders.values import well_formed

FOLDER_ENDINGS = (".json", ".jsonl", ".csv", ".tsv")


@dataclass(frozen=True)
class Row:
    """A row of a data file, and where it stands, for messages."""

    value: Any
    place: str


@dataclass(frozen=True, eq=False)
class Items:
    """The items of a project by id, in the order of its data files.

    ``records`` are the rows as they were read; ``files`` how many items each file gave; ``notes``
    what was passed over.
    """

    records: dict[str, dict[str, Any]]
    files: tuple[tuple[Path, int], ...]
    notes: tuple[str, ...] = ()


def read_items(project: Project) -> Items:
    """All items of the project.

    Raises InputError, with the file and the line: a file that is missing, not in its encoding or
    not in its format; a row without an id or, where the default display shows it, without a text;
    an id that stands twice (15 and "15" are one id).
    """
    records: dict[str, dict[str, Any]] = {}
    places: dict[str, str] = {}
    files: list[tuple[Path, int]] = []
    for file in project.data_files:
        before = len(records)
        for row in read_rows(file):
            identity = _identity(row, project)
            if identity in records:
                raise InputError(
                    f"{row.place}: the id {identity!r} stands twice (first {places[identity]}), "
                    "and ids are compared as text: give every item an id of its own."
                )
            places[identity] = row.place
            records[identity] = row.value
        files.append((file.path, len(records) - before))
    notes: list[str] = []
    for file in _folder_files(project.data_folder):
        before = len(records)
        passed_over = 0
        for row in read_rows(file):
            identity = _identity(row, project)
            if identity in records:
                passed_over += 1
                continue
            records[identity] = row.value
        if passed_over:
            notes.append(
                f"{file.path.name}: {passed_over} of its ids were there before; as in Potato, "
                "the first item of an id counts."
            )
        files.append((file.path, len(records) - before))
    _check_texts(records, places, project)
    return Items(records=records, files=tuple(files), notes=tuple(notes))


def read_rows(file: DataFile) -> Iterator[Row]:
    r"""The rows of one data file, by its ending.

    ``.json`` may hold an array, one object, or a value on each line; ``.jsonl`` a value on each
    line; in ``.csv`` and ``.tsv`` every cell is the text as it stands. Lines end at ``\n`` only:
    a text may hold any other separator. Raises InputError.
    """
    ending = file.path.suffix.lower()
    if ending == ".parquet":
        return _parquet_rows(file)
    text = _text_of(file)
    if ending == ".csv":
        return _table_rows(file, csv.reader(io.StringIO(text, newline="")))
    if ending == ".tsv":
        rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)
        return _table_rows(file, rows)
    if ending == ".json":
        return _json_rows(text, file)
    return _line_rows(text, file)


def read_ids(file: DataFile, id_key: str) -> frozenset[str]:
    """The ids in a file that lists items or only their ids; rows of any other shape are left out.

    Raises InputError as `read_rows`.
    """
    ids = set()
    for row in read_rows(file):
        value = row.value
        inner = (
            next(
                (value[key] for key in ("instances", "items", "instance_ids") if key in value), None
            )
            if isinstance(value, dict) and id_key not in value
            else None
        )
        for entry in inner if isinstance(inner, list) else [value]:
            found = entry.get(id_key) if isinstance(entry, dict) else entry
            if isinstance(found, str | int | float):
                ids.add(well_formed(str(found)))
    return frozenset(ids)


def read_check_ids(file: CheckFile) -> frozenset[str] | None:
    """The ids of the items in a file of attention checks or gold items; None without the file."""
    if not os.path.isfile(file.path):
        return None
    data = DataFile(file.path)
    rows = _json_rows(_text_of(data), data)
    return frozenset(
        well_formed(str(row.value["id"]))
        for row in rows
        if isinstance(row.value, dict) and "id" in row.value
    )


def _identity(row: Row, project: Project) -> str:
    if not isinstance(row.value, dict):
        raise InputError(
            f"{row.place}: holds {_shape(row.value)} where an item should be: "
            f"write an object with {project.id_key!r} and {project.text_key!r}."
        )
    if project.id_key not in row.value:
        raise InputError(
            f"{row.place}: has no {project.id_key!r}, which item_properties.id_key names: "
            "correct the configuration or the row."
        )
    identity = row.value[project.id_key]
    if identity is None or not str(identity).strip():
        raise InputError(f"{row.place}: its {project.id_key!r} is empty: give the item an id.")
    return well_formed(str(identity))


def _check_texts(
    records: dict[str, dict[str, Any]], places: dict[str, str], project: Project
) -> None:
    shown = [shown_as.key for shown_as in project.display.fields]
    if not shown:
        for identity, record in records.items():
            if project.text_key not in record:
                place = places.get(identity, f"item {identity!r}")
                raise InputError(
                    f"{place}: has no {project.text_key!r}, which item_properties.text_key names: "
                    "correct the configuration or the row."
                )
    elif records and not any(key in record for record in records.values() for key in shown):
        raise InputError(
            f"{project.config}: instance_display shows {', '.join(map(repr, shown))}, and no item "
            "has such a field: correct the configuration or the data."
        )


def _folder_files(folder: DataFile | None) -> Iterable[DataFile]:
    if folder is None:
        return []
    if not os.path.isdir(folder.path):
        raise InputError(
            f"{folder.path}: there is no such folder, and data_directory names it: "
            "put it back, or correct the configuration."
        )
    pattern = os.path.join(glob.escape(str(folder.path)), "*")
    found = sorted(path for path in glob.glob(pattern) if path.endswith(FOLDER_ENDINGS))
    return [DataFile(Path(path), folder.encoding) for path in found]


def _text_of(file: DataFile) -> str:
    utf8 = file.encoding.lower().replace("_", "-") in ("utf-8", "utf8")
    try:
        text = content_of(file.path).decode("utf-8-sig" if utf8 else file.encoding)
    except UnicodeDecodeError as fault:
        raise InputError(
            f"{file.path}, byte {fault.start}: is not {file.encoding}, the encoding that the "
            "configuration gives it: correct one of them."
        ) from fault
    except (LookupError, UnicodeError) as fault:
        raise InputError(
            f"{file.path}: cannot be read as {file.encoding!r} ({fault}): "
            "correct its encoding in the configuration."
        ) from fault
    except (OSError, ValueError) as fault:
        problem = getattr(fault, "strerror", None) or str(fault)
        raise InputError(
            f"{file.path}: this data file cannot be read ({problem}): put it where the "
            "configuration says, or correct the configuration."
        ) from fault
    return text.removeprefix("\ufeff")


def _decoded(text: str) -> Any:
    """The JSON value; ValueError or RecursionError if there is none."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        # Python's parser takes NaN and half surrogate pairs, which Potato's files may hold.
        return json.loads(text)


def _json_rows(text: str, file: DataFile) -> Iterator[Row]:
    try:
        whole = _decoded(text)
    except (ValueError, RecursionError) as fault:
        if _begins_with_a_value(text):
            return _opened(_line_rows(text, file))
        place = f", line {fault.lineno}" if isinstance(fault, json.JSONDecodeError) else ""
        raise InputError(
            f"{file.path}{place}: is not JSON ({_said(fault)}): correct the file."
        ) from fault
    if isinstance(whole, list):
        return (Row(value, f"{file.path}, item {n}") for n, value in enumerate(whole, 1))
    return iter([Row(whole, f"{file.path}")])


def _begins_with_a_value(text: str) -> bool:
    first = next((line for line in text.split("\n") if line.strip()), "")
    try:
        _decoded(first)
    except (ValueError, RecursionError):
        return not first
    return True


def _opened(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows, with the elements of an array in its place."""
    for row in rows:
        listed = row.value if isinstance(row.value, list) else [row.value]
        yield from (Row(value, row.place) for value in listed)


def _line_rows(text: str, file: DataFile) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{file.path}, line {number}"
        try:
            yield Row(_decoded(line), place)
        except (ValueError, RecursionError) as fault:
            raise InputError(f"{place}: is not JSON ({_said(fault)}): correct the line.") from fault


def _said(fault: Exception) -> str:
    if isinstance(fault, json.JSONDecodeError):
        return f"{fault.msg}, column {fault.colno}"
    return str(fault) or type(fault).__name__


def _table_rows(file: DataFile, rows: Any) -> Iterator[Row]:
    header: list[str] | None = None
    try:
        for cells in rows:
            if header is None:
                header = cells
                continue
            if not cells or cells == [""]:
                continue
            place = f"{file.path}, line {rows.line_num}"
            if len(cells) > len(header):
                raise InputError(
                    f"{place}: has {len(cells)} cells under {len(header)} columns: "
                    "quote the cells that hold a separator."
                )
            filled = cells + [""] * (len(header) - len(cells))
            yield Row(dict(zip(header, filled, strict=True)), place)
    except csv.Error as fault:
        raise InputError(
            f"{file.path}, line {rows.line_num}: is not a table as Potato reads it ({fault}): "
            "correct the line."
        ) from fault


def _parquet_rows(file: DataFile) -> Iterator[Row]:
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError as fault:
        raise InputError(
            f"{file.path}: reading Parquet needs pyarrow: install potato-iaa[parquet]."
        ) from fault
    try:
        rows = parquet.read_table(arrow.BufferReader(content_of(file.path))).to_pylist()
    except (arrow.ArrowException, OSError, ValueError) as fault:
        problem = " ".join(str(fault).split())
        raise InputError(
            f"{file.path}: this data file cannot be read ({problem}): put it where the "
            "configuration says, or correct the configuration."
        ) from fault
    return (Row(value, f"{file.path}, row {number}") for number, value in enumerate(rows, 1))


def _shape(value: Any) -> str:
    shapes = {list: "a list", str: "a text", bool: "true or false", type(None): "nothing (null)"}
    return shapes.get(type(value), "a number")
