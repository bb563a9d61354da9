"""Chance agreement from class shares: what an observed agreement is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True)
class AnnotatorAgreementScenario:
    """Two annotators who share one mix of classes, and how often they agree.

    ``class_shares``: the share of each class, adding up to 1 within 1e-9. ``observed_agreement``:
    the share of judgements on which they agree; not needed with ``independent_raters``, who agree
    by chance alone.

    Raises ValueError, saying which: shares empty, negative, NaN, infinite or not adding up to 1;
    observed agreement missing, outside [0, 1] or NaN; chance agreement 1 when kappa is asked for.

    Source: Scott 1955, doi:10.1086/266577 (chance agreement from one shared mix of classes).

    >>> scenario = AnnotatorAgreementScenario(class_shares=[0.9, 0.1], observed_agreement=0.85)
    >>> round(scenario.chance_agreement, 12), round(scenario.kappa, 12)
    (0.82, 0.166666666667)
    >>> AnnotatorAgreementScenario(class_shares=[0.9, 0.1], independent_raters=True).kappa
    0.0
    """

    class_shares: Sequence[float]
    observed_agreement: float | None = None
    independent_raters: bool = False

    def __post_init__(self) -> None:
        try:
            shares = tuple(float(share) for share in self.class_shares)
        except TypeError as fault:
            raise ValueError(
                f"class shares {self.class_shares!r} are not a list of numbers."
            ) from fault
        object.__setattr__(self, "class_shares", shares)
        _check_shares(self.class_shares)
        observed = self.observed_agreement
        if observed is None:
            if not self.independent_raters:
                raise ValueError(
                    "observed agreement is missing: give it, or say independent_raters=True."
                )
        elif isinstance(observed, bool) or not isinstance(observed, Real):
            raise ValueError(f"observed agreement {observed!r} is not a number.")
        elif not 0 <= observed <= 1:
            raise ValueError(f"observed agreement {observed} is not between 0 and 1.")

    @property
    def chance_agreement(self) -> float:
        """The probability that two independent judgements fall into the same class: Σ share²."""
        return math.fsum(share * share for share in self.class_shares)

    @property
    def agreement(self) -> float:
        """The chance agreement of independent raters, else the observed agreement."""
        if self.independent_raters or self.observed_agreement is None:
            return self.chance_agreement
        return self.observed_agreement

    @property
    def kappa(self) -> float:
        """The share of the agreement beyond chance that was reached: (A − chance)/(1 − chance)."""
        beyond = 1 - self.chance_agreement
        if beyond <= TOLERANCE:
            raise ValueError("chance agreement is 1 (one class only): kappa is undefined.")
        return (self.agreement - self.chance_agreement) / beyond


def _check_shares(shares: Sequence[float]) -> None:
    if not shares:
        raise ValueError("class shares are empty: give one share per class.")
    for share in shares:
        if not math.isfinite(share):
            raise ValueError(f"class share {share} is not a finite number.")
        if share < 0:
            raise ValueError(f"class share {share} is negative.")
    total = math.fsum(shares)
    if abs(total - 1) > TOLERANCE:
        raise ValueError(f"class shares add up to {total:.12g}, not to 1.")
