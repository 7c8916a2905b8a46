"""The fitted clustering: a frozen value."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.cost import expected_cost
from softmodes._algorithm.plan import Plan, Round, Run
from softmodes._algorithm.stream import Stream
from softmodes._model.marks import default_names
from softmodes._model.metadata import made_now
from softmodes._model.naming import GivenNames, all_names
from softmodes._model.profile import Profile
from softmodes._rows.block import Block
from softmodes._rows.centers import Centers, CodeCenters, Comparison, ScoreCenters
from softmodes._rows.stores.base import RowStore
from softmodes._rows.tally import MEMBERSHIP_BITS, SoftTally, Tally
from softmodes._rows.weights import in_weights
from softmodes._table.codebook import Codebook


@dataclass(frozen=True, eq=False)
class Clustering:
    """A partition of rows, what produced it, and how it was found.

    `centers` are what is shown of the clusters: those that produced the partition, or the modes of
    a refined one, which `scores` produced. Cluster i was number `loop_numbers[i]` inside the loop:
    ties are settled by these numbers and `tie_key`. Without a key, as in files of version 1, they
    go to the first cluster. `soft` is the last pass of a latent finish.
    """

    codebook: Codebook
    centers: CodeCenters
    scores: ScoreCenters | None
    tally: Tally
    soft_in_loop: SoftTally | None  # of clusters as the loop numbers them
    labels: Any  # an int32 array, or what the store of the rows has in its place; None without
    history: tuple[Round, ...]
    best_round: int
    converged: bool
    feature_weight: NDArray[np.uint32] | None
    row_unit: float
    feature_unit: float
    backend: str | None  # kind of frame that the rows came in
    tie_key: int | None
    loop_numbers: NDArray[np.int32]
    stream: Stream | None = None  # where to go on from, if the rows are a stream
    given_names: GivenNames | None = None  # of the clusters; None where none was given
    metadata: dict[str, Any] = field(default_factory=made_now)
    preparation: dict[str, Any] | None = None  # what made the rows of a table, as `Prepare` tells

    @property
    def labels_in_memory(self) -> NDArray[np.int32] | None:
        """The labels, if they are an array in memory and not in a file or on a cluster."""
        in_memory = isinstance(self.labels, np.ndarray) and not isinstance(self.labels, np.memmap)
        return self.labels if in_memory else None

    @property
    def soft(self) -> SoftTally | None:
        """Sums over shared rows, of which the scores were made."""
        return self.soft_in_loop and self.soft_in_loop.reorder(self.loop_numbers)

    @property
    def chosen(self) -> Round:
        """The round whose partition this is."""
        return self.history[self.best_round]

    @property
    def cost(self) -> float:
        """Mismatches of the rows with the centers, in weights."""
        cost: float = in_weights(self.tally.cost, self.row_unit * self.feature_unit)
        return cost

    @cached_property
    def expected_cost(self) -> float:
        """Expected mismatches with centers drawn from the clusters' shares, in weights."""
        unit = self.row_unit * self.feature_unit
        return expected_cost(self.tally.counts, self.feature_weight) * unit

    @property
    def objective(self) -> float:
        """What the finish has lowered; without one, the expected cost."""
        objective = self.chosen.objective
        return self.expected_cost if objective is None else objective

    @property
    def comparison(self) -> Comparison:
        """How rows are compared with the centers, as in the run that found them."""
        return Comparison(self.tie_key, self.feature_weight)

    @property
    def profile(self) -> Profile:
        """What marks the clusters."""
        return Profile.of(self.codebook, self.tally.counts, self.row_unit)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What to call the clusters: as was given, or by what marks them."""
        return all_names(self.given_names, default_names(self.profile, len(self.centers)))

    def predict(self, store: RowStore) -> Any:
        """Return the cluster of every row."""
        return store.labels(self._in_loop, self.comparison, numbers=self._cluster_of)

    def labelled(self, store: RowStore) -> Clustering:
        """Return the clustering with the labels of the rows that it was found in."""
        return replace(self, labels=self.predict(store))

    def tally_rows(self, store: RowStore) -> Tally:
        """Assign rows and count them."""
        return store.tally(self._in_loop, self.comparison).reorder(self.loop_numbers)

    def distances(self, store: RowStore) -> Any:
        """Return how far every row is from every cluster, in weights: what `predict` minimises."""
        return store.distances(self._compared, self.feature_weight, self._in_weights)

    def margin(self, store: RowStore) -> Any:
        """Return how sure the cluster of every row is, from 0 to 1."""
        if len(self.centers) == 1:
            return store.by_row(_no_doubt, "margin")
        if self.is_latent:
            return store.memberships(self._scores_in_loop, self.comparison, lead, "margin")
        return store.distances(self._compared, self.feature_weight, _relative_gap, "margin")

    def second(self, store: RowStore) -> Any:
        """Return the cluster that comes second for every row; of a tie, one that lost it."""
        assert len(self.centers) > 1
        nearest = store.distances(self._compared, self.feature_weight, _two_nearest)
        is_first = nearest[:, 0] == np.asarray(self.predict(store))
        second: NDArray[np.int32] = np.where(is_first, nearest[:, 1], nearest[:, 0])
        return second

    @property
    def is_latent(self) -> bool:
        """Whether the partition is that of a latent class model."""
        return self.chosen.stage == "latent"

    def probabilities(self, store: RowStore) -> Any:
        """Return the probability of every cluster for every row, by the latent class model."""
        keep = partial(_probabilities, order=self.loop_numbers)
        return store.memberships(self._scores_in_loop, self.comparison, keep, "probabilities")

    def log_likelihoods(self, store: RowStore) -> Any:
        """Return the log-likelihood of every row, in nats."""
        return store.log_likelihoods(self._scores_in_loop, _in_nats)

    @property
    def _compared(self) -> Centers:
        return self.centers if self.scores is None else self.scores

    @property
    def _in_weights(self) -> Callable[[NDArray[Any]], NDArray[Any]]:
        """What makes weights of distances; it carries next to nothing."""
        if self.scores is not None:
            return partial(_scaled, resolution=self.scores.resolution)
        return partial(_hamming, unit=self.feature_unit)

    @property
    def _scores_in_loop(self) -> ScoreCenters:
        assert isinstance(self._in_loop, ScoreCenters)
        return self._in_loop

    @cached_property
    def _in_loop(self) -> Centers:
        return self._compared.reorder(self._cluster_of)

    @cached_property
    def _cluster_of(self) -> NDArray[np.int32]:
        """Clusters by their numbers inside the loop."""
        return np.argsort(self.loop_numbers).astype(np.int32)

    @classmethod
    def of(
        cls,
        run: Run,
        plan: Plan,
        codebook: Codebook,
        backend: str | None,
        renumber: bool = True,
    ) -> Clustering:
        """Return the outcome of a run, its clusters renumbered by size unless seeds were given.

        It has no labels yet.
        """
        assert isinstance(run.tally, Tally)
        order = np.arange(plan.k)
        if renumber and isinstance(plan.init, str):
            order = np.argsort(-run.tally.cluster_sizes, kind="stable")
        scores = run.centers if isinstance(run.centers, ScoreCenters) else None
        found = cls(
            codebook=codebook,
            centers=run.drawn.reorder(order),
            scores=scores and scores.reorder(order),
            tally=run.tally.reorder(order),
            soft_in_loop=run.soft,
            labels=None,
            history=run.history,
            best_round=run.best_round,
            converged=run.converged,
            feature_weight=plan.feature_weight,
            row_unit=plan.row_unit,
            feature_unit=plan.feature_unit,
            backend=backend,
            tie_key=plan.comparison(run.index).tie_key,
            loop_numbers=order.astype(np.int32),
        )
        # Not to be renumbered back.
        vars(found)["_in_loop"] = run.drawn if scores is None else scores
        return found


def _no_doubt(block: Block, n_threads: int) -> NDArray[np.float64]:
    return np.ones(block.n_rows)


def _in_nats(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    return logs * math.log(2)


def _scaled(distances: NDArray[Any], resolution: int) -> NDArray[Any]:
    return np.ldexp(distances.astype(np.float64), -resolution)


def _hamming(distances: NDArray[Any], unit: float) -> NDArray[Any]:
    weights: NDArray[Any] = in_weights(distances.astype(np.int64), unit)
    return weights


def _probabilities(parts: NDArray[Any], order: NDArray[np.int32]) -> NDArray[np.float64]:
    return parts[:, order] / float(1 << MEMBERSHIP_BITS)


def lead(parts: NDArray[Any]) -> NDArray[np.float64]:
    """Return by what probability the best cluster of each row is ahead of the second."""
    best = np.partition(parts, -2, axis=1).astype(np.int64)
    ahead: NDArray[np.float64] = (best[:, -1] - best[:, -2]) / float(1 << MEMBERSHIP_BITS)
    return ahead


def _relative_gap(distances: NDArray[Any]) -> NDArray[np.float64]:
    """Return by what part of the second smallest distance of each row the smallest is smaller."""
    nearest = np.partition(distances, 1, axis=1).astype(np.float64)
    gap = nearest[:, 1] - nearest[:, 0]
    return gap / np.where(gap > 0, nearest[:, 1], 1.0)


def _two_nearest(distances: NDArray[Any]) -> NDArray[np.int32]:
    return np.argsort(distances, axis=1, kind="stable")[:, :2].astype(np.int32)
