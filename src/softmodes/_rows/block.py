"""Rows packed for the kernels, and the one place where the range of codes is checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._kernels import Layout
from softmodes._rows.cache import Cache
from softmodes._table.codes import ByteCells, CodeRanges, Codes, SparseCells

__all__ = ["MOST_CODES", "Block", "Layout", "layout_of", "pack", "pack_bits", "unpack"]

MOST_CODES: int = Layout.MOST_CODES
_ALIGNMENT = 64
_CELLS_AT_ONCE = 1 << 20

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Block:
    """Packed rows; row i of the block is row `first_row` + i of the table.

    Ties are settled by a hash of the row's values, each at its place in the layout of the fit:
    `fit_layout`, if that is another one. `cache` is for what passes leave behind; it stays where it
    is when the block travels.
    """

    layout: Layout
    packed: NDArray[np.uint8]
    first_row: int = 0
    index: int = 0  # its position among the blocks of its store
    weight: NDArray[np.int64] | None = None
    fit_layout: Layout | None = None
    cache: Cache = field(default_factory=Cache, repr=False)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.packed)

    @property
    def native(self) -> _kernels.NativeBlock:
        """The block as the native core takes it."""
        return _kernels.NativeBlock(
            self.layout, self.packed, self.first_row, self.weight, self.fit_layout
        )

    @property
    def total_weight(self) -> int:
        """Sum of the weights, in units; without weights the number of rows."""
        return self.n_rows if self.weight is None else int(self.weight.sum())

    @property
    def n_weighed(self) -> int:
        """Number of rows whose weight is above 0."""
        return self.n_rows if self.weight is None else int(np.count_nonzero(self.weight))

    def part(self, first: int, last: int) -> Block:
        """Return some of the rows as a block of its own, without a copy."""
        return replace(
            self,
            packed=self.packed[first:last],
            first_row=self.first_row + first,
            weight=None if self.weight is None else self.weight[first:last],
            cache=Cache(),
        )

    def take(self, rows: NDArray[np.int64]) -> Block:
        """Return some of the rows, numbered within the block, as a block of its own."""
        return replace(
            self,
            packed=self.packed[rows],
            weight=None if self.weight is None else self.weight[rows],
            cache=Cache(),
        )

    def __sizeof__(self) -> int:
        """Return the bytes of the rows and weights, for whoever decides what stays in memory."""
        return self.packed.nbytes + (0 if self.weight is None else self.weight.nbytes)


def layout_of(ranges: CodeRanges) -> Layout:
    """Return the layout of rows whose codes are in these ranges: one for all blocks of a store."""
    return Layout(ranges.n_codes, ranges.ignored)


def pack(
    codes: Codes,
    layout: Layout,
    n_threads: int = 1,
    first_row: int = 0,
    weight: NDArray[np.int64] | None = None,
    fit_layout: Layout | None = None,
) -> Block:
    """Pack the codes of a table, without copying them first.

    Raises ValueError if a cell holds a code beyond its feature's `n_codes` in the layout.
    """
    packed = aligned_zeros(codes.n_rows, layout.stride)
    cells = codes.cells
    if isinstance(cells, ByteCells):
        _pack_matrix(layout, cells.matrix, cells.remap, packed, n_threads)
    elif isinstance(cells, SparseCells):
        _pack_sparse(layout, cells, packed)
    else:
        _pack_columns(layout, cells, packed, n_threads)
    return Block(layout, packed, first_row=first_row, weight=weight, fit_layout=fit_layout)


def pack_bits(parts: Iterable[NDArray[np.bool_]], n_rows: int, n_features: int) -> Block:
    """Pack a table of booleans that comes some rows at a time: a bit for each cell, and no codes.

    Every feature has two values, also where only one of them occurs.

    Examples
    --------
    >>> rows = np.array([[True, False], [False, True]])
    >>> unpack(pack_bits([rows[:1], rows[1:]], 2, 2), np.array([0, 1])).tolist()
    [[1, 0], [0, 1]]
    """
    layout = Layout(np.full(n_features, 2, np.int32), np.full(n_features, -1, np.int32))
    in_order = np.arange(n_features)
    assert np.array_equal(8 * layout.byte.astype(np.int64) + layout.shift, in_order)
    packed = aligned_zeros(n_rows, layout.stride)
    first = 0
    for part in parts:
        bits = np.packbits(part, axis=1, bitorder="little")
        packed[first : first + len(bits), : bits.shape[1]] = bits
        first += len(bits)
    return Block(layout, packed)


def unpack(block: Block, rows: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the codes of some rows, numbered within the block.

    Examples
    --------
    >>> from softmodes._table.codebook import learn
    >>> _, codes = learn([["a"], ["c"], ["b"]])
    >>> unpack(pack(codes, layout_of(codes.ranges)), np.array([1, 2])).tolist()
    [[2], [1]]
    """
    return _kernels.unpack(block, np.asarray(rows, np.int64))


