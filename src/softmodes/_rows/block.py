"""Rows packed for the kernels, and the one place where the range of codes is checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._rows.cache import Cache
from softmodes._table.codebook import SparseColumns

if TYPE_CHECKING:
    from softmodes._table.codebook import Codes

MOST_CODES = 1 << 24
_ALIGNMENT = 64
_CELLS_AT_ONCE = 1 << 20
_PIECE = 16  # rows are a whole number of pieces of this many bytes

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]


class Layout:
    """Where each feature lies in a packed row.

    Cells of feature j hold codes 0 .. `n_codes[j]` - 1; `ignored[j]` is the code (or -1) that is at
    distance 0 from every center. A row is consecutive sections of bytes: binary features, eight to
    a byte; nibbles with fields of 1 to 4 bits; features of one, two and three bytes. Binary
    features fill the spare bits of nibbles first. Nibbles whose fields hold at most 3 codes come
    before the others, since counting their bits is counting their codes.

    `offsets` says where the cells of each feature start in dense counts; the features of more than
    256 codes, listed in `sparse_features`, have none.

    Examples
    --------
    >>> layout = Layout([2, 3, 300], [-1, -1, -1])
    >>> layout.stride, layout.n_cells, layout.sparse_features
    (16, 5, (2,))
    """

    def __init__(self, n_codes: Int32s | Sequence[int], ignored: Int32s | Sequence[int]) -> None:
        self.n_codes = np.array(n_codes, np.int32)
        self.ignored = np.array(ignored, np.int32)
        _check_sizes(self.n_codes, self.ignored)
        self.n_features = len(self.n_codes)
        self.sparse_features = tuple(np.flatnonzero(self.n_codes > 256).tolist())
        cells = np.where(self.n_codes > 256, 0, self.n_codes)
        self.offsets: Int64s = np.concatenate([[0], np.cumsum(cells, dtype=np.int64)])
        self.n_cells = int(self.offsets[-1])
        place = _place(self.n_codes, self.ignored)
        self.byte, self.shift, self.bits = place["byte"], place["shift"], place["bits"]
        self.stride = int(place["sections"][0])
        self.native: Any = _kernels.make_layout(
            n_codes=self.n_codes, ignored=self.ignored, offsets=self.offsets, **place
        )

    def __reduce__(self) -> tuple[type[Layout], tuple[Int32s, Int32s]]:
        return Layout, (self.n_codes, self.ignored)


@dataclass(frozen=True, eq=False)
class Block:
    """Packed rows; row i of the block is row `first_row` + i of the table.

    `cache` is for what passes leave behind; it stays where it is when the block travels.
    """

    layout: Layout
    packed: NDArray[np.uint8]
    first_row: int = 0
    index: int = 0  # its position among the blocks of its store
    weight: NDArray[np.int64] | None = None
    cache: Cache = field(default_factory=Cache, repr=False)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.packed)

    @property
    def total_weight(self) -> int:
        """Sum of the weights, in units; without weights the number of rows."""
        return self.n_rows if self.weight is None else int(self.weight.sum())

    def __sizeof__(self) -> int:
        """Return the bytes of the rows and weights, for whoever decides what stays in memory."""
        return self.packed.nbytes + (0 if self.weight is None else self.weight.nbytes)


def pack(
    codes: Codes,
    n_threads: int = 1,
    first_row: int = 0,
    weight: NDArray[np.int64] | None = None,
) -> Block:
    """Pack the codes of a table, without copying them first.

    Raises ValueError if a cell holds a code beyond its feature's `n_codes`.
    """
    layout = Layout(codes.n_codes, codes.ignored)
    packed = _aligned_zeros(codes.n_rows, layout.stride)
    if codes.matrix is not None:
        _pack_matrix(layout, codes.matrix, codes.remap, packed, n_threads)
    elif isinstance(codes.by_column, SparseColumns):
        _pack_sparse(layout, codes.by_column, packed)
    else:
        assert codes.by_column is not None
        _pack_columns(layout, codes.by_column, packed, n_threads)
    return Block(layout, packed, first_row=first_row, weight=weight)


def unpack(block: Block, rows: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the codes of some rows, numbered within the block.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> column = np.array([0, 2, 1], np.uint8)
    >>> codes = SimpleNamespace(n_rows=3, by_column=(column,), matrix=None, remap=None,
    ...                         n_codes=[3], ignored=[-1])
    >>> unpack(pack(codes), np.array([1, 2])).tolist()
    [[2], [1]]
    """
    return _kernels.unpack(block.layout.native, block.packed, np.asarray(rows, np.int64))


