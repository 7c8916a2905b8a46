"""One door to the rows; blocks that travel light; the same from any cut."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import reference
from softmodes._rows.cache import Cache
from softmodes._rows.centers import CodeCenters, Comparison
from softmodes._rows.remember import LastPass
from softmodes._rows.stores import open_store, some_rows
from softmodes._rows.weights import Units
from support import open_store as cut_store
from support import table

WIDTHS = (2, 3, 5, 17, 300)


def test_a_block_travels_without_its_cache_and_tells_its_size():
    store = cut_store(table(5000, WIDTHS), weight=np.ones(5000, np.int64))
    block = store.blocks[0]
    small = len(pickle.dumps(block))
    store.tally(CodeCenters(store.rows(np.arange(40))), Comparison(1))
    assert block.cache.peek(LastPass) is not None, "nothing is remembered: nothing tested"
    travelled = pickle.loads(pickle.dumps(block))
    assert len(pickle.dumps(block)) == small
    assert travelled.cache.peek(LastPass) is None
    assert_array_equal(travelled.packed, block.packed)
    assert block.packed.nbytes + 8 * 5000 <= sys.getsizeof(block) < small + 1000


def test_a_cache_keeps_one_value_of_each_type():
    cache = Cache()
    cache.keep(1)
    cache.keep("a")
    cache.keep(2)
    assert (cache.peek(int), cache.peek(str)) == (2, "a")
    assert (cache.take(int), cache.take(int)) == (2, None)
    cache.clear()
    assert cache.peek(str) is None


def test_the_door_learns_a_table_or_codes_it_by_a_codebook():
    X = table(200, WIDTHS, seed=1)
    opened = open_store(X)
    assert not opened.unseen
    again = open_store(X[:50], codebook=opened.codebook)
    rows = np.arange(50)
    assert_array_equal(again.store.rows(rows), opened.store.rows(rows))
    assert_array_equal(again.store.n_values, opened.store.n_values)
    with_unseen = X[:50].astype(object)
    with_unseen[3, 2] = "never"
    assert [
        column.index for column in open_store(with_unseen, codebook=opened.codebook).unseen.columns
    ] == [2]


def test_the_door_says_that_the_codebook_expects_other_columns_unless_told_who_does():
    X = table(20, WIDTHS, seed=1)
    codebook = open_store(X).codebook
    with pytest.raises(ValueError, match="X has 2 features, but Codebook is expecting 5 features"):
        open_store(X[:, :2], codebook=codebook)
    with pytest.raises(ValueError, match="but KModes is expecting 5 features"):
        open_store(X[:, :2], codebook=codebook, expecting="KModes")


def test_weights_come_through_the_door_in_units():
    X = table(6, (2, 3), seed=2)
    opened = open_store(X, sample_weight=[0.5, 1, 1, 2, 0, 0.25], feature_weight=[2, 0.5])
    assert opened.rows.counts.tolist() == [2, 4, 4, 8, 0, 1]
    assert (opened.rows.unit, opened.features.unit) == (0.25, 0.5)
    assert opened.features.counts.tolist() == [4, 1]
    assert opened.store.total_weight == 19
    assert not opened.store.weights_repeat
    units = Units(np.array([3, 1], np.uint32), 0.5)
    assert open_store(X, feature_weight=units).features is units


@pytest.mark.parametrize("cuts", [(), (1,), (70, 71, 199)])
def test_distances_are_those_of_the_reference_from_any_cut(cuts):
    X = table(200, WIDTHS, seed=3)
    store = cut_store(X, cuts)
    codes = store.rows(np.arange(200))
    weight = np.arange(1, 6, dtype=np.uint32)
    nothing_ignored = np.full(5, -1, np.int32)
    expected = reference.distances(codes, codes[:7], nothing_ignored, weight)
    assert_array_equal(store.distances(CodeCenters(codes[:7]), weight), expected)


def test_counts_by_given_labels_are_those_of_a_pass():
    rng = np.random.default_rng(0)
    for n_values in ((2, 3, 5), (2, 300, 4), (400,)):
        X = np.stack([rng.integers(0, s, 900) for s in n_values], axis=1)
        weight = rng.integers(0, 1 << 36, 900)
        for store in (cut_store(X, weight=weight), cut_store(X, cuts=(1, 500), weight=weight)):
            centers, comparison = CodeCenters(store.rows(np.arange(4))), Comparison(1)
            passed = store.tally(centers, comparison)
            counts, sizes = store.count(store.labels(centers, comparison), 4)
            assert_array_equal(sizes, passed.cluster_sizes)
            assert_array_equal(counts.dense, passed.counts.dense)
            for j, sparse in passed.counts.sparse.items():
                assert_array_equal(counts.sparse[j].toarray(), sparse.toarray())


def test_some_rows_are_a_store_of_these_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (200, 6))
    X[:3] = [[0], [1], [2]]
    weight = rng.integers(1, 9, 200)
    index = np.flatnonzero(rng.random(200) < 0.7)
    index = np.union1d(index, [0, 1, 2])
    store = cut_store(X, cuts=(1, 90), weight=weight)
    part, alone = some_rows(store, index), cut_store(X[index], weight=weight[index])
    assert part.n_rows == len(index)
    centers, comparison = CodeCenters(store.rows(np.arange(4))), Comparison(1)
    assert_array_equal(part.labels(centers, comparison), alone.labels(centers, comparison))
    there, here = (s.tally(centers, comparison) for s in (part, alone))
    assert_array_equal(there.counts.dense, here.counts.dense)
    assert there.fingerprint == here.fingerprint
    assert len(part.blocks) == 3, "one block only: nothing tested"
