"""Array types and the few index tricks that matching, tokens and unitizing share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from math import prod
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Numbers = Ints | Floats
Rows = TypeVar("Rows")


def expand(counts: Ints) -> tuple[Ints, Ints]:
    """Row numbers repeated ``counts`` times, and the position of each copy within its row.

    >>> import numpy as np
    >>> expand(np.array([2, 0, 3]))
    (array([0, 0, 2, 2, 2]), array([0, 1, 0, 1, 2]))
    """
    row = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    first = np.cumsum(counts) - counts
    return row, np.arange(len(row), dtype=np.int64) - first[row]


def pairs_ahead(stop: Ints) -> tuple[Ints, Ints]:
    """All pairs ``(i, j)`` with ``i < j < stop[i]``, in row order.

    >>> pairs_ahead(np.array([3, 3, 3]))
    (array([0, 0, 1]), array([1, 2, 2]))
    """
    left, ahead = expand(np.maximum(stop - np.arange(len(stop), dtype=np.int64) - 1, 0))
    return left, left + ahead + 1


def group_stop(keys: Ints) -> Ints:
    """For sorted ``keys``: the end (exclusive) of the group that each position lies in.

    >>> group_stop(np.array([4, 4, 7]))
    array([2, 2, 3])
    """
    return np.searchsorted(keys, keys, side="right").astype(np.int64)


def group_starts(keys: Ints) -> Ints:
    """For sorted ``keys``: the first position of each group.

    >>> group_starts(np.array([4, 4, 7]))
    array([0, 2])
    """
    if not len(keys):
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))


def dense_codes(keys: Ints) -> Ints:
    """Codes 0, 1, … in the order of the sorted distinct ``keys``.

    >>> dense_codes(np.array([30, 10, 30]))
    array([1, 0, 1])
    """
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def ratio(above: Numbers, below: Numbers) -> Floats:
    """``above`` / ``below``, NaN (undefined) where ``below`` is not positive.

    >>> ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Floats = np.asarray(np.true_divide(above, below))
    # Dividing everything and clearing what was not to be is faster than dividing where it is.
    undefined = np.broadcast_to(np.asarray(below) <= 0, result.shape)
    if undefined.any():
        result[undefined] = np.nan
    return result


def weigh(place: Ints, weight: Numbers, size: int) -> Floats:
    """The sum of the weights at each of ``size`` places, float64.

    >>> weigh(np.array([2, 0, 2]), np.array([1, 5, 2]), 3)
    array([5., 0., 3.])
    """
    return np.asarray(np.bincount(place, weights=weight, minlength=size), dtype=np.float64)


def distinct(*columns: Ints) -> tuple[Ints, ...]:
    """The distinct rows of equally long columns of codes, sorted by the first, the second, …

    Rows that fit into one 64-bit number are sorted as such.

    >>> distinct(np.array([3, 1, 3]), np.array([0, 2, 0]))
    (array([1, 3]), array([2, 0]))
    """
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    if prod(sizes) >= 2**63:
        rows = np.unique(np.column_stack(columns), axis=0)
        return tuple(rows.T)
    key = columns[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        key = key * size + column
    key = np.sort(key)
    key = key[group_starts(key)]
    found = []
    for size in reversed(sizes[1:]):
        rest = key // size
        found.append(key - rest * size)
        key = rest
    return (key, *reversed(found))


def present(codes: Ints) -> Ints:
    """The distinct values among small non-negative codes, sorted.

    >>> present(np.array([4, 1, 4]))
    array([1, 4])
    """
    return np.flatnonzero(np.bincount(codes))


def flags_at(rows: Iterable[int] | Ints, count: int) -> Flags:
    """Of ``count`` rows, which are among ``rows``.

    >>> flags_at([2, 0], 4)
    array([ True, False,  True, False])
    """
    flags = np.zeros(count, dtype=bool)
    flags[rows if isinstance(rows, np.ndarray) else list(rows)] = True
    return flags


def any_of(several: Iterable[Flags], count: int) -> Flags:
    """Of ``count`` rows, which have one of ``several`` flags.

    >>> any_of([np.array([True, False]), np.array([True, False])], 2)
    array([ True, False])
    """
    found = np.zeros(count, dtype=bool)
    for flags in several:
        found |= flags
    return found


def row_keys(columns: Sequence[Ints]) -> Ints:
    """One number per row, equal for two rows if and only if all their columns are equal.

    >>> row_keys([np.array([3, 1, 3]), np.array([-5, -5, -5])])
    array([2, 0, 2])
    """
    keys = np.zeros(len(columns[0]), dtype=np.int64)
    if not len(keys):
        return keys
    count = 1
    for column in columns:
        values = column - column.min()
        if values.max() >= 2**31:
            values = dense_codes(values)
        width = int(values.max()) + 1
        if count * width >= 2**62:
            keys = dense_codes(keys)
            count = int(keys.max()) + 1
        keys = keys * width + values
        count *= width
    return keys


def stack(parts: Sequence[Rows]) -> Rows:
    """One dataclass of arrays out of several: the rows of the first, of the second, …

    Every field is an array or a sparse matrix with one row per thing counted.
    """
    if len(parts) == 1:
        return parts[0]
    first: Any = parts[0]
    return type(parts[0])(
        **{
            field.name: _stacked([getattr(part, field.name) for part in parts])
            for field in fields(first)
        }
    )


def _stacked(arrays: Sequence[Any]) -> Any:
    if sparse.issparse(arrays[0]):
        return sparse.vstack(arrays, format="csr")
    return np.concatenate(arrays)
