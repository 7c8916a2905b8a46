"""The distance of every row to the nearest seed so far, kept with its block: tasks of D1.

A task is a function here, given `SeedsSoFar` and little else. What it finds out stays with the
block; lost, it is found out anew, and the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._algorithm.seeding.base import Seeds
from softmodes._algorithm.seeding.tickets import Shares
from softmodes._rows.block import Block
from softmodes._rows.centers import CodeCenters, largest_distance
from softmodes._rows.tally import nearest_distances

SomeRows: TypeAlias = NDArray[np.int64] | slice


@dataclass(frozen=True, eq=False)
class SeedsSoFar:
    """The seeds that distances are asked for; `stamp` tells one run's seeding from another's."""

    stamp: int
    seeds: Seeds
    feature_weight: NDArray[np.uint32] | None = None


@dataclass(frozen=True, eq=False)
class Candidates:
    """Rows of codes, one of which may become the next seed; `step` tells them from others.

    With `compare_all`, distances of all rows are kept; else of the rows nearer than to the seeds.
    """

    step: int
    codes: Seeds
    compare_all: bool


@dataclass(frozen=True, eq=False)
class _NearerRows:
    """Rows of a block, at least those nearer to candidates than to the seeds when these were drawn.

    They are listed by candidate, from `start` on; without `rows`, all are meant.
    """

    candidates: Candidates
    start: NDArray[np.int64]
    rows: NDArray[np.int64] | None
    distances: NDArray[Any]

    def to(self, candidate: int) -> tuple[SomeRows, NDArray[Any]]:
        """Return the rows that may be nearer to one candidate, and their distances."""
        span = slice(self.start[candidate], self.start[candidate + 1])
        return slice(None) if self.rows is None else self.rows[span], self.distances[span]


@dataclass(eq=False)
class SeedDistances:
    """What a block knows of its distances: to the seeds so far, and to the candidates drawn."""

    stamp: int
    n_seeds: int
    current: NDArray[Any]
    nearer: _NearerRows | None = None
    chosen: NDArray[np.intp] | None = None  # the candidates last asked for
    _shares: Shares | None = None

    def are_for(self, asked: SeedsSoFar) -> bool:
        """Tell whether they are, or can be brought, up to date with these seeds."""
        if self.stamp != asked.stamp or self.n_seeds > len(asked.seeds):
            return False
        if self.n_seeds == len(asked.seeds) - 1:
            self._advance(asked.seeds[-1])
        return self.n_seeds == len(asked.seeds)

    def shares(self, block: Block) -> Shares:
        """Return what the rows have of all tickets."""
        if self._shares is None:
            weight = block.weight
            self._shares = Shares(self.current if weight is None else self.current * weight)
        return self._shares

    def _advance(self, seed: Seeds) -> None:
        """Make a candidate the next seed, if it was one."""
        if self.nearer is None or self.chosen is None:
            return
        candidates = self.nearer.candidates.codes[self.chosen]
        found = self.chosen[(candidates == seed).all(axis=1)]
        if not len(found):
            return
        rows, distances = self.nearer.to(found[0])
        self.current[rows] = np.minimum(self.current[rows], distances)
        self.n_seeds += 1
        self._shares = None


# --- tasks ---------------------------------------------------------------------------------------


def total_distance(block: Block, n_threads: int, asked: SeedsSoFar) -> int:
    """Return the total distance of the rows of a block to the seeds."""
    return distance_shares(block, n_threads, asked).total


def distance_shares(block: Block, n_threads: int, asked: SeedsSoFar) -> Shares:
    """Return what rows have of all tickets, if tickets are distances to the seeds."""
    known = _up_to_date(block, n_threads, asked)
    shares = known.shares(block)
    block.cache.keep(known)
    return shares


def shares_of_rows(
    block: Block, n_threads: int, asked: SeedsSoFar, rows: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return which of some rows are in a block, and their shares of all tickets."""
    known = _up_to_date(block, n_threads, asked)
    local = rows - block.first_row
    index = np.flatnonzero((local >= 0) & (local < block.n_rows))
    shares = known.current[local[index]].astype(np.int64)
    block.cache.keep(known)
    return index, shares if block.weight is None else shares * block.weight[local[index]]


def gains(
    block: Block,
    n_threads: int,
    asked: SeedsSoFar,
    candidates: Candidates,
    chosen: NDArray[np.intp],
) -> list[int]:
    """Return by how much each chosen candidate would lower the total distance of a block."""
    known = _up_to_date(block, n_threads, asked)
    known.chosen = chosen
    if candidates.compare_all:
        found = _gains_of_all(block, n_threads, asked, known, candidates)
    else:
        if known.nearer is None or known.nearer.candidates.step != candidates.step:
            compared = CodeCenters(candidates.codes).native(asked.feature_weight)
            nearer = _kernels.nearer(block, compared, known.current, n_threads)
            known.nearer = _NearerRows(candidates, *nearer)
        found = [_gain(known.current, block.weight, *known.nearer.to(i)) for i in chosen]
    block.cache.keep(known)
    return found


def forget_distances(block: Block, n_threads: int) -> None:
    """Drop the distances that are kept with a block."""
    block.cache.take(SeedDistances)


def _up_to_date(block: Block, n_threads: int, asked: SeedsSoFar) -> SeedDistances:
    """Return what is known with these seeds, from the cache or anew; the task keeps it again."""
    known = block.cache.take(SeedDistances)
    if known and known.are_for(asked):
        return known
    seeds, weight = CodeCenters(asked.seeds), asked.feature_weight
    current = nearest_distances(block, seeds, weight, n_threads)
    current = current.astype(distance_dtype(block.layout.n_features, weight))
    return SeedDistances(asked.stamp, len(seeds), current)


def _gains_of_all(
    block: Block, n_threads: int, asked: SeedsSoFar, known: SeedDistances, candidates: Candidates
) -> list[int]:
    """Compare with all candidates of one step, and keep all distances."""
    shape = len(candidates.codes), len(known.current)
    distances = known.nearer.distances if known.nearer else np.empty(0, known.current.dtype)
    if len(distances) != math.prod(shape):
        distances = np.empty(math.prod(shape), known.current.dtype)
    totals = _kernels.candidate_totals(
        block,
        CodeCenters(candidates.codes).native(asked.feature_weight),
        known.current,
        distances.reshape(shape),
        n_threads,
    )
    start = np.arange(shape[0] + 1) * shape[1]
    known.nearer = _NearerRows(candidates, start, None, distances)
    return (known.shares(block).total - totals).tolist()  # type: ignore[no-any-return]


def _gain(
    current: NDArray[Any],
    weight: NDArray[np.int64] | None,
    rows: SomeRows,
    distances: NDArray[Any],
) -> int:
    before = current[rows]
    lowered = before - np.minimum(before, distances)
    return int(lowered.sum(dtype=np.int64) if weight is None else lowered @ weight[rows])


def distance_dtype(n_features: int, feature_weight: NDArray[np.uint32] | None) -> type[Any]:
    """Return the narrowest type that holds every distance."""
    return np.uint16 if largest_distance(n_features, feature_weight) < 65536 else np.uint32
