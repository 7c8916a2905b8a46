"""A stream of rows, cut into batches by their number alone, whatever parts they come in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.mini_batch import Learned, Steps
from softmodes._algorithm.randomness import Use, address, fold_array
from softmodes._rows.block import layout_of, pack
from softmodes._rows.centers import CodeCenters
from softmodes._rows.stores import MemoryStore, Opened, some_rows
from softmodes._rows.weights import row_units
from softmodes._table.codebook import Codebook
from softmodes._table.codes import Codes

StepsFor: TypeAlias = Callable[[Codebook], Steps]


@dataclass(frozen=True, eq=False)
class Stream:
    """Where a stream stands: what whole batches have taught, and the rows that wait for the next.

    The codebook is that of all rows so far, and all is coded by it. `waiting` are codes, `weight`
    the weights of these rows; None if all are 1.
    """

    codebook: Codebook
    seed: int
    learned: Learned | None
    waiting: NDArray[np.int32]
    weight: NDArray[np.float64] | None = None

    @classmethod
    def begun(cls, codebook: Codebook, seed: int) -> Stream:
        """Return a stream of no rows; the codebook tells its columns, and values to begin with."""
        return cls(codebook, seed, None, np.empty((0, codebook.n_features), np.int32))

    @property
    def n_steps(self) -> int:
        """Number of batches so far; the last may not be full."""
        return (self.learned.n_steps if self.learned else 0) + (len(self.waiting) > 0)

    def joined(
        self,
        part: Codebook,
        codes: Codes,
        weight: NDArray[np.float64] | None,
        batch_size: int,
        steps: StepsFor,
        n_threads: int,
    ) -> Stream:
        """Take in some rows, coded by a codebook of their own; rows of weight 0 are left out.

        A batch knows the values of the rows up to its last one only: which rows came together does
        not matter.
        """
        rows = np.arange(codes.n_rows) if weight is None else np.flatnonzero(weight)
        stream = self
        while len(rows):
            room = batch_size - len(stream.waiting)
            some, rows = rows[:room], rows[room:]
            stream = stream._with_rows(
                part, codes.rows(some), None if weight is None else weight[some]
            )
            if len(stream.waiting) == batch_size:
                learned = stream.up_to_now(steps, n_threads)
                stream = replace(stream, learned=learned, waiting=stream.waiting[:0], weight=None)
        return stream

    def up_to_now(self, steps: StepsFor, n_threads: int) -> Learned:
        """Return what all rows so far teach, as if those that wait were a whole batch."""
        if not len(self.waiting):
            assert self.learned is not None
            return self.learned
        how = steps(self.codebook)
        largest = how.largest_distance(self.codebook.n_features)
        units = row_units(self.weight, len(self.waiting), largest)
        ranges = self.codebook.fit_ranges
        codes = Codes(len(self.waiting), tuple(np.ascontiguousarray(self.waiting.T)), ranges)
        block = pack(codes, layout_of(ranges), n_threads, weight=units.counts)
        n_values, first = self.codebook.n_values, self.learned is None
        batch = MemoryStore([block], n_values, n_threads, units.repeats, remember=first)
        return how.learned(self.learned, batch, units.unit)

    def _with_rows(
        self, part: Codebook, codes: NDArray[np.int32], weight: NDArray[np.float64] | None
    ) -> Stream:
        """Let rows wait; the codebook grows by their values, and all is coded anew."""
        codebook = self.codebook
        if not codebook.covers(part):
            codebook = codebook.merge(part.narrowed(codes))
        stream = self._recoded(codebook)
        if not (weight is None and stream.weight is None):
            ones = [np.ones(n) for n in (len(stream.waiting), len(codes))]
            given = zip((stream.weight, weight), ones, strict=True)
            weight = np.concatenate([one if some is None else some for some, one in given])
        new = recoded(codes, codebook.codes_of(part))
        return replace(stream, waiting=np.concatenate([stream.waiting, new]), weight=weight)

    def _recoded(self, codebook: Codebook) -> Stream:
        if codebook is self.codebook:
            return self
        tables = codebook.codes_of(self.codebook)
        learned = self.learned
        if learned is not None:
            layout, n_values = layout_of(codebook.fit_ranges), codebook.n_values
            learned = replace(
                learned,
                centers=CodeCenters(recoded(learned.centers.codes, tables)),
                counts=learned.counts.recode(tables, layout, n_values),
            )
        waiting = recoded(self.waiting, tables)
        return replace(self, codebook=codebook, learned=learned, waiting=waiting)


def recoded(codes: NDArray[np.int32], tables: Sequence[NDArray[np.int64]]) -> NDArray[np.int32]:
    """Return rows of codes with `tables[j][c]` in place of code c of feature j.

    Examples
    --------
    >>> recoded(np.array([[0, 1], [1, 0]]), [np.array([0, 2]), np.array([1, 3])])
    array([[0, 3],
           [2, 1]], dtype=int32)
    """
    starts = np.cumsum([0, *map(len, tables)])[:-1]
    found: NDArray[np.int32] = np.concatenate(tables).astype(np.int32)[starts + codes]
    return found


def learn_table(opened: Opened, steps: Steps, batch_size: int, n_epochs: int) -> Learned:
    """Go through the rows of a table some times, each time in another seeded order.

    Rows of weight 0 are left out.
    """
    store, weight, seed = opened.store, opened.rows.counts, steps.plan.seed
    rows = np.arange(store.n_rows) if weight is None else np.flatnonzero(weight)
    learned: Learned | None = None
    for epoch in range(n_epochs):
        order = np.argsort(fold_array(address(seed, epoch, Use.EPOCH), rows), kind="stable")
        for first in range(0, len(rows), batch_size):
            batch = some_rows(store, np.sort(rows[order[first : first + batch_size]]))
            learned = steps.learned(learned, batch, opened.rows.unit)
    assert learned is not None
    return learned
