"""What a run goes through: drawn centers first, then one or two finishes on scores.

A stage says what a round is; `loop.py` makes the rounds.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from softmodes._algorithm.cost import expected_cost, modes_cost
from softmodes._algorithm.draw import Draw
from softmodes._algorithm.plan import Plan, Round, Run, StageName
from softmodes._algorithm.scores import FINEST_RESOLUTION, NearlySure, Pricing, Rule
from softmodes._algorithm.seeding import METHODS, Seeding, complete
from softmodes._rows.centers import (
    MOST_SHARED_RESOLUTION,
    Centers,
    CodeCenters,
    Comparison,
    ScoreCenters,
)
from softmodes._rows.counts import Counts
from softmodes._rows.stores.base import RowStore
from softmodes._rows.tally import MEMBERSHIP_BITS, SoftTally, Tally
from softmodes._rows.weights import in_weights

# A latent run is at rest when its objective changes by less than this share of itself, or by less
# than logarithms are rounded to, per row: constant tables have an objective of nearly nothing.
REST = 1e-5
LEAST_CHANGE = 2.0**-18
# What a start makes of its finish, before the best starts go on.
FIRST_GINI_ROUNDS = FIRST_LATENT_ROUNDS = 5
# Certainty that a row belongs to its cluster when the latent rounds begin: 19 of 20.
_SURE, _ALL = 19, 20


@dataclass(frozen=True, eq=False)
class Fit:
    """The rows, what is asked of them, and what the finishes of all runs share."""

    store: RowStore
    plan: Plan
    beside: Fit | None = None  # of the same rows: what does not depend on k is made once
    _costs: WeakKeyDictionary[Counts, float] = field(default_factory=WeakKeyDictionary)

    @cached_property
    def pricing(self) -> dict[Rule, Pricing]:
        """How the scores of the finishes are made."""
        if self.beside is not None:
            return self.beside.pricing
        return {"gini": self._pricing("gini"), "latent": self._pricing("latent")}

    def expected_cost(self, counts: Counts) -> float:
        """Return the expected cost of counts, in units; those of a partition may come again."""
        found = self._costs.get(counts)
        if found is None:
            found = expected_cost(counts, self.plan.feature_weight, self.store.n_threads)
            self._costs[counts] = found
        return found

    @cached_property
    def with_spare(self) -> Fit:
        """The same with the clusters that a start has more than asked for."""
        return self._with(self.plan.k + self.plan.spare)

    @cached_property
    def with_twice(self) -> Fit:
        """The same with the clusters of two runs."""
        return self._with(2 * self.plan.k)

    def _with(self, k: int) -> Fit:
        if k == self.plan.k:
            return self
        return Fit(self.store, replace(self.plan, k=k), beside=self)

    def _pricing(self, rule: Rule) -> Pricing:
        weight, plan, store = self.plan.feature_weight, self.plan, self.store
        fine = rule == "gini" == plan.refine
        return Pricing(
            rule=rule,
            totals=self._totals,
            total_weight=store.total_weight,
            # Weights that do not stand for repeated rows have no natural size but their mean.
            prior=(
                1.0 / plan.row_unit
                if store.weights_repeat
                else store.total_weight / store.n_weighed
            ),
            # By their ratios alone: a likelihood to a power other than 1 would be another model.
            feature_weight=None if weight is None else weight / weight[weight > 0].mean(),
            most_resolution=FINEST_RESOLUTION if fine else MOST_SHARED_RESOLUTION,
            n_threads=store.n_threads,
        )

    @cached_property
    def _totals(self) -> Counts:
        return self.store.column_counts()


@dataclass(frozen=True, eq=False)
class Stage(ABC):
    """How a run goes on from round to round, and when it is over."""

    fit: Fit
    run: int
    most_rounds: int
    name: ClassVar[StageName]

    @property
    def plan(self) -> Plan:
        """What is asked of the fit."""
        return self.fit.plan

    @property
    def store(self) -> RowStore:
        """The rows."""
        return self.fit.store

    @cached_property
    def comparison(self) -> Comparison:
        """How rows are compared with centers."""
        return self.plan.comparison(self.run)

    @abstractmethod
    def first_centers(self, before: Run | None) -> Centers:
        """Return the centers of the first round, from the run so far."""

    @abstractmethod
    def next_centers(self, centers: Centers, tally: Tally | SoftTally, n_rounds: int) -> Centers:
        """Return the centers that follow from a pass; `n_rounds` have been made in all."""

    @abstractmethod
    def tally(self, centers: Centers) -> Tally | SoftTally:
        """Make the pass over the rows."""

    @abstractmethod
    def measure(
        self, centers: Centers, tally: Tally | SoftTally, last: Tally | SoftTally | None
    ) -> Round:
        """Return what a round has come to, after the `last` one of this stage."""

    @abstractmethod
    def replaces(self, latest: Round, chosen: Round) -> bool:
        """Tell whether a round is the result in the place of an earlier one."""

    def at_rest(self, latest: Round, chosen: Round | None) -> bool:
        """Tell whether nothing moves any more, beside the result so far."""
        return not latest.moved

    def out_of_patience(self, n_idle: int) -> bool:
        """Tell whether so many rounds without a better one are too many."""
        return False

    def leaves_nothing(self, latest: Round) -> bool:
        """Tell whether the next stage may as well begin: it would go on from the same partition."""
        return False


@dataclass(frozen=True, eq=False)
class Modes(Stage):
    """Algorithm 1 of the paper, watched for its best round."""

    name = "modes"

    def first_centers(self, before: Run | None) -> CodeCenters:
        """Return the seeds, complete."""
        plan = self.plan
        seeding = Seeding(self.store, plan.k, plan.seed, self.run, plan.feature_weight)
        seeds = METHODS[plan.init](seeding) if isinstance(plan.init, str) else plan.init.copy()
        return CodeCenters(complete(seeding, seeds))

    def next_centers(
        self, centers: Centers, tally: Tally | SoftTally, n_rounds: int
    ) -> CodeCenters:
        """Draw every value of every center."""
        assert isinstance(centers, CodeCenters)
        return self._draw(tally.counts, centers, self.run, n_rounds)

    @cached_property
    def _draw(self) -> Draw:
        plan = self.plan
        return Draw(plan.rounding_of(self.run), plan.seed, plan.row_unit, self.store.n_threads)

    def tally(self, centers: Centers) -> Tally:
        """Give every row to the center with the fewest mismatches."""
        return self.store.tally(centers, self.comparison)

    def measure(
        self, centers: Centers, tally: Tally | SoftTally, last: Tally | SoftTally | None
    ) -> Round:
        """Return cost and expected cost."""
        assert isinstance(tally, Tally)
        plan = self.plan
        expected = self.fit.expected_cost(tally.counts)
        return Round(
            cost=in_weights(tally.cost, plan.unit),
            expected_cost=expected * plan.unit,
            clusters=int(np.count_nonzero(tally.cluster_sizes)),
            moved=not same_partition(tally, last),
        )

    def replaces(self, latest: Round, chosen: Round) -> bool:
        """Tell whether the last or the best round is wanted, and this is it."""
        return self.plan.select == "last" or latest.expected_cost < chosen.expected_cost

    def leaves_nothing(self, latest: Round) -> bool:
        """Tell whether a finish follows, and there is one partition, or one into equal rows."""
        return self.plan.refine is not None and (self.plan.k == 1 or latest.cost == 0)

    def out_of_patience(self, n_idle: int) -> bool:
        """Tell whether the best round is long past."""
        return self.plan.select == "best" and n_idle >= self.plan.patience


@dataclass(frozen=True, eq=False)
class Gini(Stage):
    """Descent on the expected cost: k-means on one-hot rows, without making them."""

    name = "gini"

    @property
    def _pricing(self) -> Pricing:
        return self.fit.pricing["gini"]

    def first_centers(self, before: Run | None) -> ScoreCenters:
        """Return the prices of the partition so far."""
        assert before is not None
        return self.next_centers(before.centers, before.tally, 0)

    def next_centers(
        self, centers: Centers, tally: Tally | SoftTally, n_rounds: int
    ) -> ScoreCenters:
        """Return the prices of a partition."""
        before = centers if isinstance(centers, ScoreCenters) else None
        return self._pricing.scores(tally.counts, tally.cluster_sizes, 1, before)

    def tally(self, centers: Centers) -> Tally:
        """Give every row to the cluster in which it is cheapest."""
        return self.store.tally(centers, self.comparison)

    def measure(
        self, centers: Centers, tally: Tally | SoftTally, last: Tally | SoftTally | None
    ) -> Round:
        """Return the expected cost, and the Hamming cost to the modes."""
        plan = self.plan
        expected = self.fit.expected_cost(tally.counts)
        return Round(
            cost=in_weights(
                modes_cost(tally.counts, plan.feature_weight, self.store.n_threads), plan.unit
            ),
            expected_cost=expected * plan.unit,
            clusters=int(np.count_nonzero(tally.cluster_sizes)),
            moved=not same_partition(tally, last),
            stage="gini",
            objective=expected * plan.unit,
        )

    def replaces(self, latest: Round, chosen: Round) -> bool:
        """Tell whether the expected cost is lower; the first partition by prices always counts.

        It costs no more than that of drawn centers, but for what rounding of prices may add.
        """
        return chosen.stage != "gini" or latest.expected_cost < chosen.expected_cost

    def at_rest(self, latest: Round, chosen: Round | None) -> bool:
        """Tell whether the expected cost has not become lower."""
        return chosen is not None and not latest.expected_cost < chosen.expected_cost


@dataclass(frozen=True, eq=False)
class Latent(Stage):
    """The latent class model, by expectation and maximisation."""

    name = "latent"

    @property
    def _pricing(self) -> Pricing:
        return self.fit.pricing["latent"]

    def first_centers(self, before: Run | None) -> ScoreCenters:
        """Return the prices of a partition whose rows are nearly sure of their clusters."""
        assert before is not None
        if isinstance(before.tally, SoftTally):
            return self.next_centers(before.centers, before.tally, 0)
        counts, sizes = before.tally.counts, before.tally.cluster_sizes
        k = self.plan.k
        # Rows of weights that were made whole by a large power of two lose some of their last bits.
        less = max(0, (_ALL * k * self._pricing.total_weight).bit_length() - 62)
        sure = NearlySure(_SURE * k, less)
        # Not smeared over all clusters, which would take memory for each value of each.
        wide = counts.wide
        sparse = wide.with_counts((_ALL * k) * (wide.counts >> less)) if counts.sparse else {}
        return self._pricing.scores(
            Counts(counts.layout, counts.n_values, counts.dense, sparse),
            (_SURE * k) * (sizes >> less) + (int(sizes.sum()) >> less),
            math.ldexp(_ALL * k, -less),
            nearly_sure=sure,
        )

    def next_centers(
        self, centers: Centers, tally: Tally | SoftTally, n_rounds: int
    ) -> ScoreCenters:
        """Return the prices of shared rows."""
        assert isinstance(centers, ScoreCenters)
        scale = 1 << MEMBERSHIP_BITS
        return self._pricing.scores(tally.counts, tally.cluster_sizes, scale, centers)

    def tally(self, centers: Centers) -> SoftTally:
        """Share every row among the clusters."""
        assert isinstance(centers, ScoreCenters)
        return self.store.soft_tally(centers, self.comparison)

    def measure(
        self, centers: Centers, tally: Tally | SoftTally, last: Tally | SoftTally | None
    ) -> Round:
        """Return minus the log-likelihood with its prior, in nats."""
        assert isinstance(centers, ScoreCenters)
        assert isinstance(tally, SoftTally)
        plan = self.plan
        unit = plan.unit / (1 << MEMBERSHIP_BITS)
        expected = self.fit.expected_cost(tally.counts)
        return Round(
            cost=None,
            expected_cost=expected * unit,
            clusters=int(np.count_nonzero(tally.cluster_sizes)),
            moved=not same_shares(tally, last),
            stage="latent",
            objective=-math.log(2) * plan.row_unit * self._pricing.log_posterior(centers, tally),
        )

    def replaces(self, latest: Round, chosen: Round) -> bool:
        """Tell whether the objective is lower."""
        assert latest.objective is not None
        return chosen.stage != "latent" or latest.objective < objective_of(chosen)

    def at_rest(self, latest: Round, chosen: Round | None) -> bool:
        """Tell whether the objective has hardly changed; one cluster is at rest from the first.

        So is a round that has shared the rows as the last one did: the next would do it again.
        """
        if self.plan.k == 1 or not latest.moved:
            return True
        if chosen is None or chosen.stage != "latent":
            return False
        now, least = objective_of(latest), LEAST_CHANGE * self.plan.row_unit * self._total_weight
        return abs(now - objective_of(chosen)) <= max(REST * abs(now), least)

    @property
    def _total_weight(self) -> int:
        return self._pricing.total_weight


def objective_of(round_: Round) -> float:
    """Return what restarts are compared by: the objective of a finish, else the expected cost."""
    return round_.expected_cost if round_.objective is None else round_.objective


def same_shares(tally: SoftTally, last: Tally | SoftTally | None) -> bool:
    """Tell whether two soft passes counted the same: so will the next, by the same prices."""
    if not isinstance(last, SoftTally):
        return False
    same_sizes = np.array_equal(tally.cluster_sizes, last.cluster_sizes)
    return same_sizes and tally.counts.equals(last.counts)


def same_partition(tally: Tally | SoftTally, last: Tally | SoftTally | None) -> bool:
    """Tell whether two passes gave every row to the same cluster."""
    if isinstance(tally, Tally) and isinstance(last, Tally):
        return tally.fingerprint == last.fingerprint
    return False
