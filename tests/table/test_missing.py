"""Missing cells, and values unseen at fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from naive_codes import assert_well_formed, matrix_of

from softmodes._table.codebook import learn

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
    with pytest.raises(ValueError, match=r"missing='drop' is not known\. Pass one of 'category'"):
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
        "Values unseen at fit differ from every center: column 0: None in 3 cells, 'g' in 2 cells "
        "and 5 others."
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


@pytest.mark.parametrize("n_values", [256, 257, 65_536])
def test_few_values_have_codes_of_the_type_that_the_codebook_needs(n_values):
    codebook, _ = learn(np.arange(n_values)[:, None])
    codes, unseen = codebook.encode([[0], [1], [0]])
    assert not unseen
    assert matrix_of(codes).tolist() == [[0], [1], [0]]
    assert_well_formed(codebook, codes)


def test_unseen_values_may_be_many():
    codebook, _ = learn([["a"], ["b"]])
    codes, unseen = codebook.encode(pd.DataFrame({"x": [f"u{i}" for i in range(70_000)]}))
    assert codes.ranges.n_codes.tolist() == [3]
    assert unseen.columns[0].n_values == 70_000
