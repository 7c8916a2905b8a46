"""One pass over a block: nearest center, counts, cost, fingerprint. Tallies are integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from softmodes import _kernels
from softmodes._rows.block import Block
from softmodes._rows.centers import Centers, Comparison
from softmodes._rows.counts import Counts

_FINGERPRINT_MASK = (1 << 64) - 1


@dataclass(frozen=True, eq=False)
class Tally:
    """What one pass over some rows found out; those of parts add up to that of the whole."""

    counts: Counts
    cluster_sizes: NDArray[np.int64]
    cost: int
    fingerprint: int

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            counts=self.counts + other.counts,
            cluster_sizes=self.cluster_sizes + other.cluster_sizes,
            cost=self.cost + other.cost,
            fingerprint=(self.fingerprint + other.fingerprint) & _FINGERPRINT_MASK,
        )

    def reorder(self, order: NDArray[np.intp]) -> Tally:
        """Return the same tally with clusters renumbered: new cluster i was `order[i]`."""
        sizes = self.cluster_sizes[order]
        return Tally(self.counts.reorder(order), sizes, self.cost, self.fingerprint)


@dataclass(frozen=True, eq=False)
class Pass:
    """What a pass is asked to do: all that its task carries."""

    centers: Centers
    comparison: Comparison
    n_values: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Assignment:
    """The nearest center of every row of a block, and the distance to it."""

    labels: NDArray[np.int32]
    distances: NDArray[np.uint32]


def empty_assignment(n_rows: int) -> Assignment:
    """Return an assignment to be filled."""
    return Assignment(np.empty(n_rows, np.int32), np.empty(n_rows, np.uint32))


def tally_block(
    block: Block, asked: Pass, n_threads: int = 1, out: Assignment | None = None
) -> Tally:
    """Assign every row of a block to its nearest center, and count; `out` is filled if given."""
    k = len(asked.centers)
    dense = np.zeros((k, block.layout.n_cells), np.int64)
    cluster_sizes = np.zeros(k, np.int64)
    labels = out.labels if out else None
    if block.layout.sparse_features and labels is None:
        labels = np.empty(block.n_rows, np.int32)
    found = _kernels.tally(
        block,
        asked.centers.native(asked.comparison.feature_weight),
        asked.comparison.tie_key,
        _kernels.TallyOut(dense, cluster_sizes, labels, out.distances if out else None),
        n_threads,
    )
    counts = _counts(block, asked, dense, labels)
    return Tally(counts, cluster_sizes, found.cost, found.fingerprint)


def update_block(
    block: Block,
    asked: Pass,
    changed: NDArray[np.int32],
    n_threads: int,
    before: Tally,
    assignment: Assignment,
) -> Tally:
    """Return the tally with some centers changed; `assignment` is brought up to date in place."""
    dense, cluster_sizes = before.counts.dense.copy(), before.cluster_sizes.copy()
    grown = _kernels.update(
        block,
        asked.centers.native(asked.comparison.feature_weight),
        changed,
        asked.comparison.tie_key,
        _kernels.TallyOut(dense, cluster_sizes, assignment.labels, assignment.distances),
        n_threads,
    )
    return Tally(
        counts=_counts(block, asked, dense, assignment.labels),
        cluster_sizes=cluster_sizes,
        cost=before.cost + grown.cost,
        fingerprint=(before.fingerprint + grown.fingerprint) & _FINGERPRINT_MASK,
    )


def label_block(block: Block, asked: Pass, n_threads: int = 1) -> NDArray[np.int32]:
    """Return the nearest center of every row of a block."""
    labels = np.empty(block.n_rows, np.int32)
    centers = asked.centers.native(asked.comparison.feature_weight)
    tie_key = asked.comparison.tie_key
    _kernels.tally(block, centers, tie_key, _kernels.TallyOut(labels=labels), n_threads)
    return labels


def nearest_distances(
    block: Block, centers: Centers, feature_weight: NDArray[np.uint32] | None, n_threads: int = 1
) -> NDArray[np.uint32]:
    """Return the distance of every row of a block to the nearest of some centers."""
    distances = np.empty(block.n_rows, np.uint32)
    compared = centers.native(feature_weight)
    _kernels.tally(block, compared, None, _kernels.TallyOut(distances=distances), n_threads)
    return distances


def all_distances(
    block: Block, n_threads: int, centers: Centers, feature_weight: NDArray[np.uint32] | None
) -> NDArray[np.uint32]:
    """Return the distance of every row of a block to every center."""
    out = np.empty((block.n_rows, len(centers)), np.uint32)
    compared = centers.native(feature_weight)
    _kernels.distances(block, compared, n_threads, out)
    return out


def _counts(
    block: Block, asked: Pass, dense: NDArray[np.int64], labels: NDArray[np.int32] | None
) -> Counts:
    sparse: dict[int, csr_array[Any, Any]] = {}
    for j in block.layout.sparse_features:
        assert labels is not None
        indptr, codes, counts = _kernels.sparse_counts(block, j, labels, len(dense))
        shape = (len(dense), int(block.layout.n_codes[j]))
        sparse[j] = csr_array((counts, codes, indptr), shape=shape)
    return Counts(block.layout, asked.n_values, dense, sparse)
