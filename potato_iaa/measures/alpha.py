"""Krippendorff's alpha from coincidences, and its audit by an independent package."""

from __future__ import annotations

import numpy as np

from potato_iaa.arrays import Floats, ratio
from potato_iaa.measures.tokens import Coincidences, LabelCoincidences


def nominal_alpha(disagreement: Floats, values: Floats) -> Floats:
    """Krippendorff's nominal alpha; NaN without pairable values or without variation among them.

    ``disagreement``: float64 (…,), Σ_{c≠k} o_ck; ``values``: float64 (values, …), the n_c.
    α = 1 − (n − 1)·Σ_{c≠k} o_ck / (n² − Σ n_c²).

    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability
    (repository.upenn.edu/asc_papers/43). Its example of four observers with missing data has 40
    pairable values, of whose coincidences 8 disagree:

    >>> import numpy as np
    >>> counts = np.array([9.0, 13.0, 10.0, 5.0, 3.0])
    >>> print(f"{nominal_alpha(np.array(8.0), counts):.3f}")
    0.743
    """
    return 1 - ratio((values.sum(axis=0) - 1) * disagreement, variation(values))


def variation(values: Floats) -> Floats:
    """Σ n_c·(n − n_c), which is n² − Σ n_c²: the pairs of values that differ, twice.

    Of a value that nearly all have, the squares of its number and of all would cancel.

    >>> import numpy as np
    >>> float(variation(np.array([9.0, 1.0])))
    18.0
    """
    pairs: Floats = (values * (values.sum(axis=0) - values)).sum(axis=0)
    return pairs


def observed_agreement(disagreement: Floats, values: Floats) -> Floats:
    """The share of pairable values that agree: 1 − Σ_{c≠k} o_ck / n; NaN where n is 0."""
    n = values.sum(axis=0)
    return 1 - ratio(disagreement, n)


def chance_agreement(values: Floats) -> Floats:
    """Σ of the squared shares of the values: the chance that two of them are equal."""
    n = values.sum(axis=0)
    return ratio((values * values).sum(axis=0), n * n)


def beyond_chance(disagreement: Floats, values: Floats) -> Floats:
    """(observed − chance)/(1 − chance) = 1 − n·Σ_{c≠k} o_ck / (n² − Σ n_c²).

    NaN if and only if chance agreement is 1.

    Source: Fleiss 1971, doi:10.1037/h0031619, whose thirty patients were each diagnosed six times:

    >>> import numpy as np
    >>> beyond_chance(np.array(80.0), np.array([26.0, 26.0, 30.0, 55.0, 43.0])).round(3)
    np.float64(0.43)
    """
    return 1 - ratio(values.sum(axis=0) * disagreement, variation(values))


def weighted(coincidences: Coincidences, weights: Floats) -> tuple[Floats, Floats]:
    """Disagreement (columns,) and values (values, columns) under weights (items, columns)."""
    return coincidences.disagreement @ weights, coincidences.values.T @ weights


def label_alphas(coincidences: LabelCoincidences, weights: Floats) -> Floats:
    """The nominal alpha of every label's own layer, (labels, columns)."""
    disagreement = coincidences.disagreement.T @ weights
    marked = coincidences.marked.T @ weights
    outside = coincidences.read @ weights - marked
    return nominal_alpha(disagreement, np.stack((outside, marked)))