def _pack_columns(
    layout: Layout, columns: Sequence[NDArray[Any]], packed: NDArray[np.uint8], n_threads: int
) -> None:
    largest = _kernels.pack_columns(layout.native, list(columns), packed, n_threads)
    too_large = np.flatnonzero(largest >= layout.n_codes)
    if len(packed) and len(too_large):
        j = int(too_large[0])
        code = int(largest[j : j + 1].view(np.int32)[0])
        raise _out_of_range(j, code, int(layout.n_codes[j]))


def _pack_matrix(
    layout: Layout,
    matrix: NDArray[np.uint8],
    remap: NDArray[np.uint8] | None,
    packed: NDArray[np.uint8],
    n_threads: int,
) -> None:
    assert remap is not None
    beyond = remap >= layout.n_codes[:, None]
    if beyond.any():
        # Only now is it worth a pass to see whether such a byte occurs at all.
        bad = np.argwhere(beyond & _kernels.presence(matrix, n_threads))
        if len(bad):
            j, byte = bad[0].tolist()
            raise _out_of_range(j, int(remap[j, byte]), int(layout.n_codes[j]))
        remap = np.where(beyond, np.uint8(0), remap)
    _kernels.pack_matrix(layout.native, matrix, remap, packed, n_threads)


def _pack_sparse(layout: Layout, columns: SparseColumns, packed: NDArray[np.uint8]) -> None:
    """Write one row of fills into all rows, then turn the bits of the stored cells."""
    stored, fill = columns.stored, columns.fill
    everywhere = np.arange(layout.n_features)
    _check_codes(layout, everywhere, fill)
    common = np.zeros(layout.stride, np.uint8)
    _turn_bits(layout, common, np.zeros(1, np.int64), everywhere, fill)
    packed[:] = common
    for first, last in _row_runs(stored.indptr):
        cells = slice(stored.indptr[first], stored.indptr[last])
        features, codes = stored.indices[cells], stored.data[cells]
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


