"""The audit: an independent package recomputes our alpha on as many items as it can hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from potato_iaa.arrays import Floats, Ints
from potato_iaa.blocks import take_items
from potato_iaa.errors import AuditError
from potato_iaa.layer import Layer
from potato_iaa.measures.alpha import nominal_alpha
from potato_iaa.measures.estimate import plain
from potato_iaa.measures.tokens import Coincidences, code_label, make_tokens, readers

MEMORY = 200_000_000
TOLERANCE = 1e-9
# How many arrays of tokens × values × values the package holds at its peak.
PEAK_ARRAYS = 4


@dataclass(frozen=True)
class Audit:
    """Our token alpha and the ``krippendorff`` package's on the same items of the corpus."""

    ours: float | None
    package: float | None
    items: int
    of: int
    version: str

    def to_dict(self) -> dict[str, Any]:
        """The audit as in report.json."""
        return {
            "package": f"krippendorff {self.version}",
            "ours": plain(self.ours),
            "theirs": plain(self.package),
            "items": self.items,
            "of": self.of,
        }


def audit_alpha(
    layer: Layer, unit: str, item_tokens: Ints, coincidences: Coincidences, *, seed: int
) -> Audit:
    """Compare our nominal alpha with the package's, on all shared items or a seeded sample.

    ``unit``: of the tokens; ``item_tokens``: int64 (items,), how many each has. The package needs
    memory for tokens × values²; items are drawn until 200 MB are full. Raises AuditError where the
    two differ by more than 1e-9: a bug that must not reach a report.
    """
    from importlib.metadata import version

    import krippendorff

    m = readers(layer)
    shared = np.unique(layer.unit_item[m >= 2])
    chosen = np.sort(_draw(item_tokens[shared], len(coincidences.scale), shared, seed))
    weights = np.zeros(len(layer.items))
    weights[chosen] = 1
    ours = float(
        nominal_alpha(
            coincidences.disagreement @ weights, np.asarray(coincidences.values.T @ weights)
        )
    )
    counts = _value_counts(take_items(layer, chosen), unit)
    theirs = math.nan
    if len(counts) and np.count_nonzero(counts.sum(axis=0)) > 1:
        theirs = float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))
    if math.isnan(ours) != math.isnan(theirs) or abs(ours - theirs) > TOLERANCE:
        raise AuditError(
            f"scheme {layer.scheme!r}: our token alpha is {ours} and the krippendorff package's "
            f"{theirs} on the same {len(chosen)} items: please report this."
        )
    return Audit(
        None if math.isnan(ours) else ours,
        None if math.isnan(theirs) else theirs,
        len(chosen),
        len(shared),
        version("krippendorff"),
    )


def _draw(size: Ints, values: int, shared: Ints, seed: int) -> Ints:
    budget = MEMORY / (8 * PEAK_ARRAYS * values**2)
    order = np.random.default_rng(seed).permutation(len(shared))
    # Small items are not passed over for a large one that fills the budget by itself.
    fitting = order[size[order] <= budget]
    return shared[fitting[: int(np.searchsorted(np.cumsum(size[fitting]), budget, side="right"))]]


def _value_counts(layer: Layer, unit: str) -> Floats:
    """How often each token that two or more read got each value, float64 (tokens, values)."""
    tokens = make_tokens(layer, unit)
    coding = code_label(layer, tokens)
    m = readers(layer)[tokens.unit]
    wanted = m >= 2
    row = np.cumsum(wanted) - 1
    counts = np.zeros((int(wanted.sum()), len(coding.scale)))
    counts[:, 0] = m[wanted]
    kept = wanted[coding.token]
    place = row[coding.token[kept]]
    np.add.at(counts, (place, coding.value[kept]), 1)
    np.add.at(counts[:, 0], place, -1)
    return counts
