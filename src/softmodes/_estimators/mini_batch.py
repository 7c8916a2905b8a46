"""MiniBatchSoftModes."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from softmodes._algorithm.mini_batch import Steps
from softmodes._algorithm.plan import Plan
from softmodes._algorithm.stream import Stream, learn_table
from softmodes._estimators.base import ModesEstimator, check_table
from softmodes._estimators.progress import progress
from softmodes._estimators.soft_modes import FINALISTS, roundings
from softmodes._estimators.types import Auto, Init, Missing, Sharpness
from softmodes._model.clustering import Clustering
from softmodes._parameters import (
    byte_count,
    check_most,
    choice,
    number,
    seed,
    thread_count,
    whole,
    whole_or_auto,
)
from softmodes._rows.block import layout_of
from softmodes._rows.centers import largest_distance
from softmodes._rows.memory import check_counts
from softmodes._rows.stores import open_store
from softmodes._rows.weights import check_costs, checked_weights, feature_units, row_units
from softmodes._sources import open_source
from softmodes._sources.regroup import regrouped
from softmodes._table.codebook import Codebook, checked_missing, learn, learn_part
from softmodes._table.codes import Codes
from softmodes._table.read import frame_backend

_LEAST_BATCH, _BATCH_ROWS_PER_CLUSTER = 1024, 10
_MAX_ITER, _PATIENCE = 100, 10  # of the loop, on the first batch
_ROWS_AT_ONCE = 1 << 16  # of a stream


class MiniBatchSoftModes(ModesEstimator):
    """Cluster a stream of categorical rows, or a table too large for many passes, by batches.

    The first batch is clustered as by `SoftModes`. Every later one is read once: each of its rows
    goes to its nearest center, counts are added to those so far, which fade with every row, and
    the next centers are drawn from them with probability proportional to frequency ** t.
    Values that were never seen before find their place; a cluster that wins no row for ten batches
    is seeded again from the rows that are far from all others.

    The answer depends on the rows of the stream, in their order, and on the parameters alone: not
    on how they are cut into calls of `partial_fit`, nor on threads, containers, or saving and
    loading in between.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    t : float or "auto", default="auto"
        Sharpness of the rounding, from 1 up. "auto" takes 3 and 8 in turn for the restarts on the
        first batch, and goes on with that of the best.
    init : {"d1-greedy", "d1", "random", "huang", "cao"} or table, default="d1-greedy"
        Seeding, or `n_clusters` rows in original values.
    n_init : int, default=10
        Number of restarts on the first batch.
    batch_size : int or "auto", default="auto"
        Rows of a batch. "auto" is 1024, or 10 rows for each cluster if these are more.
    half_life : float, default=100000
        Number of rows after which a row counts half; `math.inf` for streams that do not change.
    n_epochs : int, default=1
        How often `fit` goes through its table.
    refine : {"gini", None}, default="gini"
        What rows are compared with in the end: with the shares of all values in each cluster, as in
        k-means on one-hot rows, or with its modes. "gini" also refines the first batch.
    missing : {"category", "ignore", "error"}, default="category"
        Missing cells are a value of their own, or neither match nor count, or are refused.
    feature_weight, memory_limit, n_jobs, random_state
        As for `SoftModes`.
    verbose : {0, 1, 2}, default=0
        Tell of every run, or every round, on the first batch; as for `SoftModes`.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        The modes of the clusters, in original values.
    cluster_counts_ : list of arrays of shape (n_clusters, n_categories)
        For each feature, the weight of each of `categories_` in each cluster. After `fit` that of
        the rows of the table; after `partial_fit` that of the rows so far, faded. Sparse for
        features of more than 256 categories.
    cluster_sizes_ : array of shape (n_clusters,)
        Weight of the rows in each cluster, likewise. Clusters are numbered by size, the largest
        first, after `fit`, or after the first batch of `partial_fit`; then they keep their numbers.
    categories_ : list of arrays
        The values of each feature so far, in canonical order; None stands for missing.
    labels_ : int array of shape (n_samples,)
        Cluster of every row, after `fit` only.
    n_steps_ : int
        Number of batches so far; the last may not be full.
    cost_, expected_cost_, objective_ : number
        Mismatches of what was counted with the centers, and expected mismatches with centers drawn
        from the clusters' shares, which "gini" lowers.
    n_features_in_, feature_names_in_
        Number and names of the features.

    Examples
    --------
    >>> from softmodes import MiniBatchSoftModes
    >>> model = MiniBatchSoftModes(n_clusters=2, random_state=0)
    >>> for rows in ([["yes", "red"], ["no", "blue"]], [["yes", "pink"], ["no", "blue"]]):
    ...     model = model.partial_fit(rows)
    >>> model.categories_[1].tolist(), model.n_steps_
    (['blue', 'pink', 'red'], 1)
    >>> yes, no = model.predict([["yes", "red"], ["no", "blue"]])
    >>> bool(yes != no)
    True
    """

    n_steps_: int
    _saved_as = "MiniBatchSoftModes"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        t: Sharpness = "auto",
        init: Init = "d1-greedy",
        n_init: int = 10,
        batch_size: int | Auto = "auto",
        half_life: float = 100_000.0,
        n_epochs: int = 1,
        refine: Literal["gini"] | None = "gini",
        missing: Missing = "category",
        feature_weight: Any = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.t = t
        self.init = init
        self.n_init = n_init
        self.batch_size = batch_size
        self.half_life = half_life
        self.n_epochs = n_epochs
        self.refine = refine
        self.missing = missing
        self.feature_weight = feature_weight
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Cluster the rows of `X`, taken `n_epochs` times in a random order, from scratch.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            As for `SoftModes`.
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows. Rows of weight 0 teach nothing.

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
        k, n_rows = whole("n_clusters", self.n_clusters, 1), opened.store.n_rows
        check_most("n_clusters", k, "n_samples", n_rows)
        steps = self._steps(opened.codebook, seed(self.random_state), opened.rows.unit)
        # Not on self: a fit that fails leaves the last one as it was.
        check_table(copy(self), X, opened, reset=True)
        n_epochs = whole("n_epochs", self.n_epochs, 1)
        learned = learn_table(opened, steps, self._batch_size(), n_epochs)
        run = steps.outcome(learned, opened.store)
        found = Clustering.of(run, steps.plan, opened.codebook, frame_backend(X))
        begun = Stream.begun(opened.codebook, steps.plan.seed)
        stream = replace(begun, learned=learned.reorder(found.loop_numbers))
        self._publish(replace(found.labelled(opened.store), stream=stream))
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go on with the rows of `X`.

        Rows that do not fill a batch wait for more; until then the model takes them for a batch.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            As for `SoftModes`, with the same columns in every call. A stream is read once, and
            never held; of files, those whose columns have types: Parquet and Arrow.
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows. Rows of weight 0 teach nothing, not even values.

        Returns
        -------
        self
        """
        before = vars(self).get("_clustering")
        n_threads, size = thread_count(self.n_jobs), self._batch_size()
        now: Stream | None = None if before is None else before.stream

        def steps(codebook: Codebook) -> Steps:
            assert now is not None
            return self._steps(codebook, now.seed)

        for table, some in _with_weights(X, sample_weight):
            part, codes = self._coded_part(table, before)
            weight = self._checked_weight(some, codes.n_rows, part)
            now = now or self._begun(part)
            now = now.joined(part, codes, weight, size, steps, n_threads)
        assert now is not None
        learned = now.up_to_now(steps, n_threads)
        how = self._steps(now.codebook, now.seed, learned.unit)
        backend = frame_backend(X) if before is None else before.backend
        found = Clustering.of(how.outcome(learned), how.plan, now.codebook, backend, False)
        names = None if before is None else before.given_names
        self._publish(replace(found, stream=now, given_names=names))
        return self

    def _coded_part(self, X: Any, before: Clustering | None) -> tuple[Codebook, Codes]:
        """Code some rows by their own values; refuse other columns than those of the stream."""
        if before is None:
            validate_data(copy(self), X, skip_check_array=True)
        else:
            self._check_params(before)
            validate_data(self, X, reset=False, skip_check_array=True)
        part, codes = learn(X, checked_missing(self.missing), thread_count(self.n_jobs))
        return part if before is None else replace(part, names=before.codebook.names), codes

    def _checked_weight(
        self, sample_weight: Any, n_rows: int, part: Codebook
    ) -> NDArray[np.float64] | None:
        """Return weights of rows as numbers, or None; refuse what cannot be weights."""
        features = feature_units(self.feature_weight, part.names, part.n_features)
        largest = largest_distance(part.n_features, features.counts)
        units = row_units(sample_weight, n_rows, largest)
        check_costs(units, features, largest, n_rows)
        return None if sample_weight is None else np.asarray(sample_weight, np.float64)

    def _begun(self, part: Codebook) -> Stream:
        """Return a stream of no rows yet; given seeds bring their values."""
        nothing = part.narrowed(np.empty((0, part.n_features), np.int32))
        if not isinstance(self.init, str):
            given, _ = learn_part(self.init, part.missing)
            if given.n_features == part.n_features:  # else the plan refuses it
                nothing = nothing.merge(replace(given, names=part.names))
        return Stream.begun(nothing, seed(self.random_state))

    def _steps(self, codebook: Codebook, seed_: int, row_unit: float = 1.0) -> Steps:
        """Check and resolve every parameter."""
        features = feature_units(self.feature_weight, codebook.names, codebook.n_features)
        resolved = self._resolved(codebook)
        layout, n_threads = layout_of(codebook.fit_ranges), thread_count(self.n_jobs)
        check_counts(
            layout, resolved["k"], n_threads, codebook.names, features.counts, resolved["finalists"]
        )
        shown: dict[str, Any] = progress(self.verbose)
        plan = Plan(
            **resolved,
            **shown,
            seed=seed_,
            feature_weight=features.counts,
            feature_unit=features.unit,
            row_unit=row_unit,
        )
        return Steps(plan, number("half_life", self.half_life, 1))

    def _batch_size(self) -> int:
        size = whole_or_auto("batch_size", self.batch_size, 1)
        k = whole("n_clusters", self.n_clusters, 1)
        return max(_LEAST_BATCH, _BATCH_ROWS_PER_CLUSTER * k) if size == "auto" else size

    def _check_params(self, found: Clustering) -> None:
        super()._check_params(found)
        self._batch_size()
        whole("n_epochs", self.n_epochs, 1)
        number("half_life", self.half_life, 1)
        if found.stream is None:
            raise ValueError("There is no stream to go on from. Fit again.")
        if self.missing != found.codebook.missing:
            raise ValueError(
                f"missing={self.missing!r} is not that of the rows so far, "
                f"{found.codebook.missing!r}. Fit again, or call "
                f"set_params(missing={found.codebook.missing!r})."
            )

    def _algorithm(self) -> dict[str, Any]:
        refine = choice("refine", self.refine, ("gini", None))
        rounding, ladder = roundings("soft", self.t)
        return {
            "n_init": whole("n_init", self.n_init, 1),
            "max_iter": _MAX_ITER,
            "rounding": rounding,
            "ladder": ladder,
            "select": "best",
            "refine": refine,
            "finalists": 1 if refine is None else FINALISTS,
            "patience": _PATIENCE,
            "yardstick": "expected_cost",
        }

    def _publish(self, found: Clustering) -> None:
        super()._publish(found)
        assert found.stream is not None
        self.n_steps_ = found.stream.n_steps


def _with_weights(X: Any, sample_weight: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the rows of a call, some at a time if they are a stream, each with their weights."""
    source = open_source(X)
    if source is None:
        yield X, sample_weight
        return
    if source.is_text:
        raise ValueError(
            "partial_fit learns from rows as they come, but which types the columns of a file of "
            "texts have, all of its rows tell. Use fit, or pass Parquet or Arrow files, or frames."
        )
    n_rows = 0
    for table in regrouped(source.batches(), _ROWS_AT_ONCE):
        some = None if sample_weight is None else sample_weight[n_rows : n_rows + len(table)]
        n_rows += len(table)
        yield table, some
    if not n_rows:
        yield pa.table({name: pa.nulls(0) for name in source.names}), sample_weight
    if sample_weight is not None:
        checked_weights(sample_weight, n_rows)
