from __future__ import annotations

import copy
import json
import pickle
from datetime import date

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import softmodes
from softmodes import Bands, Prepare, SoftModes
from softmodes.datasets import make_survey


def survey(n=400, **params):
    return make_survey(n, random_state=0, backend="pyarrow", **params)[0]


def cells_of(out):
    """Return the cells of an outcome by column, None where missing."""
    if isinstance(out, pd.DataFrame):
        out = out.astype(object).where(out.notna(), None)
        return {name: out[name].tolist() for name in out}
    if isinstance(out, pl.DataFrame):
        return out.to_dict(as_series=False)
    return out.to_pydict()


def in_library(table, backend):
    if backend == "polars":
        return pl.from_arrow(table)
    return table.to_pandas() if backend == "pandas" else table


def slow(table, prepare):
    """What is to come out, cell by cell, from what the preparation says that it has learned."""
    learned = prepare.to_dict()
    names, found = table.column_names, {}
    for step in learned["steps"]:
        cells = table[names[step["column"]]].to_pylist()
        cells = [None if cell in (prepare.na or ()) else cell for cell in cells]
        name = names[step["column"]]
        if step["do"] == "use":
            found[name] = cells
        elif step["do"] == "band":
            labels = prepare._steps[step["column"]].cuts.labels
            at = [
                sum(c <= float(cell) for c in step["cuts"]) if cell is not None else None
                for cell in cells
            ]
            found[name] = [None if i is None else labels[i] for i in at]
        elif step["do"] == "lump":
            found[name] = [c if c is None or c in step["values"] else step["other"] for c in cells]
        else:
            for part in step["parts"]:
                has = [c and part in [p.strip() for p in c.split(step["separator"])] for c in cells]
                found[f"{name}[{part}]"] = [h if h is None else ("no", "yes")[h] for h in has]
    return found


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_the_outcome_is_that_of_the_slow_way_in_every_library(backend):
    table = survey()
    X = in_library(table, backend)
    prepare = Prepare(na=["NA"]).fit(X)
    out = prepare.transform(X)
    assert type(out) is type(X)
    expected = slow(table, prepare)
    assert len(expected) > 100
    assert {step["do"] for step in prepare.to_dict()["steps"]} == {"use", "band", "lump", "split"}
    assert cells_of(out) == expected
    assert prepare.get_feature_names_out().tolist() == list(expected)
    assert cells_of(prepare.transform(X[:7] if backend != "pyarrow" else X.slice(0, 7))) == {
        name: cells[:7] for name, cells in expected.items()
    }


def test_arrays_come_out_of_arrays_and_lists():
    table = survey()
    matrix = table.to_pandas().to_numpy(dtype=object)
    prepare = Prepare(na="NA").fit(matrix)
    expected = np.array(list(slow(table, Prepare(na="NA").fit(table)).values()), dtype=object).T
    for X in (matrix, matrix.tolist()):
        assert_array_equal(prepare.transform(X), expected)
    assert prepare.get_feature_names_out()[0] == "x3"
    plain = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 1]] * 20, dtype=np.int16)
    out = Prepare().fit_transform(plain)
    assert out.dtype.kind == "i"
    assert_array_equal(out, plain[:, :2])


def test_columns_are_taken_by_name():
    table = survey()
    prepare = Prepare(na="NA").fit(table)
    out = prepare.transform(table)
    names = table.column_names
    assert prepare.transform(table.select(names[::-1]).append_column("new", table["A1"])).equals(
        out
    )
    assert prepare.transform(table.drop_columns(["RespId", "comment", "consent"])).equals(out)
    with pytest.raises(ValueError, match=r"X lacks columns that are used: \['age', 'A3'\]"):
        prepare.transform(table.drop_columns(["A3", "age"]))
    with pytest.raises(ValueError, match="X has 3 features, but Prepare is expecting 119"):
        prepare.transform(np.array([["a", "b", "c"]]))
    with pytest.raises(NotFittedError):
        Prepare().transform(table)


def test_an_index_stays_and_ordered_categories_keep_their_order():
    sizes = pd.Categorical(["S", "L", "M", None] * 10, ["S", "M", "L"], ordered=True)
    X = pd.DataFrame({"size": sizes, "n": range(40), "o": ["a", "b"] * 20}, index=range(60, 100))
    out = Prepare(keep="n", na="b").fit_transform(X)
    assert out.index.equals(X.index)
    assert out["size"].dtype == X["size"].dtype
    assert out["n"].cat.ordered
    assert out["o"].isna().sum() == 20


