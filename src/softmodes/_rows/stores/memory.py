"""Rows in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.block import Block
from softmodes._rows.stores.base import RowStore

T = TypeVar("T")


class MemoryStore(RowStore):
    """Blocks in memory, each worked on by all threads; at least one must hold a row."""

    def __init__(
        self,
        blocks: Sequence[Block],
        n_values: NDArray[np.int32],
        n_threads: int = 1,
        weights_repeat: bool = True,
        remember: bool = True,
    ) -> None:
        filled = [block for block in blocks if block.n_rows]
        self.blocks = tuple(replace(block, index=i) for i, block in enumerate(filled))
        self.layout = self.blocks[0].layout
        self.n_values = n_values
        self.n_rows = sum(block.n_rows for block in self.blocks)
        self.n_weighed = sum(block.n_weighed for block in self.blocks)
        self.total_weight = sum(block.total_weight for block in self.blocks)
        self.n_threads = n_threads
        self.weights_repeat = weights_repeat
        self.remember = remember

    def map(self, task: Callable[[Block, int], T]) -> list[T]:
        """Run a task on every block."""
        return [task(block, self.n_threads) for block in self.blocks]


def some_rows(store: RowStore, index: NDArray[np.int64]) -> MemoryStore:
    """Return some rows of a store, given by their numbers in ascending order, as a store."""
    blocks, first_row = [], 0
    for block in store.map(partial(_taken, index=index)):
        blocks.append(replace(block, first_row=first_row))
        first_row += block.n_rows
    return MemoryStore(
        blocks, store.n_values, store.n_threads, store.weights_repeat, store.remember
    )


def _taken(block: Block, n_threads: int, index: NDArray[np.int64]) -> Block:
    local = index[(index >= block.first_row) & (index < block.first_row + block.n_rows)]
    return block.take(local - block.first_row)
