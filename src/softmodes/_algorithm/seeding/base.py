"""What every way of seeding needs: its random words, and draws from whole columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._algorithm.randomness import Use, address, fold_array, unit_interval
from softmodes._rows.stores.base import RowStore

Seeds = NDArray[np.int32]  # a row of codes for each


@dataclass(frozen=True, eq=False)
class Seeding:
    """Where seeds come from: the rows, how many are wanted, and the address of their chances."""

    store: RowStore
    k: int
    seed: int
    run: int
    feature_weight: NDArray[np.uint32] | None = None

    def word_key(self, *parts: int) -> int:
        """Return the address of the random words of one step."""
        return address(self.seed, self.run, Use.SEED, *parts)

    def draw_tickets(self, step: int, n: int, bound: int) -> NDArray[np.int64]:
        """Draw `n` uniform integers in [0, bound)."""
        return _kernels.draw_tickets(self.word_key(step), n, bound)


def draw_from_columns(seeding: Seeding, seeds: Seeds, key: int) -> Seeds:
    """Draw the cells of `seeds` that are -1 from the shares of their columns."""
    counts = seeding.store.column_counts()
    seed_keys = fold_array(key, np.arange(len(seeds)))
    for j in np.flatnonzero((seeds < 0).any(axis=0)):
        edges = np.cumsum(counts.feature(int(j))[0], dtype=np.float64)
        uniforms = unit_interval(fold_array(seed_keys, np.asarray(j)))
        drawn = np.searchsorted(edges, uniforms * edges[-1], side="right")
        drawn = np.minimum(drawn, len(edges) - 1)
        seeds[:, j] = np.where(seeds[:, j] < 0, drawn, seeds[:, j])
    return seeds
