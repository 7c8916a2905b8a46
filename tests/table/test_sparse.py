"""Sparse tables equal dense ones."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from naive_codes import assert_as_naive, matrix_of
from numpy.testing import assert_array_equal

from softmodes import SoftModes
from softmodes._rows.block import layout_of, pack
from softmodes._table.codebook import learn


def sparse_example(dtype: str, n_rows: int = 40) -> np.ndarray:
    rng = np.random.default_rng(5)
    X = rng.integers(-2, 3, (n_rows, 7)) * (rng.random((n_rows, 7)) < 0.4)
    X[:, 0], X[:, 1], X[:, 2] = 0, 1, rng.integers(1, 9, n_rows)
    return X.astype(dtype)


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_sparse_tables_of_every_format_equal_dense_ones(layout, kind):
    for dtype in ("bool", "int8", "int64", "float32", "float64"):
        X = sparse_example(dtype)
        table = getattr(sp, f"{layout}_{kind}")(X)
        codebook = assert_as_naive(table, X.T.tolist())
        dense_book, dense = learn(X)
        assert codebook == dense_book
        again, unseen = dense_book.encode(table)
        assert not unseen
        assert_array_equal(matrix_of(again), matrix_of(dense))


def test_sparse_nan_is_missing_and_stored_zeros_are_zeros():
    X = np.array([[0, np.nan, 1.0], [np.nan, np.nan, 0], [3, np.nan, 0]])
    table = sp.csr_array(X)
    table.data[table.data == 3] = 0
    expected = np.where(X == 3, 0, X)
    assert_as_naive(table, expected.T.tolist())
    with pytest.raises(ValueError, match="Column 0 has 1 missing cells, the first in row 1"):
        learn(table, missing="error")


@pytest.mark.parametrize("n_values", [255, 256, 65_536])
def test_a_missing_sparse_cell_is_found_beside_any_number_of_values(n_values):
    column = np.append(np.arange(n_values, dtype=float), np.nan)
    with pytest.raises(
        ValueError, match=f"Column 0 has 1 missing cells, the first in row {n_values}"
    ):
        learn(sp.csr_array(column[:, None]), missing="error")


def test_wide_sparse_columns_equal_dense_ones():
    X = sparse_example("int64", 1000)
    X[:, 3] = np.arange(1000) - 500
    assert_as_naive(sp.csc_array(X), X.T.tolist())


@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_unseen_and_missing_sparse_cells_translate_as_dense_ones(missing):
    old = sparse_example("float64")
    new = old[::-1].copy()
    new[3, :], new[5:9, 2], new[11, 4] = 77, np.nan, -5
    codebook, _ = learn(old, missing)
    dense, dense_unseen = codebook.encode(new)
    sparse, sparse_unseen = codebook.encode(sp.csr_array(new))
    assert sparse_unseen == dense_unseen
    assert len(dense_unseen.columns) == new.shape[1]
    assert_array_equal(sparse.ranges.n_codes, dense.ranges.n_codes)
    assert_array_equal(sparse.ranges.ignored, dense.ranges.ignored)
    assert_array_equal(matrix_of(sparse), matrix_of(dense))
    layout = layout_of(dense.ranges)
    assert_array_equal(pack(sparse, layout).packed, pack(dense, layout).packed)


def test_sparse_duplicates_are_summed_and_left_to_the_caller():
    table = sp.csr_array(
        (np.array([1, 2, 5]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2)
    )
    assert_as_naive(table, [[3, 0], [0, 5]])
    assert table.data.tolist() == [1, 2, 5]


def broken_csr():
    table = sp.csr_array(np.eye(3))
    table.indices[0] = 77
    return table


def broken_csc():
    table = sp.csc_array(np.eye(3))
    table.indptr[1] = 100
    return table


def broken_coo():
    table = sp.coo_array(np.eye(3))
    table.row[0] = 10**6
    return table


def broken_lil():
    table = sp.lil_array(np.eye(3))
    table.rows[0] = [77]
    return table


@pytest.mark.parametrize("broken", [broken_csr, broken_csc, broken_coo, broken_lil])
def test_indices_outside_a_sparse_table_are_refused_before_scipy_follows_them(broken):
    with pytest.raises(ValueError, match=r"^The indices of the sparse table do not fit.*Build it"):
        learn(broken())


def test_a_sparse_table_with_room_to_grow_is_left_as_it_came():
    table = sp.csr_array(np.eye(3))
    table.data, table.indices = np.append(table.data, 9.0), np.append(table.indices, 1)
    assert_as_naive(table, np.eye(3).tolist())
    assert len(table.data) == 4


def test_sparse_rows_are_never_made_dense():
    rows = sp.random(20_000, 600, density=0.002, format="csr", random_state=0)
    rows.data[:] = 1
    model = SoftModes(3, n_init=1, init="random", max_iter=2, refine=None, random_state=0)
    for ask in ("fit", "predict", "transform", "margin"):
        tracemalloc.start()
        getattr(model, ask)(rows)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 0.5 * np.prod(rows.shape), "half a byte for each cell"
