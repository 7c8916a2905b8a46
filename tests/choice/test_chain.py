"""Chains of partitions: what is merged, what is found, and that it is the same everywhere."""

from dataclasses import replace
from itertools import combinations, pairwise
from math import log

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from softmodes import SoftModes
from softmodes._algorithm.merging import cheapest_pair, merged
from softmodes._choice.chain import chain, fresh
from softmodes._choice.criteria import aic3, bic, explained, n_parameters
from softmodes._choice.samples import found_again
from softmodes._model.parts import part_of
from softmodes._rows.centers import CodeCenters
from softmodes._rows.clusters import Clusters
from softmodes._rows.stores import MemoryStore, open_store
from softmodes._rows.tally import Tally
from softmodes.metrics import ari, expected_cost
from softmodes.metrics._partition import Partition
from support import table

SIZES = (2, 2, 3, 4, 5, 300)


def wide_table(n, **more):
    """Rows whose last column has more values than are counted densely."""
    X = table(n, SIZES, **more)
    X[:, -1] = np.arange(n) % 300
    return X


def opened(X, most=4, seed=0, **more):
    found = open_store(X, **more)
    model = SoftModes(most + 2, n_init=3, random_state=seed)
    return found.store, model._plan(found, None)


def partition(X, labels, **more):
    return Partition.of(X, labels, **more)


def log_likelihood(X, labels):
    """Log-likelihood of labels and rows, with the shares that are counted."""
    total = 0.0
    for c in set(labels):
        rows = [x for x, label in zip(X, labels, strict=True) if label == c]
        total += len(rows) * log(len(rows))
        for j in range(len(X[0])):
            cells = [x[j] for x in rows if x[j] is not None]
            total += sum(cells.count(v) * log(cells.count(v) / len(cells)) for v in set(cells))
    return total


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_pair_is_merged_that_loses_least(seed, missing):
    rng = np.random.default_rng(seed)
    X = table(300, SIZES, seed=seed, groups=5).astype(object)
    X[rng.random(X.shape) < missing] = None
    labels = rng.integers(0, 5, 300)
    before = log_likelihood(X.tolist(), labels.tolist())
    loss = {}
    for a, b in combinations(range(5), 2):
        joined = np.where(labels == b, a, labels).tolist()
        loss[a, b] = before - log_likelihood(X.tolist(), joined)
    assert cheapest_pair(partition(X, labels, missing="ignore")) == min(loss, key=loss.get)


@pytest.mark.parametrize("seed", range(4))
def test_the_pair_is_merged_that_loses_least_by_weights_of_columns(seed):
    rng = np.random.default_rng(seed)
    X, labels = wide_table(300, seed=seed, groups=5), rng.integers(0, 5, 300)
    weight = rng.random(len(SIZES))
    sizes = np.full((300, 1), "same")
    columns = [np.hstack([sizes, X[:, [j]]]).tolist() for j in range(len(SIZES))]

    def weighed(labels):
        rows = log_likelihood(sizes.tolist(), labels)
        return rows + sum(
            w * (log_likelihood(column, labels) - rows)
            for w, column in zip(weight, columns, strict=True)
        )

    before = weighed(labels.tolist())
    loss = {
        (a, b): before - weighed(np.where(labels == b, a, labels).tolist())
        for a, b in combinations(range(5), 2)
    }
    found = replace(partition(X, labels), feature_weight=weight)
    assert cheapest_pair(found) == min(loss, key=loss.get)


def test_merged_counts_are_those_of_merged_labels():
    X = wide_table(400)
    store = open_store(X).store
    labels = np.random.default_rng(0).integers(0, 4, 400).astype(np.int32)
    counts, sizes = store.count(labels, 4)
    for a, b in combinations(range(4), 2):
        joined = np.where(labels == b, a, labels)
        joined = np.where(joined > b, joined - 1, joined).astype(np.int32)
        expected, expected_sizes = store.count(joined, 3)
        found = counts.merge(a, b)
        assert_array_equal(found.dense, expected.dense)
        assert_array_equal(found.sparse[5].toarray(), expected.sparse[5].toarray())
        merged_tally = Tally(counts, sizes, 1, 1).merge(a, b)
        assert_array_equal(merged_tally.cluster_sizes, expected_sizes)
        assert_array_equal(merged_tally.counts.dense, expected.dense)


@pytest.mark.parametrize("weighted", [False, True])
def test_merging_several_times_is_merging_the_cheapest_pair_each_time(weighted):
    rng = np.random.default_rng(1)
    store = open_store(wide_table(400, groups=5)).store
    counts, sizes = store.count(rng.integers(0, 9, 400).astype(np.int32), 9)
    weight = rng.random(len(SIZES)) if weighted else None
    at_once = step = Tally(counts, sizes, 0, 0), CodeCenters(store.rows(np.arange(9)))

    def clusters(tally):
        return Clusters(tally.counts, tally.cluster_sizes, 1.0, weight)

    at_once = merged(*at_once, clusters(at_once[0]), 6)
    for _ in range(6):
        step = merged(*step, clusters(step[0]))
    assert_array_equal(at_once[0].cluster_sizes, step[0].cluster_sizes)
    assert_array_equal(at_once[0].counts.dense, step[0].counts.dense)
    assert_array_equal(at_once[0].counts.feature(5), step[0].counts.feature(5))
    assert_array_equal(at_once[1].codes, step[1].codes)


