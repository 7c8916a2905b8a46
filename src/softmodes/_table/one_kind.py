"""Wide tables of one kind of cells: all of them are coded at once.

To code a column on its own takes tens of microseconds, however short it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._table.arrow_column import number_strings
from softmodes._table.column import code_column
from softmodes._table.no_collection import no_collection
from softmodes._table.ranking import CodedColumn

# Tables that are wide in this sense: of short columns, and many of them.
MOST_ROWS = 1 << 12
FEWEST_COLUMNS = 1 << 6
MOST_CELLS = 1 << 26  # which are copied
_PARTS = 16  # in which columns of strings are joined and numbered
_STRINGS = {pa.string(), pa.large_string()}


@dataclass(frozen=True, eq=False)
class OneKind:
    """All cells of a table, as one column after the other; made only when they are coded."""

    cells: Callable[[], Any]
    code: Callable[[int], CodedColumn]  # by threads; in int32, which may be overwritten


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

    def cells() -> NDArray[Any]:
        return np.ascontiguousarray(matrix.T).reshape(-1)

    return OneKind(cells, lambda n_threads: _of_own(code_column(cells())))


def of_strings(
    shape: tuple[int, int], types: Iterable[Any], columns: Callable[[], Iterable[Any]]
) -> OneKind | None:
    """Return the cells of a wide table whose columns are Arrow arrays of strings.

    None if their types tell others. Columns are asked for when cells are, and again if need be.
    """
    if not is_wide(shape) or not set(types) <= _STRINGS:
        return None
    return OneKind(
        lambda: pa.chunked_array([_joined(_chunks(columns()))]),
        lambda n_threads: _code_strings(shape, columns, n_threads),
    )


def _code_strings(
    shape: tuple[int, int], columns: Callable[[], Iterable[Any]], n_threads: int
) -> CodedColumn:
    """Code thousands of short arrays of strings as one column, in parts.

    Each part is numbered by a thread while the columns of the next are listed.
    """
    n_rows, n_columns = shape
    at_once = -(-n_columns // _PARTS)
    codes = np.empty(n_rows * n_columns, np.int32)
    slots = np.split(codes, range(at_once * n_rows, len(codes), at_once * n_rows))
    with no_collection(), ThreadPoolExecutor(n_threads) as pool:
        parts = zip(_parts(columns(), at_once), slots, strict=True)
        found = [task.result() for task in [pool.submit(_number, *part) for part in parts]]
        distinct = [part.distinct for part in found if part.distinct is not None]
        if len(distinct) < len(found):
            joined = [_joined(chunks) for chunks in _parts(columns(), at_once)]
            return _of_own(code_column(_chunked(joined)))
        strings = code_column(pa.concat_arrays(distinct))
        missing = len(strings.values)
        places = np.split(strings.codes, np.cumsum([len(some) for some in distinct[:-1]]))
        list(pool.map(lambda slot, table: _look_up(slot, table, missing), slots, places))
    has_missing = any(part.has_missing for part in found)
    return CodedColumn(replace(strings.values, has_missing=has_missing), codes)


def _parts(columns: Iterable[Any], at_once: int) -> Iterator[list[Any]]:
    """Yield the chunks of so many columns at a time: thousands of small objects, and few parts."""
    left = iter(columns)
    while some := list(islice(left, at_once)):
        yield _chunks(some)


def _chunked(arrays: list[Any]) -> Any:
    """Return arrays of strings as one, whatever bits their offsets have."""
    if len({array.type for array in arrays}) > 1:
        arrays = [array.cast(pa.large_string()) for array in arrays]
    return pa.chunked_array(arrays)


def _of_own(coded: CodedColumn) -> CodedColumn:
    return replace(coded, codes=coded.codes.astype(np.int32))  # a copy: they may be the caller's


@dataclass(frozen=True, eq=False)
class _Numbered:
    """The strings of a part of the cells in the order of their numbers, None if they are many."""

    distinct: Any | None
    has_missing: bool


def _number(chunks: list[Any], numbers: NDArray[np.int32]) -> _Numbered:
    column = pa.chunked_array([_joined(chunks)])
    distinct = number_strings(column, numbers)
    return _Numbered(
        None if distinct is None else distinct.cast(pa.large_string()), column.null_count > 0
    )


def _look_up(numbers: NDArray[np.int32], places: NDArray[Any], missing: int) -> None:
    """Replace the numbers of strings by their places among all of them."""
    _kernels.look_up(numbers, np.append(places.astype(np.int32), np.int32(missing)), numbers)


def _joined(chunks: list[Any]) -> Any:
    """Return chunks as one array of strings; frames of older pandas may hold dictionaries of them.

    Those of unlike types, or of so much text that offsets of 32 bits do not do, are cast first.
    """
    try:
        joined = pa.concat_arrays(chunks)
    except pa.ArrowInvalid:
        return pa.concat_arrays([chunk.cast(pa.large_string()) for chunk in chunks])
    return joined if joined.type in _STRINGS else joined.cast(pa.large_string())


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
