"""From a table's own codes to those of a codebook, and what the codebook does not know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._table.column import code_dtype
from softmodes._table.factors import TableFactors
from softmodes._table.read import Table
from softmodes._table.values import python_values, short_repr

_COLUMNS_SHOWN = 5


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


@dataclass(frozen=True, eq=False)
class Translation:
    """For one column: the code of each code, which of them are unseen values, and the limits."""

    table: NDArray[np.int64]
    is_unseen: NDArray[np.bool_]
    n_codes: int
    ignored: int


def apply(plan: Translation, codes: NDArray[Any]) -> NDArray[Any]:
    """Return the new codes of old ones; the same array if they do not change."""
    dtype = code_dtype(plan.n_codes)
    if codes.dtype == dtype and (plan.table == np.arange(len(plan.table))).all():
        return codes
    return np.take(plan.table.astype(dtype), codes.astype(np.intp, copy=False), mode="clip")


def unseen_column(
    table: Table, j: int, factors: TableFactors, plan: Translation
) -> UnseenColumn | None:
    """Report the unseen values of one column, None if there are none."""
    if not plan.is_unseen.any():
        return None
    counts = np.bincount(factors.codes(j), minlength=len(plan.table)) * plan.is_unseen
    most = np.argsort(-counts, kind="stable")[: min(5, np.count_nonzero(counts))]
    values = factors.values[j]
    shown = [python_values(values[i : i + 1])[0] if i < len(values) else None for i in most]
    return UnseenColumn(
        index=j,
        name=table.names[j] if table.names else None,
        examples=tuple(zip(shown, counts[most].tolist(), strict=True)),
        n_values=int(np.count_nonzero(counts)),
        n_cells=int(counts.sum()),
    )
