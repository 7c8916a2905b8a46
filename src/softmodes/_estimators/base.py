"""What the estimators share: everything but their parameters."""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
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

from softmodes._algorithm.plan import OnRound, Plan, Run
from softmodes._algorithm.seeding import METHODS
from softmodes._estimators.auto import (
    TableSize,
    allowance,
    auto_rounds,
    auto_starts,
    crossed_starts,
    spare_clusters,
)
from softmodes._estimators.callbacks import told_run
from softmodes._estimators.progress import progress
from softmodes._model.clustering import Clustering
from softmodes._model.dominance import mention_dominance
from softmodes._model.drift import drift_columns
from softmodes._model.file import check_preparation, save_model
from softmodes._model.importance import importance_columns
from softmodes._model.label_file import checked_label_file, write_labels
from softmodes._model.marks import N_MARKS
from softmodes._model.metadata import checked_metadata
from softmodes._model.naming import renamed
from softmodes._model.params import plain_params
from softmodes._model.profile import as_frame
from softmodes._model.rows import group_columns, with_columns
from softmodes._model.score import expected_mismatches
from softmodes._model.stability import Stability, stability_of
from softmodes._model.summary import Summary, summary_of
from softmodes._parameters import (
    byte_count,
    check_callback,
    check_most,
    check_seed,
    choice,
    seed,
    thread_count,
    whole,
    whole_or_auto,
)
from softmodes._prepare import Prepare
from softmodes._prepare.numbers import mention_numbers
from softmodes._rows.memory import check_counts
from softmodes._rows.stores import Opened, open_store
from softmodes._rows.weights import Units, feature_units, in_weights
from softmodes._table.codebook import Codebook, checked_missing
from softmodes._table.read import frame_backend
from softmodes._text import short_repr

_MADE_WHEN_ASKED_FOR = ("cluster_centers_", "cluster_counts_", "categories_")


