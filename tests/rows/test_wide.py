"""Counts and prices of all sparse features at once, against those of each and naive ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from softmodes import _kernels
from softmodes._rows.wide_counts import WideCounts, WideValues


@pytest.fixture
def dense() -> dict[int, np.ndarray]:
    """Counts by cluster and code, most of them 0; a cluster without any."""
    rng = np.random.default_rng(0)
    found = {j: rng.poisson(0.3, (6, n)) for j, n in ((1, 300), (4, 257), (5, 1000))}
    for counts in found.values():
        counts[2] = 0
    return found


@pytest.fixture
def wide(dense) -> WideCounts:
    return WideCounts.of({j: csr_array(counts) for j, counts in dense.items()}, 6)


def test_counts_at_once_are_those_of_each_feature(wide, dense):
    assert list(wide) == list(dense)
    for j, counts in dense.items():
        assert_array_equal(wide[j].toarray(), counts)
    with pytest.raises(KeyError):
        wide[0]


def test_reordered_counts_are_the_same_counts_elsewhere(wide, dense):
    order = np.array([3, 0, 5, 1, 2, 4])
    for j, counts in wide.reorder(order).items():
        assert_array_equal(counts.toarray(), dense[j][order])


@pytest.mark.parametrize("n_threads", [1, 3])
def test_counts_by_value_are_the_columns_without_codes_that_are_no_values(wide, dense, n_threads):
    n_values = np.array([299, 257, 990], np.int32)
    values = WideValues(wide, n_values)
    by_value = values.by_value(n_threads)
    table = np.hstack([c[:, :n] for c, n in zip(dense.values(), n_values, strict=True)])
    cluster, value = by_value.cells.clusters, by_value.cells.values
    found = np.zeros_like(table)
    found[cluster, value] = by_value.numbers
    assert_array_equal(found, table)
    assert (np.diff(cluster.astype(int))[np.diff(value) == 0] > 0).all()
    assert_array_equal(values.sums, table.sum(axis=0))
    modes, observed = _kernels.mode_counts_wide(values.native, n_threads)
    parts = [c[:, :n] for c, n in zip(dense.values(), n_values, strict=True)]
    assert_array_equal(modes, [part.max(axis=1).sum() for part in parts])
    assert_array_equal(observed, [part.sum() for part in parts])


@pytest.mark.parametrize("seed", range(20))
def test_a_sum_is_rounded_once(seed):
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=1000) * 10.0 ** rng.integers(-20, 20, 1000)
    numbers = np.concatenate([numbers, -numbers[:500], [1.0, 2.0**-53, 2.0**-106]])
    assert _kernels.exact_sum(numbers) == math.fsum(numbers)
    assert _kernels.exact_sum(np.zeros(0)) == 0.0


@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_long_sum_is_rounded_once(n_threads):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=100_001) * 10.0 ** rng.integers(-20, 20, 100_001)
    numbers = np.concatenate([numbers, -numbers[:70_000], [1.0, 2.0**-53, 2.0**-106]])
    assert _kernels.exact_sum(numbers, n_threads) == math.fsum(numbers)


def test_sums_round_half_by_what_follows():
    for tail in (0.0, 2.0**-80, -(2.0**-80)):
        for numbers in ([1.0, 2.0**-53, tail], [1.0 + 2.0**-52, 2.0**-53, tail]):
            assert _kernels.exact_sum(np.array(numbers)) == math.fsum(numbers)


@pytest.mark.parametrize(("k", "share"), [(7, 1.0), (7, 0.4), (200, 0.02)])
def test_renumbered_clusters_stay_in_order(k, share):
    rng = np.random.default_rng(k)
    table = np.where(rng.random((50, k)) < share, rng.integers(1, 99, (50, k)), 0)
    value, cluster = np.nonzero(table)
    indptr = np.searchsorted(value, np.arange(51)).astype(np.int64)
    rank = rng.permutation(k).astype(np.int32)
    clusters, numbers = cluster.astype(np.int32), table[value, cluster].astype(np.uint32)
    _kernels.renumber_clusters(indptr, rank, clusters, numbers)
    expected = np.zeros_like(table)
    expected[:, rank] = table
    value, cluster = np.nonzero(expected)
    assert_array_equal(clusters, cluster)
    assert_array_equal(numbers, expected[value, cluster])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"starts": [0, 2, 1, 2, 3]}, "starts must go from 0"),
        ({"starts": [0, 1, 2, 3, 4]}, "starts must go from 0"),
        ({"codes": [299, 0, -1]}, "codes must not be negative"),
    ],
)
def test_counts_that_are_no_lists_are_refused(change, message):
    right = {"starts": [0, 1, 1, 2, 3], "codes": [299, 0, 4], "counts": [1, 1, 1]}
    right |= {"features": [0, 2], "n_values": [300, 400]}

    def counts(starts, codes, counts, features, n_values):
        wide = [np.array(part, np.int32) for part in (codes, features, n_values)]
        long = [np.array(part, np.int64) for part in (starts, counts)]
        return _kernels.WideCounts(long[0], wide[0], long[1], *wide[1:], 2)

    counts(**right)
    with pytest.raises(ValueError, match=message):
        counts(**right | change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indptr": [0, 4, 3]}, "indptr must go from 0"),
        ({"indptr": [0, 2, 2]}, "indptr must go from 0"),
        ({"clusters": [0, 2, 3]}, "clusters must lie in"),
        ({"clusters": [0, -1, 1]}, "clusters must lie in"),
    ],
)
def test_cells_that_are_no_list_are_refused(change, message):
    right = {"indptr": [0, 2, 3], "clusters": [0, 2, 1]}

    def cells(indptr, clusters):
        return _kernels.ValueCells(np.array(indptr), np.array(clusters, np.int32), 3)

    cells(**right)
    with pytest.raises(ValueError, match=message):
        cells(**right | change)


def test_a_bonus_above_its_price_is_refused():
    cells = _kernels.ValueCells(np.array([0, 2, 3]), np.array([0, 1, 1], np.int32), 2)

    def prices(bonus):
        default, shared = np.array([[4, 0]], np.uint32), np.array([3, 1], np.uint32)
        features, starts = np.array([0], np.int32), np.array([0, 2])
        return _kernels.WidePrices(
            features, starts, default, shared, cells, np.array(bonus, np.uint32)
        )

    prices([7, 3, 1])
    for bonus in ([8, 3, 1], [7, 4, 1], [7, 3, 2]):
        with pytest.raises(ValueError, match="must not exceed the price"):
            prices(bonus)
    with pytest.raises(ValueError, match="one bonus for each cell"):
        prices([7, 3])


@pytest.mark.parametrize("cluster", [-1, 3, 2**31 - 1])
def test_clusters_beyond_those_that_are_there_are_refused(cluster):
    indptr, clusters = np.array([0, 2, 3]), np.array([0, 2, cluster], np.int32)
    rank, numbers = np.array([2, 1, 0], np.int32), np.arange(3, dtype=np.uint32)
    with pytest.raises(ValueError, match="clusters must lie in"):
        _kernels.renumber_clusters(indptr, rank, clusters, numbers)
    with pytest.raises(ValueError, match="indptr must go from 0"):
        _kernels.renumber_clusters(np.array([0, 4, 3]), rank, clusters, numbers)
