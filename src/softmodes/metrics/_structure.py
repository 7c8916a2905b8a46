"""What the structure of a partition is, without known classes: for choosing k and for trust."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from softmodes._table.codebook import Missing
    from softmodes.metrics._partition import Partition


def icl(
    X: Any,
    labels: Any,
    *,
    n_clusters: int | None = None,
    missing: Missing = "category",
    sample_weight: Any = None,
) -> float:
    """Return the exact integrated classification likelihood: minus log p(X, labels), in nats.

    That is how many nats it takes to write down the labels and then the table, cluster by cluster,
    when nothing is known of the shares (Dirichlet priors of 1/2): lower is better. Each cluster has
    to pay for its own shares, so that a partition into one cluster is the best of a table without
    structure. The sum over clusters c and columns j with s_j values is::

        lnG(s_j/2) - lnG(n_cj + s_j/2) + sum over values v of lnG(N_cj(v) + 1/2) - lnG(1/2)

    to which the labels add ``lnG(k/2) - lnG(n + k/2) + sum over c of lnG(n_c + 1/2) - lnG(1/2)``;
    the result is minus all that. N_cj(v) counts value v in column j of cluster c, n_cj its observed
    cells, n_c the rows, lnG is the logarithm of the gamma function.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Any table that the estimators take.
    labels : array-like of shape (n_samples,)
        The cluster of every row, as values of any hashable type.
    n_clusters : int, optional
        Number of clusters if some are empty; by default that of different labels.
    missing : {"category", "ignore", "error"}, default="category"
        Whether missing cells are a value of their own, count for nothing, or raise.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows: whole ones stand for repeated rows, others are taken with a mean of 1.

    Returns
    -------
    float
        The same on every machine to about 1e-12 of itself.

    Examples
    --------
    >>> from softmodes.metrics import icl
    >>> answers = [["yes", "red"]] * 10 + [["no", "blue"]] * 10
    >>> round(icl(answers, [0] * 10 + [1] * 10), 1), round(icl(answers, [0] * 20), 1)
    (22.5, 31.2)
    """
    from softmodes.metrics._evidence import icl_of

    return icl_of(_partition(X, labels, missing, sample_weight, n_clusters))


def valley(
    X: Any, labels: Any, *, missing: Missing = "category", sample_weight: Any = None
) -> float:
    """Return how deep the gap between the two least separated clusters is: low is separated.

    For clusters a and b every row i of both has ``s_i = sum over columns of log P_a - log P_b``, by
    the clusters' shares with one row added that is spread as the table is; the row itself is left
    out of its own cluster. On a scale on which the mean of b is 0 and that of a is 1, g(z) is the
    number of rows near z (the sum of ``exp(-(u - z)**2 / (2 * 0.125**2))``), and::

        valley(a, b) = (g(1/2) + 0.05) / sqrt((g(0) + 0.05) * (g(1) + 0.05))

    The result is the largest over all pairs. Below 0.8 the clusters are separated by a gap. Cuts
    through one heap of rows have 1 or more: rows that lie evenly on a scale 1.0, normally 1.35. Two
    equal normal heaps have 0.95 if 2.5 standard deviations apart, 0.74 if 3, 0.40 if 4, 0.21 if 5.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Any table that the estimators take.
    labels : array-like of shape (n_samples,)
        The cluster of every row, as values of any hashable type.
    missing : {"category", "ignore", "error"}, default="category"
        Whether missing cells are a value of their own, count for nothing, or raise.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows: whole ones stand for repeated rows, others are taken with a mean of 1.
        A row is left out as one row, whatever its weight.

    Returns
    -------
    float
        2.0 if a cluster has fewer than 3 rows, or if two clusters are not apart at all; NaN if
        there is one cluster only. The same for any order of the rows, and on every machine to about
        1e-6.

    Examples
    --------
    >>> from softmodes.datasets import make_ccm
    >>> from softmodes.metrics import valley
    >>> X, y = make_ccm(400, 50, 2, eps=0.2, random_state=0)
    >>> valley(X, y) < 0.2
    True
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> scale = rng.random((400, 50)) < rng.random((400, 1))
    >>> valley(scale, scale.sum(axis=1) > 25) > 0.8
    True
    """
    from softmodes.metrics._separation import valley_of

    return valley_of(_partition(X, labels, missing, sample_weight))


def silhouette(
    X: Any, labels: Any, *, missing: Missing = "category", sample_weight: Any = None
) -> float:
    """Return the mean silhouette of the rows in Hamming distance, by mean distances to clusters.

    A row has the mean distance a to the other rows of its cluster, and b to those of the nearest
    other one; its silhouette is ``(b - a) / max(a, b)``. The mean distance of row x to a cluster is
    ``sum over columns j of 1 - N_j(x_j) / n_j``, where N_j(v) of the cluster's n_j observed cells
    hold v: no pair of rows is ever compared, and the value is that of all pairs. Of its own cluster
    the row is left out, ``(n_j - N_j(x_j)) / (n_j - 1)``.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Any table that the estimators take.
    labels : array-like of shape (n_samples,)
        The cluster of every row, as values of any hashable type.
    missing : {"category", "ignore", "error"}, default="category"
        Whether missing cells are a value of their own, count for nothing, or raise. A column that
        is observed in no row of a cluster counts as two random rows of the table differ in it.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows: whole ones stand for repeated rows, others are taken with a mean of 1.
        A row is left out as one row, whatever its weight.

    Returns
    -------
    float
        From -1 to 1; a row that is alone in its cluster has 0. NaN if there is one cluster only.
        The same for any order of the rows, and on every machine to about 1e-9.

    Examples
    --------
    >>> from softmodes.metrics import silhouette
    >>> answers = [["yes", "red"], ["yes", "red"], ["no", "blue"], ["no", "green"]]
    >>> silhouette(answers, [0, 0, 1, 1])
    0.75
    """
    from softmodes.metrics._separation import silhouette_of

    return silhouette_of(_partition(X, labels, missing, sample_weight))


def silhouette_samples(
    X: Any, labels: Any, *, missing: Missing = "category", sample_weight: Any = None
) -> NDArray[np.float64]:
    """Return the silhouette of every row in Hamming distance; `silhouette` is their mean.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Any table that the estimators take.
    labels : array-like of shape (n_samples,)
        The cluster of every row, as values of any hashable type.
    missing : {"category", "ignore", "error"}, default="category"
        As for `silhouette`.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows in the distances to clusters.

    Returns
    -------
    float array of shape (n_samples,)
        From -1 to 1; NaN if there is one cluster only.

    Examples
    --------
    >>> from softmodes.metrics import silhouette_samples
    >>> answers = [["yes", "red"], ["yes", "red"], ["no", "blue"], ["no", "green"]]
    >>> silhouette_samples(answers, [0, 0, 1, 1])
    array([1. , 1. , 0.5, 0.5])
    """
    from softmodes.metrics._separation import silhouettes_of

    return silhouettes_of(_partition(X, labels, missing, sample_weight))


def deciding_columns(
    X: Any, labels: Any, *, missing: Missing = "category", sample_weight: Any = None
) -> float:
    """Return how many columns tell the two clusters apart that the fewest columns tell apart.

    Column j tells clusters a and b apart by D_j, their symmetric Kullback-Leibler divergence; if m
    columns do so equally and the others do not, ``(sum D_j)**2 / sum D_j**2`` is m. The result is
    the least over all pairs of clusters. Shares are taken with one row added to each cluster that
    is spread as the table is.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Any table that the estimators take.
    labels : array-like of shape (n_samples,)
        The cluster of every row, as values of any hashable type.
    missing : {"category", "ignore", "error"}, default="category"
        Whether missing cells are a value of their own, count for nothing, or raise.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows: whole ones stand for repeated rows, others are taken with a mean of 1.

    Returns
    -------
    float
        From 1 to the number of columns; 0 if two clusters are alike, NaN if there is one only.

    Examples
    --------
    >>> from softmodes.metrics import deciding_columns
    >>> answers = [["yes", "red", "up"]] * 10 + [["no", "blue", "up"]] * 10
    >>> round(deciding_columns(answers, [0] * 10 + [1] * 10), 6)
    2.0
    """
    from softmodes.metrics._evidence import deciding_columns_of

    return deciding_columns_of(_partition(X, labels, missing, sample_weight))


def line_share(
    X: Any, labels: Any, *, missing: Missing = "category", sample_weight: Any = None
) -> float:
    """Return to what part the clusters lie on one line: 1 if they are bands of a scale.

    That is the square of the first singular value of the matrix with a row
    ``sqrt(n_c / n) * (P_c - p)`` for each cluster, as a share of the squares of all of them. P_c
    are the cluster's shares of all values, with one row added that is spread as the table is; p are
    those of the table. Two clusters always lie on one line: ask for three or more.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Any table that the estimators take.
    labels : array-like of shape (n_samples,)
        The cluster of every row, as values of any hashable type.
    missing : {"category", "ignore", "error"}, default="category"
        Whether missing cells are a value of their own, count for nothing, or raise.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows: whole ones stand for repeated rows, others are taken with a mean of 1.

    Returns
    -------
    float
        From 1 / (number of clusters - 1) to 1; NaN if all clusters are alike, or there is one only.

    Examples
    --------
    >>> from softmodes.metrics import line_share
    >>> scale = [[0, 0]] * 9 + [[0, 1]] * 9 + [[1, 1]] * 9
    >>> corners = [["a", 0]] * 9 + [["b", 0]] * 9 + [["c", 0]] * 9
    >>> labels = [0] * 9 + [1] * 9 + [2] * 9
    >>> round(line_share(scale, labels), 3), round(line_share(corners, labels), 3)
    (0.75, 0.5)
    """
    from softmodes.metrics._evidence import line_share_of

    return line_share_of(_partition(X, labels, missing, sample_weight))


def _partition(
    X: Any, labels: Any, missing: Missing, sample_weight: Any, n_clusters: int | None = None
) -> Partition:
    from softmodes.metrics._partition import Partition

    return Partition.of(X, labels, missing, sample_weight, n_clusters)
