"""Columns of every type, as NumPy and Arrow hold them."""

from __future__ import annotations

import ast
import datetime as dt
import math
import pickle
import subprocess
import sys
import tracemalloc
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from naive_codes import assert_as_naive, everything, matrix_of, objects
from numpy.testing import assert_array_equal

from softmodes._rows.block import layout_of, pack
from softmodes._table.codebook import learn
from softmodes._table.codes import ByteCells, SparseCells

INTEGERS = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]


@pytest.mark.parametrize("order", ["C", "F", "strided"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_of_every_type_and_layout_give_the_codes_of_lists(dtype, order):
    rng = np.random.default_rng(0)
    info = None if dtype == "bool" else np.iinfo(dtype)
    for low, high in [
        (0, 2),
        (info and info.min, info and info.max),
        (info and info.max - 9, info and info.max),
    ]:
        if low is None:
            continue
        X = rng.integers(
            low, high, (60, 19), dtype="uint8" if info is None else dtype, endpoint=info is not None
        )
        X = X.astype(dtype)
        X = np.asfortranarray(X) if order == "F" else X
        X = np.repeat(X, 2, axis=1)[:, ::2] if order == "strided" else X
        codebook = assert_as_naive(X, X.T.tolist())
        expected = "bool" if dtype == "bool" else {"int64", "uint64"}
        assert all(str(values.dtype) in expected for values in codebook.categories)


@pytest.mark.parametrize("span", [3, 256, 257, 1000, 10**6, 10**12])
def test_small_and_large_ranges_of_integers_agree(span):
    rng = np.random.default_rng(1)
    X = rng.integers(-span // 2, span // 2, (150, 18))
    assert_as_naive(X, X.T.tolist())
    assert_as_naive(pl.DataFrame(X), X.T.tolist())


@pytest.mark.parametrize("n_rows", [50, 90])  # few rows of many columns are kept by column
@pytest.mark.parametrize("n_features", [2, 63, 64, 65, 130])
@pytest.mark.parametrize("as_table", [np.asarray, pd.DataFrame, sp.csr_array])
def test_codes_come_by_feature_and_by_row_however_they_are_kept(as_table, n_features, n_rows):
    rng = np.random.default_rng(n_features)
    lowest = rng.integers(-3, 2, n_features)  # the same byte has another code in another column
    X = np.maximum(rng.integers(-3, 3, (n_rows, n_features)), lowest).astype(np.int8)
    _, codes = learn(as_table(X))
    cells = matrix_of(codes)
    kept = {np.asarray: ByteCells, pd.DataFrame: tuple, sp.csr_array: SparseCells}
    if n_rows < 64 <= n_features:
        kept[np.asarray] = np.ndarray
    assert isinstance(codes.cells, kept[as_table])
    columns = list(codes.columns())
    assert_array_equal(np.stack(columns, axis=1), cells)
    assert_array_equal(np.stack([codes.column(j) for j in range(n_features)], axis=1), cells)
    assert all(column.flags.c_contiguous and column.dtype == np.uint8 for column in columns)
    for index in (slice(None), slice(7, 3, -1), [40, 0, 0], np.arange(0)):
        rows = codes.rows(index)
        assert_array_equal(rows, cells[index])
        assert rows.dtype == np.int32


def test_byte_matrices_are_not_copied():
    X = np.random.default_rng(0).random((100_000, 100)) < 0.5
    tracemalloc.start()
    for matrix in (X, X.view(np.uint8), X.view(np.int8)):
        _, codes = learn(matrix)
        assert np.shares_memory(codes.cells.matrix, X)
    assert tracemalloc.get_traced_memory()[1] < X.nbytes / 4
    tracemalloc.stop()


def test_one_byte_stands_for_the_second_of_two_values():
    """Only then are columns packed by comparison, many times faster than by look-up."""
    X = np.random.default_rng(0).integers(0, 2, (100, 3)) * [1, 7, 255]
    for matrix in (X > 0, X.astype(np.uint8), X):
        codes = learn(matrix)[1]
        assert (np.count_nonzero(codes.cells.remap == 1, axis=1) == 1).all()


def test_a_pandas_frame_of_bools_is_not_copied():
    X = np.random.default_rng(0).random((1000, 10)) < 0.5
    for matrix in (X, np.asfortranarray(X)):
        frame = pd.DataFrame(matrix, copy=False)
        _, codes = learn(frame)
        own = codes.cells.matrix if isinstance(codes.cells, ByteCells) else codes.column(3)
        assert np.shares_memory(own, frame.iloc[:, 3].to_numpy())
        assert_array_equal(matrix_of(codes), X)


def test_codes_that_are_those_of_the_codebook_are_not_copied():
    X = np.asfortranarray(np.random.default_rng(0).random((1000, 2)) < 0.5)
    codes, _ = learn(X)[0].encode(X)
    assert np.shares_memory(codes.column(1), X)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("true", [1, 2, 255])
def test_every_byte_but_zero_is_true(true, order):
    cells = np.array([[0, true], [1, 1], [true, 255]], np.uint8)
    X = np.asarray(cells.view(bool), order=order)
    codebook, codes = learn(X)
    assert [values.tolist() for values in codebook.categories] == [[False, True], [True]]
    assert matrix_of(codes).tolist() == [[0, 0], [1, 0], [1, 0]]
    assert everything(pack(codes, layout_of(codes.ranges))).tolist() == [[0, 0], [1, 0], [1, 0]]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "longdouble"])
def test_floats_of_every_type_are_numbers_by_value(dtype):
    X = np.array([[1.5, np.nan], [-0.0, 2], [0.0, np.inf], [1.5, -np.inf]], dtype=dtype)
    codebook = assert_as_naive(X, X.T.tolist())
    assert codebook.categories[0].tolist() == [0.0, 1.5]
    assert not codebook.encode([[0, Decimal(2)]])[1]


@pytest.mark.parametrize("dtype", ["<U3", ">U3", "S3", "object"])
def test_numpy_text_of_every_type(dtype):
    X = np.array([["b", "aé"[:1]], ["", "abc"], ["b", "a"]]).astype(dtype)
    assert_as_naive(X, X.astype(object).T.tolist())


@pytest.mark.parametrize("column", [[-0.0], [0.0, -0.0], [-0.0, 0.0, 1.0], ["a", -0.0], [-0.0, 1]])
def test_zero_is_shown_without_sign(column):
    assert math.copysign(1, learn(objects([column]))[0].categories[0][0]) == 1


@pytest.mark.parametrize(
    "column",
    [
        [True, 1, 0, False], [1, "1", 1], [True, "True"], [2**63 + 1, -1, 2.0**63], [1, 1.5],
        [dt.date(2020, 1, 1), dt.datetime(2020, 1, 1)], [b"a", "a"], ["a", "abc"],
    ],
)  # fmt: skip
def test_rows_that_are_arrays_keep_their_types_apart(column):
    if isinstance(column[0], dt.date):
        rows = [np.array(["2020-01-01"], "M8[D]"), np.array(["2020-01-01"], "M8[us]")]
    else:
        rows = [np.array([value]) for value in column]
    assert_as_naive(rows, [column])


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "<U1", "object"])
def test_rows_that_are_arrays_of_one_type_are_a_matrix(dtype):
    X = np.array([[1, 0, 3], [0, 0, 2]]).astype(dtype)
    assert_as_naive(list(X), X.T.tolist())


