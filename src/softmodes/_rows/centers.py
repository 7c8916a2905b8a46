"""What rows are compared with, and how: both are values that travel with a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from softmodes import _kernels
from softmodes._rows.counts import Counts, row_sums, sums_between

MOST_DENSE_VALUES = 256  # of a feature whose prices are kept for every cluster and value
# The finest resolution at which rows are shared among clusters.
MOST_SHARED_RESOLUTION = 10
# What sums of prices stay below, above the least over the clusters: of the features in four bits of
# a packed row, and of a whole row.
LINE_LIMIT = 1 << 16
TOTAL_LIMIT = 1 << 30
_NIBBLE_BITS, _NIBBLE_VALUES = 4, 16
_INT64_LIMIT = 1 << 63


@dataclass(frozen=True, eq=False)
class CodeCenters:
    """Centers that are rows of codes, compared with rows by mismatches.

    A code that no cell can hold matches nothing.
    """

    codes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.codes)

    def native(self, feature_weight: NDArray[np.uint32] | None) -> _kernels.Centers:
        """Return the centers as the native core compares them."""
        return _kernels.Centers(self.codes, feature_weight)

    def changed_since(self, before: CodeCenters) -> NDArray[np.int32]:
        """Return the clusters whose centers are not those of `before`: all, if their number is."""
        if len(before) != len(self):
            return np.arange(len(self), dtype=np.int32)
        return np.flatnonzero((self.codes != before.codes).any(axis=1)).astype(np.int32)

    def reorder(self, order: NDArray[np.signedinteger]) -> CodeCenters:
        """Return the same centers renumbered: new center i was `order[i]`."""
        return CodeCenters(self.codes[order])


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

    @property
    def span(self) -> int:
        """How much dearer a cell may be in one cluster than in another, as the core bounds it."""
        return 2 * int(np.ptp(self.default)) + self.most_bonus

    @property
    def most_bonus(self) -> int:
        """The largest bonus."""
        return int(self.bonus.max(initial=0))

    def dense(self) -> NDArray[np.uint32]:
        """Return the price of every value in every cluster."""
        prices = self.default[:, None] + self.shared
        prices[self.clusters, self.values] -= self.bonus
        return prices

    def sum_over_clusters(self) -> NDArray[np.int64]:
        """Return the sum of the prices of each value."""
        k = len(self.default)
        all_defaults = int(self.default.sum(dtype=np.int64))
        return (
            all_defaults + k * self.shared.astype(np.int64) - sums_between(self.bonus, self.indptr)
        )

    def reorder(self, order: NDArray[np.signedinteger]) -> SparsePrices:
        """Return the same prices with clusters renumbered: new cluster i was `order[i]`."""
        rank = np.argsort(order).astype(np.int32)[self.clusters]
        sort = np.lexsort((rank, self.values))
        return SparsePrices(
            self.default[order], self.shared, self.indptr, rank[sort], self.bonus[sort]
        )

    def native(self, feature: int) -> _kernels.SparsePrices:
        """Return the prices as the native core takes them."""
        return _kernels.SparsePrices(
            feature, self.default, self.shared, self.indptr, self.clusters, self.bonus
        )

    def check(self, k: int, n_values: int) -> None:
        """Raise ValueError unless all is as `Pricing` makes it."""
        ptr = self.indptr
        _require(self.default.shape == (k,) and self.shared.shape == (n_values,), "shape of prices")
        _require(ptr.shape == (n_values + 1,) and ptr[0] == 0, "list of bonuses")
        _require(bool((np.diff(ptr) >= 0).all()), "list of bonuses")
        _require(len(self.clusters) == len(self.bonus) == ptr[-1], "list of bonuses")
        ascending = np.diff(self.clusters.astype(np.int64)) > 0
        ascending[ptr[1:-1][(ptr[1:-1] > 0) & (ptr[1:-1] < ptr[-1])] - 1] = True
        in_range = ((self.clusters >= 0) & (self.clusters < k)).all()
        _require(bool(in_range and ascending.all()), "clusters of bonuses")
        # A value that is much more frequent in a cluster than in the table has a large bonus.
        most = self.default.astype(np.int64)[self.clusters] + self.shared[self.values]
        _require(bool((self.bonus <= most).all()), "bonuses")
        largest = int(self.default.max()) + int(self.shared.max())
        _require(largest < 1 << 32, "prices")


@dataclass(frozen=True, eq=False)
class ScoreCenters:
    """A price for every cluster, feature and value: a row's distance is the sum over its cells.

    Prices are in units of 2**-resolution bits (of expected mismatches, with the rule "gini"); those
    of feature j are `prices[:, offsets[j] : offsets[j + 1]]`, of features with more than 256 values
    in `sparse`. `base` is what every row costs in a cluster. A cell that holds no value (missing
    and ignored, or unseen) costs nothing. Feature weights are inside the prices.
    """

    prices: NDArray[np.uint32]
    base: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    n_values: NDArray[np.int32]
    sparse: dict[int, SparsePrices]
    resolution: int
    raised: Raised | None = None  # known to whom has made the prices

    def __len__(self) -> int:
        return len(self.base)

    def native(self, feature_weight: NDArray[np.uint32] | None = None) -> _kernels.Centers:
        """Return the scores as the native core compares them."""
        return _kernels.Centers(
            self.prices,
            self.base,
            self.offsets,
            self.n_values,
            [prices.native(j) for j, prices in self.sparse.items()],
            min(self.resolution, MOST_SHARED_RESOLUTION),
        )

    def reorder(self, order: NDArray[np.signedinteger]) -> ScoreCenters:
        """Return the same scores renumbered: new cluster i was `order[i]`."""
        return ScoreCenters(
            prices=self.prices[order],
            base=self.base[order],
            offsets=self.offsets,
            n_values=self.n_values,
            sparse={j: prices.reorder(order) for j, prices in self.sparse.items()},
            resolution=self.resolution,
        )

    def floor(self, totals: ValueTotals, total_weight: int) -> int:
        """Return what the core takes off the totals of rows, summed over rows with these counts.

        That is the least of each value over the clusters, and of bases and defaults.
        """
        sum_ = _exact_dot(totals.dense, self.prices.min(axis=0))
        defaults = self.base.astype(np.int64)
        for j, prices in self.sparse.items():
            counts = totals.sparse[j]
            defaults = defaults + prices.default
            sum_ += _exact_dot(counts, prices.shared) - total_weight * prices.most_bonus
            sum_ -= (total_weight - int(counts.sum())) * int(prices.default.max())
        return sum_ + total_weight * int(defaults.min())

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the scores as named arrays, as a model file keeps them."""
        arrays: dict[str, NDArray[Any]] = {"prices": self.prices, "base": self.base}
        for j, prices in self.sparse.items():
            arrays |= {f"price_{j}_{part}": getattr(prices, part) for part in _SPARSE_PARTS}
        return arrays

    @classmethod
    def from_arrays(
        cls, n_values: NDArray[np.int32], resolution: int, arrays: Mapping[str, NDArray[Any]]
    ) -> ScoreCenters:
        """Return the scores that `to_arrays` took apart; raise ValueError if they cannot be."""
        prices, base = (_exact(arrays, name, np.uint32) for name in ("prices", "base"))
        offsets = price_offsets(n_values)
        k = len(base)
        _require(k > 0 and base.shape == (k,), "bases")
        _require(prices.shape == (k, int(offsets[-1])), "shape of prices")
        sparse = {}
        for j in np.flatnonzero(n_values > MOST_DENSE_VALUES).tolist():
            parts = (_exact(arrays, f"price_{j}_{part}", d) for part, d in _SPARSE_PARTS.items())
            sparse[j] = SparsePrices(*parts)
            sparse[j].check(k, int(n_values[j]))
        scores = cls(prices, base, offsets, n_values, sparse, resolution)
        _require(scores.sums_fit(), "size of prices")
        return scores

    def sums_fit(self) -> bool:
        """Tell whether no sum of prices of a row leaves its limit."""
        dense = np.flatnonzero(np.diff(self.offsets))
        by_value = self.prices.max(axis=0) - self.prices.min(axis=0)
        spans = np.maximum.reduceat(by_value, self.offsets[dense]) if len(dense) else by_value
        lines = spans * features_at_once(self.n_values[dense])
        others = [prices.span for prices in self.sparse.values()]
        total = int(spans.sum(dtype=np.int64)) + sum(others) + int(np.ptp(self.base))
        return bool((lines < LINE_LIMIT).all()) and total < TOTAL_LIMIT


