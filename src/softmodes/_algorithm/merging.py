"""Which two clusters are merged where there is one too many."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._rows.centers import CodeCenters
from softmodes._rows.clusters import Clusters, Floats, Some
from softmodes._rows.tally import Tally

_MOST_BITS = 30  # behind the point
_MOST_PAIRED = 10**6  # values of all pairs of clusters that are compared


def few_pairs(n_clusters: int, n_values: int) -> bool:
    """Tell whether all pairs of clusters are soon compared."""
    return n_clusters**2 * n_values <= _MOST_PAIRED


def merged(tally: Tally, drawn: CodeCenters, clusters: Clusters) -> tuple[Tally, CodeCenters]:
    """Return a tally, and centers, of one cluster less: the cheapest pair is one."""
    a, b = cheapest_pair(clusters)
    return tally.merge(a, b), CodeCenters(np.delete(drawn.codes, b, axis=0))


def cheapest_pair(clusters: Clusters) -> tuple[int, int]:
    """Return the two clusters whose merging loses the least log-likelihood of the labelled rows.

    That is the log-likelihood of labels and rows together, with the shares that were counted; in
    whole numbers, so that the same pair is merged on every machine. Of those that lose as much, the
    smallest are merged: an empty one, if there is any.
    """
    bits = _bits(clusters)
    sizes = clusters.sizes
    alone = _n_log_n(sizes, bits)
    loss = alone[:, None] + alone - _n_log_n(sizes[:, None] + sizes, bits)
    for some in clusters.features():
        loss += _loss(some, bits)
    loss[np.tril_indices(clusters.n_clusters)] = np.iinfo(np.int64).max
    cheapest = np.argwhere(loss == loss.min())
    a, b = cheapest[np.argmin(clusters.cluster_sizes[cheapest].sum(axis=1))]
    return int(a), int(b)


def _bits(clusters: Clusters) -> int:
    """Return how many bits behind the point leave room for the sum over all features."""
    n_rows = max(2.0, clusters.n_rows)
    weight = clusters.feature_weight
    features = len(clusters.counts.n_values) if weight is None else float(weight.sum())
    largest = n_rows * math.log2(n_rows) * (features + 1.0)
    return min(_MOST_BITS, 59 - math.frexp(largest)[1])


def _loss(some: Some, bits: int) -> NDArray[np.int64]:
    alone = _log_likelihoods(some, some.counts, bits)
    joined = [_log_likelihoods(some, some.counts + counts, bits) for counts in some.counts]
    loss: NDArray[np.int64] = alone[:, None] + alone - np.stack(joined)
    return loss


def _log_likelihoods(some: Some, counts: Floats, bits: int) -> NDArray[np.int64]:
    """Return the log-likelihood of counted cells with their own shares, by cluster."""
    in_all = np.add.reduceat(_n_log_n(counts, bits), some.starts, axis=-1)
    by_feature = in_all - _n_log_n(some.sums(counts), bits)
    if some.weight is not None:
        by_feature = np.rint(by_feature * some.weight).astype(np.int64)
    by_cluster: NDArray[np.int64] = by_feature.sum(axis=1)
    return by_cluster


def _n_log_n(counts: Floats, bits: int) -> NDArray[np.int64]:
    """Return n log2 n in units of 2**-bits."""
    logs = _kernels.portable_log2(np.ascontiguousarray(np.where(counts > 0, counts, 1.0).ravel()))
    found: NDArray[np.int64] = np.rint(np.ldexp(counts * logs.reshape(counts.shape), bits)).astype(
        np.int64
    )
    return found
