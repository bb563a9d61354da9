"""Pairs: weighted sums over the items that each pair of annotators shares, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from potato_iaa.arrays import Flags, Floats, Ints
from potato_iaa.matcher.counts import Comparisons
from potato_iaa.measures.bootstrap import interval, weighted_sums
from potato_iaa.measures.estimate import reasons

# Numbers held at once for a block of pairs: what a processor's cache takes, and a crowd has a
# hundred thousand pairs.
BLOCK = 500_000
# With fewer shared items a pair's resamples are one another's copies, and its interval a fiction.
LEAST_ITEMS = 5
NO_RESAMPLES = "no resamples with a value"


@dataclass(frozen=True, eq=False)
class PairGrid:
    """Comparisons by pair and item, under weights of items, float64 (items, 1 + resamples)."""

    comparisons: Comparisons
    weights: Floats

    @property
    def pairs(self) -> int:
        """The number of pairs that share an item."""
        return len(self.comparisons.pair_a)

    @cached_property
    def shared_items(self) -> Ints:
        """The number of items that each pair shares."""
        return np.bincount(self.comparisons.pair, minlength=self.pairs)

    @cached_property
    def _row(self) -> Ints:
        return np.argsort(self.comparisons.pair, kind="stable")

    @cached_property
    def _row_pair(self) -> Ints:
        return self.comparisons.pair[self._row]

    def blocks(self, columns: int) -> Iterator[slice]:
        """Runs of pairs, whose sums in ``columns`` columns fit a block."""
        block = max(1, BLOCK // max(self.weights.shape[1] * columns, 1))
        for first in range(0, self.pairs, block):
            yield slice(first, min(first + block, self.pairs))

    def sums(self, values: Floats, here: slice) -> Floats:
        """Weighted sums over items of ``values`` (comparisons, columns), of the pairs ``here``.

        Float64 (columns, pairs, 1 + resamples).
        """
        row = self._row[slice(*np.searchsorted(self._row_pair, [here.start, here.stop]))]
        columns, pairs = values.shape[1], here.stop - here.start
        pair = self.comparisons.pair[row] - here.start
        place = (
            (np.arange(columns)[:, np.newaxis] * pairs + pair).ravel(),
            np.tile(self.comparisons.item[row], columns),
        )
        shape = (columns * pairs, self.weights.shape[0])
        sums = sparse.coo_array((values[row].T.ravel(), place), shape=shape)
        return weighted_sums(sums, self.weights).reshape(columns, pairs, -1)

    def why_no_interval(self, value: Floats, low: Floats) -> npt.NDArray[np.object_]:
        """Per pair the reason why a value has no interval, ``None`` where it has one."""
        few = self.shared_items < LEAST_ITEMS
        why = np.where(few, f"fewer than {LEAST_ITEMS} shared items", NO_RESAMPLES)
        told = reasons(low, why)
        told[np.isnan(value)] = None
        return told

    def intervals(self, replicates: Floats, there: Flags, here: slice) -> Floats:
        """Low, high and undefined share, (3, pairs), of the pairs that share enough items.

        ``replicates``, ``there``: (pairs, resamples), the values and whether they are defined.
        """
        bounds = np.full((3, len(replicates)), np.nan)
        enough = self.shared_items[here] >= LEAST_ITEMS
        chosen = np.where(there[enough], replicates[enough], np.nan)
        bounds[:, enough] = np.stack(interval(chosen))
        return bounds