@pytest.mark.parametrize("levels", [chain, fresh])
def test_levels_are_partitions_by_their_labels(levels):
    X = wide_table(500, groups=4)
    store, plan = opened(X)
    found = list(levels(store, plan, 4, 1.0))
    assert [level.k for level in found] == [4, 3, 2, 1]
    for level in found:
        counts, sizes = store.count(level.labels, level.k)
        assert_array_equal(level.partition.counts.dense, counts.dense)
        assert_array_equal(level.partition.cluster_sizes, sizes)
        by_rows = store.log_likelihoods(level.run.centers).sum() * log(2)
        assert level.log_likelihood == pytest.approx(by_rows, rel=1e-4)


def test_the_log_likelihood_of_one_cluster_is_that_of_its_shares():
    X = table(500, (2, 3, 4))
    store, plan = opened(X)
    *_, last = chain(store, plan, 2, 1.0)
    _, counts = zip(*(np.unique(X[:, j], return_counts=True) for j in range(3)), strict=True)
    expected = sum((c * np.log(c / 500)).sum() for c in counts)
    assert last.log_likelihood == pytest.approx(expected, rel=1e-5)


def test_a_chain_is_the_same_for_any_cut_and_number_of_threads():
    X = wide_table(600, groups=4)
    weight = np.random.default_rng(0).integers(1, 4, 600)
    store, plan = opened(X, sample_weight=weight)
    block = store.blocks[0]
    parts = [block.part(a, b) for a, b in pairwise([0, 7, 300, 600])]
    cut = MemoryStore(parts, store.n_values, n_threads=2)
    for here, there in zip(chain(store, plan, 4, 1.0), chain(cut, plan, 4, 1.0), strict=True):
        assert_array_equal(here.labels, there.labels)
        assert here.run.history == there.run.history
        assert here.log_likelihood == there.log_likelihood
    again = found_again(store, plan, 3, 1.0, 3, chain)
    assert again == found_again(cut, plan, 3, 1.0, 3, chain)
    assert set(again) == {1, 2, 3}


def test_a_chain_is_no_worse_than_fresh_starts_on_average():
    chained, started = [], []
    for seed in range(20):
        X = table(400, (2, 3, 4, 3, 2, 3, 2, 4), seed=seed, groups=5)
        store, plan = opened(X, most=6, seed=seed)
        plain = replace(plan, spare=0, crossed=0)
        for a, b in zip(chain(store, plan, 6, 1.0), fresh(store, plain, 6, 1.0), strict=True):
            chained.append(a.log_likelihood)
            started.append(b.log_likelihood)
    assert np.mean(chained) > np.mean(started)


def test_a_level_of_the_chain_is_a_model():
    X = table(300, SIZES, groups=4)
    store, plan = opened(X)
    for level in chain(store, plan, 3, 1.0):
        assert level.run.history[0].stage == "gini"
        assert {r.stage for r in level.run.history[1:]} <= {"latent"}
        assert level.run.chosen.stage == "latent"
        assert level.run.drawn.codes.shape == (level.k, len(SIZES))


# --- found again ---


def test_samples_are_different_and_have_four_fifths_of_the_rows():
    found = [part_of(1000, 5, i) for i in range(3)]
    for rows in found:
        assert len(rows) == 800
        assert (np.diff(rows) > 0).all()
    for a, b in combinations(found, 2):
        assert 600 < len(np.intersect1d(a, b)) < 680
    assert part_of(1, 0, 0).tolist() == [0]


def test_found_again_is_the_agreement_on_rows_that_samples_share():
    X = table(200, SIZES)
    store, plan = opened(X)
    known = np.random.default_rng(0).integers(0, 3, (3, 200)).astype(np.int32)
    fitted = []

    def levels(some, other, most, scale):
        level = next(chain(store, plan, 1, 1.0))
        rows = part_of(200, plan.seed, len(fitted))
        assert_array_equal(some.rows(np.arange(some.n_rows)), store.rows(rows))
        fitted.append(other.seed)
        labels = known[len(fitted) - 1][rows]
        yield replace(level, partition=replace(level.partition, labels=labels))

    found = found_again(store, plan, 1, 1.0, 3, levels)
    expected = []
    for a, b in combinations(range(3), 2):
        both = np.intersect1d(part_of(200, plan.seed, a), part_of(200, plan.seed, b))
        expected.append(ari(known[a][both], known[b][both]))
    assert found == {1: pytest.approx(np.mean(expected), abs=1e-12)}
    assert len({plan.seed, *fitted}) == 4


# --- criteria ---


def test_criteria_are_those_of_the_formulas():
    X = table(100, SIZES)
    labels = np.arange(100) % 3
    n_values = sum(len(set(column)) for column in X.T)
    found = n_parameters(partition(X, labels))
    assert found == 2 + 3 * (n_values - len(SIZES))
    assert aic3(-50.0, found) == 100 + 3 * found
    assert bic(-50.0, found, 100) == pytest.approx(100 + log(100) * found)
    whole = expected_cost(X, np.zeros(100))
    assert explained(partition(X, labels)) == pytest.approx(1 - expected_cost(X, labels) / whole)
    assert explained(partition([["a"], ["a"]], [0, 1])) == 0.0


def test_an_empty_cluster_is_merged_before_others_that_lose_nothing():
    one_column = [[0], [0], [1], [1]]  # of which all partitions are as likely
    found = Partition.of(one_column, np.array([0, 0, 1, 1]), n_clusters=4)
    assert cheapest_pair(found) == (2, 3)
