"""Gates: which figures of a job are below what its file asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from potato_iaa.jobs.config import Bound, Planned
from potato_iaa.jobs.outcome import Outcome, SchemeOutcome
from potato_iaa.measures.estimate import Estimate
from potato_iaa.measures.findings import LEAST_RESAMPLED

NO_INTERVAL = "no interval, as there is no bootstrap"
ONE_ITEM = "no interval, as one item cannot be resampled"


@dataclass(frozen=True)
class Gate:
    """One figure against its bound; ``found`` is ``None`` with a reason where it has no value."""

    project: str
    scheme: str
    measure: str
    on: str
    at_least: float
    found: float | None
    why: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the figure reaches the bound; one that is undefined does not."""
        return self.found is not None and self.found >= self.at_least

    def __str__(self) -> str:
        of = self.measure if self.on == "value" else f"the low end of {self.measure}"
        where = f"{self.project}, {self.scheme}" if self.scheme else self.project
        if self.found is None:
            return f"{where}: {of} is undefined ({self.why}), at least {self.at_least:g} is asked."
        found = _digits(self.found, self.at_least)
        if self.passed:
            return f"{where}: {of} is {found}, at least {self.at_least:g} is asked."
        return f"{where}: {of} is {found}, below the {self.at_least:g} that is asked."


def gates_of(outcome: Outcome, planned: Planned) -> tuple[Gate, ...]:
    """All gates of a project that was reported, by measure and scheme; none of one that failed."""
    if outcome.error is not None:
        return ()
    return tuple(
        gate
        for measure, bound in planned.settings.fail_under.items()
        if bound is not None
        for gate in _of_measure(outcome, measure, bound)
    )


def misses(gates: Iterable[Gate]) -> tuple[Gate, ...]:
    """The gates that are not passed."""
    return tuple(gate for gate in gates if not gate.passed)


def _of_measure(outcome: Outcome, measure: str, bound: Bound) -> Iterator[Gate]:
    known = {scheme.scheme: scheme for scheme in outcome.schemes}
    for name in list(known) if bound.schemes is None else bound.schemes:
        found, why = _found(known.get(name), measure, bound.on)
        yield Gate(outcome.name, name, measure, bound.on, bound.at_least, found, why)


def _found(scheme: SchemeOutcome | None, measure: str, on: str) -> tuple[float | None, str | None]:
    if scheme is None:
        return None, "no such scheme was measured"
    figure: Estimate = scheme.figures[measure]
    if figure.value is None:
        return None, figure.why
    if on == "value":
        return figure.value, None
    if scheme.items_shared < LEAST_RESAMPLED:
        return None, ONE_ITEM
    return figure.low, None if figure.low is not None else NO_INTERVAL


def _digits(value: float, bound: float, most: int = 12) -> str:
    """The value with as many digits as it takes to see that it is not the bound.

    >>> _digits(0.6996, 0.7), _digits(0.69999999, 0.7), _digits(0.7, 0.7)
    ('0.6996', '0.69999999', '0.7')
    """
    for digits in range(4, most):
        shown = f"{value:.{digits}g}"
        if value == bound or float(shown) != bound:
            return shown
    return f"{value:.{most}g}"


def gate_lines(gates: Sequence[Gate]) -> list[str]:
    """A sentence for each gate that is missed, the worst first."""
    ordered = sorted(misses(gates), key=lambda gate: (gate.found is not None, _shortfall(gate)))
    return [str(gate) for gate in ordered]


def _shortfall(gate: Gate) -> float:
    return 0.0 if gate.found is None else gate.found - gate.at_least
