"""Random parts of the rows of a table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.randomness import Use, address, random_part
from softmodes._rows.block import Block
from softmodes._rows.stores import Opened, some_rows


def part_size(n_rows: int) -> int:
    """Return how many rows a part has: 80 % of all, one at least.

    Examples
    --------
    >>> part_size(10), part_size(1)
    (8, 1)
    """
    return max(1, 8 * n_rows // 10)


def part_of(n_rows: int, seed: int, index: int) -> NDArray[np.intp]:
    """Return the numbers of the rows of a part; they depend on seed and index alone."""
    return random_part(n_rows, part_size(n_rows), address(seed, index, Use.SAMPLE))


def rows_that_count(opened: Opened, most: int | None, seed: int) -> NDArray[np.intp]:
    """Return the numbers of the rows of a weight above 0; of more than `most`, a random part."""
    store = opened.store
    rows = np.arange(store.n_rows)
    if store.n_weighed < store.n_rows:
        rows = np.concatenate(store.map(_rows_of_weight))
    if most is not None and len(rows) > most:
        rows = rows[random_part(len(rows), most, address(seed, 0, Use.PART))]
    return rows


def take_rows(opened: Opened, rows: NDArray[np.intp]) -> Opened:
    """Return some rows of a table, in ascending order; all of them as they are, if here."""
    if len(rows) == opened.store.n_rows and not opened.on_cluster:
        return opened
    weight = opened.rows.counts
    taken = replace(opened.rows, counts=None if weight is None else weight[rows])
    return replace(opened, store=some_rows(opened.store, rows), rows=taken)


def _rows_of_weight(block: Block, n_threads: int) -> NDArray[np.intp]:
    weight = np.ones(block.n_rows) if block.weight is None else block.weight
    return block.first_row + np.flatnonzero(weight)
