"""Tables as people read them, the same in the terminal, in Markdown and in HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from potato_iaa.measures.estimate import Estimate
from potato_iaa.reporter.rounding import UNDEFINED

Row = TypeVar("Row")


@dataclass(frozen=True)
class Column:
    """A column: its title, whether it holds numbers, and how soon a narrow page drops it.

    ``rank`` 1 always stays; 3 goes first, then 2.
    """

    title: str
    number: bool = True
    rank: int = 1


@dataclass(frozen=True)
class Table:
    """A table to read: ``reasons`` say why figures shown as a dash are undefined.

    ``left_out`` counts the rows that are only in the complete table, ``tables/<name>.csv``. They
    come after all others, or, where ``both_ends`` are shown, before the last third.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int = 0
    reasons: tuple[str, ...] = ()
    both_ends: bool = False

    @property
    def lines(self) -> tuple[tuple[str, ...], ...]:
        """The rows, and one of dots where others lie between them.

        >>> rows = (("a", "0.1"), ("b", "0.2"), ("z", "0.9"))
        >>> Table("t", "T", (Column("a"), Column("b")), rows, left_out=4, both_ends=True).lines
        (('a', '0.1'), ('b', '0.2'), ('…', ''), ('z', '0.9'))
        """
        if not (self.left_out and self.both_ends):
            return self.rows
        place = len(self.rows) - len(self.rows) // 3
        dots = ("…", *[""] * (len(self.columns) - 1))
        return (*self.rows[:place], dots, *self.rows[place:])


def ends(rows: Sequence[Row], limit: int) -> tuple[tuple[Row, ...], int]:
    """The first two thirds of ``limit`` rows, the last third, and how many lie between.

    >>> ends([1, 2, 3, 4, 5, 6, 7], 3)
    ((1, 2, 7), 4)
    """
    if len(rows) <= limit:
        return tuple(rows), 0
    last = limit // 3
    return (*rows[: limit - last], *rows[len(rows) - last :]), len(rows) - limit


def reasons(figures: Iterable[tuple[str, Estimate]], *, names: int = 4) -> tuple[str, ...]:
    """One line per reason why some of these named figures are shown as a dash.

    >>> reasons([("a and b", Estimate(None, "no shared items")), ("a and c", Estimate(0.5))])
    ('— no shared items: a and b',)
    """
    told: dict[str, dict[str, None]] = {}
    for name, estimate in figures:
        if estimate.value is None:
            told.setdefault(estimate.why or "no value", {})[name] = None
    return tuple(f"{UNDEFINED} {why}: {some(list(who), names)}" for why, who in told.items())


def some(names: Sequence[str], most: int) -> str:
    """The first few names, and how many more there are.

    >>> some(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
