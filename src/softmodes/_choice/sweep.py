"""All statistics for every number of clusters up to some k, in one go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from softmodes._algorithm.plan import Plan
from softmodes._choice.chain import CHAIN_ABOVE, Level, Levels, chain
from softmodes._choice.criteria import aic3, bic, explained, n_parameters
from softmodes._choice.rule import Choice, Statistics, Thresholds, choose
from softmodes._choice.samples import found_again, sample_size
from softmodes._estimators.soft_modes import SoftModes
from softmodes._parameters import check_most, thread_count, whole
from softmodes._rows.stores import Opened, open_store
from softmodes._table.codebook import checked_missing
from softmodes.metrics._evidence import deciding_columns_of, icl_of, line_share_of
from softmodes.metrics._partition import row_scale
from softmodes.metrics._separation import silhouette_of, valley_of

_STARTS = 3


@dataclass(frozen=True, eq=False)
class Sweep:
    """What is known of every number of clusters, the partitions, and the choice among them."""

    statistics: tuple[Statistics, ...]
    levels: tuple[Level, ...]
    choice: Choice


def sweep(
    X: Any,
    most: int = 8,
    *,
    missing: str = "category",
    sample_weight: Any = None,
    n_samples: int = 2,
    n_init: int = _STARTS,
    levels: Levels = chain,
    thresholds: Thresholds | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Sweep:
    """Cluster a table into 1 to `most` clusters, and tell how many there are.

    `found_again` is the mean agreement (ARI) of fits on `n_samples` random samples of 80 % of the
    rows, on the rows that two of them share. `levels` says how the fits are made.
    """
    opened = open_store(
        X,
        missing=checked_missing(missing),
        sample_weight=sample_weight,
        n_threads=thread_count(n_jobs),
    )
    store, scale = opened.store, row_scale(opened.store, opened.rows)
    samples = [sample_size(store.n_rows)] * (n_samples > 0)
    most = whole("most", most, 1)
    check_most("most", most, "the rows of a sample", min([store.n_rows, *samples]))
    plan = _plan(opened, most, missing, n_init, random_state)
    found = list(levels(store, plan, most, scale))
    again = found_again(store, plan, most, scale, n_samples, levels)
    statistics = tuple(_statistics(level, again.get(level.k, np.nan)) for level in found[::-1])
    return Sweep(statistics, tuple(found[::-1]), choose(statistics, thresholds))


def _plan(opened: Opened, most: int, missing: str, n_init: int, random_state: Any) -> Plan:
    top = min(most + CHAIN_ABOVE, opened.store.n_rows)
    model = SoftModes(top, n_init=n_init, missing=missing, random_state=random_state)
    return model._plan(opened, None)


def _statistics(level: Level, again: float) -> Statistics:
    partition = level.partition
    parameters = n_parameters(partition)
    return Statistics(
        k=level.k,
        icl=icl_of(partition),
        valley=valley_of(partition),
        found_again=again,
        silhouette=silhouette_of(partition),
        aic3=aic3(level.log_likelihood, parameters),
        bic=bic(level.log_likelihood, parameters, partition.n_rows),
        deciding_columns=deciding_columns_of(partition),
        line_share=line_share_of(partition),
        explained=explained(partition),
        smallest=float(partition.sizes.min()),
        n_rows=partition.n_rows,
    )
