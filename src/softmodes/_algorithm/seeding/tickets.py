"""Tickets -> rows: who has drawn, if every row has a share of all tickets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.block import Block
from softmodes._rows.stores import RowStore

_CHUNK = 512  # rows searched at once


class Shares:
    """What the rows of a block have of all tickets."""

    def __init__(self, shares: NDArray[Any]) -> None:
        self._shares = shares
        self.sums = np.add.reduceat(shares, np.arange(0, len(shares), _CHUNK), dtype=np.int64)

    def search(self, drawn: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the row in whose share each ticket falls, and how far in."""
        ends = np.cumsum(self.sums)
        rows, rests = np.empty((2, len(drawn)), np.int64)
        for i, chunk in enumerate(np.searchsorted(ends, drawn, side="right")):
            first = int(chunk) * _CHUNK
            rest = drawn[i] - (ends[chunk] - self.sums[chunk])
            cumulated = np.cumsum(self._shares[first : first + _CHUNK], dtype=np.int64)
            row = np.searchsorted(cumulated, rest, side="right")
            rows[i] = first + row
            rests[i] = rest - (cumulated[row - 1] if row else 0)
        return rows, rests


def locate(
    store: RowStore,
    totals: NDArray[np.int64],
    drawn: NDArray[np.int64],
    shares: Callable[[Block, int], Shares],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the row in whose share of all tickets each one falls, and how far in."""
    bounds = np.concatenate([[0], np.cumsum(totals)])
    rows, rests = np.empty((2, len(drawn)), np.int64)
    task = partial(_find, bounds=bounds, drawn=drawn, shares=shares)
    for index, *found in store.map(task):
        rows[index], rests[index] = found
    return rows, rests


def locate_weight(store: RowStore, drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows in which tickets of [0, total weight) fall."""
    totals = np.array(store.map(_weight_total), np.int64)
    return locate(store, totals, drawn, _weights)[0]


def _find(
    block: Block,
    n_threads: int,
    bounds: NDArray[np.int64],
    drawn: NDArray[np.int64],
    shares: Callable[[Block, int], Shares],
) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int64]]:
    start, stop = bounds[block.index], bounds[block.index + 1]
    index = np.flatnonzero((drawn >= start) & (drawn < stop))
    if not len(index):
        return index, *np.empty((2, 0), np.int64)
    rows, rests = shares(block, n_threads).search(drawn[index] - start)
    return index, block.first_row + rows, rests


def _weights(block: Block, n_threads: int) -> Shares:
    weight = block.weight
    return Shares(np.ones(len(block.packed), np.int8) if weight is None else weight)


def _weight_total(block: Block, n_threads: int) -> int:
    return block.total_weight
