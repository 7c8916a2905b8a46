"""ROCK's parameters, checked and resolved for a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._parameters import check_most, number, whole
from softmodes.baselines._rock.records import Rule

MAX_SAMPLE = 15_000


@dataclass(frozen=True)
class Plan:
    """What a fit does; `f` is the exponent in ROCK's expected number of neighbours."""

    k: int
    rule: Rule
    f: float
    links: str
    min_neighbors: int
    leftover: str
    sample_size: int
    seed: int
    n_threads: int

    def sampled_rows(self, n_rows: int) -> NDArray[np.intp]:
        """Return the rows to cluster, in order."""
        if self.sample_size >= n_rows:
            return np.arange(n_rows)
        rng = np.random.default_rng(self.seed)
        return np.sort(rng.choice(n_rows, self.sample_size, replace=False))


def thresholds(theta: Any, eps: Any, n_features: int) -> tuple[float, float | None]:
    """Return theta, as it enters the expected number of links, and eps if it was given."""
    if theta is not None:
        theta = number("theta", theta, 0, 1, "Pass the least similarity of neighbours, or eps.")
    if eps is None:
        return (0.5 if theta is None else theta), None
    eps = number(
        "eps", eps, 0, n_features, "Pass the largest number of cells in which neighbours differ."
    )
    return (n_features - eps) / (n_features + eps) if theta is None else theta, eps


def sample_size(given: Any, k: int, n_rows: int) -> int:
    """Return how many rows to sample, enough for k clusters."""
    check_most("n_clusters", k, "n_samples", n_rows)
    size = MAX_SAMPLE if given is None else whole("sample_size", given, 1)
    if k > size:
        raise ValueError(
            f"n_clusters={k} is more than sample_size={size}. Pass sample_size of at least {k}."
        )
    return min(size, n_rows)
