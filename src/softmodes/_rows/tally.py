"""One pass over a block: nearest center, counts, cost, fingerprint. Tallies are integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from softmodes import _kernels
from softmodes._rows.block import Block, Layout

WideParts: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]

_FINGERPRINT_MASK = (1 << 64) - 1


@dataclass(frozen=True, eq=False)
class Tally:
    """What one pass over some rows found out.

    `cells[i, offsets[j] + v]` is the weight of the rows of cluster i with code v in feature j;
    features of more than 256 codes are in `wide` instead, as sparse (cluster, code) counts.
    """

    cells: NDArray[np.int64]
    wide: dict[int, csr_array[Any, Any]]
    sizes: NDArray[np.int64]
    cost: int
    fingerprint: int

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            cells=self.cells + other.cells,
            wide={j: self.wide[j] + other.wide[j] for j in self.wide},
            sizes=self.sizes + other.sizes,
            cost=self.cost + other.cost,
            fingerprint=(self.fingerprint + other.fingerprint) & _FINGERPRINT_MASK,
        )

    def wide_parts(self, feature: int) -> WideParts:
        """Return the sparse counts of a wide feature as `indptr`, `codes`, `counts`."""
        counts = self.wide[feature]
        counts.sort_indices()
        return (
            counts.indptr.astype(np.int64),
            counts.indices.astype(np.int32),
            np.ascontiguousarray(counts.data, np.int64),
        )

    def reorder(self, order: NDArray[np.intp]) -> Tally:
        """Return the same tally with clusters renumbered: new cluster i was `order[i]`."""
        return Tally(
            cells=self.cells[order],
            wide={j: counts[order] for j, counts in self.wide.items()},
            sizes=self.sizes[order],
            cost=self.cost,
            fingerprint=self.fingerprint,
        )


@dataclass(frozen=True, eq=False)
class Metric:
    """How a row is compared with centers: feature weights, and the order in which ties are settled.

    Without a `tie_key`, ties go to the lowest cluster.
    """

    tie_key: int | None = None
    feature_weight: NDArray[np.uint32] | None = None


def largest_distance(n_features: int, feature_weight: NDArray[np.uint32] | None) -> int:
    """Return the distance of a row and a center that differ everywhere."""
    return n_features if feature_weight is None else int(feature_weight.sum())


@dataclass(frozen=True, eq=False)
class Assignment:
    """The nearest center of every row of a block, and the distance to it."""

    labels: NDArray[np.int32]
    distances: NDArray[np.uint32]


def empty_assignment(n_rows: int) -> Assignment:
    """Return an assignment to be filled."""
    return Assignment(np.empty(n_rows, np.int32), np.empty(n_rows, np.uint32))


def tally_block(
    block: Block,
    centers: NDArray[np.int32],
    metric: Metric,
    n_threads: int = 1,
    out: Assignment | None = None,
) -> Tally:
    """Assign every row of a block to its nearest center, and count; `out` is filled if given."""
    k = len(centers)
    cells = np.zeros((k, block.layout.n_cells), np.int64)
    sizes = np.zeros(k, np.int64)
    labels = out.labels if out else None
    if block.layout.wide and labels is None:
        labels = np.empty(len(block.packed), np.int32)
    cost, fingerprint = _kernels.tally(
        block,
        centers,
        feature_weight=metric.feature_weight,
        tie_key=metric.tie_key,
        n_threads=n_threads,
        counts=cells,
        sizes=sizes,
        labels=labels,
        distances=out.distances if out else None,
    )
    return Tally(cells, _wide_counts(block, labels, k), sizes, cost, fingerprint)


def update_block(
    block: Block,
    centers: NDArray[np.int32],
    changed: NDArray[np.int32],
    metric: Metric,
    n_threads: int,
    before: Tally,
    assignment: Assignment,
) -> Tally:
    """Return the tally with some centers changed; `assignment` is brought up to date in place."""
    cells, sizes = before.cells.copy(), before.sizes.copy()
    cost, fingerprint = _kernels.update(
        block,
        centers,
        changed,
        feature_weight=metric.feature_weight,
        tie_key=metric.tie_key,
        n_threads=n_threads,
        counts=cells,
        sizes=sizes,
        labels=assignment.labels,
        distances=assignment.distances,
    )
    return Tally(
        cells=cells,
        wide=_wide_counts(block, assignment.labels, len(centers)),
        sizes=sizes,
        cost=before.cost + cost,
        fingerprint=(before.fingerprint + fingerprint) & _FINGERPRINT_MASK,
    )


def label_block(
    block: Block, centers: NDArray[np.int32], metric: Metric, n_threads: int = 1
) -> NDArray[np.int32]:
    """Return the nearest center of every row of a block."""
    labels = np.empty(len(block.packed), np.int32)
    _kernels.tally(
        block,
        centers,
        feature_weight=metric.feature_weight,
        tie_key=metric.tie_key,
        n_threads=n_threads,
        counts=None,
        sizes=None,
        labels=labels,
    )
    return labels


def feature_counts(
    tally: Tally, layout: Layout, feature: int, size: int, clusters: slice = slice(None)
) -> NDArray[np.int64]:
    """Return the counts of one feature as a dense (cluster, value) array; ignored cells count 0."""
    if feature in tally.wide:
        dense: NDArray[np.int64] = tally.wide[feature][clusters, :size].toarray()
        return dense
    start = int(layout.offsets[feature])
    counts = tally.cells[clusters, start : start + size]
    if (
        0 <= layout.ignored[feature] < size
    ):  # nothing was observed: the only cell is the ignored one
        counts = np.zeros_like(counts)
    return counts


def nonzero_counts(
    tally: Tally, layout: Layout, feature: int, size: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """Return cluster, code and count of every value of a feature that occurs in a cluster."""
    if feature in tally.wide:
        sparse = tally.wide[feature][:, :size].tocoo()
        return sparse.coords[0], sparse.coords[1], sparse.data
    counts = feature_counts(tally, layout, feature, size)
    cluster, code = np.nonzero(counts)
    return cluster, code, counts[cluster, code]


def _wide_counts(
    block: Block, labels: NDArray[np.int32] | None, k: int
) -> dict[int, csr_array[Any, Any]]:
    if labels is None:
        return {}
    counts = {j: _kernels.wide_counts(block, j, labels, k) for j in block.layout.wide}
    return {
        j: csr_array((found, codes, indptr), shape=(k, int(block.layout.n_codes[j])))
        for j, (indptr, codes, found) in counts.items()
    }
