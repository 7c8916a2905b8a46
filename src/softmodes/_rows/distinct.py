"""A block's distinct rows with their weights: a soft pass shares equal rows alike.

Short rows repeat, and there a soft pass takes its time for each row and cluster, however few cells
a row has. Sums over distinct rows, weighted, are the same integers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.block import Block
from softmodes._rows.cache import Cache

# Longer rows take their time by their cells, and hardly ever repeat.
_LONGEST_ROW = 32  # bytes
_ROWS_AT_ONCE = 1 << 20
# Rows with weights are counted one by one: a pass over less than so many times as few is no faster.
_TIMES_FEWER = 4
# Where memory is short, what is kept must be next to nothing beside the rows.
_TIMES_FEWER_IF_SPARING = 64
_SAMPLE = 1 << 15  # rows that tell whether it pays to sort all

_WORD = 8
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The distinct rows of a block as one of their own; None if they are not few."""

    block: Block | None


def with_few_rows(block: Block, sparing: bool = False) -> Block:
    """Return a block of the distinct rows, or the block itself if they are not few.

    They are kept with the block; if `sparing`, only where they are very few.
    """
    known = block.cache.peek(DistinctRows)
    if known is None:
        times_fewer = _TIMES_FEWER_IF_SPARING if sparing else _TIMES_FEWER
        known = DistinctRows(_distinct(block, times_fewer))
        block.cache.keep(known)
    return known.block or block


def _distinct(block: Block, times_fewer: int) -> Block | None:
    if block.layout.stride > _LONGEST_ROW:
        return None
    parts: list[Block] = []
    for first in range(0, block.n_rows, _ROWS_AT_ONCE):
        part = block.part(first, first + _ROWS_AT_ONCE)
        if _seem_many(part.packed, times_fewer):
            return None
        fewer = _merged(part.packed, part.weight)
        if fewer is None or times_fewer * len(fewer[0]) > part.n_rows:
            return None
        parts.append(replace(part, packed=fewer[0], weight=fewer[1]))
    rows = np.concatenate([part.packed for part in parts])
    fewer = _merged(rows, np.concatenate([part.weight for part in parts]))
    return fewer and replace(block, packed=fewer[0], weight=fewer[1], cache=Cache())


def _seem_many(rows: NDArray[np.uint8], times_fewer: int) -> bool:
    """Tell whether a sample repeats less than half as often as one of few distinct rows would."""
    if len(rows) < 4 * _SAMPLE:
        return False
    step = len(rows) // _SAMPLE
    sample = _keys(rows[np.arange(_SAMPLE) * step + np.arange(_SAMPLE) % step])
    repeats = _SAMPLE - len(np.unique(sample))
    return 2 * repeats < _SAMPLE * (_SAMPLE / 2) / (len(rows) / times_fewer)


def _merged(
    rows: NDArray[np.uint8], weight: NDArray[np.int64] | None
) -> tuple[NDArray[np.uint8], NDArray[np.int64]] | None:
    """Return the distinct rows and the sums of their weights; None if two hash alike."""
    keys = _keys(rows)
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=~keys[order[:1]]))
    lengths = np.diff(starts, append=len(order))
    found = rows[order[starts]]
    if rows.shape[1] > _WORD and not np.array_equal(np.repeat(found, lengths, axis=0), rows[order]):
        return None
    if weight is None:
        return found, lengths.astype(np.int64)
    return found, np.add.reduceat(weight[order], starts)


def _keys(rows: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return a number for each row: its bytes, or where these are many a hash of them."""
    n, stride = rows.shape
    words = np.zeros((-(-stride // _WORD), n, _WORD), np.uint8)
    for i, some in enumerate(words):
        part = rows[:, i * _WORD : (i + 1) * _WORD]
        some[:, : part.shape[1]] = part
    keys = np.zeros(n, np.uint64)
    for word in words.view(np.uint64)[:, :, 0]:
        keys = (keys ^ (keys >> np.uint64(29))) * _FACTOR ^ word
    return keys
