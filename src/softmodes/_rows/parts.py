"""Some rows of a table at a time: coded by their own values, and packed by those of all.

What every store of rows that are not in one place has in common. Each part is coded alone; the
codebooks of all parts merge, and so do the facts about their weights; with the outcome each part is
packed. Rows, codes and weights are then those of the table as one, wherever it was cut.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import accumulate
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.block import Block, layout_of, pack
from softmodes._rows.weights import RowUnit, WeightFacts, checked_weights
from softmodes._table.codebook import Codebook, Missing, learn_part
from softmodes._table.codes import Codes
from softmodes._table.unseen import Unseen

_DIGEST_BYTES = 16


class RowsChangedError(RuntimeError):
    """A source gave other rows the second time, or the same in another order."""

    @classmethod
    def of(cls, of_what: str, number: int) -> RowsChangedError:
        """Say which part of a source that is."""
        return cls(
            f"{of_what} {number} holds other rows, or in another order, than when it was "
            "read first. Make the order of its rows certain, or write them to files and fit "
            "these."
        )


@dataclass(frozen=True)
class Outline:
    """What is to be known of a part where its rows are not: how many, which, what they weigh."""

    n_rows: int
    digest: str
    weight_facts: WeightFacts | None


@dataclass(frozen=True)
class Place:
    """Where the rows of a part are among all, and by what they are known again.

    `part` is its position among all parts, `index` among those that have rows.
    """

    part: int
    index: int
    first_row: int
    digest: str


@dataclass(frozen=True, eq=False)
class CodedPart:
    """Some rows, maybe none, as codes by a codebook of their own, with their weights as given.

    Examples
    --------
    >>> part = code_part([["red"], ["blue"]])
    >>> part.n_rows, part.codes.column(0).tolist()
    (2, [1, 0])
    """

    codebook: Codebook
    codes: Codes
    weight: NDArray[np.float64] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.codes.n_rows

    @cached_property
    def digest(self) -> str:
        """What tells these rows, in this order and with these weights, from any others."""
        told = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        told.update(json.dumps([self.n_rows, self.codebook.to_json()]).encode())
        for column in self.codes.columns():
            told.update(np.ascontiguousarray(column).data)
        if self.weight is not None:
            told.update(np.ascontiguousarray(self.weight).data)
        return told.hexdigest()

    @property
    def weight_facts(self) -> WeightFacts | None:
        """What the unit of all weights follows from; None if the rows have none."""
        return None if self.weight is None else WeightFacts.of(self.weight)

    @property
    def outline(self) -> Outline:
        """What the driver of a cluster has to know."""
        return Outline(self.n_rows, self.digest, self.weight_facts)

    def check_place(self, place: Place, of_what: str) -> None:
        """Refuse rows that come again, and are not those that came first."""
        if self.digest != place.digest:
            raise RowsChangedError.of(of_what, place.part)


def places_of(outlines: Sequence[Outline]) -> list[Place]:
    """Return the places of the parts that have rows.

    Examples
    --------
    >>> parts = [Outline(2, "a", None), Outline(0, "b", None), Outline(3, "c", None)]
    >>> [(place.part, place.index, place.first_row) for place in places_of(parts)]
    [(0, 0, 0), (2, 1, 2)]
    """
    starts = [0, *accumulate(outline.n_rows for outline in outlines)]
    full = [part for part, outline in enumerate(outlines) if outline.n_rows]
    return [Place(p, i, starts[p], outlines[p].digest) for i, p in enumerate(full)]


def code_part(
    table: Any,
    missing: Missing = "category",
    n_threads: int = 1,
    weight: Any = None,
    first_row: int = 0,
) -> CodedPart:
    """Code some rows of a table by their own values.

    `first_row` tells where they begin, if that is known, for errors about their weights.
    """
    codebook, codes = learn_part(table, missing, n_threads)
    if weight is not None:
        weight = checked_weights(weight, codes.n_rows, first_row)
    return CodedPart(codebook, codes, weight)


def merged(codebooks: Iterable[Codebook]) -> Codebook:
    """Return the codebook of all parts; merged in any order, or as a tree, it is the same."""
    return reduce(Codebook.merge, codebooks)


def merged_weights(facts: Iterable[WeightFacts | None], largest_distance: int) -> RowUnit | None:
    """Return the one unit of the weights of all parts; None if these have none."""
    told = list(facts)
    some = [one for one in told if one is not None]
    if not some:
        return None
    if len(some) < len(told):
        raise ValueError(
            f"{len(some)} of {len(told)} parts have weights. Pass some for all rows, or for none."
        )
    return reduce(add, some).unit(largest_distance)


def packed_part(
    part: CodedPart,
    codebook: Codebook,
    first_row: int,
    index: int,
    unit: RowUnit | None,
    n_threads: int = 1,
) -> Block:
    """Pack a part by the codebook and the unit of all; it begins at row `first_row` of these."""
    codes, unseen = codebook.translate(part.codebook, part.codes)
    if unseen:
        raise ValueError(f"This part was not merged into the codebook: {unseen.listed()}.")
    weight = None if part.weight is None or unit is None else unit.counts(part.weight)
    layout = layout_of(codebook.fit_ranges)
    return replace(pack(codes, layout, n_threads, first_row, weight), index=index)


def packed_new(
    part: CodedPart,
    codebook: Codebook,
    first_row: int,
    index: int,
    unit: RowUnit | None,
    n_threads: int = 1,
) -> tuple[Block, Unseen]:
    """Pack a part of new rows by the codebook of a fit, and tell which values it does not have."""
    codes, unseen = codebook.translate(part.codebook, part.codes)
    weight = None if part.weight is None or unit is None else unit.counts(part.weight)
    layout, fitted = layout_of(codebook.unseen_ranges), layout_of(codebook.fit_ranges)
    block = pack(codes, layout, n_threads, first_row, weight, fitted)
    return replace(block, index=index), unseen
