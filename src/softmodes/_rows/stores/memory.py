"""Rows in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
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
        self.total_weight = sum(block.total_weight for block in self.blocks)
        self.n_threads = n_threads
        self.weights_repeat = weights_repeat
        self.remember = remember

    def map(self, task: Callable[[Block, int], T]) -> list[T]:
        """Run a task on every block."""
        return [task(block, self.n_threads) for block in self.blocks]
