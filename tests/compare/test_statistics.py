"""Statistics against slow references and published numbers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chi2, norm

from softmodes._compare.measures import agreements
from softmodes._compare.plots import groups
from softmodes._compare.statistics import (
    critical_distance,
    paired_interval,
    rank_test,
    ranks,
)
from softmodes.metrics import ari

# Demšar (2006), tables 5 (a) and 6: critical values by number of classifiers, and the AUC of four
# of them on 14 data sets; .975 and .975 of the last but one are ranked 2 and 3 there, so that they
# differ in digits that are not printed.
Q_05 = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
Q_10 = [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]
AUC = """
.763 .768 .771 .798   .599 .591 .590 .569   .954 .971 .968 .967   .628 .661 .654 .657
.882 .888 .886 .898   .936 .931 .916 .931   .661 .668 .609 .685   .583 .583 .563 .625
.775 .838 .866 .875   1.00 1.00 1.00 1.00   .940 .962 .965 .962   .619 .666 .614 .669
.972 .981 .9751 .975  .957 .978 .946 .970
"""


def published():
    return np.array(AUC.split(), float).reshape(14, 4)


@pytest.mark.parametrize(("alpha", "values"), [(0.05, Q_05), (0.10, Q_10)])
def test_critical_values_are_the_published_ones(alpha, values):
    for k, q in enumerate(values, start=2):
        found = critical_distance(k, 10, alpha) / math.sqrt(k * (k + 1) / 60)
        assert found == pytest.approx(q, abs=1.1e-3)


def test_critical_distances_are_the_published_ones():
    assert critical_distance(4, 14) == pytest.approx(1.25, abs=0.005)
    assert critical_distance(4, 14, 0.10) == pytest.approx(1.12, abs=0.005)


def test_ranks_and_friedman_are_the_published_ones():
    found = ranks(published())
    assert found.mean(axis=0) == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    assert friedman(found) == pytest.approx(9.28, abs=0.005), "the paper does not correct for ties"
    no_ties = ranks(np.random.default_rng(0).random((12, 5)))
    assert rank_test(no_ties).chi_square == pytest.approx(friedman(no_ties))
    assert rank_test(no_ties).p == pytest.approx(chi2.sf(friedman(no_ties), 4))


def friedman(rank_table):
    """The statistic as in Demšar (2006), without a correction for equal ranks."""
    n, k = rank_table.shape
    squares = sum(column.mean() ** 2 for column in rank_table.T)
    return 12 * n / (k * (k + 1)) * (squares - k * (k + 1) ** 2 / 4)


def test_equal_ranks_are_corrected_for():
    scores = np.random.default_rng(1).integers(0, 3, (15, 6)).astype(float)
    found = ranks(scores)
    sizes = [np.unique(row, return_counts=True)[1] for row in scores]
    ties = sum((size**3 - size).sum() for size in sizes)
    corrected = friedman(found) / (1 - ties / (15 * (6**3 - 6)))
    assert ties > 400
    assert rank_test(found).chi_square == pytest.approx(corrected)
    assert rank_test(np.full((4, 3), 2.0))[:2] == (0.0, 1.0)


def test_equal_scores_share_their_ranks():
    assert ranks(np.array([[0.5, 0.9, 0.5, 0.1]])).tolist() == [[2.5, 1.0, 2.5, 4.0]]


def test_groups_are_all_longest_stretches_within_a_distance():
    rng = np.random.default_rng(1)
    for _ in range(200):
        found_ranks = sorted(rng.integers(10, 60, rng.integers(2, 9)) / 10)
        distance = rng.integers(1, 30) / 10 + 0.05
        n = len(found_ranks)
        close = [
            (i, j)
            for i, j in itertools.combinations(range(n), 2)
            if found_ranks[j] - found_ranks[i] <= distance
        ]
        longest = [
            (i, j)
            for i, j in close
            if not any(a <= i and j <= b and (a, b) != (i, j) for a, b in close)
        ]
        assert groups(found_ranks, distance) == longest


def test_the_interval_of_a_mean_is_that_of_the_normal_law():
    rng = np.random.default_rng(2)
    sample = rng.normal(0.3, 2.0, 400)
    mean, low, high = paired_interval(sample)
    half = norm.ppf(0.95) * sample.std() / math.sqrt(400)
    assert mean == sample.mean()
    assert (low, high) == pytest.approx((mean - half, mean + half), abs=0.02 * half)
    assert paired_interval(sample) == (mean, low, high)
    wider = paired_interval(sample, 0.99)
    assert wider.low < low < high < wider.high


def test_the_interval_of_two_values_is_known():
    # The mean of two draws is 0, 1/2 or 1 with probabilities 1/4, 1/2, 1/4.
    assert paired_interval(np.array([0.0, 1.0])) == (0.5, 0.0, 1.0)
    assert paired_interval(np.array([0.0, 1.0]), level=0.4) == (0.5, 0.5, 0.5)
    mean, low, high = paired_interval(np.array([0.25]))
    assert mean == 0.25
    assert math.isnan(low)
    assert math.isnan(high)


def test_agreements_are_on_the_rows_that_both_have():
    rng = np.random.default_rng(3)
    fits = []
    for _ in range(4):
        rows = np.sort(rng.choice(30, 20, replace=False))
        fits.append((rows, rng.integers(0, 3, 20)))
    expected = []
    for (ra, la), (rb, lb) in itertools.combinations(fits, 2):
        both = [(la[list(ra).index(r)], lb[list(rb).index(r)]) for r in ra if r in rb]
        expected.append(ari(*zip(*both, strict=True)))
    assert agreements(fits, 30) == pytest.approx(expected, abs=1e-6)
    fits[1] = (fits[1][0], None)
    told = agreements(fits, 30)
    assert [told[i] for i in (0, 3, 4)] == [0.0] * 3, "a fit that failed agrees with none"
    assert told[1:3] == pytest.approx(expected[1:3], abs=1e-6)
    assert agreements(fits[:1], 30) == []
