"""The same table without any structure: each column is put in a random order of its own."""

from __future__ import annotations

import numpy as np

from softmodes._algorithm.plan import Plan
from softmodes._algorithm.randomness import Use, address, random_order
from softmodes._choice.chain import Levels
from softmodes._choice.criteria import explained
from softmodes._rows.block import pack
from softmodes._rows.stores import MemoryStore, Opened
from softmodes._table.codes import CodeRanges, Codes


def shuffled_explained(
    opened: Opened, plan: Plan, most: int, row_scale: float, levels: Levels
) -> dict[int, float]:
    """Return, by number of clusters, what share of mismatches they explain in a shuffled table."""
    found = levels(shuffled(opened, plan.seed), plan, most, row_scale)
    return {level.k: explained(level.partition) for level in found}


def shuffled(opened: Opened, seed: int) -> MemoryStore:
    """Return the rows of a table with the cells of each column in a random order.

    The order depends on the seed and on the column's number alone; weights stay where they are.
    """
    store = opened.store
    n, layout = store.n_rows, store.layout
    cells = store.rows(np.arange(n))
    columns = tuple(
        np.ascontiguousarray(cells[random_order(n, address(seed, 0, Use.SHUFFLE, j)), j])
        for j in range(layout.n_features)
    )
    codes = Codes(n, columns, CodeRanges(layout.n_codes, layout.ignored))
    block = pack(codes, layout, store.n_threads, weight=opened.rows.counts)
    return MemoryStore(
        [block], store.n_values, store.n_threads, store.weights_repeat, store.remember
    )
