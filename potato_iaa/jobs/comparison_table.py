"""A comparison as the text that a terminal shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from potato_iaa.jobs.compare import Comparison, Difference, SchemeComparison
from potato_iaa.measures.estimate import Estimate
from potato_iaa.measures.names import LOSSES
from potato_iaa.reporter.display import Column, Table, reasons
from potato_iaa.reporter.headline import rule_name
from potato_iaa.reporter.rounding import UNDEFINED, decimals, interval_text, rounded, value_text
from potato_iaa.reporter.terminal import Page, filled, item, table_block, typeset

_COLUMNS = (
    Column("", number=False),
    Column("A"),
    Column("B"),
    Column("B − A"),
    Column("95 % interval"),
    Column("", number=False),
)


def terminal_comparison(comparison: Comparison, page: Page) -> str:
    """The whole comparison, scheme by scheme, then what is to be known about it."""
    return typeset(_blocks(comparison, page), page)


def _blocks(comparison: Comparison, page: Page) -> Iterator[RenderableType]:
    yield page.text(f"A: {comparison.a.name}", "bold")
    yield page.text(f"B: {comparison.b.name}", "bold")
    for scheme in comparison.schemes:
        yield from table_block(_table(scheme, scheme.figures, "figures"), page)
        if scheme.labels:
            yield from table_block(_table(scheme, scheme.labels, "labels"), page)
    yield page.text("")
    if any(one.is_clear for of in comparison.schemes for one in (*of.figures, *of.labels)):
        yield from item("clear: the interval of the difference leaves out 0.", page)
    for note in comparison.notes:
        yield from item(note, page)
    for letter, side in (("A", comparison.a), ("B", comparison.b)):
        parts = page.safe(f"{letter}: {side.signature}").split("|")
        yield from (Text(f"  {line}", style="dim") for line in filled(parts, "|", page.width - 2))


def _table(scheme: SchemeComparison, listed: Sequence[Difference], name: str) -> Table:
    of = scheme.a if scheme.a == scheme.b else f"{scheme.a} and {scheme.b}"
    title = of if name == "figures" else f"{of}: F1 exact, typed, by label"
    # A figure that has no value on either side says nothing about a difference.
    told = [
        difference
        for difference in listed
        if difference.a.value is not None or difference.b.value is not None
    ]
    return Table(
        name=name,
        title=title,
        columns=_COLUMNS,
        rows=tuple(_row(difference) for difference in told),
        reasons=reasons((words(difference), difference.change) for difference in told),
    )


def _row(difference: Difference) -> tuple[str, ...]:
    return (
        words(difference),
        value_text(difference.a),
        value_text(difference.b),
        signed(difference.change),
        _interval(difference),
        "clear" if difference.is_clear else "",
    )


def _interval(difference: Difference) -> str:
    """The interval; where it leaves out 0, with the digits that show so."""
    low, high = difference.change.low, difference.change.high
    if low is None or high is None or not difference.is_clear:
        return interval_text(difference.change)
    nearest = min(abs(low), abs(high))
    digits = decimals(difference.change)
    while not round(nearest, digits):
        digits += 1
    return f"[{rounded(low, digits)}, {rounded(high, digits)}]"


def words(difference: Difference) -> str:
    """The words for what is compared: its label, or the name of its measure."""
    measure = difference.measure
    if measure.label is not None:
        return measure.label
    if measure.figure == "F1":
        return rule_name(measure.rule)
    if measure.figure in LOSSES:
        return f"lost on {measure.figure.removesuffix('_loss')}"
    name = measure.figure.replace("_", " ")
    return f"{name}, flattened" if measure.flattened else name


def signed(change: Estimate) -> str:
    """A change with its sign; a dash where it is undefined.

    >>> signed(Estimate(0.123)), signed(Estimate(-0.5)), signed(Estimate(0.0004))
    ('+0.12', '-0.50', '0.00')
    """
    if change.value is None:
        return UNDEFINED
    digits = decimals(change)
    text = f"{abs(change.value):.{digits}f}"
    if not float(text):
        return text
    return f"{'+' if change.value > 0 else '-'}{text}"