class ModesEstimator(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator, ABC
):
    """What SoftModes and KModes share: everything but the parameters."""

    labels_: Any
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
            (in which zero is a value). Or rows that come as a stream, and need not fit in memory:
            the path of a Parquet, Arrow or CSV file, a folder or a pattern of such files, an Arrow
            data set or reader, a lazy frame of polars, a relation of DuckDB; a row's number is then
            its position in the stream. Or rows on a cluster: a dask.dataframe, a dask.array or a
            DataFrame of Spark; what is found for every row is then a dask.array, or a column
            of the DataFrame, and a row's number its position in the
            order of partitions. Every distinct entry of a column is a category.
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows, kept as whole multiples of a power of two. Whole numbers (up to
            2**40) stand for repeated rows; of others only the ratios matter. On a cluster, with the
            partitions of `X`, or the name of a column of `X`, which is then not clustered.
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
            memory_limit=byte_count("memory_limit", self.memory_limit),
        )
        plan = self._plan(opened, on_round)
        codebook = opened.codebook
        n_rows = opened.store.n_rows
        mention_numbers(codebook.numeric_among, codebook.lengths, codebook.names, n_rows)
        # Not on self: a fit that fails leaves the last one as it was.
        check_table(copy(self), X, opened, reset=True)
        best = told_run(self, opened.store, plan, X=X, y=y)
        self._warn_unless_converged(best, plan)
        self._keep(best, plan, opened, frame_backend(X))
        return self

    def _keep(self, best: Run, plan: Plan, opened: Opened, backend: str | None) -> None:
        """Take a run for the outcome of the fit."""
        found = Clustering.of(best, plan, opened.codebook, backend)
        mention_dominance(found)
        self._publish(found.labelled(opened.store))

    def _plan(self, opened: Opened, on_round: OnRound | None) -> Plan:
        """Check and resolve every parameter."""
        store, codebook = opened.store, opened.codebook
        k = whole("n_clusters", self.n_clusters, 1)
        check_most("n_clusters", k, "n_samples", store.n_rows)
        weight = opened.features.counts
        shown = progress(self.verbose)
        resolved = self._resolved(codebook)
        refined = resolved.get("finalists", 0) if resolved.get("refine") else 0
        size = TableSize.of(store.n_rows, codebook.n_values)
        spare = crossed = 0
        if resolved.get("refine") == "latent" and isinstance(resolved["init"], str):
            spare, crossed = spare_clusters(size, k), crossed_starts(size, k)
        check_counts(
            store.layout,
            max(k + spare, 2 * k if crossed else 0),
            store.n_threads,
            codebook.names,
            weight,
            max(refined, crossed),
            store.n_rows,
        )
        if resolved["n_init"] == "auto":
            resolved |= {"n_init": auto_starts(size, k), "allowance": allowance(size, k)}
            if resolved.get("refine") == "latent":
                resolved["latent_rounds"] = auto_rounds(size, k)
        return Plan(
            **resolved,
            spare=spare,
            crossed=crossed,
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
        byte_count("memory_limit", self.memory_limit)
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
        codebook = found.codebook
        state = vars(self) | {
            "_clustering": found,
            "n_features_in_": codebook.n_features,
            "cluster_sizes_": in_weights(found.tally.cluster_sizes, found.row_unit),
            "cost_": found.cost,
            "expected_cost_": found.expected_cost,
            "objective_": found.objective,
            "n_iter_": len(found.history),
            "best_round_": found.best_round,
            "history_": list(found.history),
            "converged_": found.converged,
        }
        for of_last_fit in ("feature_names_in_", "labels_", *_MADE_WHEN_ASKED_FOR):
            state.pop(of_last_fit, None)
        if found.labels is not None:
            in_memory = found.labels_in_memory
            state["labels_"] = found.labels if in_memory is None else in_memory.copy()
        if codebook.names is not None:
            state["feature_names_in_"] = np.array(codebook.names, dtype=object)
        self.__dict__ = state

    # Of tables with very many columns these take as long to make as the fit.

    @cached_property
    def cluster_centers_(self) -> NDArray[Any]:
        """The centers, by their values."""
        check_is_fitted(self)
        found = self._clustering
        return found.codebook.decode(found.centers.codes)

    @cached_property
    def cluster_counts_(self) -> list[Any]:
        """For each feature, how often each of `categories_` occurs in each cluster."""
        check_is_fitted(self)
        found = self._clustering
        return [in_weights(values, found.row_unit) for values in found.tally.counts.of_features()]

    @cached_property
    def categories_(self) -> list[NDArray[Any]]:
        """For each feature, its values in the order of `cluster_counts_`."""
        check_is_fitted(self)
        return self._clustering.codebook.all_values()

    @property
    def _n_features_out(self) -> int:
        return len(self._clustering.centers)

    # ---------------------------------------------------------------------------- using it

    def predict(self, X: Any) -> Any:
        """Return the cluster of every row, by the rule of the fit: for its rows, `labels_`.

        A value that was unseen at fit is as far from every cluster; one warning per call names
        them.
        """
        store = self._open(X).store
        return self._clustering.predict(store)

    def predict_to(self, X: Any, path: str | os.PathLike[str], *, column: str = "cluster") -> None:
        """Write the cluster of every row to a Parquet or CSV file, some rows at a time.

        Neither the rows nor the labels need fit in memory. The file is written whole or not at all.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            As for `fit`; most useful for files and streams.
        path : str or os.PathLike
            Where to write; its ending, .parquet or .csv, tells the format.
        column : str, default="cluster"
            What to call the one column of the file. Its rows are those of `X`, in their order.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from softmodes import SoftModes
        >>> answers = [["yes", "red"], ["yes", "red"], ["no", "blue"]]
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
        >>> SoftModes(2, random_state=0).fit(answers).predict_to(answers, path)
        >>> path.read_text().split()
        ['"cluster"', '0', '0', '1']
        """
        target = checked_label_file(path, X)
        store = self._open(X, needed_by="predict_to").store
        write_labels(target, self._clustering.predict(store), column)

    def transform(self, X: Any) -> Any:
        """Return what `predict` minimises: how far each row is from every cluster.

        Without refinement that is the Hamming distance to the center (with `feature_weight`: the
        weighted one); with "gini" the squared distance to the cluster's shares; with "latent" minus
        the binary logarithm of the joint probability of cluster and row.
        """
        store = self._open(X, wrappers=1).store
        return self._clustering.distances(store)

    def margin(self, X: Any) -> Any:
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

    # -------------------------------------------------------------------- telling about it

    @property
    def names_(self) -> list[str]:
        """What to call the clusters: as `set_names` was told, else by what marks them.

        Without a name of its own a cluster is called by its two strongest marks of different
        columns, "milk: 1, hair: 1".
        """
        check_is_fitted(self)
        return list(self._clustering.names)

    def set_names(self, names: Mapping[int, str | None] | Sequence[str | None] | None) -> Self:
        """Name clusters; the names are saved with the model, and shown wherever it is told about.

        Parameters
        ----------
        names : dict, list or None
            Names by the numbers of clusters, of some or all of them; or one for each. A name of
            None, or None for all, goes back to what marks the clusters.

        Returns
        -------
        self

        Examples
        --------
        >>> from softmodes import SoftModes
        >>> answers = [["yes", "a"]] * 2 + [["no", "b"]] * 2 + [["no", "c"]]
        >>> model = SoftModes(2, random_state=0).fit(answers)
        >>> model.names_
        ['x1: b, x0: no', 'x0: yes']
        >>> model.set_names({1: "Friends"}).names_
        ['x1: b, x0: no', 'Friends']
        """
        check_is_fitted(self)
        found = self._clustering
        given = renamed(found.given_names, found.names, names)
        self._clustering = replace(found, given_names=given)
        return self

    def profile(self) -> Any:
        """Return what marks each cluster, as a frame of the kind that `fit` got.

        A row for every value that occurs in a cluster, and for those that do not although a row
        with them would be expected. Columns: cluster, name (of the cluster), feature, value, share
        (in the cluster), overall (share in the whole table), lift (share over overall), count (rows
        or their weight), residual (standard errors between the count and what it would be without
        clusters), side ("more" or "less" than in the whole table, or "same"). For each cluster
        what it has more of comes first, then what it has less of, the most telling first.

        Returns
        -------
        frame
            pandas for input without a frame; a pyarrow Table where pandas is not installed.

        Examples
        --------
        >>> from softmodes import SoftModes
        >>> model = SoftModes(2, random_state=0).fit([["yes"], ["yes"], ["no"], ["no"], ["no"]])
        >>> model.profile()[["cluster", "value", "share", "overall", "count", "side"]]
           cluster value  share  overall  count  side
        0        0    no    1.0      0.6      3  more
        1        0   yes    0.0      0.4      0  less
        2        1   yes    1.0      0.4      2  more
        3        1    no    0.0      0.6      0  less
        """
        check_is_fitted(self)
        found = self._clustering
        return as_frame(found.profile.columns(found.names), found.backend)

    def summary(self, n_marks: int = N_MARKS) -> Summary:
        """Return the size of each cluster and the values that mark it most, to read.

        Parameters
        ----------
        n_marks : int, default=5
            Number of marks of each cluster, at most: values that it has more of than the whole
            table. Marks that repeat one another count as one.

        Returns
        -------
        Summary
            A text when it is printed, a table in a notebook.
        """
        check_is_fitted(self)
        return summary_of(self._clustering, whole("n_marks", n_marks, 1))

    def to_frame(self, X: Any, *, prefix: str = "") -> Any:
        """Return rows with the group of each, as a frame of the kind that came in.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Rows as for `predict`.
        prefix : str, default=""
            What the names of the new columns begin with, for tables that have such columns.

        Returns
        -------
        frame
            The columns of `X` and: group (that of `predict`), name, margin, and second, the group
            that comes second (not for a single cluster). pandas for arrays and lists of rows; of
            sparse tables, files and streams the new columns alone.

        Examples
        --------
        >>> from softmodes import SoftModes
        >>> answers = [["yes", "a"], ["yes", "b"], ["no", "a"], ["no", "b"], ["no", "b"]]
        >>> model = SoftModes(2, random_state=0, refine=None).fit(answers).set_names(["B", "A"])
        >>> model.to_frame(answers).columns.tolist()
        ['x0', 'x1', 'group', 'name', 'margin', 'second']
        """
        opened = self._open(X, needed_by="to_frame")
        if not isinstance(prefix, str):
            raise ValueError(f"prefix={prefix!r} is not a text. Pass one, such as 'softmodes_'.")
        found = self._clustering
        columns = group_columns(found, opened.store)
        named = {prefix + name: values for name, values in columns.items()}
        if opened.elsewhere:
            return as_frame(named, found.backend)
        return with_columns(X, named, found.backend)

    def drift(self, X: Any, sample_weight: Any = None) -> Any:
        """Return how new rows differ from those of the fit, as a frame of the kind that came in.

        A row for each column, what changed most first. Columns: feature; changed, the share of the
        rows that would need another value for the shares to be those of the fit; chance, what that
        would be on average for rows of the fit, drawn at random; unseen, the share of cells whose
        value was unseen at fit; unseen_values, the most frequent of these as a text; note, such as
        "column types differ: numbers at fit, text now".

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Rows as for `predict`.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        frame
            pandas for input without a frame; a pyarrow Table where pandas is not installed.

        Examples
        --------
        >>> from softmodes import SoftModes
        >>> model = SoftModes(2, random_state=0).fit([["yes", 1], ["no", 2], ["no", 1], ["yes", 2]])
        >>> new = [["yes", 1], ["yes", 2], ["no", 3], ["yes", 1]]
        >>> model.drift(new)[["feature", "changed", "unseen"]]
          feature  changed  unseen
        0      x0     0.25    0.00
        1      x1     0.25    0.25
        """
        opened = self._open(X, sample_weight, tell_unseen=False, needed_by="drift")
        backend = frame_backend(X) or self._clustering.backend
        return as_frame(drift_columns(self._clustering, opened), backend)

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
        return stability_of(
            opened, plan, found.predict, n_resamples, most_rows, found.names, found.backend
        )

    @property
    def metadata_(self) -> dict[str, Any]:
        """What is kept with the model: its version, the time of the fit, and what `save` got."""
        check_is_fitted(self)
        return dict(self._clustering.metadata)

    @property
    def preparation_(self) -> Prepare | None:
        """The preparation that was saved with the model: `Prepare`, or None."""
        check_is_fitted(self)
        saved = self._clustering.preparation
        return None if saved is None else Prepare.from_dict(saved)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        labels: bool = True,
        metadata: Mapping[str, Any] | None = None,
        preparation: Prepare | None = None,
    ) -> None:
        """Write the fitted model to a file that `softmodes.load` reads; no pickle involved.

        Parameters
        ----------
        path : path
            Where to; the file is written whole or not at all.
        labels : bool, default=True
            Whether to keep `labels_`, the clusters of the training rows, in the file. Labels that
            are not in memory, but in a file or on a cluster, are left out anyway.
        metadata : dict, optional
            Notes of yours, of what JSON can hold, for `metadata_` of the loaded model. Version and
            time of the fit are there anyway; those of a loaded model are kept.
        preparation : Prepare, optional
            What made the rows of a table, for `preparation_` of the loaded model; that of a loaded
            model is kept.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import softmodes
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "m.softmodes"
        >>> model = softmodes.SoftModes(2, random_state=0).fit([["a"], ["a"], ["b"]])
        >>> model.save(path, labels=False, metadata={"wave": 3})
        >>> again = softmodes.load(path)
        >>> again.metadata_["wave"], hasattr(again, "labels_")
        (3, False)
        """
        check_is_fitted(self)
        own_name = vars(type(self)).get("_saved_as")
        if own_name is None:
            raise ValueError(
                f"A model of class {type(self).__name__} cannot be saved: load() knows the "
                f"package's own classes only. Pickle the model, or fit {self._saved_as}."
            )
        found = self._clustering
        self._check_params(found)
        found = replace(found, metadata=found.metadata | checked_metadata(metadata))
        if preparation is not None:
            check_preparation(preparation, found.codebook)
            found = replace(found, preparation=preparation.to_dict())
        found = found if labels else replace(found, labels=None)
        save_model(path, own_name, plain_params(self), found)

    def _open(
        self,
        X: Any,
        sample_weight: Any = None,
        wrappers: int = 0,
        tell_unseen: bool = True,
        needed_by: str | None = None,
    ) -> Opened:
        """Code and pack new rows with the codebook of the fit.

        A warning points past the method that was called, and scikit-learn's `wrappers` around it.
        Rows on a cluster are refused if something needs to have here what is found for each.
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
            memory_limit=byte_count("memory_limit", self.memory_limit),
        )
        check_table(self, X, opened, reset=False)
        if needed_by is not None and opened.on_cluster:
            raise TypeError(
                f"{needed_by} needs what is found for every row here, and X is on a cluster. Pass "
                "some of its rows as a frame in memory; predict, transform and score take them all."
            )
        if opened.unseen and tell_unseen:
            warnings.warn(str(opened.unseen), UserWarning, stacklevel=3 + wrappers)
        return opened

    # ------------------------------------------------------------------------ scikit-learn

    def __getstate__(self) -> dict[str, Any]:
        """Return all that is pickled, which labels on a cluster are not."""
        state: dict[str, Any] = super().__getstate__()
        found = state.get("_clustering")
        if found is None or found.labels is None or isinstance(found.labels, np.ndarray):
            return state
        kept = {name: value for name, value in state.items() if name != "labels_"}
        return kept | {"_clustering": replace(found, labels=None)}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def check_table(estimator: ModesEstimator, X: Any, opened: Opened, reset: bool) -> None:
    """Let scikit-learn check a table in memory; of others it knows nothing.

    It looks at names first of all, which the array of a fit has none of. Those of a pandas frame to
    be fitted were checked when it was read, and narwhals, which scikit-learn asks for them, takes
    as long for these as reading does.
    """
    checked = reset and (isinstance(X, np.ndarray) or frame_backend(X) == "pandas")
    if not opened.elsewhere and not checked:
        validate_data(estimator, X, reset=reset, skip_check_array=True)


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
