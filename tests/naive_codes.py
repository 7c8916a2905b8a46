"""Slow, obvious codes of tables, and tables of any container to compare them on."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

from softmodes._rows.block import Block, unpack
from softmodes._table.codebook import Codebook, learn
from softmodes._table.codes import ByteCells, Codes, SparseCells

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
    "arrow": arrow,
    "arrow chunks": chunked,
    "arrow dictionaries": dictionaries,
    "arrow batch": lambda columns: arrow(columns).to_batches()[0],
}
