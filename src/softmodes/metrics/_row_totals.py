"""A number for every row and cluster: the sum over the row's cells of what each is worth there.

In its own cluster a row is left out. There each cell is worth what it is by the counts less one,
which depends on cluster and value alone: so it comes from a table as well, and no row needs counts
of its own. A row is left out as one row, whatever its weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from softmodes._rows.block import Block, Layout, unpack
from softmodes._rows.clusters import Floats, Some
from softmodes.metrics._partition import Partition

Labels: TypeAlias = NDArray[np.int32]
# Of a table of rows and columns, or rows and clusters, that is made piece by piece.
_CELLS_AT_ONCE = 1 << 18


class Worth(Protocol):
    """What a cell is worth in a cluster: that of any value, and a bonus for values found there."""

    def default(self, observed: Floats, mismatch: Floats) -> Floats:
        """Return it for a value that was not found, by how often the feature was observed.

        `mismatch` is the probability that two rows of the table differ in the feature.
        """

    def bonus(self, counts: Floats, observed: Floats, shares: Floats) -> Floats:
        """Return what is added, by how often the value was found: nothing if never."""


@dataclass(frozen=True, eq=False)
class _Wide:
    """Worth of a feature with sparse counts: default[cluster] + bonus[value, cluster]."""

    default: Floats
    bonus: csr_array[Any, Any]

    def of(self, codes: NDArray[np.intp]) -> Floats:
        """Return the worth of codes in every cluster."""
        found: Floats = self.bonus[codes].toarray() + self.default
        return found

    def in_one(self, codes: NDArray[np.intp], labels: Labels) -> Floats:
        """Return the worth of each code in one cluster."""
        found: Floats = np.asarray(self.bonus[codes, labels]).ravel() + self.default[labels]
        return found


@dataclass(frozen=True, eq=False)
class Table:
    """Worth of every value in every cluster, among all rows and among all others.

    Dense features are one beside the other, as in dense counts. A cell that holds no value is worth
    nothing.
    """

    layout: Layout
    n_values: NDArray[np.int32]
    dense: Floats  # by cell of the dense counts, and cluster
    own: Floats  # by cluster and cell
    wide: dict[int, tuple[_Wide, _Wide]]

    def totals(self, codes: NDArray[np.int32], labels: Labels) -> Floats:
        """Return what rows are worth in all clusters; in its own, each among the others."""
        some = np.flatnonzero(np.diff(self.layout.offsets))
        cells = (codes[:, some] + self.layout.offsets[some]).astype(np.int32)
        ends = np.arange(len(cells) + 1) * len(some)
        shape = (len(cells), len(self.dense))
        rows = csr_array((np.ones(cells.size), cells.ravel(), ends), shape=shape)
        totals: Floats = np.asarray(rows @ self.dense)
        at = labels.astype(np.intp)
        own = np.take(self.own, at[:, None] * len(self.dense) + cells).sum(axis=1)
        for j, (wide, wide_own) in self.wide.items():
            seen = np.flatnonzero(codes[:, j] < self.n_values[j])
            found = codes[seen, j].astype(np.intp)
            totals[seen] += wide.of(found)
            own[seen] += wide_own.in_one(found, labels[seen])
        totals[np.arange(len(cells)), at] = own
        return totals

    @classmethod
    def of(cls, partition: Partition, worth: Worth) -> Table:
        """Return the worth of all values."""
        counts = partition.counts
        dense, own = np.zeros(counts.dense.shape), np.zeros(counts.dense.shape)
        some = partition.dense
        if some is not None:
            for table, less in ((dense, 0.0), (own, 1.0)):
                default, bonus = _worth_of(worth, some, less)
                table[:, partition.value_cells] = some.spread(default) + bonus
        wide = {}
        for j in counts.sparse:
            among_all, among_others = (
                _Wide(default[:, 0], csr_array(bonus.T))
                for default, bonus in (_worth_of(worth, partition.wide(j), x) for x in (0.0, 1.0))
            )
            wide[j] = among_all, among_others
        return cls(counts.layout, counts.n_values, np.ascontiguousarray(dense.T), own, wide)


def _worth_of(worth: Worth, some: Some, less: float) -> tuple[Floats, Floats]:
    """Return default and bonus of some features, with counts that are less."""
    mismatch = 1.0 - some.sums(some.shares * some.shares)
    observed = np.maximum(some.observed - less, 0.0)
    found = np.maximum(some.counts - less, 0.0)
    bonus = worth.bonus(found, some.spread(observed), some.shares)
    if some.weight is not None:
        bonus *= some.spread(some.weight)
    return some.weighed(worth.default(observed, mismatch)), bonus


Found = TypeVar("Found", bound=NDArray[Any])
# What is found of some rows: by their totals, labels and weights.
Measure: TypeAlias = Callable[[Floats, Labels, Floats], Found]


def sum_over_rows(
    partition: Partition, table: Table, measure: Measure[NDArray[np.int64]]
) -> NDArray[np.int64]:
    """Return the sum of what a function makes of the totals, labels and weights of some rows.

    It returns integers, so that neither the order of the rows nor their cut into blocks matters.
    """
    return partition.store.sum(_task(partition, table, measure, _added))


def of_each_row(partition: Partition, table: Table, measure: Measure[Floats]) -> Floats:
    """Return what a function finds for every row, given the totals of some of them."""
    found: Floats = partition.store.by_row(_task(partition, table, measure, np.concatenate))
    return found


def _added(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return reduce(add, parts)


def _task(
    partition: Partition,
    table: Table,
    measure: Measure[Found],
    join: Callable[[list[Found]], Found],
) -> Callable[[Block, int], Found]:
    return partial(
        _measured,
        table=table,
        labels=partition.labels,
        row_scale=partition.row_scale,
        measure=measure,
        join=join,
    )


def _measured(
    block: Block,
    n_threads: int,
    table: Table,
    labels: Labels,
    row_scale: float,
    measure: Measure[Found],
    join: Callable[[list[Found]], Found],
) -> Found:
    k = table.dense.shape[1]
    at_once = max(1, _CELLS_AT_ONCE // max(k, block.layout.n_features))
    found = []
    for start in range(0, block.n_rows, at_once):
        rows = np.arange(start, min(start + at_once, block.n_rows))
        mine = labels[block.first_row + rows]
        weight = np.ones(len(rows))
        if block.weight is not None:
            weight = np.multiply(block.weight[rows], row_scale, dtype=np.float64)
        found.append(measure(table.totals(unpack(block, rows), mine), mine, weight))
    return join(found)
