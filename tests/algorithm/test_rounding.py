from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.stats import chisquare

import reference
from softmodes._algorithm.cost import expected_cost
from softmodes._algorithm.draw import Draw, resolve_rounding
from softmodes._algorithm.randomness import Use, address, fold, fold_array
from softmodes._rows.block import Layout
from softmodes._rows.centers import CodeCenters
from softmodes._rows.counts import Counts
from softmodes.rounding import plurality, soft, uniform

N_SEEDS = 25


def counts_of(counts, n_features=1):
    """One cluster per row of `counts`, features of equally many values."""
    counts = np.atleast_2d(np.asarray(counts, np.int64))
    n_values = np.full(n_features, counts.shape[1] // n_features, np.int32)
    layout = Layout(n_values, np.full(n_features, -1, np.int32))
    return Counts(layout, n_values, counts, {})


def drawn_codes(rounding, counts, start=None, seed=0, run=0, round_=1):
    """Draw the only feature of centers that start at 0."""
    start = np.zeros((len(counts), 1), np.int32) if start is None else start
    draw = Draw(rounding, seed)
    return draw(counts_of(counts), CodeCenters(start), run, round_).codes


def frequencies(rounding, counts, n_clusters=800):
    """How often each value is drawn, over several seeds and clusters with the same counts."""
    drawn = [drawn_codes(rounding, [counts] * n_clusters, seed=seed) for seed in range(N_SEEDS)]
    return np.bincount(np.concatenate(drawn)[:, 0], minlength=len(counts))


def p_value(observed, probabilities):
    occurring = probabilities > 0
    assert observed[~occurring].sum() == 0
    return chisquare(observed[occurring], probabilities[occurring] * observed.sum()).pvalue


@pytest.mark.parametrize("t", [1.0, 1.5, 3.0])
def test_centers_are_drawn_with_probability_share_to_the_t(t):
    counts = np.array([50, 30, 0, 20])
    observed = frequencies(soft(t), counts)
    assert p_value(observed, soft(t)([counts])[0]) > 1e-6


@pytest.mark.parametrize("t", [1.0, 1.5, 3.0])
def test_a_slightly_wrong_t_would_be_noticed(t):
    counts = np.array([50, 30, 0, 20])
    observed = frequencies(soft(t), counts)
    assert p_value(observed, soft(t + 0.2)([counts])[0]) < 1e-6


def test_plurality_ties_are_uniform_and_lowest_index_ties_would_be_noticed():
    observed = frequencies(plurality, np.array([7, 2, 7, 7]))
    assert observed[1] == 0
    assert p_value(observed, np.array([1 / 3, 0, 1 / 3, 1 / 3])) > 1e-6
    assert p_value(observed, np.array([0.36, 0, 0.32, 0.32])) < 1e-6


def test_plurality_ties_are_settled_for_a_run_and_differ_between_runs():
    tied = [[5, 5]] * 64
    first = drawn_codes(plurality, tied)
    assert_array_equal(first, drawn_codes(plurality, tied, round_=9))
    assert (first != drawn_codes(plurality, tied, run=1)).any()


def test_finite_t_draws_afresh_in_every_round():
    tied = [[5, 5]] * 64
    assert (drawn_codes(soft(2.0), tied) != drawn_codes(soft(2.0), tied, round_=2)).any()


def test_very_large_t_equals_plurality_where_the_top_counts_differ():
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 30_000, (400, 5))
    top = np.sort(counts, axis=1)
    counts = counts[(top[:, -1] - top[:, -2]) / top[:, -1] > 40 / 1e6]
    assert len(counts) > 300
    sharp = drawn_codes(soft(1e6), counts)
    assert_array_equal(sharp, drawn_codes(plurality, counts))
    assert_array_equal(sharp[:, 0], counts.argmax(axis=1))
    assert np.isfinite(soft(1e6)(counts)).all()


def test_native_draws_follow_the_written_law_word_by_word():
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 40, (300, 6)) * (rng.random((300, 6)) < 0.7)
    counts[:, 3] += 1
    key = address(5, 2, Use.DRAW, 7)
    for t in (1.0, 2.5, 40.0):
        drawn = drawn_codes(soft(t), counts, seed=5, run=2, round_=7)[:, 0]
        for i, row in enumerate(counts):
            u = (fold(key, i, 0) >> 11) * 2.0**-53
            edges = np.cumsum(soft(t)([row])[0])
            assert drawn[i] == np.searchsorted(edges, u * edges[-1], side="right")


