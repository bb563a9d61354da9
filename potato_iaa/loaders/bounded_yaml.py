"""YAML of bounded size: a few lines of aliases can stand for more values than memory holds."""

from __future__ import annotations

from typing import Any

import yaml

LARGEST_YAML = 64_000_000
MOST_VALUES = 2_000_000
DEEPEST = 200
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_yaml(text: str) -> Any:
    r"""The value in a YAML document.

    Raises ValueError: too large, too deep, with an alias within what it stands for, or with
    aliases that stand for too many values; and whatever PyYAML raises.

    >>> load_yaml("a: &a [1, 2]\nb: *a")
    {'a': [1, 2], 'b': [1, 2]}
    """
    if len(text) > LARGEST_YAML:
        raise ValueError(f"has more than {LARGEST_YAML:,} characters")
    if "*" in text or text.count("[") + text.count("{") + text.count("- ") > DEEPEST:
        _check_extent(text)
    return yaml.load(text, Loader=_Loader)


def _check_extent(text: str) -> None:
    """Count the values that the document stands for, aliases being what they repeat."""
    sizes: dict[str, int] = {}
    # The values so far, and the anchor, of every collection that is open.
    open_: list[tuple[int, str | None]] = [(0, None)]
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for _, anchor in open_):
                raise ValueError(f"the alias *{event.anchor} is part of what it stands for")
            _add(open_, sizes.get(str(event.anchor), 1))
        elif isinstance(event, yaml.ScalarEvent):
            size = 1 + len(event.value) // 100
            if event.anchor is not None:
                sizes[event.anchor] = size
            _add(open_, size)
        elif isinstance(event, yaml.CollectionStartEvent):
            if len(open_) > DEEPEST:
                raise ValueError(f"is nested more than {DEEPEST} levels deep")
            open_.append((1, event.anchor))
        elif isinstance(event, yaml.CollectionEndEvent):
            size, anchor = open_.pop()
            if anchor is not None:
                sizes[anchor] = size
            _add(open_, size)


def _add(open_: list[tuple[int, str | None]], size: int) -> None:
    values, anchor = open_[-1]
    open_[-1] = (values + size, anchor)
    if values + size > MOST_VALUES:
        raise ValueError(f"its aliases stand for more than {MOST_VALUES:,} values")
