from __future__ import annotations

import datetime as dt
import html
import logging
import time
from collections import defaultdict

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from softmodes import SoftModes, advise
from softmodes._prepare.columns import NaWords, columns_of
from softmodes._prepare.several import separator_of
from softmodes._prepare.together import equal_columns, similar_columns, skip_patterns
from softmodes._table.read import read
from softmodes.datasets import make_survey

N = 400
RNG = np.random.default_rng(0)


def lines(X, **options):
    return {line.column: line for line in advise(X, **options).lines}


def judged(cells, name="x", **options):
    frame = pa.table(
        {name: cells, "other": pa.array(["a", "b"] * (len(cells) // 2 + 1))[: len(cells)]}
    )
    line = lines(frame, **options)[name]
    return line.verdict.kind, line.action, line.verdict.treatment


def texts(n, n_words, n_different):
    words = [f"word{i}" for i in range(50)]
    made = [" ".join(RNG.choice(words, n_words)) + f" {i}" for i in range(n_different)]
    return [made[i % n_different] for i in range(n)]


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("x", list(range(N)), ("id", "leave out", "text")),
        ("x", [f"u-{i:x}" for i in range(N)], ("id", "leave out", "text")),
        ("x", [f"{i:05}" for i in range(N)], ("id", "leave out", "text")),
        ("x", [2**63 + i for i in range(N)], ("id", "leave out", "text")),
        ("x", [f"my dear {i}" for i in range(N)], ("text", "leave out", "text")),
        ("x", texts(N, 6, 90), ("text", "leave out", "text")),
        ("x", texts(N, 6, 8), ("category", "use", "category")),  # long answers out of a list
        ("x", ["yes"] * N, ("constant", "leave out", "text")),
        ("x", ["yes"] * (N - 1) + ["no"], ("constant", "leave out", "text")),
        ("x", ["yes"] * (N - 3) + ["no"] * 3, ("yes/no", "use", "category")),
        ("x", [None] * N, ("empty", "leave out", "text")),
        ("x", [i % 21 for i in range(N)], ("numbers", "band", "bands:5")),
        ("x", [i % 20 for i in range(N)], ("category", "use", "category")),
        ("x", [-(i % 30) for i in range(N)], ("numbers", "band", "bands:5")),
        ("x", [i / 7 for i in range(N)], ("numbers", "band", "bands:5")),
        ("x", [f"{i % 37},5" for i in range(N)], ("numbers", "band", "bands:5")),
        ("x", [f"{i % 4},{i % 3}" for i in range(N)], ("category", "use", "category")),
        ("x", [f"0{i % 30}" for i in range(N)], ("category", "use", "category")),
        ("x", [f"c{i % 50}" for i in range(N)], ("category", "use", "category")),
        ("x", [f"c{i % 51}" for i in range(N)], ("category", "lump", "top:49")),
        (
            "x",
            [("a;b", "b;c", "a", "c;a;b")[i % 4] for i in range(N)],
            ("several answers", "split", "multi:;"),
        ),
        (
            "x",
            [("1,3,5", "3,5", "1", "5")[i % 4] for i in range(N)],
            ("several answers", "split", "multi:,"),
        ),
        (
            "x",
            [("Yes, often", "Yes, rarely", "No, never")[i % 3] for i in range(N)],
            ("category", "use", "category"),
        ),
        (
            "x",
            [("a;b", "a", "b", "b", "b", "b")[i % 6] for i in range(N)],
            ("category", "use", "category"),
        ),
        ("x", [i % 2 == 0 for i in range(N)], ("yes/no", "use", "category")),
        (
            "x",
            [dt.date(2024, 1, 1) + dt.timedelta(days=i % 30) for i in range(N)],
            ("dates", "band", "bands:5"),
        ),
        ("x", ["😀", "שלום"] * (N // 2), ("yes/no", "use", "category")),
        ("x", ["a" * 10_000, "b" * 10_000] * (N // 2), ("yes/no", "use", "category")),
        (
            "x",
            [float("inf"), -float("inf"), float("nan"), 1.5] * (N // 4),
            ("category", "use", "category"),
        ),
    ],
)
def test_each_rule_on_a_column_made_for_it(name, cells, expected):
    cells = pa.array(cells, pa.uint64()) if cells[0] == 2**63 else cells
    assert judged(cells, name) == expected


def test_weights_are_known_by_their_mean_or_by_their_name():
    weights = np.random.default_rng(1).lognormal(0, 0.4, N).round(3)
    near = weights / weights.mean()
    weight = ("weight", "leave out", "text")
    assert judged(near, "q7") == weight
    assert judged(1.3 * near, "q7")[1] == "band"
    for name in ("weight", "WGT", "survey_weight", "pweight", "wt1"):
        assert judged(1.3 * near, name) == weight
    assert judged(70 * near, "weight")[1] == "band"  # of bodies
    assert judged(1.3 * near, "growth")[1] == "band"
    line = lines(pa.table({"my w": near}))["my w"]
    assert line.verdict.reason.option == "--weight 'my w'"


def test_with_few_rows_nothing_is_an_id():
    assert judged(list(range(19)))[1] == "use"
    assert judged(list(range(20)))[1] == "leave out"
    assert advise([["a", 1]]).used == ()
    assert "no value in any row" in str(advise(pa.table({"x": pa.array([], pa.string())})))


def test_the_word_for_missing_is_told_and_taken():
    cells = [("NA", "3", "4", "5")[i % 4] if i % 4 == 0 else str(i % 60) for i in range(N)]
    line = lines(pa.table({"x": cells}))["x"]
    assert [check.option for check in line.verdict.checks] == ["--na NA"]
    assert '"NA" in 100 cells' in str(advise(pa.table({"x": cells})))
    asked = advise(pa.table({"x": cells}), na="NA")
    assert asked.n_na == 100
    assert str(asked).startswith('400 rows, 1 column. "NA" read as missing (100 cells).')
    assert asked.lines[0].verdict.treatment == "bands:5"
    assert asked.lines[0].missing == 0.25
    numbers = advise(pa.table({"x": [-99 if i % 4 == 0 else i % 60 for i in range(N)]}), na=["-99"])
    assert numbers.n_na == 100


def test_missing_that_is_ignored_is_no_second_value():
    ticked = ["yes" if i % 3 else None for i in range(N)]
    assert judged(ticked)[1] == "use"
    assert judged(ticked, missing="ignore")[:2] == ("constant", "leave out")


def test_the_text_reads_as_promised():
    n = 5836
    rng = np.random.default_rng(0)
    w, coin = rng.lognormal(0, 0.3, n).round(3), rng.integers(0, 3, n)
    X = pd.DataFrame(
        {
            "RespId": np.arange(n),
            "weight": w,
            "Q1": 1,
            "age": rng.integers(18, 90, n),
            **{f"Q{i}": np.where(rng.random(n) < 0.2, i % 3 + coin, np.nan) for i in range(22, 36)},
        }
    )
    text = advise(X).to_text("comma, utf-8")
    assert text.splitlines() == [
        "5,836 rows, 18 columns. comma, utf-8.",
        "  15 of 18 columns are used",
        "  left out   RespId    every row has another value: an id            --keep RespId",
        f"  left out   weight    {len(set(w)):,} numbers; looks like survey weights"
        "      --weight weight",
        "  left out   Q1        one value in all rows                         --keep Q1",
        "  banded     age       72 numbers -> 5 bands of equal size           --as age=category",
        "  check      Q22 ...   14 columns are mostly missing: asked of few   --missing ignore",
    ]  # fmt: skip


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_the_same_advice_from_every_container(backend):
    X, _ = make_survey(500, random_state=3, backend=backend)
    frame = advise(X, na="NA").to_frame()
    assert type(frame) is type(X)
    expected = advise(make_survey(500, random_state=3, backend="pyarrow")[0], na="NA")
    assert str(advise(X, na="NA")) == str(expected)
    rows = pa.table(frame) if backend == "polars" else frame
    columns = rows.to_pydict() if isinstance(rows, pa.Table) else rows.to_dict("list")
    assert columns == expected.to_frame().to_pydict()


def test_many_alike_are_told_in_one_line():
    X = pa.table({f"c{i}": ["one"] * 50 for i in range(3000)})
    text = str(advise(X))
    assert len(text.splitlines()) == 3
    assert "c0 ...   3,000 columns have one value in (nearly) all rows   --keep c0,..." in text


def test_hostile_names_are_harmless():
    name = "<script>\x1b[2J" + "n" * 10_000
    advice = advise(pd.DataFrame({name: ["v"] * 50, "\u202eevil": range(50)}))
    for shown in (str(advice), advice._repr_html_()):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "<script>" not in shown or shown == str(advice)
        assert len(shown) < 45_000
    assert html.escape("<script>") in advice._repr_html_()


def test_awkward_names():
    with pytest.raises(ValueError, match="occur more than once"):
        advise(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(TypeError, match="Feature names"):
        advise(pd.DataFrame([[1, 2]], columns=["a", 1]))
    assert list(lines(pd.DataFrame([[1, 2]]))) == ["x0", "x1"]
    empty = lines(pd.DataFrame({"": ["v"] * 30}))[""]
    assert empty.verdict.reason.option == "--keep ''"


# --- wishes ---


def test_wishes_go_before_rules():
    X, _ = make_survey(500, random_state=0, backend="pyarrow")
    found = lines(
        X, keep="RespId", drop=["M1"], id="comment", weight="weight", describe="region",
        as_={"age": "category", "income": "bands:3", "M2": "text", "reasons": "top:2"},
    )  # fmt: skip
    got = {name: (found[name].verdict.kind, found[name].action) for name in found}
    assert got["RespId"] == ("numbers", "band")
    assert got["M1"] == ("dropped", "leave out")
    assert got["comment"] == ("id", "leave out")
    assert got["weight"] == ("weight", "leave out")
    assert got["region"] == ("described", "leave out")
    assert found["age"].verdict.action == "use"
    assert found["M2"].action == "leave out"
    assert found["reasons"].action == "lump"
    assert found["region_code"].used  # what it repeats is not used
    assert advise(X, only=["A1", "A2"]).used == ("A1", "A2")
    assert advise(np.array([["a", "b"]] * 30), keep=0, drop="x1").used == ("x0",)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"keep": "Ag1"}, "keep names column 'Ag1', which the table does not have. .*'A"),
        ({"drop": 500}, "drop names column 500"),
        ({"keep": "age", "drop": "age"}, "keep and drop both name column 'age'"),
        ({"as_": {"age": "bands:1"}}, r"as_\['age'\]='bands:1' is not known"),
        ({"as_": "age"}, "as_='age' is not a mapping"),
        ({"weight": ["age", "A1"]}, "is not one column"),
        ({"na": [None]}, "no text or number"),
        ({"keep": 1.5}, "names no columns"),
        ({"missing": "drop"}, "missing='drop'"),
    ],
)
def test_wishes_are_checked(options, said):
    X, _ = make_survey(30, random_state=0, backend="pyarrow")
    with pytest.raises(ValueError, match=said):
        advise(X, **options)


# --- together ---


def columns(X):
    table = read(X)
    return columns_of(table, [f"x{j}" for j in range(table.shape[1])], 1, NaWords())


def slow_equal(X):
    """Column -> the first that parts the rows in the same way, by comparing all pairs of rows."""
    found, first = {}, {}
    for j, column in enumerate(X.T):
        alike = tuple((column[:, None] == column).ravel())
        sizes = np.unique(column, return_counts=True)[1]
        if len(column) - sizes.max() >= 5:
            of = first.setdefault(alike, j)
            if of != j:
                found[j] = of
    return found


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(6, 14), st.integers(2, 3))
def test_equal_columns_are_those_of_all_pairs_of_rows(seed, n, n_values):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (n, 5))
    X = np.hstack([X, 7 - X[:, [1]], X[:, [0]] % 2, X[:, [3]]])
    assert equal_columns(columns(X)) == slow_equal(X)


def test_nearly_equal_columns_are_found_and_others_not():
    rng = np.random.default_rng(0)
    found = defaultdict(int)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 4, (600, 30))
        X[:, 7] = (X[:, 3] + 1) % 4
        X[rng.choice(600, 12, replace=False), 7] = 0  # nine or so differ
        X[:, 20] = rng.random(600) < 0.05
        X[:, 25] = rng.random(600) < 0.05
        for twin in similar_columns(columns(X)):
            found[twin.column, twin.of] += 1
    assert dict(found) == {(7, 3): 20}


