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
        return np.bincount(self.comparisons.pair)

    def blocks(self, values: Floats) -> Iterator[tuple[slice, Floats]]:
        """Weighted sums over items of ``values`` (comparisons, columns), runs of pairs at a time.

        Yields the pairs, and float64 (columns, pairs, 1 + resamples), which is the caller's own.
        """
        items, weights = self.weights.shape
        columns = values.shape[1]
        row = np.argsort(self.comparisons.pair, kind="stable")
        ordered, item = values[row].T, self.comparisons.item[row]
        first = np.append(0, np.cumsum(self.shared_items))
        block = max(1, BLOCK // (weights * columns))
        for start in range(0, self.pairs, block):
            here = slice(start, min(start + block, self.pairs))
            rows = slice(first[here.start], first[here.stop])
            size = rows.stop - rows.start
            stops = first[here.start + 1 : here.stop + 1] - rows.start
            ends = np.add.outer(size * np.arange(columns), stops).ravel()
            place = (ordered[:, rows].ravel(), np.tile(item[rows], columns), np.append(0, ends))
            sums = sparse.csr_array(place, shape=(len(ends), items))
            yield here, weighted_sums(sums, self.weights).reshape(columns, -1, weights)

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
