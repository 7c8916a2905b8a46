"""How well fitted shares foretell other rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from softmodes._model.clustering import Clustering
from softmodes._rows.counts import Counts


def expected_mismatches(found: Clustering, counts: Counts) -> float:
    """Return the expected mismatches of counted rows with centers drawn from the fitted shares.

    A value unseen at fit always mismatches; a missing cell that is ignored never does.
    An empty cluster's shares are those of its center alone.
    """
    total = 0.0
    for j, n_values in enumerate(found.codebook.n_values):
        rows = counts.observed(j)
        weight = 1 if found.feature_weight is None else int(found.feature_weight[j])
        total += weight * float(rows.sum() - _expected_matches(found, rows[:, :n_values], j))
    return total


def _expected_matches(found: Clustering, rows: csr_array[Any, Any], j: int) -> float:
    """Sum share * count over the values of a feature, cluster by cluster."""
    fitted = found.tally.counts.observed(j)[:, : rows.shape[1]]
    sizes = fitted.sum(axis=1)
    matches = rows.multiply(fitted).sum(axis=1) / np.maximum(sizes, 1)
    empty = np.flatnonzero(sizes == 0)
    return float(matches.sum() + rows[empty, found.centers.codes[empty, j]].sum())
