"""Compare two measurements: every difference with its bootstrap interval, per label and loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from potato_iaa.errors import UsageError
from potato_iaa.jobs.config import Planned, Settings, load_job
from potato_iaa.jobs.report_shape import measure_of_rule, read_report
from potato_iaa.jobs.selection import chosen_items, passes_within
from potato_iaa.jobs.task import Tell, measure_options, read_corpus
from potato_iaa.jobs.times import parse_time, pass_times
from potato_iaa.measures.agreement import Agreement
from potato_iaa.measures.bootstrap import estimate
from potato_iaa.measures.estimate import Estimate, below
from potato_iaa.measures.findings import FEW_ITEMS, LEAST_RESAMPLED
from potato_iaa.measures.measuring import measure
from potato_iaa.measures.names import MeasureName
from potato_iaa.reporter.rounding import counted

REPORT = "report.json"
FORMAT = 1
# Compared where both sides have them, beside the F1s of all rules and those of all labels.
_COEFFICIENTS = (
    *("existence_loss", "label_loss", "boundary_loss"),
    *("token_alpha", "token_alpha_bio", "token_alpha_binary", "token_alpha_marked"),
    *("u_alpha", "binary_u_alpha", "cu_alpha", "matched_label_alpha"),
    *(f"{name}(flattened=yes)" for name in ("u_alpha", "binary_u_alpha", "cu_alpha")),
    *("cohen", "scott", "fleiss", "alpha_u", "gamma", "gamma_cat"),
)


class Side(Protocol):
    """One of the two: a measurement or a report."""

    @property
    def name(self) -> str: ...
    @property
    def signature(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def schemes(self) -> tuple[str, ...]: ...
    def labels(self, scheme: str) -> tuple[str, ...]: ...
    def items_shared(self, scheme: str) -> int: ...
    def rules(self, scheme: str) -> tuple[str, ...]: ...
    def figure(self, scheme: str, measure: MeasureName) -> Estimate: ...


@dataclass(frozen=True, eq=False)
class Measured:
    """A side that was measured just now."""

    name: str
    agreement: Agreement

    @property
    def signature(self) -> str:
        """The line that reproduces it."""
        return self.agreement.signature

    @property
    def settings(self) -> Mapping[str, Any]:
        """The choices, as in report.json."""
        return self.agreement.choices

    @property
    def schemes(self) -> tuple[str, ...]:
        """The schemes that were measured."""
        return tuple(self.agreement.schemes)

    def labels(self, scheme: str) -> tuple[str, ...]:
        """The labels of a scheme."""
        return self.agreement.schemes[scheme].corpus.labels

    def items_shared(self, scheme: str) -> int:
        """How many items two or more annotators read."""
        return self.agreement.schemes[scheme].corpus.items_shared

    def rules(self, scheme: str) -> tuple[str, ...]:
        """The keys of the F1s, such as ``exact_typed``."""
        return tuple(self.agreement.schemes[scheme].f1)

    def figure(self, scheme: str, measure: MeasureName) -> Estimate:
        """A figure of a scheme."""
        return measure.lookup(self.agreement.schemes[scheme])


@dataclass(frozen=True, eq=False)
class Reported:
    """A side of which there is only report.json."""

    name: str
    document: Mapping[str, Any] = field(repr=False)

    @property
    def signature(self) -> str:
        """The line that reproduces it."""
        return str(self.document["signature"])

    @property
    def settings(self) -> Mapping[str, Any]:
        """The choices."""
        found: Mapping[str, Any] = self.document["settings"]
        return found

    @property
    def schemes(self) -> tuple[str, ...]:
        """The schemes of the report."""
        return tuple(self.document["schemes"])

    def labels(self, scheme: str) -> tuple[str, ...]:
        """The labels of a scheme."""
        return tuple(self.document["schemes"][scheme]["corpus"]["labels"])

    def items_shared(self, scheme: str) -> int:
        """How many items two or more annotators read."""
        return int(self.document["schemes"][scheme]["corpus"]["items_shared"])

    def rules(self, scheme: str) -> tuple[str, ...]:
        """The keys of the F1s, such as ``exact_typed``."""
        return tuple(self.document["schemes"][scheme]["f1"])

    def figure(self, scheme: str, measure: MeasureName) -> Estimate:
        """A figure of a scheme."""
        return measure.lookup_in(self.document["schemes"][scheme])


@dataclass(frozen=True)
class Difference:
    """One figure on both sides; ``change`` is B − A, with an interval if both have replicates."""

    measure: MeasureName
    a: Estimate
    b: Estimate
    change: Estimate

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the change leaves out 0."""
        low, high = self.change.low, self.change.high
        return low is not None and high is not None and (below(0, low) or below(high, 0))

    def to_dict(self) -> dict[str, Any]:
        """The difference as ``--json`` prints it."""
        change = self.change.to_dict()
        return {
            "measure": str(self.measure),
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            # It is not a mean over anything, as both sides may be.
            "change": {key: value for key, value in change.items() if key not in ("n", "of")},
            "clear": self.is_clear,
        }


