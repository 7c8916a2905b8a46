"""Are clusters found again in other rows: fits on samples of 80 % of the rows, compared."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.plan import Plan
from softmodes._algorithm.randomness import Use, address, fold_array
from softmodes._choice.chain import Levels
from softmodes._rows.stores import RowStore, some_rows
from softmodes.metrics._agreement import ari


def found_again(
    store: RowStore, plan: Plan, most: int, row_scale: float, n_samples: int, levels: Levels
) -> dict[int, float]:
    """Return, by number of clusters, how well fits on samples of the rows agree.

    That is the mean ARI over all pairs of samples, on the rows that both have. Samples and seeds of
    the fits depend on the seed of the plan and on the sample's number alone.
    """
    by_k: dict[int, list[float]] = {}
    samples = [sample(store.n_rows, plan.seed, i) for i in range(n_samples)]
    fits = []
    for i, rows in enumerate(samples):
        other = replace(plan, seed=address(plan.seed, i, Use.SAMPLE))
        found = levels(some_rows(store, rows), other, most, row_scale)
        fits.append({level.k: level.labels for level in found})
    for a, b in combinations(range(n_samples), 2):
        _, here, there = np.intersect1d(samples[a], samples[b], True, return_indices=True)
        for k in fits[a]:
            by_k.setdefault(k, []).append(ari(fits[a][k][here], fits[b][k][there]))
    return {k: float(np.mean(agreements)) for k, agreements in by_k.items()}


def sample_size(n_rows: int) -> int:
    """Return how many rows a sample has: 80 % of all, one at least.

    Examples
    --------
    >>> sample_size(10), sample_size(1)
    (8, 1)
    """
    return max(1, 8 * n_rows // 10)


def sample(n_rows: int, seed: int, index: int) -> NDArray[np.int64]:
    """Return the numbers of the rows of a sample: those with the lowest random words."""
    words = fold_array(address(seed, index, Use.SAMPLE), np.arange(n_rows))
    return np.sort(np.argsort(words, kind="stable")[: sample_size(n_rows)])
