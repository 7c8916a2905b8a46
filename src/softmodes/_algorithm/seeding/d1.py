"""D1 (k-means++) and greedy D1: rows by their distance to the seeds so far."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from softmodes._algorithm.seeding.base import Seeding, Seeds
from softmodes._algorithm.seeding.candidates import CandidatesAhead
from softmodes._algorithm.seeding.nearest import (
    SeedsSoFar,
    forget_distances,
    gains,
    total_distance,
)
from softmodes._algorithm.seeding.tickets import locate_weight


def d1(seeding: Seeding, n_candidates: int = 1) -> Seeds:
    """Draw rows with probability proportional to the distance to the seeds so far.

    With several candidates per step, the one that lowers the total distance most is kept.
    """
    store, k = seeding.store, seeding.k
    seeds = np.empty((k, store.layout.n_features), np.int32)
    seeds[:1] = _rows_by_weight(seeding, 0, 1)
    so_far = partial(_seeds_so_far, seeding, seeds)
    ahead = CandidatesAhead(seeding, n_candidates)
    left = sum(store.map(partial(total_distance, asked=so_far(1))))
    for step in range(1, k):
        if left == 0:
            seeds[step:] = _rows_by_weight(seeding, step, k - step)
            break
        candidates, chosen = ahead.take(so_far(step))
        task = partial(gains, asked=so_far(step), candidates=candidates, chosen=chosen)
        gained = np.array(store.map(task), np.int64).sum(axis=0)
        best = int(np.argmax(gained))
        seeds[step] = candidates.codes[chosen[best]]
        left -= int(gained[best])
    store.map(forget_distances)
    return seeds


def d1_greedy(seeding: Seeding) -> Seeds:
    """Greedy D1 with 2 + floor(ln k) candidates per step."""
    return d1(seeding, n_candidates=2 + int(math.log(seeding.k)))


def _seeds_so_far(seeding: Seeding, seeds: Seeds, step: int) -> SeedsSoFar:
    return SeedsSoFar(seeding.word_key(-1), seeds[:step], seeding.feature_weight)


def _rows_by_weight(seeding: Seeding, step: int, n: int) -> Seeds:
    """Draw rows by their weight: the first seed, and more once every row coincides with one."""
    drawn = seeding.draw_tickets(step, n, seeding.store.total_weight)
    return seeding.store.rows(locate_weight(seeding.store, drawn))