def test_blocks_that_are_missing_together_are_found_and_chance_is_not():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (1000, 30)).astype(object)
    X[rng.random(X.shape) < 0.05] = None
    X[rng.random(1000) < 0.3, 4:12] = None
    X[rng.random(1000) < 0.9, 20:22] = None
    for j in (25, 26):  # mostly missing, each for itself
        X[rng.random(1000) < 0.9, j] = None
    blocks = skip_patterns(columns(X))
    assert [block.columns for block in blocks] == [tuple(range(4, 12)), (20, 21)]
    expected = [np.all(X[:, list(b.columns)] == None, axis=1).mean() for b in blocks]  # noqa: E711
    assert_array_equal([block.share for block in blocks], expected)
    assert advise(X).missing == "ignore"
    assert advise(X[:, :4]).missing == "category"


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=0, max_size=4), st.integers(0, 99))
def test_a_separator_needs_parts_that_repeat(extra, seed):
    rng = np.random.default_rng(seed)
    parts = ["red", "blue", "green", *extra]
    cells = [";".join(rng.choice(parts, rng.integers(1, 4))) for _ in range(200)]
    texts, counts = np.unique(cells, return_counts=True)
    assert separator_of(texts.tolist(), counts) == ";"
    different = [f"{i};{i + 1000}" for i in range(200)]
    assert separator_of(different, np.ones(200, np.int64)) is None


