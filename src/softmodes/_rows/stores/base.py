"""What a store of rows must offer, and everything that follows from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, partial, reduce
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.block import Block, Layout, unpack
from softmodes._rows.centers import Centers, CodeCenters, Comparison, ScoreCenters
from softmodes._rows.counts import Counts
from softmodes._rows.one_cluster import soft_tally_of_one, tally_of_one
from softmodes._rows.remember import label_rows, soft_tally_rows, tally_rows
from softmodes._rows.tally import (
    Found,
    Pass,
    SoftTally,
    Tally,
    all_distances,
    all_memberships,
    count_block,
    log_likelihoods,
)

T = TypeVar("T")


class RowStore(ABC):
    """Packed rows in blocks. A backend says only how to run a task on each block.

    No block is empty, all have one layout, and a block's `index` is its position. `n_values[j]` is
    the number of values that a center may take in feature j; cells may hold further codes (missing,
    unseen). Weights are counted in units; with `weights_repeat` they stand for repeated rows.
    `n_threads` is for what is done here between two passes. Without `remember`, every pass compares
    all rows with all centers. A `sparing` store has no room for caches as large as the rows.
    """

    layout: Layout
    n_values: NDArray[np.int32]
    n_rows: int
    n_weighed: int  # rows of a weight above 0
    total_weight: int
    weights_repeat: bool
    n_threads: int = 1
    remember: bool = True
    sparing: bool = False

    @abstractmethod
    def map(self, task: Callable[[Block, int], T]) -> list[T]:
        """Run `task(block, n_threads)` on every block; results come in the order of the rows."""

    def sum(self, task: Callable[[Block, int], T]) -> T:
        """Run a task on every block, and add what it returns: sums that any order gives."""
        return reduce(add, self.map(task))

    def by_row(self, task: Callable[[Block, int], NDArray[Any]], name: str = "found") -> Any:
        """Run a task that returns something for every row of a block; return that of all rows.

        The kind of the outcome is the store's: an array here, maybe one that is not in memory, or
        not there yet; or a column of this `name`.
        """
        return _joined(self.map(task))

    def tally(self, centers: Centers, comparison: Comparison) -> Tally:
        """Assign all rows and count: the only pass over the rows of a round.

        With one center there is none, but for the first time.
        """
        if len(centers) == 1:
            return tally_of_one(self._whole, centers, comparison)
        asked = Pass(centers, comparison, self.n_values)
        return self.sum(partial(tally_rows, asked=asked, remember=self.remember))

    def soft_tally(self, scores: ScoreCenters, comparison: Comparison) -> SoftTally:
        """Share all rows among the clusters and count: the only pass of a latent round."""
        if len(scores) == 1:
            return soft_tally_of_one(self._whole, scores)
        asked = Pass(scores, comparison, self.n_values)
        return self.sum(partial(soft_tally_rows, asked=asked, sparing=self.sparing))

    def count(self, labels: NDArray[np.int32], k: int) -> tuple[Counts, NDArray[np.int64]]:
        """Return counts and cluster sizes of all rows by given labels."""
        task = partial(count_block, labels=labels, k=k, n_values=self.n_values)
        counts, sizes = zip(*self.map(task), strict=True)
        return reduce(add, counts), sum(sizes)

    def labels(
        self,
        centers: Centers,
        comparison: Comparison,
        remember: bool = True,
        numbers: NDArray[np.int32] | None = None,
    ) -> Any:
        """Return the nearest center of every row; from what the last pass has left, if it may.

        `numbers` are what to call the centers, if not by their positions.
        """
        asked = Pass(centers, comparison, self.n_values)
        return self.by_row(
            partial(label_rows, asked=asked, remember=remember, numbers=numbers), "label"
        )

    def distances(
        self,
        centers: Centers,
        feature_weight: NDArray[np.uint32] | None,
        keep: Callable[[Found], Found] = np.asarray,
        name: str = "distances",
    ) -> Any:
        """Return the distance of every row to every center, or what is to be kept of it.

        `keep` gets those of some rows at a time, an array of as many rows, and returns another.
        """
        task = partial(all_distances, centers=centers, feature_weight=feature_weight, keep=keep)
        return self.by_row(task, name)

    def memberships(
        self,
        scores: ScoreCenters,
        comparison: Comparison,
        keep: Callable[[Found], Found] = np.asarray,
        name: str = "memberships",
    ) -> Any:
        """Return the parts of every row in every cluster, 2**16 in all, or what is to be kept."""
        asked = Pass(scores, comparison, self.n_values)
        return self.by_row(partial(all_memberships, asked=asked, keep=keep), name)

    def log_likelihoods(
        self, scores: ScoreCenters, keep: Callable[[Found], Found] = np.asarray
    ) -> Any:
        """Return the log-likelihood of every row, in bits, or what is to be kept of it."""
        return self.by_row(partial(log_likelihoods, centers=scores, keep=keep), "log_likelihood")

    def rows(self, index: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the codes of some rows, by global row number."""
        found = np.zeros((len(index), self.layout.n_features), np.int32)
        for here, codes in self.map(partial(_rows, index=index)):
            found[here] = codes
        return found

    def column_counts(self) -> Counts:
        """Count all rows as one cluster."""
        return self._whole.counts

    @cached_property
    def _whole(self) -> Tally:
        """The tally of all rows with a center of their first values."""
        anywhere = CodeCenters(np.zeros((1, self.layout.n_features), np.int32))
        asked = Pass(anywhere, Comparison(), self.n_values)
        return self.sum(partial(tally_rows, asked=asked, remember=self.remember))


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Return arrays as one, without a copy of a single one."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _rows(
    block: Block, n_threads: int, index: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    local = index - block.first_row
    here = np.flatnonzero((local >= 0) & (local < block.n_rows))
    return here, unpack(block, local[here])
