from __future__ import annotations

import datetime as dt
import logging
import math
import pickle
import signal
import subprocess
import sys
import textwrap
import time
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.stats import ks_2samp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import softmodes
from softmodes import KModes, SoftModes
from softmodes._algorithm.seeding import METHODS
from softmodes._parameters import thread_count
from softmodes.datasets import load_mushroom, load_nursery, load_tic_tac_toe
from softmodes.metrics import expected_cost, hamming_cost
from support import table

ANSWERS = np.array([["yes", "red"], ["yes", "blue"], ["no", "blue"], ["no", "green"]] * 8, object)


def small(**params):
    return SoftModes(n_clusters=3, n_init=2, random_state=0, **params)


@pytest.mark.parametrize("refine", ["latent", "gini", None])
def test_attributes_describe_one_and_the_same_partition(refine):
    X = table(400, (2, 3, 5, 17, 300), seed=1)
    model = small(refine=refine).fit(X)
    assert model.labels_.dtype.kind == "i"
    assert model.cluster_centers_.shape == (3, 5)
    assert model.cost_ == hamming_cost(X, model.labels_, model.cluster_centers_)
    assert model.expected_cost_ == pytest.approx(expected_cost(X, model.labels_))
    if refine is None:
        assert model.history_[model.best_round_].cost == model.cost_
    else:
        assert model.history_[model.best_round_].stage == refine
        assert model.history_[model.best_round_].objective == model.objective_
    assert model.n_iter_ == len(model.history_)
    assert_array_equal(model.cluster_sizes_, np.bincount(model.labels_, minlength=3))
    for j, (values, counts) in enumerate(
        zip(model.categories_, model.cluster_counts_, strict=True)
    ):
        counts = counts.toarray() if hasattr(counts, "toarray") else counts
        for i in range(3):
            expected = [(X[model.labels_ == i, j] == v).sum() for v in values]
            assert_array_equal(counts[i], expected)


def test_clusters_are_numbered_by_size_unless_seeds_were_given():
    X = np.array([["a"]] * 2 + [["b"]] * 5 + [["c"]] * 9)
    assert_array_equal(KModes(3, random_state=0).fit(X).cluster_centers_[:, 0], ["c", "b", "a"])
    seeded = KModes(3, init=[["a"], ["b"], ["c"]], random_state=0).fit(X)
    assert_array_equal(seeded.cluster_centers_[:, 0], ["a", "b", "c"])


@pytest.mark.parametrize(
    "model",
    [
        small(),
        small(refine="gini"),
        small(refine=None),
        small(refine=None, select="last", t=1.0, max_iter=3),
        small(missing="ignore"),
        small(feature_weight=[1, 0.5, 0, 2]),
        KModes(3, random_state=0),
    ],
)
def test_predict_gives_the_rows_of_the_fit_their_labels_ties_included(model):
    X = table(500, (2, 3, 2, 4), seed=2).astype(object)
    X[::9, 1] = None
    weight = np.random.default_rng(0).integers(0, 4, 500)
    for given in (None, weight):
        model.fit(X, sample_weight=given)
        assert_array_equal(model.predict(X), model.labels_)
        assert_array_equal(model.predict(X[::-1])[::-1], model.labels_)
        one_by_one = np.concatenate([model.predict(X[i : i + 1]) for i in range(0, 500, 25)])
        assert_array_equal(one_by_one, model.labels_[::25])
        distance = model.transform(X)
        assert_array_equal(distance[np.arange(500), model.labels_], distance.min(axis=1))
    nearest = distance == distance.min(axis=1, keepdims=True)
    tied = nearest.sum(axis=1) > 1
    if isinstance(model, KModes) or model.refine is None:
        assert tied.any(), "no tie: nothing tested"
        assert (model.labels_[tied] != nearest[tied].argmax(axis=1)).any()
    with pytest.warns(UserWarning, match="unseen"):
        beside_unseen = model.predict(np.vstack([X, [["new"] * 4]]))
    assert_array_equal(beside_unseen[:-1], model.labels_)


def test_transform_is_the_hamming_distance():
    X = table(100, (2, 3, 9), seed=3)
    model = small(refine=None).fit(X)
    expected = (X[:, None, :] != model.cluster_centers_[None]).sum(axis=2)
    assert_array_equal(model.transform(X), expected)


def test_feature_weights_weigh_the_distance():
    X = table(200, (2, 3, 9, 20, 300), seed=4)
    weight = np.array([1.0, 2.5, 0.0, 0.25, 3.0])
    model = small(feature_weight=weight, refine=None).fit(X)
    mismatch = X[:, None, :] != model.cluster_centers_[None]
    assert_allclose(model.transform(X), mismatch @ weight)
    assert model.cost_ == pytest.approx((mismatch @ weight)[np.arange(200), model.labels_].sum())
    frame = pd.DataFrame(X, columns=list("abcde"))
    named = dict(zip("abcde", weight, strict=True))
    named_model = small(feature_weight=named, refine=None).fit(frame)
    assert_array_equal(named_model.labels_, model.labels_)