_SPARSE_PARTS: dict[str, type[np.generic]] = {
    "default": np.uint32,
    "shared": np.uint32,
    "indptr": np.int64,
    "clusters": np.int32,
    "bonus": np.uint32,
}


def price_offsets(n_values: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return where the prices of each feature start: none of those with many values.

    Examples
    --------
    >>> price_offsets(np.array([2, 300, 5], np.int32))
    array([0, 2, 2, 7])
    """
    dense = np.where(n_values <= MOST_DENSE_VALUES, n_values, 0)
    return np.concatenate(([0], np.cumsum(dense, dtype=np.int64)))


def features_at_once(n_values: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return how many features of so many values share four bits of a packed row at most.

    A feature needs a bit at least for every doubling of its values, in any layout.
    """
    bits = np.maximum(1, np.ceil(np.log2(n_values)))
    return np.where(n_values <= _NIBBLE_VALUES, _NIBBLE_BITS / bits, 1.0)


@dataclass(frozen=True, eq=False)
class ValueTotals:
    """How often each value occurs in all rows: in the order of prices, and of sparse prices."""

    dense: NDArray[np.int64]
    sparse: dict[int, NDArray[np.int64]]

    @classmethod
    def of(cls, totals: Counts) -> ValueTotals:
        """Return the totals of the one cluster that is counted."""
        offsets = price_offsets(totals.n_values)
        feature, code = totals.dense_slots
        cells = np.flatnonzero((code < totals.n_values[feature]) & ~totals.nothing[feature])
        dense = np.zeros(int(offsets[-1]), np.int64)
        dense[offsets[feature[cells]] + code[cells]] = totals.dense[0, cells]
        sparse = {}
        for j in totals.layout.sparse_features:
            values = totals.feature(j)[0]
            if offsets[j] < offsets[j + 1]:
                dense[offsets[j] : offsets[j + 1]] = values
            else:
                sparse[j] = values
        return cls(dense, sparse)


@dataclass(frozen=True, eq=False)
class SparseRaised:
    """What rounding has raised sparse prices by, in units of 2**-15 of theirs."""

    default: NDArray[np.int16]
    shared: NDArray[np.int16]
    bonus: NDArray[np.int16]

    def dense(self, prices: SparsePrices) -> NDArray[np.int16]:
        """Return it for every cluster and value."""
        raised = self.default[:, None].astype(np.int32) + self.shared
        raised[prices.clusters, prices.values] -= self.bonus
        return raised.clip(-(1 << 15), (1 << 15) - 1).astype(np.int16)

    def sum_over(self, prices: SparsePrices, counts: csr_array[Any, Any]) -> int:
        """Return the sum over counted cells, by cluster and value, of what each was raised by."""
        sum_ = int(row_sums(counts) @ self.default.astype(np.int64))
        sum_ += int(counts.data @ self.shared.astype(np.int64)[counts.indices])
        if not len(self.bonus):
            return sum_
        k = len(self.default)
        listed = prices.values * k + prices.clusters
        cells = counts.indices * np.int64(k) + np.repeat(np.arange(k), np.diff(counts.indptr))
        place = np.minimum(np.searchsorted(listed, cells), len(listed) - 1)
        bonus = np.where(listed[place] == cells, self.bonus[place], 0)
        return sum_ - int(counts.data @ bonus.astype(np.int64))

    def exact_sums(self, prices: SparsePrices) -> NDArray[np.float64]:
        """Return the sum of the prices of each value before rounding."""
        k = len(self.default)
        raised = int(self.default.sum(dtype=np.int64)) + k * self.shared.astype(np.int64)
        raised -= sums_between(self.bonus, prices.indptr)
        return before_rounding(prices.sum_over_clusters(), raised)


@dataclass(frozen=True, eq=False)
class Raised:
    """What rounding has raised prices and bases by, in units of 2**-15 of theirs."""

    BITS: ClassVar[int] = 15

    prices: NDArray[np.int16]
    base: NDArray[np.int16]
    sparse: dict[int, SparseRaised]

    def exact_sums(self, scores: ScoreCenters) -> NDArray[np.float64]:
        """Return the sum over the clusters of the prices of each value before rounding."""
        sums, raised = (p.sum(axis=0, dtype=np.int64) for p in (scores.prices, self.prices))
        return before_rounding(sums, raised)


def before_rounding(prices: NDArray[Any], raised: NDArray[Any] | None) -> NDArray[np.float64]:
    """Return what prices in fixed point were before rounding has raised them, if it is known."""
    exact = prices.astype(np.float64)
    if raised is not None:
        exact -= np.ldexp(raised.astype(np.float64), -Raised.BITS)
    return exact


def _exact_dot(counts: NDArray[np.int64], prices: NDArray[np.uint32]) -> int:
    if int(counts.sum()) * int(prices.max(initial=0)) < _INT64_LIMIT:
        return int(counts @ prices.astype(np.int64))
    return sum(a * b for a, b in zip(counts.tolist(), prices.tolist(), strict=True))


def _exact(arrays: Mapping[str, NDArray[Any]], name: str, dtype: type[np.generic]) -> NDArray[Any]:
    _require(arrays[name].dtype == dtype, name)
    _require(arrays[name].ndim == (2 if name == "prices" else 1), name)
    return np.ascontiguousarray(arrays[name])


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise ValueError(f"something is wrong with the {what}")


Centers: TypeAlias = CodeCenters | ScoreCenters


@dataclass(frozen=True, eq=False)
class Comparison:
    """How a row is compared with centers: feature weights, and the key by which ties are settled.

    A tie goes to the smallest hash of the key, the row's values and the cluster's number; without a
    `tie_key`, to the lowest cluster.
    """

    tie_key: int | None = None
    feature_weight: NDArray[np.uint32] | None = None

    def same_as(self, other: Comparison) -> bool:
        """Tell whether both compare alike; by content, since tasks may be copies."""
        return self.tie_key == other.tie_key and (
            self.feature_weight is other.feature_weight
            or (
                self.feature_weight is not None
                and other.feature_weight is not None
                and np.array_equal(self.feature_weight, other.feature_weight)
            )
        )


def largest_distance(n_features: int, feature_weight: NDArray[np.uint32] | None) -> int:
    """Return the distance of a row and a center that differ everywhere."""
    return n_features if feature_weight is None else int(feature_weight.sum())
