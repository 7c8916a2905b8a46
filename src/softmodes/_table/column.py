"""One column in: its distinct values in canonical order, and an integer code for every cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softmodes._table.arrow_column import code_arrow
from softmodes._table.numpy_column import code_numpy
from softmodes._table.ranking import CodedColumn, coded_nothing, recode


@dataclass(frozen=True, eq=False)
class Categorical:
    """A column that comes as codes (-1 where missing) into an array of categories."""

    codes: NDArray[Any]
    categories: NDArray[Any]

    def __len__(self) -> int:
        return len(self.codes)


def code_column(column: Any, limit: int | None = None) -> CodedColumn:
    """Find the values of a column (NumPy, Arrow or `Categorical`) and the code of each cell.

    Codes may be a view of the column. More than `limit` values raise `TooManyValuesError`.
    """
    if len(column) == 0:
        return coded_nothing()
    if isinstance(column, Categorical):
        missing = len(column.categories)
        codes = np.where(column.codes < 0, np.int32(missing), column.codes)
        return recode(code_numpy, column.categories, [codes], limit)
    if isinstance(column, pa.Array | pa.ChunkedArray):
        if not pa.types.is_integer(column.type) or column.null_count:
            return code_arrow(column, limit)
        column = column.to_numpy()
    return code_numpy(np.ascontiguousarray(column), limit)
