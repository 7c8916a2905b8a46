"""Some rows of a table at a time: coded by their own values, and packed by those of all.

What every store of rows that are not in one place has in common. Each part is coded alone; the
codebooks of all parts merge, and so do the facts about their weights; with the outcome each part is
packed. Rows, codes and weights are then those of the table as one, wherever it was cut.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.block import Block, layout_of, pack
from softmodes._rows.weights import RowUnit, WeightFacts, checked_weights
from softmodes._table.codebook import Codebook, Missing, learn_part
from softmodes._table.codes import Codes

_DIGEST_BYTES = 16


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
