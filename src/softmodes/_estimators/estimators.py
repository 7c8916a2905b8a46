"""The scikit-learn face: parameters in, attributes out, no algorithm."""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from softmodes import _kernels
from softmodes._algorithm.loop import OnRound, Plan, Run, best_run, tie_order
from softmodes._model.file import Clustering, load_model, refusal, refusing, save_model
from softmodes._model.profile import as_frame, profile_columns, summary_text
from softmodes._model.score import expected_mismatches
from softmodes._parameters import (
    check_callback,
    check_choice,
    check_seed,
    plain_params,
    progress,
    resolve_init,
    restored_params,
    seed,
    thread_count,
    whole,
)
from softmodes._rows.block import Layout, pack
from softmodes._rows.memory import check_memory
from softmodes._rows.stores import MemoryStore
from softmodes._rows.tally import Metric, feature_counts, largest_distance
from softmodes._rows.weights import Units, check_costs, feature_units, in_weights, row_units
from softmodes._table.codebook import Codebook, Codes, frame_backend, learn
from softmodes.rounding import Rounding, plurality, resolve

_MISSING = ("category", "ignore", "error")


class _Modes(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator, ABC):
    """What SoftModes and KModes share: everything but the parameters."""

    labels_: NDArray[np.int32]
    _clustering: Clustering

    # ------------------------------------------------------------------------------ fitting

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        on_round: OnRound | None = None,
    ) -> Self:
        """Cluster the rows of `X`.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            pandas, polars or pyarrow frame, NumPy array, list of lists, or scipy.sparse matrix
            (in which zero is a value). Every distinct entry of a column is a category.
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows, kept as whole multiples of a power of two.
        on_round : callable, optional
            Called after every round with its cost, expected cost, and a way to ask for labels.
            The fit stops after a call that returns True, and keeps what it has found. `labels()`
            may be called later, too, and from other threads; it holds the packed rows till then.

        Returns
        -------
        self
        """
        n_threads = thread_count(self.n_jobs)
        check_choice("missing", self.missing, _MISSING)
        codebook, codes = learn(X, self.missing, n_threads)
        plan, rows = self._plan(codebook, codes, sample_weight, n_threads, on_round)
        # Not on self: a fit that fails leaves the last one as it was.
        validate_data(type(self)(**self.get_params(deep=False)), X, skip_check_array=True)
        block = pack(codes, n_threads, weight=rows.counts)
        store = MemoryStore([block], codebook.sizes, n_threads, rows.whole)
        best = best_run(store, plan)
        self._warn_unless_converged(best, plan)
        labels = store.labels(best.centers, tie_order(plan, best.index))
        self._publish(_clustering(codebook, block.layout, plan, best, labels, frame_backend(X)))
        return self

    def _plan(
        self,
        codebook: Codebook,
        codes: Codes,
        sample_weight: Any,
        n_threads: int,
        on_round: OnRound | None,
    ) -> tuple[Plan, Units]:
        """Check and resolve every parameter."""
        k = whole("n_clusters", self.n_clusters, 1)
        if k > codes.n_rows:
            raise ValueError(
                f"n_clusters={k} is more than n_samples={codes.n_rows}. "
                f"Pass n_clusters of at most {codes.n_rows}."
            )
        layout = Layout(codes.n_codes, codes.ignored)
        check_memory(layout, k, n_threads, codebook.names, n_rows=codes.n_rows)
        features = feature_units(self.feature_weight, codebook.names, codebook.n_features)
        largest = largest_distance(codebook.n_features, features.counts)
        rows = row_units(sample_weight, codes.n_rows, largest)
        check_costs(rows, features, largest, codes.n_rows)
        shown = progress(self.verbose)
        plan = Plan(
            **self._resolved(codebook),
            seed=seed(self.random_state),
            feature_weight=features.counts,
            row_unit=rows.unit,
            feature_unit=features.unit,
            on_round=shown["on_round"] + check_callback(on_round),
            on_run=shown["on_run"],
        )
        return plan, rows

    def _resolved(self, codebook: Codebook) -> dict[str, Any]:
        """Return the parts of the plan that parameters and columns decide alone."""
        k = whole("n_clusters", self.n_clusters, 1)
        return {
            "k": k,
            "init": resolve_init(self.init, codebook, k),
            "n_init": whole("n_init", self.n_init, 1),
            "max_iter": whole("max_iter", self.max_iter, 1),
            **self._algorithm(),
        }

    def _check_params(self, found: Clustering) -> None:
        """Refuse parameters with which a model of this clustering could not be fitted again."""
        codebook = found.codebook
        thread_count(self.n_jobs)
        check_choice("missing", self.missing, _MISSING)
        feature_units(self.feature_weight, codebook.names, codebook.n_features)
        progress(self.verbose)
        check_seed(self.random_state)
        k, fitted = whole("n_clusters", self.n_clusters, 1), len(found.centers)
        if k != fitted:
            raise ValueError(
                f"n_clusters={k} is not that of the fit, which found {fitted} clusters. "
                f"Fit again, or call set_params(n_clusters={fitted})."
            )
        self._resolved(codebook)

    @abstractmethod
    def _algorithm(self) -> dict[str, Any]:
        """Return the parts of the plan in which the estimators differ."""

    def _warn_unless_converged(self, best: Run, plan: Plan) -> None:
        ran_out = len(best.history) >= plan.max_iter
        if plan.settles and ran_out and not best.converged and not best.stopped:
            warnings.warn(
                f"No convergence within max_iter={plan.max_iter} rounds. Pass a larger max_iter.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _publish(self, found: Clustering) -> None:
        """Set the fitted attributes: all of them at once, or none."""
        codebook, tally = found.codebook, found.tally
        state = vars(self) | {
            "_clustering": found,
            "n_features_in_": codebook.n_features,
            "labels_": found.labels.copy(),
            "cluster_centers_": codebook.decode(found.centers),
            "cluster_counts_": _counts_by_feature(found),
            "cluster_sizes_": in_weights(tally.sizes, found.row_unit),
            "categories_": [codebook.values(j) for j in range(codebook.n_features)],
            "cost_": found.chosen.cost,
            "expected_cost_": found.chosen.expected_cost,
            "n_iter_": len(found.history),
            "best_round_": found.best_round,
            "history_": list(found.history),
            "converged_": found.converged,
        }
        state.pop("feature_names_in_", None)
        if codebook.names is not None:
            state["feature_names_in_"] = np.array(codebook.names, dtype=object)
        self.__dict__ = state

    @property
    def _n_features_out(self) -> int:
        return len(self._clustering.centers)

    # ---------------------------------------------------------------------------- using it

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the nearest center of every row; ties go to the lowest cluster.

        A value that was unseen at fit differs from every center; one warning per call names them.
        """
        return self._store(X).labels(self._clustering.centers, self._metric())

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the Hamming distance (with `feature_weight`: the weighted one) to every center."""
        block = self._store(X, wrappers=1).blocks[0]
        found = self._clustering
        out = np.empty((len(block.packed), len(found.centers)), np.uint32)
        n_threads = thread_count(self.n_jobs)
        _kernels.distances(block, found.centers, found.feature_weight, n_threads, out)
        return out.astype(np.int64) if found.feature_unit == 1.0 else out * found.feature_unit

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the expected mismatches of a row with centers drawn from fitted shares."""
        store = self._store(X, sample_weight)
        tally = store.tally(self._clustering.centers, self._metric())
        mismatches = expected_mismatches(self._clustering, tally, store.layout)
        return -mismatches * self._clustering.feature_unit / store.total_weight

    def profile(self) -> Any:
        """Return what marks each cluster, as a frame of the kind that `fit` got.

        Columns: cluster, feature, value, share (in the cluster), lift (share over the share in
        the whole table); the most telling values of each cluster come first. pandas for input
        without a frame; a pyarrow Table where pandas is not installed.
        """
        check_is_fitted(self)
        found = self._clustering
        columns = profile_columns(found.codebook, found.layout, found.tally)
        return as_frame(columns, found.backend)

    def summary(self, n_marks: int = 5) -> str:
        """Return a text to read: the size of each cluster, and the values that mark it most.

        Behind each value, `n_marks` per cluster at most, stand its share in the cluster and its
        lift (see `profile`).
        """
        check_is_fitted(self)
        n_marks = whole("n_marks", n_marks, 1)
        found = self._clustering
        columns = profile_columns(found.codebook, found.layout, found.tally)
        return summary_text(columns, self.cluster_sizes_, n_marks)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that `softmodes.load` reads; no pickle involved."""
        check_is_fitted(self)
        name = type(self).__name__
        if _ESTIMATORS.get(name) is not type(self):
            raise ValueError(
                f"A model of class {name} cannot be saved: load() knows the package's own "
                f"{' and '.join(_ESTIMATORS)} only. Pickle the model, or fit one of these classes."
            )
        self._check_params(self._clustering)
        save_model(path, name, plain_params(self), self._clustering)

    def _metric(self) -> Metric:
        return Metric(None, self._clustering.feature_weight)

    def _store(self, X: Any, sample_weight: Any = None, wrappers: int = 0) -> MemoryStore:
        """Encode and pack new rows with the codebook of the fit.

        A warning points past the method that was called, and scikit-learn's `wrappers` around it.
        """
        check_is_fitted(self)
        codebook = self._clustering.codebook
        n_threads = thread_count(self.n_jobs)
        codes, unseen = codebook.encode(X, n_threads, expecting=type(self).__name__)
        validate_data(self, X, reset=False, skip_check_array=True)
        if unseen:
            warnings.warn(str(unseen), UserWarning, stacklevel=3 + wrappers)
        largest = largest_distance(codebook.n_features, self._clustering.feature_weight)
        rows = row_units(sample_weight, codes.n_rows, largest)
        block = pack(codes, n_threads, weight=rows.counts)
        return MemoryStore([block], codebook.sizes, n_threads, rows.whole)

    # ------------------------------------------------------------------------ scikit-learn

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags


class SoftModes(_Modes):
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
        check_choice("select", self.select, ("best", "last"))
        return {
            "rounding": resolve(self.rounding, self.t),
            "select": self.select,
            "patience": whole("patience", self.patience, 1),
            "yardstick": "expected_cost",
        }


class KModes(_Modes):
    """Cluster categorical data by classic k-modes: each center takes its cluster's modes.

    The same engine as `SoftModes` at t = inf, with the last round as a run's result and restarts
    compared by Hamming cost. Ties are uniformly random, settled once per run, so that it converges.

    Parameters
    ----------
    n_clusters, init, n_init, max_iter, missing, feature_weight, n_jobs, random_state, verbose
        As for `SoftModes`.

    Attributes
    ----------
    labels_, cluster_centers_, cluster_counts_, cluster_sizes_, categories_, cost_, expected_cost_
        As for `SoftModes`.
    n_iter_, best_round_, history_, converged_, n_features_in_, feature_names_in_
        As for `SoftModes`.

    Examples
    --------
    >>> from softmodes import KModes
    >>> KModes(n_clusters=2, random_state=0).fit([["a", "x"], ["a", "x"], ["b", "y"]]).cost_
    0
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "d1-greedy",
        n_init: int = 10,
        max_iter: int = 100,
        missing: str = "category",
        feature_weight: Any = None,
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _algorithm(self) -> dict[str, Any]:
        return {"rounding": plurality, "select": "last", "patience": 1, "yardstick": "cost"}


_ESTIMATORS: dict[str, type[_Modes]] = {"SoftModes": SoftModes, "KModes": KModes}


def load(path: str | os.PathLike[str]) -> _Modes:
    """Read a model that `save` wrote.

    Foreign, truncated, changed or newer files raise BadModelFile, a ValueError that names the file,
    and files that cannot be opened OSError; nothing in a file is executed.
    """
    name, params, found = load_model(path)
    with refusing(path):
        if name not in _ESTIMATORS:
            raise refusal(path, f"it holds an unknown estimator {name!r}")
        unknown = set(params) - set(_ESTIMATORS[name]().get_params())
        if unknown:
            raise refusal(path, f"it holds unknown parameters {sorted(unknown)}")
        model = _ESTIMATORS[name](**restored_params(params))
        model._check_params(found)
        model._publish(found)
    return model


# ------------------------------------------------------------------------------ the outcome


def _clustering(
    codebook: Codebook,
    layout: Layout,
    plan: Plan,
    best: Run,
    labels: NDArray[np.int32],
    backend: str | None,
) -> Clustering:
    """Collect the result; renumber the clusters by size, unless seeds were given."""
    order = np.arange(plan.k)
    if isinstance(plan.init, str):
        order = np.argsort(-best.tally.sizes, kind="stable")
    rank = np.empty(plan.k, np.int32)
    rank[order] = np.arange(plan.k, dtype=np.int32)
    return Clustering(
        codebook=codebook,
        layout=layout,
        centers=best.centers[order],
        tally=best.tally.reorder(order),
        labels=rank[labels],
        history=best.history,
        best_round=best.best_round,
        converged=best.converged,
        feature_weight=plan.feature_weight,
        row_unit=plan.row_unit,
        feature_unit=plan.feature_unit,
        backend=backend,
    )


def _counts_by_feature(found: Clustering) -> list[Any]:
    layout, sizes = found.layout, found.codebook.sizes
    counts = []
    for j, size in enumerate(sizes):
        wide = found.tally.wide.get(j)
        kept = feature_counts(found.tally, layout, j, int(size)) if wide is None else wide[:, :size]
        counts.append(in_weights(kept, found.row_unit))
    return counts
