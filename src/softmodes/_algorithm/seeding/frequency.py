"""The seedings of Huang (1998) and of Cao, Liang and Bai (2009): by the frequencies of values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.seeding.base import Seeding, Seeds, draw_from_columns
from softmodes._rows.block import Block, unpack
from softmodes._rows.centers import CodeCenters, largest_distance
from softmodes._rows.tally import nearest_distances

_ROWS_AT_ONCE = 4096  # rows unpacked at once


def huang(seeding: Seeding) -> Seeds:
    """Draw every value by its share in its column, then move to the nearest row not yet taken."""
    shape = seeding.k, seeding.store.layout.n_features
    drawn = draw_from_columns(seeding, np.full(shape, -1, np.int32), seeding.word_key(0))
    seeds, taken = np.empty(shape, np.int32), np.empty(seeding.k, np.int64)
    for step, center in enumerate(drawn):
        demerit = partial(_distance_to_free, center=center, taken=taken[:step])
        lowest = _lowest_row(seeding, demerit)
        taken[step], seeds[step] = lowest.row, lowest.codes
    return seeds


def cao(seeding: Seeding) -> Seeds:
    """Take the densest row, then rows both dense and far from the seeds so far; no chance involved.

    The density of a row is the sum of the frequencies of its values (Cao, Liang and Bai 2009).
    """
    store, k = seeding.store, seeding.k
    frequencies = _column_frequencies(seeding)
    seeds = np.empty((k, store.layout.n_features), np.int32)
    for step in range(k):
        last = step == k - 1
        demerit = partial(_cao_demerit, frequencies=frequencies, seeds=seeds[:step], last=last)
        seeds[step] = _lowest_row(seeding, demerit).codes
    return seeds


Demerit = Callable[[Block, int, NDArray[np.uint32] | None], NDArray[np.int64]]


class _Lowest(NamedTuple):
    """The row of the lowest demerit; of several, the first compares as the lowest."""

    demerit: int
    row: int
    codes: Seeds


def _lowest_row(seeding: Seeding, demerit: Demerit) -> _Lowest:
    """Find the row of the lowest demerit in one map."""
    task = partial(_lowest_here, demerit=demerit, feature_weight=seeding.feature_weight)
    return min(seeding.store.map(task), key=itemgetter(0, 1))


def _lowest_here(
    block: Block, n_threads: int, demerit: Demerit, feature_weight: NDArray[np.uint32] | None
) -> _Lowest:
    values = demerit(block, n_threads, feature_weight)
    if block.weight is not None:  # a row without weight counts for nothing
        values = np.where(block.weight > 0, values, np.iinfo(np.int64).max)
    row = int(np.argmin(values))
    return _Lowest(int(values[row]), row + block.first_row, unpack(block, np.array([row]))[0])


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
    """The density of every row of a block, and the distance to the nearest of some seeds.

    Both are in the narrowest types that hold them.
    """

    seeds: Seeds
    density: NDArray[Any]
    nearest: NDArray[Any] | None = None

    def are_part_of(self, seeds: Seeds) -> bool:
        return np.array_equal(self.seeds, seeds[: len(self.seeds)])


def _cao_demerit(
    block: Block,
    n_threads: int,
    feature_weight: NDArray[np.uint32] | None,
    frequencies: list[NDArray[np.int64]],
    seeds: Seeds,
    last: bool,
) -> NDArray[np.int64]:
    """Return minus density times distance to the nearest seed.

    Both are kept with the block until the `last` step: densities take a hundred times as long.
    """
    known = block.cache.take(_DenseAndFar)
    if known is None or not known.are_part_of(seeds):
        known = _DenseAndFar(seeds[:0], _density(block, frequencies))
    nearest = known.nearest
    farthest = largest_distance(block.layout.n_features, feature_weight)
    for seed in seeds[len(known.seeds) :]:
        distance = _distance_to(block, n_threads, feature_weight, seed)
        distance = distance.astype(np.min_scalar_type(farthest))
        nearest = distance if nearest is None else np.minimum(nearest, distance)
    if not last:
        block.cache.keep(_DenseAndFar(seeds.copy(), known.density, nearest))
    demerit: NDArray[np.int64] = -known.density.astype(np.int64)
    return demerit if nearest is None else demerit * nearest


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


def _density(block: Block, frequencies: list[NDArray[np.int64]]) -> NDArray[Any]:
    densest = sum(int(column.max()) for column in frequencies)
    density = np.zeros(block.n_rows, np.min_scalar_type(densest))
    edges = [*range(0, len(density), _ROWS_AT_ONCE), len(density)]
    for start, stop in pairwise(edges):
        codes = unpack(block, np.arange(start, stop))
        some = np.zeros(stop - start, np.int64)
        for j, column in enumerate(frequencies):
            some += column[codes[:, j]]
        density[start:stop] = some
    return density
