"""Every container gives the same values in the same order."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_codes import (
    ANYTHING,
    CONTAINERS,
    UTC,
    arrow,
    assert_as_naive,
    matrix_of,
    objects,
    place,
    rows_of,
    typed_columns,
)
from numpy.testing import assert_array_equal

from softmodes._table.codebook import Codebook, learn


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


@pytest.mark.parametrize("unit", ["W", "D", "h", "m", "s", "ms", "us", "ns"])
def test_numpy_durations_of_any_unit_equal_python_durations(unit):
    numpy = np.array([[7, -3], ["NaT", 0]]).astype(f"m8[{unit}]")
    numpy *= 1000 if unit == "ns" else 1
    python = [[None if np.isnat(v) else v.astype("m8[us]").item() for v in c] for c in numpy.T]
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


def test_the_hour_that_a_clock_shows_twice_is_two_hours():
    first = dt.datetime(2020, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Zurich"))
    second = first.replace(fold=1)
    assert first == second
    codebook, codes = learn([[first], [second], [first]])
    assert matrix_of(codes)[:, 0].tolist() == [0, 1, 0]
    assert [value.hour for value in codebook.categories[0]] == [0, 1]
    again, unseen = codebook.encode(pd.DataFrame({"t": [second, first]}, dtype=object))
    assert not unseen
    assert matrix_of(again)[:, 0].tolist() == [1, 0]


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
