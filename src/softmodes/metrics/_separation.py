"""Are clusters apart from each other: statistics that look at every row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from softmodes._rows.clusters import Floats
from softmodes.metrics._partition import Partition
from softmodes.metrics._row_totals import Labels, Table, of_each_row, sum_over_rows

BANDWIDTH = 0.125
# What is added to each density, and the valley of what cannot be judged or is not apart at all.
_LEAST_DENSITY, _NO_GAP = 0.05, 2.0
_FEWEST_ROWS = 3
_LEAST_APART = 1e-9  # nats


def valley_of(partition: Partition) -> float:
    """Return the largest valley of a partition."""
    valleys = valleys_of(partition)
    return float(np.nanmax(valleys)) if not np.isnan(valleys).all() else float("nan")


def valleys_of(partition: Partition) -> Floats:
    """Return the valley of every pair of clusters; NaN beside an empty one, and on the diagonal."""
    k, sizes = partition.n_clusters, partition.sizes
    table = Table.of(partition, _LogShare())
    ahead = _mean_lead(partition, table)
    apart = ahead + ahead.T
    middle = (ahead - ahead.T) / 2
    one = _one(partition.n_rows)
    heaps = sum_over_rows(partition, table, partial(_near, one=one, middle=middle, apart=apart))
    own, between, other = heaps.reshape(3, k, k) / one
    valleys: Floats = (between + between.T + _LEAST_DENSITY) / np.sqrt(
        (own + other.T + _LEAST_DENSITY) * (own.T + other + _LEAST_DENSITY)
    )
    valleys[~(apart > _LEAST_APART)] = _NO_GAP
    few = sizes < _FEWEST_ROWS
    valleys[few] = valleys[:, few] = _NO_GAP
    empty = partition.cluster_sizes == 0
    valleys[empty] = valleys[:, empty] = np.nan
    np.fill_diagonal(valleys, np.nan)
    return valleys


@dataclass(frozen=True)
class _LogShare:
    """The logarithm of a value's share, above that of its share in the table."""

    def default(self, observed: Floats, mismatch: Floats) -> Floats:
        return -np.log1p(observed)

    def bonus(self, counts: Floats, observed: Floats, shares: Floats) -> Floats:
        return np.log1p(counts / np.where(shares > 0, shares, 1.0))


def _mean_lead(partition: Partition, table: Table) -> Floats:
    """Return by how much the rows of each cluster fit it better than another one, on average.

    From the counts alone: it is the same for all rows that have a value.
    """
    k = partition.n_clusters
    counts = partition.counts.dense * partition.row_scale
    totals = counts @ table.dense
    own = (counts * table.own).sum(axis=1)
    for j, (wide, wide_own) in table.wide.items():
        found = csr_array(partition.counts.values(j)) * partition.row_scale
        observed = np.asarray(found.sum(axis=1)).ravel()
        totals += (found @ wide.bonus).toarray() + observed[:, None] * wide.default
        own += found.multiply(wide_own.bonus.T).sum(axis=1) + observed * wide_own.default
    lead: Floats = (own[:, None] - totals) / np.maximum(partition.sizes, 1e-300)[:, None]
    lead[np.arange(k), np.arange(k)] = 0.0
    return lead


def _near(
    totals: Floats, labels: Labels, weight: Floats, one: float, middle: Floats, apart: Floats
) -> NDArray[np.int64]:
    """Return by cluster of the rows, and other cluster, how many are near three places.

    These are the mean of the rows' own cluster, the middle, and the mean of the other one.
    """
    own = totals[np.arange(len(totals)), labels][:, None]
    scale = np.where(apart > _LEAST_APART, apart, np.inf)[labels]
    place = (own - totals - middle[labels]) / scale
    # Farther out nothing is near; squares of it would overflow.
    np.clip(place, -4.0, 4.0, out=place)
    weight = weight[:, None] * one
    steep = 0.5 / BANDWIDTH**2
    sums = [
        _by_label(np.rint(weight * np.exp(-steep * (place - z) ** 2)), labels, len(apart))
        for z in (0.5, 0.0, -0.5)
    ]
    return np.stack(sums)


def _by_label(numbers: Floats, labels: Labels, k: int) -> NDArray[np.int64]:
    n = len(labels)
    of_cluster = csr_array((np.ones(n, np.int64), (labels, np.arange(n))), shape=(k, n))
    sums: NDArray[np.int64] = of_cluster @ numbers.astype(np.int64)
    return sums


def silhouette_of(partition: Partition) -> float:
    """Return the mean silhouette of a partition."""
    if np.count_nonzero(partition.cluster_sizes) < 2:
        return float("nan")
    table = Table.of(partition, _Mismatch())
    one = _one(partition.n_rows)
    measure = partial(_sum_of_silhouettes, one=one, sizes=partition.sizes)
    total = sum_over_rows(partition, table, measure)
    return int(total[0]) / one / partition.n_rows


@dataclass(frozen=True)
class _Mismatch:
    """The probability that a value differs from that of a random row of the cluster."""

    def default(self, observed: Floats, mismatch: Floats) -> Floats:
        return np.where(observed > 0, 1.0, mismatch)

    def bonus(self, counts: Floats, observed: Floats, shares: Floats) -> Floats:
        return -counts / np.where(observed > 0, observed, 1.0)


def silhouettes_of(partition: Partition) -> Floats:
    """Return the silhouette of every row."""
    if np.count_nonzero(partition.cluster_sizes) < 2:
        return np.full(len(partition.labels), np.nan)
    table = Table.of(partition, _Mismatch())
    return of_each_row(partition, table, partial(_silhouettes, sizes=partition.sizes))


def _silhouettes(totals: Floats, labels: Labels, weight: Floats, sizes: Floats) -> Floats:
    """Return the silhouettes of some rows."""
    rows = np.arange(len(totals))
    own = totals[rows, labels]
    totals[:, sizes == 0] = np.inf
    totals[rows, labels] = np.inf
    other = totals.min(axis=1)
    larger = np.maximum(own, other)
    of_row: Floats = (other - own) / np.where(larger > 0, larger, 1.0)
    of_row[sizes[labels] <= 1] = 0.0
    return of_row


def _sum_of_silhouettes(
    totals: Floats, labels: Labels, weight: Floats, one: float, sizes: Floats
) -> NDArray[np.int64]:
    """Return the weighted sum of the silhouettes of some rows."""
    of_row = _silhouettes(totals, labels, weight, sizes)
    sums: NDArray[np.int64] = np.rint(weight * of_row * one).astype(np.int64).sum(keepdims=True)
    return sums


def _one(n_rows: float) -> float:
    """Return what 1 is in sums over rows: they are integers, exact in any order, below 2**62."""
    return 2.0 ** min(30, 60 - math.frexp(n_rows)[1])
