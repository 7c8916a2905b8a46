"""The cells of a table as integer codes, however they are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from softmodes._table.ranking import code_dtype

# Columns of a row-major matrix are transposed this many at a time: one cache line of bytes.
_COLUMNS_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class CodeRanges:
    """Which codes cells may hold, by feature.

    Attributes
    ----------
    n_codes
        Number of codes.
    ignored
        The code that neither matches nor counts; -1 if there is none.
    """

    n_codes: NDArray[np.int32]
    ignored: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class ByteCells:
    """Cells as bytes, maybe the caller's own: the code of (i, j) is ``remap[j, matrix[i, j]]``."""

    matrix: NDArray[np.uint8]
    remap: NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class SparseCells:
    """The codes of some cells by row; those that are not `stored` hold the code ``fill[j]``."""

    stored: sp.csr_array
    fill: NDArray[np.int32]

    @cached_property
    def by_column(self) -> sp.csc_array:
        """The stored cells by column."""
        return self.stored.tocsc()


Cells: TypeAlias = tuple[NDArray[Any], ...] | NDArray[np.uint8] | ByteCells | SparseCells


@dataclass(frozen=True, eq=False)
class Codes:
    """Integer codes of a table.

    Attributes
    ----------
    n_rows
        Number of rows.
    cells
        One contiguous array per feature, of uint8 (up to 256 codes), uint16 (up to 65,536) or
        int32, and if all are of uint8, maybe as one array by feature and row; or bytes; or sparse
        codes.
    ranges
        Which codes the cells may hold.

    Examples
    --------
    >>> from softmodes._table.codebook import learn
    >>> _, codes = learn([["red", 1], ["blue", 3], ["red", 2]])
    >>> codes.column(0)
    array([1, 0, 1], dtype=uint8)
    >>> [column.tolist() for column in codes.columns()]
    [[1, 0, 1], [0, 2, 1]]
    >>> codes.rows([1, 2])
    array([[0, 2],
           [1, 1]], dtype=int32)
    """

    n_rows: int
    cells: Cells
    ranges: CodeRanges

    def column(self, j: int) -> NDArray[Any]:
        """Return the codes of one feature."""
        cells = self.cells
        if isinstance(cells, ByteCells):
            return np.take(cells.remap[j], cells.matrix[:, j])
        return self._sparse_column(cells, j) if isinstance(cells, SparseCells) else cells[j]

    def columns(self) -> Iterator[NDArray[Any]]:
        """Yield the codes of one feature after the other."""
        if not isinstance(self.cells, ByteCells):
            yield from map(self.column, range(len(self.ranges.n_codes)))
            return
        matrix, remap = self.cells.matrix, self.cells.remap
        for start in range(0, len(remap), _COLUMNS_AT_ONCE):
            some = slice(start, start + _COLUMNS_AT_ONCE)
            yield from map(np.take, remap[some], np.ascontiguousarray(matrix[:, some].T))

    def rows(self, index: Any) -> NDArray[np.int32]:
        """Return the codes of some rows, given by a slice or by their numbers."""
        if isinstance(self.cells, ByteCells):
            matrix, remap = self.cells.matrix, self.cells.remap
            return np.take_along_axis(remap.T, matrix[index], axis=0).astype(np.int32)
        if isinstance(self.cells, SparseCells):
            some = self.cells.stored[index].tocoo()
            found = np.repeat(self.cells.fill[None], some.shape[0], axis=0)
            found[some.coords] = some.data
            return found
        return np.stack([column[index] for column in self.columns()], axis=1, dtype=np.int32)

    def translate(self, tables: Sequence[NDArray[np.int64]], ranges: CodeRanges) -> Codes:
        """Return the codes with `tables[j][c]` in place of code c of feature j."""
        return replace(self, cells=self._translated(tables, ranges.n_codes), ranges=ranges)

    def _translated(self, tables: Sequence[NDArray[np.int64]], n_codes: NDArray[np.int32]) -> Cells:
        if isinstance(self.cells, SparseCells):
            return _translated_sparse(self.cells, tables)
        dtypes = list(map(code_dtype, n_codes.tolist()))
        if isinstance(self.cells, ByteCells) and set(dtypes) == {np.uint8}:
            remap = np.stack(list(map(_looked_up, tables, self.cells.remap, dtypes)))
            return ByteCells(self.cells.matrix, remap)
        return tuple(map(_looked_up, tables, self.columns(), dtypes))

    def _sparse_column(self, cells: SparseCells, j: int) -> NDArray[Any]:
        stored = cells.by_column
        some = slice(stored.indptr[j], stored.indptr[j + 1])
        dtype = code_dtype(int(self.ranges.n_codes[j]))
        column = np.full(self.n_rows, cells.fill[j], dtype=dtype)
        column[stored.indices[some]] = stored.data[some]
        return column


def _looked_up(
    table: NDArray[np.int64], codes: NDArray[Any], dtype: type[np.integer[Any]]
) -> NDArray[Any]:
    """Return the new codes of old ones; the same array if they do not change."""
    if codes.dtype == dtype and (table == np.arange(len(table))).all():
        return codes
    return np.take(table.astype(dtype), codes.astype(np.intp, copy=False), mode="clip")


def _translated_sparse(cells: SparseCells, tables: Sequence[NDArray[np.int64]]) -> SparseCells:
    stored = cells.stored
    starts = np.cumsum([0, *map(len, tables)])[:-1]
    codes = np.concatenate([*tables, [0]]).astype(np.int32)  # one for the fill of no rows
    data = codes[starts[stored.indices] + stored.data]
    changed = sp.csr_array((data, stored.indices, stored.indptr), shape=stored.shape)
    return SparseCells(changed, codes[starts + cells.fill])
