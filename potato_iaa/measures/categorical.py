"""Questions about whole items: Krippendorff's alpha at the level that each kind of question has."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sparse

from potato_iaa.arrays import Floats, ratio
from potato_iaa.corpus import CategoricalScheme, Corpus
from potato_iaa.errors import AuditError
from potato_iaa.measures.alpha import chance_agreement, nominal_alpha, observed_agreement
from potato_iaa.measures.bootstrap import estimate, item_weights, weighted_sums
from potato_iaa.measures.estimate import (
    NO_SHARED_ITEMS,
    NO_VARIATION,
    ONE_ANNOTATOR,
    Estimate,
)

LEVELS = {
    "radio": "nominal",
    "select": "nominal",
    "pairwise": "nominal",
    "likert": "ordinal",
    "slider": "interval",
    "number": "interval",
    "multiselect": "nominal",
}
TOLERANCE = 1e-9
AUDIT_MEMORY = 50_000_000
# Numbers held at once for a block of resamples.
BLOCK = 4_000_000
# A hyphen behind a letter or a digit joins, and is no sign.
_NUMBER = re.compile(r"(?:(?<![0-9A-Za-z])-)?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$")


@dataclass(frozen=True)
class CategoricalFigures:
    """Agreement on one question about whole items.

    ``items``: those with answers of two or more annotators; ``unknown``: answers that cannot be
    told: several values stored for a question with one answer, or no number where one is asked for.
    ``options``: for a multiselect question, alpha of each option by itself; ``alpha`` is that of
    the chosen sets then. ``values``: how often each answer was given.
    """

    scheme: str
    kind: str
    level: str
    items: int
    answers: int
    unknown: int
    alpha: Estimate
    observed_agreement: Estimate
    chance_agreement: Estimate
    options: dict[str, Estimate]
    values: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """The figures as in report.json's ``categorical.<scheme>``."""
        return {
            "kind": self.kind,
            "level": self.level,
            "items": self.items,
            "answers": self.answers,
            "unknown": self.unknown,
            "alpha": self.alpha.to_dict(),
            "observed_agreement": self.observed_agreement.to_dict(),
            "chance_agreement": self.chance_agreement.to_dict(),
            "options": {option: figure.to_dict() for option, figure in self.options.items()},
            "values": self.values,
        }


def categorical_figures(
    corpus: Corpus, scheme: CategoricalScheme, *, resamples: int, seed: int
) -> CategoricalFigures:
    """Alpha, observed and chance agreement of one question, among the human annotators.

    An annotator who left the question open has no answer to it, which is missing data. A question
    with one answer that has several stored ones is unknown for that annotator and item.

    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.
    """
    humans = corpus.annotators["annotator"][corpus.annotators["role"] == "human"]
    answers = corpus.answers[
        (corpus.answers["scheme"] == scheme.name) & corpus.answers["annotator"].isin(humans)
    ].astype(str)
    level = LEVELS.get(scheme.kind, "nominal")
    if scheme.kind == "multiselect":
        grouped = answers.groupby(["item", "annotator"])["label"].agg(
            lambda labels: " + ".join(sorted(set(labels)))
        )
        told, unknown = grouped, 0
    else:
        told, unknown = _single_answers(answers, scheme, level)
    on_offer = corpus.items["item"].nunique()
    weights = _Weights(on_offer, resamples, seed)
    table = _table(told, level)
    alpha, observed, chance = _alpha(table, level, weights)
    return CategoricalFigures(
        scheme=scheme.name,
        kind=scheme.kind,
        level=level,
        items=table.shared,
        answers=len(told),
        unknown=unknown,
        alpha=alpha,
        observed_agreement=observed,
        chance_agreement=chance,
        options=_options(answers, told, scheme, weights) if scheme.kind == "multiselect" else {},
        values={str(name): int(count) for name, count in told.value_counts().items()},
    )


@dataclass(frozen=True)
class _Weights:
    """What is needed to draw item weights for a table of any number of items."""

    on_offer: int
    resamples: int
    seed: int

    def of(self, items: int) -> Floats:
        return item_weights(items, of=self.on_offer, resamples=self.resamples, seed=self.seed)


