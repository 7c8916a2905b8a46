"""Values learnt part by part: merged they are those of the whole, in any order."""

from __future__ import annotations

import datetime as dt
import functools
import json
import math
import pickle
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import pairwise
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

from softmodes._rows.block import layout_of, pack, unpack
from softmodes._table.codebook import MAX_CATEGORIES, Codebook, learn, learn_part
from softmodes._table.codes import Codes

UTC = dt.UTC
BIG = 2**53 + 1  # no float

CELLS: dict[str, st.SearchStrategy[Any]] = {
    "bools": st.booleans(),
    "ints": st.integers(-3, 5) | st.integers(-(2**63), 2**63 - 1),
    "unsigned": st.integers(0, 3) | st.integers(2**63, 2**64 - 1),
    "floats": st.sampled_from([0.0, -0.0, 1.0, 0.5, math.inf]) | st.floats(allow_nan=False),
    "strings": st.text(st.characters(exclude_categories=["Cs"]), max_size=2),
    "bytes": st.binary(max_size=2),
    "dates": st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
    "datetimes": st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)),
    "instants": st.datetimes(
        dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1), timezones=st.just(UTC)
    ),
    "times": st.times(),
    "durations": st.timedeltas(dt.timedelta(-1000), dt.timedelta(1000)),
    "decimals": st.decimals(-5, 5, places=1),
}
NUMBERS = st.sampled_from(
    [
        0, 1, 2, 2**60, BIG, 2**64, 10**400, 0.0, 1.0, 0.5, 2.0**60, math.inf, np.float32(0.5),
        np.int8(1), np.uint64(2**63), Decimal(1), Decimal("1.00"), Decimal("0.5"), Decimal("0.1"),
        Decimal("Infinity"), Decimal("-0.0"),
    ]
)  # fmt: skip
MIXED = st.one_of(
    NUMBERS,
    *CELLS.values(),
    st.sampled_from([np.datetime64("1970"), np.datetime64(0, "us"), np.timedelta64(0, "D")]),
    st.sampled_from([None, math.nan, pd.NA, np.datetime64("NaT"), Decimal("NaN"), Decimal("sNaN")]),
)
ARROW = {
    "unsigned": pa.uint64(), "times": pa.time64("us"), "decimals": pa.decimal128(5, 2),
    "instants": pa.timestamp("us", "UTC"),
}  # fmt: skip


def objects(cells: Sequence[Any]) -> np.ndarray:
    return np.fromiter(cells, object, len(cells)).reshape(-1, 1)


def arrow(kind: str, cells: Sequence[Any]) -> pa.Table:
    example = {"bools": pa.bool_(), "ints": pa.int64(), "floats": pa.float64()}
    texts = {"strings": pa.string(), "bytes": pa.binary(), "dates": pa.date32()}
    times = {"datetimes": pa.timestamp("us"), "durations": pa.duration("us")}
    return pa.table({"a": pa.array(cells, (ARROW | example | texts | times)[kind])})


def cut(table: Any, start: int, stop: int) -> Any:
    if isinstance(table, pa.Table | pl.DataFrame):
        return table.slice(start, stop - start)
    return table.iloc[start:stop] if hasattr(table, "iloc") else table[start:stop]


def merged(codebooks: Sequence[Codebook]) -> Codebook:
    return functools.reduce(Codebook.merge, codebooks)


def assert_same(found: Codebook, expected: Codebook) -> None:
    assert found == expected
    assert found.has_missing == expected.has_missing
    assert json.dumps(found.to_json()) == json.dumps(expected.to_json())
    for mine, theirs in zip(found.categories, expected.categories, strict=True):
        assert mine.dtype == theirs.dtype
        assert list(map(repr, mine.tolist())) == list(map(repr, theirs.tolist()))


def cells_of(codes: Codes) -> np.ndarray:
    return codes.rows(slice(None))