def _aligned_zeros(n_rows: int, stride: int) -> NDArray[np.uint8]:
    memory = np.zeros(n_rows * stride + _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    return memory[start : start + n_rows * stride].reshape(n_rows, stride)


def _check_sizes(n_codes: Int32s, ignored: Int32s) -> None:
    if n_codes.ndim != 1 or n_codes.shape != ignored.shape or not len(n_codes):
        raise ValueError(
            f"n_codes and ignored have shapes {n_codes.shape} and {ignored.shape}. "
            "Pass one entry per feature in each, for at least one feature."
        )
    wrong = np.flatnonzero((n_codes < 1) | (n_codes > MOST_CODES) | (ignored >= n_codes))
    if len(wrong):
        j = int(wrong[0])
        raise ValueError(
            f"Feature {j} has n_codes={n_codes[j]} and ignored={ignored[j]}. "
            f"Pass n_codes from 1 to {MOST_CODES} and an ignored code below it, or -1."
        )


@dataclass
class _Nibbles:
    """Fields placed in nibbles so far, and the bits that are still free in them."""

    feature: list[Int64s] = field(default_factory=list)
    nibble: list[Int64s] = field(default_factory=list)
    shift: list[Int64s] = field(default_factory=list)
    spare: list[tuple[Int64s, Int64s]] = field(default_factory=list)
    n: int = 0

    def add(self, features: Int64s, bits: int) -> None:
        """Place fields of equal width side by side in new nibbles."""
        per_nibble = 4 // bits
        n_new = -(-len(features) // per_nibble)
        place = np.arange(len(features))
        self._put(features, self.n + place // per_nibble, place % per_nibble * bits)
        if bits == 3:
            self.spare.append((self.n + place, np.full(len(features), 3)))
        elif len(features) % per_nibble:
            free = np.arange(len(features) % per_nibble * bits, 4)
            self.spare.append((np.full(len(free), self.n + n_new - 1), free))
        self.n += n_new

    def fill(self, features: Int64s) -> Int64s:
        """Place one-bit fields in spare bits; return the features that found none."""
        spare_nibble, spare_shift = (
            np.concatenate([np.zeros(0, np.int64), *parts])
            for parts in ([s[0] for s in self.spare], [s[1] for s in self.spare])
        )
        n = min(len(features), len(spare_nibble))
        self._put(features[:n], spare_nibble[:n], spare_shift[:n])
        self.spare = [(spare_nibble[n:], spare_shift[n:])]
        return features[n:]

    def _put(self, features: Int64s, nibble: Int64s, shift: Int64s) -> None:
        self.feature.append(features)
        self.nibble.append(nibble)
        self.shift.append(shift)


def _place(n_codes: Int32s, ignored: Int32s) -> dict[str, NDArray[Any]]:
    """Give every feature its place in the row, as the native layout takes it."""
    where = {
        "pure": np.flatnonzero((n_codes <= 2) & (ignored < 0)),
        "masked": np.flatnonzero((n_codes <= 2) & (ignored >= 0)),
        3: np.flatnonzero(n_codes == 3),
        4: np.flatnonzero(n_codes == 4),
        8: np.flatnonzero((n_codes > 4) & (n_codes <= 8)),
        16: np.flatnonzero((n_codes > 8) & (n_codes <= 16)),
    }
    nibbles = _Nibbles()
    odd = len(where[3]) % 2 and len(where[4]) % 2  # the two that are left over share a nibble
    nibbles.add(where[3][: len(where[3]) - odd], 2)
    n_beside = min(len(where["masked"]), len(where[8]))  # a field of 3 bits leaves one free
    nibbles.add(where["masked"][n_beside:], 1)
    n_plain = nibbles.n
    nibbles.add(np.concatenate([where[3][len(where[3]) - odd :], where[4]]), 2)
    nibbles.add(where[8], 3)
    nibbles.fill(where["masked"][:n_beside])
    nibbles.add(where[16], 4)
    binary = nibbles.fill(where["pure"])

    d = len(n_codes)
    byte, shift, bits = (np.zeros(d, np.int32) for _ in range(3))
    bit_bytes = -(-len(binary) // 8)
    byte[binary] = np.arange(len(binary)) // 8
    shift[binary] = np.arange(len(binary)) % 8
    bits[:] = np.select([n_codes <= 2, n_codes <= 4, n_codes <= 8], [1, 2, 3], 4)
    feature, nibble = np.concatenate(nibbles.feature), np.concatenate(nibbles.nibble)
    byte[feature] = bit_bytes + nibble // 2
    shift[feature] = np.concatenate(nibbles.shift) + nibble % 2 * 4
    nibble_end = bit_bytes + -(-nibbles.n // 2)
    plain_end = nibble_end if n_plain == nibbles.n else bit_bytes + n_plain // 2

    wide, n_wide, end = [], [], nibble_end
    for size, (low, high) in enumerate([(16, 256), (256, 65536), (65536, MOST_CODES)], start=1):
        features = np.flatnonzero((n_codes > low) & (n_codes <= high))
        byte[features] = end + np.arange(len(features)) * size
        bits[features] = 8 * size
        end += len(features) * size
        wide.append(features)
        n_wide.append(len(features))
    stride = max(1, -(-end // _PIECE)) * _PIECE
    return {
        "byte": byte,
        "shift": shift,
        "bits": bits,
        "wide": np.concatenate(wide).astype(np.int32),
        "sections": np.array(
            [stride, bit_bytes, plain_end, nibble_end, nibbles.n, *n_wide], np.int64
        ),
    }
