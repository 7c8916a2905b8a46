"""How many features SoftModes(t) needs on sparse blocks; docs/paper/theorem.md derives it."""

from __future__ import annotations

import math

from scipy.special import ndtr

SURE = 4.0  # standard deviations: one row in 30,000 is on the wrong side
TIPS = 2.0  # below about as many a partition that was right does not stay so


def ones_after_rounding(p: float, t: float) -> float:
    """Return p_t: the chance of a 1 in a center whose cluster has a share p of ones."""
    return 0.0 if p == 0 else 1 / (1 + ((1 - p) / p) ** t)


def separation(p: float, q: float, t: float, d: float) -> float:
    """Return by how many standard deviations a row is nearer to the center of its own block.

    The partition before was right, and the clusters are large.
    """
    p_t, q_t = ones_after_rounding(p, t), ones_after_rounding(q, t)
    signal = d * (p_t - q_t) * (p - q)
    return signal / math.sqrt(d * (p_t + q_t - 2 * p_t * q_t))


def features_needed(p: float, q: float, t: float, z: float = SURE) -> float:
    """Return d*: the number of features from which on the separation is at least `z`."""
    return (z / separation(p, q, t, 1.0)) ** 2


def simple_features_needed(p: float, q: float, t: float) -> float:
    """Return what `features_needed` is for a p_t that is small, and a q_t smaller still."""
    return SURE**2 / (ones_after_rounding(p, t) * (p - q) ** 2)


def share_on_wrong_side(p: float, q: float, t: float, d: float) -> float:
    """Return the chance that a row leaves its cluster after a round that was right."""
    return float(ndtr(-separation(p, q, t, d)))