DATE = np.datetime64("2020-01-01")
NUMBERS = [np.int8(1), np.int64(1), np.float32(1), np.True_, 1, True]


@pytest.mark.parametrize("date", [DATE, np.datetime64("NaT"), np.timedelta64(1, "s")])
def test_numpy_dates_before_numpy_numbers_are_told_apart(date):
    script = (
        "import sys, pickle; from softmodes._table.codebook import learn;"
        "columns = pickle.load(sys.stdin.buffer);"
        "print([learn([[cell] for cell in column])[1].column(0).tolist() for column in columns])"
    )
    columns = [[date, number] for number in NUMBERS]
    found = subprocess.run(
        [sys.executable, "-c", script], input=pickle.dumps(columns), capture_output=True, check=True
    )
    assert ast.literal_eval(found.stdout.decode()) == [[1, 0]] * len(NUMBERS)


@pytest.mark.parametrize("date", [np.datetime64("1970"), np.datetime64(0, "D")])
@pytest.mark.parametrize("midnight", [np.datetime64(0, "us"), np.datetime64(0, "h")])
def test_a_numpy_date_is_not_its_midnight_in_any_order(date, midnight):
    assert date == midnight
    for cells in (["x", date, midnight], ["x", midnight, date], [midnight, date]):
        codebook, codes = learn(objects([cells]))
        day, moment = dt.date(1970, 1, 1), dt.datetime(1970, 1, 1)
        assert codebook.categories[0].tolist() == ["x"] * ("x" in cells[:1]) + [day, moment]
        found = dict(zip(map(str, cells), codes.column(0).tolist(), strict=True))
        assert found[str(date)] < found[str(midnight)]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble])
