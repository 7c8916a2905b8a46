"""SoftModes."""

from __future__ import annotations

from typing import Any

from softmodes._algorithm.draw import resolve_rounding
from softmodes._estimators.base import ModesEstimator
from softmodes._parameters import choice, whole
from softmodes.rounding import Rounding


class SoftModes(ModesEstimator):
    """Cluster categorical data by SoftModes(t): k-modes with softly rounded centers.

    Every round assigns each row to its nearest center in Hamming distance (ties at random, settled
    once per run), then draws each value of each center with probability proportional to
    frequency ** t in its cluster. `t=1` samples, `t=inf` is k-modes.
    `SoftModes(select="last", n_init=1, max_iter=30)` is Algorithm 1 of the paper.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    t : float, default=3.0
        Sharpness of the rounding, from 1 up; `math.inf` for k-modes.
    rounding : {"soft", "plurality", "uniform"} or callable, default="soft"
        A callable gets the counts (m, sigma) of one feature and returns probabilities of the same
        shape; it must not give a more frequent value a lower probability. Leave out `t` then.
    init : {"d1-greedy", "d1", "random", "huang", "cao"} or table, default="d1-greedy"
        Seeding, or `n_clusters` rows in original values.
    n_init : int, default=10
        Number of independent restarts; the one with the lowest expected cost is kept.
    max_iter : int, default=100
        Largest number of rounds of a run.
    patience : int, default=10
        With `select="best"`, a run ends after so many rounds without a lower expected cost.
    select : {"best", "last"}, default="best"
        Which round of a run is its result: that of the lowest expected cost, or the last.
    missing : {"category", "ignore", "error"}, default="category"
        Missing cells are a value of their own, or neither match nor count, or are refused.
    feature_weight : array of shape (n_features,) or mapping of column names, optional
        Weights of the features in the distance, rounded to 16 bits.
    n_jobs : int, optional
        Number of threads, at most one per core; None and -1 take all. The answer does not depend
        on it.
    random_state : int, RandomState or None, default=None
        Same seed, same answer: on any number of threads, instruction set, and input type.
    verbose : {0, 1, 2}, default=0
        Print a line per run, or per round.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        Cluster of every row. Clusters are numbered by size, the largest first, unless seeds
        were given.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The centers that produced the partition, in original values.
    cluster_counts_ : list of arrays of shape (n_clusters, n_categories)
        For each feature, how often each of `categories_` occurs in each cluster (sparse for
        features of more than 256 categories).
    cluster_sizes_ : array of shape (n_clusters,)
        Rows (or their weight) in each cluster.
    categories_ : list of arrays
        The values of each feature, in canonical order; None stands for missing.
    cost_, expected_cost_ : number
        Mismatches of the rows with their centers; expected mismatches with centers drawn
        from the clusters' shares.
    n_iter_, best_round_, history_, converged_
        Rounds of the chosen run, which of them is the result (from 0), what each cost, and whether
        the run ended because no row moved.
    n_features_in_, feature_names_in_
        Number and names of the features.

    Examples
    --------
    >>> from softmodes import SoftModes
    >>> answers = [["yes", "red"], ["yes", "red"], ["no", "blue"], ["no", "green"]]
    >>> model = SoftModes(n_clusters=2, random_state=0).fit(answers)
    >>> model.labels_[0] == model.labels_[1], model.labels_[0] == model.labels_[2]
    (np.True_, np.False_)
    """

    _saved_as = "SoftModes"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        t: float = 3.0,
        rounding: str | Rounding = "soft",
        init: Any = "d1-greedy",
        n_init: int = 10,
        max_iter: int = 100,
        patience: int = 10,
        select: str = "best",
        missing: str = "category",
        feature_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.t = t
        self.rounding = rounding
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.patience = patience
        self.select = select
        self.missing = missing
        self.feature_weight = feature_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _algorithm(self) -> dict[str, Any]:
        choice("select", self.select, ("best", "last"))
        return {
            "rounding": resolve_rounding(self.rounding, self.t),
            "select": self.select,
            "patience": whole("patience", self.patience, 1),
            "yardstick": "expected_cost",
        }
