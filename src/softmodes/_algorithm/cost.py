"""What a clustering costs, from its counts alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._rows.counts import Counts


def expected_cost(
    counts: Counts, feature_weight: NDArray[np.uint32] | None = None, n_threads: int = 1
) -> float:
    """Return the expected mismatches of the rows with centers drawn from their clusters' shares.

    That is the sum over clusters and features of size * (1 - sum of squared shares), where size
    counts observed values only.
    """
    cost = _kernels.expected_cost_dense(counts.native_dense(), feature_weight, n_threads)
    if not len(counts.wide):
        return cost
    wide = _kernels.expected_costs_wide(counts.wide_values.native, n_threads)
    if feature_weight is not None:
        wide = wide * feature_weight[counts.wide.features]
    for more in wide.tolist():  # not by `sum`, which rounds otherwise from one Python to the next
        cost += more
    return cost


def modes_cost(
    counts: Counts, feature_weight: NDArray[np.uint32] | None = None, n_threads: int = 1
) -> int:
    """Return the mismatches of the rows with the modes of their clusters."""
    layout = counts.layout
    weight = np.ones(layout.n_features, np.int64)
    if feature_weight is not None:
        weight = feature_weight.astype(np.int64)
    dense = np.flatnonzero(np.diff(layout.offsets))
    total = 0
    if len(dense):
        starts = layout.offsets[dense]
        values = _of_values(counts)
        modes = np.maximum.reduceat(values, starts, axis=1).sum(axis=0)
        observed = np.add.reduceat(values.sum(axis=0), starts)
        total = int(weight[dense] @ (observed - modes))
    if len(counts.wide):
        modes, observed = _kernels.mode_counts_wide(counts.wide_values.native, n_threads)
        total += int(weight[counts.wide.features] @ (observed - modes))
    return total


def _of_values(counts: Counts) -> NDArray[np.int64]:
    """Return dense counts, 0 where a code is no value; mostly all are."""
    n_cells = np.diff(counts.layout.offsets)
    if (n_cells <= counts.n_values).all() and not counts.nothing.any():
        return counts.dense
    feature, code = counts.dense_slots
    return np.where((code < counts.n_values[feature]) & ~counts.nothing[feature], counts.dense, 0)