@pytest.mark.parametrize("whole", [1, np.int8(1)])
def test_floats_of_every_type_stay_whole_beside_integers(kind, whole):
    for column in (
        [kind(1.5), whole],
        [whole, kind(1.5), kind(1)],
        [whole, kind("nan"), kind(2.5)],
    ):
        assert_as_naive(objects([column]), [column])


def test_a_numpy_duration_without_a_unit_is_refused():
    with pytest.raises(
        TypeError, match=r"^Column 0 holds a value of type timedelta64 without a unit"
    ):
        learn([[np.timedelta64(5)], [1]])
    assert learn([[np.timedelta64("NaT")], [1]])[0].has_missing == (True,)


def test_a_signaling_nan_is_missing():
    column = [Decimal("sNaN"), Decimal("1.5"), None, Decimal("-sNaN7"), 2]
    codebook, codes = learn(objects([column]))
    assert codebook.categories[0].tolist() == [Decimal("1.5"), 2]
    assert matrix_of(codes)[:, 0].tolist() == [2, 0, 2, 2, 1]
    assert codebook.has_missing == (True,)


@pytest.mark.parametrize("dictionary", [False, True])
@pytest.mark.parametrize("kind", ["decimal32", "decimal64", "decimal128", "decimal256"])
def test_decimals_of_every_width_are_one_kind_of_number(kind, dictionary):
    if not hasattr(pa, kind):
        pytest.skip(f"this pyarrow has no {kind}")
    cells = [Decimal("2.5"), None, Decimal("-1.0"), Decimal("2.5")]
    column = pa.array(cells, getattr(pa, kind)(5, 1))
    if dictionary:
        distinct = pa.array([Decimal("2.5"), Decimal("-1.0")], column.type)
        column = pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 0]), distinct)
    codebook = assert_as_naive(pa.table({"a": column}), [cells])
    assert codebook == learn(pa.table({"a": pa.array(cells, pa.decimal128(5, 1))}))[0]


@pytest.mark.parametrize("index", [7, 3, -1, -128])
@pytest.mark.parametrize("chunked", [False, True])
def test_an_arrow_index_outside_its_dictionary_is_refused(index, chunked):
    indices = pa.array([0, None, index], pa.int8())
    bad = pa.DictionaryArray.from_arrays(indices, ["a", "b", "c"], safe=False)
    other = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), ["z"])
    table = pa.table({"a": ["x"] * 4, "b": pa.chunked_array([other, bad])})
    if not chunked:
        table = pa.table({"a": ["x"] * 3, "b": bad})
    text = rf"Column 1 \('b'\) holds index {index} into a dictionary of 3 values\. Pass .* 0 to 2,"
    with pytest.raises(ValueError, match=text):
        learn(table)


def test_arrow_chunks_with_different_dictionaries_are_one_column():
    """Together they need wider indices than each, and one holds a null: Arrow unifies neither."""
    texts = [[f"{i:03}" for i in range(start, start + 100)] for start in (0, 50, 120)]
    chunks = [pa.array(part).dictionary_encode() for part in [*texts, ["x", None]]]
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices.cast(pa.int8()), chunk.dictionary)
        for chunk in chunks
    ]
    nulls = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array([None, "y"]))
    table = pa.table({"a": pa.chunked_array([*chunks, nulls])})
    assert_as_naive(table, [[*texts[0], *texts[1], *texts[2], "x", None, None, "y"]])


def test_masked_cells_are_missing():
    X = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    assert_as_naive(X, [[1, 3], [None, 4]])
