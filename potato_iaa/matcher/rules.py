"""Match rules: which two spans may be matched, each a value whose text parses back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

from potato_iaa.errors import UsageError

SIMILARITIES = ("iou", "dice", "containment")
_THRESHOLD = re.compile(r"overlap\(\s*(\w+)\s*>=\s*([0-9.]+)\s*\)")


@dataclass(frozen=True)
class Rule:
    """What counts as agreeing on a span.

    ``exact``, ``overlap``, ``overlap(iou>=0.5)``, ``terms``: which two spans may be matched, each
    match counting 1. ``soft``, ``soft(dice)``: spans that overlap may be matched, each match
    counting its similarity. ``character``, ``token``: sets of marked positions, no matching.
    ``threshold`` is kept as an exact fraction, so that a similarity of 1/10 meets ``0.1``.
    """

    match: str
    similarity: str | None = None
    threshold: Fraction | None = None

    def __str__(self) -> str:
        if self.threshold is not None:
            return f"{self.match}({self.similarity}>={_decimal(self.threshold)})"
        return self.match if self.similarity is None else f"{self.match}({self.similarity})"


def _decimal(threshold: Fraction) -> str:
    """All digits of a threshold that was given in digits."""
    # A fraction of a power of ten has no more places than its denominator has bits.
    with localcontext(prec=max(200, threshold.denominator.bit_length())):
        return f"{(Decimal(threshold.numerator) / threshold.denominator).normalize():f}"


EXACT = Rule("exact")
OVERLAP = Rule("overlap")
TERMS = Rule("terms")
SOFT = Rule("soft")
SOFT_DICE = Rule("soft", "dice")
CHARACTER = Rule("character")
TOKEN = Rule("token")
PLAIN = {str(rule): rule for rule in (EXACT, OVERLAP, TERMS, SOFT, SOFT_DICE, CHARACTER, TOKEN)}


def parse_rule(text: str) -> Rule:
    """The rule that ``text`` names. Raises UsageError, with the forms there are.

    >>> str(parse_rule("overlap(iou>=0.50)"))
    'overlap(iou>=0.5)'
    >>> parse_rule("exact") == EXACT
    True
    """
    stripped = text.strip()
    if stripped in PLAIN:
        return PLAIN[stripped]
    found = _THRESHOLD.fullmatch(stripped)
    if found and found[1] in SIMILARITIES:
        try:
            threshold = Fraction(found[2])
        except ValueError:
            threshold = Fraction(0)
        if 0 < threshold <= 1:
            return Rule("overlap", found[1], threshold)
        raise UsageError(f"the threshold of rule {text!r} is not above 0 and at most 1.")
    raise UsageError(
        f"no match rule {text!r}: there are {', '.join(PLAIN)}, overlap(iou>=T), "
        "overlap(dice>=T) and overlap(containment>=T), with a threshold T above 0 and at most 1."
    )
