"""Files of lines and of cells, as Potato writes its exports."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from potato_iaa.errors import InputError
from potato_iaa.loaders.opening import content_of

# An item with many spans has a long cell; Python's limit is 131,072 characters.
_LONGEST_CELL = min(sys.maxsize, 2**31 - 1)


@dataclass(frozen=True)
class Table:
    """The columns of a table, and its rows with their places, every cell as text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, dict[str, str]], ...]


def text_of(file: Path) -> str:
    """The text of a file in UTF-8, without its byte order mark.

    Raises InputError: not readable, not UTF-8.
    """
    try:
        return content_of(file).decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise InputError(
            f"{file}, byte {fault.start}: is not UTF-8, as Potato's files are: save it in UTF-8."
        ) from fault
    except (OSError, ValueError) as fault:
        problem = getattr(fault, "strerror", None) or str(fault)
        raise InputError(
            f"{file}: cannot be read ({problem}): check the path and its permissions."
        ) from fault


def read_table(file: Path) -> Table:
    """A table with quoted cells: separated by tabs in ``.tsv``, else by commas.

    A short row has empty cells at its end. Raises InputError as `text_of`; a row with more cells
    than there are columns; two columns of one name.
    """
    csv.field_size_limit(_LONGEST_CELL)
    lines = _reader(file)
    rows: list[tuple[str, dict[str, str]]] = []
    columns: tuple[str, ...] = ()
    try:
        for cells in lines:
            place = f"{file}, line {lines.line_num}"
            if not columns:
                columns = tuple(cells)
                _check_columns(columns, place)
                continue
            if not cells:
                continue
            if len(cells) > len(columns):
                raise InputError(
                    f"{place}: has {len(cells)} cells under {len(columns)} columns: "
                    "restore the file as Potato wrote it."
                )
            filled = cells + [""] * (len(columns) - len(cells))
            rows.append((place, dict(zip(columns, filled, strict=True))))
    except csv.Error as fault:
        raise InputError(
            f"{file}, line {lines.line_num}: is not a table ({fault}): "
            "restore the file as Potato wrote it."
        ) from fault
    return Table(columns, tuple(rows))


def read_header(file: Path) -> tuple[str, ...]:
    """The columns of a table; raises InputError as `text_of`."""
    csv.field_size_limit(_LONGEST_CELL)
    try:
        return tuple(next((cells for cells in _reader(file) if cells), ()))
    except csv.Error:
        return ()


def _reader(file: Path) -> Any:
    separator = "\t" if file.suffix.lower() == ".tsv" else ","
    return csv.reader(io.StringIO(text_of(file), newline=""), delimiter=separator)


def _check_columns(columns: Sequence[str], place: str) -> None:
    """Raise InputError if two columns have one name: the cells of one of them would be lost."""
    twice = next((name for name in columns if name and columns.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"{place}: has two columns {twice!r}: restore the file as Potato wrote it, or remove "
            "one of them."
        )


def lines_of(file: Path) -> Iterator[tuple[str, Any]]:
    """The values on the lines of a file of JSON lines, with their places.

    Raises InputError as `text_of`; a line that is not JSON.
    """
    return ((place, json_of(line, place)) for place, line in numbered_lines(file))


def numbered_lines(file: Path) -> Iterator[tuple[str, str]]:
    """The lines of a file that are not blank, with their places; raises InputError as `text_of`."""
    for number, line in enumerate(text_of(file).split("\n"), 1):
        if line.strip():
            yield f"{file}, line {number}", line


def json_of(text: str, place: str) -> Any:
    """The value that a text writes in JSON.

    Raises InputError: it is not JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as fault:
        problem = (
            f"{fault.msg}, column {fault.colno}"
            if isinstance(fault, json.JSONDecodeError)
            else str(fault)
        )
        raise InputError(
            f"{place}: is not JSON ({problem}): restore the file as Potato wrote it."
        ) from fault