# --- speed, log ---


def test_wide_and_long_tables_take_little_time():
    rng = np.random.default_rng(0)
    values = np.array([f"answer {i}" for i in range(6)], dtype=object)
    long = pa.table({f"q{j}": values[rng.integers(0, 6, 20_000)] for j in range(50)})
    wide = pa.table({f"q{j}": rng.integers(0, 4, 300) for j in range(3000)})
    for X in (long, wide):
        start = time.process_time()
        advise(X, n_jobs=1)
        assert time.process_time() - start < 4


def test_a_fit_logs_a_line_about_numbers(caplog):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(600, 5))
    for X, expected in ((numbers, 1), (numbers.round(0), 0), (numbers[:50], 0)):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "softmodes"):
            SoftModes(2, n_init=1, max_iter=2, random_state=0).fit(X)
        found = [record.getMessage() for record in caplog.records if record.name == "softmodes"]
        assert len(found) == expected
    with caplog.at_level(logging.WARNING, "softmodes"):
        frame = pl.DataFrame({f"c{j}": numbers[:, j] for j in range(5)})
        SoftModes(2, n_init=1, max_iter=2, random_state=0).fit(frame)
    text = caplog.records[-1].getMessage()
    assert "c0 (600), c1 (600), c2 (600) and 2 more columns" in text


def test_numbers_that_all_differ_do_not_tell_the_same():
    rng = np.random.default_rng(0)
    age = rng.normal(40, 12, 300)
    table = pa.table({"a": age, "b": rng.normal(size=300), "c": rng.normal(size=300), "d": -age})
    advice = {line.column: line.verdict for line in advise(table).lines}
    assert [advice[name].action for name in "abcd"] == ["band", "band", "band", "leave out"]
    assert advice["d"].reason.why == "tells the same as a"
    assert not any(advice[name].checks for name in "abc")
