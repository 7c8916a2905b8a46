"""What the values of the features with many of them cost in each cluster: all at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._rows.wide_counts import ValueCells, WideValues, starts_of

RAISED_BITS = 15  # behind the point of what rounding has raised a price by


@dataclass(frozen=True, eq=False)
class SparsePrices:
    """Prices of a feature with many values: default[cluster] + shared[value] - bonus.

    Bonuses are listed by value, `indptr[v]` to `indptr[v + 1]`, for clusters in ascending order.
    """

    default: NDArray[np.uint32]
    shared: NDArray[np.uint32]
    indptr: NDArray[np.int64]
    clusters: NDArray[np.int32]
    bonus: NDArray[np.uint32]

    @cached_property
    def values(self) -> NDArray[np.intp]:
        """The value of every bonus."""
        return np.repeat(np.arange(len(self.shared)), np.diff(self.indptr))

    def dense(self) -> NDArray[np.uint32]:
        """Return the price of every value in every cluster."""
        prices = self.default[:, None] + self.shared
        prices[self.clusters, self.values] -= self.bonus
        return prices

    def check(self, k: int, n_values: int) -> None:
        """Raise ValueError unless all is as `Pricing` makes it."""
        ptr = self.indptr
        require(self.default.shape == (k,) and self.shared.shape == (n_values,), "shape of prices")
        require(ptr.shape == (n_values + 1,) and ptr[0] == 0, "list of bonuses")
        require(bool((np.diff(ptr) >= 0).all()), "list of bonuses")
        require(len(self.clusters) == len(self.bonus) == ptr[-1], "list of bonuses")
        ascending = np.diff(self.clusters.astype(np.int64)) > 0
        ascending[ptr[1:-1][(ptr[1:-1] > 0) & (ptr[1:-1] < ptr[-1])] - 1] = True
        in_range = ((self.clusters >= 0) & (self.clusters < k)).all()
        require(bool(in_range and ascending.all()), "clusters of bonuses")
        # A value that is much more frequent in a cluster than in the table has a large bonus.
        most = self.default.astype(np.int64)[self.clusters] + self.shared[self.values]
        require(bool((self.bonus <= most).all()), "bonuses")
        largest = int(self.default.max()) + int(self.shared.max())
        require(largest < 1 << 32, "prices")


@dataclass(frozen=True, eq=False)
class WidePrices(Mapping[int, SparsePrices]):
    """Prices of all features with many values; a mapping of features to the prices of each.

    The values of the f-th feature begin at `starts[f]` in `shared`, and so in `cells`, of which
    each has a bonus.
    """

    features: NDArray[np.int32]
    starts: NDArray[np.int64]
    default: NDArray[np.uint32]  # (feature, cluster)
    shared: NDArray[np.uint32]
    cells: ValueCells
    bonus: NDArray[np.uint32]

    @classmethod
    def of(cls, sparse: Mapping[int, SparsePrices], k: int) -> WidePrices:
        """Return the prices of features that are given one by one."""
        if isinstance(sparse, WidePrices):
            return sparse
        parts, no = list(sparse.values()), np.zeros(0)
        return cls(
            np.array(list(sparse), np.int32),
            starts_of(np.array([len(some.shared) for some in parts], np.int64)),
            np.array([some.default for some in parts], np.uint32).reshape(len(parts), k),
            np.concatenate([no, *(some.shared for some in parts)]).astype(np.uint32),
            ValueCells(
                starts_of(*(np.diff(some.indptr) for some in parts)),
                np.concatenate([no, *(some.clusters for some in parts)]).astype(np.int32),
                k,
            ),
            np.concatenate([no, *(some.bonus for some in parts)]).astype(np.uint32),
        )

    def __len__(self) -> int:
        return len(self.features)

    def __iter__(self) -> Iterator[int]:
        return iter(self.features.tolist())

    def __getitem__(self, feature: int) -> SparsePrices:
        f = int(np.searchsorted(self.features, feature))
        if f == len(self) or self.features[f] != feature:
            raise KeyError(feature)
        values = slice(self.starts[f], self.starts[f + 1])
        indptr = self.cells.indptr[self.starts[f] : self.starts[f + 1] + 1]
        some = slice(indptr[0], indptr[-1])
        return SparsePrices(
            self.default[f],
            self.shared[values],
            indptr - indptr[0],
            self.cells.clusters[some],
            self.bonus[some],
        )

    @property
    def most_bonus(self) -> NDArray[np.int64]:
        """The largest bonus of each feature."""
        return most_between(self.bonus, self.cells.indptr[self.starts]).astype(np.int64)

    @property
    def spans(self) -> NDArray[np.int64]:
        """How much dearer a cell may be in one cluster than in another, as the core bounds it."""
        spread: NDArray[np.int64] = np.ptp(self.default, axis=1).astype(np.int64)
        return 2 * spread + self.most_bonus

    def reorder(self, order: NDArray[np.signedinteger]) -> WidePrices:
        """Return the same prices with clusters renumbered: new cluster i was `order[i]`."""
        indptr, clusters, bonus = self.cells.indptr, self.cells.clusters.copy(), self.bonus.copy()
        _kernels.renumber_clusters(indptr, np.argsort(order).astype(np.int32), clusters, bonus)
        default = np.ascontiguousarray(self.default[:, order])
        cells = ValueCells(indptr, clusters, self.n_clusters)
        return WidePrices(self.features, self.starts, default, self.shared, cells, bonus)

    def some(self, which: NDArray[np.bool_]) -> WidePrices:
        """Return the prices of some of the features."""
        return WidePrices.of({j: self[j] for j in self.features[which].tolist()}, self.n_clusters)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.default.shape[1])

    def native(self) -> _kernels.WidePrices:
        """Return the prices as the native core takes them."""
        return _kernels.WidePrices(
            self.features,
            self.starts,
            self.default,
            self.shared,
            self.cells.native,
            self.bonus,
        )


@cache
def native_of_none(n_clusters: int) -> _kernels.WidePrices:
    """Return the prices of no feature, which is what most tables have: made once."""
    return WidePrices.of({}, n_clusters).native()


@dataclass(frozen=True, eq=False)
class WideRaised:
    """What rounding has raised prices by, in units of 2**-15 of theirs."""

    prices: WidePrices
    default: NDArray[np.int16]
    shared: NDArray[np.int16]
    bonus: NDArray[np.int16]

    def dense(self, feature: int) -> NDArray[np.int16]:
        """Return it for every cluster and value of a feature."""
        prices, f = self.prices, int(np.searchsorted(self.prices.features, feature))
        values = slice(prices.starts[f], prices.starts[f + 1])
        some = slice(*prices.cells.indptr[[values.start, values.stop]])
        raised = self.default[f][:, None].astype(np.int32) + self.shared[values]
        raised[prices.cells.clusters[some], prices[feature].values] -= self.bonus[some]
        clipped: NDArray[np.int16] = raised.clip(-(1 << 15), (1 << 15) - 1).astype(np.int16)
        return clipped

    def sum_over(self, values: WideValues, less: int, n_threads: int) -> int:
        """Return the sum over counted cells of what each was raised by.

        The last `less` bits of counts are left out.
        """
        counts = values.by_value(n_threads)
        return _kernels.sum_of_raised(
            values.native,
            counts.cells.native,
            counts.numbers,
            less,
            self.default,
            self.shared,
            self.prices.cells.native,
            self.bonus,
            n_threads,
        )

    def exact_sums(self, n_threads: int) -> NDArray[np.float64]:
        """Return the sum over the clusters of the prices of each value before rounding."""
        prices = self.prices
        return _kernels.wide_sums_before_rounding(
            prices.starts,
            prices.default,
            prices.shared,
            prices.cells.native,
            prices.bonus,
            self.default,
            self.shared,
            self.bonus,
            n_threads,
        )


def most_between(numbers: NDArray[Any], edges: NDArray[np.int64]) -> NDArray[Any]:
    """Return the largest number from each edge to the next, 0 where there is none.

    Examples
    --------
    >>> most_between(np.array([1, 2, 3]), np.array([0, 1, 1, 3]))
    array([1, 0, 3])
    """
    most = np.zeros(len(edges) - 1, numbers.dtype)
    filled = np.flatnonzero(np.diff(edges))
    if len(filled):
        most[filled] = np.maximum.reduceat(numbers, edges[filled])
    return most


def before_rounding(prices: NDArray[Any], raised: NDArray[Any] | None) -> NDArray[np.float64]:
    """Return what prices in fixed point were before rounding has raised them, if it is known."""
    exact = prices.astype(np.float64)
    if raised is not None:
        exact -= np.ldexp(raised.astype(np.float64), -RAISED_BITS)
    return exact


def require(condition: bool, what: str) -> None:
    """Raise ValueError if something is wrong."""
    if not condition:
        raise ValueError(f"something is wrong with the {what}")
