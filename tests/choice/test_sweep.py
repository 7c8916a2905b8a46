"""Sweeps of whole tables, as a user meets them."""

import math
import re
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import softmodes
from softmodes import SoftModes, Sweep
from softmodes._choice.measure import TIED, Effort, measure
from softmodes._choice.shuffled import shuffled
from softmodes._choice.sweeping import first_plan
from softmodes._rows.clusters import feature_scale
from softmodes._rows.stores import open_store
from softmodes.datasets import load_zoo, make_ccm
from softmodes.metrics import (
    ari,
    deciding_columns,
    expected_cost,
    icl,
    line_share,
    silhouette,
    valley,
)
from softmodes.metrics._evidence import deciding_of, icl_of
from softmodes.metrics._partition import Partition
from softmodes.metrics._separation import valley_of
from support import table

COLUMNS = ["k", "explained", "shuffled", "same_again", "other_80", "smallest", "tied", "valley"]
COLUMNS += ["icl", "silhouette", "deciding_columns", "verdict"]


def sweep(X, k=(2, 8), *, n_jobs=1, **options):
    return softmodes.sweep(X, k, n_jobs=n_jobs, **options)


def measured(X, most=4, effort=None, **more):
    opened = open_store(X, **more)
    plan = first_plan(SoftModes(random_state=0), opened, most)
    return measure(opened, plan, most, effort or Effort(shuffle=False))


def planted(n=600, d=40, k=3, eps=0.15, seed=0):
    return make_ccm(n, d, k, eps, random_state=seed)


# --- what is told of each k ---


def test_the_statistics_are_those_of_the_partitions():
    X, _ = planted(300, 12, eps=0.1)
    statistics, levels = measured(X)
    assert [row.k for row in statistics] == [1, 2, 3, 4]
    for row, level in zip(statistics, levels, strict=True):
        labels = level.labels
        assert row.icl == pytest.approx(icl(X, labels, n_clusters=row.k), rel=1e-12)
        assert (row.n_rows, row.n_columns) == (300, 12)
        assert row.smallest == np.bincount(labels, minlength=row.k).min()
        whole = expected_cost(X, np.zeros(300))
        assert row.explained == pytest.approx(1 - expected_cost(X, labels) / whole)
        for name, metric in {
            "valley": valley,
            "silhouette": silhouette,
            "deciding_columns": deciding_columns,
            "line_share": line_share,
        }.items():
            assert getattr(row, name) == pytest.approx(metric(X, labels), nan_ok=True), name