@dataclass(frozen=True, eq=False)
class _Table:
    """How often each value was given to each item: sparse (items, values), and the values."""

    counts: sparse.csr_array
    values: npt.NDArray[Any]
    annotators: int

    @property
    def shared(self) -> int:
        return int((self.counts.sum(axis=1) >= 2).sum())


def _single_answers(
    answers: pd.DataFrame, scheme: CategoricalScheme, level: str
) -> tuple[pd.Series[Any], int]:
    """One answer per item and annotator, and the number of those that cannot be told."""
    known = set(scheme.labels)
    named = answers["value"].where(
        answers["value"].isin(known) | ~answers["label"].isin(known), answers["label"]
    )
    if level != "nominal":
        named = named.map(lambda text: _number(text, scheme))
    answers = answers.assign(answer=named)
    keys = ["item", "annotator"]
    distinct = answers.drop_duplicates([*keys, "answer"])
    several = distinct.duplicated(keys, keep=False)
    single = distinct[~several].set_index(keys)["answer"]
    told = single[single.notna()]
    unknown = len(distinct[several].drop_duplicates(keys)) + int(single.isna().sum())
    return told, unknown


def _number(text: str, scheme: CategoricalScheme) -> float:
    """The number that an answer stands for: itself, its last digits, or its place on the scale."""
    stripped = text.strip()
    found = _NUMBER.search(stripped)
    # What begins with a number and is none, such as a range or a date, does not mean its end.
    if found and (found[0] == stripped or not stripped.lstrip("-+.")[:1].isdigit()):
        number = float(found[0])
        return number if math.isfinite(number) else math.nan
    return float(scheme.labels.index(text)) if text in scheme.labels else math.nan


def _table(told: pd.Series[Any], level: str) -> _Table:
    """Values in their order; an item is a row, its annotators' answers its counts."""
    items, item_code = np.unique(told.index.get_level_values("item"), return_inverse=True)
    answers = told.to_numpy(dtype=np.float64 if level != "nominal" else object)
    values, value_code = np.unique(answers, return_inverse=True)
    place = (item_code, value_code)
    shape = (len(items), len(values))
    counts = sparse.csr_array(sparse.coo_array((np.ones(len(answers)), place), shape=shape))
    annotators = told.index.get_level_values("annotator").nunique()
    return _Table(counts, values, annotators)


def _alpha(table: _Table, level: str, weights: _Weights) -> tuple[Estimate, Estimate, Estimate]:
    """Alpha, observed and chance agreement of a table, with intervals."""
    counts = table.counts[table.counts.sum(axis=1) >= 2]
    why = ONE_ANNOTATOR if table.annotators < 2 else NO_SHARED_ITEMS
    if counts.shape[0]:
        why = NO_VARIATION
    size = {"n": counts.shape[0], "of": table.counts.shape[0]}
    drawn = weights.of(counts.shape[0])
    m = counts.sum(axis=1)
    agreeing = (counts.power(2).sum(axis=1) - m) / np.maximum(m - 1, 1)
    disagreement = (m - agreeing) @ drawn
    given = weighted_sums(counts.T, drawn)
    values = table.values
    if level == "nominal":
        alpha = nominal_alpha(disagreement, given)
    elif level == "interval":
        values = _scaled(values)
        alpha = _interval_alpha(counts, values, drawn)
    else:
        alpha = _ordinal_alpha(counts, drawn)
    _audit(counts, values, level, alpha)
    return (
        estimate(alpha, why=why, **size),
        estimate(observed_agreement(disagreement, given), why=why, **size),
        estimate(chance_agreement(given), why=why, **size),
    )


def _scaled(values: Floats) -> Floats:
    """Values over the power of two above them all, which loses no digit and changes no alpha.

    Of large values the squares would overflow, and of small ones vanish.
    """
    _, exponent = np.frexp(np.abs(values).max(initial=0.0))
    scaled: Floats = np.ldexp(values, -exponent)
    return scaled


