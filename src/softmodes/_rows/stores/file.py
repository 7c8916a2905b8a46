"""Rows in memory up to a limit, and beyond in a temporary file."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import chain
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.block import Block, Layout, aligned_zeros
from softmodes._rows.scratch import Room, Scratch
from softmodes._rows.stores.base import RowStore

T = TypeVar("T")

_BLOCK_BYTES = 1 << 24
_LEAST_BLOCK_BYTES = 1 << 20
_CACHE_BYTES = 20  # that passes would like to keep for each row

_Place = NDArray[np.uint8] | tuple[int, int]  # rows in memory; where they begin in a file, how many


class RowWriter:
    """Takes packed rows in order, some at a time, and makes blocks of them."""

    def __init__(self, layout: Layout, n_rows: int, room: Room) -> None:
        self.layout = layout
        self.n_rows = n_rows
        self.room = room
        self._at_once = _rows_of_a_block(layout.stride, room.limit)
        self._left = n_rows
        self._begun = self._next_block()
        self._filled = 0
        self._scratch: Scratch | None = None
        self._places: list[_Place] = []

    def add(self, packed: NDArray[np.uint8]) -> None:
        """Take some rows."""
        while len(packed):
            some = packed[: len(self._begun) - self._filled]
            self._begun[self._filled : self._filled + len(some)] = some
            self._filled += len(some)
            packed = packed[len(some) :]
            if self._filled == len(self._begun):
                self._put(self._begun)
                self._begun, self._filled = self._next_block(), 0

    def blocks(
        self, weight: NDArray[np.int64] | None, fit_layout: Layout | None
    ) -> tuple[tuple[Block, ...], mmap.mmap | None]:
        """Return the blocks of all rows, and the map in which those lie that are in the file."""
        assert not self._left
        file = None if self._scratch is None else self._scratch.mapped()
        blocks: list[Block] = []
        first = 0
        for place in self._places:
            packed = self._mapped(file, *place) if isinstance(place, tuple) else place
            some = None if weight is None else weight[first : first + len(packed)]
            blocks.append(Block(self.layout, packed, first, len(blocks), some, fit_layout))
            first += len(packed)
        return tuple(blocks), file

    def _next_block(self) -> NDArray[np.uint8]:
        return aligned_zeros(min(self._at_once, self._left), self.layout.stride)

    def _put(self, rows: NDArray[np.uint8]) -> None:
        self._left -= len(rows)
        if self.room.take(rows.nbytes):
            self._places.append(rows)
            return
        self._scratch = self._scratch or Scratch()
        needed = self._scratch.size + rows.nbytes + self._left * self.layout.stride
        self._places.append((self._scratch.write(rows, needed, new_page=True), len(rows)))

    def _mapped(self, file: mmap.mmap | None, start: int, n_rows: int) -> NDArray[np.uint8]:
        assert file is not None
        stride = self.layout.stride
        return np.frombuffer(file, np.uint8, n_rows * stride, start).reshape(n_rows, stride)


class FileStore(RowStore):
    """Rows of files and streams: blocks in memory while there is room, then in a temporary file.

    Each block is worked on by all threads; the pages of one that lies in the file are let go when
    its task is done. What is found for every row goes where the rows went. A store that has no
    room left for caches is sparing with them.
    """

    def __init__(
        self,
        rows: RowWriter,
        n_values: NDArray[np.int32],
        n_threads: int = 1,
        weight: NDArray[np.int64] | None = None,
        weights_repeat: bool = True,
        fit_layout: Layout | None = None,
    ) -> None:
        self.blocks, self._file = rows.blocks(weight, fit_layout)
        self._begin = 0 if self._file is None else np.frombuffer(self._file, np.uint8).ctypes.data
        self._room = rows.room
        self.layout = rows.layout
        self.n_values = n_values
        self.n_rows = rows.n_rows
        self.n_weighed = sum(block.n_weighed for block in self.blocks)
        self.total_weight = sum(block.total_weight for block in self.blocks)
        self.n_threads = n_threads
        self.weights_repeat = weights_repeat
        self.sparing = not self._room.has(_CACHE_BYTES * self.n_rows)
        self.remember = not self.sparing

    def map(self, task: Callable[[Block, int], T]) -> list[T]:
        """Run a task on every block."""
        return list(self._each(task))

    def sum(self, task: Callable[[Block, int], T]) -> T:
        """Run a task on every block, and add what it returns as it comes."""
        return reduce(add, self._each(task))

    def by_row(
        self, task: Callable[[Block, int], NDArray[Any]], name: str = "found"
    ) -> NDArray[Any]:
        """Return what a task finds for every row: in memory if there is room, else in a file."""
        parts = self._each(task)
        first = next(parts)
        shape = self.n_rows, *first.shape[1:]
        n_bytes = self.n_rows * (first.nbytes // len(first))
        if len(first) == self.n_rows:
            return first
        if self._room.has(n_bytes):
            found, start = np.empty(shape, first.dtype), 0
            for part in chain([first], parts):
                found[start : start + len(part)] = part
                start += len(part)
            return found
        scratch = Scratch()
        for part in chain([first], parts):
            scratch.write(np.ascontiguousarray(part), n_bytes)
        return scratch.array(first.dtype, shape)

    def _each(self, task: Callable[[Block, int], T]) -> Iterator[T]:
        for block in self.blocks:
            yield task(block, self.n_threads)
            self._let_go(block)

    def _let_go(self, block: Block) -> None:
        """Give back the memory of a block's pages; they stay in the file."""
        if self._file is None or not hasattr(self._file, "madvise"):
            return
        start = block.packed.ctypes.data - self._begin
        if 0 <= start < len(self._file):
            self._file.madvise(mmap.MADV_DONTNEED, start, block.packed.nbytes)


def _rows_of_a_block(stride: int, limit: int) -> int:
    """Return how many rows a block has: some 16 MB of them, or less where there is less memory."""
    n_bytes = max(_LEAST_BLOCK_BYTES, min(_BLOCK_BYTES, limit // 16))
    return max(1, n_bytes // stride)
