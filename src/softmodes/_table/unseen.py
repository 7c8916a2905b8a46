"""Values that a codebook does not know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softmodes._table.codes import Codes
from softmodes._table.values import ColumnValues, Key, array_of, keys_of, python_values
from softmodes._text import short_repr

if TYPE_CHECKING:
    from softmodes._table.codebook import Codebook

_COLUMNS_SHOWN = 5
_MOST_COUNTED = 1 << 17  # values of a column that are told apart


@dataclass(frozen=True)
class UnseenColumn:
    """The values of one column that did not occur at fit.

    Attributes
    ----------
    index, name
        Which column; the name is None in unnamed tables.
    examples
        Up to five values with the number of their cells, the most frequent first; None stands for
        missing.
    n_values, n_cells
        How many different unseen values there are, and how many cells hold one.
    """

    index: int
    name: str | None
    examples: tuple[tuple[Any, int], ...]
    n_values: int
    n_cells: int

    def __str__(self) -> str:
        name = f" ({self.name!r})" if self.name is not None else ""
        examples = ", ".join(
            f"{short_repr(value)} in {count} cells" for value, count in self.examples
        )
        more = " and others" if self.n_values > len(self.examples) else ""
        return f"column {self.index}{name}: {examples}{more}".replace(" in 1 cells", " in 1 cell")


@dataclass(frozen=True)
class Unseen:
    """All values of a table that did not occur at fit; false if there are none."""

    columns: tuple[UnseenColumn, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.columns)

    def __str__(self) -> str:
        return f"Values unseen at fit differ from every center: {self.listed()}."

    def listed(self) -> str:
        """Return the first columns as a text, and how many more there are."""
        shown = "; ".join(map(str, self.columns[:_COLUMNS_SHOWN]))
        more = len(self.columns) - _COLUMNS_SHOWN
        return f"{shown}; and {more} more columns" if more > 0 else shown


def unseen_column(
    index: int, name: str | None, values: ColumnValues, counts: NDArray[np.int64]
) -> UnseenColumn:
    """Report unseen values of one column, given how many cells hold each; the last are missing."""
    most = np.argsort(-counts, kind="stable")[: min(5, np.count_nonzero(counts))]
    array = values.array
    shown = [python_values(array[i : i + 1])[0] if i < len(array) else None for i in most]
    return UnseenColumn(
        index=index,
        name=name,
        examples=tuple(zip(shown, counts[most].tolist(), strict=True)),
        n_values=int(np.count_nonzero(counts)),
        n_cells=int(counts.sum()),
    )


class UnseenCells:
    """Cells that hold values which a codebook does not know, counted part by part."""

    def __init__(self, codebook: Codebook) -> None:
        self._code = (codebook.unseen_ranges.n_codes - 1).tolist()
        self._names = codebook.names
        self._counts: dict[int, Counter[Key | None]] = {}

    def count(self, part: Codebook, codes: Codes, tables: Sequence[NDArray[np.int64]]) -> None:
        """Count the cells of a part; `tables` are the codebook's codes of the part's codes."""
        for j, (table, unseen) in enumerate(zip(tables, self._code, strict=True)):
            if not (table == unseen).any():
                continue
            cells = np.bincount(codes.column(j), minlength=len(table)) * (table == unseen)
            keys: list[Key | None] = [*keys_of(part.columns[j].array), None]
            found = self._counts.setdefault(j, Counter())
            found.update({keys[code]: int(cells[code]) for code in np.flatnonzero(cells)})
            if len(found) > _MOST_COUNTED:  # of identifiers, say; only the most frequent are shown
                self._counts[j] = Counter(dict(found.most_common(_MOST_COUNTED // 2)))

    def found(self) -> Unseen:
        """Return what was counted, as one table would tell it."""
        return Unseen(tuple(self._column(j) for j in sorted(self._counts) if self._counts[j]))

    def _column(self, j: int) -> UnseenColumn:
        counts = self._counts[j]
        keys = sorted(key for key in counts if key is not None)
        values = ColumnValues(array_of(keys), has_missing=None in counts)
        by_code = np.array([*(counts[key] for key in keys), counts[None]], np.int64)
        return unseen_column(j, self._names[j] if self._names else None, values, by_code)
