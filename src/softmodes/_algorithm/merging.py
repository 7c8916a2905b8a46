"""Which two clusters are merged where there is one too many."""

from __future__ import annotations

import math

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


def merged(tally: Tally, drawn: CodeCenters, clusters: Clusters) -> tuple[Tally, CodeCenters]:
    """Return a tally, and centers, of one cluster less: the cheapest pair is one."""
    a, b = cheapest_pair(clusters)
    return tally.merge(a, b), CodeCenters(without_row(drawn.codes, b))


def cheapest_pair(clusters: Clusters) -> tuple[int, int]:
    """Return the two clusters whose merging loses the least log-likelihood of the labelled rows.

    That is the log-likelihood of labels and rows together, with the shares that were counted; in
    whole numbers, so that the same pair is merged on every machine. Of those that lose as much, the
    smallest are merged: an empty one, if there is any.
    """
    counts = clusters.counts
    return _kernels.cheapest_pair(
        counts.native_dense(),
        counts.wide_values.native if counts.sparse else None,
        clusters.cluster_sizes,
        clusters.row_scale,
        clusters.feature_weight,
        _bits(clusters),
    )


def _bits(clusters: Clusters) -> int:
    """Return how many bits behind the point leave room for the sum over all features."""
    n_rows = max(2.0, clusters.n_rows)
    weight = clusters.feature_weight
    features = len(clusters.counts.n_values) if weight is None else float(weight.sum())
    largest = n_rows * math.log2(n_rows) * (features + 1.0)
    return min(_MOST_BITS, 59 - math.frexp(largest)[1])
