"""What every way of seeding needs: its random words, and draws from whole columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.randomness import Use, address, fold_array, tickets, unit_interval
from softmodes._rows.block import Block
from softmodes._rows.stores import RowStore
from softmodes._rows.tally import feature_counts

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Seeding:
    """What every way of seeding needs to know."""

    store: RowStore
    k: int
    seed: int
    run: int
    feature_weight: NDArray[np.uint32] | None = None

    def word_key(self, *parts: int) -> int:
        """Return the address of the random words of one step."""
        return address(self.seed, self.run, Use.SEED, *parts)

    def tickets(self, step: int, n: int, bound: int) -> NDArray[np.int64]:
        """Draw `n` uniform integers in [0, bound)."""
        return tickets(fold_array(self.word_key(step), np.arange(n)), bound)


def draw_from_columns(seeding: Seeding, seeds: Codes, key: int) -> Codes:
    """Draw the cells of `seeds` that are -1 from the shares of their columns."""
    store = seeding.store
    counts = store.overall()
    seed_keys = fold_array(key, np.arange(len(seeds)))
    for j in np.flatnonzero((seeds < 0).any(axis=0)):
        column = feature_counts(counts, store.layout, int(j), int(store.sizes[j]))
        edges = np.cumsum(column[0], dtype=np.float64)
        uniforms = unit_interval(fold_array(seed_keys, np.asarray(j)))
        drawn = np.searchsorted(edges, uniforms * edges[-1], side="right")
        drawn = np.minimum(drawn, len(edges) - 1)
        seeds[:, j] = np.where(seeds[:, j] < 0, drawn, seeds[:, j])
    return seeds


def forget(block: Block, n_threads: int) -> None:
    """Drop what seeding has kept with a block."""
    block.cache.pop("seeding", None)
