"""A whole table in: the values of each column, and the cells as codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, overload

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from softmodes._table.column import (
    Factor,
    TooManyValuesError,
    check_limit,
    code_dtype,
    factorize,
    natural_integers,
)
from softmodes._table.read import Block, Bytes, Table
from softmodes._table.values import BadColumnError, array_of

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class SparseColumns(Sequence[NDArray[Any]]):
    """Columns of codes, each made when it is asked for.

    Cells that are not `stored` hold the code `fill[j]`; codes of column j are below `n_codes[j]`.
    """

    stored: sp.csr_array
    fill: NDArray[np.int32]
    n_codes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.fill)

    @overload
    def __getitem__(self, j: int) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, j: slice) -> Sequence[NDArray[Any]]: ...
    def __getitem__(self, j: int | slice) -> NDArray[Any] | Sequence[NDArray[Any]]:
        places = range(len(self))[j]
        return self._column(places) if isinstance(places, int) else list(map(self._column, places))

    def _column(self, j: int) -> NDArray[Any]:
        stored = self._by_column
        cells = slice(stored.indptr[j], stored.indptr[j + 1])
        dtype = code_dtype(int(self.n_codes[j]))
        column = np.full(stored.shape[0], self.fill[j], dtype=dtype)
        column[stored.indices[cells]] = stored.data[cells]
        return column

    @cached_property
    def _by_column(self) -> sp.csc_array:
        return self.stored.tocsc()

    def recode(self, tables: Sequence[NDArray[np.int64]], n_codes: NDArray[Any]) -> SparseColumns:
        """Return the columns with code `tables[j][c]` in place of code c of column j."""
        starts = np.cumsum([0, *map(len, tables)])[:-1]
        codes = np.concatenate(tables).astype(np.int32)
        data = codes[starts[self.stored.indices] + self.stored.data]
        stored = sp.csr_array(
            (data, self.stored.indices, self.stored.indptr), shape=self.stored.shape
        )
        return SparseColumns(stored, codes[starts + self.fill], np.asarray(n_codes, np.int64))


@dataclass(frozen=True, eq=False)
class TableFactors:
    """The values of each column in canonical order, and the cells' codes by them.

    A missing cell has the code after the last value's. The codes are in `columns`, or else that
    of cell (i, j) is `remap[j, matrix[i, j]]`.
    """

    values: tuple[NDArray[Any], ...]
    has_missing: tuple[bool, ...]
    columns: Sequence[NDArray[Any]] | None = None
    matrix: NDArray[np.uint8] | None = None
    remap: NDArray[np.uint8] | None = None

    def codes(self, column: int) -> NDArray[Any]:
        """Return the codes of one column."""
        if self.columns is not None:
            return self.columns[column]
        assert self.matrix is not None
        assert self.remap is not None
        return np.take(self.remap[column], self.matrix[:, column])


def factorize_table(table: Table, limit: int | None, n_threads: int) -> TableFactors:
    """Find the values and codes of all columns; more than `limit` values in one raise."""
    if isinstance(table.cells, Bytes):
        return _factorize_bytes(table.cells, n_threads)
    if isinstance(table.cells, sp.csr_array):
        return _factorize_sparse(table, table.cells, limit)
    return _factorize_blocks(table, table.cells, limit, n_threads)


# --- columns -------------------------------------------------------------------------------------


def _factorize_blocks(
    table: Table, blocks: Sequence[Block], limit: int | None, n_threads: int
) -> TableFactors:
    def work(block: Block) -> list[Factor]:
        columns = enumerate(block.fetch(), start=block.start)
        return [_factorize_column(table, j, column, limit) for j, column in columns]

    done = _in_threads(work, blocks, n_threads)
    factors = [factor for block in done for factor in block]
    return TableFactors(
        tuple(factor.values for factor in factors),
        tuple(factor.has_missing for factor in factors),
        columns=tuple(factor.codes for factor in factors),
    )


def _in_threads(work: Callable[[T], R], tasks: Sequence[T], n_threads: int) -> list[R]:
    if n_threads <= 1 or len(tasks) <= 1:
        return list(map(work, tasks))
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, tasks))


def _factorize_column(table: Table, j: int, column: Any, limit: int | None) -> Factor:
    try:
        return factorize(column, limit)
    except BadColumnError as bad:
        raise bad.error(f"{table.label(j)} {bad}") from None
    except TooManyValuesError as found:
        raise _too_many(table, j, limit, found) from None


def _too_many(table: Table, j: int, limit: int | None, found: TooManyValuesError) -> ValueError:
    everywhere = ", one for nearly every row" if found.n_values > 0.9 * table.shape[0] else ""
    remedy = (
        "Are these measurements? Bin them, for example with sklearn.preprocessing.KBinsDiscretizer."
        if found.continuous
        else "Is it an identifier? Drop it."
    )
    return ValueError(
        f"{table.label(j)} has {found.n_values} categories{everywhere}. At most {limit} are "
        f"supported. {remedy}"
    )


# --- bytes ---------------------------------------------------------------------------------------


def _factorize_bytes(cells: Bytes, n_threads: int) -> TableFactors:
    from softmodes import _kernels

    distinct, place = np.unique(cells.values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(distinct)))
    by_byte = _kernels.presence(cells.matrix, n_threads)
    seen = np.logical_or.reduceat(by_byte[:, order], starts, axis=1)
    codes = np.maximum(np.cumsum(seen, axis=1) - 1, 0).astype(np.uint8)
    # Bytes that do not occur share a code, so that the others can be packed by comparison.
    remap = np.where(by_byte, np.take(codes, place, axis=1), np.uint8(0))
    values = tuple(natural_integers(distinct[row]) for row in seen)
    return TableFactors(values, (False,) * len(seen), matrix=cells.matrix, remap=remap)


# --- sparse --------------------------------------------------------------------------------------


def _factorize_sparse(table: Table, csr: sp.csr_array, limit: int | None) -> TableFactors:
    n_columns = table.shape[1]
    stored = _factorize_column(table, 0, np.append(csr.data, csr.dtype.type(0)), None)
    n_places = len(stored.values) + 1  # the last is for missing
    pairs, cells = _number_pairs(csr, stored.codes, n_places)
    starts = np.searchsorted(pairs // n_places, np.arange(n_columns + 1))
    n_codes = np.diff(starts)
    codes = (cells - np.append(starts[csr.indices], starts[:-1])).astype(np.int32)

    places = np.split(pairs % n_places, starts[1:-1])
    values = tuple(_pick(stored.values, column) for column in places)
    has_missing = tuple(bool(column[-1] == n_places - 1) for column in places)
    for j, found in enumerate(values):
        _check_column(table, j, found, limit)
    columns = SparseColumns(
        stored=sp.csr_array((codes[: csr.nnz], csr.indices, csr.indptr), shape=csr.shape),
        fill=np.maximum(codes[csr.nnz :], 0),
        n_codes=n_codes,
    )
    return TableFactors(values, has_missing, columns=columns)


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
        raise _too_many(table, j, limit, found) from None


def _pick(values: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    places = places[places < len(values)]
    return natural_integers(values[places]) if len(places) else array_of([])
