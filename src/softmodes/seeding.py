"""First centers: random, D1 (k-means++), greedy D1, Huang, Cao. Written on stores of rows.

Seeding never fails: where rows or distinct rows run out, seeds repeat, and the clusters
that they leave empty keep their centers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes.hashing import Use, address, fold_array, tickets, unit_interval
from softmodes.pack import Block, unpack
from softmodes.stores import RowStore
from softmodes.tally import feature_counts, largest_distance

Codes = NDArray[np.int32]

_CHUNK = 4096  # rows unpacked, or searched, at once
# Candidates of the first steps are each near to many rows. Later ones are near to few, and are
# drawn ahead for as many steps as there are groups of so many seeds, up to a limit.
_FIRST_STEPS = 16
_SEEDS_PER_STEP_AHEAD = 4
_STEPS_AHEAD = 64


@dataclass(frozen=True, eq=False)
class Seeding:
    """What every way of seeding needs to know."""

    store: RowStore
    k: int
    seed: int
    run: int
    feature_weight: NDArray[np.uint32] | None = None

    def word_key(self, *parts: int) -> int:
        """Return the address of the random words of one step."""
        return address(self.seed, self.run, Use.SEED, *parts)

    def tickets(self, step: int, n: int, bound: int) -> NDArray[np.int64]:
        """Draw `n` uniform integers in [0, bound)."""
        return tickets(fold_array(self.word_key(step), np.arange(n)), bound)


def random_rows(seeding: Seeding) -> Codes:
    """Take k rows at random, no row (with whole weights: no unit of weight) twice."""
    store, k = seeding.store, seeding.k
    crowded = k > store.total_weight // 2
    return store.rows(_shuffled_units(seeding) if crowded else _distinct_tickets(seeding))


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


def huang(seeding: Seeding) -> Codes:
    """Draw every value by its share in its column, then move to the nearest row not yet taken."""
    store = seeding.store
    drawn = np.full((seeding.k, store.layout.n_features), -1, np.int32)
    drawn = _draw_from_columns(seeding, drawn, seeding.word_key(0))
    taken = np.empty(0, np.int64)
    for center in drawn:
        demerit = partial(_distance_to_free, center=center, taken=taken)
        taken = np.append(taken, _lowest_row(seeding, demerit))
    return store.rows(taken)


def cao(seeding: Seeding) -> Codes:
    """Take the densest row, then rows both dense and far from the seeds so far; no chance involved.

    The density of a row is the sum of the frequencies of its values (Cao, Liang and Bai 2009).
    """
    store = seeding.store
    frequencies = _column_frequencies(seeding)
    seeds = np.empty((seeding.k, store.layout.n_features), np.int32)
    for step in range(seeding.k):
        demerit = partial(_cao_demerit, frequencies=frequencies, seeds=seeds[:step])
        seeds[step] = store.rows(np.array([_lowest_row(seeding, demerit)]))[0]
    store.map(_forget)
    return seeds


METHODS: dict[str, Callable[[Seeding], Codes]] = {
    "random": random_rows,
    "d1": d1,
    "d1-greedy": d1_greedy,
    "huang": huang,
    "cao": cao,
}


def complete(seeding: Seeding, seeds: Codes) -> Codes:
    """Draw the missing cells of seeds from the shares of their columns."""
    missing = seeds >= seeding.store.sizes
    if not missing.any():
        return seeds
    seeds = np.where(missing, np.int32(-1), seeds)
    key = address(seeding.seed, seeding.run, Use.IMPUTE)
    return _draw_from_columns(seeding, seeds, key)


def locate_weight(store: RowStore, drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows in which tickets of [0, total weight) fall."""
    totals = np.array(store.map(_weight_total), np.int64)
    return _locate(store, totals, drawn, _weights)[0]


# ------------------------------------------------------------------------------------- D1


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


