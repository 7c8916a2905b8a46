"""The seedings of Huang (1998) and of Cao, Liang and Bai (2009): by the frequencies of values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.seeding.base import Seeding, Seeds, draw_from_columns
from softmodes._rows.block import Block, unpack
from softmodes._rows.centers import CodeCenters, largest_distance
from softmodes._rows.tally import nearest_distances

_ROWS_AT_ONCE = 4096  # rows unpacked at once


def huang(seeding: Seeding) -> Seeds:
    """Draw every value by its share in its column, then move to the nearest row not yet taken."""
    store = seeding.store
    drawn = np.full((seeding.k, store.layout.n_features), -1, np.int32)
    drawn = draw_from_columns(seeding, drawn, seeding.word_key(0))
    taken = np.empty(0, np.int64)
    for center in drawn:
        demerit = partial(_distance_to_free, center=center, taken=taken)
        taken = np.append(taken, _lowest_row(seeding, demerit))
    return store.rows(taken)


def cao(seeding: Seeding) -> Seeds:
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
    center: Seeds,
    taken: NDArray[np.int64],
) -> NDArray[np.int64]:
    distance = _distance_to(block, n_threads, feature_weight, center)
    local = taken - block.first_row
    distance[local[(local >= 0) & (local < len(distance))]] = np.iinfo(np.int64).max
    return distance


def _distance_to(
    block: Block, n_threads: int, feature_weight: NDArray[np.uint32] | None, center: Seeds
) -> NDArray[np.int64]:
    centers = CodeCenters(center[None])
    return nearest_distances(block, centers, feature_weight, n_threads).astype(np.int64)


@dataclass(frozen=True, eq=False)
class _DenseAndFar:
    """The density of every row of a block, and the distance to the nearest of some seeds."""

    seeds: Seeds
    density: NDArray[np.int64]
    nearest: NDArray[np.int64] | None = None

    def are_part_of(self, seeds: Seeds) -> bool:
        return np.array_equal(self.seeds, seeds[: len(self.seeds)])


def _cao_demerit(
    block: Block,
    n_threads: int,
    feature_weight: NDArray[np.uint32] | None,
    frequencies: list[NDArray[np.int64]],
    seeds: Seeds,
) -> NDArray[np.int64]:
    """Return minus density times distance to the nearest seed; both are kept with the block."""
    known = block.cache.take(_DenseAndFar)
    if known is None or not known.are_part_of(seeds):
        known = _DenseAndFar(seeds[:0], _density(block, frequencies))
    nearest = known.nearest
    for seed in seeds[len(known.seeds) :]:
        distance = _distance_to(block, n_threads, feature_weight, seed)
        nearest = distance if nearest is None else np.minimum(nearest, distance)
    block.cache.keep(_DenseAndFar(seeds.copy(), known.density, nearest))
    demerit: NDArray[np.int64] = -known.density if nearest is None else -known.density * nearest
    return demerit


def _forget(block: Block, n_threads: int) -> None:
    block.cache.take(_DenseAndFar)


def _column_frequencies(seeding: Seeding) -> list[NDArray[np.int64]]:
    """Count every code of every feature; a missing cell that is ignored has frequency 0.

    In the largest common unit, and where even these would overflow as density times distance,
    rounded down by a power of two.
    """
    store = seeding.store
    counts = store.column_counts()
    frequencies = []
    for j, (n_codes, n_values) in enumerate(zip(store.layout.n_codes, store.n_values, strict=True)):
        column = np.zeros(int(n_codes), np.int64)
        column[:n_values] = counts.feature(j)[0]
        frequencies.append(column)
    unit = max(1, int(np.gcd.reduce([np.gcd.reduce(column) for column in frequencies])))
    densest = sum(int(column.max()) // unit for column in frequencies)
    largest = densest * largest_distance(store.layout.n_features, seeding.feature_weight)
    shift = max(0, largest.bit_length() - 62)
    return [column // unit >> shift for column in frequencies]


def _density(block: Block, frequencies: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    density = np.zeros(block.n_rows, np.int64)
    edges = [*range(0, len(density), _ROWS_AT_ONCE), len(density)]
    for start, stop in pairwise(edges):
        codes = unpack(block, np.arange(start, stop))
        for j, column in enumerate(frequencies):
            density[start:stop] += column[codes[:, j]]
    return density
