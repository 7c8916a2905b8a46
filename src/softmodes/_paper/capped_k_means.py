"""scikit-learn's KMeans from given centers, watched after each round and stopped in time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin


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
    """Run Lloyd's algorithm for `max_iter` rounds or `cap` seconds, whichever is first.

    A round is counted as in SoftModes: round 1 is the assignment to the given centers. KMeans
    knows no time limit, so it runs in stages, each from the centers of the last: one round to learn
    the pace, then as many as the time allows; or single rounds if `on_round` wants their labels. A
    stage that has begun is finished, and at least two rounds are run.
    """
    start = time.perf_counter()
    if on_round:
        on_round(pairwise_distances_argmin(X, centers))
    rounds, stage = 1, 1
    labels: NDArray[Any] | None = None
    while True:
        begun = time.perf_counter()
        model = KMeans(len(centers), init=centers, n_init=1, max_iter=stage).fit(X)
        settled = model.n_iter_ < stage or (
            labels is not None and np.array_equal(labels, model.labels_)
        )
        labels, centers = model.labels_, model.cluster_centers_
        rounds += model.n_iter_
        if on_round:
            on_round(labels)
        now = time.perf_counter()
        left = cap - (now - start)
        if settled or rounds >= max_iter or left <= 0:
            return KMeansRun(labels, rounds, capped=not settled and rounds < max_iter)
        affordable = math.floor(min(max_iter, left * model.n_iter_ / (now - begun)))
        stage = 1 if on_round else min(max_iter - rounds, max(1, affordable))
