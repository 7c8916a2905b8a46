"""How well fitted shares foretell other rows."""

from __future__ import annotations

import numpy as np

from softmodes.pack import Layout
from softmodes.result import Clustering
from softmodes.tally import Tally, feature_counts


def expected_mismatches(found: Clustering, tally: Tally, layout: Layout) -> float:
    """Return the expected mismatches of tallied rows with centers drawn from the fitted shares.

    A value unseen at fit always mismatches; a missing cell that is ignored never does.
    An empty cluster's shares are those of its center alone.
    """
    total = 0.0
    for j, size in enumerate(found.codebook.sizes):
        rows = feature_counts(tally, layout, j, int(layout.n_codes[j])).astype(np.float64)
        if layout.ignored[j] >= 0:
            rows[:, layout.ignored[j]] = 0.0
        fitted = feature_counts(found.tally, found.layout, j, int(size)).astype(np.float64)
        empty = ~fitted.any(axis=1)
        fitted[empty, found.centers[empty, j]] = 1.0
        matched = (rows[:, :size] * fitted).sum(axis=1) / fitted.sum(axis=1)
        weight = 1 if found.feature_weight is None else int(found.feature_weight[j])
        total += weight * float(rows.sum() - matched.sum())
    return total
