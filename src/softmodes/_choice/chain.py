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

from softmodes import _kernels
from softmodes._algorithm.loop import best_run, run_from
from softmodes._algorithm.plan import Plan, Run
from softmodes._algorithm.stages import Fit
from softmodes._rows.centers import CodeCenters, ScoreCenters
from softmodes._rows.stores import RowStore
from softmodes._rows.tally import Tally
from softmodes.metrics._partition import Floats, Partition, Some, feature_scale

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

    The first run has more clusters than are asked for: its worst ones are merged on the way.
    """
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
        a, b = cheapest_pair(level.partition)
        fit = Fit(store, replace(plan, k=level.k - 1))
        kept = np.delete(np.arange(level.k), b)
        run = run_from(fit, run.tally.merge(a, b), CodeCenters(run.drawn.codes[kept]), run.index)


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
            fit.store, labels, tally.counts, tally.cluster_sizes, row_scale, weight
        ),
        log_likelihood=bits * row_scale * math.log(2),
    )


def cheapest_pair(partition: Partition) -> tuple[int, int]:
    """Return the two clusters whose merging loses the least log-likelihood of the labelled rows.

    That is the log-likelihood of labels and rows together, with the shares that were counted.
    """
    k, sizes = partition.n_clusters, partition.sizes
    alone = _n_log_n(sizes)
    loss = alone[:, None] + alone - _n_log_n(sizes[:, None] + sizes)
    for some in partition.features():
        loss += _loss(some)
    loss[np.tril_indices(k)] = np.inf
    a, b = np.unravel_index(np.argmin(loss), loss.shape)
    return int(a), int(b)


def _loss(some: Some) -> Floats:
    alone = _log_likelihoods(some, some.counts)
    joined = [_log_likelihoods(some, some.counts + counts) for counts in some.counts]
    loss: Floats = alone[:, None] + alone - np.stack(joined)
    return loss


def _log_likelihoods(some: Some, counts: Floats) -> Floats:
    """Return the log-likelihood of counted cells with their own shares, by cluster."""
    by_feature = some.sums(_n_log_n(counts)) - _n_log_n(some.sums(counts))
    by_cluster: Floats = some.weighed(by_feature).sum(axis=1)
    return by_cluster


def _n_log_n(counts: Floats) -> Floats:
    """Return n log n; by our own logarithm, so that the same pair is merged on every machine."""
    logs = _kernels.portable_log2(np.ascontiguousarray(np.where(counts > 0, counts, 1.0).ravel()))
    found: Floats = counts * logs.reshape(counts.shape)
    return found
