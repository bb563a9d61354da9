"""Agreement: what ``measure`` makes of a corpus, every figure with its choices beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from potato_iaa.corpus import Source
from potato_iaa.ledger import Ledger
from potato_iaa.matcher import (
    EXACT,
    OVERLAP,
    Rule,
)
from potato_iaa.measures.alpha_u import AlphaUFigures
from potato_iaa.measures.audit import Audit
from potato_iaa.measures.categorical import CategoricalFigures
from potato_iaa.measures.disagreements import (
    KIND_COLUMNS,
    KINDS,
)
from potato_iaa.measures.estimate import (
    Estimate,
    plain,
    records,
)
from potato_iaa.measures.f1 import F1Figures
from potato_iaa.measures.gamma import GammaFigures
from potato_iaa.measures.kappa import PairKappas
from potato_iaa.measures.matched import Boundaries, MatchedLabels
from potato_iaa.measures.sides import Side
from potato_iaa.measures.unitizing import UnitizingFigures


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The choices of a measurement; all of them are named in the report."""

    rules: tuple[Rule, ...] = (EXACT, OVERLAP)
    token_unit: str = "word"
    both_empty: str = "skip"
    min_shared_items: int = 1
    bootstrap: int = 1000
    seed: int = 0
    measures: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The choices as in report.json."""
        return {
            "rules": [str(rule) for rule in self.rules],
            "token_unit": self.token_unit,
            "both_empty": self.both_empty,
            "min_shared_items": self.min_shared_items,
            "bootstrap": self.bootstrap,
            "seed": self.seed,
            "measures": list(self.measures),
        }


@dataclass(frozen=True)
class CorpusFigures:
    """How much there is to measure: items, passes and spans of one scheme."""

    items: int
    items_read: int
    items_shared: int
    fields: int
    passes: int
    empty_passes: int
    spans: int
    discontinuous_spans: int
    annotators: tuple[str, ...]
    labels: tuple[str, ...]
    label_spans: tuple[int, ...]
    pairs: int
    pairs_sharing: int
    shared_items_median: float

    def to_dict(self) -> dict[str, Any]:
        """The figures as in report.json."""
        return {
            "items": self.items,
            "items_read": self.items_read,
            "items_shared": self.items_shared,
            "fields": self.fields,
            "passes": self.passes,
            "empty_passes": self.empty_passes,
            "spans": self.spans,
            "discontinuous_spans": self.discontinuous_spans,
            "annotators": list(self.annotators),
            "labels": list(self.labels),
            "label_spans": dict(zip(self.labels, self.label_spans, strict=True)),
            "pairs": self.pairs,
            "pairs_sharing_items": self.pairs_sharing,
            "shared_items_median": self.shared_items_median,
        }


@dataclass(frozen=True)
class Lost:
    """Typed exact F1 against 1: what is lost on existence, on labels, on boundaries.

    existence = 1 − F1(overlap, untyped); label = F1(overlap, untyped) − F1(overlap, typed);
    boundary = F1(overlap, typed) − F1(exact, typed); they add up to 1 − F1(exact, typed).
    """

    existence: Estimate
    label: Estimate
    boundary: Estimate

    def to_dict(self) -> dict[str, Any]:
        """The three losses as in report.json."""
        return {
            "existence": self.existence.to_dict(),
            "label": self.label.to_dict(),
            "boundary": self.boundary.to_dict(),
        }


@dataclass(frozen=True)
class TokenFigures:
    """Token-level coefficients of one scheme, each in the coding that its name says."""

    unit: str
    tokens: int
    multi_label_tokens: int
    spans_without_tokens: int
    spans_cutting_tokens: int
    alpha: Estimate
    alpha_io_longest: Estimate
    alpha_bio: Estimate
    alpha_binary: Estimate
    alpha_marked: Estimate
    labels: dict[str, Estimate]
    observed_agreement: Estimate
    chance_agreement: Estimate
    beyond_chance: Estimate
    label_shares: dict[str, float]
    audit: Audit | None
    kappas: dict[str, dict[str, PairKappas | Estimate]]

    def to_dict(self) -> dict[str, Any]:
        """The coefficients as in report.json."""
        figures: dict[str, Any] = {
            "unit": self.unit,
            "tokens": self.tokens,
            "multi_label_tokens": self.multi_label_tokens,
            "spans_without_tokens": self.spans_without_tokens,
            "spans_cutting_tokens": self.spans_cutting_tokens,
        }
        for name in (
            "alpha",
            "alpha_io_longest",
            "alpha_bio",
            "alpha_binary",
            "alpha_marked",
            "observed_agreement",
            "chance_agreement",
            "beyond_chance",
        ):
            figures[name] = getattr(self, name).to_dict()
        figures["labels"] = {name: alpha.to_dict() for name, alpha in self.labels.items()}
        figures["label_shares"] = {name: plain(share) for name, share in self.label_shares.items()}
        figures["audit"] = self.audit.to_dict() if self.audit else None
        for name, codings in self.kappas.items():
            figures[name] = {coding: figure.to_dict() for coding, figure in codings.items()}
        return figures


@dataclass(frozen=True, eq=False)
class SchemeAgreement:
    """All figures of one span scheme.

    ``f1``: figures by rule and typing, such as ``exact_typed``. ``annotators``: annotator, passes,
    empty_passes, spans, mean_length (code points). ``disagreements``: one row each (see
    ``disagreement_table``); ``kinds``: how many of each kind by pair, label, item and annotator.
    ``sides``: systems and gold standards against the humans, who alone enter all else.
    """

    scheme: str
    corpus: CorpusFigures
    f1: dict[str, F1Figures]
    lost: Lost
    token: TokenFigures
    unitizing: UnitizingFigures
    alpha_u: AlphaUFigures | None
    gamma: GammaFigures | None
    matched_labels: MatchedLabels
    boundaries: Boundaries
    disagreements: pd.DataFrame
    kinds: dict[str, pd.DataFrame]
    annotators: pd.DataFrame
    drift: pd.DataFrame
    sides: tuple[Side, ...]

    def to_dict(self) -> dict[str, Any]:
        """The figures as in report.json's ``schemes.<scheme>``."""
        return {
            "corpus": self.corpus.to_dict(),
            "f1": {name: figures.to_dict() for name, figures in self.f1.items()},
            "lost": self.lost.to_dict(),
            "token": self.token.to_dict(),
            "unitizing": self.unitizing.to_dict()
            | ({"alpha_u": self.alpha_u.to_dict()} if self.alpha_u else {}),
            **({"gamma": self.gamma.to_dict()} if self.gamma else {}),
            "matched_labels": self.matched_labels.to_dict(),
            "boundaries": self.boundaries.to_dict(),
            "disagreements": {
                "total": {
                    kind: int(self.kinds["pair"][column].sum())
                    for kind, column in zip(KINDS, KIND_COLUMNS, strict=True)
                },
                "labels": records(self.kinds["label"]),
                "pairs": records(self.kinds["pair"]),
                "annotators": records(self.kinds["annotator"]),
            },
            "annotators": records(self.annotators),
            "drift": records(self.drift),
            "sides": [side.to_dict() for side in self.sides],
        }


@dataclass(frozen=True, eq=False)
class Agreement:
    """The result of a measurement: figures per scheme, and all that a report says beside them."""

    schemes: dict[str, SchemeAgreement]
    categorical: dict[str, CategoricalFigures]
    settings: Settings
    signature: str
    source: Source
    ledger: Ledger
    items: pd.DataFrame = field(repr=False)
    spans: pd.DataFrame = field(repr=False)

    @property
    def choices(self) -> dict[str, Any]:
        """``settings`` of report.json: how it was measured, and how it was read."""
        source = self.source
        reading = {"reading": dict(source.reading)} if source.reading else {}
        return self.settings.to_dict() | {"passes": source.passes} | reading

    def to_dict(self) -> dict[str, Any]:
        """``schemes`` of report.json: plain values, undefined ones as ``None`` with ``why``."""
        return {name: scheme.to_dict() for name, scheme in self.schemes.items()}
