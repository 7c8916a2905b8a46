"""Classic k-modes."""

from __future__ import annotations

from typing import Any

from softmodes._estimators.base import ModesEstimator
from softmodes._estimators.callbacks import CallbackSupport
from softmodes._estimators.types import Auto, Init, Missing
from softmodes._parameters import whole
from softmodes.rounding import plurality


class KModes(CallbackSupport, ModesEstimator):
    """Cluster categorical data by classic k-modes: each center takes its cluster's modes.

    The same engine as `SoftModes` at t = inf, with the last round as a run's result and restarts
    compared by Hamming cost. Ties are uniformly random, settled once per run, so that it converges.

    Parameters
    ----------
    n_clusters, init, max_iter, missing, feature_weight
        As for `SoftModes`.
    memory_limit, n_jobs, random_state, verbose
        As for `SoftModes`.
    n_init : int or "auto", default=10
        As for `SoftModes`, but all restarts are made to the end.

    Attributes
    ----------
    labels_, cluster_centers_, cluster_counts_, cluster_sizes_, categories_, cost_, expected_cost_
        As for `SoftModes`.
    objective_, n_iter_, best_round_, history_, converged_, n_features_in_, feature_names_in_
        As for `SoftModes`.

    Examples
    --------
    >>> from softmodes import KModes
    >>> KModes(n_clusters=2, random_state=0).fit([["a", "x"], ["a", "x"], ["b", "y"]]).cost_
    0
    """

    _saved_as = "KModes"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Init = "d1-greedy",
        n_init: int | Auto = 10,
        max_iter: int = 100,
        missing: Missing = "category",
        feature_weight: Any = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.missing = missing
        self.feature_weight = feature_weight
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _algorithm(self) -> dict[str, Any]:
        return {
            "max_iter": whole("max_iter", self.max_iter, 1),
            "rounding": plurality,
            "select": "last",
            "patience": 1,
            "yardstick": "cost",
        }