@dataclass(frozen=True)
class SchemeComparison:
    """The differences of one scheme of A and one of B: of all spans, and label by label."""

    a: str
    b: str
    figures: tuple[Difference, ...]
    labels: tuple[Difference, ...]


@dataclass(frozen=True)
class Comparison:
    """Two sides, what is to be known about comparing them, and all differences."""

    a: Side
    b: Side
    notes: tuple[str, ...]
    schemes: tuple[SchemeComparison, ...]

    def to_dict(self) -> dict[str, Any]:
        """The comparison as ``--json`` prints it."""
        return {
            "format": FORMAT,
            "a": {"name": self.a.name, "signature": self.a.signature},
            "b": {"name": self.b.name, "signature": self.b.signature},
            "notes": list(self.notes),
            "schemes": [
                {
                    "a": scheme.a,
                    "b": scheme.b,
                    "figures": [difference.to_dict() for difference in scheme.figures],
                    "labels": [difference.to_dict() for difference in scheme.labels],
                }
                for scheme in self.schemes
            ],
        }


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What of a project is compared: items by patterns, or the passes of a time."""

    items: tuple[str, ...] | None = None
    since: str | None = None
    until: str | None = None


def compare(a: Side, b: Side) -> Comparison:
    """Compare two sides, scheme by scheme; two single schemes are compared whatever their names.

    The intervals come from resampling the items of each side by itself. Where both are rounds over
    the same items they are somewhat too wide, never too narrow. Raises UsageError: no scheme is on
    both sides.
    """
    pairs = [(name, name) for name in a.schemes if name in b.schemes]
    if not pairs and len(a.schemes) == len(b.schemes) == 1:
        pairs = [(a.schemes[0], b.schemes[0])]
    if not pairs:
        raise UsageError(
            f"{a.name} has {', '.join(a.schemes)} and {b.name} has {', '.join(b.schemes)}: "
            "compare two that share a scheme."
        )
    schemes = tuple(
        SchemeComparison(
            one,
            other,
            figures=tuple(_differences(a, b, one, other, _measures(a, b, one, other))),
            labels=tuple(_differences(a, b, one, other, _label_measures(a, b, one, other))),
        )
        for one, other in pairs
    )
    return Comparison(a, b, tuple(_notes(a, b, pairs)), schemes)


def side_of(
    text: str,
    *,
    settings: Settings,
    choice: Choice | None = None,
    name: str | None = None,
    tell: Tell,
) -> Side:
    """The side that ``text`` stands for: a report, a project, or ``JOB.yaml#NAME``.

    ``settings`` are those of a project that stands by itself; an entry of a job has its own, but
    the seed and the resamples. Raises UsageError: a choice among what only a report is left of.
    """
    chosen = choice or Choice()
    report = _report_at(Path(text))
    if report is not None:
        if chosen != Choice():
            raise UsageError(
                f"{text}: is a report, of which no part can be taken: give its project instead."
            )
        return Reported(name or text, read_report(report))
    planned = _entry(text)
    path = Path(text) if planned is None else planned.project
    if planned is not None:
        kept = {"seed": settings.seed, "bootstrap": settings.bootstrap}
        settings = planned.settings.model_copy(update=kept)
    # A comparison names nobody, and under pseudonyms nobody's times would be known.
    corpus = read_corpus(path, settings.model_copy(update={"pseudonyms": False}), tell)
    if chosen.items is not None:
        corpus = chosen_items(corpus, chosen.items)
    if chosen.since is not None or chosen.until is not None:
        corpus = passes_within(
            corpus,
            pass_times(
                settings.config or path,
                merge=settings.merge,
                allow_outside=settings.allow_outside,
            ),
            since=None if chosen.since is None else parse_time(chosen.since),
            until=None if chosen.until is None else parse_time(chosen.until),
        )
    agreement = measure(corpus, **measure_options(settings), progress=tell)
    return Measured(name or text, agreement)


def _report_at(path: Path) -> Path | None:
    if path.is_dir() and (path / REPORT).is_file():
        return path / REPORT
    return path if path.suffix.lower() == ".json" and _is_report(path) else None


def _is_report(path: Path) -> bool:
    """Whether a JSON file is a report: version 1 of Potato has its configurations in JSON, too."""
    try:
        return path.is_file() and b'"signature"' in path.read_bytes()[:1000]
    except OSError:
        return False


def _entry(text: str) -> Planned | None:
    """The entry of a job file that ``JOB.yaml#NAME`` names."""
    file, mark, name = text.rpartition("#")
    if not mark or not Path(file).is_file():
        return None
    job = load_job(file)
    for planned in job.projects:
        if planned.name == name:
            return planned
    known = ", ".join(planned.name for planned in job.projects)
    raise UsageError(f"{file}: has no project {name!r}: there are {known}.")