def test_a_weight_on_one_feature_decides_the_clusters():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 8))
    model = KModes(2, feature_weight=[100] + [1] * 7, random_state=0).fit(X)
    assert len(set(zip(X[:, 0], model.labels_, strict=True))) == 2


def naive_score(model, X):
    total = 0.0
    for row, label in zip(X, model.predict(X), strict=True):
        for j, value in enumerate(row):
            counts = np.asarray(model.cluster_counts_[j])[label]
            share = counts[model.categories_[j] == value].sum() / max(1, counts.sum())
            total += 1 - share
    return -total / len(X)


def test_score_is_minus_the_expected_mismatches_per_row():
    X = table(200, (2, 3, 9), seed=5)
    model = small().fit(X)
    assert model.score(X) == pytest.approx(naive_score(model, X))
    other = np.concatenate([table(50, (2, 3, 9), seed=6), [[5, 5, 50]]])
    with pytest.warns(UserWarning, match="unseen"):
        score = model.score(other)
    with pytest.warns(UserWarning, match="unseen"):
        assert score == pytest.approx(naive_score(model, other))


def test_rows_that_come_to_a_cluster_empty_at_fit_are_compared_with_its_center():
    rows = [["a", "x"], ["a", "x"], ["b", "y"]]
    seeds = [["a", "x"], ["b", "y"], ["a", "y"]]
    model = KModes(3, init=seeds, n_init=1, random_state=0).fit(rows)
    assert model.cluster_sizes_.tolist() == [2, 1, 0]
    assert model.score([["a", "y"]]) == 0
    assert model.score([["b", "x"]]) == -1


@pytest.mark.parametrize("weight", [None, [3.0, 0.5]])
def test_a_column_without_a_value_at_fit_that_is_ignored_adds_nothing_to_the_score(weight):
    X = np.array([["a", None], ["a", None], ["b", None]], object)
    model = SoftModes(1, missing="ignore", feature_weight=weight, random_state=0).fit(X)
    alone = SoftModes(1, feature_weight=weight and weight[:1], random_state=0).fit(X[:, :1])
    assert model.score(X) == alone.score(X[:, :1]) < 0
    assert SoftModes(1, missing="ignore").fit(X[:2]).score(X[:2]) == 0


def test_a_value_in_a_column_that_had_none_at_fit_is_a_mismatch_to_the_score():
    model = SoftModes(1, missing="ignore", random_state=0).fit([["a", None], ["a", None]])
    with pytest.warns(UserWarning, match="unseen"):
        assert model.score([["a", "new"], ["a", None]]) == -0.5


def test_unseen_values_differ_from_every_center_and_are_named_once():
    X = pd.DataFrame({"answer": ["yes", "no"] * 5, "colour": ["red", "blue"] * 5})
    model = KModes(2, random_state=0).fit(X)
    new = pd.DataFrame({"answer": ["yes", "perhaps"], "colour": ["red", "violet"]})
    with pytest.warns(UserWarning, match="unseen") as caught:
        distances = model.transform(new)
    assert len(caught) == 1
    for word in ("answer", "perhaps", "colour", "violet"):
        assert word in str(caught[0].message)
    assert_array_equal(np.sort(distances, axis=1), [[0, 2], [2, 2]])


@pytest.mark.parametrize("method", ["predict", "transform", "score"])
def test_the_warning_of_unseen_values_points_to_the_call(method):
    model = KModes(2, random_state=0).fit([["a"], ["b"]])
    with pytest.warns(UserWarning, match="unseen") as caught:
        getattr(model, method)([["c"]])
    assert [w.filename for w in caught] == [__file__]


def test_missing_policies():
    X = pd.DataFrame({"a": ["x", None, "x", "y", "y"], "b": ["u", "u", "u", "v", None]})
    with pytest.raises(ValueError, match=r"'a'.*missing"):
        KModes(2, missing="error").fit(X)
    own = KModes(2, missing="category", random_state=0).fit(X)
    assert own.categories_[0].tolist() == ["x", "y", None]
    ignoring = KModes(2, missing="ignore", random_state=0).fit(X)
    assert ignoring.cost_ == 0
    assert ignoring.categories_[0].tolist() == ["x", "y"]
    assert pd.notna(ignoring.cluster_centers_).all()
    assert_array_equal(ignoring.labels_, [0, 0, 0, 1, 1])


def test_ignored_cells_neither_match_nor_count():
    rng = np.random.default_rng(0)
    X = table(300, (2, 3, 20), seed=7).astype(object)
    X[rng.random(X.shape) < 0.2] = None
    model = small(missing="ignore", refine=None).fit(X)
    observed = np.array(None) != X
    mismatch = (X[:, None, :] != model.cluster_centers_[None]) & observed[:, None, :]
    assert_array_equal(model.transform(X), mismatch.sum(axis=2))
    assert model.cost_ == mismatch.sum(axis=2)[np.arange(300), model.labels_].sum()
    assert sum(c.sum() for c in model.cluster_counts_) == observed.sum()


