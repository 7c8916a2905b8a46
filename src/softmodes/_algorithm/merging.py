"""Which clusters are merged where there are too many."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._rows.centers import CodeCenters
from softmodes._rows.clusters import Clusters
from softmodes._rows.counts import without_row
from softmodes._rows.tally import Tally

_MOST_BITS = 30  # behind the point
_MOST_PAIRED = 10**6  # values of all pairs of clusters that are compared


def few_pairs(n_clusters: int, n_values: int) -> bool:
    """Tell whether all pairs of clusters are soon compared."""
    return n_clusters**2 * n_values <= _MOST_PAIRED


def merged(
    tally: Tally, drawn: CodeCenters, clusters: Clusters, n_times: int = 1
) -> tuple[Tally, CodeCenters]:
    """Return a tally, and centers, of so many clusters less: the cheapest pair is one, each time.

    The cheapest are the two clusters whose merging loses the least log-likelihood of the labelled
    rows: of labels and rows together, with the shares that were counted. It is in whole numbers, so
    that the same pair is merged on every machine.
    """
    likelihoods = _merged_likelihoods(clusters)
    while True:
        a, b = _cheapest_pair(likelihoods, tally.cluster_sizes)
        tally, drawn = tally.merge(a, b), CodeCenters(without_row(drawn.codes, b))
        n_times -= 1
        if not n_times:
            return tally, drawn
        likelihoods = without_row(without_row(likelihoods, b).T, b).copy()
        clusters = replace(clusters, counts=tally.counts, cluster_sizes=tally.cluster_sizes)
        likelihoods[a] = likelihoods[:, a] = _merged_likelihoods(clusters, a)


def cheapest_pair(clusters: Clusters) -> tuple[int, int]:
    """Return the two clusters whose merging loses the least."""
    return _cheapest_pair(_merged_likelihoods(clusters), clusters.cluster_sizes)


def _cheapest_pair(
    likelihoods: NDArray[np.int64], cluster_sizes: NDArray[np.int64]
) -> tuple[int, int]:
    """Return the pair that loses the least; of several the smallest: an empty one, if there is any.

    `likelihoods` are those of any two clusters as one, on the diagonal of each by itself.
    """
    alone = likelihoods.diagonal()
    loss = alone[:, None] + alone - likelihoods
    loss[np.tril_indices(len(loss))] = np.iinfo(np.int64).max
    cheapest = np.argwhere(loss == loss.min())
    a, b = cheapest[np.argmin(cluster_sizes[cheapest].sum(axis=1))]
    return int(a), int(b)


def _merged_likelihoods(clusters: Clusters, cluster: int | None = None) -> NDArray[np.int64]:
    """Return the log-likelihood of any two clusters as one, or of one with each of the others."""
    counts = clusters.counts
    found = _kernels.merged_likelihoods(
        counts.native_dense(),
        counts.wide_values.native if counts.sparse else None,
        clusters.cluster_sizes,
        clusters.row_scale,
        clusters.feature_weight,
        _bits(clusters),
        cluster,
    )
    return found.reshape(clusters.n_clusters, -1) if cluster is None else found


def _bits(clusters: Clusters) -> int:
    """Return how many bits behind the point leave room for the sum over all features."""
    n_rows = max(2.0, clusters.n_rows)
    weight = clusters.feature_weight
    features = len(clusters.counts.n_values) if weight is None else float(weight.sum())
    largest = n_rows * math.log2(n_rows) * (features + 1.0)
    return min(_MOST_BITS, 59 - math.frexp(largest)[1])
