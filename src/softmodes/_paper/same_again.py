"""How far two people who ask the same method about the same table get the same answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._compare.cells import AGAIN_FITS, AGAIN_SHARE
from softmodes._compare.measures import agreements


def same_again(
    cluster: Callable[[NDArray[np.intp], int], NDArray[Any]],
    n_rows: int,
    seed: int,
    fits: int = AGAIN_FITS,
) -> float:
    """Return the mean ARI, over all pairs of fits, on the rows that both have seen.

    Each fit has another seed and another random 90 % of the rows: `cluster(rows, seed)` gets both,
    and returns the labels of these rows.
    """
    rng = np.random.default_rng(seed)
    n_seen = max(1, round(AGAIN_SHARE * n_rows))
    found: list[tuple[NDArray[np.intp], NDArray[np.intp] | None]] = []
    for _ in range(fits):
        rows = np.sort(rng.choice(n_rows, size=n_seen, replace=False))
        found.append((rows, np.asarray(cluster(rows, int(rng.integers(2**31))))))
    return float(np.mean(agreements(found, n_rows)))