def test_a_column_without_any_value_is_harmless():
    X = pd.DataFrame({"a": ["x", "y"] * 4, "b": [None] * 8})
    for policy in ("ignore", "category"):
        model = KModes(2, missing=policy, random_state=0).fit(X)
        assert model.cost_ == 0
        assert model.cluster_centers_[0, 1] is None
        assert_array_equal(model.predict(X), model.labels_)


def test_wrong_columns_are_listed():
    X = pd.DataFrame({"a": ["x", "y"] * 4, "b": ["u", "v"] * 4})
    model = KModes(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time:\n- c.*missing:\n- b"):
        model.predict(X.rename(columns={"b": "c"}))
    with pytest.raises(ValueError, match=r"(?s)same order.*in their order: X\[model"):
        model.predict(X[["b", "a"]])
    unnamed = KModes(2, random_state=0).fit(X.to_numpy())
    with pytest.raises(ValueError, match="X has 1 features, but KModes is expecting 2"):
        unnamed.predict(X[["a"]].to_numpy())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_clusters": 40}, "n_clusters=40 is more than n_samples=32. Pass n_clusters of at most"),
        ({"n_clusters": 0}, "n_clusters=0 is not an int >= 1"),
        ({"n_clusters": 2.5}, "n_clusters=2.5 is not an int"),
        ({"n_clusters": True}, "n_clusters=True is not an int"),
        ({"t": 0.9}, "t=0.9 is not a number >= 1"),
        ({"init": "kmeans++"}, "init='kmeans\\+\\+' is not known. Pass one of 'random', 'd1'"),
        ({"init": [["yes", "red"]]}, "init has 1 rows and 2 columns.*n_clusters=3"),
        ({"init": [["yes", "red", 1]] * 3}, "init has 3 rows and 3 columns.*3 rows of 2 columns"),
        ({"init": [["yes", "pink"]] * 3}, "init.*'pink'"),
        ({"n_init": 0}, "n_init=0 is not an int >= 1"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"patience": 0}, "patience=0"),
        ({"select": "first"}, "select='first' is not known. Pass one of 'best', 'last'"),
        ({"missing": "drop"}, "missing='drop' is not known. Pass one of 'category', 'ignore'"),
        ({"n_jobs": 0}, "n_jobs=0 is not a number of threads"),
        ({"random_state": -1}, "random_state=-1 is outside"),
        ({"random_state": "x"}, "random_state='x' is not a seed. Pass an int from 0 to"),
        ({"random_state": 1.5}, "random_state=1.5 is not a seed.*RandomState, or None"),
        ({"random_state": [1, 2]}, r"random_state=\[1, 2\] is not a seed"),
        (
            {"random_state": np.random.default_rng(0)},
            r"random_state=Generator.*random_state=int\(generator.integers\(2\*\*63\)\)",
        ),
        (
            {"rounding": lambda counts: [["x"] * counts.shape[1]] * len(counts)},
            r"rounding=.*returned \[\['x'\].*not numbers. Return an array of probabilities",
        ),
        ({"feature_weight": [1.0]}, "feature_weight has shape \\(1,\\), but there are 2 features"),
        ({"feature_weight": [1.0, -1.0]}, "feature_weight\\[1\\] is -1.0"),
        ({"feature_weight": [0, 0]}, "feature_weight is zero everywhere"),
        ({"feature_weight": {"a": 1}}, "columns of X have no names"),
        ({"feature_weight": [1e6, 1]}, r"feature_weight\[1\]=1 is too small beside the largest"),
        ({"rounding": np.array([1, 2])}, "is neither a name nor a function"),
        ({"t": 10**400}, "is not a number >= 1"),
        ({"t": True}, "t=True is not a number"),
        ({"verbose": "a"}, "verbose='a' is not an int >= 0"),
        ({"init": None}, "init=None is neither a name nor 3 rows"),
    ],
)
def test_a_wrong_parameter_is_refused_by_name(change, message):
    with pytest.raises(ValueError, match=message):
        SoftModes(**({"n_clusters": 3, "random_state": 0} | change)).fit(ANSWERS)


@pytest.mark.parametrize("n_jobs", [10**6, 2**28, 2**29, 2**31, 10**30])
def test_more_threads_than_cores_are_asked_for_in_vain(n_jobs):
    X = table(100, (2, 3, 2, 4), seed=1)
    expected = small(n_jobs=1).fit(X)
    model = small(n_jobs=n_jobs).fit(X)
    assert_array_equal(model.labels_, expected.labels_)
    assert_array_equal(model.predict(X), expected.predict(X))
    assert thread_count(n_jobs) == thread_count(None)
    assert thread_count(-n_jobs) == 1


