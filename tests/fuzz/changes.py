"""Changes to well-formed files that leave them well-formed: bytes alone seldom do."""

from __future__ import annotations

import copy
import csv
import io
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import yaml

ODD: list[Any] = [
    *(None, True, False, 0, -1, 1, 3.5, 1e300, 2**53, 2**63, 10**30, float("nan")),
    *("", " ", "x", "0", "-1", "1e9", "\x00", "\ud800", "é" * 300, "🔥", "a\nb", "../..", "/", "."),
    *("[]", "{}", "null", "[{}]", "[1, 2]", "{'start': 1}", '{"start": 1}', "a:::b", "ner._spans"),
    *([], {}, [[]], [{}], {"": []}, {"a": {}}, [None], [1, "2", {}]),
]
Setter = Callable[[Any], None]


def changed(content: bytes, form: str, chance: random.Random) -> bytes:
    """The file with one to three changes; raises ValueError and others if it is not well-formed."""
    return _FORMS[form](content, chance)


def has_form(form: str) -> bool:
    """Whether files of this form can be changed."""
    return form in _FORMS


def _json(content: bytes, chance: random.Random) -> bytes:
    return json.dumps(_value(json.loads(content), chance)).encode()


def _lines(content: bytes, chance: random.Random) -> bytes:
    lines = [json.loads(line) for line in content.split(b"\n") if line.strip()]
    found = _value(lines, chance)
    listed = found if isinstance(found, list) else [found]
    return "".join(json.dumps(line) + "\n" for line in listed).encode()


def _yaml(content: bytes, chance: random.Random) -> bytes:
    found = _value(yaml.safe_load(content), chance)
    return yaml.safe_dump(found, sort_keys=False).encode("utf-8", "replace")


def _table(separator: str) -> Callable[[bytes, random.Random], bytes]:
    def change(content: bytes, chance: random.Random) -> bytes:
        text = io.StringIO(content.decode(), newline="")
        rows = _value(list(csv.reader(text, delimiter=separator)), chance)
        out = io.StringIO(newline="")
        for row in rows:
            cells = [_cell(cell, chance) for cell in row] if isinstance(row, list) else [row]
            csv.writer(out, delimiter=separator).writerow(cells)
        return out.getvalue().encode("utf-8", "replace")

    return change


def _cell(cell: Any, chance: random.Random) -> Any:
    """The cell, a value in it changed now and then where it holds JSON."""
    if not isinstance(cell, str) or not cell.startswith(("[", "{")) or chance.random() > 0.2:
        return cell
    try:
        return json.dumps(_value(json.loads(cell), chance))
    except ValueError:
        return cell


def _value(value: Any, chance: random.Random) -> Any:
    for _ in range(chance.choice((1, 1, 2, 3))):
        places = list(_places(value))
        if not places:
            return copy.deepcopy(chance.choice(ODD))
        holder, key = chance.choice(places)
        other, other_key = chance.choice(places)
        kind = chance.randrange(5)
        if kind == 0:
            del holder[key]
        elif kind == 1:
            holder[key] = copy.deepcopy(other[other_key])
        elif kind == 2 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(other[other_key]))
        elif kind == 2:
            new = other_key if isinstance(other_key, str) else str(chance.choice(ODD))
            holder[new] = holder.pop(key)
        elif kind == 3:
            holder[key] = chance.choice(([holder[key]], {"a": holder[key]}, str(holder[key])))
        else:
            holder[key] = copy.deepcopy(chance.choice(ODD))
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a value: what holds it, and its key there."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


_FORMS = {
    "json": _json,
    "lines": _lines,
    "yaml": _yaml,
    "csv": _table(","),
    "tsv": _table("\t"),
}
