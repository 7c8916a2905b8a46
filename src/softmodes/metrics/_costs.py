"""Cost of a clustering on its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softmodes.metrics._labels import check_rows, label_codes

if TYPE_CHECKING:
    from softmodes._table.codebook import Missing


def hamming_cost(X: Any, labels: Any, centers: Any, *, missing: Missing = "category") -> int:
    """Return the number of cells that differ from the center of their row's cluster.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Any table in memory that the estimators take.
    labels : array-like of int, shape (n_samples,)
        For every row the index of its center.
    centers : table of shape (n_clusters, n_features)
        Centers in original values.
    missing : {"category", "ignore", "error"}, default="category"
        Whether missing cells are a value of their own, count for nothing, or raise.

    Returns
    -------
    int

    Examples
    --------
    >>> from softmodes.metrics import hamming_cost
    >>> hamming_cost([["red", "s"], ["red", "m"], ["blue", "m"]], [0, 0, 0], [["red", "m"]])
    2
    """
    from softmodes._table.codebook import learn

    codebook, codes = learn(X, missing)
    n_columns = learn(centers)[0].n_features
    if n_columns != codebook.n_features:
        raise ValueError(
            f"centers has {n_columns} columns, but X has {codebook.n_features}. "
            "Pass a value for every column of X."
        )
    center_codes, _ = codebook.encode(centers)
    index = _center_index(labels, codes.n_rows, center_codes.n_rows)
    pairs = zip(codes.columns(), center_codes.columns(), codes.ranges.ignored, strict=True)
    return sum(_mismatches(cells, center[index], int(ignored)) for cells, center, ignored in pairs)


def expected_cost(X: Any, labels: Any, *, missing: Missing = "category") -> float:
    """Return the expected number of cells that differ from a center drawn from its cluster.

    That is the sum over clusters and features of size * (1 - sum of squared shares): lower is
    better, and 0 means that all rows of a cluster are equal. Unlike the cost to the most frequent
    values, it needs no centers.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Any table in memory that the estimators take.
    labels : array-like of shape (n_samples,)
        The cluster of every row, as values of any hashable type.
    missing : {"category", "ignore", "error"}, default="category"
        Whether missing cells are a value of their own, count for nothing, or raise.

    Returns
    -------
    float

    Examples
    --------
    >>> from softmodes.metrics import expected_cost
    >>> expected_cost([["red", "s"], ["red", "m"], ["blue", "m"]], [0, 0, 1])
    1.0
    """
    from softmodes._table.codebook import learn

    _, codes = learn(X, missing)
    clusters = label_codes("labels", labels)
    check_rows(len(clusters), codes.n_rows)
    features = zip(codes.columns(), codes.ranges.n_codes, codes.ranges.ignored, strict=True)
    return sum(
        _expected_cost_of_feature(cells, clusters, int(n_codes), int(ignored))
        for cells, n_codes, ignored in features
    )


def _center_index(labels: Any, n_rows: int, n_centers: int) -> NDArray[np.intp]:
    index = np.asarray(labels)
    if index.ndim != 1 or index.dtype.kind not in "iu":
        raise ValueError(
            f"labels has shape {index.shape} and type {index.dtype}. "
            "Pass a one-dimensional sequence of integers, the index of each row's center."
        )
    check_rows(len(index), n_rows)
    if index.min() < 0 or index.max() >= n_centers:
        raise ValueError(
            f"labels go from {index.min()} to {index.max()}, but there are {n_centers} centers. "
            f"Pass labels from 0 to {n_centers - 1}, or all centers."
        )
    return index.astype(np.intp, copy=False)


def _mismatches(cells: NDArray[Any], expected: NDArray[Any], ignored: int) -> int:
    differs = cells != expected
    if ignored >= 0:
        differs &= cells != ignored
    return int(np.count_nonzero(differs))


def _expected_cost_of_feature(
    cells: NDArray[Any], clusters: NDArray[np.intp], n_codes: int, ignored: int
) -> float:
    if ignored >= 0:
        observed = cells != ignored
        cells, clusters = cells[observed], clusters[observed]
    owner, counts = _counts(clusters, cells, n_codes)
    sizes = np.bincount(owner, weights=counts)
    squares = np.bincount(owner, weights=counts * counts.astype(np.float64))
    used = sizes > 0
    return float((sizes[used] - squares[used] / sizes[used]).sum())


def _counts(
    clusters: NDArray[np.intp], cells: NDArray[Any], n_codes: int
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return how often each pair of cluster and code occurs, and the cluster of each pair."""
    pairs = clusters * n_codes + cells
    n_pairs = (int(clusters.max(initial=-1)) + 1) * n_codes
    if n_pairs <= 4 * len(pairs):
        counts = np.bincount(pairs, minlength=n_pairs)
        return np.repeat(np.arange(n_pairs // n_codes), n_codes), counts
    # Many clusters times many values: nearly all pairs are absent.
    used, counts = np.unique(pairs, return_counts=True)
    return used // n_codes, counts
