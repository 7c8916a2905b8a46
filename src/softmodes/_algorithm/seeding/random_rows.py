"""Rows at random."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.randomness import fold_array
from softmodes._algorithm.seeding.base import Seeding, Seeds
from softmodes._algorithm.seeding.tickets import locate_weight


def random_rows(seeding: Seeding) -> Seeds:
    """Take k rows at random, no row (with whole weights: no unit of weight) twice."""
    crowded = seeding.k > seeding.store.total_weight // 2
    return _shuffled_units(seeding) if crowded else _distinct_tickets(seeding)


def _distinct_tickets(seeding: Seeding) -> Seeds:
    """Draw until k differ; in order of drawing, so that the result has no direction."""
    store, k = seeding.store, seeding.k
    n = 2 * k + 8
    while True:
        drawn = seeding.draw_tickets(0, n, store.total_weight)
        units = drawn[_first_occurrences(drawn)]
        if store.weights_repeat and len(units) >= k:
            return locate_weight(store, units[:k]).codes
        if not store.weights_repeat:
            located = locate_weight(store, drawn)
            chosen = _first_occurrences(located.numbers)[:k]
            if len(chosen) == k or n > 4 * (k + store.n_rows):
                return located.codes[np.resize(chosen, k)]
        n *= 2


def _first_occurrences(values: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return where each value occurs first, in their order."""
    return np.sort(np.unique(values, return_index=True)[1])


def _shuffled_units(seeding: Seeding) -> Seeds:
    """Order all units of weight at random; for k beyond half of them."""
    units = np.arange(seeding.store.total_weight)
    order = np.argsort(fold_array(seeding.word_key(0), units), kind="stable")
    return locate_weight(seeding.store, np.resize(order[: seeding.k], seeding.k)).codes
