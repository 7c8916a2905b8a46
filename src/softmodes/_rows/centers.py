"""What rows are compared with, and how: both are values that travel with a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._rows.counts import Counts, stays
from softmodes._rows.wide_prices import (
    RAISED_BITS,
    SparsePrices,
    WidePrices,
    WideRaised,
    native_of_none,
    require,
)

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
        return _kernels.changed_rows(self.codes, before.codes)

    def reorder(self, order: NDArray[np.signedinteger]) -> CodeCenters:
        """Return the same centers renumbered: new center i was `order[i]`."""
        return CodeCenters(self.codes[order])


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
    sparse: Mapping[int, SparsePrices]
    resolution: int
    raised: Raised | None = None  # known to whom has made the prices

    def __len__(self) -> int:
        return len(self.base)

    @cached_property
    def wide(self) -> WidePrices:
        """The sparse prices of all features at once."""
        return WidePrices.of(self.sparse, len(self))

    def native(self, feature_weight: NDArray[np.uint32] | None = None) -> _kernels.Centers:
        """Return the scores as the native core compares them."""
        return _kernels.Centers(
            self.prices,
            self.base,
            self.offsets,
            self.n_values,
            self.wide.native() if self.sparse else native_of_none(len(self)),
            min(self.resolution, MOST_SHARED_RESOLUTION),
        )

    def reorder(self, order: NDArray[np.signedinteger]) -> ScoreCenters:
        """Return the same scores renumbered: new cluster i was `order[i]`."""
        if stays(order):
            return replace(self, raised=None)
        return ScoreCenters(
            prices=self.prices[order],
            base=self.base[order],
            offsets=self.offsets,
            n_values=self.n_values,
            sparse=self.wide.reorder(order) if self.sparse else {},
            resolution=self.resolution,
        )

    def floor(self, totals: ValueTotals, total_weight: int, n_threads: int = 1) -> int:
        """Return what the core takes off the totals of rows, summed over rows with these counts.

        That is the least of each value over the clusters, and of bases and defaults.
        """
        sum_ = _kernels.sum_of_least(self.prices, totals.dense, n_threads)
        if not self.sparse:
            return sum_ + total_weight * int(self.base.min())
        wide = self.wide
        defaults = self.base.astype(np.int64) + wide.default.sum(axis=0, dtype=np.int64)
        sum_ += total_weight * (int(defaults.min()) - int(wide.most_bonus.sum()))
        sum_ += exact_dot(totals.wide, wide.shared)
        observed = np.add.reduceat(totals.wide, wide.starts[:-1])
        dearest = wide.default.max(axis=1)
        for some, price in zip(observed.tolist(), dearest.tolist(), strict=True):
            sum_ -= (total_weight - some) * price
        return sum_

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
        require(k > 0 and base.shape == (k,), "bases")
        require(prices.shape == (k, int(offsets[-1])), "shape of prices")
        sparse = {}
        for j in np.flatnonzero(n_values > MOST_DENSE_VALUES).tolist():
            parts = (_exact(arrays, f"price_{j}_{part}", d) for part, d in _SPARSE_PARTS.items())
            sparse[j] = SparsePrices(*parts)
            sparse[j].check(k, int(n_values[j]))
        scores = cls(prices, base, offsets, n_values, sparse, resolution)
        require(scores.sums_fit(), "size of prices")
        return scores

    def sums_fit(self) -> bool:
        """Tell whether no sum of prices of a row leaves its limit."""
        dense = np.flatnonzero(np.diff(self.offsets))
        by_value = self.prices.max(axis=0) - self.prices.min(axis=0)
        spans = np.maximum.reduceat(by_value, self.offsets[dense]) if len(dense) else by_value
        lines = spans * features_at_once(self.n_values[dense])
        others = int(self.wide.spans.sum())
        total = int(spans.sum(dtype=np.int64)) + others + int(np.ptp(self.base))
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
    wide: NDArray[np.int64]

    @classmethod
    def of(cls, totals: Counts) -> ValueTotals:
        """Return the totals of the one cluster that is counted."""
        offsets = price_offsets(totals.n_values)
        if not totals.nothing.any() and np.array_equal(offsets, totals.layout.offsets):
            return cls(totals.dense[0], totals.wide_values.sums)  # every code is a value
        feature, code = totals.dense_slots
        cells = np.flatnonzero((code < totals.n_values[feature]) & ~totals.nothing[feature])
        dense = np.zeros(int(offsets[-1]), np.int64)
        dense[offsets[feature[cells]] + code[cells]] = totals.dense[0, cells]
        wide = totals.wide_values.sums
        own = np.repeat(
            totals.wide_values.n_values > MOST_DENSE_VALUES, totals.wide_values.n_values
        )
        if not own.all():
            among, value = totals.wide_values.slots
            dense[(offsets[among] + value)[~own]] = wide[~own]
        return cls(dense, wide[own])


@dataclass(frozen=True, eq=False)
class Raised:
    """What rounding has raised prices and bases by, in units of 2**-15 of theirs."""

    BITS: ClassVar[int] = RAISED_BITS

    prices: NDArray[np.int16]
    base: NDArray[np.int16]
    wide: WideRaised


def exact_dot(counts: NDArray[np.int64], prices: NDArray[np.uint32]) -> int:
    """Return the sum of counts times prices, however large."""
    if int(counts.sum()) * int(prices.max(initial=0)) < _INT64_LIMIT:
        return int(counts @ prices.astype(np.int64))
    return sum(a * b for a, b in zip(counts.tolist(), prices.tolist(), strict=True))


def _exact(arrays: Mapping[str, NDArray[Any]], name: str, dtype: type[np.generic]) -> NDArray[Any]:
    require(arrays[name].dtype == dtype, name)
    require(arrays[name].ndim == (2 if name == "prices" else 1), name)
    return np.ascontiguousarray(arrays[name])


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
        return self.tie_key == other.tie_key and same_weight(
            self.feature_weight, other.feature_weight
        )


def same_weight(some: NDArray[np.uint32] | None, other: NDArray[np.uint32] | None) -> bool:
    """Tell whether feature weights are alike; None is no weights."""
    if some is None or other is None:
        return some is other
    return some is other or np.array_equal(some, other)


def largest_distance(n_features: int, feature_weight: NDArray[np.uint32] | None) -> int:
    """Return the distance of a row and a center that differ everywhere."""
    return n_features if feature_weight is None else int(feature_weight.sum())