def test_counts_beyond_the_table_of_logarithms_are_drawn_by_the_same_law():
    observed = frequencies(soft(2.0), np.array([3_000_000, 2_000_000]))
    assert p_value(observed, np.array([9 / 13, 4 / 13])) > 1e-6


def test_an_empty_cluster_keeps_its_center():
    start = np.array([[2], [1]], np.int32)
    for rounding in (soft(1.0), soft(3.0), plurality, lambda c: soft(1.0)(c)):
        drawn = drawn_codes(rounding, [[0, 0, 0], [0, 0, 4]], start)
        assert_array_equal(drawn, [[2], [2]])


def test_a_users_function_is_drawn_from_by_its_own_law():
    def flattened(counts):
        weights = np.sqrt(counts)
        return weights / weights.sum(axis=1, keepdims=True)

    counts = np.array([81, 16, 1])
    observed = frequencies(resolve_rounding(flattened), counts)
    assert p_value(observed, np.array([9, 4, 1]) / 14) > 1e-6


def test_a_users_function_is_shown_parts_of_many_cells_and_nothing_changes(monkeypatch):
    counts = np.random.default_rng(0).integers(1, 9, (50, 3))
    shown = []

    def watched(counts):
        shown.append(len(counts))
        return uniform(counts)

    whole = drawn_codes(watched, counts)
    monkeypatch.setattr("softmodes._algorithm.draw._CELLS_AT_ONCE", 3 * 12)
    assert_array_equal(drawn_codes(watched, counts), whole)
    assert shown == [50, 12, 12, 12, 12, 2]


def test_families_agree_at_their_ends():
    counts = np.array([[4, 4, 1], [1, 0, 0], [0, 0, 0]])
    assert_allclose(uniform(counts), [[4 / 9, 4 / 9, 1 / 9], [1, 0, 0], [0, 0, 0]])
    assert_allclose(plurality(counts), [[0.5, 0.5, 0], [1, 0, 0], [0, 0, 0]])
    assert_allclose(soft(2)(counts)[0], np.array([16, 16, 1]) / 33)


@pytest.mark.parametrize(
    ("rounding", "t", "message"),
    [
        ("soft", 0.5, "t=0.5 is not a number >= 1"),
        ("soft", math.nan, "t=nan is not a number >= 1"),
        ("soft", "3", "t='3' is not a number >= 1"),
        ("plurality", 2.0, "t=2.0 has a meaning for rounding='soft' only"),
        ("hard", None, "rounding='hard' is not known. Pass 'soft', 'plurality', 'uniform'"),
        (7, None, "rounding=7 is neither a name nor a function"),
        (lambda c: 1 - soft(1)(c), None, "sum to 1"),
        (lambda c: soft(1)(-c + c.max() + 1.0), None, "does not keep order"),
        (lambda c: c[:, 0], None, "expected"),
    ],
)
def test_a_wrong_rounding_is_refused_by_name(rounding, t, message):
    with pytest.raises(ValueError, match=message):
        resolve_rounding(rounding, t)


def test_scalar_and_array_hashes_agree():
    parts = np.arange(50)
    assert [fold(99, int(p)) for p in parts] == fold_array(99, parts).tolist()


@pytest.mark.parametrize("t", [1.0, 3.0, math.inf])
@pytest.mark.parametrize("n_values", [1, 2, 3, 15, 16, 17, 31, 32, 33, 100, 256])
def test_draws_equal_the_reference(n_values, t):
    rng = np.random.default_rng(n_values)
    counts = rng.integers(0, 5, (60, n_values)) * rng.integers(0, 2, (60, n_values))
    counts[:20] *= 1 << 40
    counts[counts.sum(axis=1) == 0, -1] = 1
    drawn = drawn_codes(soft(t), counts, seed=4, run=2, round_=3)
    key = address(4, 2, Use.DRAW, *(() if math.isinf(t) else (3,)))
    expected = [reference.draw(c, t, key, i, 0) for i, c in enumerate(counts)]
    assert_array_equal(drawn[:, 0], expected)


def many_counts():
    """More cells than one thread is given: features of few and many values, and a sparse one."""
    rng = np.random.default_rng(0)
    n_values = np.array([2, 3, 40, 250, 1000, 17], np.int32)
    layout = Layout(n_values, np.full(6, -1, np.int32))
    dense = rng.integers(0, 1 << 20, (700, layout.n_cells)) * rng.integers(0, 2, layout.n_cells)
    sparse = csr_array(rng.integers(1, 99, (700, 1000)) * (rng.random((700, 1000)) < 0.01))
    return Counts(layout, n_values, dense, {4: sparse})


