"""A whole table in: the values of each column, and the cells as codes by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from softmodes._table.codes import ByteCells, Cells, CodeRanges, Codes, SparseCells
from softmodes._table.column import code_column
from softmodes._table.held_values import HeldValues
from softmodes._table.one_kind import OneKind, is_wide
from softmodes._table.ranking import CodedColumn, TooManyValuesError, check_limit, code_dtype
from softmodes._table.read import ByteMatrix, Columns, Table, column_label
from softmodes._table.values import BadColumnError, ColumnValues, array_of, natural_integers

T = TypeVar("T")
R = TypeVar("R")
# Values of columns, cells, and how many codes columns have.
Coded: TypeAlias = tuple[Sequence[ColumnValues], Cells, NDArray[np.int32]]
_FEW_ROWS = 64  # of bytes: tables of all their values would be much longer than columns
_TURNS = 16  # that each thread takes, so that none waits long for the last


def code_table(
    table: Table, limit: int | None, n_threads: int
) -> tuple[Sequence[ColumnValues], Codes]:
    """Find the values and codes of all columns; more than `limit` values in one raise.

    A missing cell has the code after the last value's.
    """
    if isinstance(table.cells, ByteMatrix):
        values, cells, n_codes = _code_bytes(table.cells, n_threads)
    elif isinstance(table.cells, sp.csr_array):
        values, cells, n_codes = _code_sparse(table, table.cells, limit)
    elif isinstance(table.cells, OneKind):
        values, cells, n_codes = _code_one_kind(table, table.cells, n_threads)
    else:
        values, cells, n_codes = _code_columns(table, table.cells, limit, n_threads)
    return values, Codes(table.shape[0], cells, CodeRanges(n_codes, np.full_like(n_codes, -1)))


def too_many(
    label: str, n_values: int, limit: int | None, n_rows: int | None, continuous: bool
) -> ValueError:
    """Tell that a column has too many values; `n_rows` of the whole table if they are known."""
    everywhere = n_rows is not None and n_values > 0.9 * n_rows
    remedy = (
        "Are these measurements? Bin them, for example with sklearn.preprocessing.KBinsDiscretizer."
        if continuous
        else "Is it an identifier? Drop it."
    )
    return ValueError(
        f"{label} has {n_values} categories{', one for nearly every row' if everywhere else ''}. "
        f"At most {limit} are supported. {remedy}"
    )


# --- columns -------------------------------------------------------------------------------------


def _code_columns(
    table: Table, groups: Sequence[Columns], limit: int | None, n_threads: int
) -> Coded:
    def work(group: Columns) -> list[CodedColumn]:
        columns = enumerate(group.columns(), start=group.start)
        return [_code_column(table, j, column, limit) for j, column in columns]

    coded = [column for group in _in_threads(work, groups, n_threads) for column in group]
    values = tuple(column.values for column in coded)
    return values, tuple(column.codes for column in coded), _n_codes(values)


def _n_codes(values: Sequence[ColumnValues]) -> NDArray[np.int32]:
    """Return how many codes columns have: missing cells have the last."""
    return np.array([len(column.array) + column.has_missing for column in values], np.int32)


def _in_threads(work: Callable[[T], R], tasks: Sequence[T], n_threads: int) -> list[R]:
    if n_threads <= 1 or len(tasks) <= 1:
        return list(map(work, tasks))
    # Some at once: to hand over a short column takes longer than to code it.
    at_once = -(-len(tasks) // (n_threads * _TURNS))
    runs = [tasks[i : i + at_once] for i in range(0, len(tasks), at_once)]
    with ThreadPoolExecutor(n_threads) as pool:
        return [done for run in pool.map(lambda run: list(map(work, run)), runs) for done in run]


def _code_column(table: Table, j: int, column: Any, limit: int | None) -> CodedColumn:
    try:
        return code_column(column, limit)
    except BadColumnError as bad:
        raise bad.error(f"{column_label(table.names, j)} {bad}") from None
    except TooManyValuesError as found:
        raise _named(table, j, limit, found) from None


def _named(table: Table, j: int, limit: int | None, found: TooManyValuesError) -> ValueError:
    label, n_rows = column_label(table.names, j), table.shape[0]
    return too_many(label, found.n_values, limit, n_rows, found.continuous)


# --- cells of one kind ---------------------------------------------------------------------------


def _code_one_kind(table: Table, cells: OneKind, n_threads: int) -> Coded:
    """Code all cells by the values of the table, then columns by those that they hold."""
    n_rows, n_columns = table.shape  # columns are so short that none has too many values
    coded = cells.code(n_threads)
    codes = coded.codes.reshape(n_columns, n_rows)
    return _code_held(coded.values.array, codes, n_threads)


def _code_held(values: NDArray[Any], codes: NDArray[np.int32], n_threads: int) -> Coded:
    """Code columns by the values that they hold; `codes`, by column and row, are overwritten."""
    from softmodes import _kernels

    starts, held = _kernels.make_local(codes, len(values) + 1, n_threads)
    columns = HeldValues(values, starts, held)
    n_codes = columns.n_codes
    if code_dtype(int(n_codes.max())) is np.uint8:
        return columns, codes.astype(np.uint8), n_codes
    pairs = zip(codes, n_codes.tolist(), strict=True)
    return columns, tuple(column.astype(code_dtype(n)) for column, n in pairs), n_codes


# --- bytes ---------------------------------------------------------------------------------------


def _code_bytes(cells: ByteMatrix, n_threads: int) -> Coded:
    from softmodes import _kernels

    distinct, place = np.unique(cells.values, return_inverse=True)
    if is_wide(cells.matrix.shape) and len(cells.matrix) < _FEW_ROWS:
        codes = np.take(place.astype(np.int32), np.ascontiguousarray(cells.matrix.T))
        return _code_held(distinct, codes, n_threads)
    by_byte = _kernels.presence(cells.matrix, n_threads)
    occurring = np.flatnonzero(by_byte.any(axis=0))  # bytes: few, where columns are many
    order = occurring[np.argsort(place[occurring], kind="stable")]
    found, starts = np.unique(place[order], return_index=True)
    seen = np.logical_or.reduceat(by_byte[:, order], starts, axis=1)
    codes = np.maximum(np.cumsum(seen, axis=1, dtype=np.int16) - 1, 0).astype(np.uint8)
    # Bytes that do not occur share a code, so that the others can be packed by comparison.
    remap = np.zeros(by_byte.shape, np.uint8)
    which = np.searchsorted(found, place[occurring])
    remap[:, occurring] = np.where(by_byte[:, occurring], np.take(codes, which, axis=1), 0)
    held = np.nonzero(seen)[1].astype(np.int32)
    n_codes = seen.sum(axis=1, dtype=np.int32)
    starts = np.append(0, np.cumsum(n_codes, dtype=np.int64))
    values = HeldValues(distinct[found], starts, held)
    return values, ByteCells(cells.matrix, remap), n_codes


# --- sparse --------------------------------------------------------------------------------------


def _code_sparse(table: Table, csr: sp.csr_array, limit: int | None) -> Coded:
    n_columns = table.shape[1]
    stored = _code_column(table, 0, np.append(csr.data, csr.dtype.type(0)), None)
    n_places = len(stored.values) + 1  # the last is for missing
    pairs, cells = _number_pairs(csr, stored.codes, n_places)
    starts = np.searchsorted(pairs // n_places, np.arange(n_columns + 1))
    codes = (cells - np.append(starts[csr.indices], starts[:-1])).astype(np.int32)
    values = tuple(
        _picked(stored.values.array, places, has_missing=n_places - 1 in places[-1:])
        for places in np.split(pairs % n_places, starts[1:-1])
    )
    for j, column in enumerate(values):
        _check_column(table, j, column.array, limit)
    by_row = sp.csr_array((codes[: csr.nnz], csr.indices, csr.indptr), shape=csr.shape)
    return values, SparseCells(by_row, fill=np.maximum(codes[csr.nnz :], 0)), _n_codes(values)


def _number_pairs(
    csr: sp.csr_array, places: NDArray[Any], n_places: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs (column, place) that occur, in order, and the number of each cell's pair.

    `places` are those of the stored cells, then that of zero. The cells are the stored ones, then
    one zero for each column (-1 where a column stores all its cells).
    """
    n_rows, n_columns = csr.shape
    with_zero = np.flatnonzero(np.bincount(csr.indices, minlength=n_columns) < n_rows)
    stored = csr.indices * np.int64(n_places) + places[:-1]
    encoded = pa.array(np.append(stored, with_zero * n_places + places[-1])).dictionary_encode()
    pairs, rank = np.unique(encoded.dictionary.to_numpy(), return_inverse=True)
    numbers = rank[encoded.indices.to_numpy()]
    cells = np.full(csr.nnz + n_columns, -1)
    cells[: csr.nnz] = numbers[: csr.nnz]
    cells[csr.nnz + with_zero] = numbers[csr.nnz :]
    return pairs, cells


def _check_column(table: Table, j: int, values: NDArray[Any], limit: int | None) -> None:
    try:
        check_limit(len(values), limit, continuous=values.dtype.kind == "f")
    except TooManyValuesError as found:
        raise _named(table, j, limit, found) from None


def _picked(values: NDArray[Any], places: NDArray[Any], has_missing: bool) -> ColumnValues:
    """Return the values at some places; those past the end are missing."""
    places = places[places < len(values)]
    array = natural_integers(values[places]) if len(places) else array_of([])
    return ColumnValues(array, has_missing)
