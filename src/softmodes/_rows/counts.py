"""How often each value occurs in each cluster: the one place that knows dense from sparse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from softmodes import _kernels
from softmodes._kernels import Layout
from softmodes._rows.wide_counts import WideCounts, WideValues, no_values

Number = TypeVar("Number", bound=np.generic)
SparseParts: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]

FACTOR_BITS = 30  # behind the point of what counts are multiplied by

_SPARSE_PARTS = ("indptr", "codes", "counts")


def scaled(numbers: NDArray[np.int64], factor: int, shift: int = 0) -> NDArray[np.int64]:
    """Return whole numbers times `factor` * 2**-(FACTOR_BITS + shift), rounded down.

    `factor` is at most 2**FACTOR_BITS; what is multiplied, at most 2**62.

    Examples
    --------
    >>> scaled(np.array([1 << 60, 5, 4]), 1 << 29)
    array([576460752303423488,                  2,                  2])
    """
    if shift < 0:
        numbers, shift = numbers << -shift, 0
    high, low = numbers >> FACTOR_BITS, numbers & ((1 << FACTOR_BITS) - 1)
    product: NDArray[np.int64] = high * factor + (low * factor >> FACTOR_BITS)
    return product >> min(shift, 63)


def _scaled_between(
    numbers: NDArray[np.int64], starts: NDArray[Any], factor: int, shift: int
) -> NDArray[np.int64]:
    """Scale numbers such that their sums from each start to the next are those sums, scaled."""
    if not len(numbers):
        return numbers
    up_to = np.cumsum(numbers)  # may wrap around: its differences are right
    lengths = np.diff(starts, append=len(numbers))
    before = np.repeat((up_to - numbers)[starts], lengths)
    rounded = scaled(up_to - before, factor, shift)
    found = np.diff(rounded, prepend=0)
    found[starts] = rounded[starts]
    return found


@dataclass(frozen=True, eq=False)
class Counts:
    """Weights of the rows by cluster, feature and code, as exact integers.

    `dense[i, layout.offsets[j] + v]` is that of the rows of cluster i with code v in feature j;
    features of more than 256 codes are in `sparse` instead, as (cluster, code) counts. Codes below
    `n_values[j]` are values that a center may take; cells may hold further ones (ignored, unseen).
    """

    layout: Layout
    n_values: NDArray[np.int32]
    dense: NDArray[np.int64]
    sparse: Mapping[int, csr_array[Any, Any]]

    @cached_property
    def wide(self) -> WideCounts:
        """The sparse counts of all features at once."""
        return WideCounts.of(self.sparse, self.n_clusters)

    @cached_property
    def wide_values(self) -> WideValues:
        """Those of values."""
        if not self.sparse:
            return no_values(self.n_clusters)
        return WideValues(self.wide, self.n_values[self.wide.features])

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.dense)

    @cached_property
    def dense_slots(self) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Feature and code of every cell of the dense counts."""
        offsets = self.layout.offsets
        feature = np.repeat(np.arange(self.layout.n_features), np.diff(offsets))
        return feature, np.arange(self.layout.n_cells) - offsets[feature]

    @property
    def nothing(self) -> NDArray[np.bool_]:
        """Features in which nothing was observed: their one code is ignored, and is no value."""
        ignored = self.layout.ignored
        nothing: NDArray[np.bool_] = (ignored >= 0) & (ignored < self.n_values)
        return nothing

    def equals(self, other: Counts) -> bool:
        """Tell whether other counts of the same columns and clusters are the same."""
        wide, others = self.wide, other.wide
        return (
            np.array_equal(self.dense, other.dense)
            and np.array_equal(wide.starts, others.starts)
            and np.array_equal(wide.codes, others.codes)
            and np.array_equal(wide.counts, others.counts)
        )

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.layout,
            self.n_values,
            self.dense + other.dense,
            {j: counts + other.sparse[j] for j, counts in self.sparse.items()},
        )

    def reorder(self, order: NDArray[np.signedinteger]) -> Counts:
        """Return the same counts with clusters renumbered: new cluster i was `order[i]`."""
        if stays(order):
            return self
        wide = self.wide.reorder(order)
        return Counts(self.layout, self.n_values, self.dense[order], wide)

    def beside(self, other: Counts) -> Counts:
        """Return the counts of the clusters of both, of the same rows or others."""
        sparse = {j: csr_array(vstack([own, other.sparse[j]])) for j, own in self.sparse.items()}
        return Counts(self.layout, self.n_values, np.concatenate([self.dense, other.dense]), sparse)

    def merge(self, a: int, b: int) -> Counts:
        """Return the counts with cluster b inside cluster a; later clusters move up."""
        into = merged_into(self.n_clusters, a, b)
        dense = without_row(self.dense, b)
        dense[into[a]] += self.dense[b]
        if not self.sparse:
            return Counts(self.layout, self.n_values, dense, {})
        ones, all_ = np.ones(len(into), np.int64), np.arange(len(into))
        joins = csr_array((ones, (into, all_)), shape=(len(dense), len(into)))
        sparse = {j: csr_array(joins @ counts) for j, counts in self.sparse.items()}
        return Counts(self.layout, self.n_values, dense, sparse)

    def scaled(self, factor: int, shift: int = 0) -> Counts:
        """Return the counts times `factor` * 2**-(FACTOR_BITS + shift), rounded.

        Rounded down are sums over the values of a feature, in their order: so no count is off by
        more than one, and those of every feature add up to the cluster sizes, rounded alike.
        """
        starts = self.layout.offsets[:-1][np.diff(self.layout.offsets) > 0]
        edges = np.arange(len(self.dense))[:, None] * self.layout.n_cells + starts
        dense = _scaled_between(self.dense.ravel(), edges.ravel(), factor, shift)
        sparse = {}
        for j, counts in self.sparse.items():
            sparse[j] = counts.sorted_indices()
            filled = counts.indptr[:-1][np.diff(counts.indptr) > 0]
            sparse[j].data = _scaled_between(sparse[j].data, filled, factor, shift)
        return Counts(self.layout, self.n_values, dense.reshape(self.dense.shape), sparse)

    def without(self, clusters: NDArray[np.bool_]) -> Counts:
        """Return the counts with nothing in some clusters."""
        dense = np.where(clusters[:, None], 0, self.dense)
        kept = np.flatnonzero(~clusters)
        keep = csr_array((np.ones(len(kept), np.int64), (kept, kept)), shape=2 * clusters.shape)
        sparse = {j: csr_array(keep @ counts) for j, counts in self.sparse.items()}
        return Counts(self.layout, self.n_values, dense, sparse)

    def as_one_cluster(self) -> Counts:
        """Return the counts of all rows together."""
        ones = csr_array(np.ones((1, self.n_clusters), np.int64))
        sparse = {j: csr_array(ones @ counts) for j, counts in self.sparse.items()}
        dense = self.dense.sum(axis=0, keepdims=True)
        return Counts(self.layout, self.n_values, dense, sparse)

    def recode(
        self, tables: Sequence[NDArray[np.int64]], layout: Layout, n_values: NDArray[np.int32]
    ) -> Counts:
        """Return the counts with code `tables[j][c]` in place of code c of feature j."""
        dense = np.zeros((self.n_clusters, layout.n_cells), np.int64)
        sparse = {}
        for j, table in enumerate(tables):
            if j in layout.sparse_features:
                cluster, code, count = self._filled(j)
                shape = self.n_clusters, int(layout.n_codes[j])
                sparse[j] = csr_array((count, (cluster, table[code])), shape=shape)
            else:
                dense[:, layout.offsets[j] + table] = self._dense_codes(j)
        return Counts(layout, n_values, dense, sparse)

    def feature(self, j: int, clusters: slice = slice(None)) -> NDArray[np.int64]:
        """Return the counts of one feature's values as a dense (cluster, value) array."""
        size = int(self.n_values[j])
        if j in self.sparse:
            dense: NDArray[np.int64] = self.sparse[j][clusters, :size].toarray()
            return dense
        return self._dense_values(j)[clusters]

    def values(self, j: int) -> NDArray[np.int64] | csr_array[Any, Any]:
        """Return the counts of one feature's values as they are kept: dense or sparse."""
        return self.sparse_values(j) if j in self.sparse else self._dense_values(j)

    def sparse_values(self, j: int) -> csr_array[Any, Any]:
        """Return the counts of one sparse feature's values: not to be changed, they may be ours."""
        counts, size = self.sparse[j], int(self.n_values[j])
        return counts if counts.shape[1] == size else counts[:, :size]

    def of_features(self) -> list[NDArray[np.int64] | csr_array[Any, Any]]:
        """Return what `values` does, for one feature after the other."""
        starts = self.layout.offsets[:-1]
        ends = (starts + self.n_values).tolist()
        found: list[Any] = [self.dense[:, a:b] for a, b in zip(starts.tolist(), ends, strict=True)]
        for j in [*self.sparse, *np.flatnonzero(self.nothing).tolist()]:
            found[j] = self.values(j)
        return found

    def nonzero(self, j: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
        """Return cluster, code and count of every value of a feature that occurs in a cluster."""
        if j in self.sparse:
            sparse = self.sparse[j][:, : int(self.n_values[j])].tocoo()
            return sparse.coords[0], sparse.coords[1], sparse.data
        counts = self._dense_values(j)
        cluster, code = np.nonzero(counts)
        return cluster, code, counts[cluster, code]

    def codes(self, j: int) -> NDArray[np.int64]:
        """Return the counts of all codes of a feature, in all clusters together."""
        counts = self.sparse[j] if j in self.sparse else self._dense_codes(j)
        codes: NDArray[np.int64] = counts.sum(axis=0)
        return codes

    def observed(self, j: int) -> csr_array[Any, Any]:
        """Return the counts of all codes of a feature, as sparse floats; ignored cells count 0."""
        counts = self.sparse[j] if j in self.sparse else csr_array(self._dense_codes(j))
        observed = np.arange(counts.shape[1]) != self.layout.ignored[j]
        return csr_array(counts.multiply(observed[None, :].astype(np.float64)))

    def native_dense(self) -> _kernels.DenseCounts:
        """Return the features that are kept dense as the native core takes them."""
        return _kernels.DenseCounts(self.layout, self.dense, self.n_values)

    def sparse_parts(self) -> Iterator[tuple[int, SparseParts]]:
        """Yield each feature that is kept sparse with its `indptr`, `codes` and `counts`."""
        for j in self.sparse:
            yield j, self._sparse_parts(j)

    def _sparse_parts(self, j: int) -> SparseParts:
        counts = self.sparse[j]
        counts.sort_indices()
        return (
            counts.indptr.astype(np.int64),
            counts.indices.astype(np.int32),
            np.ascontiguousarray(counts.data, np.int64),
        )

    def add_up_to(self, cluster_sizes: NDArray[np.int64]) -> bool:
        """Tell whether no count is negative, and those of each feature sum up to the sizes."""
        if (self.dense < 0).any() or any((s.data < 0).any() for s in self.sparse.values()):
            return False
        kept_dense = np.flatnonzero(np.diff(self.layout.offsets))
        starts = self.layout.offsets[kept_dense]
        sums = [np.add.reduceat(self.dense, starts, axis=1)] if len(starts) else []
        sums += [s.sum(axis=1)[:, None] for s in self.sparse.values()]
        return all(bool((part == cluster_sizes[:, None]).all()) for part in sums)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the counts as named arrays, as a model file keeps them."""
        arrays: dict[str, NDArray[Any]] = {"cells": self.dense}
        for j, parts in self.sparse_parts():
            names = (f"wide_{j}_{part}" for part in _SPARSE_PARTS)
            arrays.update(zip(names, parts, strict=True))
        return arrays

    @classmethod
    def from_arrays(
        cls, layout: Layout, n_values: NDArray[np.int32], arrays: Mapping[str, NDArray[Any]]
    ) -> Counts:
        """Return the counts that `to_arrays` took apart; raise ValueError if they do not fit."""
        dense = arrays["cells"]
        k = len(dense)
        sparse = {}
        for j in layout.sparse_features:
            indptr, codes, counts = (arrays[f"wide_{j}_{part}"] for part in _SPARSE_PARTS)
            shape = (k, int(layout.n_codes[j]))
            sparse[j] = csr_array((counts, codes, indptr), shape=shape)
            sparse[j].check_format(full_check=True)
        if dense.shape != (k, layout.n_cells):
            raise ValueError(f"counts of shape {dense.shape} are not {(k, layout.n_cells)}")
        return cls(layout, n_values, dense, sparse)

    def _filled(self, j: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
        """Return cluster, code and count of every code of a feature that occurs in a cluster."""
        if j in self.sparse:
            sparse = self.sparse[j].tocoo()
            return sparse.coords[0], sparse.coords[1], sparse.data
        cluster, code = np.nonzero(self._dense_codes(j))
        return cluster, code, self._dense_codes(j)[cluster, code]

    def _dense_codes(self, j: int) -> NDArray[np.int64]:
        return self.dense[:, self.layout.offsets[j] : self.layout.offsets[j + 1]]

    def _dense_values(self, j: int) -> NDArray[np.int64]:
        counts = self._dense_codes(j)[:, : int(self.n_values[j])]
        # Where nothing was observed, the one code is the ignored one, and is no value.
        nothing = 0 <= self.layout.ignored[j] < self.n_values[j]
        return np.zeros_like(counts) if nothing else counts


def without_row(table: NDArray[Number], row: int) -> NDArray[Number]:
    """Return an array without one of its rows.

    Examples
    --------
    >>> without_row(np.array([5, 6, 7]), 1)
    array([5, 7])
    """
    return np.concatenate((table[:row], table[row + 1 :]))


def stays(order: NDArray[np.signedinteger]) -> bool:
    """Tell whether clusters keep their numbers: then nothing need be copied."""
    return bool((order == np.arange(len(order))).all())


def merged_into(k: int, a: int, b: int) -> NDArray[np.intp]:
    """Return the new numbers of k clusters when cluster b joins cluster a.

    Examples
    --------
    >>> merged_into(4, 2, 1)
    array([0, 1, 1, 2])
    """
    into = np.arange(k)
    into[b] = a
    into[into > b] -= 1
    return into
