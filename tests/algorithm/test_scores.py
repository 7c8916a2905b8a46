from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from softmodes import _kernels
from softmodes._algorithm.cost import modes_cost
from softmodes._algorithm.scores import Pricing
from softmodes._algorithm.wide_scores import fixed
from softmodes._rows.block import unpack
from softmodes._rows.centers import (
    MOST_SHARED_RESOLUTION,
    CodeCenters,
    Comparison,
    ValueTotals,
)
from softmodes._rows.counts import Counts
from softmodes._rows.stores import open_store as open_any
from support import open_store, table

SIZES = (2, 3, 2, 5, 9, 17, 2, 900)


def tallied(n=2000, k=4, weight=None, sizes=SIZES):
    X = table(n, sizes, groups=5)
    store = open_store(X, weight=weight)
    rows = np.arange(k) * (n // k)
    return store, store.tally(CodeCenters(store.rows(rows)), Comparison(3))


def pricing(store, rule, **changes):
    return Pricing(rule, store.column_counts(), store.total_weight, **{"prior": 1.0, **changes})


def naive_prices(rule, counts, totals, prior, j):
    """Prices of one feature as the formulas say."""
    count, total = counts.feature(j).astype(float), totals.feature(j)[0].astype(float)
    observed = count.sum(axis=1, keepdims=True)
    table_shares = total / total.sum()
    if rule == "latent":
        return -np.log2((count + prior * table_shares) / (observed + prior))
    shares = np.where(observed > 0, count / np.maximum(observed, 1), table_shares)
    return 1 - 2 * shares + (shares**2).sum(axis=1, keepdims=True)


def prices_of(scores, j):
    if j in scores.sparse:
        return scores.sparse[j].dense() / 2.0**scores.resolution
    return scores.prices[:, scores.offsets[j] : scores.offsets[j + 1]] / 2.0**scores.resolution


@pytest.mark.parametrize("rule", ["gini", "latent"])
@pytest.mark.parametrize("scale", [1, 20])
def test_prices_are_those_of_the_formulas_rounded_once(rule, scale):
    store, tally = tallied()
    asked = pricing(store, rule, prior=1.5)
    grown = Counts(
        tally.counts.layout,
        tally.counts.n_values,
        tally.counts.dense * scale,
        {j: some * scale for j, some in tally.counts.sparse.items()},
    )
    scores = asked.scores(grown, tally.cluster_sizes * scale, scale)
    for j in range(len(SIZES)):
        expected = naive_prices(rule, grown, asked.totals, 1.5 * scale, j)
        roundings = 3 if j in scores.sparse else 1
        error = np.abs(prices_of(scores, j) - expected).max() * 2**scores.resolution
        assert error <= roundings * (0.5 + 1e-6)
    shares = tally.cluster_sizes / tally.cluster_sizes.sum()
    expected_base = -np.log2(shares) if rule == "latent" else np.zeros(len(shares))
    assert (
        np.abs(scores.base / 2.0**scores.resolution - expected_base).max() < 2**-scores.resolution
    )


def test_feature_weights_multiply_prices():
    store, tally = tallied()
    weight = np.array([1, 2, 3, 0, 1, 0.5, 1, 4])
    plain = pricing(store, "latent").scores(tally.counts, tally.cluster_sizes, 1)
    heavy = pricing(store, "latent", feature_weight=weight).scores(
        tally.counts, tally.cluster_sizes, 1
    )
    for j, factor in enumerate(weight):
        error = np.abs(prices_of(heavy, j) - factor * prices_of(plain, j)).max()
        assert error <= (3 + 3 * factor) / 2**plain.resolution + 3 / 2**heavy.resolution


def test_reduced_prices_leave_room_for_sums():
    n = 60_000
    rng = np.random.default_rng(0)
    X = np.stack([rng.random(n) < 2.0 ** -(3 + j % 12) for j in range(40)], axis=1).astype(int)
    store = open_store(X)
    tally = store.tally(CodeCenters(store.rows(np.array([0, 5, 9]))), Comparison(3))
    weight = np.full(40, 3.0)
    scores = pricing(store, "latent", feature_weight=weight).scores(
        tally.counts, tally.cluster_sizes, 1
    )
    reduced = scores.prices - scores.prices.min(axis=0)
    most = max(
        reduced[:, a:b].max() for a, b in zip(scores.offsets, scores.offsets[1:], strict=False)
    )
    assert 4 * most < 2**16
    assert scores.resolution < MOST_SHARED_RESOLUTION
    assert 8 * most >= 2**16 - 64


def test_an_empty_cluster_and_a_column_unobserved_in_one_take_the_shares_of_the_table():
    X = table(300, (3, 4, 2))
    store = open_store(X)
    tally = store.tally(CodeCenters(store.rows(np.array([0, 1]))), Comparison(3))
    dense = np.vstack([tally.counts.dense, np.zeros((1, tally.counts.dense.shape[1]), np.int64)])
    counts = Counts(tally.counts.layout, tally.counts.n_values, dense, {})
    for rule in ("gini", "latent"):
        asked = pricing(store, rule)
        scores = asked.scores(counts, np.append(tally.cluster_sizes, 0), 1)
        for j in range(3):
            expected = naive_prices(rule, asked.totals, asked.totals, 1.0, j)[0]
            assert np.abs(prices_of(scores, j)[2] - expected).max() <= 0.6 / 2**scores.resolution


def test_the_logarithm_is_right_and_needs_no_library():
    numbers = np.concatenate(
        [
            np.random.default_rng(0).random(10_000),
            2.0 ** np.arange(-1000, 1000, 7),
            [1, 2, 3, 1e-300],
        ]
    )
    ours = _kernels.portable_log2(numbers)
    exact = np.array([math.log2(number) for number in numbers])
    assert (np.abs(ours - exact) <= 4e-16 * np.maximum(1, np.abs(exact))).all()
    assert _kernels.portable_log2(np.array([8.0]))[0] == 3.0
    many = np.tile(numbers, 40_000 // len(numbers) + 1)
    assert_array_equal(_kernels.portable_log2(many, 3), np.resize(ours, len(many)))


@pytest.mark.parametrize("resolution", [-3, 0, 10])
def test_prices_are_rounded_as_numpy_rounds_them(resolution):
    prices = np.append(np.random.default_rng(0).random(999) * 900, 0.5).reshape(10, 100)
    whole, raised = fixed(prices, resolution)
    scaled = np.ldexp(prices, resolution)
    expected = np.floor(scaled + 0.5)
    assert_array_equal(whole, expected.astype(np.uint32))
    assert_array_equal(raised, np.floor(np.ldexp(expected - scaled, 15) + 0.5).astype(np.int16))


def test_sums_of_prices_are_exact():
    rng = np.random.default_rng(0)
    prices = rng.integers(0, 1 << 32, (3, 7), np.uint32)
    raised = rng.integers(-(1 << 14), 1 << 14, (3, 7), np.int16)
    totals, shares = rng.integers(0, 1 << 61, 7), rng.random(7)
    least = prices.min(axis=0).tolist()
    expected = sum(a * b for a, b in zip(totals.tolist(), least, strict=True))
    assert expected > 1 << 64
    assert _kernels.sum_of_least(prices, totals) == expected
    exact = prices.sum(axis=0, dtype=np.int64) - np.ldexp(raised.sum(axis=0, dtype=float), -15)
    more = rng.normal(0, 1e9, 5)
    wanted = math.fsum([*(shares * exact), *more])
    for n_threads in (1, 2):
        assert _kernels.sum_by_shares(prices, raised, shares, more, n_threads) == wanted


@pytest.mark.parametrize("weighted", [False, True])
def test_the_cost_of_modes_is_that_of_their_clusters(weighted):
    weight = np.arange(2000) % 3 if weighted else None
    _, tally = tallied(weight=weight)
    feature_weight = np.arange(1, 9).astype(np.uint32)
    expected = 0
    for j in range(len(SIZES)):
        counts = tally.counts.feature(j)
        expected += (j + 1) * int((counts.sum(axis=1) - counts.max(axis=1)).sum())
    assert modes_cost(tally.counts, feature_weight) == expected
    assert 0 < modes_cost(tally.counts) < expected


@pytest.mark.parametrize("weighted", [False, True])
def test_the_log_posterior_is_that_of_prices_before_rounding(weighted):
    weight = np.random.default_rng(0).integers(1, 5, 2000) if weighted else None
    heavy = np.array([1, 2, 3, 0, 1, 0.5, 1, 4]) if weighted else np.ones(8)
    store, tally = tallied(weight=weight)
    asked = pricing(store, "latent", feature_weight=heavy)
    scores = asked.scores(tally.counts, tally.cluster_sizes, 1)
    soft = store.soft_tally(scores, Comparison(3))
    rows = unpack(store.blocks[0], np.arange(2000))
    bits = np.tile(-np.log2(tally.cluster_sizes / tally.cluster_sizes.sum()), (2000, 1))
    prior = 0.0
    for j in range(len(SIZES)):
        prices = heavy[j] * naive_prices("latent", tally.counts, asked.totals, 1.0, j)
        bits += prices[:, rows[:, j]].T
        total = asked.totals.feature(j)[0]
        prior += (prices @ (total / total.sum())).sum()
    logs = np.logaddexp2.reduce(-bits, axis=1)
    expected = (np.ones(2000) if weight is None else weight) @ logs - prior
    assert asked.log_posterior(scores, soft) == pytest.approx(expected, rel=2e-7)
    plain = soft.log_likelihood(
        scores.floor(ValueTotals.of(asked.totals), store.total_weight), scores.resolution
    )
    assert abs(plain - prior - expected) > 1e-6 * abs(expected), "rounding is no matter"


@pytest.mark.parametrize("rule", ["gini", "latent"])
def test_an_empty_cluster_keeps_the_prices_that_it_had(rule):
    store, tally = tallied()
    asked = pricing(store, rule)
    before = asked.scores(tally.counts, tally.cluster_sizes, 1)
    empty = np.array([1.0, 0.0, 1.0, 1.0])
    dense = (tally.counts.dense * empty[:, None]).astype(np.int64)
    sparse = {
        j: csr_array(c.multiply(empty[:, None]), dtype=np.int64)
        for j, c in tally.counts.sparse.items()
    }
    for some in sparse.values():
        some.eliminate_zeros()
    counts = Counts(tally.counts.layout, tally.counts.n_values, dense, sparse)
    sizes = (tally.cluster_sizes * empty).astype(np.int64)
    for _ in range(3):  # it keeps them for ever
        after = asked.scores(counts, sizes, 1, before)
        for j in range(len(SIZES)):
            old, new = prices_of(before, j)[1], prices_of(after, j)[1]
            assert np.abs(new - old).max() <= 2.0 ** -min(before.resolution, after.resolution)
        units = after.base[1] * 2.0**-after.resolution - before.base[1] * 2.0**-before.resolution
        assert abs(units) <= 2.0**-after.resolution
        before = after
    fresh = asked.scores(counts, sizes, 1)
    assert any(
        np.abs(prices_of(fresh, j)[1] - prices_of(after, j)[1]).max() > 0.01 for j in range(8)
    )


@pytest.mark.parametrize("rule", ["gini", "latent"])
def test_threads_change_no_price_of_many_wide_columns(rule):
    store, tally = tallied(n=3000, sizes=(2, *[2000] * 100))
    assert len(tally.counts.wide.counts) > 3 << 14, "too few counts for three threads"
    one, three = (pricing(store, rule, n_threads=n) for n in (1, 3))
    scores, others = (asked.scores(tally.counts, tally.cluster_sizes, 1) for asked in (one, three))
    for j in (1, 17, 100):
        prices = naive_prices(rule, tally.counts, one.totals, 1.0, j)
        assert np.abs(prices_of(scores, j) - prices).max() <= 3 / 2.0**scores.resolution
    assert scores.resolution == others.resolution
    for name, part in scores.to_arrays().items():
        assert_array_equal(part, others.to_arrays()[name])
    if rule == "gini":
        return
    soft = store.soft_tally(scores, Comparison(3))
    assert one.log_posterior(scores, soft) == three.log_posterior(others, soft)
    cells, counted = scores.wide.cells, soft.counts.wide_values.by_value(1).cells
    assert not np.array_equal(cells.clusters, counted.clusters), "the same cells: half is tested"
    next_ = one.scores(soft.counts, soft.cluster_sizes, 1 << 16, scores)
    assert one.log_posterior(next_, soft) == three.log_posterior(next_, soft)


def test_shares_of_values_are_of_their_columns():
    starts = np.array([0, 3, 3, 70_000, 70_002])
    totals = np.random.default_rng(0).integers(0, 9, 70_002)
    totals[-2:] = 0
    for n_threads in (1, 3):
        shares = _kernels.value_shares(totals, starts, n_threads)
        assert_array_equal(shares[:3], totals[:3] / totals[:3].sum())
        assert_array_equal(shares[3:-2], totals[3:-2] / totals[3:-2].sum())
        assert_array_equal(shares[-2:], 0.0)


def test_a_wide_column_unobserved_in_a_cluster_takes_the_shares_of_the_table():
    X = np.stack([np.arange(600) % 300, np.arange(600) % 2], axis=1).astype(object)
    X[::2, 0] = None
    opened = open_any(X, missing="ignore")
    store = opened.store
    tally = store.tally(CodeCenters(np.array([[0, 0], [0, 1]], np.int32)), Comparison(3))
    observed = tally.counts.values(0).sum(axis=1)
    assert (np.asarray(observed) == 0).any(), "observed in both: nothing tested"
    nowhere = int(np.argmin(observed))
    for rule in ("gini", "latent"):
        asked = pricing(store, rule)
        scores = asked.scores(tally.counts, tally.cluster_sizes, 1)
        expected = naive_prices(rule, asked.totals, asked.totals, 1.0, 0)[0]
        found = prices_of(scores, 0)[nowhere]
        assert np.abs(found - expected).max() <= 2 / 2.0**scores.resolution
