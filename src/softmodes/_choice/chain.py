"""Partitions into ever fewer clusters: the cheapest pair is merged, and all are refined again.

One chain finds partitions as good as ten fresh starts for each number of clusters do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.loop import best_run, run_from
from softmodes._algorithm.merging import merged
from softmodes._algorithm.plan import Plan, Run
from softmodes._algorithm.stages import Fit
from softmodes._rows.centers import ScoreCenters
from softmodes._rows.clusters import feature_scale
from softmodes._rows.stores import RowStore
from softmodes._rows.tally import Tally
from softmodes.metrics._partition import Partition

# How far above the largest number of clusters that is asked for a chain begins.
CHAIN_ABOVE = 2


@dataclass(frozen=True, eq=False)
class Level:
    """A partition into k clusters, and the run that found it."""

    plan: Plan
    run: Run
    partition: Partition
    log_likelihood: float  # in nats

    @property
    def k(self) -> int:
        """Number of clusters, empty ones included."""
        return self.plan.k

    @property
    def labels(self) -> NDArray[np.int32]:
        """The cluster of every row."""
        return self.partition.labels


Levels: TypeAlias = Callable[[RowStore, Plan, int, float], Iterator[Level]]


def chain(store: RowStore, plan: Plan, most: int, row_scale: float) -> Iterator[Level]:
    """Yield a level for each number of clusters from `most` down to 1.

    The first run has more clusters than are asked for: its worst ones are merged on the way, so
    that its starts need no spare ones, and are not crossed.
    """
    plan = replace(plan, spare=0, crossed=0)
    top = replace(plan, k=min(most + CHAIN_ABOVE, store.n_rows))
    fit = Fit(store, top)
    run = best_run(store, top)
    while True:
        assert isinstance(run.tally, Tally)
        level = _level(fit, run, row_scale)
        if level.k <= most:
            yield level
        if level.k == 1:
            return
        fit = Fit(store, replace(plan, k=level.k - 1))
        run = run_from(fit, *merged(run.tally, run.drawn, level.partition), run.index)


def fresh(store: RowStore, plan: Plan, most: int, row_scale: float) -> Iterator[Level]:
    """Yield a level for each number of clusters from `most` down to 1, each from its own seeds."""
    for k in range(min(most, store.n_rows), 0, -1):
        fit = Fit(store, replace(plan, k=k))
        yield _level(fit, best_run(store, fit.plan), row_scale)


def _level(fit: Fit, run: Run, row_scale: float) -> Level:
    assert isinstance(run.tally, Tally)
    assert isinstance(run.centers, ScoreCenters)
    assert run.soft is not None
    bits = fit.pricing["latent"].log_likelihood(run.centers, run.soft)
    labels = fit.store.labels(run.centers, fit.plan.comparison(run.index))
    tally, weight = run.tally, feature_scale(fit.plan.feature_weight)
    return Level(
        plan=fit.plan,
        run=run,
        partition=Partition(
            tally.counts, tally.cluster_sizes, row_scale, weight, store=fit.store, labels=labels
        ),
        log_likelihood=bits * row_scale * math.log(2),
    )