def assert_parts_make_the_whole(whole: Any, parts: Sequence[Any], seed: Any) -> None:
    """Merge in random order and in random groups, then translate every part."""
    codebook, codes = learn(whole)
    learnt = [learn_part(part) for part in parts]
    order = list(range(len(parts)))
    seed.shuffle(order)
    middle = seed.randint(0, len(order) - 1)
    groups = [group for group in (order[:middle], order[middle:]) if group]
    found = merged([merged([learnt[i][0] for i in group]) for group in groups])
    assert_same(found, codebook)
    again = [found.translate(*part) for part in learnt]
    assert not any(unseen for _, unseen in again)
    assert_array_equal(np.concatenate([cells_of(part) for part, _ in again]), cells_of(codes))
    for part, _ in again:
        assert_array_equal(part.ranges.n_codes, codes.ranges.n_codes)
        assert_array_equal(part.ranges.ignored, codes.ranges.ignored)
        assert [c.dtype for c in part.columns()] == [c.dtype for c in codes.columns()]


def slices(draw: Callable[..., Any], n_rows: int) -> list[tuple[int, int]]:
    """Cut rows at random; parts may be empty."""
    cuts = draw(st.lists(st.integers(0, n_rows), max_size=3))
    return list(pairwise([0, *sorted(cuts), n_rows]))


CONTAINERS: dict[str, Callable[[str, Sequence[Any]], Any]] = {
    "arrow": arrow,
    "arrow dictionary": lambda kind, cells: pa.table(
        {"a": arrow(kind, cells)["a"].dictionary_encode()}
    ),
    "objects": lambda kind, cells: objects(cells),
    "pandas": lambda kind, cells: pd.DataFrame({"a": cells}),
    "pandas category": lambda kind, cells: pd.DataFrame(
        {"a": pd.Series(list(cells), dtype=object).astype("category")}
    ),
    "polars": lambda kind, cells: pl.from_arrow(arrow(kind, cells)),
}


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("container", CONTAINERS)
@settings(max_examples=25, deadline=None)
@given(data=st.data(), seed=st.randoms(use_true_random=False))
def test_parts_of_a_table_make_the_whole(kind, container, data, seed):
    few = data.draw(st.lists(CELLS[kind], min_size=1, max_size=5))
    missing = (
        st.none() if container != "pandas" or kind not in ("ints", "unsigned") else st.nothing()
    )
    cells = data.draw(st.lists(st.sampled_from(few) | missing, min_size=1, max_size=12))
    whole = CONTAINERS[container](kind, cells)
    parts = [cut(whole, a, b) for a, b in slices(data.draw, len(cells))]
    assert_parts_make_the_whole(whole, parts, seed)


@settings(max_examples=400, deadline=None)
@given(data=st.data(), seed=st.randoms(use_true_random=False))
@pytest.mark.parametrize("kind", [MIXED, NUMBERS], ids=["any", "numbers"])
def test_parts_of_mixed_objects_make_the_whole(kind, data, seed):
    cells = data.draw(st.lists(kind, min_size=1, max_size=10))
    whole = objects(cells)
    parts = [whole[a:b] for a, b in slices(data.draw, len(cells))]
    assert_parts_make_the_whole(whole, parts, seed)


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_array, pd.DataFrame])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint64", "float64"])
@settings(max_examples=15, deadline=None)
@given(data=st.data(), seed=st.randoms(use_true_random=False))
def test_parts_of_matrices_make_the_whole(make, dtype, data, seed):
    n_rows = data.draw(st.integers(1, 9))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    X = (rng.integers(0, 4, (n_rows, 3)) * (rng.random((n_rows, 3)) < 0.5)).astype(dtype)
    if dtype == "float64" and data.draw(st.booleans()):
        X[rng.random(X.shape) < 0.3] = np.nan
    whole = make(X)
    parts = [cut(whole, a, b) for a, b in slices(data.draw, n_rows)]
    assert_parts_make_the_whole(whole, parts, seed)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), seed=st.randoms(use_true_random=False))
def test_ints_in_one_part_and_floats_in_another_are_floats_together(data, seed):
    """As pandas reads a file in pieces: only a piece with missing cells holds floats."""
    some = st.lists(st.integers(-4, 4) | st.none(), min_size=1, max_size=5)
    pieces = data.draw(st.lists(some, min_size=1, max_size=4))
    frames = [pd.DataFrame({"a": [0, *piece]}) for piece in pieces]
    assert_parts_make_the_whole(pd.concat(frames), frames, seed)


