"""How common the values of a table are in each group: what a report may show of counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._model.clustering import Clustering

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

FEWEST_ROWS = 5  # in a cell that is shown
_MOST_VALUES = 60  # of a column, the most telling ones


@dataclass(frozen=True, eq=False)
class Shares:
    """Counts of values, by group; values of all columns one after the other.

    `counts[i, v]` is the weight of the rows of group i with value v, `observed[i, v]` that of the
    rows of the group that have any value in its column; `hidden[i, v]` tells that a cell is of too
    few rows to be shown.
    """

    column: NDArray[np.intp]  # of every value
    code: NDArray[np.intp]
    counts: Floats
    observed: Floats
    hidden: Flags
    n_left_out: int  # values that are held by too few rows, or are not among the most telling

    @cached_property
    def shares(self) -> Floats:
        """Share of each value in each group, among the rows that have one in its column."""
        return _divided(self.counts, self.observed)

    @cached_property
    def overall(self) -> Floats:
        """Share of each value among all rows that have one in its column."""
        return _divided(self.counts.sum(axis=0), self.observed.sum(axis=0))

    @cached_property
    def telling(self) -> Floats:
        """What part of the variance of having a value the groups explain, from 0 to 1."""
        return _telling(self.counts, self.observed)

    def take(self, chosen: NDArray[Any]) -> Shares:
        """Return some of the values."""
        return Shares(
            self.column[chosen],
            self.code[chosen],
            self.counts[:, chosen],
            self.observed[:, chosen],
            self.hidden[:, chosen],
            self.n_left_out + len(self.code) - len(self.code[chosen]),
        )


def shares_of(found: Clustering, small_cells: bool) -> Shares:
    """Return the shares of all columns of a clustering; of many values, the most telling ones."""
    counts = found.tally.counts
    parts = []
    for j in range(found.codebook.n_features):
        values = counts.feature(j).astype(np.float64) * found.row_unit
        parts.append(column_shares(values, j, small_cells))
    return joined(parts)


def column_shares(counts: Floats, column: int, small_cells: bool) -> Shares:
    """Return the shares of one column, from the counts of its values by group."""
    hidden = np.zeros(counts.shape, np.bool_) if small_cells else too_small(counts)
    everywhere = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape)
    total = counts.sum(axis=0)
    fewest = 0.0 if small_cells else FEWEST_ROWS
    kept = np.flatnonzero((total > 0) & (total >= fewest))
    if len(kept) > _MOST_VALUES:
        telling = _telling(counts[:, kept], everywhere[:, kept])
        kept = np.sort(kept[np.argsort(-telling, kind="stable")[:_MOST_VALUES]])
    return Shares(
        np.full(len(kept), column),
        kept,
        counts[:, kept],
        everywhere[:, kept],
        hidden[:, kept],
        int(np.count_nonzero(total)) - len(kept),
    )


def joined(parts: list[Shares]) -> Shares:
    """Return the values of several columns one after the other."""
    return Shares(
        np.concatenate([part.column for part in parts]),
        np.concatenate([part.code for part in parts]),
        np.concatenate([part.counts for part in parts], axis=1),
        np.concatenate([part.observed for part in parts], axis=1),
        np.concatenate([part.hidden for part in parts], axis=1),
        sum(part.n_left_out for part in parts),
    )


def too_small(counts: Floats) -> Flags:
    """Tell which cells of a column are not to be shown, by group and value.

    Those of under 5 rows, and all cells of a group that has no more; and where the hidden ones are
    under 5 rows together, so that the others would give them away, the next smallest as well.

    Examples
    --------
    >>> too_small(np.array([[3.0, 97.0], [50.0, 50.0], [2.0, 0.0], [0.0, 9.0]])).tolist()
    [[True, True], [False, False], [True, True], [False, False]]
    """
    hidden = (counts > 0) & (counts < FEWEST_ROWS)
    hidden |= counts.sum(axis=1, keepdims=True) < FEWEST_ROWS
    for group in np.flatnonzero(hidden.any(axis=1)):
        left = np.where(hidden[group] | (counts[group] == 0), np.inf, counts[group])
        together = counts[group][hidden[group]].sum()
        if together < FEWEST_ROWS and np.isfinite(left).any():
            hidden[group, np.argmin(left)] = True
    return hidden


def _telling(counts: Floats, observed: Floats) -> Floats:
    sizes = observed.sum(axis=0)
    overall = _divided(counts.sum(axis=0), sizes)
    between = (observed * (_divided(counts, observed) - overall) ** 2).sum(axis=0)
    return _divided(between, sizes * overall * (1.0 - overall))


def _divided(part: Floats, whole: Floats) -> Floats:
    found: Floats = part / np.where(whole > 0, whole, 1.0)
    return found
