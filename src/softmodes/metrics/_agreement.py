"""Agreement of a clustering with known classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes.metrics._labels import label_codes


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

    return float(adjusted_rand_score(*_label_pair(labels_true, labels_pred)))


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

    return float(normalized_mutual_info_score(*_label_pair(labels_true, labels_pred)))


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
    classes, clusters = _label_pair(labels_true, labels_pred)
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


class _Matching:
    """The matching of clusters to classes on which most rows agree."""

    def __init__(self, labels_true: Any, labels_pred: Any) -> None:
        classes, clusters = _label_pair(labels_true, labels_pred)
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


def _label_pair(labels_true: Any, labels_pred: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    classes = label_codes("labels_true", labels_true)
    clusters = label_codes("labels_pred", labels_pred)
    if len(classes) != len(clusters):
        raise ValueError(
            f"labels_true has {len(classes)} labels, but labels_pred has {len(clusters)}. "
            "Pass one of each for every row."
        )
    return classes, clusters
