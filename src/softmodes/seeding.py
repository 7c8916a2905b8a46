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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes.hashing import Use, address, fold_array, tickets, unit_interval
from softmodes.pack import Block, unpack
from softmodes.stores import RowStore
from softmodes.tally import feature_counts, largest_distance

Codes = NDArray[np.int32]

_CHUNK = 4096  # rows unpacked at once


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
    totals = potential.with_candidates(seeds[:0], seeds[:1])[:, 0]
    for step in range(1, k):
        total = int(totals.sum())
        if total == 0:
            seeds[step:] = _repeats(seeding, step)
            break
        drawn = seeding.tickets(step, n_candidates, total)
        candidates = store.rows(potential.locate(seeds[:step], totals, drawn))
        by_block = potential.with_candidates(seeds[:step], candidates)
        best = int(np.argmin(by_block.sum(axis=0)))
        seeds[step], totals = candidates[best], by_block[:, best]
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
    return _locate(store, totals, drawn, _weights)


# ------------------------------------------------------------------------------------- D1


@dataclass(eq=False)
class _Known:
    """What a block knows of its distances: to the seeds so far, and to the candidates last seen."""

    stamp: int
    n_seeds: int
    current: NDArray[Any]
    sums: NDArray[np.int64]
    candidates: Codes
    lowered: NDArray[Any]
    lowered_sums: NDArray[np.int64]

    def advance(self, seed: Codes) -> bool:
        """Make a candidate the next seed; False if it was none."""
        found = np.flatnonzero((self.candidates == seed).all(axis=1))
        if not len(found):
            return False
        np.minimum(self.current, self.lowered[found[0]], out=self.current)
        self.sums = self.lowered_sums[:, found[0]]
        self.n_seeds += 1
        self.candidates = self.candidates[:0]
        return True


class _Potential:
    """Distances of all rows to the seeds so far, kept with the blocks."""

    def __init__(self, seeding: Seeding) -> None:
        self._store = seeding.store
        self._stamp = seeding.word_key(-1)
        self._feature_weight = seeding.feature_weight

    def with_candidates(self, seeds: Codes, candidates: Codes) -> NDArray[np.int64]:
        """Return, by block and candidate, the total distance if that candidate became a seed."""
        task = partial(self._lower, seeds=seeds, candidates=candidates)
        return np.array(self._store.map(task), np.int64)

    def locate(
        self, seeds: Codes, totals: NDArray[np.int64], drawn: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the rows in which tickets of [0, total distance) fall."""
        return _locate(self._store, totals, drawn, partial(self._shares, seeds=seeds))

    def forget(self) -> None:
        self._store.map(_forget)

    def _lower(
        self, block: Block, n_threads: int, seeds: Codes, candidates: Codes
    ) -> NDArray[np.int64]:
        known = self._known(block, n_threads, seeds)
        known.candidates = candidates
        if known.lowered.shape != (len(candidates), len(known.current)):
            known.lowered = np.empty((len(candidates), len(known.current)), known.current.dtype)
        known.lowered_sums = _kernels.candidate_totals(
            block, candidates, self._feature_weight, known.current, known.lowered, n_threads
        )
        return known.lowered_sums.sum(axis=0)  # type: ignore[no-any-return]

    def _known(self, block: Block, n_threads: int, seeds: Codes) -> _Known:
        """Return what is known with these seeds: from the cache, or anew."""
        known: _Known | None = block.cache.get("seeding")
        if known and known.stamp == self._stamp:
            if known.n_seeds == len(seeds):
                return known
            if known.n_seeds == len(seeds) - 1 and known.advance(seeds[-1]):
                return known
        block.cache["seeding"] = known = self._known_anew(block, n_threads, seeds)
        return known

    def _known_anew(self, block: Block, n_threads: int, seeds: Codes) -> _Known:
        dtype = distance_dtype(block.layout.n_features, self._feature_weight)
        current = np.full(len(block.packed), np.iinfo(dtype).max, dtype)
        lowered, sums = np.empty((1, len(current)), dtype), np.empty((0, 1), np.int64)
        for seed in seeds:
            sums = _kernels.candidate_totals(
                block, seed[None], self._feature_weight, current, lowered, n_threads
            )
            np.minimum(current, lowered[0], out=current)
        return _Known(self._stamp, len(seeds), current, sums[:, 0], seeds[:0], lowered, sums)

    def _shares(self, block: Block, n_threads: int, seeds: Codes) -> _Shares:
        known, weight = self._known(block, n_threads, seeds), block.weight
        if weight is None:
            return _Shares(known.sums, known.current.__getitem__)
        return _Shares(known.sums, lambda rows: known.current[rows] * weight[rows])


def distance_dtype(n_features: int, feature_weight: NDArray[np.uint32] | None) -> type[Any]:
    """Return the narrowest type that holds every distance and one value beyond."""
    return np.uint16 if largest_distance(n_features, feature_weight) < 65535 else np.uint32


def _repeats(seeding: Seeding, step: int) -> Codes:
    """Fill up with rows by weight once every row coincides with a seed."""
    drawn = seeding.tickets(step, seeding.k - step, seeding.store.total_weight)
    return seeding.store.rows(locate_weight(seeding.store, drawn))


# ------------------------------------------------------------------------ tickets -> rows


@dataclass(frozen=True, eq=False)
class _Shares:
    """What the rows of a block have of all tickets: sums of SUMMED_ROWS each, and single rows."""

    sums: NDArray[np.int64]
    of: Callable[[slice], NDArray[Any]]

    def search(self, drawn: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row at which the cumulated shares first exceed each ticket."""
        ends = np.cumsum(self.sums)
        found = np.empty(len(drawn), np.int64)
        for i, part in enumerate(np.searchsorted(ends, drawn, side="right")):
            first = int(part) * _kernels.SUMMED_ROWS
            rest = drawn[i] - (ends[part] - self.sums[part])
            shares = np.cumsum(self.of(slice(first, first + _kernels.SUMMED_ROWS)), dtype=np.int64)
            found[i] = first + np.searchsorted(shares, rest, side="right")
        return found


def _locate(
    store: RowStore,
    totals: NDArray[np.int64],
    drawn: NDArray[np.int64],
    shares: Callable[[Block, int], _Shares],
) -> NDArray[np.int64]:
    """Find the row in whose share of all tickets each one falls."""
    bounds = np.concatenate([[0], np.cumsum(totals)])
    rows = np.empty(len(drawn), np.int64)
    task = partial(_find, bounds=bounds, drawn=drawn, shares=shares)
    for index, found in store.map(task):
        rows[index] = found
    return rows


def _find(
    block: Block,
    n_threads: int,
    bounds: NDArray[np.int64],
    drawn: NDArray[np.int64],
    shares: Callable[[Block, int], _Shares],
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    start, stop = bounds[block.index], bounds[block.index + 1]
    index = np.flatnonzero((drawn >= start) & (drawn < stop))
    if not len(index):
        return index, np.empty(0, np.int64)
    return index, block.first_row + shares(block, n_threads).search(drawn[index] - start)


def _weights(block: Block, n_threads: int) -> _Shares:
    weight = block.weight
    if weight is None:
        weight = np.broadcast_to(np.int64(1), len(block.packed))
    edges = np.arange(0, len(weight), _kernels.SUMMED_ROWS)
    return _Shares(np.add.reduceat(weight, edges, dtype=np.int64), weight.__getitem__)


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
