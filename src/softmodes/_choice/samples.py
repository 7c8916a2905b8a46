"""Are clusters found again: fits on other rows, and from other seeds, compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.plan import Plan
from softmodes._algorithm.randomness import Use, address
from softmodes._choice.chain import Levels
from softmodes._model.parts import part_of
from softmodes._rows.stores import RowStore, some_rows
from softmodes.metrics._agreement import ari

Labels = NDArray[np.int32]


def found_again(
    store: RowStore, plan: Plan, most: int, row_scale: float, n_samples: int, levels: Levels
) -> dict[int, float]:
    """Return, by number of clusters, how well fits on samples of the rows agree.

    That is the mean ARI over all pairs of samples, on the rows that both have, if any. Samples and
    seeds of the fits depend on the seed of the plan and on the sample's number alone.
    """
    samples = [part_of(store.n_rows, plan.seed, i) for i in range(n_samples)]
    fits = []
    for i, rows in enumerate(samples):
        other = replace(plan, seed=address(plan.seed, i, Use.SAMPLE))
        found = levels(some_rows(store, rows), other, most, row_scale)
        fits.append({level.k: level.labels for level in found})
    by_k: dict[int, list[float]] = {}
    for a, b in combinations(range(n_samples), 2):
        _, here, there = np.intersect1d(samples[a], samples[b], True, return_indices=True)
        for k in fits[a] if len(here) else ():
            by_k.setdefault(k, []).append(ari(fits[a][k][here], fits[b][k][there]))
    return {k: float(np.mean(agreements)) for k, agreements in by_k.items()}


def mean_agreement(partitions: Iterable[Sequence[int] | Labels]) -> float:
    """Return the mean ARI over all pairs of partitions of the same rows; NaN for less than two.

    Examples
    --------
    >>> mean_agreement([[0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
    1.0
    """
    pairs = [ari(a, b) for a, b in combinations(list(partitions), 2)]
    return float(np.mean(pairs)) if pairs else float("nan")