def test_same_again_is_the_agreement_of_the_models_that_a_user_gets():
    X, _ = planted(200, 8, eps=0.3)
    found = sweep(X, (2, 5), random_state=3)
    assert min(found.columns()["same_again"]) < 1, "all alike: nothing tested"
    opened = open_store(X)
    plan = first_plan(SoftModes(random_state=3), opened, 5)
    _, levels = measure(opened, plan, 5, Effort(shuffle=False))
    for k, same in zip(found.columns()["k"], found.columns()["same_again"], strict=True):
        labels = [levels[k - 1].labels, *found.fits.two_labels(k)]
        pairs = [ari(labels[a], labels[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
        assert same == pytest.approx(np.mean(pairs), abs=1e-12)
        assert_array_equal(labels[1], SoftModes(k, random_state=3).fit(X).labels_)


def test_models_are_fitted_for_what_is_asked_alone():
    X, _ = planted(100, 8)
    found = sweep(X, (4, 5), random_state=3)
    assert sorted(found.fits.fitted) == [4, 5]
    whole = sweep(X, (2, 5), random_state=3)
    assert whole.statistics[2:] == found.statistics


def test_tied_rows_are_those_without_a_clear_lead():
    X, _ = planted(400, 8, k=4, eps=0.3)
    weight = np.random.default_rng(0).integers(1, 4, 400)
    statistics, levels = measured(X, sample_weight=weight)
    assert statistics[0].tied == 0
    for row, level in list(zip(statistics, levels, strict=True))[1:]:
        store, run = level.partition.store, level.run
        parts = store.memberships(run.centers, level.plan.comparison(run.index)) / 2**16
        second, best = np.sort(parts, axis=1)[:, -2:].T
        assert row.tied == pytest.approx(np.average(best - second < TIED, weights=weight))
    assert statistics[-1].tied > 0, "no tie: nothing tested"


def test_a_shuffled_table_has_the_same_columns_in_other_orders():
    X = table(500, (2, 3, 4, 300), groups=3).astype(object)
    X[::7, 1] = None
    opened = open_store(X, missing="ignore", sample_weight=np.arange(1, 501))
    before = opened.store.rows(np.arange(500))
    after = shuffled(opened, 5).rows(np.arange(500))
    assert_array_equal(np.sort(before, axis=0), np.sort(after, axis=0))
    assert (before != after).any(axis=0).all()
    orders = [np.argsort(after[:, j], kind="stable") for j in range(4)]
    assert not all((orders[0] == order).all() for order in orders[1:])
    assert_array_equal(after, shuffled(opened, 5).rows(np.arange(500)))
    assert (after != shuffled(opened, 6).rows(np.arange(500))).any()
    assert shuffled(opened, 5).total_weight == opened.store.total_weight


def test_groups_explain_more_than_a_shuffled_table_and_noise_does_not():
    X, _ = planted(500, 20)
    groups = sweep(X, (2, 3), random_state=0).columns()
    assert min(groups["explained"]) > 3 * max(groups["shuffled"])
    noise = np.random.default_rng(0).integers(0, 2, (500, 20))
    found = sweep(noise, (2, 3), random_state=0).columns()
    assert found["explained"] == pytest.approx(found["shuffled"], rel=0.3)


# --- the choice ---


@pytest.mark.parametrize("k", [2, 4, 7])
def test_planted_groups_are_found(k):
    X, y = planted(k=k, seed=k)
    found = sweep(X, (2, 9), random_state=0)
    assert (found.pick, found.verdict, found.solid, found.more) == (k, "Solid", k, False)
    assert ari(y, found.model().labels_) > 0.95


def test_no_groups_are_found_in_noise():
    X = np.random.default_rng(0).integers(0, 3, (500, 20))
    found = sweep(X, (2, 6), random_state=0)
    assert (found.pick, found.verdict, found.solid) == (None, "No groups", None)
    assert set(found.columns()["verdict"]) == {"Do not use"}


def test_bands_of_a_scale_are_no_groups():
    rng = np.random.default_rng(0)
    X = rng.random((800, 25)) < 1 / (1 + np.exp(-1.5 * rng.standard_normal((800, 1))))
    found = sweep(X, (2, 6), random_state=0)
    assert (found.pick, found.verdict) == (None, "No separate groups")
    assert found.why == "The rows lie on a scale: it can be cut into bands."


def test_a_column_that_is_there_twice_makes_no_groups():
    X = np.random.default_rng(0).integers(0, 3, (600, 15))
    found = sweep(np.hstack([X, X[:, :1]]), (2, 5), random_state=0)
    assert found.choice.pays > 1, "the pair pays for nothing: nothing tested"
    assert (found.pick, found.verdict) == (None, "No separate groups")
    assert "repeat one another" in found.why


def test_groups_by_what_was_not_asked_ask_for_care():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (600, 15)).astype(float)
    X[np.ix_(rng.random(600) < 0.3, range(8))] = np.nan
    found = sweep(X, (2, 5), random_state=0)
    assert (found.pick, found.verdict) == (2, "Use with care")
    assert "missing='ignore'" in found.why
    assert sweep(X, (2, 5), missing="ignore", random_state=0).pick is None


def test_what_is_missing_tells_apart_is_by_the_formula():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (300, 4)).astype(object)
    labels = rng.integers(0, 2, 300)
    X[(rng.random(X.shape) < 0.5) & (labels == 0)[:, None]] = None
    whole, by_missing = 0.0, 0.0
    for column in X.T:
        values = sorted(set(column), key=str)
        p = np.mean([[cell == v for v in values] for cell in column], axis=0)
        shares = []
        for c in (0, 1):
            own = [cell for cell, label in zip(column, labels, strict=True) if label == c]
            shares.append((np.array([own.count(v) for v in values]) + p) / (len(own) + 1))
        whole += ((shares[0] - shares[1]) * np.log(shares[0] / shares[1])).sum()
        two = [np.array([s[values.index(None)], 1 - s[values.index(None)]]) for s in shares]
        by_missing += ((two[0] - two[1]) * np.log(two[0] / two[1])).sum()
    codes = np.full(4, 3, np.int32)
    found = deciding_of(Partition.of(X, labels), codes)
    assert found.missing == pytest.approx(by_missing / whole, rel=1e-9)
    assert deciding_of(Partition.of(X, labels), np.full(4, -1, np.int32)).missing == 0


# --- the same answer ---


def test_a_sweep_depends_on_the_seed_alone():
    X, _ = planted(200, 10, eps=0.2, seed=1)
    frame = pd.DataFrame(X.astype(str))
    one = sweep(X, (2, 4), random_state=5, n_jobs=1)
    for other in (
        sweep(X, range(2, 5), random_state=5, n_jobs=2),
        sweep(frame, (2, 4), random_state=5),
        sweep(pl.DataFrame(X.astype(str)), (2, 4), random_state=5),
    ):
        assert repr(other) == repr(one)
        assert list(map(str, other.statistics)) == list(map(str, one.statistics))
    assert repr(sweep(X, (2, 4), random_state=6)) != repr(one)


def test_the_model_is_that_of_a_fit_without_a_sweep():
    X, _ = planted(300, 15, eps=0.2)
    weight = np.random.default_rng(0).integers(0, 3, 300)
    more = {"missing": "ignore", "feature_weight": np.arange(1, 16), "t": 5.0}
    found = sweep(X, (2, 4), sample_weight=weight, random_state=7, **more)
    for k in (3, 6):  # one of the sweep, and another
        alone = SoftModes(k, random_state=7, n_jobs=1, **more).fit(X, sample_weight=weight)
        model = found.model(k)
        assert_array_equal(model.labels_, alone.labels_)
        assert model.objective_ == alone.objective_
        assert model.get_params() == alone.get_params()
    assert found.model(3) is found.model(3)
    assert_array_equal(found.model(3).predict(X), found.model(3).labels_)


# --- weights, missing cells, poor and long tables ---


def test_whole_weights_are_repeated_rows_and_halves_are_nothing():
    X, _ = planted(150, 12, eps=0.1)
    weighted, levels = measured(X, sample_weight=np.full(150, 2))
    for row, level in zip(weighted, levels, strict=True):
        twice = np.repeat(X, 2, axis=0), np.repeat(level.labels, 2)
        assert row.n_rows == 300
        assert row.icl == pytest.approx(icl(*twice, n_clusters=row.k), rel=1e-12)
    halves, plain = measured(X, sample_weight=np.full(150, 0.5))[0], measured(X)[0]
    for a, b in zip(halves, plain, strict=True):
        assert asdict(a) == pytest.approx(asdict(b), rel=1e-6, nan_ok=True)


def test_rows_of_weight_0_count_for_nothing():
    X, _ = planted(200, 15)
    noise = np.random.default_rng(0).integers(0, 2, (50, 15))
    weight = np.r_[np.ones(200), np.zeros(50)]
    both = sweep(np.vstack([X, noise]), (2, 4), sample_weight=weight, random_state=0)
    alone = sweep(X, (2, 4), random_state=0)
    assert list(map(str, both.statistics)) == list(map(str, alone.statistics))
    assert both.n_rows_seen == 200
    assert len(both.model().labels_) == 250


def test_columns_of_weight_0_count_for_nothing():
    X, y = planted(300, 20, k=3)
    other = np.repeat(make_ccm(300, 20, 2, 0.05, random_state=9)[0], 1, axis=0)
    X = np.hstack([X, other])
    found = sweep(X, (2, 6), feature_weight=[1] * 20 + [0] * 20, random_state=0)
    assert found.pick == 3
    assert ari(y, found.model().labels_) > 0.95
    assert sweep(X, (2, 7), random_state=0).pick == 6, "the other columns make no groups"


def test_weights_of_columns_in_the_statistics():
    X = table(300, (2, 3, 4, 300), groups=3)
    labels = np.random.default_rng(0).integers(0, 3, 300).astype(np.int32)
    part = Partition.of(X, labels)
    weight = np.array([1, 2, 0, 3], np.uint32)
    scaled = feature_scale(weight)
    assert scaled == pytest.approx(weight * 6 / 14)
    weighed = replace(part, feature_weight=scaled)
    nothing = icl_of(Partition.of(np.zeros((300, 1)), labels))
    by_column = [icl(X[:, [j]], labels) - nothing for j in range(4)]
    assert icl_of(weighed) == pytest.approx(nothing + scaled @ by_column)
    left = Partition.of(X[:, [0, 1]], labels)
    twice = replace(left, feature_weight=np.array([2.0, 2.0]))
    assert valley_of(twice) == pytest.approx(valley_of(left), rel=1e-6)
    some = replace(part, feature_weight=np.array([1.0, 1, 0, 0]))
    assert valley_of(some) == pytest.approx(valley_of(left), rel=1e-6)
    assert deciding_of(some).columns == pytest.approx(deciding_of(left).columns)


@pytest.mark.parametrize(
    "X",
    [
        [["a"]],
        [["a"], ["b"]],
        [["a"]] * 10,
        [["a", None], ["b", None]] * 5,
        [[None]] * 6,
        [[i, "x"] for i in range(8)],
        [["a", "b"], ["c", "d"]] * 2,
    ],
)
@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_a_sweep_is_defined_for_poor_tables(X, missing):
    found = sweep(X, missing=missing, random_state=0)
    assert found.pick is None
    assert found.verdict in ("No groups", "No separate groups")
    assert found.columns()["k"] == list(range(2, max(1, 8 * len(X) // 10) + 1))[:7]
    assert np.isfinite(found.columns()["icl"]).all()
    assert repr(found).endswith(found.sentence())
    assert "<table>" in found._repr_html_()
    assert len(found.to_frame()) == len(found.statistics)


def test_more_groups_than_distinct_rows_are_not_picked():
    X = np.repeat([[0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [0, 1, 0, 1, 2]], 30, axis=0)
    found = sweep(X, (2, 6), random_state=0)
    assert found.pick == 3
    assert found.columns()["verdict"][2:] == ["Do not use"] * 3


def test_of_a_long_table_a_part_is_looked_at():
    X, _ = planted(2000, 20)
    found = sweep(X, (2, 4), max_rows=500, random_state=0)
    assert (found.n_rows, found.n_rows_seen, found.pick) == (2000, 500, 3)
    assert "500 of 2,000 rows were looked at." in repr(found)
    assert found.statistics[0].n_rows == 500
    assert_array_equal(found.model().labels_, SoftModes(3, random_state=0).fit(X).labels_)
    assert "looked at" not in repr(sweep(X, (2, 4), max_rows=None, random_state=0))


# --- what a user sees ---


@pytest.mark.parametrize(
    ("kind", "make"),
    [(pd.DataFrame, pd.DataFrame), (pl.DataFrame, pl.DataFrame), (pd.DataFrame, np.asarray)],
)
def test_the_frame_is_of_the_kind_that_came_in(kind, make):
    X, _ = planted(100, 10)
    frame = sweep(make(X.astype(str)), (2, 3), random_state=0).to_frame()
    assert isinstance(frame, kind)
    assert list(frame.columns) == COLUMNS


def test_an_arrow_table_gives_one():
    X, _ = planted(100, 4)
    named = pa.table({f"q{j}": X[:, j] for j in range(4)})
    found = sweep(named, (2, 3), random_state=0).to_frame()
    assert isinstance(found, pa.Table)
    assert found.column_names == COLUMNS


def test_what_is_printed_is_a_line_for_each_k_and_a_sentence():
    X, _ = planted()
    found = sweep(X, (2, 5), random_state=0)
    head, *lines, sentence = repr(found).splitlines()
    assert head.split("  ")[-1].strip() == "tied"
    assert re.split(r"\s{2,}", head.strip()) == [
        "k", "explained", "shuffled", "same again", "other 80 %", "smallest", "tied"
    ]  # fmt: skip
    assert [line.endswith("<- pick") for line in lines] == [False, True, False, False]
    assert sentence == (
        "3 groups. Solid: the groups are apart, and are found again in other rows (1.00)."
    )
    html = found._repr_html_()
    assert html.count("<tr>") == 5
    assert "&lt;- pick" in html
    assert "There may be more than 3: raise the range of k." in repr(sweep(X, (2, 3)))


def test_names_are_public():
    assert isinstance(sweep(load_zoo().data, (2, 3), random_state=0), Sweep)
    assert {"sweep", "Sweep", "Stability"} <= set(softmodes.__all__)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 3}, r"k=3 is neither a pair \(least, most\) nor a range. Pass k=\(2, 8\), say."),
        ({"k": (2, 3, 4)}, r"k=\(2, 3, 4\) is neither a pair"),
        ({"k": (2, 3.5)}, r"k=\(2, 3.5\) is neither a pair"),
        ({"k": (1, 3)}, r"k=\(1, 3\) must hold numbers from 2 on"),
        ({"k": (4, 3)}, r"k=\(4, 3\) must hold numbers from 2 on"),
        ({"k": range(2, 2)}, r"k=range\(2, 2\) must hold numbers from 2 on"),
        ({"t": 0.5}, "t=0.5"),
        ({"missing": "drop"}, "missing='drop' is not known"),
        ({"max_rows": 0}, "max_rows=0 is not an int >= 1"),
        ({"n_jobs": 0}, "n_jobs=0 is not a number of threads"),
        ({"random_state": -1}, "random_state=-1 is outside"),
        ({"sample_weight": [1, 2]}, "sample_weight has shape"),
        ({"feature_weight": [1]}, "feature_weight has shape"),
    ],
)
def test_wrong_parameters_are_told(options, message):
    with pytest.raises(ValueError, match=message):
        sweep(planted(50, 5)[0], **options)


def test_there_is_no_model_of_no_pick():
    found = sweep(np.random.default_rng(0).integers(0, 3, (200, 6)), (2, 3), random_state=0)
    with pytest.raises(ValueError, match=r"k=None stands for the pick, and there is none \(No "):
        found.model()
    with pytest.raises(ValueError, match="k=0 is not an int >= 1"):
        found.model(0)
    with pytest.raises(ValueError, match="n_clusters=300 is more than n_samples=200"):
        found.model(300)
    assert math.isfinite(found.model(2).objective_)
