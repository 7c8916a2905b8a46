"""Passes that remember the last one find what a pass made anew finds."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from softmodes import SoftModes
from softmodes._algorithm.scores import Pricing
from softmodes._rows import remember
from softmodes._rows.block import unpack
from softmodes._rows.cache import Cache
from softmodes._rows.centers import CodeCenters, Comparison
from softmodes._rows.remember import tally_rows
from softmodes._rows.stores import base
from softmodes._rows.tally import Pass, label_block, tally_block
from softmodes.datasets import make_ccm
from support import open_store, table

SIZES = (2, 3, 2, 5, 9, 17, 2, 300, 2, 2, 70_000)
KEY = 1234567


def centers_of_a_run(store, k, rng, rounds):
    """Centers of which ever fewer change; some changes are small, some are whole rows."""
    block = store.blocks[0]
    centers = unpack(block, rng.integers(0, block.n_rows, k))
    for i in range(rounds):
        yield CodeCenters(centers.copy())
        for c in rng.choice(k, max(k // (i + 2), 1), replace=False):
            if rng.random() < 0.3:
                centers[c] = unpack(block, rng.integers(0, block.n_rows, 1))[0]
            else:
                j = rng.integers(centers.shape[1])
                centers[c, j] = rng.integers(store.n_values[j])


def assert_same(found, expected):
    assert (found.cost, found.fingerprint) == (expected.cost, expected.fingerprint)
    assert_array_equal(found.cluster_sizes, expected.cluster_sizes)
    for j in range(len(SIZES)):
        assert_array_equal(found.counts.feature(j), expected.counts.feature(j))


@pytest.mark.parametrize("tie_key", [KEY, None])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "k"), [(1500, 2), (1500, 40), (1500, 50), (700, 300)])
def test_updates_equal_passes_made_anew(isa, n, k, weighted, tie_key, monkeypatch):
    monkeypatch.setattr(remember, "LONG_COMPARISON", 0)
    monkeypatch.setattr(remember, "MOST_CHANGED", 1.0)
    rng = np.random.default_rng(k)
    weight = rng.integers(0, 5, n) if weighted else None
    store = open_store(table(n, SIZES, groups=12), weight=weight)
    feature_weight = rng.integers(0, 60, len(SIZES)).astype(np.uint32) if k == 40 else None
    comparison = Comparison(tie_key, feature_weight)
    block = store.blocks[0]
    fresh = replace(block, cache=Cache())
    for centers in centers_of_a_run(store, k, rng, 8):
        n_threads = int(rng.integers(1, 3))
        asked = Pass(centers, comparison, store.n_values)
        found = remember.tally_rows(block, n_threads, asked)
        assert_same(found, tally_block(fresh, asked))
        labels = remember.label_rows(block, n_threads, asked)
        assert_array_equal(labels, label_block(fresh, asked))


def test_a_cache_dropped_at_any_time_changes_nothing(monkeypatch):
    monkeypatch.setattr(remember, "LONG_COMPARISON", 0)
    rng = np.random.default_rng(0)
    store = open_store(table(3000, SIZES, groups=9), cuts=(1000, 1001, 2500))
    kept, dropped = store, open_store(table(3000, SIZES, groups=9), cuts=(1000, 1001, 2500))
    for centers in centers_of_a_run(store, 30, rng, 10):
        for block in dropped.blocks:
            if rng.random() < 0.5:
                block.cache.clear()
        assert_same(kept.tally(centers, Comparison(KEY)), dropped.tally(centers, Comparison(KEY)))


def test_only_rows_near_changed_centers_are_compared_anew(monkeypatch):
    monkeypatch.setattr(remember, "LONG_COMPARISON", 0)
    rng = np.random.default_rng(0)
    store = open_store(table(3000, SIZES, groups=9))
    passes = []
    monkeypatch.setattr(
        remember, "tally_block", lambda *given: passes.append("anew") or tally_block(*given)
    )
    for centers in centers_of_a_run(store, 30, rng, 10):
        store.tally(centers, Comparison(KEY))
    assert passes == ["anew"]
    store.tally(centers, Comparison(KEY + 1))  # other ties: another run
    assert passes == ["anew", "anew"]


def test_labels_that_a_callback_asks_for_at_once_are_those_of_the_pass(monkeypatch):
    monkeypatch.setattr(remember, "LONG_COMPARISON", 0)
    anew, asked_for = [], []
    monkeypatch.setattr(
        remember, "label_block", lambda *given: anew.append("anew") or label_block(*given)
    )

    def ask(state):
        asked_for.append(state.labels())
        assert not anew

    X = table(500, (2, 3, 5, 17), groups=4)
    SoftModes(4, n_init=1, refine=None, random_state=0).fit(X, on_round=ask)
    assert len(asked_for) > 1


@pytest.mark.parametrize("soft", [False, True])
def test_a_pass_by_scores_remembers_nothing_and_frees_what_was(soft):
    store = open_store(table(500, (2, 3, 5, 17), groups=4))
    centers = CodeCenters(store.rows(np.array([0, 5, 9])))
    tally = store.tally(centers, Comparison(KEY))
    assert store.blocks[0].cache.peek(remember.LastPass)
    pricing = Pricing("latent", store.column_counts(), store.total_weight, 1.0)
    scores = pricing.scores(tally.counts, tally.cluster_sizes, 1)
    store.tally(centers, Comparison(KEY))
    by_scores = store.soft_tally if soft else store.tally
    by_scores(scores, Comparison(KEY))
    assert store.blocks[0].cache.peek(remember.LastPass) is None
    store.tally(centers, Comparison(KEY))
    labels = store.labels(scores, Comparison(KEY))  # does not take the labels of codes for its own
    assert_array_equal(labels, store.labels(scores, Comparison(KEY), remember=False))


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_of_few_rows_are_kept_for_the_partition_they_are_of(weighted, monkeypatch):
    rng = np.random.default_rng(0)
    X = np.hstack([rng.integers(0, 40, (30, 2000)), rng.permutation(30)[:, None] % 2])
    weight = rng.integers(0, 5, 30) if weighted else None
    store = open_store(X, weight=weight)
    block = store.blocks[0]
    codes, tie = store.rows(np.arange(0, 30, 2)), Comparison(KEY)
    pricing = Pricing("gini", store.column_counts(), store.total_weight, 1.0)
    counted = []
    monkeypatch.setattr(
        remember, "tally_block", lambda *given: counted.append(given[1]) or tally_block(*given)
    )

    def same_as_anew(centers, comparison=tie):
        found = store.tally(centers, comparison)
        expected = tally_block(block, Pass(centers, comparison, store.n_values))
        assert (found.cost, found.fingerprint) == (expected.cost, expected.fingerprint)
        assert_array_equal(found.cluster_sizes, expected.cluster_sizes)
        assert_array_equal(found.counts.dense, expected.counts.dense)
        labels = label_block(block, Pass(centers, comparison, store.n_values))
        assert_array_equal(store.labels(centers, comparison), labels)
        return found

    first = same_as_anew(CodeCenters(codes))
    others = codes.copy()
    others[:, 5] = (others[:, 5] + 1) % store.n_values[5]  # no row changes its cluster for that
    again = same_as_anew(CodeCenters(others))
    assert again.counts is first.counts
    assert again.cost > first.cost
    seeds = CodeCenters(store.rows(np.arange(1, 30, 2)))
    elsewhere = tally_block(block, Pass(seeds, tie, store.n_values))
    scores = pricing.scores(elsewhere.counts, elsewhere.cluster_sizes, 1)
    assert len(counted) == 1
    by_scores = same_as_anew(scores)
    assert by_scores.fingerprint != first.fingerprint
    assert same_as_anew(scores).counts is by_scores.counts
    assert len(counted) == 2
    same_as_anew(CodeCenters(codes[:14]))  # fewer clusters
    assert len(counted) == 3
    block.cache.clear()
    same_as_anew(CodeCenters(codes[:14]))
    assert len(counted) == 4
    assert block.cache.peek(remember.LastCounts)
    store.soft_tally(scores, tie)  # needs the memory
    assert block.cache.peek(remember.LastCounts) is None


@pytest.mark.parametrize("refine", [None, "gini", "latent"])
def test_fits_of_few_rows_are_the_same_with_kept_counts(refine, monkeypatch):
    X = table(60, (30,) * 40, groups=3)
    models = []
    for many, for_a_cell in ((1 << 60, 4), (0, 0)):
        monkeypatch.setattr(remember, "MANY_COUNTS", many)
        monkeypatch.setattr(remember, "COUNTS_FOR_A_CELL", for_a_cell)
        models.append(SoftModes(4, n_init=3, refine=refine, random_state=0).fit(X))
    one, other = models
    assert_array_equal(one.labels_, other.labels_)
    assert one.history_ == other.history_
    assert one.cost_ == other.cost_
    for a, b in zip(one.cluster_counts_, other.cluster_counts_, strict=True):
        assert_array_equal(a, b)


def with_memory(remembers, block, n_threads, asked, remember):
    return tally_rows(block, n_threads, asked, remembers)


def test_a_copy_of_the_feature_weights_does_not_make_a_new_comparison():
    weight = np.array([3, 1], np.uint32)
    assert Comparison(1, weight).same_as(Comparison(1, weight.copy()))
    assert not Comparison(1, weight).same_as(Comparison(1, weight + np.uint32(1)))
    assert not Comparison(1, weight).same_as(Comparison(1))
    assert not Comparison(1).same_as(Comparison(2))


def test_a_store_told_not_to_remember_keeps_nothing():
    store = open_store(table(3000, SIZES, groups=9))
    store.remember = False
    centers = CodeCenters(store.rows(np.arange(30)))
    store.tally(centers, Comparison(KEY))
    assert store.blocks[0].cache.peek(remember.LastPass) is None
    store.remember = True
    store.tally(centers, Comparison(KEY))
    assert store.blocks[0].cache.peek(remember.LastPass) is not None


@pytest.mark.parametrize("t", [2.0, 10.0, math.inf])
@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_fits_are_the_same_with_and_without(t, missing, monkeypatch):
    X = make_ccm(3000, 60, 12, eps=0.25, random_state=0)[0].astype(object)
    X[np.random.default_rng(0).random(X.shape) < 0.03] = None
    fits = {}
    for remembers in (False, True):
        monkeypatch.setattr(base, "tally_rows", partial(with_memory, remembers))
        model = SoftModes(
            12, t=t, missing=missing, init="random", n_init=2, select="last", random_state=3
        )
        fits[remembers] = model.fit(X)
    assert_array_equal(fits[False].labels_, fits[True].labels_)
    assert_array_equal(fits[False].cluster_centers_, fits[True].cluster_centers_)
    assert fits[False].history_ == fits[True].history_
    assert fits[False].cost_ == fits[True].cost_
