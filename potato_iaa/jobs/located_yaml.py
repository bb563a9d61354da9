"""YAML with the line of every value, so that a fault in it can be pointed at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

Path = tuple[str | int, ...]


class _Loader(yaml.SafeLoader):
    """YAML 1.2's reading of plain words: ``on``, ``no`` and dates are text, as in editors."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag not in ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp")
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile("true|True|TRUE|false|False|FALSE"), list("tTfF")
)


class YamlError(Exception):
    """A text that is no YAML, or YAML that no job file can be: ``line`` (0: unknown), ``what``."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line
        self.what = what


@dataclass(frozen=True)
class Located:
    """A parsed document: its ``data``, the line of each path, and its keys that stand twice."""

    data: Any
    lines: dict[Path, int]
    twice: tuple[tuple[int, Path], ...]


def load_located(text: str) -> Located:
    r"""Parse one YAML document. Raises YamlError.

    >>> found = load_located("out: there\nprojects:\n  - a\n  - b\nout: here\n")
    >>> found.data["out"], found.lines[("projects", 1)], found.twice
    ('here', 4, ((5, ('out',)),))
    >>> load_located("{on: no, text: true}").data
    {'on': 'no', 'text': True}
    """
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return Located(None, {}, ())
        twice = tuple(_twice(node, (), ()))
        data = loader.construct_document(node)
        return Located(data, dict(_lines(node, ())), twice)
    except YamlError:
        raise
    # PyYAML's constructors raise whatever the value made them trip over, IndexError included.
    except Exception as fault:
        mark = getattr(fault, "problem_mark", None)
        said = getattr(fault, "problem", None) or str(fault) or type(fault).__name__
        raise YamlError(mark.line + 1 if mark else 0, " ".join(str(said).split())) from fault
    finally:
        loader.dispose()


def _twice(node: yaml.Node, path: Path, above: tuple[int, ...]) -> Iterator[tuple[int, Path]]:
    """Keys that stand twice in one mapping, of which YAML would quietly take the last."""
    if id(node) in above:
        raise YamlError(node.start_mark.line + 1, "a value that contains itself")
    inside = (*above, id(node))
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            here = (*path, str(key.value))
            if here in seen:
                yield key.start_mark.line + 1, here
            seen.add(here)
            yield from _twice(value, here, inside)
    elif isinstance(node, yaml.SequenceNode):
        for position, value in enumerate(node.value):
            yield from _twice(value, (*path, position), inside)


def _lines(node: yaml.Node, path: Path) -> Iterator[tuple[Path, int]]:
    """The line of each value, that of its key in a mapping; the last of several counts."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*path, str(key.value))
            yield here, key.start_mark.line + 1
            yield from _lines(value, here)
    elif isinstance(node, yaml.SequenceNode):
        for position, value in enumerate(node.value):
            yield (*path, position), value.start_mark.line + 1
            yield from _lines(value, (*path, position))
