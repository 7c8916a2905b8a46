from __future__ import annotations

import ast
import datetime as dt
import itertools
import json
import math
import pickle
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from softmodes._estimators.base import resolve_init
from softmodes._rows.block import Block, layout_of, pack, unpack
from softmodes._table.codebook import MAX_CATEGORIES, Codebook, learn
from softmodes._table.codes import ByteCells, Codes, SparseCells

# --- a slow, obvious reference -------------------------------------------------------------------

UTC = dt.UTC


def is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or bool(value != value)


def place(value: Any) -> tuple[int, Any]:
    """Where the canonical order puts a value."""
    if isinstance(value, bool | np.bool_):
        return 0, bool(value)
    if isinstance(value, int | float | np.integer | np.floating | Decimal):
        whole = isinstance(value, int | np.integer)
        exact = int(value) if whole else value if isinstance(value, Decimal) else float(value)
        return 1, float(exact) if math.isinf(exact) else Fraction(exact)
    if isinstance(value, dt.datetime):
        return (5, value) if value.tzinfo is None else (6, value)
    kinds = (str, 2), (bytes, 3), (dt.date, 4), (dt.time, 7), (dt.timedelta, 8)
    return next(number for kind, number in kinds if isinstance(value, kind)), value


def naive(column: Sequence[Any]) -> tuple[list[Any], list[int]]:
    """The values in canonical order, and the codes, by comparing everything with everything."""
    places = [None if is_missing(value) else place(value) for value in column]
    ordered: list[Any] = sorted({p for p in places if p is not None})
    return ordered, [len(ordered) if p is None else ordered.index(p) for p in places]


def matrix_of(codes: Codes) -> np.ndarray:
    cells = codes.cells
    if isinstance(cells, ByteCells):
        return np.take_along_axis(cells.remap.T.astype(np.int64), cells.matrix.astype(np.int64), 0)
    if isinstance(cells, SparseCells):
        dense = np.tile(cells.fill, (codes.n_rows, 1))
        stored = cells.stored.tocoo()
        dense[stored.coords] = stored.data
        return dense
    return np.stack([np.asarray(column, np.int64) for column in cells], axis=1)


def everything(block: Block) -> np.ndarray:
    return unpack(block, np.arange(len(block.packed)))


def assert_well_formed(codebook: Codebook, codes: Codes) -> None:
    cells = matrix_of(codes)
    assert cells.shape == (codes.n_rows, codebook.n_features)
    n_codes, ignored = codes.ranges.n_codes, codes.ranges.ignored
    assert n_codes.dtype == ignored.dtype == codebook.n_values.dtype == np.int32
    assert (cells.max(axis=0) < n_codes).all()
    assert (codebook.n_values <= n_codes).all()
    for column, n in zip(codes.columns(), n_codes, strict=True):
        assert column.flags.c_contiguous
        assert column.dtype == (np.uint8 if n <= 256 else np.uint16 if n <= 65536 else np.int32)


def assert_as_naive(table: Any, columns: Sequence[Sequence[Any]]) -> Codebook:
    codebook, codes = learn(table)
    assert_well_formed(codebook, codes)
    for j, column in enumerate(columns):
        ordered, expected = naive(column)
        assert [place(value) for value in codebook.categories[j].tolist()] == ordered
        assert matrix_of(codes)[:, j].tolist() == expected
        assert codebook.has_missing[j] == any(map(is_missing, column))
    return codebook


# --- tables --------------------------------------------------------------------------------------

DATES = st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1))
DATETIMES = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1))
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
KINDS: dict[str, st.SearchStrategy[Any]] = {
    "text": TEXT,
    "bool": st.booleans(),
    "int": st.integers(-3, 5) | st.integers(-(2**63), 2**63 - 1),
    "float": st.sampled_from([0.0, -0.0, 1.0, 1.5, math.inf, -math.inf])
    | st.floats(allow_nan=False),
    "bytes": st.binary(max_size=2),
    "date": DATES,
    "datetime": DATETIMES,
    "instant": st.datetimes(
        dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1), timezones=st.just(UTC)
    ),
    "duration": st.timedeltas(dt.timedelta(-1000), dt.timedelta(1000)),
}
ANYTHING = st.one_of(
    *KINDS.values(),
    st.times(),
    st.integers(-2, 2),
    st.integers(2**63, 2**70),
    st.decimals(-5, 5, places=1),
    st.sampled_from([1, 1.0, True, "1", np.int8(1), np.True_, np.float32(1), Decimal(1), b"1"]),
    st.sampled_from([None, math.nan, pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN")]),
    st.text(max_size=2),
)


@st.composite
def typed_columns(draw: Callable[..., Any], missing: bool = True) -> list[list[Any]]:
    n_rows = draw(st.integers(1, 12))
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4))
    columns = []
    for kind in kinds:
        few = draw(st.lists(KINDS[kind], min_size=1, max_size=4))
        cell = st.sampled_from(few)
        cells = st.none() | cell if missing else cell
        columns.append(draw(st.lists(cells, min_size=n_rows, max_size=n_rows)))
    return columns