def _measures(a: Side, b: Side, one: str, other: str) -> list[MeasureName]:
    rules = [rule for rule in a.rules(one) if rule in b.rules(other)]
    names = [*map(measure_of_rule, rules), *map(MeasureName.parse, _COEFFICIENTS)]
    asked = [set(side.settings["measures"]) for side in (a, b)]
    return [name for name in names if name.request is None or asked[0] & asked[1] & {name.request}]


def _label_measures(a: Side, b: Side, one: str, other: str) -> list[MeasureName]:
    labels = dict.fromkeys((*a.labels(one), *b.labels(other)))
    return [MeasureName(label=label) for label in labels]


def _differences(
    a: Side, b: Side, one: str, other: str, measures: Sequence[MeasureName]
) -> Iterator[Difference]:
    for measure_name in measures:
        figures = (a.figure(one, measure_name), b.figure(other, measure_name))
        change = change_of(*figures)
        if min(a.items_shared(one), b.items_shared(other)) < LEAST_RESAMPLED:
            change = Estimate(change.value, change.why)
        yield Difference(measure_name, *figures, change)


def change_of(a: Estimate, b: Estimate) -> Estimate:
    """B − A, with an interval where both have replicates, which are of independent seeds.

    >>> import numpy as np
    >>> before = Estimate(0.5, replicates=np.full(9, 0.5))
    >>> change = change_of(before, Estimate(0.75, replicates=np.full(9, 0.625)))
    >>> change.value, change.low, change.high
    (0.25, 0.125, 0.125)
    >>> change_of(before, Estimate(None, "no shared items")).why
    'undefined in B: no shared items'
    """
    for side, figure in (("A", a), ("B", b)):
        if figure.value is None:
            return Estimate(None, f"undefined in {side}: {figure.why}")
    value = (b.value or 0.0) - (a.value or 0.0)
    if a.replicates is None or b.replicates is None:
        return Estimate(value)
    resamples = min(len(a.replicates), len(b.replicates))
    changes = b.replicates[:resamples] - a.replicates[:resamples]
    return estimate(np.concatenate(([value], changes)), why="", n=0, of=0)


def _notes(a: Side, b: Side, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    for one, other in pairs:
        if one != other:
            yield f"scheme {one} of A is compared with scheme {other} of B, their only ones."
    left = [f"{name} (A)" for name in a.schemes if name not in {one for one, _ in pairs}]
    left += [f"{name} (B)" for name in b.schemes if name not in {other for _, other in pairs}]
    if left:
        yield f"not on both sides, so not compared: {', '.join(left)}."
    for name in dict.fromkeys((*a.settings, *b.settings)):
        one_value, other_value = a.settings.get(name), b.settings.get(name)
        # Rules and measures beside the usual ones move none of what both sides have.
        if name not in ("seed", "rules", "measures") and one_value != other_value:
            yield (
                f"the settings differ in {name} ({_told(one_value)} in A, {_told(other_value)} in "
                "B), so that differences may come from there."
            )
    for side, letter in ((a, "A"), (b, "B")):
        if isinstance(side, Reported):
            yield (
                f"no intervals: {letter} is a report, which keeps no bootstrap replicates; give "
                "its project to have them."
            )
        elif not side.settings.get("bootstrap"):
            yield f"no intervals: the bootstrap of {letter} was switched off."
    compared = [(a, "A", one) for one, _ in pairs] + [(b, "B", other) for _, other in pairs]
    for side, letter, name in compared:
        shared = side.items_shared(name)
        if shared < LEAST_RESAMPLED:
            yield f"{counted(shared, 'shared item')} in {letter}, {name}: no intervals."
        elif shared < FEW_ITEMS:
            yield (
                f"only {counted(shared, 'shared item')} in {letter}, {name}: the intervals are "
                "too narrow, and the figures may change with a few more."
            )
    if isinstance(a, Measured) and isinstance(b, Measured):
        yield ("intervals: 95 %, from resampling the items of A and of B, each by itself.")


def _told(value: Any) -> str:
    if value is None:
        return "as usual"
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_told(one)}" for name, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