def test_a_part_with_missing_cells_turns_ints_to_floats():
    ints, floats = learn_part(np.array([[1], [2]]))[0], learn_part(np.array([[1.0], [np.nan]]))[0]
    for found in (ints.merge(floats), floats.merge(ints)):
        assert found.categories[0].dtype == np.float64
        assert found.categories[0].tolist() == [1.0, 2.0]
        assert found.has_missing == (True,)


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        ([[1], [1.0], ["x"]], [1, "x"]),
        ([[1.0], [2], ["x"]], [1.0, 2, "x"]),
        ([[1], [0.5]], [0.5, 1.0]),
        ([[2**60], [0.5]], [0.5, 2.0**60]),
        ([[BIG], [0.5]], [0.5, BIG]),
        ([[BIG], [1.0], [1]], [1, BIG]),
        ([[Decimal("1.00")], [Decimal("1.0")]], [Decimal("1.0")]),
        ([[1, 1.0, Decimal(2)], [2]], [1.0, 2.0]),
        ([[-1], [2**63]], [-1, 2**63]),
        ([[10**400], [math.inf]], [10**400, math.inf]),
        ([[True], [1]], [True, 1]),
    ],
)
def test_the_spelling_that_is_shown_does_not_hang_on_the_order_of_parts(parts, shown):
    learnt = [learn_part(objects(part))[0] for part in parts]
    whole = learn(objects([cell for part in parts for cell in part]))[0]
    for found in (merged(learnt), merged(learnt[::-1]), whole, pickle.loads(pickle.dumps(whole))):
        assert list(map(repr, found.categories[0].tolist())) == list(map(repr, shown))


@settings(max_examples=200, deadline=None)
@given(cells=st.lists(MIXED | NUMBERS, min_size=1, max_size=8))
def test_what_json_gives_back_has_the_same_arrays(cells):
    codebook, _ = learn(objects(cells))
    assert_same(Codebook.from_json(json.loads(json.dumps(codebook.to_json()))), codebook)


# --- missing, empty, unseen ----------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_missing_cells_in_one_part_only_get_a_code_in_all(missing):
    full, holes = learn_part([["a"], ["b"]], missing), learn_part([[None], [None]], missing)
    whole, expected = learn([["a"], ["b"], [None], [None]], missing)
    found = full[0].merge(holes[0])
    assert_same(found, whole)
    for part, rows in ((full, slice(0, 2)), (holes, slice(2, 4))):
        codes, unseen = found.translate(*part)
        assert not unseen
        assert_array_equal(cells_of(codes), expected.rows(rows))
        assert_array_equal(codes.ranges.n_codes, expected.ranges.n_codes)
        assert_array_equal(codes.ranges.ignored, expected.ranges.ignored)


EMPTY = [
    np.zeros((0, 1)), np.zeros((0, 1), np.int8), np.zeros((0, 1), bool), np.zeros((0, 1), "U3"),
    np.zeros((0, 1), object), np.zeros((0, 1), "M8[D]"), sp.csr_array((0, 1)),
    pd.DataFrame({0: []}), pd.DataFrame({0: pd.Categorical([])}),
]  # fmt: skip


@pytest.mark.parametrize("table", EMPTY, ids=lambda table: str(getattr(table, "dtype", "frame")))
def test_a_part_without_rows_changes_nothing(table):
    empty, codes = learn_part(table)
    whole, _ = learn([["a"], [1]])
    assert_same(whole.merge(empty), whole)
    assert_same(empty.merge(whole), whole)
    assert cells_of(whole.translate(empty, codes)[0]).shape == (0, 1)
    for refused in (learn, whole.encode):
        with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 1\)\)"):
            refused(table)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_a_frame_without_rows_is_a_part(make):
    kinds = {"a": pa.string(), "b": pa.int64(), "c": pa.dictionary(pa.int8(), pa.string())}
    table = pa.table({name: pa.array([], kind) for name, kind in kinds.items()})
    codebook, codes = learn_part(make(table))
    assert codebook.names == ("a", "b", "c")
    assert codes.n_rows == 0


@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_the_ranges_of_codes_hang_on_the_codebook_alone(missing):
    codebook, codes = learn([["a", 1], [None, 2]], missing)
    for table in ([["a", 1]], [[None, 2]], [["a", 2], [None, 1]]):
        found = codebook.encode(table)[0].ranges
        assert_array_equal(found.n_codes, codes.ranges.n_codes)
        assert_array_equal(found.ignored, codes.ranges.ignored)
    strange = [[["z", 1]], [["a", 9]], [["a", None]], [["z", None], ["y", 9]]]
    for found in [codebook.encode(table)[0].ranges for table in strange]:
        assert_array_equal(found.n_codes, codebook.unseen_ranges.n_codes)
        assert_array_equal(found.ignored, codebook.unseen_ranges.ignored)


