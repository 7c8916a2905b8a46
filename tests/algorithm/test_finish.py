"""The finishes, beside the same in floating point."""

from __future__ import annotations

import math
import weakref
from dataclasses import replace
from itertools import groupby, pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from softmodes import SoftModes
from softmodes._algorithm.loop import best_run, run_once
from softmodes._algorithm.plan import Plan
from softmodes._algorithm.stages import LEAST_CHANGE, REST, Fit, Gini, Latent
from softmodes._rows.centers import CodeCenters, ScoreCenters
from softmodes.metrics import expected_cost
from softmodes.rounding import soft
from support import open_store, table

SIZES = (2, 3, 2, 5, 9, 17, 2, 4, 4, 3)


def plan(**changes):
    base = Plan(
        k=4,
        rounding=soft(3.0),
        init="d1-greedy",
        n_init=1,
        max_iter=30,
        patience=5,
        select="best",
        yardstick="expected_cost",
        seed=7,
        refine="latent",
        finalists=2,
    )
    return replace(base, **changes)


def one_hot(X):
    parts = [np.eye(size)[column] for column, size in zip(X.T, X.max(axis=0) + 1, strict=True)]
    return np.hstack(parts)


class FloatModel:
    """The latent class model in float64, from responsibilities."""

    def __init__(self, X, prior=1.0, weight=None, feature_weight=None):
        self.hot, self.prior = one_hot(X), prior
        n_values = X.max(axis=0) + 1
        self.weight = np.ones(len(X)) if weight is None else weight
        heavy = np.ones(X.shape[1]) if feature_weight is None else feature_weight
        heavy = heavy / heavy.mean()
        self.heavy = np.repeat(heavy, n_values)
        self.shares = self.weight @ self.hot / self.weight.sum()

    def maximise(self, parts):
        weighted = self.weight[:, None] * parts
        sizes = weighted.sum(axis=0)
        counts = weighted.T @ self.hot + self.prior * self.shares
        with np.errstate(divide="ignore"):
            log_p = np.log(counts / (sizes[:, None] + self.prior))
        self.log_p = self.heavy * np.where(self.shares > 0, log_p, 0.0)
        self.log_pi = np.log(sizes / sizes.sum())

    def expect(self):
        joint = self.hot @ self.log_p.T + self.log_pi
        most = joint.max(axis=1, keepdims=True)
        log_likelihood = most[:, 0] + np.log(np.exp(joint - most).sum(axis=1))
        objective = self.weight @ log_likelihood + self.prior * (self.log_p @ self.shares).sum()
        return np.exp(joint - log_likelihood[:, None]), objective


def nearly_sure(labels, k):
    return 0.95 * np.eye(k)[labels] + 0.05 / k


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("weighted", ["no", "rows", "features"])
@pytest.mark.parametrize("seed", range(3))
def test_the_latent_objective_is_that_of_the_same_model_in_floats(seed, weighted, wide):
    X = table(400, SIZES, seed=seed, groups=4)
    if wide:
        X = np.hstack([X, np.random.default_rng(seed).permutation(400)[:, None] % 290])
    weight = np.random.default_rng(seed).integers(0, 4, 400) if weighted == "rows" else None
    heavy = np.arange(1, X.shape[1] + 1, dtype=np.uint32) if weighted == "features" else None
    store, asked = open_store(X, weight=weight), plan(seed=seed, feature_weight=heavy)
    seen = []
    watched = replace(asked, on_round=(lambda s: seen.append(s.labels()),))
    run = run_once(store, watched, 0)
    first = [round_.stage for round_ in run.history].index("latent")
    chosen = min(run.history[:first], key=lambda round_: round_.expected_cost)
    labels = seen[run.history.index(chosen)]
    model = FloatModel(X, weight=weight, feature_weight=heavy)
    parts, before = nearly_sure(labels, 4), -np.inf
    for i, round_ in enumerate(run.history[first:]):
        model.maximise(parts)
        parts, objective = model.expect()
        assert objective >= before - 1e-9 * abs(objective)  # never falls
        # The counts of a wide column begin without the doubt that others have.
        close = 1e-5 if not wide else 0.03 if i < 5 else 0.01
        assert round_.objective == pytest.approx(-objective, rel=close)
        before = objective