def _interval_alpha(counts: sparse.csr_array, values: Floats, drawn: Floats) -> Floats:
    """Interval alpha: the squared differences within items, and between all values.

    Σ over ordered pairs of (v − w)² is 2·n·Σ (v − mean)²; about any other place than their own
    mean, of values close together the difference of two large sums would be lost.
    """
    table = counts.tocoo()
    m = counts.sum(axis=1)
    mean = counts @ values / m
    away = table.data * (values[table.col] - mean[table.row]) ** 2
    within = 2 * m * np.bincount(table.row, away, minlength=len(m)) / np.maximum(m - 1, 1)
    given = weighted_sums(counts.T, drawn)
    n = given.sum(axis=0)
    expected = (
        2
        * n
        * [
            column @ (values - centre) ** 2
            for column, centre in zip(given.T, values @ given / np.maximum(n, 1), strict=True)
        ]
    )
    # Rounding leaves something where all drawn values are equal: so tell by the values themselves.
    varied = np.count_nonzero(given > 0, axis=0) > 1
    return 1 - ratio((within @ drawn) * (n - 1), np.where(varied, expected, 0))


def _ordinal_alpha(counts: sparse.csr_array, drawn: Floats) -> Floats:
    """Ordinal alpha: two values are as far apart as there are values between them, ends by half."""
    size = counts.shape[1]
    table = counts.toarray()
    m = np.maximum(table.sum(axis=1) - 1, 1)
    alphas = []
    block = max(1, BLOCK // max(size * size, 1))
    for first in range(0, drawn.shape[1], block):
        weight = drawn[:, first : first + block]
        given = table.T @ weight
        below = np.cumsum(given, axis=0) - given / 2
        apart = (below[:, np.newaxis] - below[np.newaxis]) ** 2
        met = np.empty_like(apart)
        for value in range(size):
            met[value] = (table * (table[:, [value]] / m[:, np.newaxis])).T @ weight
        n = given.sum(axis=0)
        observed = (apart * met).sum(axis=(0, 1)) * (n - 1)
        expected = (apart * given[:, np.newaxis] * given[np.newaxis]).sum(axis=(0, 1))
        alphas.append(1 - ratio(observed, expected))
    return np.concatenate(alphas)


def _audit(counts: sparse.csr_array, values: npt.NDArray[Any], level: str, alpha: Floats) -> None:
    """Hold our alpha against the ``krippendorff`` package's, where it fits. Raises AuditError."""
    import krippendorff

    ours = float(alpha[0])
    used = counts.sum(axis=0) > 0
    size = counts.shape[0] * int(used.sum()) ** 2 * 8
    if used.sum() < 2 or math.isnan(ours) or size > AUDIT_MEMORY:
        return
    domain: list[Any] = values[used].tolist()
    if level == "nominal":
        domain = list(range(len(domain)))
    theirs = float(
        krippendorff.alpha(
            value_counts=counts.toarray()[:, used],
            value_domain=domain,
            level_of_measurement=cast(Literal["nominal", "ordinal", "interval"], level),
        )
    )
    if not math.isclose(ours, theirs, rel_tol=0, abs_tol=TOLERANCE):
        raise AuditError(
            f"our {level} alpha is {ours} and the krippendorff package's {theirs} on the same "
            "answers: please report this."
        )


def _options(
    answers: pd.DataFrame, told: pd.Series[Any], scheme: CategoricalScheme, weights: _Weights
) -> dict[str, Estimate]:
    """Alpha of each option of a multiselect question: chosen or not, by those who answered."""
    chosen = set(zip(answers["item"], answers["annotator"], answers["label"], strict=True))
    options = dict.fromkeys((*scheme.labels, *sorted(set(answers["label"]))))
    figures = {}
    for option in options:
        picked = pd.Series(
            ["chosen" if (*key, option) in chosen else "open" for key in told.index],
            index=told.index,
            dtype=object,
        )
        figures[option] = _alpha(_table(picked, "nominal"), "nominal", weights)[0]
    return figures
