"""Threads, decoding, JSON."""

from __future__ import annotations

import datetime as dt
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from naive_codes import matrix_of
from numpy.testing import assert_array_equal

from softmodes._estimators.base import resolve_init
from softmodes._table.codebook import Codebook, learn


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
    assert str(unseen).endswith(" in 1 cell; and 997 more columns.")
    assert len(str(unseen)) < 400
    with pytest.raises(ValueError, match=r"init holds values .*; and 997 more columns") as caught:
        codebook.encode_rows([["u"] * 1000], 1, "init")
    assert len(str(caught.value)) < 400


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
