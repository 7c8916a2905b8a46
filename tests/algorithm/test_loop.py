from __future__ import annotations

import math
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import chisquare

import reference
from softmodes._algorithm.loop import best_run, run_once, starts
from softmodes._algorithm.plan import Plan
from softmodes._algorithm.randomness import Use, address
from softmodes._algorithm.seeding import METHODS
from softmodes._algorithm.stages import Fit, Modes
from softmodes._rows import remember
from softmodes._rows.block import unpack
from softmodes._rows.centers import CodeCenters, Comparison
from softmodes._rows.tally import Pass, tally_block
from softmodes.metrics import expected_cost
from softmodes.rounding import plurality, soft, uniform
from support import open_store, table

SIZES = (2, 3, 2, 5, 9, 17, 2)
NOTHING_IGNORED = np.full(len(SIZES), -1, np.int32)


def plan(**changes):
    base = Plan(
        k=4,
        rounding=soft(2.0),
        init="random",
        n_init=1,
        max_iter=12,
        patience=5,
        select="last",
        yardstick="expected_cost",
        seed=7,
    )
    return replace(base, **changes)


def reference_run(codes, first, the_plan, store, index=0):
    """Algorithm 1, obvious and slow: labels of every round."""
    tie_key = address(the_plan.seed, index, Use.TIE)
    hashes = reference.row_hashes(codes, store.layout)
    centers, rounds = first.codes.copy(), []
    while len(rounds) < the_plan.max_iter:
        labels, _ = reference.assign(
            codes, centers, NOTHING_IGNORED, tie_key=tie_key, hashes=hashes
        )
        rounds.append(labels)
        if len(rounds) > 1 and (rounds[-1] == rounds[-2]).all():
            break
        settled = the_plan.settles
        parts = () if settled else (len(rounds),)
        key = address(the_plan.seed, index, Use.DRAW, *parts)
        for i in range(the_plan.k):
            for j in range(codes.shape[1]):
                counts = np.bincount(codes[labels == i, j], minlength=store.n_values[j])
                if counts.any():
                    centers[i, j] = reference.draw(counts, the_plan.rounding.t, key, i, j)
    return rounds


@pytest.mark.parametrize("t", [1.0, 2.0, math.inf])
def test_a_run_equals_algorithm_1_written_out(t):
    store = open_store(table(300, SIZES, seed=2))
    codes = unpack(store.blocks[0], np.arange(300))
    the_plan = plan(rounding=soft(t))
    first = Modes(Fit(store, the_plan), 0, the_plan.max_iter).first_centers(None)
    expected = reference_run(codes, first, the_plan, store)
    seen = []
    run = run_once(store, replace(the_plan, on_round=(lambda s: seen.append(s.labels()),)), 0)
    assert len(seen) == len(expected) > 2
    for found, wanted in zip(seen, expected, strict=True):
        assert_array_equal(found, wanted)
    assert run.history[-1].moved is (len(expected) == the_plan.max_iter)


@pytest.mark.parametrize("t", [1.0, 2.5, math.inf])
@pytest.mark.parametrize("cuts", [(1,), (64, 65), (100, 200, 299)])
def test_same_answer_however_the_rows_are_cut(t, cuts):
    X = table(300, (*SIZES, 300), seed=3)
    whole, pieces = (
        best_run(open_store(X, c), plan(rounding=soft(t), n_init=3)) for c in ((), cuts)
    )
    assert_array_equal(whole.centers.codes, pieces.centers.codes)
    assert whole.history == pieces.history
    for j in range(X.shape[1]):
        assert_array_equal(whole.tally.counts.feature(j), pieces.tally.counts.feature(j))


@pytest.mark.parametrize("keeps_blocks", [True, False])
@pytest.mark.parametrize("init", METHODS)
def test_same_answer_where_tasks_blocks_and_results_travel(init, keeps_blocks):
    """As on a cluster: tasks come as copies, to blocks that stay there or lose all they had."""
    X, weight = table(300, (*SIZES, 300), seed=4), np.arange(300) % 4
    feature_weight = np.arange(1, len(SIZES) + 2, dtype=np.uint32)
    asked = plan(k=9, init=init, rounding=plurality, n_init=2, feature_weight=feature_weight)
    here = open_store(X, (90, 200), weight)
    there = open_store(X, (90, 200), weight)
    plain_map, sent = there.map, []

    def travelling_map(task):
        sent.append(pickle.dumps(task))
        if not keeps_blocks:
            there.blocks = pickle.loads(pickle.dumps(there.blocks))
        return pickle.loads(pickle.dumps(plain_map(pickle.loads(sent[-1]))))

    there.map = travelling_map
    expected, found = best_run(here, asked), best_run(there, asked)
    assert sent
    assert max(map(len, sent)) < 1 << 15, "a task carries more than seeds, candidates or centers"
    assert found.history == expected.history
    assert_array_equal(found.centers.codes, expected.centers.codes)
    comparison = asked.comparison(found.index)
    assert_array_equal(
        there.labels(found.centers, comparison), here.labels(found.centers, comparison)
    )
    weight = comparison.feature_weight
    assert_array_equal(
        there.distances(found.centers, weight), here.distances(found.centers, weight)
    )