@pytest.mark.parametrize("seed", range(5))
def test_the_latent_objective_falls_until_it_rests(seed):
    X = table(500, SIZES, seed=seed, groups=6)
    run = run_once(open_store(X), plan(k=5, seed=seed), 0)
    found = [round_.objective for round_ in run.history if round_.stage == "latent"]
    changes = np.diff(found)
    assert (changes <= 1e-5 * np.abs(found[1:])).all()
    if run.converged:
        assert abs(changes[-1]) <= REST * abs(found[-1])
    assert (np.abs(changes[:-1]) > REST * np.abs(np.array(found[1:-1]))).all()
    assert run.chosen.objective == min(found)


@pytest.mark.parametrize("k", [4, 5])
@pytest.mark.parametrize("wide", [False, True])
def test_a_latent_round_that_shares_rows_as_the_last_would_do_so_for_ever(k, wide):
    """Also where a cluster is empty, as the fifth is, and keeps its prices."""
    rng = np.random.default_rng(k)
    X = rng.integers(0, 3, (4, 200))[np.arange(300) % 4]
    noisy = rng.random(X.shape) < 0.2
    X[noisy] = rng.integers(0, 3, noisy.sum())
    if wide:
        X = np.hstack([X, *(rng.permutation(300)[:, None] % 290 for _ in range(5))])
    store = open_store(X)
    assert bool(store.layout.sparse_features) == wide
    seeds = store.rows(np.array([0, 1, 2, 3, 0]))[:k]
    seeds[4:, :200] = (seeds[4:, :200] + 1) % 3  # unlike any group
    asked = plan(k=k, init=seeds, select="last", max_iter=3)
    fit, run = Fit(store, asked), run_once(store, asked, 0)
    assert run.converged
    assert not run.history[-1].moved
    assert run.history[-2].moved, "an earlier round was the last"
    assert np.count_nonzero(run.soft.cluster_sizes) == 4
    stage = Latent(fit, 0, 1)
    centers, tally = run.centers, run.soft
    for _ in range(3):
        before, centers = tally, stage.next_centers(centers, tally, 0)
        tally = stage.tally(centers)
        assert tally.counts.equals(before.counts)
        latest = stage.measure(centers, tally, before)
        assert latest.objective == run.history[-1].objective
        assert not latest.moved


def test_counts_of_a_start_are_gone_when_its_second_latent_round_is_made(monkeypatch):
    """Where rows are few and values many, they would take a third of the memory of a fit."""
    counted, left = [], []
    tally, next_centers = Gini.tally, Latent.next_centers

    def counting(stage, centers):
        found = tally(stage, centers)
        counted.append(weakref.ref(found.counts))
        return found

    def looking(stage, centers, *given):
        left.append(sum(counts() is not None for counts in counted))
        return next_centers(stage, centers, *given)

    monkeypatch.setattr(Gini, "tally", counting)
    monkeypatch.setattr(Latent, "next_centers", looking)
    for spare in (0, 2):
        counted.clear()
        run_once(open_store(table(300, SIZES, groups=4)), plan(k=6, spare=spare), 0)
        assert counted
    assert len(left) > 2
    assert not any(left)


