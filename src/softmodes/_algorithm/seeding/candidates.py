"""Candidates for the next seeds of D1, drawn for several steps ahead."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.seeding.base import Seeding
from softmodes._algorithm.seeding.nearest import Candidates, SeedsSoFar, distance_shares
from softmodes._algorithm.seeding.tickets import Located, Tickets, locate

# Candidates of the first steps are each near to many rows. Later ones are near to few, and are
# drawn ahead for as many steps as there are groups of so many seeds, up to a limit.
_FIRST_STEPS = 16
_SEEDS_PER_STEP_AHEAD = 4
_STEPS_AHEAD = 64


class CandidatesAhead:
    """Candidates of several steps, drawn and compared with all rows together.

    A row's share of the tickets is its distance to the seeds, which only shrinks. A ticket drawn
    some steps ago counts if it lies in what is left of its row's share: then it is one drawn now.
    The rows that were drawn are here, so that it takes no map to see what is left.
    """

    def __init__(self, seeding: Seeding, n_candidates: int) -> None:
        self._seeding = seeding
        self._n_candidates = n_candidates
        self._drawn: Located | None = None
        self._unused = np.empty(0, np.intp)

    def take(self, asked: SeedsSoFar, totals: Tickets) -> tuple[Candidates, NDArray[np.intp]]:
        """Return candidates, and which of them are those for the next seed.

        `totals` are the distances of the rows of each block to the seeds.
        """
        n = self._n_candidates
        if self._drawn is not None and len(self._unused) >= n:
            shares = distance_shares(self._drawn.rows, self._seeding.store.n_threads, asked).by_row
            self._unused = self._unused[(self._drawn.rests < shares)[self._unused]]
        if len(self._unused) < n:
            self._draw(asked, totals)
        chosen, self._unused = self._unused[:n], self._unused[n:]
        return self._candidates, chosen

    def _draw(self, asked: SeedsSoFar, totals: Tickets) -> None:
        step = len(asked.seeds)
        n_drawn = _steps_ahead(step, self._seeding.k) * self._n_candidates
        drawn = self._seeding.draw_tickets(step, n_drawn, int(totals.sum()))
        shares_of = partial(distance_shares, asked=asked)
        self._drawn = locate(self._seeding.store, totals, drawn, shares_of)
        self._candidates = Candidates(self._drawn.codes, compare_all=step < _FIRST_STEPS)
        self._unused = np.arange(n_drawn)


def _steps_ahead(step: int, k: int) -> int:
    if step < _FIRST_STEPS:
        return 1
    return min(step // _SEEDS_PER_STEP_AHEAD, _STEPS_AHEAD, k - step)