Rows: TypeAlias = NDArray[np.int64] | slice


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
    _shares: _Shares | None = None

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

    def shares(self, block: Block) -> _Shares:
        """Return what the rows have of all tickets."""
        if self._shares is None:
            weight = block.weight
            self._shares = _Shares(self.current if weight is None else self.current * weight)
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
        return _locate(self._store, totals, drawn, partial(self._shares, seeds=seeds))

    def shares_of(self, seeds: Codes, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the tickets that rows have."""
        shares = np.empty(len(rows), np.int64)
        for index, found in self._store.map(partial(self._shares_here, seeds=seeds, rows=rows)):
            shares[index] = found
        return shares

    def forget(self) -> None:
        self._store.map(_forget)

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

    def _shares(self, block: Block, n_threads: int, seeds: Codes) -> _Shares:
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


# ------------------------------------------------------------------------ tickets -> rows


class _Shares:
    """What the rows of a block have of all tickets."""

    def __init__(self, shares: NDArray[Any]) -> None:
        self._shares = shares
        self.sums = np.add.reduceat(shares, np.arange(0, len(shares), _CHUNK), dtype=np.int64)

    def search(self, drawn: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the row in whose share each ticket falls, and how far in."""
        ends = np.cumsum(self.sums)
        rows, rests = np.empty((2, len(drawn)), np.int64)
        for i, chunk in enumerate(np.searchsorted(ends, drawn, side="right")):
            first = int(chunk) * _CHUNK
            rest = drawn[i] - (ends[chunk] - self.sums[chunk])
            cumulated = np.cumsum(self._shares[first : first + _CHUNK], dtype=np.int64)
            row = np.searchsorted(cumulated, rest, side="right")
            rows[i] = first + row
            rests[i] = rest - (cumulated[row - 1] if row else 0)
        return rows, rests


def _locate(
    store: RowStore,
    totals: NDArray[np.int64],
    drawn: NDArray[np.int64],
    shares: Callable[[Block, int], _Shares],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the row in whose share of all tickets each one falls, and how far in."""
    bounds = np.concatenate([[0], np.cumsum(totals)])
    rows, rests = np.empty((2, len(drawn)), np.int64)
    task = partial(_find, bounds=bounds, drawn=drawn, shares=shares)
    for index, *found in store.map(task):
        rows[index], rests[index] = found
    return rows, rests


def _find(
    block: Block,
    n_threads: int,
    bounds: NDArray[np.int64],
    drawn: NDArray[np.int64],
    shares: Callable[[Block, int], _Shares],
) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int64]]:
    start, stop = bounds[block.index], bounds[block.index + 1]
    index = np.flatnonzero((drawn >= start) & (drawn < stop))
    if not len(index):
        return index, *np.empty((2, 0), np.int64)
    rows, rests = shares(block, n_threads).search(drawn[index] - start)
    return index, block.first_row + rows, rests


def _weights(block: Block, n_threads: int) -> _Shares:
    weight = block.weight
    return _Shares(np.ones(len(block.packed), np.int8) if weight is None else weight)


def _weight_total(block: Block, n_threads: int) -> int:
    return block.total_weight


# --------------------------------------------------------------------------------- random


def _distinct_tickets(seeding: Seeding) -> NDArray[np.int64]:
    """Draw until k differ; in order of drawing, so that the result has no direction."""
    store, k = seeding.store, seeding.k
    n = 2 * k + 8
    while True:
        drawn = seeding.tickets(0, n, store.total_weight)
        if store.whole_weights:
            chosen = locate_weight(store, _first_occurrences(drawn)[:k])
        else:
            chosen = _first_occurrences(locate_weight(store, drawn))[:k]
        if len(chosen) == k:
            return chosen
        if n > 4 * (k + store.n_rows):
            return np.resize(chosen, k)
        n *= 2


def _first_occurrences(values: NDArray[np.int64]) -> NDArray[np.int64]:
    _, first = np.unique(values, return_index=True)
    return values[np.sort(first)]


def _shuffled_units(seeding: Seeding) -> NDArray[np.int64]:
    """Order all units of weight at random; for k beyond half of them."""
    units = np.arange(seeding.store.total_weight)
    order = np.argsort(fold_array(seeding.word_key(0), units), kind="stable")
    return locate_weight(seeding.store, np.resize(order[: seeding.k], seeding.k))


# --------------------------------------------------------------------------- Huang and Cao


def _draw_from_columns(seeding: Seeding, seeds: Codes, key: int) -> Codes:
    """Draw the cells of `seeds` that are -1 from the shares of their columns."""
    store = seeding.store
    counts = store.overall()
    seed_keys = fold_array(key, np.arange(len(seeds)))
    for j in np.flatnonzero((seeds < 0).any(axis=0)):
        column = feature_counts(counts, store.layout, int(j), int(store.sizes[j]))
        edges = np.cumsum(column[0], dtype=np.float64)
        uniforms = unit_interval(fold_array(seed_keys, np.asarray(j)))
        drawn = np.searchsorted(edges, uniforms * edges[-1], side="right")
        drawn = np.minimum(drawn, len(edges) - 1)
        seeds[:, j] = np.where(seeds[:, j] < 0, drawn, seeds[:, j])
    return seeds


Demerit = Callable[[Block, int, NDArray[np.uint32] | None], NDArray[np.int64]]


def _lowest_row(seeding: Seeding, demerit: Demerit) -> int:
    """Return the row of the lowest demerit; among equals the first."""
    task = partial(_lowest_here, demerit=demerit, feature_weight=seeding.feature_weight)
    return min(seeding.store.map(task))[1]


def _lowest_here(
    block: Block, n_threads: int, demerit: Demerit, feature_weight: NDArray[np.uint32] | None
) -> tuple[int, int]:
    values = demerit(block, n_threads, feature_weight)
    if block.weight is not None:  # a row without weight counts for nothing
        values = np.where(block.weight > 0, values, np.iinfo(np.int64).max)
    row = int(np.argmin(values))
    return int(values[row]), row + block.first_row


def _distance_to_free(
    block: Block,
    n_threads: int,
    feature_weight: NDArray[np.uint32] | None,
    center: Codes,
    taken: NDArray[np.int64],
) -> NDArray[np.int64]:
    distance = _distance_to(block, n_threads, feature_weight, center)
    local = taken - block.first_row
    distance[local[(local >= 0) & (local < len(distance))]] = np.iinfo(np.int64).max
    return distance


def _distance_to(
    block: Block, n_threads: int, feature_weight: NDArray[np.uint32] | None, center: Codes
) -> NDArray[np.int64]:
    out = np.empty((len(block.packed), 1), np.uint32)
    _kernels.distances(block, center[None], feature_weight, n_threads, out)
    return out[:, 0].astype(np.int64)


def _cao_demerit(
    block: Block,
    n_threads: int,
    feature_weight: NDArray[np.uint32] | None,
    frequencies: list[NDArray[np.int64]],
    seeds: Codes,
) -> NDArray[np.int64]:
    """Return minus density times distance to the nearest seed; both are kept with the block."""
    n_seeds, density, nearest = block.cache.get("seeding", (0, None, None))
    if density is None or n_seeds > len(seeds):
        n_seeds, density, nearest = 0, _density(block, frequencies), None
    for seed in seeds[n_seeds:]:
        distance = _distance_to(block, n_threads, feature_weight, seed)
        nearest = distance if nearest is None else np.minimum(nearest, distance)
    block.cache["seeding"] = (len(seeds), density, nearest)
    demerit: NDArray[np.int64] = -density if nearest is None else -density * nearest
    return demerit


def _column_frequencies(seeding: Seeding) -> list[NDArray[np.int64]]:
    """Count every code of every feature; a missing cell that is ignored has frequency 0.

    In the largest common unit, and where even these would overflow as density times distance,
    rounded down by a power of two.
    """
    store = seeding.store
    counts = store.overall()
    frequencies = []
    for j, (n_codes, size) in enumerate(zip(store.layout.n_codes, store.sizes, strict=True)):
        column = np.zeros(int(n_codes), np.int64)
        column[:size] = feature_counts(counts, store.layout, j, int(size))[0]
        frequencies.append(column)
    unit = max(1, int(np.gcd.reduce([np.gcd.reduce(column) for column in frequencies])))
    densest = sum(int(column.max()) // unit for column in frequencies)
    largest = densest * largest_distance(store.layout.n_features, seeding.feature_weight)
    shift = max(0, largest.bit_length() - 62)
    return [column // unit >> shift for column in frequencies]


def _density(block: Block, frequencies: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    density = np.zeros(len(block.packed), np.int64)
    edges = [*range(0, len(density), _CHUNK), len(density)]
    for start, stop in pairwise(edges):
        codes = unpack(block, np.arange(start, stop))
        for j, column in enumerate(frequencies):
            density[start:stop] += column[codes[:, j]]
    return density


def _forget(block: Block, n_threads: int) -> None:
    block.cache.pop("seeding", None)
