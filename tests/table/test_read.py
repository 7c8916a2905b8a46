"""Which tables are read, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from naive_codes import assert_as_naive

from softmodes import SoftModes
from softmodes._table.codebook import MAX_CATEGORIES, learn


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


def test_an_estimator_names_columns_that_occur_twice():
    with pytest.raises(ValueError, match=r"Column names occur more than once: \['a'\]\. Rename"):
        SoftModes(2).fit(pd.DataFrame([[1, 2, 3], [2, 3, 4]], columns=list("aba")))


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
        (pa.table({"a": [1], "b": pa.array([(1, 2, 3)], pa.month_day_nano_interval())}),
         "interval"),
        (pd.DataFrame({"a": [1], "b": [pd.Period("2020")]}), "Period"),
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
    with pytest.raises(ValueError, match=r"(?s)must be in the same order.*X\[model"):
        codebook.encode(pd.DataFrame({"b": [1], "a": [2]}))
    assert not codebook.encode([[1, 2]])[1]


@pytest.mark.parametrize(
    ("columns", "listed"),
    [
        ("abcde", "Feature names unseen at fit time:\n- d\n- e\n"),
        ("b", "Feature names seen at fit time, yet now missing:\n- a\n- c\n"),
        ("cba", "Feature names must be in the same order as they were in fit.\n"),
    ],
)
def test_each_other_name_has_a_line_and_only_a_list_with_names_a_title(columns, listed):
    codebook, _ = learn(pd.DataFrame([[1, 2, 3]], columns=list("abc")))
    how = "" if "missing" in listed else ": X[model.feature_names_in_]"
    text = (
        f"The feature names should match those that were passed during fit.\n{listed}"
        f"Pass the columns of fit, in their order{how}."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        codebook.encode(pd.DataFrame({name: [1] for name in columns}))


def test_of_many_other_names_a_few_are_listed():
    codebook, _ = learn(pd.DataFrame([range(300)], columns=[f"{i}" * 100 for i in range(300)]))
    with pytest.raises(ValueError, match=r"- \.\.\. and 295 more\n") as caught:
        codebook.encode(pd.DataFrame([range(300)], columns=[f"b{i}" for i in range(300)]))
    assert len(str(caught.value)) < 700


def test_what_only_turns_into_an_array_or_an_arrow_stream_is_read():
    class Array:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return np.array([[1, 2], [3, 4]])

    class Stream:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return pa.table({"a": ["x", "y"]}).__arrow_c_stream__(requested_schema)

    assert_as_naive(Array(), [[1, 3], [2, 4]])
    assert assert_as_naive(Stream(), [["x", "y"]]).names == ("a",)


@pytest.mark.parametrize("make", [str, int, lambda i: i * 10**9, lambda i: i + 0.5])
def test_the_largest_number_of_categories_works_and_one_more_does_not(make):
    column = [make(i) for i in range(MAX_CATEGORIES)]
    codebook, codes = learn([[value] for value in [*column, None]])
    assert len(codebook.categories[0]) == MAX_CATEGORIES
    assert codes.column(0).dtype == np.int32
    assert codes.column(0)[-1] == MAX_CATEGORIES
    with pytest.raises(ValueError, match="has 65537 categories, one for nearly every row"):
        learn([[value] for value in [*column, make(MAX_CATEGORIES)]])


@pytest.mark.parametrize("step", [1, 10**9])
@pytest.mark.parametrize("order", ["C", "F"])
def test_integers_near_and_far_apart_have_one_limit(step, order):
    X = np.asarray([np.arange(MAX_CATEGORIES + 1) * step, np.zeros(MAX_CATEGORIES + 1, int)]).T
    assert learn(X[1:])[0].n_values.tolist() == [MAX_CATEGORIES, 1]
    with pytest.raises(ValueError, match="Column 0 has 65537 categories, one for nearly every row"):
        learn(np.asarray(X, order=order))


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
    with pytest.raises(ValueError, match="Column 0 has 70000 categories, one"):
        learn(sp.csr_array(np.arange(n)[:, None]))


@pytest.mark.parametrize("as_table", [np.asarray, pd.DataFrame, sp.csr_array])
def test_too_many_measurements_are_told_from_identifiers(as_table):
    heights = np.random.default_rng(0).random((70_000, 1))
    text = (
        "Column 0 has 70000 categories, one for nearly every row. At most 65536 are supported. "
        "Are these measurements? Bin them, for example with sklearn.preprocessing.KBinsDiscretizer."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        learn(as_table(heights))
