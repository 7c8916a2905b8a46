"""What the estimators share: everything but their parameters."""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

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

from softmodes._algorithm.loop import best_run
from softmodes._algorithm.plan import OnRound, Plan, Run
from softmodes._algorithm.seeding import METHODS
from softmodes._estimators.auto import TableSize, auto_rounds, auto_starts
from softmodes._estimators.progress import progress
from softmodes._model.clustering import Clustering
from softmodes._model.file import save_model
from softmodes._model.importance import importance_columns
from softmodes._model.params import plain_params
from softmodes._model.profile import as_frame, profile_columns, summary_text
from softmodes._model.score import expected_mismatches
from softmodes._model.stability import Stability, stability_of
from softmodes._parameters import (
    check_callback,
    check_most,
    check_seed,
    choice,
    seed,
    thread_count,
    whole,
    whole_or_auto,
)
from softmodes._prepare.numbers import mention_numbers
from softmodes._rows.memory import check_counts
from softmodes._rows.stores import Opened, open_store
from softmodes._rows.weights import Units, feature_units, in_weights
from softmodes._table.codebook import Codebook, checked_missing
from softmodes._table.read import frame_backend
from softmodes._text import short_repr


class ModesEstimator(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator, ABC
):
    """What SoftModes and KModes share: everything but the parameters."""

    labels_: NDArray[np.int32]
    _clustering: Clustering
    _saved_as: ClassVar[str]

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
            Weights of the rows, kept as whole multiples of a power of two. Whole numbers (up to
            2**40) stand for repeated rows; of others only the ratios matter.
        on_round : callable, optional
            Called after every round with its cost, expected cost, and a way to ask for labels.
            The fit stops after a call that returns True, and keeps what it has found. `labels()`
            may be called later, too, and from other threads; it holds the packed rows till then.

        Returns
        -------
        self
        """
        opened = open_store(
            X,
            missing=checked_missing(self.missing),
            sample_weight=sample_weight,
            feature_weight=self.feature_weight,
            n_threads=thread_count(self.n_jobs),
        )
        plan = self._plan(opened, on_round)
        mention_numbers(opened.codebook.categories, opened.codebook.names, opened.store.n_rows)
        # Not on self: a fit that fails leaves the last one as it was.
        validate_data(type(self)(**self.get_params(deep=False)), X, skip_check_array=True)
        best = best_run(opened.store, plan)
        self._warn_unless_converged(best, plan)
        self._keep(best, plan, opened, frame_backend(X))
        return self

    def _keep(self, best: Run, plan: Plan, opened: Opened, backend: str | None) -> None:
        """Take a run for the outcome of the fit."""
        labels = opened.store.labels(best.centers, plan.comparison(best.index))
        self._publish(Clustering.of(best, plan, opened.codebook, labels, backend))

    def _plan(self, opened: Opened, on_round: OnRound | None) -> Plan:
        """Check and resolve every parameter."""
        store, codebook = opened.store, opened.codebook
        k = whole("n_clusters", self.n_clusters, 1)
        check_most("n_clusters", k, "n_samples", store.n_rows)
        weight = opened.features.counts
        shown = progress(self.verbose)
        resolved = self._resolved(codebook)
        refined = resolved.get("finalists", 0) if resolved.get("refine") else 0
        check_counts(store.layout, k, store.n_threads, codebook.names, weight, refined)
        if resolved["n_init"] == "auto":
            size = TableSize.of(store.n_rows, codebook.n_values)
            resolved["n_init"] = auto_starts(size, k)
            if resolved.get("refine") == "latent":
                resolved["latent_rounds"] = auto_rounds(size, k)
        return Plan(
            **resolved,
            seed=seed(self.random_state),
            feature_weight=weight,
            row_unit=opened.rows.unit,
            feature_unit=opened.features.unit,
            on_round=shown["on_round"] + check_callback(on_round),
            on_run=shown["on_run"],
        )

    def _resolved(self, codebook: Codebook) -> dict[str, Any]:
        """Return the parts of the plan that parameters and columns decide alone."""
        k = whole("n_clusters", self.n_clusters, 1)
        return {
            "k": k,
            "init": resolve_init(self.init, codebook, k),
            "n_init": whole_or_auto("n_init", self.n_init, 1),
            **self._algorithm(),
        }

    def _check_params(self, found: Clustering) -> None:
        """Refuse parameters with which a model of this clustering could not be fitted again."""
        codebook = found.codebook
        thread_count(self.n_jobs)
        checked_missing(self.missing)
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
        codebook, counts, unit = found.codebook, found.tally.counts, found.row_unit
        state = vars(self) | {
            "_clustering": found,
            "n_features_in_": codebook.n_features,
            "cluster_centers_": codebook.decode(found.centers.codes),
            "cluster_counts_": [in_weights(values, unit) for values in counts.of_features()],
            "cluster_sizes_": in_weights(found.tally.cluster_sizes, unit),
            "categories_": codebook.all_values(),
            "cost_": found.cost,
            "expected_cost_": found.expected_cost,
            "objective_": found.objective,
            "n_iter_": len(found.history),
            "best_round_": found.best_round,
            "history_": list(found.history),
            "converged_": found.converged,
        }
        for optional in ("feature_names_in_", "labels_"):
            state.pop(optional, None)
        if found.labels is not None:
            state["labels_"] = found.labels.copy()
        if codebook.names is not None:
            state["feature_names_in_"] = np.array(codebook.names, dtype=object)
        self.__dict__ = state

    @property
    def _n_features_out(self) -> int:
        return len(self._clustering.centers)

    # ---------------------------------------------------------------------------- using it

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the cluster of every row, by the rule of the fit: for its rows, `labels_`.

        A value that was unseen at fit is as far from every cluster; one warning per call names
        them.
        """
        store = self._open(X).store
        return self._clustering.predict(store)

    def transform(self, X: Any) -> NDArray[Any]:
        """Return what `predict` minimises: how far each row is from every cluster.

        Without refinement that is the Hamming distance to the center (with `feature_weight`: the
        weighted one); with "gini" the squared distance to the cluster's shares; with "latent" minus
        the binary logarithm of the joint probability of cluster and row.
        """
        store = self._open(X, wrappers=1).store
        return self._clustering.distances(store)

    def margin(self, X: Any) -> NDArray[np.float64]:
        """Return how sure the cluster of every row is, from 0 (undecided) to 1.

        With "latent" that is by how much its probability exceeds that of the second; else by what
        part of the distance to the second cluster its own is nearer.
        """
        store = self._open(X).store
        return self._clustering.margin(store)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the expected mismatches of a row with centers drawn from fitted shares."""
        store = self._open(X, sample_weight).store
        found = self._clustering
        mismatches = expected_mismatches(found, found.tally_rows(store).counts)
        return -mismatches * found.feature_unit / store.total_weight

    def profile(self) -> Any:
        """Return what marks each cluster, as a frame of the kind that `fit` got.

        Columns: cluster, feature, value, share (in the cluster), lift (share over the share in
        the whole table); the most telling values of each cluster come first. pandas for input
        without a frame; a pyarrow Table where pandas is not installed.
        """
        check_is_fitted(self)
        found = self._clustering
        columns = profile_columns(found.codebook, found.tally.counts)
        return as_frame(columns, found.backend)

    def summary(self, n_marks: int = 5) -> str:
        """Return a text to read: the size of each cluster, and the values that mark it most.

        Behind each value, `n_marks` per cluster at most, stand its share in the cluster and its
        lift (see `profile`).
        """
        check_is_fitted(self)
        n_marks = whole("n_marks", n_marks, 1)
        found = self._clustering
        columns = profile_columns(found.codebook, found.tally.counts)
        return summary_text(columns, self.cluster_sizes_, n_marks)

    def importance(self) -> Any:
        """Return how much each column separates the clusters, as a frame of the kind `fit` got.

        Columns: feature; importance, the share of the column's mismatches that the clusters explain
        (Goodman and Kruskal's tau, from 0 to 1); weight, the column's share of all mismatches,
        with `feature_weight`. The mean of importance by weight is the share explained of the whole
        table. The most important column comes first.

        Returns
        -------
        frame
            pandas for input without a frame; a pyarrow Table where pandas is not installed.

        Examples
        --------
        >>> from softmodes import SoftModes
        >>> answers = [["yes", "a"], ["yes", "b"], ["no", "a"], ["no", "b"]] * 5
        >>> model = SoftModes(2, feature_weight=[2, 1], random_state=0).fit(answers)
        >>> model.importance()
          feature  importance    weight
        0      x0         1.0  0.666667
        1      x1         0.0  0.333333
        """
        check_is_fitted(self)
        found = self._clustering
        columns = importance_columns(found.codebook, found.tally.counts, found.feature_weight)
        return as_frame(columns, found.backend)

    def stability(
        self,
        X: Any,
        sample_weight: Any = None,
        *,
        n_resamples: int = 10,
        max_rows: int | None = 100_000,
        random_state: Any = None,
    ) -> Stability:
        """Return how well the clusters are found again in other parts of the rows.

        The model is fitted again, with its own parameters, on random parts of 80 % of the rows, and
        each partition is compared with that of the model: as a whole by the adjusted Rand index,
        and for each cluster by the best Jaccard coefficient with one of the part.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows of the fit.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows in the fits; rows of weight 0 are left out.
        n_resamples : int, default=10
            Number of parts.
        max_rows : int or None, default=100_000
            Of a longer table, so many rows drawn at random are looked at; None for all.
        random_state : int, RandomState or None, default=None
            Which parts, and the seeds of the fits; None takes that of the model.

        Returns
        -------
        Stability
            `whole`, `by_cluster`, and a frame by `to_frame`.

        Examples
        --------
        >>> from softmodes import SoftModes
        >>> from softmodes.datasets import load_zoo
        >>> X = load_zoo().data
        >>> found = SoftModes(4, random_state=0).fit(X).stability(X)
        >>> found.whole > 0.75, found.by_cluster.shape
        (True, (4,))
        """
        opened = self._open(X, sample_weight)
        n_resamples = whole("n_resamples", n_resamples, 1)
        most_rows = max_rows if max_rows is None else whole("max_rows", max_rows, 1)
        plan = replace(
            self._plan(opened, None),
            seed=seed(self.random_state if random_state is None else random_state),
            on_round=(),
            on_run=(),
        )
        found = self._clustering
        labels = found.predict(opened.store)
        return stability_of(opened, plan, labels, n_resamples, most_rows, found.backend)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that `softmodes.load` reads; no pickle involved."""
        check_is_fitted(self)
        own_name = vars(type(self)).get("_saved_as")
        if own_name is None:
            raise ValueError(
                f"A model of class {type(self).__name__} cannot be saved: load() knows the "
                f"package's own classes only. Pickle the model, or fit {self._saved_as}."
            )
        self._check_params(self._clustering)
        save_model(path, own_name, plain_params(self), self._clustering)

    def _open(self, X: Any, sample_weight: Any = None, wrappers: int = 0) -> Opened:
        """Code and pack new rows with the codebook of the fit.

        A warning points past the method that was called, and scikit-learn's `wrappers` around it.
        """
        check_is_fitted(self)
        found = self._clustering
        opened = open_store(
            X,
            codebook=found.codebook,
            sample_weight=sample_weight,
            feature_weight=Units(found.feature_weight, found.feature_unit),
            n_threads=thread_count(self.n_jobs),
            expecting=type(self).__name__,
        )
        validate_data(self, X, reset=False, skip_check_array=True)
        if opened.unseen:
            warnings.warn(str(opened.unseen), UserWarning, stacklevel=3 + wrappers)
        return opened

    # ------------------------------------------------------------------------ scikit-learn

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def resolve_init(init: Any, codebook: Codebook, k: int) -> str | NDArray[np.int32]:
    """Return the name of a seeding, or the codes of given seeds."""
    if isinstance(init, str):
        choice("init", init, tuple(METHODS))
        return init
    try:
        return codebook.encode_rows(init, k, "init")
    except (TypeError, ValueError) as error:
        if str(error).startswith("init "):
            raise
        shown = short_repr(init)
        raise ValueError(f"init={shown} is neither a name nor {k} rows. {error}") from error
