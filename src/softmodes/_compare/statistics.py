"""Intervals, ranks and the distance of ranks that is more than chance."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.9
_DRAWS = 10_000


class Interval(NamedTuple):
    """A mean, and an interval in which it lies if what was sampled is sampled again."""

    mean: float
    low: float
    high: float


def paired_interval(differences: NDArray[np.float64], level: float = LEVEL) -> Interval:
    """Return the mean of differences and its bootstrap interval, by percentiles of 10,000 draws.

    The draws are the same every time. A single difference has no interval: both ends are NaN.
    """
    mean = float(np.mean(differences))
    if len(differences) < 2:
        return Interval(mean, math.nan, math.nan)
    drawn = np.random.default_rng(0).integers(0, len(differences), (_DRAWS, len(differences)))
    tail = 50 * (1 - level)
    low, high = np.percentile(np.asarray(differences)[drawn].mean(axis=1), (tail, 100 - tail))
    return Interval(mean, float(low), float(high))


def ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks in each row, 1 for the highest score; equal scores share theirs."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-np.round(scores, 9), axis=1))


class RankTest(NamedTuple):
    """Friedman's statistic, how likely chance makes it as large, and Nemenyi's distance."""

    chi_square: float
    p: float
    critical_distance: float


def rank_test(rank_table: NDArray[np.float64]) -> RankTest:
    """Test whether the contenders (columns) rank alike over the tables (rows).

    Friedman's statistic is corrected for equal ranks; where all are equal, it is 0.
    """
    from scipy.stats import friedmanchisquare

    n, k = rank_table.shape
    distance = critical_distance(k, n)
    if (rank_table == rank_table[:, :1]).all():
        return RankTest(0.0, 1.0, distance)
    found = friedmanchisquare(*rank_table.T)
    return RankTest(float(found.statistic), float(found.pvalue), distance)


def critical_distance(n_contenders: int, n_tables: int, alpha: float = 0.05) -> float:
    """Return the difference of mean ranks above which two contenders differ (Nemenyi).

    As in Demšar, Statistical comparisons of classifiers over multiple data sets (2006).
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1 - alpha, n_contenders, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_contenders * (n_contenders + 1) / (6 * n_tables))
