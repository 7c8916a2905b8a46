"""Tickets -> rows: who has drawn, if every row has a share of all tickets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.block import Block
from softmodes._rows.stores.base import RowStore

_ROWS_AT_ONCE = 512  # searched together

Rows: TypeAlias = NDArray[np.int64]


class Shares:
    """What the rows of a block have of all tickets."""

    def __init__(self, shares: NDArray[Any]) -> None:
        self._shares = shares
        starts = np.arange(0, len(shares), _ROWS_AT_ONCE)
        self.sums = np.add.reduceat(shares, starts, dtype=np.int64)

    @property
    def total(self) -> int:
        """Number of tickets that the block has."""
        return int(self.sums.sum())

    def search(self, drawn: NDArray[np.int64]) -> tuple[Rows, NDArray[np.int64]]:
        """Return the row in whose share each ticket falls, and how far in."""
        ends = np.cumsum(self.sums)
        rows, rests = np.empty((2, len(drawn)), np.int64)
        for i, stretch in enumerate(np.searchsorted(ends, drawn, side="right")):
            first = int(stretch) * _ROWS_AT_ONCE
            rest = drawn[i] - (ends[stretch] - self.sums[stretch])
            cumulated = np.cumsum(self._shares[first : first + _ROWS_AT_ONCE], dtype=np.int64)
            row = np.searchsorted(cumulated, rest, side="right")
            rows[i] = first + row
            rests[i] = rest - (cumulated[row - 1] if row else 0)
        return rows, rests


SharesOf: TypeAlias = Callable[[Block, int], Shares]


def locate(
    store: RowStore, totals: NDArray[np.int64], drawn: NDArray[np.int64], shares_of: SharesOf
) -> tuple[Rows, NDArray[np.int64]]:
    """Find the row in whose share of all tickets each one falls, and how far in.

    `totals` are the tickets that the blocks have; `shares_of(block, n_threads)` are their rows'.
    """
    ends = np.cumsum(totals)
    owners = np.searchsorted(ends, drawn, side="right")
    places = drawn - (ends - totals)[owners]
    rows, rests = np.empty((2, len(drawn)), np.int64)
    task = partial(_find, owners=owners, places=places, shares_of=shares_of)
    for index, *found in store.map(task):
        rows[index], rests[index] = found
    return rows, rests


def locate_weight(store: RowStore, drawn: NDArray[np.int64]) -> Rows:
    """Return the rows in which tickets of [0, total weight) fall."""
    totals = np.array(store.map(_total_weight), np.int64)
    return locate(store, totals, drawn, _weight_shares)[0]


def _find(
    block: Block,
    n_threads: int,
    owners: NDArray[np.intp],
    places: NDArray[np.int64],
    shares_of: SharesOf,
) -> tuple[NDArray[np.intp], Rows, NDArray[np.int64]]:
    """Find the rows of the tickets that fall into a block, by their places in it."""
    index = np.flatnonzero(owners == block.index)
    if not len(index):
        return index, *np.empty((2, 0), np.int64)
    rows, rests = shares_of(block, n_threads).search(places[index])
    return index, block.first_row + rows, rests


def _weight_shares(block: Block, n_threads: int) -> Shares:
    weight = block.weight
    return Shares(np.ones(block.n_rows, np.int8) if weight is None else weight)


def _total_weight(block: Block, n_threads: int) -> int:
    return block.total_weight
