"""All statistics for every number of clusters up to some k, in one go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.plan import Plan
from softmodes._choice.chain import Level, Levels, chain
from softmodes._choice.criteria import aic3, bic, explained, n_parameters
from softmodes._choice.rule import Statistics
from softmodes._choice.samples import found_again, mean_agreement
from softmodes._choice.shuffled import shuffled_explained
from softmodes._model.clustering import lead
from softmodes._rows.centers import ScoreCenters
from softmodes._rows.clusters import row_scale
from softmodes._rows.stores import Opened
from softmodes.metrics._evidence import deciding_of, icl_of, line_share_of
from softmodes.metrics._separation import silhouette_of, valley_of

# A row is tied that its group leads by less than this, in probability.
TIED = 0.1

Refits: TypeAlias = Callable[[int], list[NDArray[np.int32]]]


@dataclass(frozen=True)
class Effort:
    """How the levels are made, and with how many fits each is compared.

    `n_samples` random parts of the rows are fitted to be compared with each other; `refits` gives
    the labels of other fits of all rows into k clusters.
    """

    n_samples: int = 3
    refits: Refits | None = None
    shuffle: bool = True
    levels: Levels = chain


def measure(
    opened: Opened, plan: Plan, most: int, effort: Effort
) -> tuple[tuple[Statistics, ...], tuple[Level, ...]]:
    """Return the statistics and partitions of 1 to `most` clusters."""
    store, scale, levels = opened.store, row_scale(opened.store, opened.rows.unit), effort.levels
    missing, weight = missing_codes(opened), opened.rows.counts
    found = list(levels(store, plan, most, scale))[::-1]
    again = found_again(store, plan, most, scale, effort.n_samples, levels)
    noise = shuffled_explained(opened, plan, most, scale, levels) if effort.shuffle else {}
    statistics = []
    for level in found:
        refits = effort.refits(level.k) if effort.refits else []
        statistics.append(
            _statistics(
                level,
                missing,
                tied=tied_share(level, weight),
                found_again=again.get(level.k, np.nan),
                shuffled=noise.get(level.k, np.nan),
                same_again=mean_agreement([level.labels, *refits]),
            )
        )
    return tuple(statistics), tuple(found)


def _statistics(level: Level, missing: NDArray[np.int32], **compared: float) -> Statistics:
    partition = level.partition
    parameters = n_parameters(partition)
    deciding = deciding_of(partition, missing)
    return Statistics(
        k=level.k,
        icl=icl_of(partition),
        valley=valley_of(partition),
        silhouette=silhouette_of(partition),
        aic3=aic3(level.log_likelihood, parameters),
        bic=bic(level.log_likelihood, parameters, partition.n_rows),
        deciding_columns=deciding.columns,
        missing=deciding.missing,
        line_share=line_share_of(partition),
        explained=explained(partition),
        smallest=float(partition.sizes.min()),
        n_rows=partition.n_rows,
        n_columns=partition.store.layout.n_features,
        **compared,
    )


def tied_share(level: Level, weight: NDArray[np.int64] | None) -> float:
    """Return the share of the rows that two clusters fit about equally well."""
    if level.k == 1:
        return 0.0
    assert isinstance(level.run.centers, ScoreCenters)
    store = level.partition.store
    ahead = store.memberships(level.run.centers, level.plan.comparison(level.run.index), lead)
    return float(np.average(ahead < TIED, weights=weight))


def missing_codes(opened: Opened) -> NDArray[np.int32]:
    """Return the code of missing cells in each column; -1 where these are no value."""
    codebook = opened.codebook
    known = np.array([len(column.array) for column in codebook.columns], np.int32)
    is_value = np.array(codebook.has_missing) & (codebook.missing == "category")
    return np.where(is_value, known, np.int32(-1))
