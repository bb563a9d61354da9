"""Values of unknown shape, as configurations and data files hold them, in the shape needed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def mapping(value: Any) -> dict[Any, Any]:
    """The value if it is a mapping, else an empty one.

    >>> mapping({"a": 1}), mapping(["a"])
    ({'a': 1}, {})
    """
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one.

    >>> sequence(["a"]), sequence("a")
    (['a'], [])
    """
    return value if isinstance(value, list) else []


def one_or_many(value: Any) -> list[Any]:
    """A list as it is, nothing as an empty list, anything else as a list of one.

    >>> one_or_many("a"), one_or_many(["a", "b"]), one_or_many(None)
    (['a'], ['a', 'b'], [])
    """
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def names(values: Iterable[Any]) -> tuple[str, ...]:
    """The values as well-formed text, each once, in their order.

    >>> names(["b", 7, "b"])
    ('b', '7')
    """
    return tuple(dict.fromkeys(well_formed(str(value)) for value in values))


def number(value: Any) -> float | None:
    """The value as a float, or None if it is no number.

    >>> number("3"), number(None), number(True)
    (3.0, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def well_formed(text: str) -> str:
    r"""The text with lone surrogates, which no file can hold, as U+FFFD; its length is the same.

    JSON may escape half a surrogate pair, and a file name need not be valid UTF-8.

    >>> well_formed("ab\ud83d") == "ab\ufffd"
    True
    """
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def quoted(values: Iterable[str], *, most: int = 8) -> str:
    """A list of names for a message: ``'a', 'b' and 3 more``.

    >>> quoted(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    listed = [repr(value) for value in values]
    shown = ", ".join(listed[:most])
    return shown if len(listed) <= most else f"{shown} and {len(listed) - most} more"


def counted(number_of: int, what: str) -> str:
    """A number and its noun.

    >>> counted(1, "span"), counted(2, "span"), counted(3, "pass")
    ('1 span', '2 spans', '3 passes')
    """
    plural = "" if number_of == 1 else "es" if what.endswith("s") else "s"
    return f"{number_of:,} {what}{plural}"
