"""How many spans the bytes of a file hold, counted without the loaders, and never too many.

What is no span by its shape is not counted: these are lower bounds for what the ledger tells.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from typing import Any

_TEI = "{http://www.tei-c.org/ns/1.0}"
_NAMES = ("rs", "persName", "placeName", "orgName", "geogName", "name", "date", "time")


def none(content: bytes) -> int:
    """Nothing, for a file whose spans are not counted."""
    return 0


def in_state(content: bytes) -> int:
    """Spans in a state of Potato 2."""
    return _spans(_mapping(json.loads(content)).get("instance_id_to_span_to_value"))


def in_lines_1(content: bytes) -> int:
    """Spans in an annotator's file of Potato 1."""
    return sum(_spans(_mapping(line).get("span_annotations")) for line in _lines(content))


def in_lines(content: bytes) -> int:
    """Spans in the jsonl export."""
    return sum(_spans(_mapping(line).get("spans")) for line in _lines(content))


def in_table_1(separator: str) -> Callable[[bytes], int]:
    """Spans in the one table of Potato 1."""
    return lambda content: sum(
        _spans(ast.literal_eval(cell))
        for column, cell in _cells(content, separator)
        if column.startswith("span_annotation:::") and cell
    )


def in_table(separator: str) -> Callable[[bytes], int]:
    """Spans in the csv or tsv export."""
    return lambda content: sum(
        _spans(json.loads(cell))
        for column, cell in _cells(content, separator)
        if column.endswith("._spans") and cell
    )


def in_quotations(content: bytes) -> int:
    """Rows of a quotation report that are no memos."""
    return sum(
        column == "schema" and not cell.startswith("(") for column, cell in _cells(content, ",")
    )


def in_web_annotations(content: bytes) -> int:
    """Annotations whose body is a tag."""
    document = _mapping(json.loads(content))
    listed = _mapping(document.get("first")).get("items", document.get("items"))
    bodies = (_mapping(one).get("body") for one in listed)
    return sum(not body or '"tagging' in json.dumps(body) for body in bodies)


def in_tei(content: bytes) -> int:
    """Elements around words, and annotations that stand off."""
    root = ElementTree.fromstring(content)
    around = {element for text in root.iter(f"{_TEI}text") for element in text.iter()}
    inline = sum(element.tag in [_TEI + name for name in _NAMES] for element in around)
    return inline + sum(1 for _ in root.iter(f"{_TEI}annotation"))


def in_conll_2003(content: bytes) -> int:
    """Tags in the fourth column that begin a span."""
    rows = (line.split("\t") for line in content.decode("utf-8-sig").split("\n"))
    return sum(cells[3].startswith("B-") for cells in rows if len(cells) == 4)


def in_conll_u(content: bytes) -> int:
    """Tags in the tenth column that begin a span."""
    rows = (line.split("\t") for line in content.decode("utf-8-sig").split("\n"))
    tags = (f"|{cells[9]}" for cells in rows if len(cells) == 10 and cells[0][:1] != "#")
    return sum("|NER=B-" in tag for tag in tags)


def _spans(value: Any) -> int:
    """The outermost mappings with a start, an end or a name."""
    if isinstance(value, dict):
        given = (value.get(key) for key in ("start", "end", "name"))
        if any(not isinstance(found, dict | list | None) for found in given):
            return 1
        return sum(map(_spans, value.values()))
    return sum(map(_spans, value)) if isinstance(value, list | tuple) else 0


def _mapping(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _lines(content: bytes) -> Iterator[Any]:
    lines = content.decode("utf-8-sig").split("\n")
    return (json.loads(line) for line in lines if line.strip())


def _cells(content: bytes, separator: str) -> Iterator[tuple[str, str]]:
    """Every cell under the header, with its column."""
    text = io.StringIO(content.decode("utf-8-sig"), newline="")
    rows = [row for row in csv.reader(text, delimiter=separator) if row]
    for row in rows[1:]:
        yield from zip(rows[0], row, strict=False)