def _pack_columns(
    layout: Layout,
    columns: Sequence[NDArray[Any]] | NDArray[np.uint8],
    packed: NDArray[np.uint8],
    n_threads: int,
) -> None:
    if isinstance(columns, np.ndarray):
        largest = _kernels.pack_transposed(layout, columns, packed, n_threads)
    else:
        largest = _kernels.pack_columns(layout, list(columns), packed, n_threads)
    too_large = np.flatnonzero(largest >= layout.n_codes)
    if len(packed) and len(too_large):
        j = int(too_large[0])
        code = int(largest[j : j + 1].view(np.int32)[0])
        raise _out_of_range(j, code, int(layout.n_codes[j]))


def _pack_matrix(
    layout: Layout,
    matrix: NDArray[np.uint8],
    remap: NDArray[np.uint8],
    packed: NDArray[np.uint8],
    n_threads: int,
) -> None:
    beyond = remap >= layout.n_codes[:, None]
    if beyond.any():
        # Only now is it worth a pass to see whether such a byte occurs at all.
        bad = np.argwhere(beyond & _kernels.presence(matrix, n_threads))
        if len(bad):
            j, byte = bad[0].tolist()
            raise _out_of_range(j, int(remap[j, byte]), int(layout.n_codes[j]))
        remap = np.where(beyond, np.uint8(0), remap)
    _kernels.pack_matrix(layout, matrix, remap, packed, n_threads)


def _pack_sparse(layout: Layout, cells: SparseCells, packed: NDArray[np.uint8]) -> None:
    """Write one row of fills into all rows, then turn the bits of the stored cells."""
    stored, fill = cells.stored, cells.fill
    everywhere = np.arange(layout.n_features)
    _check_codes(layout, everywhere, fill)
    common = np.zeros(layout.stride, np.uint8)
    _turn_bits(layout, common, np.zeros(1, np.int64), everywhere, fill)
    packed[:] = common
    for first, last in _row_runs(stored.indptr):
        some = slice(stored.indptr[first], stored.indptr[last])
        features, codes = stored.indices[some], stored.data[some]
        _check_codes(layout, features, codes)
        lengths = np.diff(stored.indptr[first : last + 1])
        starts = np.repeat(np.arange(last - first) * layout.stride, lengths)
        _turn_bits(layout, packed[first:last].reshape(-1), starts, features, codes ^ fill[features])


def _row_runs(indptr: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Cut rows into runs of about `_CELLS_AT_ONCE` stored cells, which bounds the memory used."""
    first, n_rows = 0, len(indptr) - 1
    while first < n_rows:
        end = int(np.searchsorted(indptr, int(indptr[first]) + _CELLS_AT_ONCE, side="right")) - 1
        last = min(max(first + 1, end), n_rows)
        yield first, last
        first = last


def _turn_bits(
    layout: Layout, flat: NDArray[np.uint8], starts: Int64s, features: NDArray[Any], change: Int32s
) -> None:
    """Turn the bits that are set in `change`, in the fields of some cells of the rows in `flat`."""
    shifted = change << layout.shift[features]
    at = starts + layout.byte[features]
    for place in range(-(-int(layout.bits.max()) // 8)):
        part = (shifted >> (8 * place) & 255).astype(np.uint8)
        turned = np.flatnonzero(part)
        np.bitwise_xor.at(flat, at[turned] + place, part[turned])


def _check_codes(layout: Layout, features: NDArray[Any], codes: NDArray[Any]) -> None:
    n_codes = layout.n_codes[features]
    wrong = np.flatnonzero((codes < 0) | (codes >= n_codes))
    if len(wrong):
        first = wrong[0]
        raise _out_of_range(int(features[first]), int(codes[first]), int(n_codes[first]))


def _out_of_range(feature: int, code: int, n_codes: int) -> ValueError:
    return ValueError(
        f"Feature {feature} holds code {code}, but its codes go from 0 to {n_codes - 1}. "
        "Encode the table anew, and leave it unchanged until it is packed."
        if code >= 0
        else f"Feature {feature} holds code {code}. Codes start at 0: encode the table first."
    )


def aligned_zeros(n_rows: int, stride: int) -> NDArray[np.uint8]:
    """Return packed rows of zeros that begin where the kernels like it."""
    memory = np.zeros(n_rows * stride + _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    return memory[start : start + n_rows * stride].reshape(n_rows, stride)