def test_new_values_have_a_place():
    X = pd.DataFrame(
        {
            "n": [i % 40 for i in range(400)],
            "many": [f"v{i % 60}" for i in range(400)],
            "tags": ["a;b", "b", "a", "b;c"] * 100,
        }
    )
    prepare = Prepare().fit(X)
    new = pd.DataFrame(
        {"n": [-7, 99, None], "many": ["new", "v0", None], "tags": ["d", "d;a", None]}
    )
    out = cells_of(prepare.transform(new))
    assert out["n"] == ["7 or less", "32 or more", None]
    assert out["many"] == ["other", "v0", None]
    assert out["tags[a]"] == ["no", "yes", None]
    with pytest.raises(ValueError, match="Column 'n' holds 'x', and bands are made of numbers"):
        prepare.transform(new.assign(n=["x", "1", "2"]))


def test_many_parts_become_other_and_names_stay_different():
    rng = np.random.default_rng(0)
    tags = [";".join(f"t{i}" for i in rng.integers(0, 70, 3)) for _ in range(800)]
    X = pd.DataFrame(
        {"tags": tags, "tags[t1]": ["a", "b"] * 400, "k[1": ["x;[]", "[];()", "()", "x"] * 200}
    )
    prepare = Prepare().fit(X)
    names = prepare.get_feature_names_out().tolist()
    assert len(set(names)) == len(names) == 50 + 1 + 3
    assert "tags[other]" in names
    assert {"tags[t1]", "tags[t1*]"} <= set(names)
    assert {"k[1[()]", "k[1[()*]", "k[1[x]"} <= set(names)
    assert sum(prepare.feature_weight_.values()) == pytest.approx(3)


def test_parts_weigh_as_one_column_in_a_pipeline():
    table = survey(600, clarity=0.15)
    prepare = Prepare(na="NA").fit(table)
    out = prepare.transform(table)
    shared = SoftModes(3, feature_weight="parts", random_state=0, n_init=2)
    given = SoftModes(3, feature_weight=prepare.feature_weight_, random_state=0, n_init=2)
    assert_array_equal(shared.fit(out).labels_, given.fit(out).labels_)
    unweighted = SoftModes(3, random_state=0, n_init=2).fit(out)
    assert unweighted.objective_ != given.objective_, "weights change nothing: nothing tested"
    pipe = clone(make_pipeline(Prepare(na="NA"), shared))
    assert_array_equal(pipe.fit_predict(table), given.labels_)
    assert sum(prepare.feature_weight_.values()) == pytest.approx(114)
    with pytest.raises(ValueError, match="have no names"):
        shared.fit([["a"], ["b"], ["c"]])
    with pytest.raises(ValueError, match="feature_weight='part' is not known"):
        SoftModes(2, feature_weight="part").fit(out)


def test_groups_are_found_better_after_preparation_than_raw():
    found = []
    for seed in range(3):
        X, y = make_survey(600, clarity=0.35, random_state=seed)
        prepare = Prepare(na="NA").fit(X)
        assert prepare.advice_.missing == "ignore"
        model = SoftModes(4, n_init=3, random_state=0)
        raw = adjusted_rand_score(y, model.fit(X).labels_)
        model.set_params(missing="ignore", feature_weight="parts")
        found.append((raw, adjusted_rand_score(y, model.fit(prepare.transform(X)).labels_)))
    raw, prepared = np.mean(found, axis=0)
    assert prepared > 0.8
    assert raw < 0.4


def test_weights_of_rows_are_returned():
    table = survey()
    prepare = Prepare(weight="weight").fit(table)
    assert_array_equal(prepare.sample_weight(table), table["weight"].to_numpy())
    assert Prepare().fit(table).sample_weight(table) is None
    with pytest.raises(ValueError, match="weight='age' is missing in"):
        Prepare(weight="age", na="NA").fit(table).sample_weight(table)


@pytest.mark.parametrize(
    ("cells", "shown"), [(["1", "much"], "'much'"), ([date(2020, 1, 1), date(2021, 1, 1)], "dates")]
)
def test_weights_that_are_no_numbers_are_told(cells, shown):
    table = pa.table({"w": cells * 3, "a": ["x", "y", "y"] * 2})
    with pytest.raises(
        ValueError, match=f"^weight='w' is a column that holds {shown}, and weights"
    ):
        Prepare(weight="w").fit(table).sample_weight(table)


# --- as plain values ---


