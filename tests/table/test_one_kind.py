"""Wide tables of one kind of cells, which are coded at once: as column by column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from softmodes import _kernels
from softmodes._table import arrow_column, one_kind
from softmodes._table import read as read_module
from softmodes._table.codebook import learn
from softmodes._table.one_kind import OneKind
from softmodes._table.read import read

RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 9, (7, 90))
CODES[:, 3] = 4
GONE = RNG.random(CODES.shape) < 0.2
GONE[:, 5] = True  # a column without a value
TEXT = np.array(["", "a", "B", "é", "zz", "10", "9", " x", "\U0001f600"])[CODES]
STRINGS = np.where(GONE, None, TEXT.astype(object))


def frame(cells, dtype) -> pd.DataFrame:
    return pd.DataFrame(cells, columns=[f"c{j}" for j in range(cells.shape[1])], dtype=dtype)


def moved(table: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose blocks are not in the order of its columns, nor of one chunk each."""
    table = pd.concat([table[:3], table[3:]])[table.columns[::-1]]
    table.insert(4, "late", table.pop("c7"))
    return table


def arrow(kind) -> pa.Table:
    columns = [pa.chunked_array([column[:3], column[3:]], kind) for column in STRINGS.T]
    return pa.table(columns, names=[f"c{j}" for j in range(len(columns))])


def arrow_of_two_types() -> pa.Table:
    types = [pa.string(), pa.large_string()]
    columns = [pa.array(column, types[j % 2]) for j, column in enumerate(STRINGS.T)]
    return pa.table(columns, names=[f"c{j}" for j in range(len(columns))])


TABLES = {
    "floats": np.where(GONE, np.nan, CODES - 0.5),
    "zeros of both signs": np.where(GONE, -0.0, CODES.astype(np.float32)),
    "integers": CODES * 1000 - 3,
    "large integers": CODES.astype(np.uint64) * np.uint64(1 << 60) + np.uint64(1 << 59),
    "columns in order": np.asfortranarray(CODES * 1000),
    "text": TEXT,
    "bytes": np.char.encode(TEXT, "utf-8"),
    "bytes of few values": CODES.astype(np.uint8),
    "strings of pandas": frame(STRINGS, "str"),
    "strings of pandas, moved": moved(frame(STRINGS, "str")),
    "strings of Python in pandas": frame(STRINGS, pd.StringDtype("python")),
    "strings of Arrow": arrow(pa.string()),
    "large strings of Arrow": arrow(pa.large_string()),
    "strings of Arrow of two types": arrow_of_two_types(),
    "more than 256 values": RNG.integers(0, 10**6, (600, 70)),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_wide_table_is_coded_as_its_columns_are(name, monkeypatch):
    table = TABLES[name]
    if "few" not in name:
        assert isinstance(read(table).cells, OneKind), "not coded at once: nothing tested"
    found, codes = learn(table, n_threads=2)
    monkeypatch.setattr(one_kind, "FEWEST_COLUMNS", 10**9)
    assert not isinstance(read(table).cells, OneKind)
    expected, by_column = learn(table)
    assert found == expected
    assert_array_equal(codes.rows(slice(None)), by_column.rows(slice(None)))
    assert_array_equal(codes.ranges.n_codes, by_column.ranges.n_codes)
    for a, b in zip(found.categories, expected.categories, strict=True):
        assert (a.dtype, a.tolist()) == (b.dtype, b.tolist())
    for a, b in zip(codes.columns(), by_column.columns(), strict=True):
        assert a.dtype == b.dtype


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize(
    ("n_columns", "n_rows", "n_codes"),
    [(90, 7, 5), (90, 7, 10_000), (70, 600, 65), (70, 600, 64), (3, 1, 1), (40_000, 5, 9)],
)
def test_codes_of_columns_are_places_among_those_they_hold(n_columns, n_rows, n_codes, n_threads):
    codes = RNG.integers(0, n_codes, (n_columns, n_rows), dtype=np.int32)
    codes[0] = n_codes - 1
    local = codes.copy()
    starts, held = _kernels.make_local(local, n_codes, n_threads)
    each = [np.unique(column, return_inverse=True) for column in codes]
    assert_array_equal(starts, np.cumsum([0, *(len(values) for values, _ in each)]))
    assert_array_equal(held, np.concatenate([values for values, _ in each]))
    assert_array_equal(local, [places for _, places in each])


def test_more_strings_than_are_hashed_are_coded_alike(monkeypatch):
    expected, codes = learn(TABLES["strings of pandas"])
    monkeypatch.setattr(arrow_column, "_MOST_STRINGS", 3)
    found, others = learn(TABLES["strings of pandas"], n_threads=2)
    assert found == expected
    assert_array_equal(others.rows(slice(None)), codes.rows(slice(None)))


def test_parts_with_much_text_are_joined_with_others(monkeypatch):
    expected, codes = learn(TABLES["strings of Arrow"])
    refused = iter([True, False] * 100)

    def refuse_now_and_then(arrays):
        if arrays[0].type == pa.string() and next(refused):
            raise pa.ArrowInvalid("offset overflow")
        return concat_arrays(arrays)

    concat_arrays = pa.concat_arrays
    monkeypatch.setattr(one_kind.pa, "concat_arrays", refuse_now_and_then)
    found, others = learn(TABLES["strings of Arrow"])
    assert found == expected
    assert_array_equal(others.rows(slice(None)), codes.rows(slice(None)))


@pytest.mark.parametrize("some", [slice(None), slice(None, None, 3)])
def test_dictionaries_of_strings_are_coded_as_strings(some, monkeypatch):
    """Frames of pandas 2.2 may keep them; which columns do is not asked."""
    table = TABLES["strings of pandas"]
    expected, codes = learn(table)
    columns = list(one_kind.pandas_strings(table))
    columns[some] = [column.dictionary_encode() for column in columns[some]]
    monkeypatch.setattr(read_module, "pandas_strings", lambda frame: iter(columns))
    found, others = learn(table, n_threads=2)
    assert found == expected
    assert_array_equal(others.rows(slice(None)), codes.rows(slice(None)))


def test_other_wide_tables_are_read_column_by_column():
    mixed = frame(STRINGS, "str").assign(number=1)
    tables = [mixed, TEXT.astype(object), CODES[:, :60] * 1000, np.zeros((5000, 70))]
    for table in [*tables, frame(STRINGS[:, :50], "str")]:
        assert not isinstance(read(table).cells, OneKind)


def test_values_that_a_wide_table_does_not_have_are_unseen():
    codebook, _ = learn(TABLES["strings of pandas"])
    other = STRINGS.copy()
    other[2, 7] = "new"
    codes, unseen = codebook.encode(frame(other, "str"))
    assert [(column.index, column.examples) for column in unseen.columns] == [(7, (("new", 1),))]
    assert codes.rows(slice(None))[2, 7] == codebook.unseen_ranges.n_codes[7] - 1
