"""Two sides: humans with each other beside a system or a gold standard with the humans."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
import pandas as pd

from potato_iaa.arrays import Flags, Floats, weigh
from potato_iaa.matcher.counts import Counts
from potato_iaa.measures.bootstrap import estimate
from potato_iaa.measures.estimate import NO_SHARED_ITEMS, ONE_ANNOTATOR, Estimate, records
from potato_iaa.measures.f1 import Ground, f1_score, over_pairs


@dataclass(frozen=True)
class Comparison:
    """One figure of both sides, and their difference on the same resamples.

    ``humans``: mean F1 of the humans with each other; ``side``: mean F1 of the other side with the
    humans; ``difference``: side − humans.
    """

    humans: Estimate
    side: Estimate
    difference: Estimate

    def to_dict(self) -> dict[str, Any]:
        """The three figures as in report.json."""
        return {
            "humans": self.humans.to_dict(),
            "side": self.side.to_dict(),
            "difference": self.difference.to_dict(),
        }


@dataclass(frozen=True, eq=False)
class Side:
    """One system or gold standard against the humans.

    ``rules``: rule and typing → figures; ``labels``: label → figures of the exact, typed rule.
    ``reference``: only for gold: annotator, items, tp, precision, recall, value: everybody else
    against it as the reference, exact and typed.
    """

    annotator: str
    role: str
    rules: dict[str, Comparison]
    labels: dict[str, Comparison]
    reference: pd.DataFrame | None

    def to_dict(self) -> dict[str, Any]:
        """The side as in report.json."""
        return {
            "annotator": self.annotator,
            "role": self.role,
            "f1": {name: figure.to_dict() for name, figure in self.rules.items()},
            "labels": {label: figure.to_dict() for label, figure in self.labels.items()},
            "reference": None if self.reference is None else records(self.reference),
        }


def sides(
    counts: dict[str, Counts], ground: Ground, roles: dict[str, str], labels: tuple[str, ...]
) -> tuple[Side, ...]:
    """Every annotator who is not human against those who are.

    ``counts``: rule and typing → counts on a layer with all roles, ``exact_typed`` among them.
    """
    human = np.array([roles[name] == "human" for name in ground.annotators], dtype=bool)
    a, b = ground.comparisons.pair_a, ground.comparisons.pair_b
    among, humans = human[a] & human[b], int(human.sum())
    found = []
    for code, name in enumerate(ground.annotators):
        if human[code]:
            continue
        against = ((a == code) & human[b]) | ((b == code) & human[a])
        exact = counts["exact_typed"]
        found.append(
            Side(
                annotator=name,
                role=roles[name],
                rules={
                    rule: _compare(_totals(rule_counts), ground, among, against, humans)
                    for rule, rule_counts in counts.items()
                },
                labels={
                    label: _compare(_of_label(exact, place), ground, among, against, humans)
                    for place, label in enumerate(labels)
                },
                reference=_reference(exact, ground, code) if roles[name] == "gold" else None,
            )
        )
    return tuple(found)


def _totals(counts: Counts) -> tuple[Floats, Floats]:
    return (
        np.asarray((counts.tp_a + counts.tp_b).sum(axis=1)).ravel(),
        np.asarray((counts.n_a + counts.n_b).sum(axis=1)).ravel(),
    )


def _of_label(counts: Counts, label: int) -> tuple[Floats, Floats]:
    return (
        (counts.tp_a + counts.tp_b)[:, [label]].toarray().ravel(),
        (counts.n_a + counts.n_b)[:, [label]].toarray().ravel(),
    )


def _compare(
    sums: tuple[Floats, Floats], ground: Ground, among: Flags, against: Flags, humans: int
) -> Comparison:
    figures = []
    for chosen, of in ((among, comb(humans, 2)), (against, humans)):
        here = replace(ground, chosen_pairs=chosen)
        reduced = over_pairs([sums[0][:, np.newaxis]], sums[1][:, np.newaxis], here)[0]
        n = int(np.count_nonzero(~np.isnan(reduced.values[0]) & here.counted_pairs))
        why = here.why if chosen.any() else NO_SHARED_ITEMS
        figures.append((reduced.mean[0], why if of else ONE_ANNOTATOR, n, of))
    (own, own_why, n, of), (side, side_why, side_n, side_of) = figures
    return Comparison(
        humans=estimate(own, why=own_why, n=n, of=of),
        side=estimate(side, why=side_why, n=side_n, of=side_of),
        difference=estimate(
            side - own, why=own_why if np.isnan(own[0]) else side_why, n=side_n, of=side_of
        ),
    )


def _reference(counts: Counts, ground: Ground, gold: int) -> pd.DataFrame:
    """Precision and recall of everybody who shares items with ``gold``, the reference."""
    comparisons = ground.comparisons
    is_a = comparisons.pair_a == gold
    pairs = np.flatnonzero(is_a | (comparisons.pair_b == gold))
    sums = {
        name: weigh(comparisons.pair, np.asarray(matrix.sum(axis=1)).ravel(), ground.pairs)[pairs]
        for name, matrix in (("n_a", counts.n_a), ("n_b", counts.n_b), ("tp", counts.tp_a))
    }
    in_gold = np.where(is_a[pairs], sums["n_a"], sums["n_b"])
    in_other = np.where(is_a[pairs], sums["n_b"], sums["n_a"])
    other = np.where(is_a, comparisons.pair_b, comparisons.pair_a)[pairs]
    return pd.DataFrame(
        {
            "annotator": [ground.annotators[code] for code in other],
            "items": ground.shared_items[pairs],
            "tp": sums["tp"].astype(np.int64),
            "precision": f1_score(sums["tp"], in_other),
            "recall": f1_score(sums["tp"], in_gold),
            "value": f1_score(2 * sums["tp"], in_gold + in_other),
            "interval_why": "the interval is that of the mean over humans",
        }
    )