def test_a_preparation_is_plain_values_and_back():
    table = survey()
    asked = {
        "keep": ("RespId",),
        "as_": {"age": "bands:3", "income": "category"},
        "na": ["NA", -99],
    }
    prepare = Prepare(id="comment", weight="weight", **asked).fit(table)
    plain = json.loads(json.dumps(prepare.to_dict(), allow_nan=False))
    back = Prepare.from_dict(plain)
    assert back.to_dict() == plain
    assert back.transform(table).equals(prepare.transform(table))
    assert str(back.advice_) == str(prepare.advice_)
    assert back.feature_weight_ == prepare.feature_weight_
    assert_array_equal(back.sample_weight(table), prepare.sample_weight(table))
    unnamed = Prepare().fit([[1, "a"], [2, "b"], [1, "b"]])
    assert Prepare.from_dict(unnamed.to_dict()).to_dict() == unnamed.to_dict()
    assert pickle.loads(pickle.dumps(prepare)).to_dict() == prepare.to_dict()


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: d.update(version=2),
        lambda d: d.pop("steps"),
        lambda d: d["steps"].pop(),
        lambda d: d["steps"].append(d["steps"][0]),
        lambda d: d["steps"][0].update(column=-1),
        lambda d: d["steps"][0].update(do="rm"),
        lambda d: d["steps"][1].update(cuts=[3, 2, 1]),
        lambda d: d.update(n_features=3),
        lambda d: d.update(names=["a"] * 119),
        lambda d: d.update(params={"evil": 1}),
        lambda d: d["advice"]["lines"].pop(),
        lambda d: d["advice"]["lines"][0].update(column=3),
        lambda d: d["advice"]["lines"][0]["verdict"].update(action="run"),
        lambda d: d["advice"].update(backend="os"),
    ],
)
def test_what_is_no_preparation_is_refused(damage):
    data = copy.deepcopy(Prepare(na="NA").fit(survey(60)).to_dict())
    damage(data)
    with pytest.raises(ValueError, match="This is not a preparation"):
        Prepare.from_dict(data)


# --- scikit-learn ---


def _not_in_memory(folder):
    table = pa.table({"a": ["u", "v", "u"]})
    path = folder / "rows.parquet"
    pq.write_table(table, path)
    yield from (path, str(path), [path], ds.dataset(path), pl.scan_parquet(path))
    yield from (table.to_reader(), duckdb.sql("select 1 as a"), nw.from_native(pl.LazyFrame()))


def test_nothing_is_brought_into_memory_unasked(tmp_path):
    fitted = Prepare().fit(pa.table({"a": ["u", "v", "u"]}))
    for X in _not_in_memory(tmp_path):
        for ask in (softmodes.advise, Prepare().fit, Prepare().fit_transform, fitted.transform):
            with pytest.raises(TypeError, match="Pass its rows, or a sample of them, as a frame"):
                ask(X)


def test_set_output_and_odd_tables():
    table = survey(50)
    out = Prepare(na="NA").set_output(transform="pandas").fit_transform(table.to_pandas())
    assert isinstance(out, pd.DataFrame)
    array = np.array([["a", "x"], ["b", "x"], ["a", "y"]], dtype=object)
    named = Prepare().set_output(transform="pandas").fit_transform(array)
    assert named.columns.tolist() == ["x0", "x1"]
    numbered = Prepare().fit_transform(pd.DataFrame(array))
    assert numbered.columns.tolist() == ["x0", "x1"]
    assert Prepare().fit_transform(pa.record_batch({"a": ["u", "v"]})).column_names == ["a"]
    with pytest.raises(TypeError, match="Sparse data was passed"):
        Prepare().fit(csr_array(np.eye(3)))
    with pytest.raises(ValueError, match="No column of 2 is left to use"):
        Prepare().fit([["a", 1]])
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        Prepare().fit(pd.DataFrame({"a": []}))


@parametrize_with_checks(
    [Prepare(n_jobs=1)],
    expected_failed_checks=lambda prepare: {
        "check_transformer_data_not_an_array": "its numbers become bands: text, which it compares",
        "check_dataframe_column_names_consistency": "columns are taken by name, in any order",
    },
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_bands_in_a_pipeline_after_a_choice_of_columns():
    X = pd.DataFrame({"n": range(60), "m": [i % 7 / 2 for i in range(60)]})
    out = make_pipeline(Bands(3), SoftModes(2, n_init=1, random_state=0)).fit_predict(X)
    assert out.shape == (60,)
