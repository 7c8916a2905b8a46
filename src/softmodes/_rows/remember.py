"""Passes over a block that remember the last one: rows are compared with changed centers only.

What is remembered is told by its content, the centers and the comparison; without it, or with
another, the pass is made anew and finds the same. Scores change in every cluster at once: passes by
them remember nothing of the last one, and free what was.

But where counts are much more than rows, which is when few rows have many values, they are kept,
by the partition that they are of: it is often found again, by drawn centers, then by scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.block import Block
from softmodes._rows.centers import CodeCenters
from softmodes._rows.distinct import with_few_rows
from softmodes._rows.tally import (
    Assignment,
    Pass,
    SoftTally,
    Tally,
    assign_block,
    empty_assignment,
    label_block,
    soft_tally_block,
    tally_block,
    update_block,
)

# Beyond this share of changed centers a new pass is as fast.
MOST_CHANGED = 0.7
# Counts are many from here on, and rows few, if they have at most one cell for so many counts.
MANY_COUNTS, COUNTS_FOR_A_CELL = 1 << 19, 4
# Bytes compared for a row, from which on keeping its label and distance costs next to nothing.
LONG_COMPARISON = 512


@dataclass(frozen=True, eq=False)
class LastPass:
    """A pass and what it found; without an assignment, too little to go on from."""

    asked: Pass
    tally: Tally
    assignment: Assignment | None

    def changed(self, asked: Pass) -> NDArray[np.int32]:
        """Return the clusters whose centers are not compared as they were."""
        now, before = asked.centers, self.asked.centers
        alike = asked.comparison.same_as(self.asked.comparison)
        if alike and isinstance(now, CodeCenters) and isinstance(before, CodeCenters):
            return now.changed_since(before)
        return np.arange(len(now), dtype=np.int32)


@dataclass(frozen=True, eq=False)
class LastCounts:
    """What a pass over few rows has counted."""

    tally: Tally


def tally_rows(block: Block, n_threads: int, asked: Pass, remember: bool = True) -> Tally:
    """Assign every row of a block to its nearest center, and count."""
    if not remember:
        return tally_block(block, asked, n_threads)
    last = block.cache.take(LastPass)
    if isinstance(asked.centers, CodeCenters):
        tally = _tally_after(last, block, n_threads, asked)
    else:
        tally = _tally_anew(block, n_threads, asked)
    if _are_many(block, len(asked.centers)):
        block.cache.keep(LastCounts(tally))
    return tally


def _tally_after(last: LastPass | None, block: Block, n_threads: int, asked: Pass) -> Tally:
    """Compare rows with the centers that changed since the last pass, and remember this one."""
    few = False
    tally = assignment = None
    if last:
        changed = last.changed(asked)
        few = len(changed) <= MOST_CHANGED * len(asked.centers)
        if few and last.assignment:
            assignment = last.assignment
            tally = update_block(block, asked, changed, n_threads, last.tally, assignment)
    if tally is None:
        if few or len(asked.centers) * block.layout.stride >= LONG_COMPARISON:
            assignment = (last and last.assignment) or empty_assignment(block.n_rows)
        tally = _tally_anew(block, n_threads, asked, assignment)
    block.cache.keep(LastPass(asked, tally, assignment))
    return tally


def _tally_anew(block: Block, n_threads: int, asked: Pass, out: Assignment | None = None) -> Tally:
    """Assign all rows, and count them unless all are where they were counted last."""
    last = block.cache.peek(LastCounts)
    if last and len(last.tally.cluster_sizes) == len(asked.centers):
        cost, fingerprint = assign_block(block, asked, n_threads, out)
        if fingerprint == last.tally.fingerprint:
            return replace(last.tally, cost=cost)
    return tally_block(block, asked, n_threads, out)


def _are_many(block: Block, k: int) -> bool:
    """Tell whether counts are much more than what they are counted of."""
    n_cells = block.n_rows * block.layout.n_features
    return k * block.layout.n_cells >= max(MANY_COUNTS, COUNTS_FOR_A_CELL * n_cells)


def soft_tally_rows(block: Block, n_threads: int, asked: Pass, sparing: bool = False) -> SoftTally:
    """Share every row of a block among the clusters, and count."""
    block.cache.take(LastPass)
    block.cache.take(LastCounts)
    return soft_tally_block(with_few_rows(block, sparing), n_threads, asked)


def label_rows(
    block: Block,
    n_threads: int,
    asked: Pass,
    remember: bool = True,
    numbers: NDArray[np.int32] | None = None,
) -> NDArray[np.int32]:
    """Return the nearest center of every row of a block: its position, or its number."""
    last = block.cache.peek(LastPass) if remember else None
    if last and last.assignment and not len(last.changed(asked)):
        labels = last.assignment.labels
        return labels.copy() if numbers is None else numbers[labels]
    labels = label_block(block, asked, n_threads)
    return labels if numbers is None else np.take(numbers, labels, out=labels, mode="clip")
