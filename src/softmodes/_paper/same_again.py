"""How far two people who ask the same method about the same table get the same answer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

FITS = 8
SHARE_OF_ROWS = 0.9


def same_again(
    cluster: Callable[[NDArray[np.intp], int], NDArray[Any]],
    n_rows: int,
    seed: int,
    fits: int = FITS,
) -> float:
    """Return the mean ARI, over all pairs of fits, on the rows that both have seen.

    Each fit has another seed and another random 90 % of the rows: `cluster(rows, seed)` gets both,
    and returns the labels of these rows.
    """
    rng = np.random.default_rng(seed)
    n_seen = max(1, round(SHARE_OF_ROWS * n_rows))
    labels = np.full((fits, n_rows), -1)
    for fit in range(fits):
        rows = np.sort(rng.choice(n_rows, size=n_seen, replace=False))
        labels[fit, rows] = cluster(rows, int(rng.integers(2**31)))
    return float(np.mean([_ari_where_both(a, b) for a, b in combinations(labels, 2)]))


def _ari_where_both(a: NDArray[Any], b: NDArray[Any]) -> float:
    both = (a >= 0) & (b >= 0)
    return float(adjusted_rand_score(a[both], b[both]))
