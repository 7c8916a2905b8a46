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
    if not counts.sparse:
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
    total = _kernels.modes_cost_dense(counts.native_dense(), feature_weight, n_threads)
    if counts.sparse:
        modes, observed = _kernels.mode_counts_wide(counts.wide_values.native, n_threads)
        differ = observed - modes
        if feature_weight is not None:
            differ *= feature_weight[counts.wide.features]
        total += int(differ.sum())
    return total