@pytest.mark.parametrize("n_marks", ["x", "3", 2.0, -1, 0, True, None])
def test_a_number_of_marks_that_is_none_is_refused_by_name(n_marks):
    model = small().fit(ANSWERS)
    with pytest.raises(ValueError, match=f"n_marks={n_marks!r} is not an int >= 1. Pass one."):
        model.summary(n_marks)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0], "sample_weight has shape \\(1,\\), but there are 32 rows"),
        ([-1.0] * 32, "sample_weight\\[0\\] is -1.0"),
        ([math.nan] * 32, "sample_weight\\[0\\] is nan"),
        ([0.0] * 32, "sample_weight is zero everywhere"),
        (["a"] * 32, "sample_weight must hold numbers"),
    ],
)
def test_wrong_weights_are_refused_by_name(weight, message):
    with pytest.raises(ValueError, match=message):
        small().fit(ANSWERS, sample_weight=weight)


@pytest.mark.parametrize(
    ("sample", "feature", "message"),
    [
        (1e-310, 0.3, "sample_weight times feature_weight underflows.*Multiply"),
        (5e-324, 1.5, "sample_weight times feature_weight underflows.*Multiply"),
        (1e300, 1e200, "sample_weight times feature_weight overflows.*Divide"),
        (1e300, 1e8, "sample_weight times feature_weight overflows.*Divide"),
    ],
)
def test_weights_whose_products_are_no_numbers_are_refused(sample, feature, message):
    weighted = small(feature_weight=[feature, feature / 3])
    with pytest.raises(ValueError, match=message):
        weighted.fit(ANSWERS, sample_weight=np.full(32, sample))


@pytest.mark.parametrize("scale", [2.0**-1030, 1e-290, 1e290])
def test_costs_follow_the_scale_of_the_weights(scale):
    X = table(200, (2, 3, 5), seed=8)
    plain = small(feature_weight=[1, 2, 4]).fit(X)
    scaled = small(feature_weight=[1, 2, 4]).fit(X, sample_weight=np.full(200, scale))
    assert_array_equal(scaled.labels_, plain.labels_)
    # Weights are kept to a part of 2^-46 of their sum.
    assert scaled.cost_ == pytest.approx(plain.cost_ * scale, rel=1e-11, abs=0)
    assert scaled.expected_cost_ == pytest.approx(plain.expected_cost_ * scale, rel=1e-11, abs=0)
    if scale < 1:  # whole weights stand for repeated rows, beside which the prior is nothing
        assert scaled.objective_ == pytest.approx(plain.objective_ * scale, rel=1e-9, abs=0)


def test_weights_scale_the_outcome_and_zero_weights_count_nothing():
    X = table(200, (2, 3, 5), seed=8)
    plain = small().fit(X)
    for factor in (1, 0.5, 3):
        model = small().fit(X, sample_weight=np.full(200, factor))
        assert model.cluster_sizes_.sum() == 200 * factor
        assert model.cost_ == hamming_cost(X, model.labels_, model.cluster_centers_) * factor
    assert_array_equal(small().fit(X, sample_weight=np.full(200, 0.5)).labels_, plain.labels_)
    some = np.where(np.arange(200) < 100, 1.0, 0.0)
    assert small().fit(X, sample_weight=some).cluster_sizes_.sum() == 100
    real = small().fit(X, sample_weight=np.random.default_rng(0).random(200) + 0.1)
    assert real.cost_ > 0


def test_whole_fits_with_weights_and_with_repeated_rows_agree_in_distribution():
    X = table(40, (2, 3, 2, 3), seed=10)
    weight = np.random.default_rng(2).integers(1, 4, 40)
    repeated = np.repeat(X, weight, axis=0)

    def costs(rows, w, t):
        params = {"n_init": 1, "t": t, "max_iter": 4, "init": "random", "select": "last"}
        params["refine"] = None
        return [
            SoftModes(3, random_state=seed, n_jobs=1, **params).fit(rows, sample_weight=w).cost_
            for seed in range(400)
        ]

    assert ks_2samp(costs(X, weight, 2.0), costs(repeated, None, 2.0)).pvalue > 1e-6
    assert ks_2samp(costs(X, weight, 2.0), costs(repeated, None, 1.0)).pvalue < 1e-6


@pytest.mark.parametrize(
    "X",
    [
        [["a", 1]],
        [["a", 1], ["a", 1], ["a", 1]],
        [["a"], ["b"], ["c"]],
        [[True], [False]],
        np.zeros((5, 4)),
        np.array([["x"], ["y"]]),
    ],
)
@pytest.mark.parametrize("init", METHODS)
def test_tiny_and_constant_tables_work_for_every_k(X, init):
    for k in range(1, len(X) + 1):
        for model in (SoftModes(k, init=init, random_state=0), KModes(k, init=init)):
            labels = model.fit_predict(X)
            assert labels.shape == (len(X),)
            assert labels.dtype.kind == "i"
            assert_array_equal(model.predict(X) < k, True)