@pytest.mark.parametrize("t", [1.0, 2.5, math.inf])
def test_threads_change_no_draw(t):
    counts = many_counts()
    start = CodeCenters(np.zeros((700, 6), np.int32))
    one, three = (Draw(soft(t), 1, n_threads=n)(counts, start, 0, 1).codes for n in (1, 3))
    assert len(np.unique(one[:, 3])) > 20
    assert_array_equal(three, one)


@pytest.mark.parametrize("weighted", [False, True])
def test_threads_change_no_expected_cost(weighted):
    counts = many_counts()
    weight = np.arange(1, 7, dtype=np.uint32) if weighted else None
    one, three = (expected_cost(counts, weight, n_threads=n) for n in (1, 3))
    assert three == one > 0


def test_expected_cost_weighs_every_feature_dense_or_sparse():
    counts = many_counts()
    weight = np.arange(1, 7, dtype=np.uint32)
    expected = 0.0
    for j in range(6):
        rows = counts.feature(j).astype(float)
        sizes = rows.sum(axis=1)
        mismatches = sizes - (rows**2).sum(axis=1) / np.maximum(sizes, 1)
        expected += int(weight[j]) * mismatches.sum()
    assert expected_cost(counts, weight) == pytest.approx(expected, rel=1e-12)


def test_expected_cost_of_very_many_features_and_clusters():
    counts = np.random.default_rng(1).integers(0, 9, (230, 5000, 2))
    sizes = counts.sum(axis=2)
    expected = (sizes - (counts**2).sum(axis=2) / np.maximum(sizes, 1)).sum()
    flat = counts_of(counts.reshape(230, -1), n_features=5000)
    found = {expected_cost(flat, n_threads=n) for n in (1, 2)}
    assert len(found) == 1
    assert found.pop() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("largest", [1, (1 << 26) - 3, (1 << 26) + 3, (1 << 31) + 1, 1 << 45])
def test_expected_cost_is_right_for_counts_of_any_size(largest):
    counts = np.array([[largest, 0, 1, 1], [largest // 2, largest // 3, 1, 0], [0, 0, 0, 0]])
    exact = sum(
        Fraction(sum(row) ** 2 - sum(c * c for c in row), sum(row))
        for row in counts.tolist()
        if sum(row)
    )
    assert expected_cost(counts_of(counts)) == pytest.approx(float(exact), rel=1e-9)


def test_rows_of_one_value_cost_nothing_whatever_they_weigh():
    weights = np.random.default_rng(3).integers(1 << 26, 1 << 46, 999)
    counts = np.eye(9, dtype=np.int64)[np.arange(999) % 9] * weights[:, None]
    assert expected_cost(counts_of(counts)) == 0
    layout = Layout(np.array([300], np.int32), np.array([-1], np.int32))
    dense = np.zeros((999, 0), np.int64)
    assert expected_cost(Counts(layout, layout.n_codes, dense, {0: csr_array(counts)})) == 0


@pytest.mark.parametrize("answer", [[["x", "y"]], object(), [[1.0], [0.5, 0.5]]])
def test_a_rounding_that_returns_no_numbers_is_refused_with_what_it_returned(answer):
    with pytest.raises(ValueError, match=r"rounding=.* returned .* not numbers.*Return an array"):
        resolve_rounding(lambda counts: answer)


def test_a_rounding_that_returns_no_numbers_later_is_refused_with_the_feature():
    def fails_on_large_counts(counts):
        return ["x"] if counts.max() > 100 else counts / counts.sum(axis=1, keepdims=True)

    rounding = resolve_rounding(fails_on_large_counts)
    with pytest.raises(ValueError, match=r"returned \['x'\] for feature 0.*not numbers"):
        drawn_codes(rounding, [[200, 3]])


@pytest.mark.parametrize("wrong", [[0.7, 0.7], [1.5, -0.5], [math.nan, 1.0]])
def test_of_wrong_probabilities_the_first_are_shown_with_their_counts(wrong):
    def fails_on_large_counts(counts):
        given = soft(1)(counts)
        large = counts.max(axis=1) > 100
        if large.any():
            given[large] = wrong
        return given

    shown = re.escape(f"{wrong} for feature 0 and counts [200, 3]")
    with pytest.raises(ValueError, match=shown):
        drawn_codes(resolve_rounding(fails_on_large_counts), [[5, 3], [200, 3], [300, 4]])
