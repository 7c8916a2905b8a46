"""What a clustering costs, from its tally alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._rows.block import Layout
from softmodes._rows.tally import Tally


def expected_cost(
    tally: Tally,
    layout: Layout,
    sizes: NDArray[np.int32],
    feature_weight: NDArray[np.uint32] | None = None,
    n_threads: int = 1,
) -> float:
    """Return the expected mismatches of the rows with centers drawn from their clusters' shares.

    That is the sum over clusters and features of size * (1 - sum of squared shares), where size
    counts observed values only.
    """
    cost: float = _kernels.expected_cost_dense(
        tally.cells, layout.offsets, sizes, feature_weight, n_threads
    )
    for j in tally.wide:
        weight = 1 if feature_weight is None else int(feature_weight[j])
        cost += weight * _kernels.expected_cost_wide(*tally.wide_parts(j), int(sizes[j]))
    return cost
