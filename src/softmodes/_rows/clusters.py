"""Clusters by their counts alone: what every statistic of a partition starts from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.counts import Counts
from softmodes._rows.stores.base import RowStore

Floats: TypeAlias = NDArray[np.float64]

_LEAST = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False)
class Some:
    """Counts of some features side by side, in rows: those of one begin where the last one ends."""

    counts: Floats  # by cluster and value
    starts: NDArray[np.intp]
    weight: Floats | None = None  # of each feature; None stands for ones

    @cached_property
    def lengths(self) -> NDArray[np.intp]:
        """Number of values of each feature."""
        return np.diff(self.starts, append=self.counts.shape[1])

    def sums(self, by_value: Floats) -> Floats:
        """Return the sum over the values of each feature."""
        found: Floats = np.add.reduceat(by_value, self.starts, axis=-1)
        return found

    def spread(self, by_feature: Floats) -> Floats:
        """Return a number of each feature for each of its values."""
        return np.repeat(by_feature, self.lengths, axis=-1)

    def weighed(self, by_feature: Floats) -> Floats:
        """Return a number of each feature times its weight."""
        return by_feature if self.weight is None else by_feature * self.weight

    @cached_property
    def observed(self) -> Floats:
        """Rows of each cluster in which a feature was observed."""
        return self.sums(self.counts)

    @cached_property
    def shares(self) -> Floats:
        """Share of each value in the whole table."""
        total = self.counts.sum(axis=0)
        shares: Floats = total / np.maximum(self.spread(self.sums(total)), _LEAST)
        return shares

    @cached_property
    def smooth_shares(self) -> Floats:
        """Share of each value in each cluster, with one row added that is spread as the table."""
        return (self.counts + self.shares) / (self.spread(self.observed) + 1.0)


@dataclass(frozen=True, eq=False)
class Clusters:
    """How often each value occurs in each cluster, in rows.

    `row_scale` is what a unit of the counts weighs in rows: whole weights stand for repeated rows,
    others are taken with a mean of 1. `feature_weight` is what each feature counts, None as one.
    """

    counts: Counts
    cluster_sizes: NDArray[np.int64]
    row_scale: float
    feature_weight: Floats | None = None

    @property
    def n_clusters(self) -> int:
        """Number of clusters, empty ones included."""
        return len(self.cluster_sizes)

    @cached_property
    def sizes(self) -> Floats:
        """Rows in each cluster."""
        return self._in_rows(self.cluster_sizes)

    @property
    def n_rows(self) -> float:
        """Rows in all clusters."""
        return float(self.cluster_sizes.sum()) * self.row_scale

    @cached_property
    def value_cells(self) -> NDArray[np.intp]:
        """The cells of the dense counts that belong to values."""
        counts = self.counts
        feature, code = counts.dense_slots
        return np.flatnonzero((code < counts.n_values[feature]) & ~counts.nothing[feature])

    @cached_property
    def _dense_features(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Features whose values are kept dense, and where those of each begin."""
        return np.unique(self.counts.dense_slots[0][self.value_cells], return_index=True)

    @property
    def dense(self) -> Some | None:
        """Counts of all features that are kept dense; None if there are none."""
        cells = self.value_cells
        if not len(cells):
            return None
        features, starts = self._dense_features
        return Some(self._in_rows(self.counts.dense[:, cells]), starts, self._weight_of(features))

    def wide(self, j: int) -> Some:
        """Return the counts of one feature that is kept sparse."""
        weight = self._weight_of(np.array([j]))
        return Some(self._in_rows(self.counts.feature(j)), np.zeros(1, np.intp), weight)

    def _weight_of(self, features: NDArray[np.intp]) -> Floats | None:
        return None if self.feature_weight is None else self.feature_weight[features]

    def _in_rows(self, counts: NDArray[np.int64]) -> Floats:
        return np.multiply(counts, self.row_scale, dtype=np.float64)

    def numbered(self) -> Iterator[tuple[NDArray[np.intp], Some]]:
        """Yield the counts of all features with their numbers: of those kept dense at once."""
        if (dense := self.dense) is not None:
            yield self._dense_features[0], dense
        for j in self.counts.sparse:
            yield np.array([j], np.intp), self.wide(j)

    def features(self) -> Iterator[Some]:
        """Yield the counts of all features: of those that are kept dense at once."""
        for _, some in self.numbered():
            yield some


def feature_scale(weight: NDArray[np.uint32] | None) -> Floats | None:
    """Return what each feature counts: the weights, with a sum of as many as they are worth.

    That is ``sum(w)**2 / sum(w**2)``: of equal weights each is 1, and many small ones beside a few
    large ones do not make these count more than they do alone.

    Examples
    --------
    >>> feature_scale(np.array([4, 4, 0], np.uint32))
    array([1., 1., 0.])
    """
    if weight is None:
        return None
    floats = weight.astype(np.float64)
    scaled: Floats = floats * floats.sum() / (floats @ floats)
    return scaled


def row_scale(store: RowStore, unit: float) -> float:
    """Return what a unit of weight counts in rows."""
    return unit if store.weights_repeat else store.n_weighed / store.total_weight
