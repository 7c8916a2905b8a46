"""Candidates for the next seeds of D1, drawn for several steps ahead."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.seeding.base import Seeding, Seeds
from softmodes._algorithm.seeding.nearest import (
    Candidates,
    SeedsSoFar,
    distance_shares,
    shares_of_rows,
    total_distance,
)
from softmodes._algorithm.seeding.tickets import locate

# Candidates of the first steps are each near to many rows. Later ones are near to few, and are
# drawn ahead for as many steps as there are groups of so many seeds, up to a limit.
_FIRST_STEPS = 16
_SEEDS_PER_STEP_AHEAD = 4
_STEPS_AHEAD = 64


class CandidatesAhead:
    """Candidates of several steps, drawn and compared with all rows together.

    A row's share of the tickets is its distance to the seeds, which only shrinks. A ticket drawn
    some steps ago counts if it lies in what is left of its row's share: then it is one drawn now.
    """

    def __init__(self, seeding: Seeding, n_candidates: int) -> None:
        self._seeding = seeding
        self._n_candidates = n_candidates
        self._candidates = Candidates(0, np.empty((0, 0), np.int32), compare_all=True)
        self._rows = np.empty(0, np.int64)
        self._rests = np.empty(0, np.int64)  # how far each one's ticket lies in its row's share
        self._unused = np.empty(0, np.intp)

    def take(self, asked: SeedsSoFar) -> tuple[Candidates, NDArray[np.intp]]:
        """Return candidates, and which of them are those for the next seed."""
        n = self._n_candidates
        if len(self._unused) >= n:
            shares = self._shares_now(asked, self._rows[self._unused])
            self._unused = self._unused[self._rests[self._unused] < shares]
        if len(self._unused) < n:
            self._draw(asked)
            self._unused = np.arange(len(self._rows))
        chosen, self._unused = self._unused[:n], self._unused[n:]
        return self._candidates, chosen

    def _shares_now(self, asked: SeedsSoFar, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        shares = np.empty(len(rows), np.int64)
        task = partial(shares_of_rows, asked=asked, rows=rows)
        for index, found in self._seeding.store.map(task):
            shares[index] = found
        return shares

    def _draw(self, asked: SeedsSoFar) -> None:
        store, step = self._seeding.store, len(asked.seeds)
        n_drawn = _steps_ahead(step, self._seeding.k) * self._n_candidates
        totals = np.array(store.map(partial(total_distance, asked=asked)), np.int64)
        drawn = self._seeding.draw_tickets(step, n_drawn, int(totals.sum()))
        shares_of = partial(distance_shares, asked=asked)
        self._rows, self._rests = locate(store, totals, drawn, shares_of)
        codes: Seeds = store.rows(self._rows)
        self._candidates = Candidates(step, codes, compare_all=step < _FIRST_STEPS)


def _steps_ahead(step: int, k: int) -> int:
    if step < _FIRST_STEPS:
        return 1
    return min(step // _SEEDS_PER_STEP_AHEAD, _STEPS_AHEAD, k - step)
