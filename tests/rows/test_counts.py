"""Counts are those of a plain loop over rows, however a feature is kept."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from softmodes._rows.centers import CodeCenters, Comparison
from softmodes._rows.counts import Counts
from softmodes._rows.stores import open_store
from support import table

WIDTHS = (2, 5, 300, 17, 260)


def counted(seed=0, missing="category", k=4):
    """Return a table with missing cells, labels of its rows, and their counts by a pass."""
    X = table(4000, WIDTHS, seed=seed, groups=9).astype(object)
    X[np.random.default_rng(seed).random(X.shape) < 0.1] = None
    store = open_store(X, missing=missing).store
    centers = CodeCenters(store.rows(np.arange(k)))
    labels = store.labels(centers, Comparison(7))
    return store, labels, store.tally(centers, Comparison(7)).counts


@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_counts_of_a_feature_are_those_of_its_cells(missing):
    store, labels, counts = counted(missing=missing)
    codes = store.rows(np.arange(store.n_rows))
    assert set(counts.sparse) == {2, 4}, "nothing is kept sparse: nothing tested"
    for j in range(len(WIDTHS)):
        expected = np.zeros((4, store.n_values[j]), np.int64)
        for label, code in zip(labels, codes[:, j], strict=True):
            if code < store.n_values[j]:
                expected[label, code] += 1
        assert_array_equal(counts.feature(j), expected)
        assert_array_equal(counts.feature(j, slice(1, 3)), expected[1:3])
        kept = counts.values(j)
        assert_array_equal(kept.toarray() if j in counts.sparse else kept, expected)
        cluster, code, count = counts.nonzero(j)
        assert_array_equal(expected[cluster, code], count)
        assert len(count) == np.count_nonzero(expected)


def test_ignored_cells_are_observed_nowhere():
    store, labels, counts = counted(missing="ignore")
    codes = store.rows(np.arange(store.n_rows))
    for j in range(len(WIDTHS)):
        ignored = codes[:, j] == store.layout.ignored[j]
        assert ignored.any()
        observed = np.bincount(labels[~ignored], minlength=4)
        assert_array_equal(counts.observed(j).sum(axis=1), observed)


def test_a_column_without_any_value_counts_nothing():
    store = open_store([["a", None], ["b", None]], missing="ignore").store
    assert_array_equal(store.column_counts().feature(1), [[0]])
    assert store.column_counts().nonzero(1)[0].size == 0


def test_counts_of_parts_add_up_and_can_be_renumbered():
    _, _, counts = counted()
    order = np.array([2, 0, 3, 1])
    both = counts + counts.reorder(order)
    for j in range(len(WIDTHS)):
        one = counts.feature(j)
        assert_array_equal(both.feature(j), one + one[order])


def test_counts_beside_others_have_the_clusters_of_both():
    counts = counted()[2]
    other = counted(seed=0, k=3)[2]
    both = counts.beside(other)
    assert both.n_clusters == 7
    for j in range(len(WIDTHS)):
        assert_array_equal(both.feature(j), np.vstack([counts.feature(j), other.feature(j)]))
    assert_array_equal(both.reorder(np.arange(4, 7)).dense, other.dense)


def test_counts_survive_being_taken_apart():
    _, _, counts = counted()
    again = Counts.from_arrays(counts.layout, counts.n_values, counts.to_arrays())
    for j in range(len(WIDTHS)):
        assert_array_equal(again.feature(j), counts.feature(j))
    broken = counts.to_arrays() | {"cells": counts.dense[:, 1:]}
    with pytest.raises(ValueError, match="counts of shape"):
        Counts.from_arrays(counts.layout, counts.n_values, broken)


def test_counts_add_up_to_the_sizes_of_clusters_or_it_is_noticed():
    _, labels, counts = counted()
    sizes = np.bincount(labels, minlength=4)
    assert counts.add_up_to(sizes)
    assert not counts.add_up_to(sizes + np.array([1, -1, 0, 0]))
    fewer = counts.to_arrays()
    fewer["wide_2_counts"] = fewer["wide_2_counts"].copy()
    fewer["wide_2_counts"][0] += 1
    assert not Counts.from_arrays(counts.layout, counts.n_values, fewer).add_up_to(sizes)
    negative = counts.dense.copy()
    negative[0, :2] += (negative[0, 0] + 1) * np.array([-1, 1])
    assert not Counts(counts.layout, counts.n_values, negative, counts.sparse).add_up_to(sizes)
