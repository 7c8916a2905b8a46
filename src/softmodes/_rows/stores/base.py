"""What a store of rows must offer, and everything that follows from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial, reduce
from operator import add
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.block import Block, Layout, unpack
from softmodes._rows.remember import label_again, tally_again
from softmodes._rows.tally import Metric, Tally

T = TypeVar("T")


class RowStore(ABC):
    """Packed rows in blocks. A backend says only how to run a task on each block.

    `sizes[j]` is the number of values that a center may take in feature j; cells may hold further
    codes (missing, unseen). Weights are counted in units; with `whole_weights` a unit is one row.
    `n_threads` is for what is done here between two passes.
    """

    layout: Layout
    sizes: NDArray[np.int32]
    n_rows: int
    total_weight: int
    whole_weights: bool
    n_threads: int = 1

    @abstractmethod
    def map(self, task: Callable[[Block, int], T]) -> list[T]:
        """Run `task(block, n_threads)` on every block; results come in the order of the rows."""

    def tally(self, centers: NDArray[np.int32], metric: Metric) -> Tally:
        """Assign all rows and count: the only pass over the rows of a round."""
        return reduce(add, self.map(partial(tally_again, centers=centers, metric=metric)))

    def labels(self, centers: NDArray[np.int32], metric: Metric) -> NDArray[np.int32]:
        """Return the nearest center of every row."""
        return np.concatenate(self.map(partial(label_again, centers=centers, metric=metric)))

    def rows(self, index: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the codes of some rows, by global row number."""
        found = np.zeros((len(index), self.layout.n_features), np.int32)
        for here, codes in self.map(partial(_rows, index=index)):
            found[here] = codes
        return found

    def overall(self) -> Tally:
        """Count all rows as one cluster."""
        return self.tally(np.zeros((1, self.layout.n_features), np.int32), Metric())


def _rows(
    block: Block, n_threads: int, index: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    local = index - block.first_row
    here = np.flatnonzero((local >= 0) & (local < len(block.packed)))
    return here, unpack(block, local[here])
