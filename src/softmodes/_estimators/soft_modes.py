"""SoftModes."""

from __future__ import annotations

from typing import Any

from sklearn.utils.metaestimators import available_if

from softmodes._algorithm.draw import resolve_rounding
from softmodes._estimators.base import ModesEstimator
from softmodes._estimators.callbacks import CallbackSupport
from softmodes._estimators.types import (
    Auto,
    Init,
    Missing,
    Refine,
    RoundingRule,
    Select,
    Sharpness,
)
from softmodes._parameters import choice, whole
from softmodes.rounding import Rounding, soft

# What restarts take for t in turn. Below 3 noise hides the groups; the larger t, the more a run
# depends on its seeds, but the more groups it finds in noise.
_LADDER = (3.0, 8.0)
FINALISTS = 3


def _is_latent(model: SoftModes) -> bool:
    return model.refine == "latent"


class SoftModes(CallbackSupport, ModesEstimator):
    """Cluster categorical data by SoftModes(t): k-modes with softly rounded centers, refined.

    Every round assigns each row to its nearest center in Hamming distance (ties at random, settled
    once per run), then draws each value of each center with probability proportional to
    frequency ** t in its cluster. `t=1` samples, `t=inf` is k-modes.
    What these rounds find, `refine` makes better and more stable; by default, it becomes a latent
    class model.
    `SoftModes(refine=None, select="last", n_init=1, max_iter=30)` is Algorithm 1 of the paper.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    t : float or "auto", default="auto"
        Sharpness of the rounding, from 1 up; `math.inf` for k-modes. "auto" takes 3 and 8 in turn,
        for one restart after the other; a single run takes 3.
    rounding : {"soft", "plurality", "uniform"} or callable, default="soft"
        A callable gets the counts (m, sigma) of one feature and returns probabilities of the same
        shape; it must not give a more frequent value a lower probability. Leave out `t` then.
    init : {"d1-greedy", "d1-parallel", "d1", "random", "huang", "cao"} or table
        Seeding, "d1-greedy" by default, or `n_clusters` rows in original values. "d1" and
        "d1-greedy" take up to 2 * n_clusters + 2 passes over the rows, "huang" and "cao"
        n_clusters + 1, "random" 2, "d1-parallel" 13 (at most 20), with seeds as good as those of
        "d1-greedy": take it where a pass is dear, as on a cluster.
    n_init : int or "auto", default="auto"
        Number of independent restarts; the best is kept, by the objective of the finish, without
        one by the expected cost. With a finish all restarts make its first rounds, and the best
        three go on. "auto" is 10 for up to 1e9 / n_clusters cells, 5 for ten times as many, else 3;
        fewer for tables of less than 15 columns with n_samples * n_clusters over 5e5 (of less than
        25 and over 1.6e5 for more than 48 clusters), for less than 200 rows for each value of a
        column if all values times n_clusters, and a quarter of the cells of columns with over 256
        values, are over 1e5 together, and for more than 300 clusters. Where values times n_clusters
        are over 3.3e5, with less than 100 rows for each value, a finish makes fewer than 60 rounds.
        All restarts and their finish have 1e9 comparisons of cells together, at least (a latent
        round makes n_samples * n_features * n_clusters): where rounds hardly come to rest, as in
        noise, fewer are begun.
        A run that cannot be beaten (of one cluster, or of clusters of equal rows) is the last.
    max_iter : int, default=100
        Largest number of rounds of a run, without those of the finish.
    patience : int, default=10
        With `select="best"`, a run ends after so many rounds without a lower expected cost.
    select : {"best", "last"}, default="best"
        Which round of a run is its result: that of the lowest expected cost, or the last.
    refine : {"latent", "gini", None}, default="latent"
        The finish. "latent": up to five rounds of "gini", then a latent class model, fitted until
        its objective changes by less than 1e-5 of itself, in at most 60 rounds. "gini": rounds that
        lower the expected cost (k-means on one-hot rows, without making them) until none does.
        None: the partition of the best round as it is.
    missing : {"category", "ignore", "error"}, default="category"
        Missing cells are a value of their own, or neither match nor count, or are refused.
    feature_weight : array of shape (n_features,), mapping of column names, or "parts", optional
        Weights of the features in the distance, rounded to 16 bits. Only their ratios matter to the
        finish and to `transform` of a refined model: they are taken with a mean of 1. With "parts"
        columns that are called as parts of one ("media[radio]", "media[tv]"), as `Prepare` makes
        them of cells with several answers, weigh as much as one column together.
    memory_limit : int or str, optional
        How much memory packed rows may take that come as a stream, in bytes or as "400MB", "2GiB";
        further ones lie in a temporary file without a name, in the folder that TMPDIR tells. None
        is half of what the machine, or its control group, has free. Tables in memory stay there.
        The answer does not depend on it.
    n_jobs : int, optional
        Number of threads, at most one per core that the process may use (by its affinity and its
        cgroup). **None takes all of them**, unlike elsewhere in scikit-learn, but no more than
        OpenMP is limited to by `threadpoolctl.threadpool_limits`, OMP_NUM_THREADS or joblib in its
        workers; -1 takes all, -2 all but one. The answer does not depend on it.
    random_state : int, RandomState or None, default=None
        Same seed, same answer: on any number of threads, instruction set, and input type.
    verbose : {0, 1, 2}, default=0
        Tell of every run, or every round. Lines go to the logger "softmodes" (runs as INFO, rounds
        as DEBUG), which has them for any `verbose`; where it is not set up for them, they are
        printed. From scikit-learn 1.9 on `set_callbacks` takes its callbacks, such as
        `sklearn.callback.ProgressBar`: the task "fit" has a task for every run, and "finish".

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        Cluster of every row; of a stream that is larger than `memory_limit`, an array in a
        temporary file, to be read only. Clusters are numbered by size, the largest first, unless
        seeds were given.
    cluster_centers_ : array of shape (n_clusters, n_features)
        In original values, the centers that produced the partition; of a refined one its modes.
    cluster_counts_ : list of arrays of shape (n_clusters, n_categories)
        For each feature, how often each of `categories_` occurs in each cluster (sparse for
        features of more than 256 categories).
    cluster_sizes_ : array of shape (n_clusters,)
        Rows (or their weight) in each cluster.
    categories_ : list of arrays
        The values of each feature, in canonical order; None stands for missing.
    cost_, expected_cost_, objective_ : number
        Mismatches of the rows with their centers; expected mismatches with centers drawn
        from the clusters' shares; what the finish has lowered: with "latent" minus the
        log-likelihood and its prior in nats, else the expected cost.
    n_iter_, best_round_, history_, converged_
        Rounds of the chosen run, which of them is the result (from 0), the stage of each and what
        it cost, and whether the run (with `refine`: its finish) came to rest. A latent fit of few
        clusters begins with up to three more, merged before its latent rounds; with restarts,
        rounds of the clusters of two runs may follow, and latent rounds again.
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
        t: Sharpness = "auto",
        rounding: RoundingRule = "soft",
        init: Init = "d1-greedy",
        n_init: int | Auto = "auto",
        max_iter: int = 100,
        patience: int = 10,
        select: Select = "best",
        refine: Refine | None = "latent",
        missing: Missing = "category",
        feature_weight: Any = None,
        memory_limit: int | str | None = None,
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
        self.refine = refine
        self.missing = missing
        self.feature_weight = feature_weight
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _algorithm(self) -> dict[str, Any]:
        choice("select", self.select, ("best", "last"))
        refine = choice("refine", self.refine, ("latent", "gini", None))
        rounding, ladder = roundings(self.rounding, self.t)
        return {
            "max_iter": whole("max_iter", self.max_iter, 1),
            "rounding": rounding,
            "ladder": ladder,
            "select": self.select,
            "refine": refine,
            "finalists": 1 if refine is None else FINALISTS,
            "patience": whole("patience", self.patience, 1),
            "yardstick": "expected_cost",
        }

    @available_if(_is_latent)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the probability of every cluster for every row, in steps of 2**-16.

        Only for `refine="latent"`. The largest is that of `predict`. Cells that are ignored, or
        whose value was unseen at fit, tell nothing about the cluster.
        """
        store = self._open(X).store
        self._require_latent_fit()
        return self._clustering.probabilities(store)

    @available_if(_is_latent)  # type: ignore[untyped-decorator]
    def score_samples(self, X: Any) -> Any:
        """Return the log-likelihood of every row under the latent class model, in nats.

        Only for `refine="latent"`. Cells that are ignored, or whose value was unseen at fit, are
        left out.
        """
        store = self._open(X).store
        self._require_latent_fit()
        return self._clustering.log_likelihoods(store)

    def _require_latent_fit(self) -> None:
        """Refuse a fit that ended before its first latent round, or was made without."""
        if not self._clustering.is_latent:
            stage = self._clustering.chosen.stage
            raise ValueError(
                f"There is no latent class model: the fit ended in a round of stage {stage!r}. "
                "Fit again with refine='latent', and let it come to its latent rounds."
            )


def roundings(rounding: str | Rounding, t: Any) -> tuple[Rounding, tuple[Rounding, ...]]:
    """Return how centers are rounded, and how in one restart after the other if they differ."""
    if not isinstance(t, str):
        return resolve_rounding(rounding, t), ()
    if t != "auto":
        raise ValueError(f"t={t!r} is not a number >= 1. Pass one, math.inf or 'auto'.")
    if isinstance(rounding, str) and rounding == "soft":
        ladder = tuple(map(soft, _LADDER))
        return ladder[0], ladder
    return resolve_rounding(rounding), ()