def rows_of(columns: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [list(row) for row in zip(*columns, strict=True)]


def objects(columns: Sequence[Sequence[Any]]) -> np.ndarray:
    matrix = np.empty((len(columns[0]), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        matrix[:, j] = np.fromiter(column, object, len(column))
    return matrix


def named(columns: Sequence[Any]) -> dict[str, Any]:
    return {f"c{j}": column for j, column in enumerate(columns)}


def pandas_objects(columns: Sequence[Sequence[Any]]) -> pd.DataFrame:
    return pd.DataFrame(named([pd.Series(list(c), dtype=object) for c in columns]))


def arrow(columns: Sequence[Sequence[Any]]) -> pa.Table:
    return pa.table(named([pa.array(column) for column in columns]))


def chunked(columns: Sequence[Sequence[Any]]) -> pa.Table:
    whole = arrow(columns)
    middle = len(columns[0]) // 2
    return pa.concat_tables([whole.slice(0, middle), whole.slice(middle)])


def dictionaries(columns: Sequence[Sequence[Any]]) -> pa.Table:
    """Each chunk has a dictionary of its own."""
    whole = chunked(columns)
    return pa.table(
        named(
            [
                pa.chunked_array([c.dictionary_encode() for c in column.chunks])
                if column.num_chunks
                else column
                for column in whole.columns
            ]
        )
    )


CONTAINERS: dict[str, Callable[[Sequence[Sequence[Any]]], Any]] = {
    "lists": rows_of,
    "tuples": lambda columns: tuple(zip(*columns, strict=True)),
    "numpy objects": objects,
    "pandas objects": pandas_objects,
    "pandas inferred": lambda columns: pd.DataFrame(named(columns)),
    "pandas nullable": lambda columns: pandas_objects(columns).convert_dtypes(),
    "pandas category": lambda columns: pandas_objects(columns).astype("category"),
    "pandas arrow": lambda columns: arrow(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda columns: pl.DataFrame(named(columns), strict=False),
    "polars lazy": lambda columns: pl.LazyFrame(named(columns), strict=False),
    "arrow": arrow,
    "arrow chunks": chunked,
    "arrow dictionaries": dictionaries,
    "arrow batch": lambda columns: arrow(columns).to_batches()[0],
}


@pytest.mark.parametrize("container", CONTAINERS)
@settings(max_examples=40, deadline=None)
@given(columns=typed_columns())
def test_every_container_gives_the_codes_of_the_naive_reference(container, columns):
    if "pandas" in container and any(
        isinstance(v, int) and abs(v) > 2**53 for c in columns if None in c for v in c
    ):
        return  # pandas itself rounds such columns to float
    assert_as_naive(CONTAINERS[container](columns), columns)


@settings(max_examples=200, deadline=None)
@given(column=st.lists(ANYTHING, min_size=1, max_size=12))
def test_mixed_types_in_a_column_follow_the_canonical_order(column):
    codebook = assert_as_naive(objects([column]), [column])
    assert (
        Codebook.from_json(json.loads(json.dumps(codebook.to_json(), allow_nan=False))) == codebook
    )


@settings(max_examples=60, deadline=None)
@given(column=st.lists(ANYTHING, min_size=1, max_size=12), seed=st.randoms())
def test_codes_shuffle_along_with_the_rows(column, seed):
    order = list(range(len(column)))
    seed.shuffle(order)
    codebook, codes = learn(objects([column]))
    shuffled_book, shuffled = learn(objects([[column[i] for i in order]]))
    assert_array_equal(matrix_of(shuffled), matrix_of(codes)[order])
    # Which spelling of equal Decimals is shown is left open.
    assert [place(v) for v in codebook.categories[0].tolist()] == [
        place(v) for v in shuffled_book.categories[0].tolist()
    ]


@settings(max_examples=100, deadline=None)
@given(columns=typed_columns())
def test_decoding_gives_the_table_back(columns):
    codebook, codes = learn(rows_of(columns))
    back = codebook.decode(matrix_of(codes))
    assert back.tolist() == rows_of(columns)


@settings(max_examples=100, deadline=None)
@given(columns=typed_columns())
def test_encoding_the_table_again_gives_the_same_codes(columns):
    codebook, codes = learn(arrow(columns))
    for container in ("lists", "arrow", "pandas objects", "polars"):
        again, unseen = codebook.encode(CONTAINERS[container](columns))
        assert not unseen
        assert_array_equal(matrix_of(again), matrix_of(codes))
        assert_array_equal(again.ranges.n_codes, codes.ranges.n_codes)
        assert_array_equal(again.ranges.ignored, codes.ranges.ignored)


# --- the order, by example -----------------------------------------------------------------------


def test_type_classes_are_ordered_and_equal_numbers_are_one_value():
    moment = dt.datetime(2020, 1, 1)
    column = [
        dt.timedelta(1), dt.time(1), moment.replace(tzinfo=UTC), moment, moment.date(), b"a", "b",
        "a", 2, 1.5, True, False, None, 2.0, np.int8(2), Decimal("1.5"), -0.0, 0, math.inf,
    ]  # fmt: skip
    codebook, codes = learn(objects([column]))
    assert codebook.categories[0].tolist() == [
        False, True, 0, 1.5, 2, math.inf, "a", "b", b"a", moment.date(), moment,
        moment.replace(tzinfo=UTC), dt.time(1), dt.timedelta(1),
    ]  # fmt: skip
    assert matrix_of(codes)[:, 0].tolist() == [
        13, 12, 11, 10, 9, 8, 7, 6, 4, 3, 1, 0, 14, 4, 4, 3, 2, 2, 5,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "pair",
    [(1, True), ("1", 1), ("a", b"a"), (np.True_, 1), (0, False), (0.0, False), (1.5, True),
     (np.True_, 1.0), (dt.date(2020, 1, 1), dt.datetime(2020, 1, 1))],
)  # fmt: skip
def test_equal_looking_values_of_two_classes_stay_apart(pair):
    for column in (pair, pair[::-1]):
        codebook, _ = learn([[value] for value in column])
        assert len(codebook.categories[0]) == 2


def test_integers_beyond_the_floats_stay_apart():
    column = [2**53, 2**53 + 1, 0.5]
    assert_as_naive(objects([column]), [column])


def test_strings_are_ordered_by_code_point():
    words = ["z", "é", "\uffff", "\U0001f600", "a", ""]
    for table in (rows_of([words]), np.array(words)[:, None], pl.DataFrame({"a": words})):
        assert learn(table)[0].categories[0].tolist() == sorted(words)


@pytest.mark.parametrize("text", ["\ud800", "a\ud800"])
def test_strings_that_utf8_cannot_hold_are_values(text):
    codebook, _ = learn([["a"], [text]])
    assert codebook.categories[0].tolist() == ["a", text]
    assert Codebook.from_json(json.loads(json.dumps(codebook.to_json()))) == codebook


def test_unused_and_oddly_ordered_categories_do_not_matter():
    words = ["b", "a", None, "b"]
    order = ["zz", "b", "a", "q"]
    pandas = pd.DataFrame({"w": pd.Categorical(words, categories=order, ordered=True)})
    polars = pl.DataFrame({"w": pl.Series(words, dtype=pl.Enum(order))})
    sliced = pa.table({"w": pa.array([*words, "unused"]).dictionary_encode().slice(0, 4)})
    for table in (pandas, polars, sliced, pandas.iloc[:3]):
        codebook, codes = learn(table)
        assert codebook.categories[0].tolist() == ["a", "b"]
        assert matrix_of(codes)[:, 0].tolist()[:3] == [1, 0, 2]


def test_categories_of_mixed_types_work():
    column = [1, "x", None, True]
    table = pd.DataFrame({"a": pd.Categorical(column, categories=["zz", "x", 2, 1, 5, True][:4])})
    assert_as_naive(table, [[1, "x", None, 1 if table["a"].iloc[3] == 1 else None]])


@pytest.mark.parametrize(
    "nothing",
    [None, math.nan, np.nan, pd.NA, pd.NaT, np.datetime64("NaT"), np.timedelta64("NaT"),
     np.float32("nan"), Decimal("NaN")],
)  # fmt: skip
@pytest.mark.parametrize("value", ["a", 1, 1.5, True, dt.date(2020, 1, 1)])
def test_every_sign_of_missing_is_missing(nothing, value):
    codebook, codes = learn(objects([[value, nothing]]))
    assert codebook.has_missing == (True,)
    assert codebook.categories[0].tolist() == [value]
    assert matrix_of(codes).tolist() == [[0], [1]]


# --- natural dtypes and times --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "dtype"),
    [
        ([1, 2], "int64"), ([1, 2**63], "uint64"), ([-1, 2**63], "object"), ([0.5], "float64"),
        ([1, 0.5], "float64"), ([True], "bool"), (["a"], "object"), ([b"a"], "object"),
        ([None], "object"), ([dt.date(2020, 1, 1)], "M8[D]"), ([dt.datetime(2020, 1, 1)], "M8[us]"),
        ([dt.timedelta(1)], "m8[us]"), ([dt.time(1)], "object"), ([Decimal(1)], "object"),
        ([pd.Timestamp("2020-01-01 00:00:00.000000001")], "M8[ns]"), ([1, "a"], "object"),
        ([pd.Timedelta(5, "ns")], "m8[ns]"),
    ],
)  # fmt: skip
def test_categories_have_the_natural_dtype_and_survive_json(column, dtype):
    codebook, _ = learn(objects([column]))
    assert codebook.categories[0].dtype == dtype
    back = Codebook.from_json(json.loads(json.dumps(codebook.to_json(), allow_nan=False)))
    assert back == codebook
    assert back.categories[0].dtype == dtype
    assert_array_equal(back.categories[0], codebook.categories[0])
    assert back.encode(objects([column]))[1].columns == ()


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns"])
def test_numpy_times_of_any_unit_equal_python_times(unit):
    numpy = np.array([["2024-01-04", "1970-01-01"], ["NaT", "2020-01-02"]]).astype(f"M8[{unit}]")
    python = [
        [
            None if np.isnat(v) else v.astype("M8[D]" if unit in "YMWD" else "M8[us]").item()
            for v in c
        ]
        for c in numpy.T
    ]
    codebook = assert_as_naive(numpy, python)
    assert not codebook.encode(rows_of(python))[1]


def test_instants_are_equal_whatever_their_zone():
    zoned = pd.DataFrame({"t": pd.date_range("2020-07-01", periods=3, tz="Europe/Zurich")})
    utc = pl.DataFrame({"t": zoned["t"].dt.tz_convert("UTC").dt.to_pydatetime()})
    codebook, codes = learn(zoned)
    again, unseen = codebook.encode(utc)
    assert not unseen
    assert_array_equal(matrix_of(again), matrix_of(codes))
    assert codebook.categories[0][0] == dt.datetime(2020, 6, 30, 22, tzinfo=UTC)


def test_zoned_nanoseconds_are_refused():
    table = pd.DataFrame({"t": [pd.Timestamp("2020-01-01 00:00:00.000000001", tz="UTC")]})
    with pytest.raises(ValueError, match=r"Column 0 \('t'\) holds times.*finer than a microsecond"):
        learn(table)


NOON = dt.datetime(2020, 5, 17, 12)
ARROW_TYPES = [
    *((kind, [1, 2]) for kind in (pa.int8(), pa.uint8(), pa.int16(), pa.uint32(), pa.uint64())),
    *((kind, [1.5, 2.0]) for kind in (pa.float16(), pa.float32(), pa.float64())),
    *((kind, [Decimal("1.5"), Decimal(2)]) for kind in (pa.decimal128(9, 2), pa.decimal256(50, 2))),
    *((kind, ["", "é"]) for kind in (pa.string(), pa.large_string(), pa.string_view())),
    *((kind, [b"", b"ab"]) for kind in (pa.binary(), pa.large_binary(), pa.binary_view())),
    (pa.binary(2), [b"aa", b"ab"]),
    (pa.bool_(), [False, True]),
    *((kind, [dt.date(1960, 1, 1), NOON.date()]) for kind in (pa.date32(), pa.date64())),
    *((pa.timestamp(u), [NOON, NOON + dt.timedelta(1)]) for u in ("s", "ms", "us", "ns")),
    *((pa.timestamp(u, "Asia/Tokyo"), [NOON.replace(tzinfo=UTC)]) for u in ("s", "ns")),
    *((kind, [dt.time(1), dt.time(2)]) for kind in (pa.time32("s"), pa.time32("ms"))),
    *((kind, [dt.time(1), dt.time(2)]) for kind in (pa.time64("us"), pa.time64("ns"))),
    *((pa.duration(u), [dt.timedelta(-1), dt.timedelta(1)]) for u in ("s", "ms", "us", "ns")),
]


@pytest.mark.parametrize(("kind", "values"), ARROW_TYPES, ids=lambda part: str(part)[:30])
def test_every_flat_arrow_type_gives_the_codes_of_its_python_values(kind, values):
    column = [values[-1], None, *values, values[0]]
    cells = pa.array(column, kind)
    whole = assert_as_naive(pa.table({"a": cells}), [column])
    assert not whole.encode(rows_of([column]))[1]
    assert_as_naive(pa.table({"a": pa.chunked_array([cells[:1], cells[1:1], cells[1:]])}), [column])
    assert_as_naive(pa.table({"a": cells[2:]}), [column[2:]])
    coded = pa.DictionaryArray.from_arrays([1, None, 0], cells)
    assert_as_naive(pa.table({"a": coded}), [[None, None, column[0]]])
    other = pa.DictionaryArray.from_arrays([len(values), 0], cells[2:])
    twice = pa.chunked_array([coded.slice(1), other])
    assert_as_naive(pa.table({"a": twice}), [[None, column[0], values[0], values[0]]])


# --- integers, bytes, floats ---------------------------------------------------------------------

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


@pytest.mark.parametrize("n_features", [2, 63, 64, 65, 130])
@pytest.mark.parametrize("as_table", [np.asarray, pd.DataFrame, sp.csr_array])
def test_codes_come_by_feature_and_by_row_however_they_are_kept(as_table, n_features):
    rng = np.random.default_rng(n_features)
    lowest = rng.integers(-3, 2, n_features)  # the same byte has another code in another column
    X = np.maximum(rng.integers(-3, 3, (50, n_features)), lowest).astype(np.int8)
    _, codes = learn(as_table(X))
    cells = matrix_of(codes)
    kept = {np.asarray: ByteCells, pd.DataFrame: tuple, sp.csr_array: SparseCells}
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


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("true", [1, 2, 255])
def test_every_byte_but_zero_is_true(true, order):
    cells = np.array([[0, true], [1, 1], [true, 255]], np.uint8)
    X = np.asarray(cells.view(bool), order=order)
    codebook, codes = learn(X)
    assert [values.tolist() for values in codebook.categories] == [[False, True], [True]]
    assert matrix_of(codes).tolist() == [[0, 0], [1, 0], [1, 0]]
    assert everything(pack(codes, layout_of(codes))).tolist() == [[0, 0], [1, 0], [1, 0]]


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


# --- sparse --------------------------------------------------------------------------------------


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
    layout = layout_of(dense)
    assert_array_equal(pack(sparse, layout).packed, pack(dense, layout).packed)


def test_sparse_duplicates_are_summed_and_left_to_the_caller():
    table = sp.csr_array(
        (np.array([1, 2, 5]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2)
    )
    assert_as_naive(table, [[3, 0], [0, 5]])
    assert table.data.tolist() == [1, 2, 5]


# --- missing and unseen --------------------------------------------------------------------------

HOLES = pd.DataFrame({"a": ["x", None, "y"], "b": [None, None, None], "c": [1, 2, 1]})


def test_missing_as_a_category_is_a_value_of_its_own():
    codebook, codes = learn(HOLES, "category")
    assert matrix_of(codes).tolist() == [[0, 0, 0], [2, 0, 1], [1, 0, 0]]
    assert codes.ranges.n_codes.tolist() == codebook.n_values.tolist() == [3, 1, 2]
    assert codes.ranges.ignored.tolist() == [-1, -1, -1]
    assert codebook.decode([[2, 0, 1]]).tolist() == [[None, None, 2]]
    assert codebook.values(0).tolist() == ["x", "y", None]


def test_missing_to_ignore_has_a_code_that_no_center_has():
    codebook, codes = learn(HOLES, "ignore")
    assert matrix_of(codes).tolist() == [[0, 0, 0], [2, 0, 1], [1, 0, 0]]
    assert codes.ranges.n_codes.tolist() == [3, 1, 2]
    assert codebook.n_values.tolist() == [2, 1, 2]
    assert codes.ranges.ignored.tolist() == [2, 0, -1]
    assert codebook.decode([[1, 0, 1]]).tolist() == [["y", None, 2]]


def test_missing_as_an_error_names_column_number_row_and_remedy():
    text = (
        r"Column 0 \('a'\) has 1 missing cells, the first in row 1, and missing='error'\. Fill "
        r"them, or pass missing='category' or missing='ignore'\."
    )
    with pytest.raises(ValueError, match=text):
        learn(HOLES, "error")
    codebook, _ = learn(HOLES[["c"]], "error")
    with pytest.raises(
        ValueError, match=r"Column 0 \('c'\) has 1 missing cells, the first in row 1"
    ):
        codebook.encode(pd.DataFrame({"c": [1, None]}))


def test_an_unknown_policy_is_refused():
    with pytest.raises(ValueError, match="missing='drop' is not one of 'category', 'ignore' and"):
        learn(HOLES, "drop")


def unseen_codes(missing: str, fit: list[Any], new: list[Any]) -> tuple[list[int], int, int, Any]:
    codebook, _ = learn([[v] for v in fit], missing)
    codes, unseen = codebook.encode([[v] for v in new])
    assert_well_formed(codebook, codes)
    (n_codes,), (ignored,) = codes.ranges.n_codes.tolist(), codes.ranges.ignored.tolist()
    return matrix_of(codes)[:, 0].tolist(), n_codes, ignored, unseen


@pytest.mark.parametrize(
    ("missing", "fit", "new", "expected"),
    [
        ("category", "ab", "ba", ([1, 0], 2, -1)),
        ("category", "ab", "bza", ([1, 2, 0], 3, -1)),
        ("category", ["a", None], ["a", None, "z"], ([0, 1, 2], 3, -1)),
        ("category", ["a", None], ["a", "z"], ([0, 2], 3, -1)),
        ("category", ["a"], ["a", None, "z"], ([0, 1, 1], 2, -1)),
        ("category", [None], [None, "z"], ([0, 1], 2, -1)),
        ("ignore", ["a", "b"], ["b", "a"], ([1, 0], 2, -1)),
        ("ignore", ["a", "b"], ["b", "z"], ([1, 3], 4, 2)),
        ("ignore", ["a", "b"], ["b", None], ([1, 2], 4, 2)),
        ("ignore", ["a", "b"], ["b", None, "z"], ([1, 2, 3], 4, 2)),
        ("ignore", ["a", None], ["a", None], ([0, 1], 2, 1)),
        ("ignore", ["a", None], ["z", "a"], ([2, 0], 3, 1)),
        ("ignore", [None], ["z"], ([1], 2, 0)),
        ("ignore", [None], ["z", None], ([1, 0], 2, 0)),
        ("error", ["a"], ["z", "y"], ([1, 1], 2, -1)),
    ],
)
def test_codes_of_missing_and_unseen_cells(missing, fit, new, expected):
    assert unseen_codes(missing, list(fit), list(new))[:3] == expected


def test_unseen_values_are_reported_with_counts_most_frequent_first():
    *_, unseen = unseen_codes("category", ["a"], [*"bcdefgga", None, None, None])
    (column,) = unseen.columns
    assert (column.index, column.name, column.n_values, column.n_cells) == (0, None, 7, 10)
    assert column.examples == ((None, 3), ("g", 2), ("b", 1), ("c", 1), ("d", 1))
    assert str(unseen) == (
        "Values unseen at fit differ from every center: column 0: None in 3 cells, 'g' in 2 cells, "
        "'b' in 1 cell, 'c' in 1 cell, 'd' in 1 cell and others."
    )


def test_unseen_values_of_named_columns_and_byte_matrices_are_named():
    codebook, _ = learn(pd.DataFrame({"u": [1, 2], "v": [5, 6]}))
    codes, unseen = codebook.encode(np.array([[1, 7], [9, 7]], dtype=np.int8))
    assert matrix_of(codes).tolist() == [[0, 2], [2, 2]]
    assert [(c.index, c.examples) for c in unseen.columns] == [(0, ((9, 1),)), (1, ((7, 2),))]
    assert unseen
    _, unseen = codebook.encode(pd.DataFrame({"u": [9], "v": [5]}))
    assert "column 0 ('u'): 9 in 1 cell" in str(unseen)


def test_bytes_are_coded_by_a_codebook_of_more_than_256_values():
    codebook, _ = learn(np.arange(-100, 900)[:, None])
    codes, unseen = codebook.encode(np.array([[0], [127], [-128]], dtype=np.int8))
    assert matrix_of(codes).tolist() == [[100], [227], [1000]]
    assert unseen.columns[0].examples == ((-128, 1),)
    assert codes.column(0).dtype == np.uint16


def test_unseen_values_may_be_many():
    codebook, _ = learn([["a"], ["b"]])
    codes, unseen = codebook.encode(pd.DataFrame({"x": [f"u{i}" for i in range(70_000)]}))
    assert codes.ranges.n_codes.tolist() == [3]
    assert unseen.columns[0].n_values == 70_000


# --- shapes and names ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [np.arange(3), [1, 2], ["ab", "cd"], [], pd.Series([1]), pl.Series([1]), pa.array([1]),
     pa.chunked_array([[1]]), sp.coo_array(np.array([1, 0]))],
)  # fmt: skip
def test_one_dimension_is_refused_in_the_words_of_scikit_learn(table):
    with pytest.raises(ValueError, match=r"(?s)Expected 2D array, got 1D array.*Reshape your data"):
        learn(table)


@pytest.mark.parametrize(
    ("table", "error", "text"),
    [
        (np.zeros((0, 3)), ValueError,
         r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required\."),
        (np.zeros((12, 0)), ValueError,
         r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required\."),
        (pd.DataFrame({"a": []}), ValueError, r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pl.DataFrame({"a": []}), ValueError, r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pa.table({"a": pa.array([], pa.string())}), ValueError, r"0 sample\(s\)"),
        (pd.DataFrame(index=range(3)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\)"),
        (sp.csr_array((0, 3)), ValueError, r"0 sample\(s\)"),
        ([[]], ValueError, r"0 feature\(s\)"),
        (np.zeros((2, 2, 2)), ValueError, "dim 3, while dim <= 2"),
        (np.array(5), ValueError, "Expected 2D array, got scalar array instead"),
        ({"a": [1]}, ValueError, "Expected a 2D table, got a dict. Pass a data frame"),
        ("table.csv", ValueError, "Expected a 2D table, got a str"),
        (5, TypeError, "Expected a 2D table, got int"),
        ([[1, 2, 3], [1, 2]], ValueError, "row 0 has 3 cells, row 1 has 2. Pass rows of"),
        (np.zeros((2, 2), complex), ValueError, "Complex data not supported"),
        ([[1j]], ValueError, "Column 0 is complex. Complex data not supported"),
        (sp.csr_array(np.array([[1j]])), ValueError, "Complex data not supported"),
        (pd.DataFrame([[1, 2, 3, 4]], columns=list("abca")), ValueError,
         r"Column names occur more than once: \['a'\]\. Rename or drop"),
        (pa.table([[1], [2]], names=["a", "a"]), ValueError, r"more than once: \['a'\]"),
        (pd.DataFrame([[1, 2]], columns=["a", 1]), TypeError,
         r"only supported if all input features have string names.*\['int', 'str'\]"),
    ],
)  # fmt: skip
def test_bad_tables_get_a_named_error(table, error, text):
    with pytest.raises(error, match=text):
        learn(table)


class Custom:
    pass


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        ([["a", {}]], "dict"), ([["a", []]], "list"), ([["a", (1,)]], "tuple"),
        ([["a", Custom()]], "Custom"), ([["a", np.zeros(2)]], "ndarray"), ([["a", {1}]], "set"),
        (pl.DataFrame({"a": ["x"], "b": [[1]]}), "list"),
        (pl.DataFrame({"a": ["x"], "b": [{"c": 1}]}), "struct"),
        (pa.table({"a": [1], "b": [[1]]}), "list"),
        (pa.table({"a": [1], "b": pa.DictionaryArray.from_arrays([0], pa.array([[1]]))}), "list"),
        (pd.DataFrame({"a": [1], "b": [pd.Period("2020")]}), "Period"),
        (pd.DataFrame({"a": [1], "b": [pd.Interval(0, 1)]}), "Interval"),
        (pl.DataFrame({"a": [1], "b": pl.Series([Custom()], dtype=pl.Object)}), "Custom"),
    ],
)  # fmt: skip
def test_unsupported_values_are_named_with_column_and_type(table, kind):
    with pytest.raises(TypeError, match=r"argument must be .* string.* number") as caught:
        learn(table)
    assert re.match(rf"Column 1( \('b'\))? holds a value of type \w*{kind}", str(caught.value))


@pytest.mark.parametrize(
    "table",
    [[1] * 1_000_000, ["x" * 1_000_000], [np.array(1), np.array(2)], [[1], np.array(1)],
     np.array(["x" * 1_000_000]), pd.Series(["x" * 1_000_000] * 3)],
)  # fmt: skip
def test_a_table_of_one_dimension_is_shown_in_short(table):
    with pytest.raises(ValueError, match=r"(?s)Expected 2D array, got 1D array") as caught:
        learn(table)
    assert len(str(caught.value)) < 1000


def test_names_are_kept_and_integer_names_are_none():
    assert learn(pd.DataFrame({"a": [1], "b": [2]}))[0].names == ("a", "b")
    assert learn(pl.DataFrame({"a": [1]}))[0].names == ("a",)
    assert learn(pa.table({"a": [1]}))[0].names == ("a",)
    assert learn(pd.DataFrame([[1, 2]]))[0].names is None
    assert learn(np.zeros((1, 2)))[0].names is None


def test_other_columns_at_predict_are_refused_and_listed():
    codebook, _ = learn(pd.DataFrame({"a": [1], "b": [2]}))
    with pytest.raises(ValueError, match=r"X has 1 features, but \w+ is expecting 2 features"):
        codebook.encode([[1]])
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time:\n- c\n.*missing:\n- b\n"):
        codebook.encode(pd.DataFrame({"a": [1], "c": [2]}))
    with pytest.raises(ValueError, match=r"(?s)must be in the same order.*\['a', 'b'\]"):
        codebook.encode(pd.DataFrame({"b": [1], "a": [2]}))
    assert not codebook.encode([[1, 2]])[1]


def test_what_only_turns_into_an_array_or_an_arrow_stream_is_read():
    class Array:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return np.array([[1, 2], [3, 4]])

    class Stream:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return pa.table({"a": ["x", "y"]}).__arrow_c_stream__(requested_schema)

    assert_as_naive(Array(), [[1, 3], [2, 4]])
    assert assert_as_naive(Stream(), [["x", "y"]]).names == ("a",)


# --- too many categories -------------------------------------------------------------------------


@pytest.mark.parametrize("make", [str, int, lambda i: i * 10**9, lambda i: i + 0.5])
def test_the_largest_number_of_categories_works_and_one_more_does_not(make):
    column = [make(i) for i in range(MAX_CATEGORIES)]
    codebook, codes = learn([[value] for value in [*column, None]])
    assert len(codebook.categories[0]) == MAX_CATEGORIES
    assert codes.column(0).dtype == np.int32
    assert codes.column(0)[-1] == MAX_CATEGORIES
    with pytest.raises(ValueError, match="has 65537 categories, one for nearly every row"):
        learn([[value] for value in [*column, make(MAX_CATEGORIES)]])


def test_too_many_categories_name_column_number_and_remedy():
    n = 70_000
    table = pd.DataFrame({"a": ["x"] * n, "user_id": [f"u{i}" for i in range(n)]})
    text = (
        "Column 1 ('user_id') has 70000 categories, one for nearly every row. At most 65536 are "
        "supported. Is it an identifier? Drop it."
    )
    with pytest.raises(ValueError, match=re.escape(text)):
        learn(table)
    with pytest.raises(
        ValueError, match=re.escape("Column 1 ('user_id') has 70000 categories. At")
    ):
        learn(pd.concat([table, table]))
    heights = np.random.default_rng(0).random((n, 1))
    with pytest.raises(ValueError, match=r"Column 0 has 70000 .*Are these measurements\? Bin them"):
        learn(heights)
    with pytest.raises(ValueError, match="Column 0 has 70000 categories, one"):
        learn(sp.csr_array(np.arange(n)[:, None]))


# --- threads, decoding, JSON ---------------------------------------------------------------------


def test_threads_do_not_change_the_codes():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"c{j}": rng.integers(0, 9, 500).astype(str) for j in range(30)})
    for X in (table, table.to_numpy(), table.astype(int).to_numpy() * 1000):
        one_book, one = learn(X, n_threads=1)
        for n_threads in (2, 8):
            book, codes = learn(X, n_threads=n_threads)
            assert book == one_book
            assert_array_equal(matrix_of(codes), matrix_of(one))
            assert_array_equal(matrix_of(book.encode(X, n_threads)[0]), matrix_of(one))


def test_decoded_tables_are_homogeneous_where_the_columns_are():
    assert learn([[1, 5], [2, None]])[0].decode([[0, 0]]).dtype == np.int64
    assert learn([[1, 5], [2, None]])[0].decode([[0, 1]]).tolist() == [[1, None]]
    mixed = learn([[1, 0.5, dt.date(2020, 1, 1)]])[0].decode(np.zeros((1, 3), np.uint8))
    assert mixed.tolist() == [[1, 0.5, dt.date(2020, 1, 1)]]
    assert list(map(type, mixed[0])) == [int, float, dt.date]


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        ([[0, 2]], r"codes\[0, 1\]=2 is not a code of column 1. Pass codes from 0 to 1."),
        ([[-1, 0]], r"codes\[0, 0\]=-1 is not"),
        ([[0]], r"shape \(1, 1\).*Pass integers of shape \(n, 2\)"),
        ([[0.0, 1.0]], "type float64 are not a table of integers"),
    ],
)
def test_codes_out_of_range_are_refused(codes, text):
    with pytest.raises(ValueError, match=text):
        learn([["a", 1], ["b", 2]])[0].decode(codes)


