"""A clustering that learns batch by batch: decayed counts -> the next centers.

The first batch is clustered by the loop. Every later one makes a single pass: its counts are added
to those so far, which decay with every row, and the next centers are drawn from the sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from functools import partial

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.cost import expected_cost, modes_cost
from softmodes._algorithm.draw import Draw
from softmodes._algorithm.loop import best_run
from softmodes._algorithm.plan import Plan, Round, Run
from softmodes._algorithm.randomness import Use, address, fold_array, integers_below
from softmodes._algorithm.scores import FINEST_RESOLUTION, Pricing
from softmodes._algorithm.seeding import Seeding, complete
from softmodes._rows.block import Block
from softmodes._rows.centers import Centers, CodeCenters, largest_distance
from softmodes._rows.counts import FACTOR_BITS, Counts, scaled
from softmodes._rows.stores.base import RowStore
from softmodes._rows.tally import Tally, nearest_distances
from softmodes._rows.weights import in_weights
from softmodes.rounding import plurality

# Costs of all rows stay below the first power of two; the counts of the first batch are made as
# fine as the second allows.
COST_BITS = 62
_FIRST_COST_BITS = 55
# Batches without a row after which a cluster is dead.
MOST_IDLE = 10


@dataclass(frozen=True, eq=False)
class Learned:
    """What some batches have taught: a value.

    Counts and cluster sizes are weights in units of 2**-`exponent`, decayed. `centers` are those
    that the next batch is compared with, `idle` the batches since each cluster last won a row, and
    `run` tells by which chances ties and draws go.
    """

    centers: CodeCenters
    counts: Counts
    cluster_sizes: NDArray[np.int64]
    exponent: int
    idle: NDArray[np.int64]
    n_steps: int
    run: int

    @property
    def unit(self) -> float:
        """The weight of one unit of the counts."""
        return math.ldexp(1.0, -self.exponent)

    def reorder(self, order: NDArray[np.signedinteger]) -> Learned:
        """Return the same with clusters renumbered: new cluster i was `order[i]`."""
        return replace(
            self,
            centers=self.centers.reorder(order),
            counts=self.counts.reorder(order),
            cluster_sizes=self.cluster_sizes[order],
            idle=self.idle[order],
        )

    def by_size(self) -> Learned:
        """Return the same with clusters numbered by size, the largest first."""
        return self.reorder(np.argsort(-self.cluster_sizes, kind="stable"))


@dataclass(frozen=True, eq=False)
class Steps:
    """How a clustering learns from batches, each given as a store of rows that have weight.

    The unit of a store's weights is a power of two.
    """

    plan: Plan
    half_life: float  # rows after which a row counts half; math.inf if they never do

    def learned(self, before: Learned | None, batch: RowStore, unit: float) -> Learned:
        """Learn from a batch: the first, or one more."""
        return self.first(batch, unit) if before is None else self.next(before, batch, unit)

    def first(self, batch: RowStore, unit: float) -> Learned:
        """Cluster the first batch, by size unless seeds were given."""
        plan = replace(self.plan, row_unit=unit)
        run = best_run(batch, plan)
        assert isinstance(run.tally, Tally)
        finer = _FIRST_COST_BITS - self._cost_bits(run.tally)
        found = Learned(
            centers=run.drawn,
            counts=run.tally.counts.scaled(1 << FACTOR_BITS, -finer),
            cluster_sizes=scaled(run.tally.cluster_sizes, 1 << FACTOR_BITS, -finer),
            exponent=_exponent(unit) + finer,
            idle=np.zeros(plan.k, np.int64),
            n_steps=1,
            run=run.index,
        )
        found = found.by_size() if isinstance(plan.init, str) else found
        return self._with_next_centers(found, batch.n_threads)

    def next(self, before: Learned, batch: RowStore, unit: float) -> Learned:
        """Learn from one more batch."""
        centers, before = self._centers_for(before, batch)
        tally = batch.tally(centers, self.plan.comparison(before.run))
        faded = decay(batch.n_rows, self.half_life)
        finer = before.exponent - _exponent(unit)
        # Half of what there is room for is left to what there was.
        coarser = max(0, self._cost_bits(before) - COST_BITS + 1)
        coarser = max(coarser, self._cost_bits(tally) + finer - COST_BITS + 1)
        to_unit = 1 << FACTOR_BITS, coarser - finer
        won = tally.cluster_sizes > 0
        found = Learned(
            centers=centers,
            counts=before.counts.scaled(faded, coarser) + tally.counts.scaled(*to_unit),
            cluster_sizes=scaled(before.cluster_sizes, faded, coarser)
            + scaled(tally.cluster_sizes, *to_unit),
            exponent=before.exponent - coarser,
            idle=np.where(won, 0, before.idle + 1),
            n_steps=before.n_steps + 1,
            run=before.run,
        )
        return self._with_next_centers(found, batch.n_threads)

    def outcome(self, learned: Learned, store: RowStore | None = None) -> Run:
        """Return what was learned as the outcome of a run: on the rows of a store, else as counted.

        The unit of the plan is that of the rows, or of the counts.
        """
        plan, model = self.plan, self.model(learned)
        if store is None:
            tally = Tally(learned.counts, learned.cluster_sizes, cost=0, fingerprint=0)
        else:
            tally = store.tally(model, plan.comparison(learned.run))
        drawn = model if isinstance(model, CodeCenters) else self._modes(tally.counts, learned)
        if store is None or drawn is not model:
            tally = replace(tally, cost=modes_cost(tally.counts, plan.feature_weight))
        expected = expected_cost(tally.counts, plan.feature_weight) * plan.unit
        found = Round(
            cost=in_weights(tally.cost, plan.unit),
            expected_cost=expected,
            clusters=int(np.count_nonzero(tally.cluster_sizes)),
            moved=True,
            stage="modes" if drawn is model else "gini",
            objective=None if drawn is model else expected,
        )
        return Run(learned.run, model, drawn, tally, (found,), best_round=0)

    def model(self, learned: Learned) -> Centers:
        """Return what rows are compared with in the end: modes, or prices of what was counted."""
        if self.plan.refine is None:
            return self._modes(learned.counts, learned)
        counts, sizes, weight = learned.counts, learned.cluster_sizes, self.plan.feature_weight
        pricing = Pricing(
            rule="gini",
            totals=counts.as_one_cluster(),
            total_weight=int(sizes.sum()),
            prior=0.0,
            feature_weight=None if weight is None else weight / weight[weight > 0].mean(),
            most_resolution=FINEST_RESOLUTION,
        )
        return pricing.scores(counts, sizes, 1)

    def _modes(self, counts: Counts, learned: Learned) -> CodeCenters:
        draw = Draw(plurality, self.plan.seed)
        return draw(counts, learned.centers, learned.run, 0)

    def _with_next_centers(self, learned: Learned, n_threads: int) -> Learned:
        """Draw centers, by chances of the number of batches so far."""
        run = learned.run
        draw = Draw(self.plan.rounding_of(run), self._batch_seed(run), n_threads=n_threads)
        return replace(learned, centers=draw(learned.counts, learned.centers, run, learned.n_steps))

    def _centers_for(self, learned: Learned, batch: RowStore) -> tuple[CodeCenters, Learned]:
        """Return the centers that a batch is compared with: complete, the dead ones seeded again.

        What a cluster held that is seeded again is forgotten.
        """
        weight, run = self.plan.feature_weight, learned.run
        seeding = Seeding(batch, self.plan.k, self._batch_seed(run), run, weight)
        centers = complete(seeding, learned.centers.codes)
        dead = (learned.cluster_sizes == 0) | (learned.idle >= MOST_IDLE)
        if not dead.any():
            return CodeCenters(centers), learned
        key = address(self._batch_seed(run), run, Use.SEED, learned.n_steps)
        centers, seeded = seed_again(centers, dead, batch, weight, key)
        return CodeCenters(complete(seeding, centers)), replace(
            learned,
            counts=learned.counts.without(seeded),
            cluster_sizes=np.where(seeded, 0, learned.cluster_sizes),
            idle=np.where(seeded, 0, learned.idle),
        )

    def _batch_seed(self, run: int) -> int:
        return address(self.plan.seed, run, Use.BATCH)

    def _cost_bits(self, found: Learned | Tally) -> int:
        """Return the bits that the largest cost of counted rows may take."""
        largest = self.largest_distance(found.counts.layout.n_features)
        return (int(found.cluster_sizes.sum()) * largest).bit_length()

    def largest_distance(self, n_features: int) -> int:
        """Return the distance of a row and a center that differ everywhere."""
        return largest_distance(n_features, self.plan.feature_weight)


def decay(n_rows: int, half_life: float) -> int:
    """Return what counts are multiplied by after some rows, in units of 2**-FACTOR_BITS.

    By decimal arithmetic, which is the same on every machine.

    Examples
    --------
    >>> decay(500, 1000.0) / 2**FACTOR_BITS
    0.7071067811921239
    """
    with localcontext(prec=40):
        factor = Decimal(2) ** (Decimal(-n_rows) / Decimal(half_life))
        return int((factor * (1 << FACTOR_BITS)).to_integral_value())


def seed_again(
    centers: NDArray[np.int32],
    dead: NDArray[np.bool_],
    batch: RowStore,
    feature_weight: NDArray[np.uint32] | None,
    key: int,
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Move dead centers to rows of a batch, drawn by distance to the others; tell which were moved.

    That is D1, with the living for its first seeds. Where every row coincides with a center, the
    other dead ones stay where they are.
    """
    distances = partial(_weighed_distances, batch, feature_weight=feature_weight)
    centers, seeded = centers.copy(), np.zeros_like(dead)
    shares = distances(centers[~dead])
    for cluster in np.flatnonzero(dead):
        ends = np.cumsum(shares)
        if ends[-1] == 0:
            break
        ticket = integers_below(fold_array(key, np.array([cluster])), int(ends[-1]))
        seed = batch.rows(np.searchsorted(ends, ticket, side="right"))
        centers[cluster], seeded[cluster] = seed[0], True
        shares = np.minimum(shares, distances(seed))
    return centers, seeded


def _weighed_distances(
    batch: RowStore, centers: NDArray[np.int32], feature_weight: NDArray[np.uint32] | None
) -> NDArray[np.int64]:
    """Return the distance of every row to the nearest of some centers, times its weight."""
    task = partial(_weighed_here, centers=CodeCenters(centers), feature_weight=feature_weight)
    return np.concatenate(batch.map(task))


def _weighed_here(
    block: Block, n_threads: int, centers: CodeCenters, feature_weight: NDArray[np.uint32] | None
) -> NDArray[np.int64]:
    distances = nearest_distances(block, centers, feature_weight, n_threads).astype(np.int64)
    return distances if block.weight is None else distances * block.weight


def _exponent(unit: float) -> int:
    """Return minus the binary logarithm of a power of two."""
    return 1 - math.frexp(unit)[1]
