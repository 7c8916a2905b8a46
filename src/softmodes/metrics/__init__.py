"""How good a clustering is: agreement with known classes, and cost on its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from softmodes._table.codebook import Missing

__all__ = [
    "agreement",
    "ari",
    "expected_cost",
    "hamming_cost",
    "matching_accuracy",
    "matching_f1",
    "nmi",
]


def matching_accuracy(labels_true: Any, labels_pred: Any) -> float:
    """Return the share of rows that agree under the best one-to-one matching.

    Clusters are matched to classes so that as many rows as possible agree (the assignment
    problem). With more clusters than classes, or fewer, the rest of them stay unmatched and their
    rows count as wrong.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Classes and clusters, as values of any hashable type. Missing ones are a label like others.

    Returns
    -------
    float

    Examples
    --------
    >>> from softmodes.metrics import matching_accuracy
    >>> matching_accuracy(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    0.75
    """
    return _Matching(labels_true, labels_pred).accuracy


def matching_f1(labels_true: Any, labels_pred: Any) -> float:
    """Return the mean F1 score of the classes under the matching of `matching_accuracy`.

    A class without a matched cluster scores 0. Where several matchings agree on equally many rows,
    the one with the highest score counts.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Classes and clusters, as values of any hashable type. Missing ones are a label like others.

    Returns
    -------
    float

    Examples
    --------
    >>> from softmodes.metrics import matching_f1
    >>> round(matching_f1(["cat", "cat", "dog", "dog"], [1, 1, 0, 1]), 3)
    0.733
    """
    return _Matching(labels_true, labels_pred).f1


def ari(labels_true: Any, labels_pred: Any) -> float:
    """Return the adjusted Rand index, for labels of any hashable type.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Classes and clusters.

    Returns
    -------
    float

    Examples
    --------
    >>> from softmodes.metrics import ari
    >>> ari(["cat", "cat", "dog"], [1, 1, 0])
    1.0
    """
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(*_pair(labels_true, labels_pred)))


def nmi(labels_true: Any, labels_pred: Any) -> float:
    """Return the normalised mutual information, for labels of any hashable type.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Classes and clusters.

    Returns
    -------
    float

    Examples
    --------
    >>> from softmodes.metrics import nmi
    >>> round(nmi(["cat", "cat", "dog"], [1, 1, 0]), 6)
    1.0
    """
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(*_pair(labels_true, labels_pred)))


def agreement(labels_true: Any, labels_pred: Any) -> dict[str, float]:
    """Return all that should stand beside an accuracy.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Classes and clusters, as values of any hashable type.

    Returns
    -------
    dict
        `accuracy` and `f1` (see `matching_accuracy`, `matching_f1`), `ari`, `nmi`,
        `clusters_in_use`, `largest_share` (of the rows, in one cluster), `all_in_one_accuracy`
        (what a single cluster of all rows would reach).

    Examples
    --------
    >>> from softmodes.metrics import agreement
    >>> scores = agreement(["cat", "cat", "cat", "dog"], [1, 1, 0, 0])
    >>> scores["accuracy"], scores["clusters_in_use"], scores["all_in_one_accuracy"]
    (0.75, 2, 0.75)
    """
    classes, clusters = _pair(labels_true, labels_pred)
    matching = _Matching(classes, clusters)
    return {
        "accuracy": matching.accuracy,
        "f1": matching.f1,
        "ari": ari(classes, clusters),
        "nmi": nmi(classes, clusters),
        "clusters_in_use": len(matching.cluster_sizes),
        "largest_share": int(matching.cluster_sizes.max()) / len(clusters),
        "all_in_one_accuracy": int(matching.class_sizes.max()) / len(classes),
    }


def hamming_cost(X: Any, labels: Any, centers: Any, *, missing: Missing = "category") -> int:
    """Return the number of cells that differ from the center of their row's cluster.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Any table that the estimators take.
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
    pairs = zip(codes.columns(), center_codes.columns(), codes.ignored, strict=True)
    return sum(_mismatches(cells, center[index], int(ignored)) for cells, center, ignored in pairs)


def expected_cost(X: Any, labels: Any, *, missing: Missing = "category") -> float:
    """Return the expected number of cells that differ from a center drawn from its cluster.

    That is the sum over clusters and features of size * (1 - sum of squared shares): lower is
    better, and 0 means that all rows of a cluster are equal. Unlike the cost to the most frequent
    values, it needs no centers.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Any table that the estimators take.
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
    clusters = _factorize("labels", labels)
    _check_rows(len(clusters), codes.n_rows)
    features = zip(codes.columns(), codes.n_codes, codes.ignored, strict=True)
    return sum(
        _expected_cost_of_feature(cells, clusters, int(n_codes), int(ignored))
        for cells, n_codes, ignored in features
    )


class _Matching:
    """The matching of clusters to classes on which most rows agree."""

    def __init__(self, labels_true: Any, labels_pred: Any) -> None:
        classes, clusters = _pair(labels_true, labels_pred)
        self.class_sizes, self.cluster_sizes = np.bincount(classes), np.bincount(clusters)
        shape = len(self.class_sizes), len(self.cluster_sizes)
        used, counts = np.unique(
            np.ravel_multi_index((classes, clusters), shape), return_counts=True
        )
        rows, cols = np.unravel_index(used, shape)
        scores = 2 * counts / (self.class_sizes[rows] + self.cluster_sizes[cols])
        # All scores of a matching together weigh less than one row.
        matched = _best_matching(rows, cols, counts + scores / (1 + min(shape)))
        self.accuracy = int(counts[matched].sum()) / len(classes)
        self.f1 = float(scores[matched].sum()) / len(self.class_sizes)


def _best_matching(
    rows: NDArray[np.intp], cols: NDArray[np.intp], gains: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return which of some cells of a table, each in a row and column of its own, gain most.

    The table stays sparse: with thousands of clusters it is nearly empty.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n_rows, n_cols = int(rows.max()) + 1, int(cols.max()) + 1
    if n_rows > n_cols:
        return _best_matching(cols, rows, gains)
    # The solver matches every row, and reads a cost of 0 as "no edge": so each row gets a column
    # of its own that stands for no match, and costs are counted down from above the largest gain.
    none = np.arange(n_rows)
    worst = gains.max() + 1
    costs = np.concatenate([worst - gains, np.full(n_rows, worst)])
    edges = np.concatenate([rows, none]), np.concatenate([cols, n_cols + none])
    graph = coo_array((costs, edges), shape=(n_rows, n_cols + n_rows)).tocsr()
    _, partner = min_weight_full_bipartite_matching(graph)
    return np.asarray(partner[rows] == cols, dtype=np.bool_)


def _pair(labels_true: Any, labels_pred: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    classes = _factorize("labels_true", labels_true)
    clusters = _factorize("labels_pred", labels_pred)
    if len(classes) != len(clusters):
        raise ValueError(
            f"labels_true has {len(classes)} labels, but labels_pred has {len(clusters)}. "
            "Pass one of each for every row."
        )
    return classes, clusters


def _factorize(name: str, labels: Any) -> NDArray[np.intp]:
    """Return labels as integers from 0 without gaps."""
    # A list may mix types, which NumPy would turn into strings.
    mixed = isinstance(labels, list | tuple)
    values = np.array(labels, dtype=object) if mixed else np.asarray(labels)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(
            f"{name} has shape {values.shape}. Pass a one-dimensional, non-empty sequence."
        )
    if values.dtype == object:
        return _factorize_objects(values)
    return np.unique(values, return_inverse=True)[1].astype(np.intp, copy=False)


def _factorize_objects(values: NDArray[Any]) -> NDArray[np.intp]:
    distinct = dict.fromkeys(values)
    names = dict.fromkeys(None if _is_missing(value) else value for value in distinct)
    position = {name: i for i, name in enumerate(names)}
    code = {value: position[None if _is_missing(value) else value] for value in distinct}
    return np.fromiter(map(code.__getitem__, values), dtype=np.intp, count=len(values))


def _is_missing(value: Any) -> bool:
    # By name, since pandas need not be installed; a NaN is what differs from itself.
    return type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _center_index(labels: Any, n_rows: int, n_centers: int) -> NDArray[np.intp]:
    index = np.asarray(labels)
    if index.ndim != 1 or index.dtype.kind not in "iu":
        raise ValueError(
            f"labels has shape {index.shape} and type {index.dtype}. "
            "Pass a one-dimensional sequence of integers, the index of each row's center."
        )
    _check_rows(len(index), n_rows)
    if index.min() < 0 or index.max() >= n_centers:
        raise ValueError(
            f"labels go from {index.min()} to {index.max()}, but there are {n_centers} centers. "
            f"Pass labels from 0 to {n_centers - 1}, or all centers."
        )
    return index.astype(np.intp, copy=False)


def _check_rows(n_labels: int, n_rows: int) -> None:
    if n_labels != n_rows:
        raise ValueError(
            f"labels has {n_labels} entries, but X has {n_rows} rows. Pass one label per row."
        )


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
