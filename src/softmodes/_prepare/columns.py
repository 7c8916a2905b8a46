"""The columns of a table as what the rules look at: distinct values, and how often each occurs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._prepare.scale import Scale, scale_of, spelled_number
from softmodes._table.coding import code_table
from softmodes._table.read import Table
from softmodes._table.values import array_of, keys_of


@dataclass(frozen=True, eq=False)
class Column:
    """One column: its values in canonical order, the rows with each, and what every row holds.

    `codes` has for each row the place of its value, `len(values)` where it is missing; `n_na` are
    the cells that are missing because they hold a word for it.
    """

    name: str
    values: NDArray[Any]
    counts: NDArray[np.int64]
    codes: NDArray[Any]
    n_missing: int
    n_na: int = 0

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(self.codes)

    @property
    def n_observed(self) -> int:
        """Rows with a value."""
        return self.n_rows - self.n_missing

    @cached_property
    def scale(self) -> Scale | None:
        """Where the values lie, if they are numbers or dates."""
        return scale_of(self.values)

    @cached_property
    def texts(self) -> list[str] | None:
        """The values, if all are texts."""
        values = self.values.tolist() if self.values.dtype.kind == "O" else []
        return values if values and set(map(type, values)) == {str} else None

    def without(self, na: NaWords) -> Column:
        """Return the column with words for missing taken as such."""
        is_na = na.among(self.values)
        if not is_na.any():
            return self
        places = np.append(np.where(is_na, -1, np.cumsum(~is_na) - 1), -1)
        n_values = int((~is_na).sum())
        places[places < 0] = n_values
        n_na = int(self.counts[is_na].sum())
        return Column(
            self.name,
            _natural(self.values[~is_na]),
            self.counts[~is_na],
            places[self.codes.astype(np.intp, copy=False)],
            self.n_missing + n_na,
            n_na,
        )


def columns_of(table: Table, names: Sequence[str], n_threads: int, na: NaWords) -> list[Column]:
    """Return the columns of a table, under these names."""
    values, codes = code_table(table, None, n_threads)
    found = []
    for name, known, cells in zip(names, values, codes.columns(), strict=True):
        counts = np.bincount(cells, minlength=len(known) + 1)
        column = Column(name, known.array, counts[:-1], cells, int(counts[-1]))
        found.append(column.without(na))
    return found


@dataclass(frozen=True)
class NaWords:
    """Values that stand for a missing cell; a word that spells a number stands for that, too."""

    words: tuple[Any, ...] = ()

    @cached_property
    def _numbers(self) -> set[Any]:
        spelled = (spelled_number(word) for word in self.words if isinstance(word, str))
        given = (word for word in self.words if not isinstance(word, str | bool))
        return {number for number in (*spelled, *given) if number is not None}

    @cached_property
    def _texts(self) -> set[str]:
        return {word for word in self.words if isinstance(word, str)}

    def among(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell which of distinct values stand for a missing cell."""
        if not self.words or values.dtype.kind not in "iufO":
            return np.zeros(len(values), np.bool_)
        return np.fromiter(map(self._is_na, values.tolist()), np.bool_, len(values))

    def _is_na(self, value: Any) -> bool:
        if isinstance(value, str):
            return value in self._texts
        return not isinstance(value, bool) and value in self._numbers


def _natural(values: NDArray[Any]) -> NDArray[Any]:
    """Return what is left of values, as numbers if only numbers are."""
    return array_of(keys_of(values)) if values.dtype.kind == "O" and len(values) else values


def as_texts(values: NDArray[Any]) -> list[str]:
    """Return distinct values as text; some may then be equal."""
    return [value if isinstance(value, str) else str(value) for value in values]


def default_names(table: Table) -> tuple[str, ...]:
    """Return the names of a table's columns: x0, x1, ... where it has none."""
    return table.names or tuple(f"x{j}" for j in range(table.shape[1]))
