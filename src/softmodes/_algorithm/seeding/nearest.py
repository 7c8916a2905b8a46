"""The distance of every row to the nearest seed so far, kept with its block: tasks of D1.

A task is a function here, given `SeedsSoFar` and little else. What it finds out stays with the
block, and is told by its content; lost, it is found out anew, and the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._algorithm.seeding.base import Seeds
from softmodes._algorithm.seeding.tickets import Shares
from softmodes._rows.block import Block
from softmodes._rows.centers import CodeCenters, largest_distance, same_weight
from softmodes._rows.tally import nearest_distances

SomeRows: TypeAlias = NDArray[np.int64] | slice


@dataclass(frozen=True, eq=False)
class SeedsSoFar:
    """The seeds that distances are asked for; if `sparing`, blocks keep as little as they can."""

    seeds: Seeds
    feature_weight: NDArray[np.uint32] | None = None
    sparing: bool = False

    def go_on_from(self, before: SeedsSoFar) -> bool:
        """Tell whether these are seeds asked for before, and more; by content."""
        if self is before:
            return True
        alike = same_weight(self.feature_weight, before.feature_weight)
        return alike and np.array_equal(self.seeds[: len(before.seeds)], before.seeds)


@dataclass(frozen=True, eq=False)
class Candidates:
    """Rows of codes, one of which may become the next seed.

    With `compare_all`, distances of all rows are kept; else of the rows nearer than to the seeds.
    """

    codes: Seeds
    compare_all: bool


@dataclass(frozen=True, eq=False)
class _NearerRows:
    """Rows of a block, at least those nearer to candidates than to the seeds when these were drawn.

    They are listed by candidate, from `start` on; without `rows`, all are meant.
    """

    candidates: Candidates
    start: NDArray[np.int64] | range
    rows: NDArray[np.int64] | None
    distances: NDArray[Any]

    def to(self, candidate: int) -> tuple[SomeRows, NDArray[Any]]:
        """Return the rows that may be nearer to one candidate, and their distances."""
        span = slice(self.start[candidate], self.start[candidate + 1])
        return slice(None) if self.rows is None else self.rows[span], self.distances[span]


@dataclass(eq=False)
class SeedDistances:
    """What a block knows of its distances: to the seeds so far, and to the candidates drawn."""

    asked: SeedsSoFar
    current: NDArray[Any]
    nearer: _NearerRows | None = None
    chosen: NDArray[np.intp] | None = None  # the candidates last asked for
    _shares: Shares | None = None

    def shares(self, block: Block) -> Shares:
        """Return what the rows have of all tickets."""
        if self._shares is None:
            weight = block.weight
            self._shares = Shares(self.current if weight is None else self.current * weight)
        return self._shares

    def advance(self, block: Block, n_threads: int, asked: SeedsSoFar) -> None:
        """Bring the distances up to date with further seeds."""
        new = asked.seeds[len(self.asked.seeds) :]
        if len(new) == 0:
            return
        rows, distances = self._kept(new) or _compared(block, n_threads, asked, new)
        self.current[rows] = np.minimum(self.current[rows], distances)
        self.asked = asked
        self._shares = None

    def _kept(self, seeds: Seeds) -> tuple[SomeRows, NDArray[Any]] | None:
        """Return the distances to a seed that was a candidate, if they are known."""
        if self.nearer is None or self.chosen is None or len(seeds) > 1:
            return None
        codes, wanted = self.nearer.candidates.codes, seeds.tobytes()
        alike = (i for i in self.chosen.tolist() if codes[i].tobytes() == wanted)
        found = next(alike, None)
        return None if found is None else self.nearer.to(found)


# --- tasks ---------------------------------------------------------------------------------------


def total_distance(block: Block, n_threads: int, asked: SeedsSoFar) -> int:
    """Return the total distance of the rows of a block to the seeds."""
    return distance_shares(block, n_threads, asked).total


def distance_shares(block: Block, n_threads: int, asked: SeedsSoFar) -> Shares:
    """Return what rows have of all tickets, if tickets are distances to the seeds."""
    known = _up_to_date(block, n_threads, asked)
    shares = known.shares(block)
    _keep(block, known)
    return shares


def gains(
    block: Block,
    n_threads: int,
    asked: SeedsSoFar,
    candidates: Candidates,
    chosen: NDArray[np.intp],
    last: bool,
) -> list[int]:
    """Return by how much each chosen candidate would lower the total distance of a block.

    Nothing is kept with the block after the `last` step.
    """
    known = _up_to_date(block, n_threads, asked)
    if asked.sparing:
        candidates = Candidates(candidates.codes[chosen], compare_all=True)
    if candidates.compare_all:
        found = _gains_of_all(block, n_threads, known, candidates)
    else:
        if known.nearer is None or not _same(known.nearer.candidates, candidates):
            compared = CodeCenters(candidates.codes).native(asked.feature_weight)
            nearer = _kernels.nearer(block, compared, known.current, n_threads)
            known.nearer = _NearerRows(candidates, *nearer)
        found = [_gain(known.current, block.weight, *known.nearer.to(i)) for i in chosen]
    known.chosen = chosen
    if not last:
        _keep(block, known)
    return found


def forget_distances(block: Block, n_threads: int) -> None:
    """Drop the distances that are kept with a block."""
    block.cache.take(SeedDistances)


# --- what they share -----------------------------------------------------------------------------


def _up_to_date(block: Block, n_threads: int, asked: SeedsSoFar) -> SeedDistances:
    """Return what is known with these seeds, from the cache or anew; the task keeps it again."""
    dtype = distance_dtype(block.layout.n_features, asked.feature_weight)
    known = block.cache.take(SeedDistances)
    if known is None or not asked.go_on_from(known.asked):
        farthest = np.full(block.n_rows, np.iinfo(dtype).max, dtype)
        known = SeedDistances(replace(asked, seeds=asked.seeds[:0]), farthest)
    known.current = known.current.astype(dtype, copy=False)
    known.advance(block, n_threads, asked)
    return known


def _keep(block: Block, known: SeedDistances) -> None:
    """Keep what is known with the block; of a sparing store, nothing but distances, and narrow."""
    asked = known.asked
    if asked.sparing:
        largest = largest_distance(block.layout.n_features, asked.feature_weight)
        known = SeedDistances(asked, known.current.astype(np.min_scalar_type(largest)))
    block.cache.keep(known)


def _compared(
    block: Block, n_threads: int, asked: SeedsSoFar, seeds: Seeds
) -> tuple[SomeRows, NDArray[Any]]:
    """Compare all rows with some seeds."""
    weight = asked.feature_weight
    distances = nearest_distances(block, CodeCenters(seeds), weight, n_threads)
    return slice(None), distances.astype(distance_dtype(block.layout.n_features, weight))


def _same(some: Candidates, others: Candidates) -> bool:
    return some.compare_all == others.compare_all and np.array_equal(some.codes, others.codes)


def _gains_of_all(
    block: Block, n_threads: int, known: SeedDistances, candidates: Candidates
) -> list[int]:
    """Compare with all candidates of one step, and keep all distances."""
    shape = len(candidates.codes), len(known.current)
    distances = known.nearer.distances if known.nearer else np.empty(0, known.current.dtype)
    if len(distances) != math.prod(shape):
        distances = np.empty(math.prod(shape), known.current.dtype)
    totals = _kernels.candidate_totals(
        block,
        CodeCenters(candidates.codes).native(known.asked.feature_weight),
        known.current,
        distances.reshape(shape),
        n_threads,
    )
    start = range(0, math.prod(shape) + shape[1], shape[1])
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
    """Return the narrowest type that holds every distance and that the core takes."""
    return np.uint16 if largest_distance(n_features, feature_weight) < 65536 else np.uint32
