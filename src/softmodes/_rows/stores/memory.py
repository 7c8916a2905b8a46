"""Rows in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.block import Block
from softmodes._rows.stores.base import RowStore

T = TypeVar("T")


class MemoryStore(RowStore):
    """Blocks in memory, each worked on by all threads."""

    def __init__(
        self,
        blocks: Sequence[Block],
        sizes: NDArray[np.int32],
        n_threads: int = 1,
        whole_weights: bool = True,
    ) -> None:
        self.blocks = tuple(blocks)
        self.layout = blocks[0].layout
        self.sizes = sizes
        self.n_rows = sum(len(block.packed) for block in blocks)
        self.total_weight = sum(block.total_weight for block in blocks)
        self.n_threads = n_threads
        self.whole_weights = whole_weights

    def map(self, task: Callable[[Block, int], T]) -> list[T]:
        """Run a task on every block."""
        return [task(block, self.n_threads) for block in self.blocks]
