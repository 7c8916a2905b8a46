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
from softmodes._algorithm.seeding.tickets import Located, locate_weight


def d1(seeding: Seeding, n_candidates: int = 1) -> Seeds:
    """Draw rows with probability proportional to the distance to the seeds so far.

    With several candidates per step, the one that lowers the total distance most is kept. A step
    takes two maps, to draw candidates and to compare them; one where they were drawn ahead.
    """
    store, k = seeding.store, seeding.k
    seeds = np.empty((k, store.layout.n_features), np.int32)
    seeds[:1] = rows_by_weight(seeding, 0, 1).codes
    if k == 1:
        return seeds
    ahead = CandidatesAhead(seeding, n_candidates)
    asked = seeds_so_far(seeding, seeds[:1])
    totals = np.array(store.map(partial(total_distance, asked=asked)), np.int64)  # by block
    for step in range(1, k):
        if not totals.any():
            store.map(forget_distances)
            seeds[step:] = rows_by_weight(seeding, step, k - step).codes
            break
        asked = seeds_so_far(seeding, seeds[:step])
        candidates, chosen = ahead.take(asked, totals)
        task = partial(gains, asked=asked, candidates=candidates, chosen=chosen, last=step == k - 1)
        gained = np.array(store.map(task), np.int64)
        best = int(np.argmax(gained.sum(axis=0)))
        seeds[step] = candidates.codes[chosen[best]]
        totals -= gained[:, best]
    return seeds


def d1_greedy(seeding: Seeding) -> Seeds:
    """Greedy D1 with 2 + floor(ln k) candidates per step."""
    return d1(seeding, n_candidates=2 + int(math.log(seeding.k)))


def seeds_so_far(seeding: Seeding, seeds: Seeds) -> SeedsSoFar:
    """Return what the tasks are asked for."""
    return SeedsSoFar(seeds, seeding.feature_weight, seeding.store.sparing)


def rows_by_weight(seeding: Seeding, step: int, n: int) -> Located:
    """Draw rows by their weight: the first seed, and more once every row coincides with one."""
    return locate_weight(seeding.store, seeding.draw_tickets(step, n, seeding.store.total_weight))