def test_kmodes_converges_on_real_tables_within_20_rounds(votes_like):
    for X, k in [
        (load_mushroom(return_X_y=True)[0], 2),
        (load_nursery(return_X_y=True)[0], 5),
        (load_tic_tac_toe(return_X_y=True)[0], 2),
        (votes_like, 2),
    ]:
        for seed in range(5):
            model = KModes(k, n_init=1, max_iter=20, random_state=seed).fit(X)
            assert model.converged_
            costs = [r.cost for r in model.history_]
            assert costs == sorted(costs, reverse=True)


def test_no_convergence_warns_once_at_infinity_and_never_at_finite_t():
    X = load_nursery(return_X_y=True)[0]
    with pytest.warns(ConvergenceWarning, match="max_iter=1") as caught:
        KModes(5, n_init=3, max_iter=1, random_state=0).fit(X)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SoftModes(5, n_init=1, max_iter=1, random_state=0).fit(X)


def test_the_warning_of_no_convergence_points_to_the_call():
    with pytest.warns(ConvergenceWarning) as caught:
        KModes(5, n_init=1, max_iter=1, random_state=0).fit(table(200, (2, 3, 5, 17)))
    assert [w.filename for w in caught] == [__file__]


def test_the_columns_of_a_profile():
    X = pd.DataFrame(ANSWERS, columns=["answer", "colour"])
    columns = "cluster name feature value share overall lift count residual side"
    assert list(KModes(2, random_state=0).fit(X).profile().columns) == columns.split()
    mixed = pl.DataFrame({"a": ["x", "y"], "b": [1, 2]})
    assert KModes(2, random_state=0).fit(mixed).profile().shape == (4, 10)


def test_the_profile_of_a_frame_that_cannot_be_made_of_columns_is_one_of_pandas(monkeypatch):
    monkeypatch.setattr("softmodes._table.read.FRAME_BACKENDS", ("pandas", "pyarrow"))
    model = KModes(2, random_state=0, n_init=1).fit(pl.DataFrame({"a": ["x", "y"]}))
    assert isinstance(model.profile(), pd.DataFrame)


NOON = dt.datetime(2020, 1, 2, 12)
TIMES = {
    "date": [dt.date(2020, 1, 2), dt.date(1999, 12, 31)],
    "datetime": [NOON, dt.datetime(9000, 1, 1)],
    "instant": [NOON.replace(tzinfo=dt.UTC), dt.datetime(1970, 1, 1, tzinfo=dt.UTC)],
    "time": [dt.time(1, 2, 3), dt.time(23)],
    "duration": [dt.timedelta(hours=1), dt.timedelta(days=-400, microseconds=1)],
}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


def profile_values(frame):
    """The profile of a frame, and its values as Python objects, by feature."""
    profile = KModes(1, random_state=0, n_init=1).fit(frame).profile()
    assert type(profile) is type(frame)
    rows = profile.to_pylist() if isinstance(profile, pa.Table) else rows_of(profile)
    values = {row["feature"]: set() for row in rows}
    for row in rows:
        values[row["feature"]].add(None if pd.isna(row["value"]) else row["value"])
    return profile, values


def rows_of(frame):
    return frame.to_dicts() if isinstance(frame, pl.DataFrame) else frame.to_dict("records")


@pytest.mark.parametrize("missing", [[], [None]])
@pytest.mark.parametrize("kind", TIMES)
@pytest.mark.parametrize("container", FRAMES)
def test_a_profile_tells_dates_and_times_as_they_are(container, kind, missing):
    frame = FRAMES[container]({"when": [*TIMES[kind], *missing] * 3})
    profile, values = profile_values(frame)
    expected = {*TIMES[kind], *missing}
    if (container, kind) == ("pandas", "date") and not missing:
        expected = set(map(pd.Timestamp, expected))  # pandas has no type for dates
    assert values == {"when": expected}
    if container == "polars":
        assert profile["value"].dtype == frame["when"].dtype
    if container == "arrow":
        assert profile["value"].type == frame["when"].type


@pytest.mark.parametrize("container", ["polars", "arrow"])
def test_a_profile_tells_values_of_several_types_as_text(container):
    columns = {**TIMES, "number": [1, 2], "word": ["x", None]}
    _, values = profile_values(FRAMES[container](columns))
    assert values["date"] == {"2020-01-02", "1999-12-31"}
    assert values["datetime"] == {"2020-01-02 12:00:00", "9000-01-01 00:00:00"}
    assert values["duration"] == {"1:00:00", "-400 days, 0:00:00.000001"}
    assert values["number"] == {"1", "2"}
    assert values["word"] == {"x", None}


