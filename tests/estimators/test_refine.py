"""What a refined model is and says, wherever it comes from."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from softmodes import KModes, SoftModes
from softmodes._algorithm.loop import best_run
from softmodes._estimators import base
from softmodes._estimators.auto import TableSize, allowance, auto_rounds, auto_starts
from softmodes._rows.stores import open_store
from softmodes.datasets import load_zoo
from softmodes.metrics import expected_cost, hamming_cost
from support import table

REFINE = ["latent", "gini", None]
SIZES = (2, 3, 5, 17, 2)


def with_holes(X, share=0.2, seed=0):
    holes = np.random.default_rng(seed).random(X.shape) < share
    return np.where(holes, None, X.astype(object))


def missing_columns():
    X = with_holes(table(60, SIZES))
    X[:, 1] = None
    X[:20, 3] = None
    return X


TABLES = {
    "one row": (1, lambda: np.array([["a", "b"]], object)),
    "one column": (3, lambda: table(50, (5,))),
    "constant columns": (2, lambda: np.ones((40, 3), int)),
    "one constant column": (3, lambda: table(40, (1,))),
    "k = 1": (1, lambda: table(50, SIZES)),
    "k = n": (40, lambda: table(40, SIZES)),
    "fewer distinct rows than clusters": (
        6,
        lambda: np.repeat([[0, 1], [1, 0], [1, 1]], 9, axis=0),
    ),
    "missing": (3, lambda: with_holes(table(60, SIZES))),
    "columns of missing cells": (3, missing_columns),
    "all missing": (2, lambda: np.full((9, 2), None)),
    "an identifier": (4, lambda: np.stack([np.arange(400), np.arange(400) % 3], axis=1)),
    "identifier with holes": (3, lambda: with_holes(np.arange(400)[:, None].repeat(2, axis=1))),
    "256 values and missing": (3, lambda: with_holes(table(900, (256, 3)), 0.1)),
    "sparse": (3, lambda: sparse.csr_array(table(60, (3,) * 40) * (table(60, (4,) * 40) == 1))),
    "binary": (3, lambda: table(80, (2,) * 70)),
}


@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize("refine", REFINE)
@pytest.mark.parametrize("name", TABLES)
def test_any_table_can_be_refined(name, refine, missing):
    k, make = TABLES[name]
    X = make()
    n = X.shape[0]
    for weighted in (False, True):
        weight = np.arange(n) % 3 if weighted and n > 1 else None
        model = SoftModes(k, refine=refine, missing=missing, n_init=2, random_state=0)
        model.fit(X, sample_weight=weight)
        assert_consistent(model, X, weight)


def assert_consistent(model, X, weight=None):
    """All that a model publishes and says of the rows of its fit fits together."""
    k = model.n_clusters
    w = np.ones(X.shape[0]) if weight is None else weight
    assert_array_equal(model.predict(X), model.labels_)
    assert_allclose(model.cluster_sizes_, np.bincount(model.labels_, w, k))
    distances = model.transform(X)
    assert np.isfinite(distances).all()
    assert (distances >= 0).all()
    nearest = distances.min(axis=1)
    assert_array_equal(distances[np.arange(len(nearest)), model.labels_], nearest)
    margin = model.margin(X)
    assert ((margin >= 0) & (margin <= 1)).all()
    assert model.n_iter_ == len(model.history_)
    chosen = model.history_[model.best_round_]
    assert chosen.stage == (model.refine or "modes")
    assert np.isfinite(model.objective_)
    assert math.isfinite(model.score(X, sample_weight=weight))
    if model.refine == "latent":
        assert_probabilities(model, X)
    else:
        assert not hasattr(model, "predict_proba")
        assert not hasattr(model, "score_samples")
        assert model.objective_ == pytest.approx(model.expected_cost_)


def assert_probabilities(model, X):
    shares = model.predict_proba(X)
    assert_array_equal(shares.sum(axis=1), np.ones(X.shape[0]))
    assert_array_equal(shares[np.arange(len(shares)), model.labels_], shares.max(axis=1))
    bits = model.transform(X)
    exact = 2.0 ** -(bits - bits.min(axis=1, keepdims=True))
    exact /= exact.sum(axis=1, keepdims=True)
    assert np.abs(shares - exact).max() < model.n_clusters * 2.0**-15
    logs = model.score_samples(X)
    expected = np.logaddexp.reduce(-bits * math.log(2), axis=1)
    # Clusters that are 20 bits behind are left out.
    assert_allclose(logs, expected, atol=3e-6 + model.n_clusters * 2.0**-20)


@pytest.mark.parametrize("refine", ["latent", "gini"])
def test_without_refinement_the_best_round_is_the_start_of_the_same_run(refine):
    X = table(300, SIZES, groups=6)
    given = {"init": X[:4], "n_init": 1, "random_state": 3}  # so that no cluster is to spare
    plain = SoftModes(4, refine=None, **given).fit(X)
    refined = SoftModes(4, refine=refine, **given).fit(X)
    assert refined.history_[: plain.n_iter_] == plain.history_
    assert refined.history_[plain.n_iter_].stage == "gini"
    stages = [round_.stage for round_ in refined.history_]
    assert stages == sorted(stages, key=["modes", "gini", "latent"].index)
    assert all((round_.cost is None) == (round_.stage == "latent") for round_ in refined.history_)
    if refine == "latent":
        assert stages.count("gini") <= 5
        assert stages.count("latent") <= 60


def test_the_defaults_are_refined_restarts():
    model = SoftModes(3)
    assert (model.refine, model.n_init, model.t, model.select) == ("latent", "auto", "auto", "best")
    assert KModes(3).n_init == 10


@pytest.mark.parametrize(
    ("n", "d", "k", "n_values", "n_wide", "n_init"),
    [
        (10**6, 25, 40, 100, 0, 10),  # by comparisons of cells alone
        (10**6 + 1, 25, 40, 100, 0, 5),
        (10**8, 100, 1, 500, 0, 5),
        (10**8 + 1, 100, 1, 500, 0, 3),
        (10**12, 50, 2, 100, 0, 3),
        (10_000, 4, 48, 20, 0, 10),  # short rows
        (10_000, 4, 100, 20, 0, 1),
        (10**5, 4, 5, 20, 0, 10),
        (10**6, 4, 2, 20, 0, 2),
        (10**6, 14, 48, 20, 0, 9),
        (10**6, 15, 48, 20, 0, 10),
        (20_000, 10, 100, 300, 0, 1),
        (20_000, 24, 100, 300, 0, 9),
        (20_000, 25, 100, 300, 0, 10),
        (10_000, 1, 2_000, 1_000, 0, 1),
        (60, 2_000, 10, 10_000, 0, 10),  # few rows for each value
        (60, 30_000, 10, 150_000, 0, 1),
        (10, 200_000, 10, 400_000, 0, 1),
        (100_000, 20, 2, 20_000, 20, 5),  # columns of many values
        (100_000, 20, 2, 100_000, 20, 1),
        (1_000_000, 20, 2, 100_000, 20, 10),
        (5_000, 25, 300, 100, 0, 10),  # many clusters
        (5_000, 25, 500, 100, 0, 6),
        (5_000, 25, 2_500, 100, 0, 3),
    ],
)
def test_auto_restarts_depend_on_the_table_alone(n, d, k, n_values, n_wide, n_init):
    assert auto_starts(TableSize(n, d, n_values, n_wide), k) == n_init
    X = table(100, SIZES)
    runs = set()
    SoftModes(2, random_state=0).fit(X, on_round=lambda state: runs.add(state.run))
    assert runs == set(range(10))


@pytest.mark.parametrize(
    ("n", "d", "k", "n_values", "n_rounds"),
    [
        (100, 20, 10, 2_000, 60),
        (100_000, 20, 3, 100_000, 60),
        (100_000, 20, 10, 100_000, 20),
        (500_000, 20, 10, 100_000, 60),
        (10, 200_000, 10, 2_000_000, 10),
    ],
)
def test_auto_rounds_are_fewer_where_there_are_many_prices_and_few_rows(
    n, d, k, n_values, n_rounds
):
    assert auto_rounds(TableSize(n, d, n_values), k) == n_rounds


@pytest.mark.parametrize(
    ("n", "d", "k", "n_wide", "n_rounds"),
    [
        (1_000, 10, 5, 0, 20_000),
        (10_000, 200, 10, 0, 50),
        (20_000, 200, 10, 0, 100),
        (10**6, 20, 10, 0, 500),
        (100_000, 20, 10, 20, 10**9 / 2.12e8),
    ],
)
def test_the_allowance_is_of_so_many_comparisons_and_of_more_in_a_large_table(
    n, d, k, n_wide, n_rounds
):
    assert allowance(TableSize(n, d, 5 * d, n_wide), k) == pytest.approx(n_rounds)


def test_only_auto_restarts_have_an_allowance(monkeypatch):
    X = np.random.default_rng(0).integers(0, 3, (300, 8))
    monkeypatch.setattr(base, "allowance", lambda size, k: 1.0)
    runs = {}
    for n_init in ("auto", 4):
        seen = runs[n_init] = set()
        SoftModes(3, n_init=n_init, random_state=0).fit(
            X, on_round=lambda s, to=seen: to.add(s.run)
        )
    assert runs == {"auto": {0}, 4: {0, 1, 2, 3}}


def test_the_size_of_a_table_counts_columns_of_more_than_256_values():
    found = TableSize.of(9, np.array([256, 257, 5000, 2], np.int32))
    assert found == TableSize(n=9, d=4, n_values=5515, n_wide=2)


def test_a_finish_ends_after_as_many_rounds_as_it_is_given():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (400, 6))
    opened = open_store(X)
    plan = SoftModes(5, n_init=1, random_state=0)._plan(opened, None)
    long = best_run(opened.store, plan)
    short = best_run(opened.store, replace(plan, latent_rounds=7))
    of_finish = [sum(r.stage == "latent" for r in run.history) for run in (long, short)]
    assert of_finish[0] > 7, "the finish is short by itself: nothing tested"
    assert of_finish[1] == 7


def test_refinement_lowers_its_objective_and_agrees_more_between_seeds():
    X = load_zoo().data
    for refine in ("latent", "gini"):
        models = [SoftModes(7, refine=refine, random_state=seed).fit(X) for seed in range(4)]
        for model in models:
            found = [r.objective for r in model.history_ if r.stage == refine]
            assert model.objective_ == min(found) < found[0] or len(found) <= 2


def test_a_refined_model_shows_the_modes_of_its_partition():
    X = table(400, SIZES, groups=5)
    for refine in ("latent", "gini"):
        model = SoftModes(4, refine=refine, n_init=2, random_state=1).fit(X)
        for i, center in enumerate(model.cluster_centers_):
            for j, value in enumerate(center):
                counts = np.bincount(X[model.labels_ == i, j])
                assert counts[value] == counts.max()
        assert model.cost_ == hamming_cost(X, model.labels_, model.cluster_centers_)
        assert model.expected_cost_ == pytest.approx(expected_cost(X, model.labels_))


@pytest.mark.parametrize("refine", REFINE)
def test_weights_are_repeated_rows_given_the_same_start(refine):
    X = table(200, SIZES, groups=4)
    weight = np.random.default_rng(0).integers(1, 4, 200)
    repeated = np.repeat(X, weight, axis=0)
    seeds = X[[0, 50, 150]]
    params = {"refine": refine, "init": seeds, "n_init": 1, "random_state": 0, "t": math.inf}
    a = SoftModes(3, **params).fit(X, sample_weight=weight)
    b = SoftModes(3, **params).fit(repeated)
    assert_array_equal(np.repeat(a.labels_, weight), b.labels_)
    assert [r.expected_cost for r in a.history_] == [r.expected_cost for r in b.history_]
    assert a.objective_ == pytest.approx(b.objective_, rel=1e-12)


@pytest.mark.parametrize("refine", ["latent", "gini"])
def test_rows_without_weight_change_nothing_given_the_same_start(refine):
    X = table(200, SIZES, groups=4)
    new = np.random.default_rng(1).permuted(X[:30], axis=0)
    seeds = X[[0, 50, 150]]
    params = {"refine": refine, "init": seeds, "n_init": 1, "random_state": 0, "t": math.inf}
    a = SoftModes(3, **params).fit(X)
    b = SoftModes(3, **params).fit(np.vstack([X, new]), sample_weight=[1] * 200 + [0] * 30)
    assert_array_equal(a.labels_, b.labels_[:200])
    assert a.objective_ == pytest.approx(b.objective_, rel=1e-12)
    assert_array_equal(b.predict(np.vstack([X, new])), b.labels_)


@pytest.mark.parametrize("asked", ["modes", "gini", "latent"])
def test_a_fit_can_be_stopped_in_every_stage(asked):
    X = table(200, SIZES, groups=6)
    model = SoftModes(4, random_state=0).fit(X, on_round=lambda state: state.stage == asked)
    stage = "latent" if asked == "latent" else "modes"  # a pass for those that are not to spare
    assert model.history_[-1].stage == stage
    assert asked in {round_.stage for round_ in model.history_}
    assert len(model.cluster_centers_) == 4
    assert not model.converged_
    assert_array_equal(model.predict(X), model.labels_)
    if stage == "latent":
        assert_probabilities(model, X)
    else:
        for method in (model.predict_proba, model.score_samples):
            with pytest.raises(ValueError, match=f"ended in a round of stage '{stage}'. Fit again"):
                method(X)


def test_a_stop_ends_the_fit_at_once():
    X = table(200, SIZES, groups=6)
    seen = []

    def watch(state):
        seen.append((state.run, state.stage))
        return state.run == 2 and state.stage == "gini"

    SoftModes(4, n_init=6, random_state=0).fit(X, on_round=watch)
    assert seen[-1] == (2, "gini")
    assert seen.count((2, "gini")) == 1


def test_labels_of_a_round_are_those_of_its_scores():
    X = table(200, SIZES, groups=6)
    found = {}

    def watch(state):
        found[state.stage] = state

    model = SoftModes(4, n_init=1, random_state=0).fit(X, on_round=watch)
    assert {*found} == {"modes", "gini", "latent"}
    assert found["gini"].expected_cost == pytest.approx(expected_cost(X, found["gini"].labels()))
    sizes = np.sort(np.bincount(found["latent"].labels(), minlength=4))[::-1]
    if model.best_round_ == model.n_iter_ - 1:
        assert_array_equal(sizes, model.cluster_sizes_)


def test_ignored_and_unseen_cells_tell_nothing_about_the_cluster():
    X = with_holes(table(300, SIZES, groups=4))
    model = SoftModes(3, missing="ignore", n_init=2, random_state=0).fit(X)
    nothing = np.full((1, 5), None)
    shares = model.predict_proba(nothing)[0]
    bits = model.transform(nothing)[0]
    with pytest.warns(UserWarning, match="unseen"):
        unseen = model.predict_proba([["new"] * 5])[0]
    assert_array_equal(shares, unseen)
    assert shares.argmax() == bits.argmin()
    assert model.score_samples(nothing)[0] == pytest.approx(0.0, abs=0.01)


def test_the_margin_is_zero_on_ties_and_one_with_a_single_cluster():
    X = table(100, SIZES)
    for refine in REFINE:
        assert_array_equal(SoftModes(1, refine=refine).fit(X).margin(X), np.ones(100))
    twice = SoftModes(2, refine="gini", init=[[0, 0], [1, 1]], random_state=0)
    twice.fit([[0, 0], [1, 1], [0, 1], [1, 0]])
    margin = twice.margin([[0, 0], [1, 1], [0, 1], [1, 0]])
    assert ((margin >= 0) & (margin <= 1)).all()
    votes = KModes(2, init=[[0, 0], [1, 1]], random_state=0).fit([[0, 0], [1, 1]])
    assert_array_equal(votes.margin([[0, 0], [1, 1], [0, 1]]), [1, 1, 0])


def test_margin_and_transform_are_made_piece_by_piece(monkeypatch):
    X = table(500, SIZES, groups=6)
    for refine in REFINE:
        model = SoftModes(4, refine=refine, n_init=1, random_state=0).fit(X)
        whole = model.transform(X), model.margin(X)
        monkeypatch.setattr("softmodes._rows.tally._CELLS_AT_ONCE", 120)
        pieces = model.transform(X), model.margin(X)
        monkeypatch.undo()
        for a, b in zip(whole, pieces, strict=True):
            assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"refine": "kmeans"}, "refine='kmeans'.*'latent'.*'gini'.*None"),
        ({"refine": False}, "refine=False"),
        ({"n_init": "many"}, "n_init='many'"),
        ({"n_init": 0}, "n_init=0"),
        ({"t": "best"}, "t='best'"),
        ({"t": 3.0, "rounding": "uniform"}, "t=3.0 has a meaning for rounding='soft' only"),
    ],
)
def test_wrong_parameters_are_refused_by_name(params, message):
    with pytest.raises(ValueError, match=message):
        SoftModes(2, **params).fit([["a"], ["b"]])


def test_t_auto_takes_several_t_in_turn():
    X = table(200, SIZES, groups=6)
    params = {"n_init": 6, "random_state": 5, "refine": None, "select": "last", "max_iter": 6}

    def histories(t):
        found = {}

        def watch(state):
            found.setdefault(state.run, []).append(state.expected_cost)

        SoftModes(4, t=t, **params).fit(X, on_round=watch)
        return found

    auto = histories("auto")
    for run, t in enumerate((3.0, 8.0, 3.0, 8.0, 3.0, 8.0)):
        assert auto[run] == histories(t)[run]


@pytest.mark.parametrize("width", [5, 300])
def test_a_value_in_rows_without_weight_alone_is_as_an_unseen_one(width):
    X = table(600, (width, 3, 2, 5), groups=4)
    weight = (X[:, 0] != X[0, 0]).astype(int)
    model = SoftModes(3, n_init=2, random_state=0).fit(X, sample_weight=weight)
    assert_consistent(model, X, weight)
    rows = X[weight == 0].astype(object)
    unseen = rows.copy()
    unseen[:, 0] = "new"
    with pytest.warns(UserWarning, match="unseen"):
        assert_array_equal(model.transform(rows), model.transform(unseen))


def test_an_iris_of_numbers_is_no_error_either():
    X = np.random.default_rng(0).normal(size=(120, 4))
    for refine in REFINE:
        model = SoftModes(3, refine=refine, n_init=2, random_state=0).fit(X)
        assert_consistent(model, X)


@pytest.mark.parametrize("refine", ["latent", "gini"])
@pytest.mark.parametrize("k", [1, 4])
def test_rounds_that_can_change_nothing_are_not_made(refine, k):
    few = np.array([[0, 0], [1, 1], [2, 0], [2, 2]])
    X = few[np.random.default_rng(0).integers(0, 4, 60)]
    model = SoftModes(k, refine=refine, n_init=1, random_state=0).fit(X)
    stages = [round_.stage for round_ in model.history_]
    assert stages.count("modes") == 1
    assert stages.count("gini") <= 1  # for its prices, or of a merged partition
    assert_array_equal(model.predict(X), model.labels_)
