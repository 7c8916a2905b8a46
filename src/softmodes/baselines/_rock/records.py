"""Tables as sets of attribute=value items, and which rows are neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from softmodes._table.codes import Codes

# Pairs of rows compared at once: their counts stay in the cache while columns go by.
_PAIRS_AT_ONCE = 2**20


@dataclass(frozen=True, eq=False)
class Records:
    """Rows by column; a negative code stands for no item."""

    columns: tuple[NDArray[Any], ...]
    complete: bool

    @classmethod
    def of(cls, codes: Codes) -> Records:
        """Take the rows of a table; ignored cells hold no item."""
        columns = [
            np.where(cells == ignored, -1, cells.astype(np.int32)) if ignored >= 0 else cells
            for cells, ignored in zip(codes.columns(), codes.ranges.ignored, strict=True)
        ]
        return cls(tuple(columns), complete=bool((codes.ranges.ignored < 0).all()))

    def __len__(self) -> int:
        return len(self.columns[0])

    def take(self, rows: NDArray[np.intp] | slice) -> Records:
        """Return some of the rows."""
        return Records(tuple(column[rows] for column in self.columns), self.complete)

    def blocks(self, width: int) -> Iterator[slice]:
        """Cut the rows so that a block against `width` others stays small."""
        height = max(1, _PAIRS_AT_ONCE // max(width, 1))
        for start in range(0, len(self), height):
            yield slice(start, min(start + height, len(self)))

    def items(self) -> NDArray[np.intp]:
        """Return the number of items of each row, or of every row alike."""
        if self.complete:
            return np.array([len(self.columns)])
        return np.asarray(sum((column >= 0).astype(np.intp) for column in self.columns))

    def matches(self, others: Records) -> NDArray[Any]:
        """Return the number of items that each row shares with each of the others."""
        shape = len(self), len(others)
        counts = np.zeros(shape, np.min_scalar_type(len(self.columns)))
        same = np.empty(shape, np.bool_)
        for mine, theirs in zip(self.columns, others.columns, strict=True):
            np.equal(mine[:, None], theirs[None], out=same)
            if not self.complete:
                same &= theirs >= 0
            np.add(counts, same.view(np.uint8), out=counts)
        return counts

    def observed_together(self, others: Records) -> NDArray[np.float32] | int:
        """Return in how many columns both rows hold an item."""
        if self.complete:
            return len(self.columns)
        mine, theirs = (
            np.stack([column >= 0 for column in side.columns], axis=1).astype(np.float32)
            for side in (self, others)
        )
        return mine @ theirs.T


@dataclass(frozen=True)
class Rule:
    """Who is a neighbour: similar by at least theta (Jaccard), or within eps (Hamming)."""

    theta: float
    eps: float | None

    def holds(self, rows: Records, others: Records, matches: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell which rows are neighbours of which others, given the items that they share."""
        if self.eps is None:
            totals = rows.items()[:, None] + others.items()[None]
            near = matches >= self._least_matches(2 * len(rows.columns))[totals]
        else:
            near = matches >= rows.observed_together(others) - self.eps
        return np.asarray(near, dtype=np.bool_)

    def _least_matches(self, most_items: int) -> NDArray[np.intp]:
        """Return how many items two rows must share, by the number of items of both together."""
        total, shared = np.ogrid[: most_items + 1, : most_items + 1]
        similarity = shared / np.maximum(total - shared, 1)
        return np.asarray(np.argmax((similarity >= self.theta) | (shared > total), axis=1))


def neighbor_lists(rows: Records, rule: Rule, n_threads: int) -> Any:
    """Return the neighbours of each row as a sparse matrix of ones; no row is its own."""

    def one_block(block: slice) -> Any:
        some = rows.take(block)
        near = rule.holds(some, rows, some.matches(rows))
        near[np.arange(len(some)), np.arange(block.start, block.stop)] = False
        return csr_array(near)

    with ThreadPoolExecutor(n_threads) as pool:
        found = vstack(list(pool.map(one_block, rows.blocks(len(rows)))), format="csr")
    return csr_array(found, dtype=np.int32)
