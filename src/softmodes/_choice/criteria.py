"""Criteria of a latent class model: minus twice its log-likelihood, and a price per parameter."""

from __future__ import annotations

import math

import numpy as np

from softmodes._rows.clusters import Floats, Some
from softmodes.metrics._partition import Partition


def n_parameters(partition: Partition) -> int:
    """Return how many shares a latent class model is free to choose: of clusters and of values."""
    free = sum(int((some.lengths - 1).sum()) for some in partition.features())
    return partition.n_clusters - 1 + partition.n_clusters * free


def aic3(log_likelihood: float, parameters: int) -> float:
    """Return Akaike's criterion with a price of 3: lower is better.

    Examples
    --------
    >>> aic3(-100.0, 5)
    215.0
    """
    return -2.0 * log_likelihood + 3.0 * parameters


def bic(log_likelihood: float, parameters: int, n_rows: float) -> float:
    """Return the Bayesian information criterion: lower is better.

    Examples
    --------
    >>> round(bic(-100.0, 5, 1000), 2)
    234.54
    """
    return -2.0 * log_likelihood + math.log(n_rows) * parameters


def explained(partition: Partition) -> float:
    """Return the share of the expected mismatches that the clusters take away."""
    within = whole = 0.0
    for some in partition.features():
        within += float(_mismatches(some, some.counts).sum())
        whole += float(_mismatches(some, some.counts.sum(axis=0, keepdims=True)).sum())
    return 1.0 - within / whole if whole > 0 else 0.0


def _mismatches(some: Some, counts: Floats) -> Floats:
    """Return the expected mismatches of counted rows, by cluster and feature."""
    observed, squares = some.sums(counts), some.sums(counts * counts)
    return some.weighed(observed - squares / np.where(observed > 0, observed, 1.0))