def test_given_rows_become_codes_or_a_named_error():
    codebook, _ = learn([["a", 1], ["b", None]], "ignore")
    assert codebook.encode_rows([["b", 1], ["a", None]], 2, "init").tolist() == [[1, 0], [0, 1]]
    assert learn([[0, 5]])[0].encode_rows(np.array([[0, 5]]), 1, "init").tolist() == [[0, 0]]
    with pytest.raises(ValueError, match=r"init has 1 rows .* Pass n_clusters=3 rows of 2 columns"):
        codebook.encode_rows([["b", 1]], 3, "init")
    with pytest.raises(ValueError, match=r"init holds values that do not occur .*'z' in 1 cell"):
        codebook.encode_rows([["z", 1]], 1, "init")


def test_only_a_few_unseen_columns_are_listed():
    codebook, _ = learn([["a"] * 1000])
    _, unseen = codebook.encode([["u" * 100_000] * 1000])
    assert str(unseen).endswith(" in 1 cell; and 995 more columns.")
    assert len(str(unseen)) < 2000
    with pytest.raises(ValueError, match=r"init holds values .*; and 995 more columns") as caught:
        codebook.encode_rows([["u"] * 1000], 1, "init")
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize("init", [[1] * 500_000, [["a"] * 500_000, ["b"]], ["x", "y"]])
def test_a_wrong_init_is_shown_in_short(init):
    codebook, _ = learn([["a"], ["b"]])
    with pytest.raises(ValueError, match=r"(?s)init=\[.*is neither a name nor 2 rows\.") as caught:
        resolve_init(init, codebook, 2)
    assert len(str(caught.value)) < 2000


