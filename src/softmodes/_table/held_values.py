"""The values of many short columns, as places in those of the whole table.

To make the values of a column takes a microsecond or two, and a fit of many columns needs none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from softmodes._table.no_collection import no_collection
from softmodes._table.values import ColumnValues, array_of, natural_integers


@dataclass(frozen=True, eq=False)
class HeldValues(Sequence[ColumnValues]):
    """The values of columns, made when the first column is asked for.

    Column j holds the places `held[starts[j] : starts[j + 1]]` of `values`, ascending; the place
    after the last is of the missing. Columns with the same values share them.

    Examples
    --------
    >>> held = HeldValues(np.array([5, 7]), np.array([0, 2, 4]), np.array([0, 1, 1, 2], np.int32))
    >>> held.lengths, held.has_missing
    (array([2, 1], dtype=int32), array([False,  True]))
    >>> held[1].array
    array([7])
    """

    values: NDArray[Any]
    starts: NDArray[np.int64]
    held: NDArray[np.int32]

    @property
    def n_codes(self) -> NDArray[np.int32]:
        """Number of values of each column, with missing."""
        return np.diff(self.starts).astype(np.int32)

    @property
    def has_missing(self) -> NDArray[np.bool_]:
        """Whether each column has missing cells."""
        with_missing: NDArray[np.bool_] = self.held[self.starts[1:] - 1] == len(self.values)
        return with_missing

    @property
    def lengths(self) -> NDArray[np.int32]:
        """Number of values of each column, without missing."""
        return self.n_codes - self.has_missing.astype(np.int32)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, index: int) -> ColumnValues: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ColumnValues]: ...
    def __getitem__(self, index: int | slice) -> ColumnValues | Sequence[ColumnValues]:
        return self._made[index]

    def __iter__(self) -> Iterator[ColumnValues]:
        return iter(self._made)

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("values", "starts", "held")}

    @cached_property
    def _made(self) -> list[ColumnValues]:
        with_missing = self.has_missing
        array = self.values[self.held[self.held < len(self.values)]]
        ends = (self.starts[1:] - np.cumsum(with_missing)).tolist()
        if array.dtype != np.uint64:  # of which those of some columns may be small
            array = natural_integers(array)
        places = self.held.tobytes()
        edges = (self.starts * self.held.itemsize).tolist()
        shared: dict[bytes, ColumnValues] = {}
        found, first = [], 0
        with no_collection():
            for end, missing, (begin, stop) in zip(
                ends, with_missing.tolist(), pairwise(edges), strict=True
            ):
                key = places[begin:stop]
                column = shared.get(key)
                if column is None:
                    some = array[first:end] if first < end else array_of([])
                    column = shared[key] = ColumnValues(
                        natural_integers(some) if array.dtype == np.uint64 else some, missing
                    )
                found.append(column)
                first = end
        return found
