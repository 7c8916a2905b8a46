"""D1 in few maps, however many seeds: rounds of many candidates, then greedy D1 among these.

It is k-means|| (Bahmani, Moseley, Vattani, Kumar and Vassilvitskii, Scalable k-means++, 2012), on
distances instead of their squares.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.randomness import fold_array, integers_below
from softmodes._algorithm.seeding.base import Seeding, Seeds
from softmodes._algorithm.seeding.d1 import d1_greedy, rows_by_weight, seeds_so_far
from softmodes._algorithm.seeding.nearest import (
    SeedsSoFar,
    distance_shares,
    forget_distances,
    total_distance,
)
from softmodes._rows.block import Block, unpack
from softmodes._rows.centers import CodeCenters, Comparison
from softmodes._rows.stores.memory import MemoryStore
from softmodes._rows.tally import Pass, label_block

_FEW_CLUSTERS = 6  # for which greedy D1 takes no more maps
_PER_CLUSTER = 2  # candidates that a round draws on average
_ROUNDS = 5
_MOST_ROUNDS = 8  # made only while there are fewer candidates than clusters
_ROWS_AT_ONCE = 1 << 16
# Parts of the addresses of random words; the steps of greedy D1 are 0 and up.
_ROUND, _TIE, _CHOICE = -1, -2, -3


def d1_parallel(seeding: Seeding) -> Seeds:
    """Draw about 10 k candidates in five rounds, and take k of them by greedy D1, in 13 maps.

    In a round every row is drawn with a probability proportional to its distance to the candidates
    so far. In the end, a candidate weighs as much as the rows that it is nearest to.
    """
    store, k = seeding.store, seeding.k
    if k <= _FEW_CLUSTERS:
        return d1_greedy(seeding)
    candidates = rows_by_weight(seeding, 0, 1).rows
    for round_ in range(_MOST_ROUNDS):
        if round_ >= _ROUNDS and candidates.n_rows >= k:
            break
        asked = seeds_so_far(seeding, _codes(candidates))
        total = sum(store.map(partial(total_distance, asked=asked)))
        if total == 0:
            break
        key = seeding.word_key(_ROUND, round_)
        task = partial(_drawn, asked=asked, key=key, total=total, n_wanted=_PER_CLUSTER * k)
        found = np.concatenate([candidates.packed, *store.map(task)])
        candidates = Block(store.layout, _distinct(found))
    among = Seeding(
        MemoryStore([_weighed(seeding, candidates)], store.n_values, store.n_threads),
        k,
        seeding.word_key(_CHOICE),
        seeding.run,
        seeding.feature_weight,
    )
    return d1_greedy(among)


def _weighed(seeding: Seeding, candidates: Block) -> Block:
    """Weigh candidates by the rows that are nearest to them."""
    comparison = Comparison(seeding.word_key(_TIE), seeding.feature_weight)
    asked = Pass(CodeCenters(_codes(candidates)), comparison, seeding.store.n_values)
    weight = sum(seeding.store.map(partial(_population, asked=asked)))
    return Block(candidates.layout, candidates.packed, weight=np.asarray(weight, np.int64))


def _codes(rows: Block) -> Seeds:
    return unpack(rows, np.arange(rows.n_rows))


def _distinct(packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return rows without repetitions, in their order."""
    return packed[np.sort(np.unique(packed, axis=0, return_index=True)[1])]


# --- tasks ---------------------------------------------------------------------------------------


def _drawn(
    block: Block, n_threads: int, asked: SeedsSoFar, key: int, total: int, n_wanted: int
) -> NDArray[np.uint8]:
    """Draw each row by its share of all tickets, `n_wanted` rows of all blocks on average.

    A row has a ticket of its own in [0, total), by its number alone, and is drawn if `n_wanted`
    times its share is above it: certainly, if its share is so large.
    """
    shares = distance_shares(block, n_threads, asked).by_row
    rows = []
    for start in range(0, block.n_rows, _ROWS_AT_ONCE):
        some = shares[start : start + _ROWS_AT_ONCE]
        numbers = block.first_row + start + np.arange(len(some))
        tickets = integers_below(fold_array(key, numbers), total)
        rows.append(start + np.flatnonzero(tickets // n_wanted < some))
    return block.packed[np.concatenate(rows)]


def _population(block: Block, n_threads: int, asked: Pass) -> NDArray[np.int64]:
    """Weigh the rows that are nearest to each candidate, and forget distances."""
    forget_distances(block, n_threads)
    labels = label_block(block, asked, n_threads)
    # A sum of weights is below 2^46: exact in floats.
    return np.bincount(labels, block.weight, len(asked.centers)).astype(np.int64)
