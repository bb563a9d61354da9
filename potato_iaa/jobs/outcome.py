"""What became of a project in a job: its figures, or the sentence that says why there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from potato_iaa.measures.agreement import SchemeAgreement
from potato_iaa.measures.estimate import Estimate
from potato_iaa.measures.names import HEADLINE, MeasureName, estimate_of

# What a summary shows of every scheme, by name.
SHOWN = (
    str(HEADLINE),
    "F1(match=overlap,types=no)",
    "token_alpha",
    "existence_loss",
    "label_loss",
    "boundary_loss",
)


@dataclass(frozen=True)
class SchemeOutcome:
    """One scheme of a project: its size, and its figures by the names of their measures."""

    scheme: str
    annotators: int
    items: int
    items_shared: int
    spans: int
    figures: dict[str, Estimate]

    @property
    def headline(self) -> Estimate:
        """F1 exact typed, mean over pairs."""
        return self.figures[str(HEADLINE)]

    def to_dict(self) -> dict[str, Any]:
        """The scheme as in summary.json."""
        return {
            "scheme": self.scheme,
            "annotators": self.annotators,
            "items": self.items,
            "items_shared": self.items_shared,
            "spans": self.spans,
            "figures": {name: figure.to_dict() for name, figure in self.figures.items()},
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> SchemeOutcome:
        """The scheme that ``to_dict`` wrote."""
        figures = {name: estimate_of(figure) for name, figure in found["figures"].items()}
        return cls(**{**found, "figures": figures})


@dataclass(frozen=True)
class Outcome:
    """One project: ``error`` is the sentence of its failure, else ``schemes`` has its figures.

    ``project`` is its path as the job file has it, ``files`` those of its report, relative to the
    report's folder. ``cached``: taken over from an earlier run.
    """

    name: str
    project: str
    error: str | None = None
    title: str = ""
    signature: str = ""
    schemes: tuple[SchemeOutcome, ...] = ()
    files: tuple[str, ...] = ()
    cached: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The outcome as in summary.json."""
        found: dict[str, Any] = {"name": self.name, "project": self.project}
        if self.error is not None:
            return found | {"status": "failed", "error": self.error}
        return found | {
            "status": "reported",
            "cached": self.cached,
            "title": self.title,
            "signature": self.signature,
            "files": list(self.files),
            "schemes": [scheme.to_dict() for scheme in self.schemes],
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Outcome:
        """The outcome that ``to_dict`` wrote of a project that was reported."""
        return cls(
            name=found["name"],
            project=found["project"],
            title=found["title"],
            signature=found["signature"],
            schemes=tuple(map(SchemeOutcome.from_dict, found["schemes"])),
            files=tuple(found["files"]),
        )


def scheme_outcome(scheme: SchemeAgreement, names: tuple[str, ...]) -> SchemeOutcome:
    """What a job keeps of a scheme: the figures with these names, as report.json has them."""
    corpus = scheme.corpus
    figures = {name: MeasureName.parse(name).lookup(scheme) for name in names}
    return SchemeOutcome(
        scheme=scheme.scheme,
        annotators=len(corpus.annotators),
        items=corpus.items,
        items_shared=corpus.items_shared,
        spans=corpus.spans,
        # As report.json has them, so that a figure is the same whether it was cached or not.
        figures={name: estimate_of(figure.to_dict()) for name, figure in figures.items()},
    )
