"""How well fitted shares foretell other rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from softmodes._model.file import Clustering
from softmodes._rows.block import Layout
from softmodes._rows.tally import Tally


def expected_mismatches(found: Clustering, tally: Tally, layout: Layout) -> float:
    """Return the expected mismatches of tallied rows with centers drawn from the fitted shares.

    A value unseen at fit always mismatches; a missing cell that is ignored never does.
    An empty cluster's shares are those of its center alone.
    """
    total = 0.0
    for j, size in enumerate(found.codebook.sizes):
        rows = _observed_counts(tally, layout, j)
        weight = 1 if found.feature_weight is None else int(found.feature_weight[j])
        total += weight * float(rows.sum() - _expected_matches(found, rows[:, :size], j))
    return total


def _expected_matches(found: Clustering, rows: csr_array[Any, Any], j: int) -> float:
    """Sum share * count over the values of a feature, cluster by cluster."""
    fitted = _observed_counts(found.tally, found.layout, j)[:, : rows.shape[1]]
    sizes = fitted.sum(axis=1)
    matches = rows.multiply(fitted).sum(axis=1) / np.maximum(sizes, 1)
    empty = np.flatnonzero(sizes == 0)
    return float(matches.sum() + rows[empty, found.centers[empty, j]].sum())


def _observed_counts(tally: Tally, layout: Layout, j: int) -> csr_array[Any, Any]:
    """Return the counts of a feature, wide or not, as sparse (cluster, code) floats.

    Ignored cells count 0, in a column without any value too, where theirs is the center's code.
    """
    start, stop = layout.offsets[j : j + 2]
    counts = tally.wide[j] if j in tally.wide else csr_array(tally.cells[:, start:stop])
    observed = np.arange(counts.shape[1]) != layout.ignored[j]
    return csr_array(counts.multiply(observed[None, :].astype(np.float64)))
