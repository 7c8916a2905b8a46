"""One pass over a block: nearest center, counts, cost, fingerprint. Tallies are integers.

A soft pass shares each row among clusters instead, in parts that are integers as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._kernels import Layout
from softmodes._rows.block import Block
from softmodes._rows.centers import Centers, CodeCenters, Comparison, ScoreCenters
from softmodes._rows.counts import Counts, SparseParts, merged_into, without_row
from softmodes._rows.wide_counts import WideCounts

MEMBERSHIP_BITS = 16  # the parts of a row sum to 2**16
LOG_BITS = 20  # logarithms are in units of 2**-20 bits

_FINGERPRINT_MASK = (1 << 64) - 1
_CELLS_AT_ONCE = 1 << 20  # of a table of rows and clusters that is made piece by piece

Found = NDArray[Any]


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

    def beside(self, other: Tally) -> Tally:
        """Return the clusters of both, of the same rows; cost and fingerprint are not known."""
        sizes = np.concatenate([self.cluster_sizes, other.cluster_sizes])
        return Tally(self.counts.beside(other.counts), sizes, cost=0, fingerprint=0)

    def merge(self, a: int, b: int) -> Tally:
        """Return the tally with cluster b inside cluster a; cost and fingerprint are not known."""
        sizes = without_row(self.cluster_sizes, b)
        sizes[merged_into(len(self.cluster_sizes), a, b)[a]] += self.cluster_sizes[b]
        return Tally(self.counts.merge(a, b), sizes, cost=0, fingerprint=0)

    def reorder(self, order: NDArray[np.signedinteger]) -> Tally:
        """Return the same tally with clusters renumbered: new cluster i was `order[i]`."""
        sizes = self.cluster_sizes[order]
        return Tally(self.counts.reorder(order), sizes, self.cost, self.fingerprint)


@dataclass(frozen=True, eq=False)
class SoftTally:
    """What one soft pass over some rows found out; those of parts add up to that of the whole.

    Rows count by their parts in the clusters, 2**16 for a row of weight 1. `log_sum` is the
    weighted sum of what the core tells of each row: its log-likelihood above its floor.
    """

    counts: Counts
    cluster_sizes: NDArray[np.int64]
    log_sum: int

    def __add__(self, other: SoftTally) -> SoftTally:
        return SoftTally(
            counts=self.counts + other.counts,
            cluster_sizes=self.cluster_sizes + other.cluster_sizes,
            log_sum=self.log_sum + other.log_sum,
        )

    def reorder(self, order: NDArray[np.signedinteger]) -> SoftTally:
        """Return the same tally with clusters renumbered: new cluster i was `order[i]`."""
        return SoftTally(self.counts.reorder(order), self.cluster_sizes[order], self.log_sum)

    def log_likelihood(self, floor: int, resolution: int) -> float:
        """Return the log-likelihood of the rows in bits, by the floor of the scores."""
        return (self.log_sum - (floor << (LOG_BITS - resolution))) / (1 << LOG_BITS)


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
    counts = _counts(block, asked.n_values, dense, labels, n_threads)
    return Tally(counts, cluster_sizes, found.cost, found.fingerprint)


def assign_block(
    block: Block, asked: Pass, n_threads: int = 1, out: Assignment | None = None
) -> tuple[int, int]:
    """Assign every row of a block to its nearest center; return cost and fingerprint alone."""
    found = _kernels.tally(
        block,
        asked.centers.native(asked.comparison.feature_weight),
        asked.comparison.tie_key,
        _kernels.TallyOut(None, None, *((out.labels, out.distances) if out else (None, None))),
        n_threads,
    )
    return found.cost, found.fingerprint


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
        counts=_counts(block, asked.n_values, dense, assignment.labels, n_threads),
        cluster_sizes=cluster_sizes,
        cost=before.cost + grown.cost,
        fingerprint=(before.fingerprint + grown.fingerprint) & _FINGERPRINT_MASK,
    )


def label_block(block: Block, asked: Pass, n_threads: int = 1) -> NDArray[np.int32]:
    """Return the nearest center of every row of a block."""
    if len(asked.centers) == 1:
        return np.zeros(block.n_rows, np.int32)
    labels = np.empty(block.n_rows, np.int32)
    centers = asked.centers.native(asked.comparison.feature_weight)
    tie_key = asked.comparison.tie_key
    _kernels.tally(block, centers, tie_key, _kernels.TallyOut(labels=labels), n_threads)
    return labels


def count_block(
    block: Block, n_threads: int, labels: NDArray[np.int32], k: int, n_values: NDArray[np.int32]
) -> tuple[Counts, NDArray[np.int64]]:
    """Count the rows of a block by labels that are given for all rows of the table."""
    mine = labels[block.first_row : block.first_row + block.n_rows]
    n_cells = block.layout.n_cells
    dense = np.zeros(k * n_cells, np.int64)
    kept_dense = np.flatnonzero(np.diff(block.layout.offsets))
    at_once = max(1, _CELLS_AT_ONCE // block.layout.n_features)
    for start in range(0, block.n_rows if len(kept_dense) else 0, at_once):
        some = slice(start, min(start + at_once, block.n_rows))
        codes = _kernels.unpack(block, np.arange(some.start, some.stop))[:, kept_dense]
        cells = mine[some, None].astype(np.int64) * n_cells + block.layout.offsets[kept_dense]
        # A sum of weights is below 2^46: exact in floats.
        weight = None if block.weight is None else np.repeat(block.weight[some], len(kept_dense))
        counted = np.bincount((cells + codes).ravel(), weight, k * n_cells)
        dense += counted.astype(np.int64)
    sizes = np.bincount(mine, block.weight, k).astype(np.int64)
    return _counts(block, n_values, dense.reshape(k, n_cells), mine, n_threads), sizes


def nearest_distances(
    block: Block, centers: Centers, feature_weight: NDArray[np.uint32] | None, n_threads: int = 1
) -> NDArray[np.uint32]:
    """Return the distance of every row of a block to the nearest of some centers."""
    distances = np.empty(block.n_rows, np.uint32)
    compared = centers.native(feature_weight)
    _kernels.tally(block, compared, None, _kernels.TallyOut(distances=distances), n_threads)
    return distances


def soft_tally_block(block: Block, n_threads: int, asked: Pass) -> SoftTally:
    """Share every row of a block among the clusters, and count."""
    dense = np.zeros((len(asked.centers), block.layout.n_cells), np.int64)
    cluster_sizes = np.zeros(len(asked.centers), np.int64)
    scores, tie_key = asked.centers, asked.comparison.tie_key
    assert isinstance(scores, ScoreCenters)
    least, log, wide = _kernels.soft_tally(
        block, scores.native(), tie_key, dense, cluster_sizes, n_threads
    )
    sparse = _wide(block.layout, wide, len(dense)) if block.layout.sparse_features else {}
    return SoftTally(
        Counts(block.layout, asked.n_values, dense, sparse),
        cluster_sizes,
        log - (least << (LOG_BITS - scores.resolution)),
    )


def all_distances(
    block: Block,
    n_threads: int,
    centers: Centers,
    feature_weight: NDArray[np.uint32] | None,
    keep: Callable[[Found], Found],
) -> Found:
    """Return what `keep` makes of the distances of every row to every center: uint32 or int64."""
    k, compared = len(centers), centers.native(feature_weight)

    def find(part: Block) -> Found:
        if isinstance(centers, CodeCenters):
            distances = np.empty((part.n_rows, k), np.uint32)
            _kernels.distances(part, compared, n_threads, distances)
            return keep(distances)
        totals = np.empty((part.n_rows, k), np.int64)
        _kernels.score_rows(part, compared, None, n_threads, totals=totals)
        return keep(totals)

    return _piece_by_piece(block, k, find)


def all_memberships(
    block: Block, n_threads: int, asked: Pass, keep: Callable[[Found], Found]
) -> Found:
    """Return what `keep` makes of the parts of every row in every cluster: uint32."""
    k, centers, tie_key = len(asked.centers), asked.centers.native(None), asked.comparison.tie_key

    def find(part: Block) -> Found:
        shares = np.empty((part.n_rows, k), np.uint32)
        _kernels.score_rows(part, centers, tie_key, n_threads, memberships=shares)
        return keep(shares)

    return _piece_by_piece(block, k, find)


def log_likelihoods(
    block: Block, n_threads: int, centers: ScoreCenters, keep: Callable[[Found], Found]
) -> Found:
    """Return what `keep` makes of the log-likelihood of every row of a block, in bits."""
    logs = np.empty(block.n_rows, np.float64)
    _kernels.score_rows(block, centers.native(), None, n_threads, logs=logs)
    return keep(logs)


def _piece_by_piece(block: Block, k: int, find: Callable[[Block], Found]) -> Found:
    """Return what a function finds for every row; what it makes of a piece on the way is small."""
    at_once = max(1, _CELLS_AT_ONCE // k)
    first = find(block.part(0, at_once))
    found = np.empty((block.n_rows, *first.shape[1:]), first.dtype)
    found[:at_once] = first
    for start in range(at_once, block.n_rows, at_once):
        found[start : start + at_once] = find(block.part(start, start + at_once))
    return found


def _counts(
    block: Block,
    n_values: NDArray[np.int32],
    dense: NDArray[np.int64],
    labels: NDArray[np.int32] | None,
    n_threads: int,
) -> Counts:
    if not block.layout.sparse_features:
        return Counts(block.layout, n_values, dense, {})
    assert labels is not None
    found = _kernels.sparse_counts(block, labels, len(dense), n_threads)
    return Counts(block.layout, n_values, dense, _wide(block.layout, found, len(dense)))


def _wide(layout: Layout, found: SparseParts, k: int) -> WideCounts:
    features = np.array(layout.sparse_features, np.int32)
    return WideCounts(features, layout.n_codes[features].astype(np.int32), k, *found)
