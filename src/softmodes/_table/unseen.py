"""Values that a codebook does not know."""

from __future__ import annotations

import reprlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softmodes._table.codes import Codes
from softmodes._table.values import ColumnValues, Key, Kind, array_of, keys_of, python_values

if TYPE_CHECKING:
    from softmodes._table.codebook import Codebook

_COLUMNS_SHOWN, _EXAMPLES_SHOWN = 3, 2
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
    types
        Where no cell holds a value of the kinds at fit, what differs: "numbers at fit, text now".
    """

    index: int
    name: str | None
    examples: tuple[tuple[Any, int], ...]
    n_values: int
    n_cells: int
    types: str | None = None

    @property
    def label(self) -> str:
        """The column in a message."""
        return f"column {self.index}" + (f" ({_short(self.name)})" if self.name is not None else "")

    def __str__(self) -> str:
        if self.types is not None:
            return f"{self.label}: column types differ, {self.types}"
        examples = ", ".join(
            f"{_short(value)} in {count} cells" for value, count in self.examples[:_EXAMPLES_SHOWN]
        )
        others = self.n_values - _EXAMPLES_SHOWN
        more = f" and {others} others" if others > 0 else ""
        return f"{self.label}: {examples}{more}".replace(" in 1 cells", " in 1 cell")


@dataclass(frozen=True)
class Unseen:
    """All values of a table that did not occur at fit; false if there are none."""

    columns: tuple[UnseenColumn, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.columns)

    def __str__(self) -> str:
        values = Unseen(tuple(column for column in self.columns if column.types is None))
        told = []
        if len(values.columns) < len(self.columns):
            told.append(f"{self.types_differ()} All of their cells are unseen: convert them.")
        if values:
            told.append(f"Values unseen at fit differ from every center: {values.listed()}.")
        return " ".join(told)

    def types_differ(self) -> str:
        """Return a sentence about the columns whose types differ."""
        columns = [column for column in self.columns if column.types is not None]
        first = columns[0]
        alike = [column for column in columns if column.types == first.types]
        shown = ", ".join(column.label for column in alike[:_COLUMNS_SHOWN])
        more = len(columns) - len(alike[:_COLUMNS_SHOWN])
        others = f" and {more} more" if more > 0 else ""
        return f"Column types differ ({first.types}): {shown}{others}."

    def listed(self) -> str:
        """Return the first columns as a text, and how many more there are."""
        shown = "; ".join(map(str, self.columns[:_COLUMNS_SHOWN]))
        more = len(self.columns) - _COLUMNS_SHOWN
        return f"{shown}; and {more} more columns" if more > 0 else shown


def unseen_column(
    index: int,
    name: str | None,
    values: ColumnValues,
    counts: NDArray[np.int64],
    fitted: ColumnValues | None,
) -> UnseenColumn:
    """Report unseen values of one column, given how many cells hold each; the last are missing.

    `fitted` are the values at fit, to compare types with; None if these are known to be the same.
    """
    most = np.argsort(-counts, kind="stable")[: min(5, np.count_nonzero(counts))]
    array = values.array
    shown = [python_values(array[i : i + 1])[0] if i < len(array) else None for i in most]
    return UnseenColumn(
        index=index,
        name=name,
        examples=tuple(zip(shown, counts[most].tolist(), strict=True)),
        n_values=int(np.count_nonzero(counts)),
        n_cells=int(counts.sum()),
        types=None if fitted is None else _other_types(fitted, values),
    )


class UnseenCells:
    """Cells that hold values which a codebook does not know, counted part by part."""

    def __init__(self, codebook: Codebook) -> None:
        self._code = (codebook.unseen_ranges.n_codes - 1).tolist()
        self._names = codebook.names
        self._fitted: list[ColumnValues | None] = list(codebook.columns)  # None: values were seen
        self._counts: dict[int, Counter[Key | None]] = {}

    def count(self, part: Codebook, codes: Codes, tables: Sequence[NDArray[np.int64]]) -> None:
        """Count the cells of a part; `tables` are the codebook's codes of the part's codes."""
        for j, (table, unseen) in enumerate(zip(tables, self._code, strict=True)):
            if (table[: len(part.columns[j])] != unseen).any():
                self._fitted[j] = None
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
        name = self._names[j] if self._names else None
        return unseen_column(j, name, values, by_code, self._fitted[j])


def _other_types(fitted: ColumnValues, values: ColumnValues) -> str | None:
    """Tell how two columns differ in kind; None if some of their values are of one kind."""
    before, now = (_kinds(column.array) for column in (fitted, values))
    if not before or not now or before & now:
        return None
    at_fit, today = (" and ".join(_KIND_WORDS[kind] for kind in sorted(k)) for k in (before, now))
    return f"{at_fit} at fit, {today} now"


def _kinds(values: NDArray[Any]) -> set[int]:
    """Return the kinds of an array of values; one of a NumPy type has one kind."""
    return {kind for kind, _ in keys_of(values if values.dtype.hasobject else values[:1])}


_KIND_WORDS: dict[int, str] = {
    Kind.BOOL: "truth values",
    Kind.NUMBER: "numbers",
    Kind.STRING: "text",
    Kind.BYTES: "bytes",
    Kind.DATE: "dates",
    Kind.DATETIME: "times",
    Kind.INSTANT: "times with a zone",
    Kind.TIME: "times of day",
    Kind.DURATION: "durations",
}


def _short(value: Any) -> str:
    """Return the repr of a value, short enough for a line that names several."""
    return _SHORT.repr(value)


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 40
