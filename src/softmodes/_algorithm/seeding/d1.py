"""D1 (k-means++) and greedy D1: rows by their distance to the seeds so far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._algorithm.seeding.base import Codes, Seeding, forget
from softmodes._algorithm.seeding.tickets import Shares, locate, locate_weight
from softmodes._rows.block import Block
from softmodes._rows.tally import largest_distance

# Candidates of the first steps are each near to many rows. Later ones are near to few, and are
# drawn ahead for as many steps as there are groups of so many seeds, up to a limit.
_FIRST_STEPS = 16
_SEEDS_PER_STEP_AHEAD = 4
_STEPS_AHEAD = 64

Rows: TypeAlias = NDArray[np.int64] | slice


def d1(seeding: Seeding, n_candidates: int = 1) -> Codes:
    """Draw rows with probability proportional to the distance to the seeds so far.

    With several candidates per step, the one that lowers the total distance most is kept.
    """
    store, k = seeding.store, seeding.k
    seeds = np.empty((k, store.layout.n_features), np.int32)
    seeds[0] = store.rows(locate_weight(store, seeding.tickets(0, 1, store.total_weight)))[0]
    potential = _Potential(seeding)
    tickets = _TicketsAhead(seeding, potential, n_candidates)
    total = int(potential.totals(seeds[:1]).sum())
    for step in range(1, k):
        if total == 0:
            seeds[step:] = _repeats(seeding, step)
            break
        pool, chosen = tickets.take(seeds[:step])
        gains = potential.gains(seeds[:step], pool, chosen)
        best = int(np.argmax(gains))
        seeds[step] = pool.candidates[chosen[best]]
        total -= int(gains[best])
    potential.forget()
    return seeds


def d1_greedy(seeding: Seeding) -> Codes:
    """Greedy D1 with 2 + floor(ln k) candidates per step."""
    return d1(seeding, n_candidates=2 + int(math.log(seeding.k)))


@dataclass(frozen=True, eq=False)
class _Pool:
    """Candidates drawn ahead, and how far each one's ticket lies in its row's share."""

    step: int
    rows: NDArray[np.int64]
    rests: NDArray[np.int64]
    candidates: Codes


class _TicketsAhead:
    """Candidates of several steps, drawn and compared with all rows together.

    A row's share of the tickets is its distance to the seeds, which only shrinks. A ticket drawn
    some steps ago counts if it lies in what is left of its row's share: then it is one drawn now.
    """

    def __init__(self, seeding: Seeding, potential: _Potential, n_candidates: int) -> None:
        self._seeding = seeding
        self._potential = potential
        self._n_candidates = n_candidates
        nothing = np.empty(0, np.int64)
        self._pool = _Pool(0, nothing, nothing, np.empty((0, 0), np.int32))
        self._unused = np.empty(0, np.intp)

    def take(self, seeds: Codes) -> tuple[_Pool, NDArray[np.intp]]:
        """Return the candidates for the next seed: a pool, and which of it."""
        n = self._n_candidates
        if len(self._unused) >= n:
            shares = self._potential.shares_of(seeds, self._pool.rows[self._unused])
            self._unused = self._unused[self._pool.rests[self._unused] < shares]
        if len(self._unused) < n:
            self._pool = self._draw(seeds)
            self._unused = np.arange(len(self._pool.rows))
        chosen, self._unused = self._unused[:n], self._unused[n:]
        return self._pool, chosen

    def _draw(self, seeds: Codes) -> _Pool:
        step = len(seeds)
        n_steps = 1
        if step >= _FIRST_STEPS:
            n_steps = min(step // _SEEDS_PER_STEP_AHEAD, _STEPS_AHEAD, self._seeding.k - step)
        totals = self._potential.totals(seeds)
        drawn = self._seeding.tickets(step, n_steps * self._n_candidates, int(totals.sum()))
        rows, rests = self._potential.locate(seeds, totals, drawn)
        return _Pool(step, rows, rests, self._seeding.store.rows(rows))


@dataclass(frozen=True, eq=False)
class _Nearer:
    """Rows of a block, at least those nearer to a pool's candidates than to the seeds when drawn.

    They are listed by candidate, from `start` on; without `rows`, all are meant.
    """

    pool: _Pool
    start: NDArray[np.int64]
    rows: NDArray[np.int64] | None
    distances: NDArray[Any]

    def to(self, candidate: int) -> tuple[Rows, NDArray[Any]]:
        """Return the rows that may be nearer to one candidate, and their distances."""
        span = slice(self.start[candidate], self.start[candidate + 1])
        return slice(None) if self.rows is None else self.rows[span], self.distances[span]


@dataclass(eq=False)
class _Known:
    """What a block knows of its distances: to the seeds so far, and to the candidates drawn."""

    stamp: int
    n_seeds: int
    current: NDArray[Any]
    nearer: _Nearer | None = None
    chosen: NDArray[np.intp] | None = None  # the candidates last asked for
    _shares: Shares | None = None

    def advance(self, seed: Codes) -> bool:
        """Make a candidate the next seed; False if it was none."""
        if self.nearer is None or self.chosen is None:
            return False
        candidates = self.nearer.pool.candidates[self.chosen]
        found = self.chosen[(candidates == seed).all(axis=1)]
        if not len(found):
            return False
        rows, distances = self.nearer.to(found[0])
        self.current[rows] = np.minimum(self.current[rows], distances)
        self.n_seeds += 1
        self._shares = None
        return True

    def shares(self, block: Block) -> Shares:
        """Return what the rows have of all tickets."""
        if self._shares is None:
            weight = block.weight
            self._shares = Shares(self.current if weight is None else self.current * weight)
        return self._shares


class _Potential:
    """Distances of all rows to the seeds so far, kept with the blocks."""

    def __init__(self, seeding: Seeding) -> None:
        self._store = seeding.store
        self._stamp = seeding.word_key(-1)
        self._feature_weight = seeding.feature_weight

    def totals(self, seeds: Codes) -> NDArray[np.int64]:
        """Return the total distance by block."""
        return np.array(self._store.map(partial(self._total, seeds=seeds)), np.int64)

    def gains(self, seeds: Codes, pool: _Pool, chosen: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return by how much each chosen candidate would lower the total distance as a seed."""
        task = partial(self._gains, seeds=seeds, pool=pool, chosen=chosen)
        return np.array(self._store.map(task), np.int64).sum(axis=0)  # type: ignore[no-any-return]

    def locate(
        self, seeds: Codes, totals: NDArray[np.int64], drawn: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows in which tickets of [0, total distance) fall, and how far in."""
        return locate(self._store, totals, drawn, partial(self._shares, seeds=seeds))

    def shares_of(self, seeds: Codes, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the tickets that rows have."""
        shares = np.empty(len(rows), np.int64)
        for index, found in self._store.map(partial(self._shares_here, seeds=seeds, rows=rows)):
            shares[index] = found
        return shares

    def forget(self) -> None:
        self._store.map(forget)

    def _total(self, block: Block, n_threads: int, seeds: Codes) -> int:
        return int(self._shares(block, n_threads, seeds).sums.sum())

    def _gains(
        self, block: Block, n_threads: int, seeds: Codes, pool: _Pool, chosen: NDArray[np.intp]
    ) -> list[int]:
        known = self._known(block, n_threads, seeds)
        known.chosen = chosen
        if pool.step < _FIRST_STEPS:
            return self._first_gains(block, n_threads, known, pool)
        if known.nearer is None or known.nearer.pool.step != pool.step:
            weight, current = self._feature_weight, known.current
            found = _kernels.nearer(block, pool.candidates, weight, current, n_threads)
            known.nearer = _Nearer(pool, *found)
        return [_gain(known.current, block.weight, *known.nearer.to(i)) for i in chosen]

    def _first_gains(self, block: Block, n_threads: int, known: _Known, pool: _Pool) -> list[int]:
        """Compare with all candidates of one step, and keep all distances."""
        shape = len(pool.candidates), len(known.current)
        distances = known.nearer.distances if known.nearer else np.empty(0, known.current.dtype)
        if len(distances) != math.prod(shape):
            distances = np.empty(math.prod(shape), known.current.dtype)
        totals = _kernels.candidate_totals(
            block,
            pool.candidates,
            self._feature_weight,
            known.current,
            distances.reshape(shape),
            n_threads,
        )
        known.nearer = _Nearer(pool, np.arange(shape[0] + 1) * shape[1], None, distances)
        return (known.shares(block).sums.sum() - totals).tolist()  # type: ignore[no-any-return]

    def _shares(self, block: Block, n_threads: int, seeds: Codes) -> Shares:
        return self._known(block, n_threads, seeds).shares(block)

    def _shares_here(
        self, block: Block, n_threads: int, seeds: Codes, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        current = self._known(block, n_threads, seeds).current
        local = rows - block.first_row
        index = np.flatnonzero((local >= 0) & (local < len(current)))
        shares = current[local[index]].astype(np.int64)
        return index, shares if block.weight is None else shares * block.weight[local[index]]

    def _known(self, block: Block, n_threads: int, seeds: Codes) -> _Known:
        """Return what is known with these seeds: from the cache, or anew."""
        known: _Known | None = block.cache.get("seeding")
        if known and known.stamp == self._stamp:
            if known.n_seeds == len(seeds):
                return known
            if known.n_seeds == len(seeds) - 1 and known.advance(seeds[-1]):
                return known
        current = self._distances(block, n_threads, seeds)
        block.cache["seeding"] = known = _Known(self._stamp, len(seeds), current)
        return known

    def _distances(self, block: Block, n_threads: int, seeds: Codes) -> NDArray[Any]:
        distances = np.empty(len(block.packed), np.uint32)
        _kernels.tally(
            block,
            seeds,
            feature_weight=self._feature_weight,
            tie_key=None,
            n_threads=n_threads,
            counts=None,
            sizes=None,
            labels=None,
            distances=distances,
        )
        return distances.astype(distance_dtype(block.layout.n_features, self._feature_weight))


def _gain(
    current: NDArray[Any],
    weight: NDArray[np.int64] | None,
    rows: Rows,
    distances: NDArray[Any],
) -> int:
    before = current[rows]
    lowered = before - np.minimum(before, distances)
    return int(lowered.sum(dtype=np.int64) if weight is None else lowered @ weight[rows])


def distance_dtype(n_features: int, feature_weight: NDArray[np.uint32] | None) -> type[Any]:
    """Return the narrowest type that holds every distance."""
    return np.uint16 if largest_distance(n_features, feature_weight) < 65536 else np.uint32


def _repeats(seeding: Seeding, step: int) -> Codes:
    """Fill up with rows by weight once every row coincides with a seed."""
    drawn = seeding.tickets(step, seeding.k - step, seeding.store.total_weight)
    return seeding.store.rows(locate_weight(seeding.store, drawn))
