"""How often each value of the features with many of them occurs in each cluster: all at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from softmodes import _kernels


@dataclass(frozen=True, eq=False)
class WideCounts(Mapping[int, csr_array]):
    """Counts by feature, cluster and code; a mapping of features to (cluster, code) counts.

    Those of cluster i of the f-th feature are `counts[starts[f * k + i] : starts[f * k + i + 1]]`,
    of codes in ascending order.
    """

    features: NDArray[np.int32]
    n_codes: NDArray[np.int32]
    n_clusters: int
    starts: NDArray[np.int64]
    codes: NDArray[np.int32]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, sparse: Mapping[int, csr_array[Any, Any]], n_clusters: int) -> WideCounts:
        """Return the counts of features that are given one by one."""
        if not sparse:
            return no_values(n_clusters).counts
        if isinstance(sparse, WideCounts):
            return sparse
        for some in sparse.values():
            some.sort_indices()
        parts = list(sparse.values())
        lengths = [np.diff(some.indptr) for some in parts]
        return cls(
            np.array(list(sparse), np.int32),
            np.array([some.shape[1] for some in parts], np.int32),
            n_clusters,
            starts_of(*lengths),
            np.concatenate([np.zeros(0), *(some.indices for some in parts)]).astype(np.int32),
            np.concatenate([np.zeros(0, np.int64), *(some.data for some in parts)]),
        )

    def __len__(self) -> int:
        return len(self.features)

    def __iter__(self) -> Iterator[int]:
        return iter(self.features.tolist())

    def __contains__(self, feature: object) -> bool:
        return feature in self._place  # a mapping would make the counts to see if it can

    def __getitem__(self, feature: int) -> csr_array[Any, Any]:
        f = self._place[feature]
        indptr = self.starts[f * self.n_clusters : (f + 1) * self.n_clusters + 1]
        some = slice(indptr[0], indptr[-1])
        shape = self.n_clusters, int(self.n_codes[f])
        return csr_array((self.counts[some], self.codes[some], indptr - indptr[0]), shape=shape)

    @cached_property
    def _place(self) -> dict[int, int]:
        return {j: f for f, j in enumerate(self)}

    def with_counts(self, counts: NDArray[np.int64]) -> WideCounts:
        """Return other counts of the same cells."""
        return replace(self, counts=counts)

    def reorder(self, order: NDArray[np.signedinteger]) -> WideCounts:
        """Return the same counts with clusters renumbered: new cluster i was `order[i]`."""
        if not len(self):
            return no_values(len(order)).counts
        shape = len(self), self.n_clusters
        first = self.starts[:-1].reshape(shape)[:, order].ravel()
        length = np.diff(self.starts).reshape(shape)[:, order].ravel()
        parts = [
            slice(a, b) for a, b in zip(first.tolist(), (first + length).tolist(), strict=True)
        ]
        codes, counts = (
            np.concatenate([numbers[part] for part in parts])
            for numbers in (self.codes, self.counts)
        )
        return WideCounts(self.features, self.n_codes, len(order), starts_of(length), codes, counts)


@dataclass(frozen=True, eq=False)
class ValueCells:
    """Which clusters have something of each value: `indptr[v]` to `indptr[v + 1]`, ascending.

    Values are those of all features, one after the other.
    """

    indptr: NDArray[np.int64]
    clusters: NDArray[np.int32]
    n_clusters: int

    def __reduce__(self) -> tuple[Any, ...]:
        return ValueCells, (self.indptr, self.clusters, self.n_clusters)  # without what is native

    @cached_property
    def native(self) -> _kernels.ValueCells:
        """The same as the native core takes it: checked once for all numbers that are listed so."""
        return _kernels.ValueCells(self.indptr, self.clusters, self.n_clusters)

    @cached_property
    def values(self) -> NDArray[np.intp]:
        """The value of every cell."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))


@dataclass(frozen=True, eq=False)
class ByValue:
    """A number for each cell of a value and a cluster."""

    cells: ValueCells
    numbers: NDArray[Any]


@dataclass(eq=False)
class WideValues:
    """Counts of all features with many codes, without the codes that are no values."""

    counts: WideCounts
    n_values: NDArray[np.int32]  # of these features
    _by_value: ByValue | None = None

    def __reduce__(self) -> tuple[type[WideValues], tuple[WideCounts, NDArray[np.int32]]]:
        return WideValues, (self.counts, self.n_values)  # what was found since is not pickled

    @cached_property
    def native(self) -> _kernels.WideCounts:
        """The counts as the native core takes them."""
        wide = self.counts
        return _kernels.WideCounts(
            wide.starts, wide.codes, wide.counts, wide.features, self.n_values, wide.n_clusters
        )

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the values of each feature begin."""
        return starts_of(self.n_values)

    @property
    def slots(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Feature and code of every value."""
        first = np.repeat(self.starts[:-1], self.n_values)
        feature = np.repeat(self.counts.features, self.n_values)
        return feature, np.arange(self.starts[-1]) - first

    @cached_property
    def sums(self) -> NDArray[np.int64]:
        """How often each value occurs in all clusters."""
        by_value = self.by_value(n_threads=1)
        return sums_between(by_value.numbers, by_value.cells.indptr)

    def by_value(self, n_threads: int) -> ByValue:
        """Return the same counts by value: found once."""
        if self._by_value is None:
            indptr, clusters, counts = _kernels.counts_by_value(self.native, n_threads)
            cells = ValueCells(indptr, clusters, self.counts.n_clusters)
            self._by_value = ByValue(cells, counts)
        return self._by_value


@cache
def no_values(n_clusters: int) -> WideValues:
    """Return the counts of no feature, which is what most tables have: made once."""
    none, no_numbers = np.empty(0, np.int32), np.empty(0, np.int64)
    counts = WideCounts(none, none, n_clusters, np.zeros(1, np.int64), none, no_numbers)
    return WideValues(counts, none)


def starts_of(*lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return where parts of these lengths begin, one after the other, and where the last one ends.

    Examples
    --------
    >>> starts_of(np.array([2, 0, 3]))
    array([0, 2, 2, 5])
    """
    return np.cumsum(np.concatenate([[0], *lengths]), dtype=np.int64)


def sums_between(numbers: NDArray[Any], edges: NDArray[Any]) -> NDArray[np.int64]:
    """Return the sums of whole numbers from each edge to the next.

    Examples
    --------
    >>> sums_between(np.array([1, 2, 3]), np.array([0, 1, 1, 3]))
    array([1, 0, 5])
    """
    before = np.zeros(len(numbers) + 1, np.int64)
    np.cumsum(numbers, out=before[1:])
    sums: NDArray[np.int64] = np.diff(before[edges])
    return sums
