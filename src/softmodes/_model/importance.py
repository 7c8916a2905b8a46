"""Which columns separate the clusters: the share of each column's mismatches that they explain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.counts import Counts
from softmodes._table.codebook import Codebook

Floats = NDArray[np.float64]


def importance_columns(
    codebook: Codebook, counts: Counts, weight: NDArray[np.uint32] | None
) -> dict[str, Any]:
    """Return the columns of a frame with a row for each feature, the most important first.

    `importance` is Goodman and Kruskal's tau of the feature given the cluster; `weight` the share
    of the feature in all mismatches without clusters. Where all rows agree there is nothing to
    explain: 0.
    """
    within, whole = mismatches_by_feature(counts)
    tau = np.where(whole > 0, 1.0 - within / np.where(whole > 0, whole, 1.0), 0.0)
    weighed = whole if weight is None else whole * weight
    order = np.lexsort((np.arange(len(tau)), -tau))
    names = codebook.names or [f"x{j}" for j in range(codebook.n_features)]
    return {
        "feature": [names[j] for j in order],
        "importance": tau[order],
        "weight": (weighed / max(float(weighed.sum()), np.finfo(np.float64).tiny))[order],
    }


def mismatches_by_feature(counts: Counts) -> tuple[Floats, Floats]:
    """Return the expected mismatches of each feature with centers drawn from shares.

    With those of the clusters, and with those of the whole table.
    """
    n_features = counts.layout.n_features
    within, whole = np.zeros(n_features), np.zeros(n_features)
    for j in range(n_features):
        cluster, code, count = counts.nonzero(j)
        within[j] = _mismatches(count.astype(np.float64), cluster)
        if len(code):
            whole[j] = _mismatches(np.bincount(code, count).astype(np.float64))
    return within, whole


def _mismatches(count: Floats, cluster: NDArray[Any] | None = None) -> float:
    """Return the expected mismatches of counted values, added up over clusters."""
    cluster = np.zeros(len(count), np.intp) if cluster is None else cluster
    observed = np.bincount(cluster, count)
    squares = np.bincount(cluster, count * count)
    return float((observed - squares / np.where(observed > 0, observed, 1.0)).sum())
