"""Packing and unpacking: places, both forms of input, and the check of the range of codes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from softmodes import _kernels
from softmodes._rows.block import MOST_CODES, Layout, layout_of, pack, unpack
from softmodes._table.codes import ByteCells, CodeRanges, Codes, SparseCells

WIDTHS = [1, 2, 3, 4, 5, 8, 9, 16, 17, 255, 256, 257, 65536, 65537, MOST_CODES]


def by_column(codes, n_codes, ignored=None):
    """Return codes as columns of the narrowest type."""
    types = [np.uint8 if m <= 256 else np.uint16 if m <= 65536 else np.int32 for m in n_codes]
    columns = tuple(np.ascontiguousarray(codes[:, j], t) for j, t in enumerate(types))
    return as_codes(columns, len(codes), n_codes, ignored)


def by_matrix(matrix, remap, n_codes, ignored=None):
    return as_codes(ByteCells(matrix, remap), len(matrix), n_codes, ignored)


def as_codes(cells, n_rows, n_codes, ignored=None):
    ignored = np.full(len(n_codes), -1) if ignored is None else ignored
    ranges = CodeRanges(np.array(n_codes, np.int32), np.array(ignored, np.int32))
    return Codes(n_rows, cells, ranges)


def by_fill(codes, fill, n_codes, ignored=None):
    """Return codes as sparse columns that store what differs from the fill."""
    rows, columns = np.nonzero(codes != fill)
    stored = sp.csr_array((codes[rows, columns].astype(np.int32), (rows, columns)), codes.shape)
    return as_codes(SparseCells(stored, np.array(fill, np.int32)), len(codes), n_codes, ignored)


def packed(codes, n_threads=1):
    return pack(codes, layout_of(codes.ranges), n_threads)


def everything(block):
    return unpack(block, np.arange(len(block.packed)))


@settings(max_examples=100, deadline=None)
@given(
    widths=st.lists(st.sampled_from(WIDTHS), min_size=1, max_size=60),
    n=st.integers(1, 600),
    n_threads=st.sampled_from([1, 3]),
    seed=st.integers(0, 2**32),
)
def test_unpacking_gives_the_packed_codes(widths, n, n_threads, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, widths, (n, len(widths)))
    codes[0] = np.array(widths) - 1
    ignored = np.where(rng.random(len(widths)) < 0.3, 0, -1)
    block = packed(by_column(codes, widths, ignored), n_threads)
    assert_array_equal(everything(block), codes)


@pytest.mark.parametrize("d", [1, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300])
@pytest.mark.parametrize("kind", ["binary", "two values", "mixed"])
def test_matrix_and_columns_pack_to_the_same_bytes(isa, kind, d):
    rng = np.random.default_rng(d)
    n_codes = np.full(d, 2) if kind != "mixed" else rng.choice([2] * 50 + [3, 5, 20, 256], d)
    remap = np.zeros((d, 256), np.uint8)
    remap[:, 1] = 1
    if kind == "two values":
        remap = (np.arange(256) == rng.integers(0, 256, (d, 1))).astype(np.uint8)
    elif kind == "mixed":
        remap = rng.integers(0, n_codes[:, None], (d, 256)).astype(np.uint8)
        remap[::3, :] = np.arange(256) == 7
    matrix = rng.integers(0, 256 if kind != "binary" else 2, (700, d)).astype(np.uint8)
    codes = remap[np.arange(d), matrix]
    block = packed(by_matrix(matrix, remap, n_codes), n_threads=2)
    assert_array_equal(everything(block), codes)
    assert_array_equal(block.packed, packed(by_column(codes, n_codes)).packed)


@settings(max_examples=100, deadline=None)
@given(
    widths=st.lists(st.sampled_from(WIDTHS), min_size=1, max_size=60),
    n=st.integers(1, 300),
    density=st.sampled_from([0, 0.02, 0.5, 1]),
    cells_at_once=st.sampled_from([1, 50, 1 << 20]),
    seed=st.integers(0, 2**32),
)
def test_sparse_and_dense_columns_pack_to_the_same_bytes(widths, n, density, cells_at_once, seed):
    rng = np.random.default_rng(seed)
    fill = rng.integers(0, widths)
    others = rng.integers(0, widths, (n, len(widths)))
    codes = np.where(rng.random(others.shape) < density, others, fill)
    ignored = np.where(rng.random(len(widths)) < 0.3, 0, -1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("softmodes._rows.block._CELLS_AT_ONCE", cells_at_once)
        block = packed(by_fill(codes, fill, widths, ignored))
    assert_array_equal(block.packed, packed(by_column(codes, widths, ignored)).packed)


def test_packing_does_not_touch_its_input():
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 2, (300, 70)).astype(np.uint8)
    remap = np.tile(np.minimum(np.arange(256), 1).astype(np.uint8), (70, 1))
    matrix.flags.writeable = remap.flags.writeable = False
    block = packed(by_matrix(matrix, remap, [2] * 70))
    assert_array_equal(everything(block), matrix)


def test_rows_are_aligned_and_whole_pieces():
    for d in (1, 8, 130, 1000):
        block = packed(by_column(np.zeros((5, d), int), [2] * d))
        assert block.packed.ctypes.data % 64 == 0
        assert block.packed.flags.c_contiguous
        assert block.layout.stride % 16 == 0


@pytest.mark.parametrize(
    ("n_codes", "used"),
    [
        ([2] * 1000, 125),  # eight to a byte
        ([3] * 42, 10.5),  # two to a nibble
        ([5] * 8 + [2] * 8, 4),  # binary features in the spare bits
        ([3, 4], 0.5),  # what is left over shares a nibble
        ([16] * 10, 5),
        ([17] * 3 + [257] + [65537], 3 + 2 + 3),
    ],
)
def test_no_bytes_are_wasted(n_codes, used):
    layout = Layout(n_codes, [-1] * len(n_codes))
    assert layout.stride == -(-int(np.ceil(used)) // 16) * 16


def test_offsets_skip_sparse_features():
    layout = Layout([2, 300, 256, 70000, 3], [-1] * 5)
    assert layout.offsets.tolist() == [0, 2, 2, 258, 258, 261]
    assert layout.n_cells == 261
    assert layout.sparse_features == (1, 3)


@settings(max_examples=100, deadline=None)
@given(
    widths=st.lists(st.sampled_from(WIDTHS), min_size=1, max_size=80), seed=st.integers(0, 2**32)
)
def test_fields_never_overlap_nor_cross_a_nibble(widths, seed):
    ignored = np.where(np.random.default_rng(seed).random(len(widths)) < 0.3, 0, -1)
    layout = Layout(widths, ignored.tolist())
    first = 8 * layout.byte.astype(int) + layout.shift
    taken = [
        bit for start, n in zip(first, layout.bits, strict=True) for bit in range(start, start + n)
    ]
    assert len(set(taken)) == len(taken)
    assert max(taken) < 8 * layout.stride
    assert (2 ** layout.bits.astype(float) >= widths).all()
    small = layout.bits < 8
    assert_array_equal((first // 4)[small], ((first + layout.bits - 1) // 4)[small])
    assert_array_equal((first % 8)[~small], 0)


def test_layout_arrays_cannot_be_changed():
    layout = Layout([2, 3], [-1, -1])
    for name in ("n_codes", "ignored", "offsets", "bits", "byte", "shift"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(layout, name)[0] = 1


def test_layout_arrays_outlive_the_layout():
    offsets = Layout([2, 3], [-1, -1]).offsets
    assert offsets.tolist() == [0, 2, 5]


def test_layout_survives_pickling():
    layout = Layout([2, 3, 300, 5], [-1, 2, -1, 0])
    again = pickle.loads(pickle.dumps(layout))
    assert_array_equal(again.n_codes, layout.n_codes)
    assert_array_equal(again.ignored, layout.ignored)
    assert_array_equal(again.byte, layout.byte)
    assert again.stride == layout.stride


def test_unpack_takes_rows_in_any_order():
    codes = np.arange(300)[:, None] % 17
    block = packed(by_column(codes, [17]))
    rows = np.array([299, 0, 7, 7])
    assert_array_equal(unpack(block, rows), codes[rows])
    with pytest.raises(ValueError, match="rows must lie in the block"):
        unpack(block, np.array([300]))


@pytest.mark.parametrize("n_codes", [2, 3, 16, 200, 300, 70000])
def test_code_out_of_range_is_refused(isa, n_codes):
    codes = np.zeros((400, 3), int)
    types = [np.uint8, np.uint8 if n_codes < 256 else np.int32, np.uint8]
    codes[333, 1] = n_codes
    columns = tuple(np.ascontiguousarray(codes[:, j], t) for j, t in enumerate(types))
    message = f"Feature 1 holds code {n_codes}, but its codes go from 0 to {n_codes - 1}."
    with pytest.raises(ValueError, match=message):
        packed(as_codes(columns, 400, [2, n_codes, 2]), n_threads=2)


@pytest.mark.parametrize(("cell", "fill"), [(2, 0), (0, 2)])
def test_sparse_code_out_of_range_is_refused(cell, fill):
    codes = np.zeros((5, 3), int)
    codes[3, 1] = cell
    sparse = by_fill(codes, np.array([0, fill, 0]), [2, 2, 2])
    with pytest.raises(ValueError, match="Feature 1 holds code 2, but its codes go from 0 to 1"):
        packed(sparse)


def test_the_remedy_for_a_code_out_of_range_names_what_a_user_has():
    with pytest.raises(ValueError, match=r"0 to 1\. Encode the table anew, and leave it unchanged"):
        packed(by_column(np.array([[5]]), [2]))


def test_negative_code_is_refused():
    columns = (np.array([0, -1, 2], np.int32),)
    with pytest.raises(ValueError, match=r"Feature 0 holds code -1\. Codes start at 0"):
        packed(as_codes(columns, 3, [300]))


def test_matrix_code_out_of_range_is_refused_only_if_it_occurs():
    remap = np.tile(np.minimum(np.arange(256), 9).astype(np.uint8), (40, 1))
    matrix = np.zeros((300, 40), np.uint8)
    assert_array_equal(everything(packed(by_matrix(matrix, remap, [2] * 40))), matrix)
    matrix[299, 39] = 5
    with pytest.raises(ValueError, match="Feature 39 holds code 5, but its codes go from 0 to 1"):
        packed(by_matrix(matrix, remap, [2] * 40))


@pytest.mark.parametrize(
    ("n_codes", "ignored", "message"),
    [
        ([2, 0], [-1, -1], "Feature 1 has n_codes=0"),
        ([2, MOST_CODES + 1], [-1, -1], f"n_codes from 1 to {MOST_CODES}"),
        ([2, 3], [-1, 3], "Feature 1 has n_codes=3 and ignored=3"),
        ([2, 3], [-1], "one entry per feature"),
        ([], [], "at least one feature"),
    ],
)
def test_impossible_layouts_are_refused(n_codes, ignored, message):
    with pytest.raises(ValueError, match=message):
        Layout(n_codes, ignored)


@pytest.mark.parametrize("n_threads", [-1, 0, 2**29, 2**31 - 1])
def test_any_number_of_threads_packs_the_same(n_threads):
    codes = np.random.default_rng(0).integers(0, 5, (5000, 9))
    matrix, remap = codes.astype(np.uint8), np.tile(np.arange(256, dtype=np.uint8) % 5, (9, 1))
    expected = packed(by_column(codes, [5] * 9)).packed
    assert_array_equal(packed(by_column(codes, [5] * 9), n_threads).packed, expected)
    assert_array_equal(packed(by_matrix(matrix, remap, [5] * 9), n_threads).packed, expected)
    assert_array_equal(_kernels.presence(matrix, n_threads), _kernels.presence(matrix))