def test_codebooks_are_equal_by_content_and_survive_pickle_after_use():
    table = [["a", 1, None], ["b", 2, 0.5]]
    codebook, _ = learn(table)
    codebook.encode(table)
    assert pickle.loads(pickle.dumps(codebook)) == codebook == learn(table[::-1])[0]
    assert codebook != learn(table, "ignore")[0]
    assert codebook != learn([["a", 1, None], ["c", 2, 0.5]])[0]


def test_equal_numbers_of_two_types_are_written_apart():
    whole, real = learn([[1], [2]])[0], learn([[1.0], [2.0]])[0]
    assert whole != real
    assert not whole.encode([[1.0], [2.0]])[1]


GOOD = learn([["a", 1], ["b", 2]])[0].to_json()


@pytest.mark.parametrize(
    "change",
    [
        {"names": ["a"]}, {"has_missing": [True]}, {"missing": "drop"}, {"categories": 5},
        {"categories": [{"type": "str", "values": ["b", "a"]}, GOOD["categories"][1]]},
        {"categories": [{"type": "str", "values": ["a", "a"]}, GOOD["categories"][1]]},
        {"categories": [{"type": "pickle", "values": [1]}, GOOD["categories"][1]]},
        {"categories": [{"type": "int", "values": ["1"]}, GOOD["categories"][1]]},
        {"categories": [{"type": "int", "values": [True]}, GOOD["categories"][1]]},
        {"categories": [{"type": "date", "values": [1.5]}, GOOD["categories"][1]]},
        {"categories": [{"type": "bytes", "values": ["?"]}, GOOD["categories"][1]]},
        {"categories": [{"type": "float", "values": ["nan"]}, GOOD["categories"][1]]},
        {"categories": [{"type": "decimal", "values": ["x"]}, GOOD["categories"][1]]},
        {"categories": [{"type": "str", "values": [1]}, GOOD["categories"][1]]},
        {"categories": [{"type": "date", "values": [2**80]}, GOOD["categories"][1]]},
        {"categories": [{"type": "instant", "values": [2**80]}, GOOD["categories"][1]]},
        {"has_missing": [1, 0]}, {"names": [1, 2]}, {"names": "ab"},
    ],
)  # fmt: skip
def test_what_is_not_a_codebook_is_refused(change):
    assert Codebook.from_json(GOOD) == learn([["a", 1], ["b", 2]])[0]
    with pytest.raises(ValueError, match="This is not a codebook"):
        Codebook.from_json(GOOD | change)


def test_a_codebook_without_a_part_is_refused():
    for part, bad in itertools.product(GOOD, (None, [])):
        rest = {name: value for name, value in GOOD.items() if name != part}
        for data in (rest, bad):
            with pytest.raises(ValueError, match="This is not a codebook"):
                Codebook.from_json(data)
