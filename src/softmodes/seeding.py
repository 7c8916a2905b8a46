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

_CHUNK = 4096  # rows whose sum is kept when a ticket is looked up


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
        values = partial(self._weighted_distances, seeds=seeds)
        return _locate(self._store, totals, drawn, values)

    def forget(self) -> None:
        self._store.map(_forget)

    def _lower(
        self, block: Block, n_threads: int, seeds: Codes, candidates: Codes
    ) -> NDArray[np.int64]:
        current = self._distances(block, n_threads, seeds)
        lowered = np.empty((len(candidates), len(current)), current.dtype)
        totals = _kernels.candidate_totals(
            block, candidates, self._feature_weight, current, lowered, n_threads
        )
        block.cache["seeding"] = (self._stamp, len(seeds), current, candidates, lowered)
        return totals

    def _distances(self, block: Block, n_threads: int, seeds: Codes) -> NDArray[Any]:
        """Return the distance of every row to its nearest seed: from the cache, or anew."""
        stamp, n_seeds, current, candidates, lowered = block.cache.get("seeding", (None,) * 5)
        if stamp == self._stamp and n_seeds == len(seeds):
            return current  # type: ignore[no-any-return]
        if stamp == self._stamp and n_seeds == len(seeds) - 1:
            known = np.flatnonzero((candidates == seeds[-1]).all(axis=1))
            if len(known):
                np.minimum(current, lowered[known[0]], out=current)
                block.cache["seeding"] = (stamp, len(seeds), current, candidates, lowered)
                return current  # type: ignore[no-any-return]
        return self._distances_anew(block, n_threads, seeds)

    def _distances_anew(self, block: Block, n_threads: int, seeds: Codes) -> NDArray[Any]:
        dtype = distance_dtype(block.layout.n_features, self._feature_weight)
        current = np.full(len(block.packed), np.iinfo(dtype).max, dtype)
        for seed in seeds:
            lowered = np.empty((1, len(current)), dtype)
            _kernels.candidate_totals(
                block, seed[None], self._feature_weight, current, lowered, n_threads
            )
            np.minimum(current, lowered[0], out=current)
        return current

    def _weighted_distances(self, block: Block, n_threads: int, seeds: Codes) -> NDArray[Any]:
        current = self._distances(block, n_threads, seeds)
        return current if block.weight is None else current * block.weight


def distance_dtype(n_features: int, feature_weight: NDArray[np.uint32] | None) -> type[Any]:
    """Return the narrowest type that holds every distance and one value beyond."""
    return np.uint16 if largest_distance(n_features, feature_weight) < 65535 else np.uint32


def _repeats(seeding: Seeding, step: int) -> Codes:
    """Fill up with rows by weight once every row coincides with a seed."""
    drawn = seeding.tickets(step, seeding.k - step, seeding.store.total_weight)
    return seeding.store.rows(locate_weight(seeding.store, drawn))


# ------------------------------------------------------------------------ tickets -> rows


def _locate(
    store: RowStore,
    totals: NDArray[np.int64],
    drawn: NDArray[np.int64],
    values: Callable[[Block, int], NDArray[Any]],
) -> NDArray[np.int64]:
    """Find the row in whose share of the cumulated `values` each ticket falls."""
    bounds = np.concatenate([[0], np.cumsum(totals)])
    rows = np.empty(len(drawn), np.int64)
    task = partial(_find, bounds=bounds, drawn=drawn, values=values)
    for index, found in store.map(task):
        rows[index] = found
    return rows


def _find(
    block: Block,
    n_threads: int,
    bounds: NDArray[np.int64],
    drawn: NDArray[np.int64],
    values: Callable[[Block, int], NDArray[Any]],
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    start, stop = bounds[block.index], bounds[block.index + 1]
    index = np.flatnonzero((drawn >= start) & (drawn < stop))
    if not len(index):
        return index, np.empty(0, np.int64)
    return index, block.first_row + _search(values(block, n_threads), drawn[index] - start)


def _search(values: NDArray[Any], drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where cumulated `values` first exceed each ticket, by sums of chunks first."""
    edges = np.arange(0, len(values), _CHUNK)
    chunk_ends = np.cumsum(np.add.reduceat(values, edges, dtype=np.int64))
    found = np.empty(len(drawn), np.int64)
    for i, chunk in enumerate(np.searchsorted(chunk_ends, drawn, side="right")):
        start = int(edges[chunk])
        ends = np.cumsum(values[start : start + _CHUNK], dtype=np.int64)
        rest = drawn[i] - (chunk_ends[chunk] - ends[-1])
        found[i] = start + np.searchsorted(ends, rest, side="right")
    return found


def _weights(block: Block, n_threads: int) -> NDArray[Any]:
    return np.ones(len(block.packed), np.uint8) if block.weight is None else block.weight


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