def test_a_restart_does_not_depend_on_the_others():
    store = open_store(table(200, SIZES, seed=5))
    all_runs = list(starts(Fit(store, plan(n_init=4))))
    alone = run_once(store, plan(n_init=4), 3)
    assert_array_equal(all_runs[3].centers.codes, alone.centers.codes)
    assert all_runs[3].history == alone.history
    assert all_runs[2].history != alone.history


def test_history_is_what_the_partition_of_each_round_costs():
    X = table(250, SIZES, seed=8)
    seen = []

    def watch(state):
        seen.append((expected_cost(X, state.labels()), len(set(state.labels()))))

    run = run_once(open_store(X), plan(k=6, on_round=(watch,)), 0)
    assert [r.expected_cost for r in run.history] == pytest.approx([cost for cost, _ in seen])
    assert [r.clusters for r in run.history] == [clusters for _, clusters in seen]
    assert [r.moved for r in run.history[:-1]] == [True] * (len(run.history) - 1)


def test_the_best_round_is_kept_and_it_is_not_always_the_last():
    store = open_store(table(120, (2,) * 12, seed=9, groups=4))
    found = [
        run_once(store, plan(select="best", rounding=uniform, max_iter=30, seed=s), 0)
        for s in range(30)
    ]
    for run in found:
        assert run.chosen.expected_cost == min(r.expected_cost for r in run.history)
    assert any(r.chosen.expected_cost < r.history[-1].expected_cost for r in found), (
        "nothing tested"
    )


def test_patience_ends_a_run_and_select_last_never_stops_for_it():
    store = open_store(table(120, (2,) * 12, seed=9, groups=4))
    hasty = plan(select="best", rounding=uniform, patience=3, max_iter=60)
    for seed in range(10):
        run = run_once(store, replace(hasty, seed=seed), 0)
        idle = len(run.history) - 1 - run.best_round
        assert idle == 3 or run.converged
        last = run_once(store, replace(hasty, seed=seed, select="last"), 0)
        assert last.converged or len(last.history) == 60
        assert last.history[: len(run.history)] == run.history


def distinct_rows(n):
    """As little different as can be: the binary digits of numbers."""
    return np.arange(n)[:, None] >> np.arange(12) & 1


def test_ties_between_centers_are_uniform_over_rows_and_settled_between_rounds():
    store = open_store(distinct_rows(4000))
    centers = CodeCenters(np.zeros((4, 12), np.int32))
    sizes = np.zeros(4, int)
    for seed in range(20):
        comparison = plan(seed=seed).comparison(0)
        labels = store.labels(centers, comparison)
        assert_array_equal(labels, store.labels(centers, comparison))
        sizes += np.bincount(labels, minlength=4)
    assert chisquare(sizes).pvalue > 1e-6
    lopsided = sizes + np.array([1200, -400, -400, -400])
    assert chisquare(lopsided).pvalue < 1e-6, "a bias of 1.5 % of the rows would not be noticed"
    lowest = np.bincount(store.labels(centers, Comparison()), minlength=4)
    assert chisquare(20 * lowest).pvalue < 1e-6, "ties to the lowest cluster would not be noticed"


