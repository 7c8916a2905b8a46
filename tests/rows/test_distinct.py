"""Soft passes over distinct rows, beside those over all rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from softmodes._algorithm.plan import Plan
from softmodes._algorithm.stages import Fit
from softmodes._rows import distinct
from softmodes._rows.cache import Cache
from softmodes._rows.centers import CodeCenters, Comparison
from softmodes._rows.distinct import with_few_rows
from softmodes._rows.tally import Pass, soft_tally_block
from softmodes.rounding import soft
from support import open_store, table

SHAPES = [(2,) * 3, (5, 4, 3), (2,) * 7 + (30,), (3, 300), (2,) * 90]


def fit_of(store, k):
    return Fit(store, Plan(k, soft(3.0), "d1", 1, 9, 9, "best", "expected_cost", 0))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sizes", SHAPES)
def test_distinct_rows_are_shared_as_all_rows_are(sizes, weighted, monkeypatch):
    monkeypatch.setattr(distinct, "_ROWS_AT_ONCE", 500)
    X = table(70, sizes, groups=5)[np.arange(1400) % 70]
    weight = np.random.default_rng(0).integers(0, 9, 1400) if weighted else None
    store = open_store(X, weight=weight)
    (block,) = store.map(lambda block, _: block)
    few = with_few_rows(block)
    assert few.n_rows == len(np.unique(X, axis=0)) <= 70
    assert few.total_weight == block.total_weight
    centers = CodeCenters(X[:6].astype(np.int32))
    tally = store.tally(centers, Comparison(3))
    scores = fit_of(store, 6).pricing["latent"].scores(tally.counts, tally.cluster_sizes, 1)
    asked = Pass(scores, Comparison(3), store.n_values)
    found, expected = (soft_tally_block(rows, 1, asked) for rows in (few, block))
    assert_array_equal(found.counts.dense, expected.counts.dense)
    assert_array_equal(found.cluster_sizes, expected.cluster_sizes)
    assert found.log_sum == expected.log_sum
    for j, counts in expected.counts.sparse.items():
        assert_array_equal(found.counts.sparse[j].toarray(), counts.toarray())


def test_rows_that_hardly_repeat_or_are_long_stay_as_they_are():
    for sizes in ((9,) * 8, (9,) * 70):
        (block,) = open_store(table(300, sizes)).map(lambda block, _: block)
        assert with_few_rows(block) is block


def test_rows_that_hash_alike_are_not_taken_for_equal(monkeypatch):
    X = table(70, (2,) * 90, groups=5)[np.arange(1400) % 70]
    (block,) = open_store(X).map(lambda block, _: block)
    monkeypatch.setattr(distinct, "_keys", lambda rows: np.zeros(len(rows), np.uint64))
    unknown = replace(block, cache=Cache())
    assert with_few_rows(unknown) is unknown
