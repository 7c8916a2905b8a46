"""What the counts of a partition tell by themselves: does it pay, what decides it, is it a line."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from softmodes._rows.clusters import Floats, Some
from softmodes.metrics._partition import Partition

_ALIKE = 1e-28  # squares of differences of shares that are but roundings


def icl_of(partition: Partition) -> float:
    """Return the exact ICL of a partition."""
    k, half = partition.n_clusters, float(gammaln(0.5))
    log = gammaln(k / 2) - gammaln(partition.n_rows + k / 2)
    log += float((gammaln(partition.sizes + 0.5) - half).sum())
    for some in partition.features():
        prior = some.lengths / 2
        by_feature = gammaln(prior) - gammaln(some.observed + prior)
        log += float(some.weighed(by_feature + some.sums(gammaln(some.counts + 0.5) - half)).sum())
    return -float(log)


@dataclass(frozen=True, eq=False)
class Deciding:
    """What tells the two clusters apart that the fewest columns tell apart.

    `columns` is how many do; `missing` what part of all that tells two clusters apart is known from
    which cells are missing, at most. NaN where there is one cluster only.
    """

    columns: float
    missing: float


def deciding_columns_of(partition: Partition) -> float:
    """Return the least number of columns that decide between two clusters; empty ones aside."""
    return deciding_of(partition).columns


def deciding_of(partition: Partition, missing_code: NDArray[np.int32] | None = None) -> Deciding:
    """Return what decides between clusters; empty ones aside.

    `missing_code` is the code of missing cells by feature, -1 where they are no value.
    """
    used = np.flatnonzero(partition.cluster_sizes)
    if len(used) < 2:
        return Deciding(float("nan"), float("nan"))
    k = partition.n_clusters
    sums, squares, of_missing = np.zeros((3, k, k))
    for features, some in partition.numbered():
        cells = None if missing_code is None else _cells_of(some, missing_code[features])
        for a in range(k):
            apart = some.weighed(some.sums(_apart(some.smooth_shares, a)))
            sums[a] += apart.sum(axis=1)
            squares[a] += (apart * apart).sum(axis=1)
            if cells is not None:
                of_missing[a] += _apart_by_missing(some, *cells, a)
    first, second = (used[i] for i in np.triu_indices(len(used), 1))
    sums, squares, of_missing = (x[first, second] for x in (sums, squares, of_missing))
    columns = sums * sums / np.where(squares > 0, squares, 1.0)
    share = of_missing / np.where(sums > 0, sums, 1.0)
    return Deciding(float(columns.min()), float(share.max()))


def _apart(shares: Floats, a: int) -> Floats:
    """Return by how much each value tells cluster a from every other: its part of symmetric KL."""
    logs = np.log(np.where(shares > 0, shares, 1.0))
    by_value: Floats = (shares - shares[a]) * (logs - logs[a])
    return by_value


def _apart_by_missing(
    some: Some, features: NDArray[np.intp], cells: NDArray[np.intp], a: int
) -> Floats:
    """Return by how much it tells cluster a from every other which cells are missing."""
    missing = some.smooth_shares[:, cells]
    observed = np.maximum(1.0 - missing, 0.0)
    apart = _apart(missing, a) + _apart(observed, a)
    if some.weight is not None:
        apart *= some.weight[features]
    by_cluster: Floats = apart.sum(axis=1)
    return by_cluster


def _cells_of(some: Some, code: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which features have a value with the code that is given for it, and where it is."""
    known = np.flatnonzero(code >= 0)
    return known, some.starts[known] + code[known]


def line_share_of(partition: Partition) -> float:
    """Return to what part the clusters lie on one line."""
    k = partition.n_clusters
    if np.count_nonzero(partition.cluster_sizes) < 2:
        return float("nan")
    products: Floats = sum(map(_products, partition.features()), np.zeros((k, k)))
    root = np.sqrt(partition.sizes / partition.n_rows)
    squares = np.linalg.eigvalsh(root[:, None] * products * root)
    whole = float(np.trace(root[:, None] * products * root))
    return float(squares[-1]) / whole if whole > _ALIKE else float("nan")


def _products(some: Some) -> Floats:
    """Return the inner products of the clusters' shares, from those of the table."""
    apart = some.smooth_shares - some.shares
    products: Floats = some.spread(some.weighed(np.ones(len(some.starts)))) * apart @ apart.T
    return products