def test_ties_of_rows_that_differ_in_one_value_are_settled_independently():
    store = open_store(distinct_rows(4096))
    centers = CodeCenters(np.zeros((4, 12), np.int32))
    agreeing = np.zeros(12, int)
    for seed in range(20):
        labels = store.labels(centers, plan(seed=seed).comparison(0))
        for j in range(12):
            agreeing[j] += (labels == labels[np.arange(4096) ^ 1 << j]).sum() // 2
    assert_ties_agree_by_chance(agreeing, 20 * 2048)
    with pytest.raises(AssertionError, match="agree too often"):
        assert_ties_agree_by_chance(agreeing + 20 * 2048 // 20, 20 * 2048)


def assert_ties_agree_by_chance(agreeing, n):
    expected = np.stack([np.full(len(agreeing), n / 4), np.full(len(agreeing), 3 * n / 4)])
    found = chisquare(np.stack([agreeing, n - agreeing]), expected, axis=0).pvalue
    assert found.min() > 1e-6, "pairs of rows agree too often or too rarely"


def test_ties_of_one_run_are_settled_independently_of_another():
    store = open_store(distinct_rows(4000))
    centers = CodeCenters(np.zeros((4, 12), np.int32))
    first, second = (store.labels(centers, plan().comparison(run)) for run in (0, 1))
    agreeing = np.count_nonzero(first == second)
    assert chisquare([agreeing, 4000 - agreeing], [1000, 3000]).pvalue > 1e-6
    assert chisquare([4000, 0], [1000, 3000]).pvalue < 1e-6, "a key without the run passes"


def test_a_callback_that_returns_true_stops_the_whole_fit():
    store = open_store(table(200, SIZES, seed=5))
    calls = []

    def stop_in_run_1(state):
        calls.append((state.run, state.round))
        return state.run == 1 and state.round == 1

    found = list(starts(Fit(store, plan(n_init=5, on_round=(stop_in_run_1,)))))
    assert len(found) == 2
    assert found[1].stopped
    assert calls[-1] == (1, 1)


@pytest.mark.parametrize("yardstick", ["cost", "expected_cost"])
def test_the_best_restart_has_the_lowest_yardstick(yardstick):
    store = open_store(table(200, SIZES, seed=5))
    the_plan = plan(n_init=8, rounding=plurality, yardstick=yardstick)
    costs = [getattr(run.chosen, yardstick) for run in starts(Fit(store, the_plan))]
    assert getattr(best_run(store, the_plan).chosen, yardstick) == min(costs) < max(costs)


def test_given_centers_a_weight_of_two_gives_the_tally_of_the_row_twice():
    X = table(90, (*SIZES, 300), seed=12)
    weight = np.random.default_rng(1).integers(0, 4, 90)
    codes = unpack(open_store(X).blocks[0], np.arange(90))
    store = open_store(X)
    asked = Pass(CodeCenters(codes[[3, 50, 77]]), Comparison(), store.n_values)
    weighted = open_store(X, weight=weight).blocks[0]
    repeated = open_store(np.concatenate([np.repeat(X, weight, axis=0), X]))
    repeated = repeated.blocks[0]  # the rows once more keep all categories in the table
    once = tally_block(store.blocks[0], asked)
    a, b = tally_block(weighted, asked), tally_block(repeated, asked)
    assert_array_equal(a.cluster_sizes + once.cluster_sizes, b.cluster_sizes)
    assert a.cost + once.cost == b.cost
    for j in range(X.shape[1]):
        both = a.counts + once.counts
        assert_array_equal(both.feature(j), b.counts.feature(j))


@pytest.mark.parametrize(("answer", "stops"), [(np.True_, True), (np.False_, False), (1, False)])
def test_a_callback_stops_a_fit_with_numpys_true_as_well(answer, stops):
    store = open_store(table(200, SIZES, seed=5))
    run = run_once(store, plan(on_round=(lambda state: answer,)), 0)
    assert run.stopped is stops
    assert (len(run.history) == 1) is stops


def test_labels_of_a_round_can_be_asked_for_later_and_from_other_threads(monkeypatch):
    """What the other thread may find remembered, it finds; the fit goes on before it is used."""
    X = table(3000, (2,) * 64, seed=6)
    the_plan = plan(k=40, rounding=plurality, max_iter=20)
    expected, states, answers = [], [], []
    run_once(open_store(X), replace(the_plan, on_round=(lambda s: expected.append(s.labels()),)), 0)
    fit_goes_on, looked_up = threading.Event(), threading.Event()
    look_up = remember.LastPass.changed

    def look_up_and_wait(self, asked):
        changed = look_up(self, asked)
        if threading.current_thread() is not threading.main_thread():
            looked_up.set()
            fit_goes_on.wait(10)
        return changed

    def ask_in_another_thread(state):
        states.append(state)
        if state.round == 1:
            answers.append(pool.submit(state.labels))
            while not (looked_up.is_set() or answers[0].done()):
                time.sleep(0.001)
        if state.round == 3:
            fit_goes_on.set()

    monkeypatch.setattr(remember.LastPass, "changed", look_up_and_wait)
    with ThreadPoolExecutor(1) as pool:
        run_once(open_store(X), replace(the_plan, on_round=(ask_in_another_thread,)), 0)
        assert len(states) == len(expected) > 3
        assert_array_equal(answers[0].result(), expected[1])
    assert (expected[1] != expected[3]).any(), "no label changed: nothing tested"
    for state, wanted in zip(states, expected, strict=True):
        assert_array_equal(state.labels(), wanted)