@pytest.mark.parametrize("missing", [[], [None]])
@pytest.mark.parametrize("container", ["polars", "arrow"])
def test_a_profile_tells_unsigned_values_beyond_int64_as_numbers(container, missing):
    cells = [1, 2**63 + 5, *missing]
    column = pa.array(cells, pa.uint64())
    frame = FRAMES[container]({"a": column, "b": pa.array([7] * len(cells))})
    profile, values = profile_values(frame)
    assert values == {"a": set(cells), "b": {7}}
    kind = profile["value"].dtype if container == "polars" else profile["value"].type
    assert kind == (pl.UInt64 if container == "polars" else pa.uint64())


def test_a_profile_in_pandas_keeps_values_of_several_types():
    frame = pd.DataFrame({**TIMES, "number": [1, 2], "word": ["x", None]})
    _, values = profile_values(frame)
    assert values["duration"] == set(TIMES["duration"])
    assert values["time"] == set(TIMES["time"])
    assert values["number"] == {1, 2}
    assert values["word"] == {"x", None}


def test_a_profile_joins_times_of_different_units():
    fine = np.array(["2020-01-01T00:00:00.000000001", "2021-01-01"], "M8[ns]")
    coarse = np.array(["2020-01-01", "2022-01-01T01:00"], "M8[us]")
    profile, values = profile_values(pa.table({"fine": fine, "coarse": coarse}))
    assert profile["value"].type == pa.timestamp("ns")
    assert values["fine"] == set(map(pd.Timestamp, fine))
    assert values["coarse"] == set(map(pd.Timestamp, coarse))
    far = np.array(["2020-01-01", "9000-01-01"], "M8[us]")
    _, values = profile_values(pa.table({"fine": fine, "far": far}))
    assert values["far"] == {"2020-01-01 00:00:00", "9000-01-01 00:00:00"}


@pytest.mark.parametrize("container", ["polars", "arrow"])
def test_a_profile_tells_values_beyond_the_types_of_the_frame_as_text(container):
    model = KModes(1, random_state=0, n_init=1).fit([[Decimal("1e300")], [Decimal("2e300")]])
    model._clustering = replace(model._clustering, backend=container.replace("arrow", "pyarrow"))
    assert set(model.profile()["value"].to_pandas()) == {"1E+300", "2E+300"}


def test_works_in_pipelines_searches_and_with_set_output():
    X = pd.DataFrame(ANSWERS, columns=["answer", "colour"])
    pipeline = make_pipeline(FunctionTransformer(), small()).fit(X)
    assert_array_equal(pipeline.predict(X), small().fit(X).predict(X))
    search = GridSearchCV(small(), {"n_clusters": [1, 3], "t": [1.0, 3.0]}, cv=2).fit(X)
    assert search.best_params_["n_clusters"] == 3
    out = small().set_output(transform="pandas").fit_transform(X)
    assert list(out.columns) == ["softmodes0", "softmodes1", "softmodes2"]
    assert isinstance(small().set_output(transform="polars").fit_transform(X), pl.DataFrame)


def test_sample_weight_is_routed():
    X = pd.DataFrame(ANSWERS, columns=["answer", "colour"])
    with softmodes_routing():
        model = small().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(FunctionTransformer(), model)
        pipeline.fit(X, sample_weight=np.full(32, 2.0))
        assert pipeline[-1].cluster_sizes_.sum() == 64


def softmodes_routing():
    import sklearn

    return sklearn.config_context(enable_metadata_routing=True)


def test_clone_and_pickle_keep_parameters_and_answers():
    model = small(t=2.0).fit(ANSWERS)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict(ANSWERS), model.predict(ANSWERS))
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        clone(model).predict(ANSWERS)


def test_same_answer_for_every_kind_of_table():
    X = table(300, (2, 3, 5, 9), seed=11)
    words = np.array([f"v{i}" for i in range(9)], object)[X]
    expected = small().fit(words)
    frame = pd.DataFrame(words, columns=list("abcd"))
    shuffled = [f"v{i}" for i in (4, 8, 0, 3, 7, 1, 2, 6, 5)]
    for other in [
        words.tolist(),
        words.astype(str),
        frame,
        frame.astype("string"),
        frame.astype(pd.CategoricalDtype(shuffled)),
        pl.from_pandas(frame),
        pl.from_pandas(frame).with_columns(pl.all().cast(pl.Categorical)),
        pa.Table.from_pandas(frame),
    ]:
        model = small().fit(other)
        assert_array_equal(model.labels_, expected.labels_)
        assert_array_equal(model.cluster_centers_, expected.cluster_centers_)
        assert model.history_ == expected.history_
    numbers = small().fit(X)
    assert_array_equal(numbers.labels_, expected.labels_)
    assert_array_equal(small().fit(csr_array(X)).labels_, expected.labels_)
    assert_array_equal(small().fit(X.astype(float)).labels_, expected.labels_)


