"""First centers: random, D1 (k-means++), greedy and parallel D1, Huang, Cao; on stores of rows.

Seeding never fails: where rows or distinct rows run out, seeds repeat, and the clusters
that they leave empty keep their centers. Tasks that run on blocks are functions of a module, and
what they are given is small: seeds and candidates, never a store.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softmodes._algorithm.randomness import Use, address
from softmodes._algorithm.seeding.base import Seeding, Seeds, draw_from_columns
from softmodes._algorithm.seeding.d1 import d1, d1_greedy
from softmodes._algorithm.seeding.frequency import cao, huang
from softmodes._algorithm.seeding.parallel import d1_parallel
from softmodes._algorithm.seeding.random_rows import random_rows

__all__ = [
    "METHODS",
    "Seeding",
    "cao",
    "complete",
    "d1",
    "d1_greedy",
    "d1_parallel",
    "huang",
    "random_rows",
]

METHODS: dict[str, Callable[[Seeding], Seeds]] = {
    "random": random_rows,
    "d1": d1,
    "d1-greedy": d1_greedy,
    "d1-parallel": d1_parallel,
    "huang": huang,
    "cao": cao,
}


def complete(seeding: Seeding, seeds: Seeds) -> Seeds:
    """Draw the missing cells of seeds from the shares of their columns."""
    missing = seeds >= seeding.store.n_values
    if not missing.any():
        return seeds
    seeds = np.where(missing, np.int32(-1), seeds)
    key = address(seeding.seed, seeding.run, Use.IMPUTE)
    return draw_from_columns(seeding, seeds, key)
