"""Wide tables of one kind of cells: all of them are coded at once.

To code a column on its own takes tens of microseconds, however short it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softmodes._table.no_collection import no_collection

# Tables that are wide in this sense: of short columns, and many of them.
MOST_ROWS = 1 << 12
FEWEST_COLUMNS = 1 << 6
MOST_CELLS = 1 << 26  # which are copied
_PARTS = 16  # in which columns are joined


@dataclass(frozen=True, eq=False)
class OneKind:
    """All cells of a table, as one column after the other; made only when they are coded."""

    cells: Callable[[int], Any]  # of a number of threads


def is_wide(shape: tuple[int, int]) -> bool:
    """Tell whether a table has many columns, and short ones."""
    n_rows, n_columns = shape
    return (
        0 < n_rows <= MOST_ROWS and n_columns >= FEWEST_COLUMNS and n_rows * n_columns <= MOST_CELLS
    )


def of_matrix(matrix: NDArray[Any]) -> OneKind | None:
    """Return the cells of a wide matrix of numbers or text, None of another one."""
    kind = matrix.dtype.kind
    if not is_wide(matrix.shape) or not (kind in "iuf" or (kind in "SU" and matrix.dtype.itemsize)):
        return None
    return OneKind(lambda n_threads: np.ascontiguousarray(matrix.T).reshape(-1))


def of_strings(shape: tuple[int, int], columns: Iterable[Any]) -> OneKind | None:
    """Return the cells of a wide table whose columns are Arrow arrays of one type of strings.

    None if they are not.
    """
    if not is_wide(shape):
        return None
    chunks = _chunks(columns)
    types = {chunk.type for chunk in chunks}
    if types not in ({pa.string()}, {pa.large_string()}):
        return None
    return OneKind(lambda n_threads: _joined(chunks, n_threads))


def _joined(chunks: list[Any], n_threads: int) -> Any:
    """Return thousands of arrays of strings as a few."""
    at_once = -(-len(chunks) // _PARTS)
    parts = [chunks[i : i + at_once] for i in range(0, len(chunks), at_once)]
    with ThreadPoolExecutor(n_threads) as pool:
        return pa.chunked_array(list(pool.map(_joined_part, parts)))


def _joined_part(chunks: list[Any]) -> Any:
    large = pa.large_string()
    try:
        return pa.concat_arrays(chunks).cast(large)
    except pa.ArrowInvalid:  # so much text that offsets of 32 bits do not do
        return pa.concat_arrays([chunk.cast(large) for chunk in chunks])


def pandas_strings(frame: Any) -> Iterator[Any]:
    """Yield the columns of a pandas frame of strings as Arrow arrays.

    To make a series of each takes ten times as long as all that follows.
    """
    arrays = _blocks(frame) or (column.array for _, column in frame.items())
    return (column.__arrow_array__() for column in arrays)


def _blocks(frame: Any) -> list[Any] | None:
    """Return the arrays that a pandas frame keeps, None if they are not one for each column."""
    manager = getattr(frame, "_mgr", None)
    blocks, places = (getattr(manager, name, None) for name in ("blocks", "blknos"))
    if blocks is None or places is None or not len(blocks) == len(places) == frame.shape[1]:
        return None
    return [blocks[place].values for place in places.tolist()]


def _chunks(columns: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    with no_collection():
        for column in columns:
            if not isinstance(column, pa.ChunkedArray):
                found.append(column)
            elif column.num_chunks == 1:  # to list chunks takes four times as long
                found.append(column.chunk(0))
            else:
                found.extend(column.chunks)
    return found
