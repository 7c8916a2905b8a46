"""The seedings of Huang (1998) and of Cao, Liang and Bai (2009): by the frequencies of values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._algorithm.seeding.base import Codes, Seeding, draw_from_columns, forget
from softmodes._rows.block import Block, unpack
from softmodes._rows.tally import feature_counts, largest_distance

_CHUNK = 4096  # rows unpacked at once


def huang(seeding: Seeding) -> Codes:
    """Draw every value by its share in its column, then move to the nearest row not yet taken."""
    store = seeding.store
    drawn = np.full((seeding.k, store.layout.n_features), -1, np.int32)
    drawn = draw_from_columns(seeding, drawn, seeding.word_key(0))
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
    store.map(forget)
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
