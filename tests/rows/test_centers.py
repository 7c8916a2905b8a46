from __future__ import annotations

import math

import numpy as np
import pytest
from made_tables import Case, make_scores, make_table
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

import reference
from softmodes import _kernels
from softmodes._rows.centers import (
    Raised,
    ScoreCenters,
    ValueTotals,
    features_at_once,
    price_offsets,
)
from softmodes._rows.counts import Counts
from softmodes._rows.tally import SoftTally
from softmodes._rows.wide_prices import WideRaised

WIDTHS = [2, 2, 5, 16, 17, 256, 257, 300, 600]


@pytest.fixture
def case() -> Case:
    rng = np.random.default_rng(0)
    table = make_table(rng, 200, WIDTHS, weight=rng.integers(0, 5, 200))
    return make_scores(rng, table, 7)


def column_counts(case: Case) -> Counts:
    """Counts of all rows as one cluster."""
    table, block = case.table, case.table.block()
    counts = [
        reference.counts(table.codes, np.zeros(200, np.int32), 1, j, n, table.weight)
        for j, n in enumerate(table.n_codes)
    ]
    dense = [c for c, n in zip(counts, table.n_codes, strict=True) if n <= 256]
    sparse = {j: csr_array(counts[j]) for j in block.layout.sparse_features}
    return Counts(block.layout, case.n_values, np.hstack(dense), sparse)


def test_sparse_prices_are_those_of_their_parts(case):
    for j, prices in case.centers().sparse.items():
        assert_array_equal(prices.dense(), case.scores.prices[j])


def test_sparse_prices_of_all_features_at_once_are_those_of_each(case):
    centers = case.centers()
    wide, each = centers.wide, centers.sparse
    assert len(each) > 1, "one feature: nothing tested"
    assert list(wide) == list(each)
    assert_array_equal(wide.most_bonus, [prices.bonus.max() for prices in each.values()])
    for j, prices in each.items():
        for part in ("default", "shared", "indptr", "clusters", "bonus"):
            assert_array_equal(getattr(wide[j], part), getattr(prices, part))
    with pytest.raises(KeyError):
        wide[0]


def test_sums_over_clusters_are_those_of_prices_before_rounding(case):
    rng = np.random.default_rng(2)
    centers = case.centers()
    wide, rounded = centers.wide, 1 << Raised.BITS

    def raised(like):
        return rng.integers(-rounded // 8, rounded // 8, like.shape).astype(np.int16)

    by = WideRaised(wide, raised(wide.default), raised(wide.shared), raised(wide.bonus))
    dense = [j for j in range(len(WIDTHS)) if j not in wide]
    prices = np.hstack([case.scores.prices[j] for j in dense])
    found = Raised(raised(centers.prices), raised(centers.base), by)
    expected = prices.sum(axis=0) - found.prices.sum(axis=0, dtype=np.int64) / rounded
    ones, none = np.ones(len(expected)), np.zeros(0)
    total = _kernels.sum_by_shares(centers.prices, found.prices, ones, none, 1)
    assert total == math.fsum(expected)
    each = [case.scores.prices[j] - by.dense(j) / rounded for j in wide]
    assert_array_equal(by.exact_sums(n_threads=1), np.hstack(each).sum(axis=0))


def test_reordered_scores_are_the_same_scores_elsewhere(case):
    order = np.random.default_rng(1).permutation(7)
    centers, moved = case.centers(), case.centers().reorder(order)
    assert_array_equal(moved.prices, centers.prices[order])
    assert_array_equal(moved.base, centers.base[order])
    for j, prices in moved.sparse.items():
        assert_array_equal(prices.dense(), centers.sparse[j].dense()[order])
        prices.check(7, len(prices.shared))
    assert centers.reorder(np.arange(7)).prices is centers.prices


def test_the_floor_is_what_the_core_takes_off_all_rows(case):
    weight = case.table.weight
    expected = int(weight @ reference.floors(case.table.codes, case.scores))
    totals = ValueTotals.of(column_counts(case))
    assert case.centers().floor(totals, int(weight.sum())) == expected
    # Sums beyond 64 bits are as exact.
    huge = 1 << 44
    grown = ValueTotals(totals.dense * huge, totals.wide * huge)
    assert abs(expected * huge) > 1 << 63
    assert case.centers().floor(grown, int(weight.sum()) * huge) == expected * huge


def test_scores_survive_as_arrays(case):
    centers = case.centers()
    again = ScoreCenters.from_arrays(centers.n_values, 10, centers.to_arrays())
    assert again.to_arrays().keys() == centers.to_arrays().keys()
    for name, array in centers.to_arrays().items():
        assert_array_equal(again.to_arrays()[name], array)
    assert_array_equal(again.offsets, centers.offsets)


def test_features_share_four_bits_as_the_layout_packs_them():
    n_values = np.array([1, 2, 3, 4, 5, 8, 9, 16, 17, 256], np.int32)
    assert_array_equal(features_at_once(n_values), [4, 4, 2, 2, 4 / 3, 4 / 3, 1, 1, 1, 1])
    assert_array_equal(price_offsets(np.array([256, 257, 3])), [0, 256, 256, 259])


def test_soft_tallies_add_and_tell_the_log_likelihood(case):
    counts = column_counts(case)
    one = SoftTally(counts, np.array([5]), 1 << 22)
    both = one + one
    assert_array_equal(both.counts.dense, 2 * counts.dense)
    assert (both.cluster_sizes[0], both.log_sum) == (10, 1 << 23)
    assert both.log_likelihood(floor=3 << 10, resolution=10) == 8.0 - 3.0
    assert both.log_likelihood(floor=3, resolution=-2) == 8.0 - 12.0
