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
    for j, feature in counts.native_sparse():
        weight = 1 if feature_weight is None else int(feature_weight[j])
        cost += weight * _kernels.expected_cost_sparse(feature)
    return cost