def test_on_round_sees_every_round_and_can_ask_for_labels():
    X = table(200, (2, 3, 5), seed=12)
    seen = []
    model = SoftModes(3, n_init=2, random_state=0)
    model.fit(X, on_round=lambda s: seen.append((s.run, s.round, s.cost, len(s.labels()))))
    assert {run for run, *_ in seen} == {0, 1}
    assert all(n == 200 for *_, n in seen)
    stopped = SoftModes(3, n_init=50, random_state=0).fit(X, on_round=lambda s: True)
    assert stopped.n_iter_ == 2  # one of six clusters; one of the three that are left of them
    assert [round_.clusters for round_ in stopped.history_] == [6, 3]
    assert not stopped.converged_


def test_verbose_tells_runs_and_rounds(capsys, caplog):
    caplog.set_level(logging.WARNING, "softmodes")  # which has no use for progress, then
    small(verbose=1, refine=None).fit(ANSWERS)
    assert capsys.readouterr().out.count("rounds: cost") == 2
    small(verbose=1).fit(ANSWERS)
    assert capsys.readouterr().out.count("rounds: objective") == 2
    model = small(verbose=2).fit(ANSWERS)
    lines = capsys.readouterr().out.splitlines()
    assert {line.split(",")[0] for line in lines} == {"run 0", "run 1"}
    assert len(lines) > model.n_iter_
    small().fit(ANSWERS)
    assert capsys.readouterr().out == ""


def test_a_fit_that_would_not_fit_in_memory_is_refused_with_numbers(monkeypatch):
    monkeypatch.setattr("softmodes._rows.memory.available_memory", lambda: 10_000)
    X = pd.DataFrame({"a": ["x", "y"] * 5000, "zip": [str(i % 200) for i in range(10_000)]})
    KModes(9).fit(X[:200])  # so few rows are not worth asking for
    with pytest.raises(MemoryError, match=r"n_clusters=9 needs \d+ bytes.*1 \('zip'\) with 200"):
        KModes(9).fit(X)


def test_wide_columns_stay_sparse_outside_the_loop_too():
    rng = np.random.default_rng(0)
    X = np.stack([rng.permutation(4000), rng.integers(0, 2, 4000)], axis=1).astype(object)
    X[:50, 0] = None
    model = KModes(500, init="random", missing="ignore", n_init=1, random_state=0).fit(X)
    tracemalloc.start()
    model.score(X)
    model.profile()
    SoftModes(500, init="huang", missing="ignore", n_init=1, max_iter=3, refine=None).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 500 * 4000 * 8, "a dense array of clusters and values was made"


def test_cao_neither_overflows_nor_seeds_rows_without_weight():
    X = np.random.default_rng(1).integers(0, 3, (300, 20))
    plain, thirds = (
        SoftModes(6, init="cao", n_init=1, random_state=0).fit(X, sample_weight=np.full(300, w))
        for w in (1, 1 / 3)
    )
    assert_array_equal(plain.labels_, thirds.labels_)
    rows = [["a", "b"], *[["a", f"x{i}"] for i in range(5)], *[[f"y{i}", "b"] for i in range(5)]]
    model = SoftModes(2, init="cao", n_init=1, max_iter=1, select="last")
    model.fit(np.array(rows, object), sample_weight=[0] + [1] * 10)
    assert ["a", "b"] not in model.cluster_centers_.tolist()


def test_a_series_of_feature_weights_is_taken_by_name():
    X = pd.DataFrame(table(100, (2, 3), seed=3), columns=["a", "b"])
    by_name = small(feature_weight=pd.Series({"b": 9.0, "a": 1.0})).fit(X)
    assert_array_equal(by_name.labels_, small(feature_weight=[1, 9]).fit(X).labels_)


def test_patience_that_ends_a_run_is_no_lack_of_convergence():
    X = np.random.default_rng(0).integers(0, 4, (300, 6))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(20):
            SoftModes(6, t=math.inf, patience=1, n_init=1, random_state=seed).fit(X)


def test_a_wholly_missing_column_that_is_ignored_is_in_no_count():
    X = np.array([[None, 0], [None, 1]] * 5, object)
    model = KModes(2, missing="ignore", random_state=0).fit(X)
    assert model.cluster_counts_[0].sum() == 0
    assert set(model.profile().feature) == {"x1"}


def test_a_failed_refit_leaves_the_model_as_it_was():
    X = pd.DataFrame(ANSWERS, columns=["answer", "colour"])
    model = small().fit(X)
    before = model.predict(X)
    with pytest.raises(ValueError, match="n_clusters"):
        model.set_params(n_clusters=0).fit(X[["answer"]])
    assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
@pytest.mark.parametrize("other", [pd.DataFrame({"z": ["u", "v"] * 4}), np.zeros((9, 5), int)])
def test_a_refit_that_is_broken_off_leaves_every_attribute_of_the_last(other, error):
    X = pd.DataFrame(ANSWERS, columns=["answer", "colour"])
    model = small().fit(X)
    before, labels = dict(vars(model)), model.predict(X)

    def break_off(state):
        raise error

    with pytest.raises(error):
        model.fit(other, on_round=break_off)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)
    assert_array_equal(model.predict(X), labels)


