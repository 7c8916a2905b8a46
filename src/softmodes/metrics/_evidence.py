"""What the counts of a partition tell by themselves: does it pay, what decides it, is it a line."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from softmodes.metrics._partition import Floats, Partition, Some


def icl_of(partition: Partition) -> float:
    """Return the exact ICL of a partition."""
    k, half = partition.n_clusters, float(gammaln(0.5))
    log = gammaln(k / 2) - gammaln(partition.n_rows + k / 2)
    log += float((gammaln(partition.sizes + 0.5) - half).sum())
    for some in partition.features():
        prior = some.lengths / 2
        by_feature = gammaln(prior) - gammaln(some.observed + prior)
        log += float(by_feature.sum() + (gammaln(some.counts + 0.5) - half).sum())
    return -float(log)


def deciding_columns_of(partition: Partition) -> float:
    """Return the least number of columns that decide between two clusters; empty ones aside."""
    used = np.flatnonzero(partition.cluster_sizes)
    if len(used) < 2:
        return float("nan")
    k = partition.n_clusters
    sums, squares = np.zeros((k, k)), np.zeros((k, k))
    for some in partition.features():
        shares = some.smooth_shares
        logs = np.log(np.where(shares > 0, shares, 1.0))
        for a in range(k):
            apart = some.sums((shares - shares[a]) * (logs - logs[a]))
            sums[a] += apart.sum(axis=1)
            squares[a] += (apart * apart).sum(axis=1)
    first, second = (used[i] for i in np.triu_indices(len(used), 1))
    sums, squares = sums[first, second], squares[first, second]
    return float((sums * sums / np.where(squares > 0, squares, 1.0)).min())


def line_share_of(partition: Partition) -> float:
    """Return to what part the clusters lie on one line."""
    k = partition.n_clusters
    if np.count_nonzero(partition.cluster_sizes) < 2:
        return float("nan")
    products: Floats = sum(map(_products, partition.features()), np.zeros((k, k)))
    root = np.sqrt(partition.sizes / partition.n_rows)
    squares = np.linalg.eigvalsh(root[:, None] * products * root)
    whole = float(np.trace(root[:, None] * products * root))
    return float(squares[-1]) / whole if whole > 0 else float("nan")


def _products(some: Some) -> Floats:
    """Return the inner products of the clusters' shares, from those of the table."""
    apart = some.smooth_shares - some.shares
    products: Floats = apart @ apart.T
    return products