@pytest.mark.parametrize("seed", range(5))
def test_gini_rounds_lower_the_expected_cost_and_the_last_is_discarded(seed):
    X = table(500, SIZES, seed=seed, groups=6)
    store = open_store(X)
    run = run_once(store, plan(refine="gini", k=5, seed=seed), 0)
    assert run.converged
    costs = [round_.expected_cost for round_ in run.history if round_.stage == "gini"]
    assert all(later < earlier for earlier, later in pairwise(costs[:-1]))
    assert costs[-1] >= min(costs[:-1], default=costs[-1])
    labels = store.labels(run.centers, plan(seed=seed).comparison(0))
    assert expected_cost(X, labels) == pytest.approx(run.chosen.expected_cost, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_after_gini_no_whole_round_in_floats_lowers_the_expected_cost(seed):
    X = table(700, SIZES, seed=seed, groups=6)
    store = open_store(X)
    run = run_once(store, plan(refine="gini", k=5, seed=seed), 0)
    labels = store.labels(run.centers, plan(seed=seed).comparison(0))
    hot = one_hot(X)
    means = np.stack([hot[labels == c].mean(axis=0) for c in range(5)])
    distances = ((hot[:, None] - means[None]) ** 2).sum(axis=2)
    again = expected_cost(X, distances.argmin(axis=1))
    assert again >= run.chosen.expected_cost * (1 - 1e-6)


@pytest.mark.parametrize("refine", ["gini", "latent"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spare", [0, 2])
def test_a_refined_run_is_the_same_for_any_cut_and_number_of_threads(refine, weighted, spare):
    X = table(900, SIZES, groups=6)
    weight = np.random.default_rng(1).integers(0, 5, 900) if weighted else None
    asked = plan(refine=refine, n_init=3, spare=spare)
    whole = best_run(open_store(X, weight=weight), asked)
    cut = best_run(open_store(X, (5, 300, 611), weight, n_threads=3), asked)
    assert whole.history == cut.history
    assert_array_equal(whole.tally.counts.dense, cut.tally.counts.dense)
    assert_array_equal(whole.drawn.codes, cut.drawn.codes)
    assert isinstance(whole.centers, ScoreCenters)
    assert_array_equal(whole.centers.prices, cut.centers.prices)


def test_a_spare_cluster_finds_lower_objectives_on_average():
    found = {0: [], 1: []}
    for seed in range(20):
        store = open_store(table(400, SIZES, seed=seed, groups=6))
        for spare, objectives in found.items():
            run = run_once(store, plan(k=6, seed=seed, spare=spare), 0)
            assert len(run.tally.cluster_sizes) == 6
            objectives.append(run.chosen.objective)
    assert np.mean(found[1]) < np.mean(found[0]) - 1


def test_rounds_of_spare_clusters_are_told_and_the_merged_partition_after_them():
    store = open_store(table(400, SIZES, groups=6))
    run = run_once(store, plan(spare=2), 0)
    clusters = [r.clusters for r in run.history]
    wide = [i for i, n in enumerate(clusters) if n > 4]
    assert clusters[0] == 6
    assert wide == list(range(len(wide)))
    assert [r.stage for r in run.history].index("latent") == len(wide) + 1
    assert run.history[len(wide)].expected_cost > run.history[len(wide) - 2].expected_cost


def unequal_groups(seed):
    """Return rows of eight groups, each a little more than half as large as the one before."""
    rng = np.random.default_rng(seed)
    share = 0.6 ** np.arange(8)
    group = rng.choice(8, 800, p=share / share.sum())
    told, noise = rng.integers(0, 4, (8, 20))[group], rng.integers(0, 4, (800, 20))
    return np.where(rng.random((800, 20)) < 0.5, noise, told)


def test_crossed_runs_have_no_higher_objective_and_mostly_a_lower_one():
    apart, crossed = [], []
    for seed in range(10):
        store = open_store(unequal_groups(seed))
        asked = plan(k=8, n_init=4, finalists=1, seed=seed)
        apart.append(best_run(store, asked).chosen.objective)
        crossed.append(best_run(store, replace(asked, crossed=4)).chosen.objective)
    assert all(b <= a for a, b in zip(apart, crossed, strict=True))
    assert sum(b < a - 1 for a, b in zip(apart, crossed, strict=True)) >= 5


def test_rounds_of_crossed_runs_are_told_one_after_the_other():
    store, seen = open_store(unequal_groups(3)), []
    asked = plan(k=8, n_init=4, seed=3, crossed=4, on_round=(lambda s: seen.append(s.clusters),))
    run = best_run(store, asked)
    stages = [stage for stage, _ in groupby(round_.stage for round_ in run.history)]
    assert len(stages) > 3, "no child became the result: nothing tested"
    assert stages == ["modes", *["gini", "latent"] * (len(stages) // 2)]
    assert max(seen) > 9
    assert run.chosen.stage == "latent"
    assert run.chosen.clusters <= 8
    assert run.converged


def test_a_stop_while_runs_are_crossed_keeps_the_best_so_far():
    store, asked = open_store(unequal_groups(3)), plan(k=8, n_init=4, seed=3, crossed=4)
    before = best_run(store, replace(asked, crossed=0, finalists=1))
    run = best_run(store, replace(asked, on_round=(lambda s: s.clusters > 8,)))
    assert run.stopped
    assert run.history == before.history
    assert_array_equal(run.tally.counts.dense, before.tally.counts.dense)


@pytest.mark.parametrize("weighted", [False, True])
def test_crossed_runs_are_the_same_for_any_cut_and_number_of_threads(weighted):
    X = np.hstack([unequal_groups(5), np.arange(800)[:, None] % 300])
    weight = np.random.default_rng(1).integers(0, 5, 800) if weighted else None
    asked = plan(k=8, n_init=4, crossed=4)
    whole = best_run(open_store(X, weight=weight), asked)
    cut = best_run(open_store(X, (5, 300, 611), weight, n_threads=3), asked)
    assert whole.history == cut.history
    assert_array_equal(whole.tally.counts.dense, cut.tally.counts.dense)
    assert max(round_.clusters for round_ in whole.history) > 8, "nothing was crossed"


def test_a_run_depends_on_the_seed_and_its_number_alone():
    X = table(300, SIZES, groups=6)
    store = open_store(X)
    alone = [run_once(store, plan(seed=3), i) for i in range(4)]
    best = best_run(store, plan(seed=3, n_init=4, finalists=4))
    assert best.history == min(alone, key=lambda run: run.chosen.objective).history


def test_only_the_finalists_are_finished():
    X = table(600, SIZES, groups=9)
    store = open_store(X)
    seen = []
    asked = plan(k=6, n_init=6, finalists=2, on_round=(lambda s: seen.append((s.run, s.stage)),))
    best_run(store, asked)
    finished = [run for run in range(6) if seen.count((run, "latent")) > 5]
    assert len(finished) <= 2


def test_a_stop_in_the_finish_keeps_what_was_found():
    X = table(600, SIZES, groups=9)
    store = open_store(X)
    asked = plan(n_init=4, on_round=(lambda s: s.run == 1 and s.stage == "latent",))
    run = best_run(store, asked)
    assert run.chosen.stage == "latent"
    assert run.tally.cluster_sizes.sum() == 600


def test_a_stop_before_the_finish_keeps_the_partition_of_drawn_centers():
    X = table(600, SIZES, groups=9)
    for spare in (0, 1):
        store = open_store(X)
        asked = plan(on_round=(lambda s: True,), spare=spare)
        run = best_run(store, asked)
        assert run.stopped
        assert isinstance(run.centers, CodeCenters)
        assert run.drawn is run.centers
        labels = store.labels(run.centers, asked.comparison(run.index))
        assert_array_equal(np.bincount(labels, minlength=4), run.tally.cluster_sizes)


def test_the_prior_is_a_row_for_whole_weights_and_the_mean_of_others():
    X = table(50, SIZES)
    store = open_store(X, weight=np.full(50, 7))
    assert Fit(store, plan()).pricing["latent"].prior == 1.0
    store.weights_repeat = False
    assert Fit(store, plan()).pricing["latent"].prior == 7.0


@pytest.mark.parametrize("refine", ["latent", "gini", None])
def test_rows_without_weight_change_nothing_beside_fractional_weights(refine):
    X = table(60, SIZES, groups=3)
    weight = np.random.default_rng(0).random(60)
    model = SoftModes(3, init=X[:3], n_init=1, t=math.inf, refine=refine, random_state=0)
    alone = clone(model).fit(X, sample_weight=weight)
    beside = clone(model).fit(np.vstack([X] * 5), sample_weight=[*weight, *[0.0] * 240])
    assert_array_equal(beside.labels_, np.tile(alone.labels_, 5))
    assert beside.history_ == alone.history_


@pytest.mark.parametrize("scale", [2.0**20, 2.0**50, 2.0**60])
def test_the_scale_of_fractional_weights_changes_nothing(scale):
    X = table(60, SIZES, groups=3)
    weight = np.random.default_rng(0).random(60)
    small, large = (
        SoftModes(3, random_state=0).fit(X, sample_weight=w * weight) for w in (1, scale)
    )
    assert_array_equal(large.labels_, small.labels_)
    assert large.objective_ == scale * small.objective_


def latent_rounds(history):
    """Yield the objectives of latent rounds one after the other, of each time that they follow."""
    for stage, rounds in groupby(history, key=lambda round_: round_.stage):
        if stage == "latent":
            yield np.array([round_.objective for round_ in rounds])


def test_with_very_uneven_weights_the_objective_falls_but_for_the_rounding_of_logarithms():
    rose = 0
    for seed in (46, 52, 86, 104, 175, 251):  # of 300, those in which it rises at all
        rng = np.random.default_rng(seed)
        n, d = rng.integers(5, 25), rng.integers(1, 6)
        k = int(rng.integers(2, min(n, 6)))
        X = rng.integers(0, rng.integers(2, 5), (n, d))
        weight = 10.0 ** rng.uniform(-6, 6, n)
        model = SoftModes(k, n_init=3, random_state=seed).fit(X, sample_weight=weight)
        least = LEAST_CHANGE * weight.sum()
        for found in latent_rounds(model.history_):
            assert (np.diff(found) <= np.maximum(REST * np.abs(found[1:]), least)).all()
            rose += bool((np.diff(found) > REST * np.abs(found[1:])).any())
    assert rose, "no objective rose by more than a share of itself: nothing tested"


def test_runs_of_one_cluster_and_of_equal_rows_are_not_repeated():
    X = table(80, SIZES, groups=4)
    few = np.unique(X, axis=0)[np.arange(80) % 5]
    for rows, k, n_runs in ((X, 1, 1), (few, 5, 1), (few, 7, 1), (few, 4, 3)):
        for refine in ("latent", "gini", None):
            runs = []
            best_run(open_store(rows), plan(k=k, n_init=3, refine=refine, on_run=(runs.append,)))
            assert len(runs) == n_runs
            if k >= 5:
                assert min(round_.expected_cost for round_ in runs[0].history) == 0


def test_a_run_that_was_not_repeated_is_as_good_as_others():
    few = np.unique(table(80, SIZES, groups=4), axis=0)[np.arange(80) % 5]
    for refine in ("latent", "gini", None):
        for rows, k in ((table(80, SIZES, groups=4), 1), (few, 5), (few, 7)):
            asked = plan(k=k, refine=refine)
            found = [run_once(open_store(rows), asked, index).chosen for index in range(4)]
            assert len({round_.objective for round_ in found}) == 1
            assert len({round_.expected_cost for round_ in found}) == 1


@pytest.mark.parametrize("refine", ["gini", "latent"])
def test_only_the_ratios_of_feature_weights_matter(refine):
    X = table(300, (3,) * 12, groups=3)
    heavy = np.arange(12) % 3
    found = [
        SoftModes(3, refine=refine, feature_weight=scale * heavy, random_state=0).fit(X)
        for scale in (1.0, 2.0**-30, 2.0**100)
    ]
    for other in found[1:]:
        assert_array_equal(other.labels_, found[0].labels_)
        assert_array_equal(other.transform(X), found[0].transform(X))
    if refine == "latent":
        assert len({model.objective_ for model in found}) == 1


def test_the_latent_finish_of_one_column_ends_early_with_the_same_likelihood():
    X = np.random.default_rng(0).integers(0, 60, (400, 1))
    model = SoftModes(20, n_init=1, random_state=0).fit(X)
    assert [round_.stage for round_ in model.history_].count("latent") <= 5
    share = np.unique(X, return_counts=True)[1] / 400
    most = 400 * (share * np.log(share)).sum()  # of any model of one column
    assert model.score_samples(X).sum() == pytest.approx(most, rel=0.01)


def noise():
    return open_store(np.random.default_rng(0).integers(0, 4, (400, 12)))


def spent(history):
    costs = {"modes": 1 / 8, "gini": 1 / 4, "latent": 1}
    return sum(costs[round_.stage] for round_ in history)


@pytest.mark.parametrize("crossed", [0, 10])
@pytest.mark.parametrize("allowance", [0.0, 10.0, 40.0, 200.0])
def test_an_allowance_bounds_the_rounds_of_all_runs(allowance, crossed):
    """A start overdraws half of it by no more than itself, and a finish makes a few rounds."""
    store, rounds = noise(), []
    asked = plan(n_init=10, finalists=3, crossed=crossed, on_round=(rounds.append,))
    best_run(store, replace(asked, allowance=allowance))
    by_run = {run: [r for r in rounds if r.run == run] for run in {r.run for r in rounds}}
    dearest = max(spent(history) for history in by_run.values())
    assert spent(rounds) <= allowance + dearest + 10
    assert (len(by_run) == 1) == (allowance <= 10)


@pytest.mark.parametrize(("allowance", "most"), [(0.0, 10), (4.0, 16), (8.0, 32)])
def test_drawn_centers_take_half_of_the_allowance_and_the_finish_follows(allowance, most):
    store, rounds = noise(), []
    asked = plan(n_init=3, max_iter=100, patience=1000, on_round=(rounds.append,))

    def n_of(stage):
        return [round_.stage for round_ in rounds].count(stage)

    best_run(store, replace(asked, allowance=allowance))
    assert n_of("modes") == most
    assert n_of("latent") >= 5
    rounds.clear()
    run_once(store, replace(asked, refine=None, allowance=allowance), 0)
    assert n_of("modes") > 32, "without a finish they go on"


def test_an_allowance_that_suffices_changes_nothing():
    store, asked = noise(), plan(n_init=6, crossed=10)
    free, bounded = best_run(store, asked), best_run(store, replace(asked, allowance=10_000.0))
    assert free.history == bounded.history
    assert free.index == bounded.index
    assert_array_equal(free.tally.cluster_sizes, bounded.tally.cluster_sizes)
    short = best_run(store, replace(asked, allowance=20.0))
    assert len(short.history) < len(free.history)
