"""Passes over a block that remember the last one: rows are compared with changed centers only.

What is kept lies in the block's cache and is told by its content, the centers and the order of
ties; without it, or with another, the pass is made anew and finds the same.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.block import Block
from softmodes._rows.tally import (
    Assignment,
    Metric,
    Tally,
    empty_assignment,
    label_block,
    tally_block,
    update_block,
)

# Beyond this share of changed centers a new pass is as fast.
MOST_CHANGED = 0.7
# Bytes compared for a row, from which on keeping its label and distance costs next to nothing.
LONG_COMPARISON = 512


@dataclass(frozen=True, eq=False)
class _Kept:
    centers: NDArray[np.int32]
    metric: Metric
    tally: Tally
    assignment: Assignment | None

    def changed(self, centers: NDArray[np.int32], metric: Metric) -> NDArray[np.int32]:
        """Return the centers that are not as they were."""
        same = (
            metric.tie_key == self.metric.tie_key
            and metric.feature_weight is self.metric.feature_weight
            and len(centers) == len(self.centers)
        )
        changed = (centers != self.centers).any(axis=1) if same else np.ones(len(centers), bool)
        return np.flatnonzero(changed).astype(np.int32)


def tally_again(block: Block, n_threads: int, centers: NDArray[np.int32], metric: Metric) -> Tally:
    """Assign every row of a block to its nearest center, and count."""
    if os.environ.get("SOFTMODES_PRUNE") == "0":
        return tally_block(block, centers, metric, n_threads)
    # Taken out, so that nothing half done is left behind by an interrupt.
    kept: _Kept | None = block.cache.pop("tally", None)
    few = False
    tally = assignment = None
    if kept:
        changed = kept.changed(centers, metric)
        few = len(changed) <= MOST_CHANGED * len(centers)
        if few and kept.assignment:
            assignment = kept.assignment
            tally = update_block(block, centers, changed, metric, n_threads, kept.tally, assignment)
    if tally is None:
        if few or len(centers) * block.layout.stride >= LONG_COMPARISON:
            last = kept.assignment if kept else None
            assignment = last or empty_assignment(len(block.packed))
        tally = tally_block(block, centers, metric, n_threads, assignment)
    block.cache["tally"] = _Kept(centers, metric, tally, assignment)
    return tally


def label_again(
    block: Block, n_threads: int, centers: NDArray[np.int32], metric: Metric
) -> NDArray[np.int32]:
    """Return the nearest center of every row of a block."""
    kept: _Kept | None = block.cache.get("tally")
    if kept and kept.assignment and not len(kept.changed(centers, metric)):
        return kept.assignment.labels.copy()
    return label_block(block, centers, metric, n_threads)