@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize("n_values", [3, 256])
def test_parts_with_unseen_values_and_parts_without_share_a_layout(missing, n_values):
    codebook, _ = learn([[i, "a"] for i in range(n_values)], missing)
    known, strange = [[0, "a"], [n_values - 1, "a"]], [[1, "z"], [-7, None]]
    layout = layout_of(codebook.unseen_ranges)
    parts = [codebook.translate(*learn_part(rows, missing))[0] for rows in (known, strange)]
    assert_array_equal(parts[0].ranges.n_codes, codebook.fit_ranges.n_codes)
    found = [unpack(pack(codes, layout), np.arange(2)) for codes in parts]
    expected = codebook.encode(known + strange)[0].rows(slice(None))
    assert_array_equal(np.concatenate(found), expected)


def test_translation_reports_what_the_codebook_does_not_know():
    codebook, _ = learn(pd.DataFrame({"u": ["a", "b"]}))
    part = learn_part(pd.DataFrame({"u": ["b", "z", "z"]}))
    codes, unseen = codebook.translate(*part)
    assert codes.column(0).tolist() == [1, 2, 2]
    assert str(unseen).endswith("column 0 ('u'): 'z' in 2 cells.")


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        ({"a": [1], "b": [1]}, {"a": [1], "c": [1]}, "Column 1 is 'b' in one part and 'c' in anot"),
        ({"a": [1], "b": [1]}, {"b": [1], "a": [1]}, "Column 0 is 'a' in one part and 'b' in anot"),
        ({"a": [1], "b": [1]}, {"a": [1]}, "Column 1 is 'b' in one part and lacking in another"),
        ({"a": [1]}, {0: [1]}, "Column 0 is 'a' in one part and without a name in another"),
        ({0: [1]}, {0: [1], 1: [2]}, "Column 1 is lacking in one part and without a name in"),
        ({"": [1]}, {"": [1], " ": [2]}, "Column 1 is lacking in one part and ' ' in another"),
    ],
)
def test_parts_with_other_columns_are_refused(one, other, text):
    first, second = learn(pd.DataFrame(one)), learn(pd.DataFrame(other))
    for refused in (lambda: first[0].merge(second[0]), lambda: first[0].translate(*second)):
        with pytest.raises(ValueError, match=f"{text}.*Pass parts with the same columns"):
            refused()


def test_parts_with_another_policy_are_refused():
    text = "missing='category' and missing='ignore'. Code all parts with one policy."
    with pytest.raises(ValueError, match=re.escape(text)):
        learn([[1]])[0].merge(learn([[1]], "ignore")[0])


def test_too_many_values_of_all_parts_are_refused_with_the_column():
    half = MAX_CATEGORIES // 2
    frames = [pd.DataFrame({"id": np.arange(n) * 7}) for n in (half, 2 * half + 1)]
    low, _ = learn_part(frames[0])
    high, _ = learn_part(frames[1].iloc[half:])
    text = "Column 0 ('id') has 65537 categories. At most 65536 are supported. Is it an identifier?"
    with pytest.raises(ValueError, match=re.escape(text)):
        low.merge(high)
    assert len(low.merge(learn_part(frames[1].iloc[half:-1])[0]).categories[0]) == MAX_CATEGORIES
    floats = learn_part(frames[1].iloc[half:] + 0.5)[0]
    with pytest.raises(ValueError, match=r"Column 0 \('id'\) has 65537 .*Are these measurements"):
        low.merge(floats)


def test_times_that_no_unit_holds_together_are_refused_with_the_column():
    fine = learn_part(pd.DataFrame({"t": [pd.Timestamp("2020-01-01 00:00:00.000000001")]}))[0]
    late = learn_part(pd.DataFrame({"t": np.array(["3000-01-01"], "M8[s]")}))[0]
    with pytest.raises(ValueError, match=r"Column 0 \('t'\) holds times out of the range"):
        fine.merge(late)
