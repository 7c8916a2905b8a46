"""scikit-learn's KMeans from given centers, watched after each round and stopped in time."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin

_PART = 20  # of the rows tells the pace


@dataclass(frozen=True, eq=False)
class KMeansRun:
    """The partition of the last round, how many rounds it took, and whether time ran out."""

    labels: NDArray[Any]
    rounds: int
    capped: bool


def capped_k_means(
    X: NDArray[np.float32],
    centers: NDArray[np.float32],
    *,
    max_iter: int,
    cap: float = math.inf,
    on_round: Callable[[NDArray[Any]], None] | None = None,
) -> KMeansRun:
    """Run Lloyd's algorithm for `max_iter` rounds or about `cap` seconds, whichever is first.

    A round is counted as in SoftModes: round 1 is the assignment to the given centers, and at least
    two are run. KMeans knows no time limit: a part of the rows tells its pace, and then it runs
    once, for as many rounds as the time allows; or round by round if `on_round` wants their labels.
    """
    if on_round is not None:
        return _watched(X, centers, max_iter, cap, on_round)
    affordable = max_iter if math.isinf(cap) else math.floor(cap / _pace(X, centers)) - 1
    stage = min(max_iter - 1, max(1, affordable))
    model = _k_means(X, centers, stage)
    rounds = 1 + model.n_iter_
    return KMeansRun(model.labels_, rounds, capped=model.n_iter_ == stage and rounds < max_iter)


def _watched(
    X: NDArray[np.float32],
    centers: NDArray[np.float32],
    max_iter: int,
    cap: float,
    on_round: Callable[[NDArray[Any]], None],
) -> KMeansRun:
    start = time.perf_counter()
    labels = pairwise_distances_argmin(X, centers)
    on_round(labels)
    rounds, settled = 1, False
    while not settled and (rounds == 1 or rounds < max_iter):
        model = _k_means(X, centers, 1)
        settled = rounds > 1 and np.array_equal(labels, model.labels_)
        labels, centers = model.labels_, model.cluster_centers_
        rounds += 1
        on_round(labels)
        if time.perf_counter() - start >= cap:
            break
    return KMeansRun(labels, rounds, capped=not settled and rounds < max_iter)


def _pace(X: NDArray[np.float32], centers: NDArray[np.float32]) -> float:
    """Return about how many seconds an assignment of all rows takes."""
    some = X[: max(len(centers), len(X) // _PART)]
    start = time.perf_counter()
    _k_means(some, centers, 1)  # assigns the rows twice: before its only round, and after
    return (time.perf_counter() - start) / 2 * len(X) / len(some)


def _k_means(X: NDArray[np.float32], centers: NDArray[np.float32], max_iter: int) -> KMeans:
    with warnings.catch_warnings():
        # Some rows may have fewer distinct ones than there are centers.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(len(centers), init=centers, n_init=1, max_iter=max_iter).fit(X)
