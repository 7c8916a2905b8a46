"""Tickets -> rows: who has drawn, if every row has a share of all tickets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._algorithm.seeding.base import Seeds
from softmodes._rows.block import Block, unpack
from softmodes._rows.stores.base import RowStore

_ROWS_AT_ONCE = 512  # searched together

Rows: TypeAlias = NDArray[np.int64]
Tickets: TypeAlias = NDArray[np.int64]


class Shares:
    """What the rows of a block have of all tickets."""

    def __init__(self, by_row: NDArray[Any]) -> None:
        self.by_row = by_row
        starts = np.arange(0, len(by_row), _ROWS_AT_ONCE)
        self.sums = np.add.reduceat(by_row, starts, dtype=np.int64)

    @property
    def total(self) -> int:
        """Number of tickets that the block has."""
        return int(self.sums.sum())

    def search(self, drawn: Tickets) -> tuple[Rows, Tickets]:
        """Return the row in whose share each ticket falls, and how far in."""
        return _kernels.search_tickets(self.by_row, self.sums, _ROWS_AT_ONCE, drawn)


class OneEach:
    """Rows that have one ticket each."""

    def search(self, drawn: Tickets) -> tuple[Rows, Tickets]:
        """Return the row of each ticket, and how far in its share that is: not at all."""
        return drawn, np.zeros_like(drawn)


SharesOf: TypeAlias = Callable[[Block, int], Shares | OneEach]


@dataclass(frozen=True, eq=False)
class Located:
    """The rows that tickets have drawn, one for each ticket: their numbers, and themselves.

    `rests` tell how far in its row's share each ticket lies.
    """

    numbers: Rows
    rests: Tickets
    rows: Block

    @property
    def codes(self) -> Seeds:
        """The codes of the rows."""
        return unpack(self.rows, np.arange(self.rows.n_rows))


class _Found(NamedTuple):
    """Which tickets fall into a block, and what they have drawn there."""

    which: NDArray[np.intp]
    numbers: Rows
    rests: Tickets
    packed: NDArray[np.uint8]
    weight: NDArray[np.int64]


def locate(store: RowStore, totals: Tickets, drawn: Tickets, shares_of: SharesOf) -> Located:
    """Find the rows in whose shares of all tickets some fall, in one map.

    `totals` are the tickets that the blocks have; `shares_of(block, n_threads)` are their rows'.
    """
    owners, places = _kernels.search_tickets(totals, totals, 1, drawn)
    task = partial(_find, owners=owners, places=places, shares_of=shares_of)
    found = _joined(store.map(task))
    rows = Block(store.layout, found.packed, weight=found.weight)
    return Located(found.numbers, found.rests, rows)


def _joined(parts: list[_Found]) -> _Found:
    """Return what was found in all blocks, in the order of the tickets."""
    if len(parts) == 1:
        return parts[0]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[0])
    return _Found(*(column[order] for column in columns))


def locate_weight(store: RowStore, drawn: Tickets) -> Located:
    """Find the rows in which tickets of [0, total weight) fall, in two maps."""
    totals = np.array(store.map(total_weight), np.int64)
    return locate(store, totals, drawn, _weight_shares)


def _find(
    block: Block,
    n_threads: int,
    owners: NDArray[np.intp],
    places: Tickets,
    shares_of: SharesOf,
) -> _Found:
    """Find the rows of the tickets that fall into a block, by their places in it."""
    index = np.flatnonzero(owners == block.index)
    rows = rests = np.empty(0, np.int64)
    if len(index):
        rows, rests = shares_of(block, n_threads).search(places[index])
    weight = np.ones(len(rows), np.int64) if block.weight is None else block.weight[rows]
    return _Found(index, block.first_row + rows, rests, block.packed[rows], weight)


def _weight_shares(block: Block, n_threads: int) -> Shares | OneEach:
    return OneEach() if block.weight is None else Shares(block.weight)


def total_weight(block: Block, n_threads: int) -> int:
    """Return the weight of all rows of a block."""
    return block.total_weight
