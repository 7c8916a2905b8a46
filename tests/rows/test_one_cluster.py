"""Passes with one center, known from the counts of all rows, against passes over the rows."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from softmodes._algorithm.scores import Pricing
from softmodes._rows.block import layout_of, pack
from softmodes._rows.centers import CodeCenters, Comparison
from softmodes._rows.stores import MemoryStore
from softmodes._rows.tally import Pass, soft_tally_block, tally_block
from softmodes._table.codebook import learn

SIZES = (2, 5, 40, 256, 257, 700, 900)
N = 2000


@pytest.fixture(params=["category", "ignore"])
def cells(request) -> tuple[np.ndarray, str]:
    rng = np.random.default_rng(1)
    table = np.stack([rng.integers(0, s, N) * rng.integers(0, 2, N) for s in SIZES], axis=1)
    table = table.astype(float)
    table[rng.random(table.shape) < 0.1] = np.nan
    return np.column_stack([table, np.full(N, np.nan)]), request.param


@pytest.fixture(params=[False, True])
def store(cells, request) -> MemoryStore:
    table, missing = cells
    codebook, codes = learn(table, missing=missing)
    weight = np.random.default_rng(2).integers(0, 1 << 20, N) if request.param else None
    return MemoryStore([pack(codes, layout_of(codes.ranges), weight=weight)], codebook.n_values, 1)


def by_pass(store, asked):
    return store.sum(lambda block, n_threads: tally_block(block, asked, n_threads))


def assert_same_counts(found, expected):
    assert_array_equal(found.cluster_sizes, expected.cluster_sizes)
    assert_array_equal(found.counts.dense, expected.counts.dense)
    assert list(found.counts.sparse) == list(expected.counts.sparse)
    for j, sparse in expected.counts.sparse.items():
        assert_array_equal(found.counts.sparse[j].toarray(), sparse.toarray())


@pytest.mark.parametrize("row", [0, 1, 2, None])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_tally_with_one_center_is_that_of_a_pass(store, row, weighted):
    beyond = store.layout.n_codes[None] + np.int32(3)
    centers = CodeCenters(beyond if row is None else store.rows(np.array([row])))
    weight = np.arange(len(SIZES) + 1, dtype=np.uint32) if weighted else None
    comparison = Comparison(7, weight)
    found = store.tally(centers, comparison)
    expected = by_pass(store, Pass(centers, comparison, store.n_values))
    assert (found.cost, found.fingerprint) == (expected.cost, expected.fingerprint)
    assert_same_counts(found, expected)
    assert_array_equal(store.labels(centers, comparison), np.zeros(N))


@pytest.mark.parametrize("rule", ["gini", "latent"])
@pytest.mark.parametrize("weighted", [False, True])
def test_passes_with_scores_of_one_cluster_are_those_over_the_rows(store, rule, weighted):
    totals = store.column_counts()
    weight = np.arange(1.0, len(SIZES) + 2.0) if weighted else None
    pricing = Pricing(rule, totals, store.total_weight, 1.5, weight)
    # Counts of some of the rows only: what is dear here, is not rare.
    labels = (np.arange(N) % 3 > 0).astype(np.int32)
    counts, sizes = store.count(labels, 2)
    other = np.array([1])
    scores = pricing.scores(counts.reorder(other), sizes[other], 1)
    asked = Pass(scores, Comparison(7), store.n_values)
    found = store.tally(scores, asked.comparison)
    expected = by_pass(store, asked)
    assert (found.cost, found.fingerprint) == (expected.cost, expected.fingerprint)
    assert_same_counts(found, expected)
    if rule == "latent":
        soft = store.soft_tally(scores, asked.comparison)
        by_rows = store.sum(partial(soft_tally_block, asked=asked))
        assert soft.log_sum == by_rows.log_sum
        assert_same_counts(soft, by_rows)