def test_a_refit_whose_warning_is_an_error_leaves_the_model_as_it_was():
    X = load_nursery(return_X_y=True)[0]
    model = KModes(5, n_init=1, random_state=0).fit(X)
    expected = model.predict(X)
    with pytest.raises(ConvergenceWarning):  # as an error, which warnings are in these tests
        model.set_params(max_iter=1).fit(X.iloc[:, :3])
    assert_array_equal(model.predict(X), expected)


def test_a_refit_on_a_table_without_names_forgets_the_names():
    model = small().fit(pd.DataFrame(ANSWERS, columns=["answer", "colour"]))
    assert list(model.feature_names_in_) == ["answer", "colour"]
    model.fit(ANSWERS)
    assert not hasattr(model, "feature_names_in_")


def test_names_that_scikit_learn_does_not_take_are_refused_before_anything_is_fitted():
    rounds = []
    with pytest.raises(TypeError, match="Feature names"):
        small().fit(pd.DataFrame(ANSWERS, columns=["answer", 1]), on_round=rounds.append)
    assert rounds == []


def test_threads_that_share_a_model_get_the_answers_of_each_alone():
    tables = [table(400 + 50 * i, (2, 3, 5, 17, 300), seed=i) for i in range(8)]
    model = small().fit(np.concatenate(tables))

    def answers(model, X):
        return model.predict(X), model.transform(X), model.score(X)

    expected = [answers(model, X) for X in tables]
    assert len({labels.tobytes() for labels, *_ in expected}) == 8
    for _ in range(5):
        fresh = pickle.loads(pickle.dumps(model))  # what a model keeps for later is not there yet
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(answers, [fresh] * 8, tables))
        for (labels, distances, score), wanted in zip(found, expected, strict=True):
            assert_array_equal(labels, wanted[0])
            assert_array_equal(distances, wanted[1])
            assert score == wanted[2]


def test_a_callback_must_be_callable_and_may_return_anything():
    with pytest.raises(ValueError, match="on_round=3 cannot be called"):
        small().fit(ANSWERS, on_round=3)
    small().fit(ANSWERS, on_round=lambda state: state.labels())


def test_algorithm_1_of_the_paper_is_select_last_with_one_run():
    X = table(200, (2,) * 20, seed=13)
    model = SoftModes(3, t=1.0, select="last", n_init=1, max_iter=30, random_state=0).fit(X)
    assert model.best_round_ == model.n_iter_ - 1


def test_importing_is_light():
    def loaded(statement, modules):
        code = f"import sys; {statement}; print([m for m in {modules} if m in sys.modules])"
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        return out.stdout.strip()

    assert loaded("import softmodes", ["numpy", "sklearn", "pandas", "polars"]) == "[]"
    plotting_and_clusters = ["matplotlib", "dask", "distributed", "pyspark", "polars"]
    assert loaded("from softmodes import SoftModes", plotting_and_clusters) == "[]"


def test_ctrl_c_stops_a_long_fit_within_a_second():
    code = textwrap.dedent("""
        import numpy as np, signal, sys
        from softmodes import SoftModes
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs
        X = np.random.default_rng(0).integers(0, 2, (400_000, 64), dtype=np.uint8)
        print("go", flush=True)
        SoftModes(1000, t=1.0, init="random", n_init=1000, n_jobs=2).fit(X)
    """)
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "go\n"
    time.sleep(2.0)
    start = time.perf_counter()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in errors
    assert time.perf_counter() - start < 5, "a second is the aim; the machine may be busy"


def test_version_is_told():
    assert softmodes.__version__.count(".") == 2


def test_a_summary_shows_the_values_that_mark_a_cluster_most_and_no_more_than_asked_for():
    X = [[*row, *"xyxy"[i]] for i, row in enumerate(["abc", "abd", "abe", "bcf"])]
    model = SoftModes(2, random_state=0).fit(X)
    assert str(model.summary(1)).splitlines() == [
        "group 0: 3 rows (75 %): x0: a  100 % (all 75 %), the same for x1: b (one block)",
        "group 1: 1 row (25 %): x0: b  100 % (all 25 %), the same for x1: c, x2: f (one block)",
    ]
    for n_marks, shown in [(1, 1), (2, 2), (100, 2)]:
        assert len(model.summary(n_marks).groups[1].marks) == shown
    assert model.summary() == model.summary(5)


def test_names_of_features_are_an_array_of_objects_as_scikit_learn_promises():
    model = small().fit(pd.DataFrame(ANSWERS, columns=["answer", "colour"]))
    assert model.feature_names_in_.dtype == object
    assert model.feature_names_in_.tolist() == ["answer", "colour"]
