"""ROCK: merging clusters by their links, the common neighbours of their rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from softmodes._parameters import choice, seed, thread_count, whole
from softmodes._table.codebook import checked_missing, learn
from softmodes.baselines._rock.labelling import all_labels
from softmodes.baselines._rock.merging import sample_clusters
from softmodes.baselines._rock.plan import Plan, sample_size, thresholds
from softmodes.baselines._rock.records import Records, Rule


class Rock(ClusterMixin, BaseEstimator):
    """Cluster categorical data by ROCK (Guha, Rastogi and Shim, 1999).

    Rows are neighbours if they are similar enough, and the links of two rows are their common
    neighbours. Starting from single rows, the two clusters with the most links, compared with the
    number expected for their sizes, merge; until `n_clusters` are left, or no links between them.
    Of a large table a sample is clustered, and the other rows are labelled by their neighbours in
    it.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters at which merging stops.
    theta : float, optional
        Least similarity of neighbours, from 0 to 1: the number of attribute=value items that two
        rows share over that of items in either (Jaccard). 0.5 if `eps` is not given either.
    eps : float, optional
        Largest Hamming distance of neighbours, instead of `theta`. For complete rows of d
        columns it is the same as theta = (d - eps) / (d + eps). If both are given, `eps` says who
        is a neighbour, and `theta` enters only the expected number of links, as in pyclustering.
    links : {"common", "direct"}, default="common"
        The links of two rows: their common neighbours, as in ROCK; or one if they are neighbours,
        as in pyclustering.
    min_neighbors : int, default=1
        Sampled rows with fewer neighbours are outliers, set aside before merging. With 0 they count
        as clusters while merging.
    leftover : {"nearest", "separate", "noise"}, default="nearest"
        What becomes of outliers, of clusters beyond the `n_clusters` largest (where links ran out
        early), and of rows outside the sample without a neighbour in a cluster. They join the
        cluster with most neighbours (see Notes), or else that with most equal cells on average;
        or stay clusters of their own, so that there are more than `n_clusters`; or get label -1.
    sample_size : int, optional
        Number of rows to sample; all rows up to 15,000, and 15,000 of more. Memory grows with its
        square: 15,000 rows take about 2 GB, and up to 6 GB if all rows are neighbours.
    missing : {"category", "ignore", "error"}, default="category"
        Missing cells are a value of their own; or are no item, and in distances do not count;
        or are refused. With "ignore" a table of ones and missing cells holds market baskets.
    n_jobs : int, optional
        Number of threads; None and -1 take all. The answer does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the sample; without a sample nothing is random.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        Cluster of every row; clusters are numbered by size, the largest first.
    n_clusters_ : int
        Number of clusters in `labels_`.
    n_remaining_ : int
        Number of clusters when merging ended, outliers not counted. More than `n_clusters` means
        that links ran out.
    outliers_ : int array
        The sampled rows that were set aside.
    sample_indices_ : int array
        The sampled rows, in order.
    n_features_in_, feature_names_in_
        Number and names of the features.

    Notes
    -----
    With f = (1 - theta) / (1 + theta), a cluster of n rows is expected to hold n ** (1 + 2 f)
    links, and a row joins the cluster with the largest number of neighbours over (n + 1) ** f. No
    row is its own neighbour. Among pairs of clusters of equal goodness, that whose newer cluster
    arose first merges, then that whose older one did; single rows arose in the order of the
    table. Rows between equal clusters join the larger one.

    ``Rock(eps=e**2 / 2, theta=0.5, links="direct", min_neighbors=0, leftover="separate")`` is what
    pyclustering's rock does with radius e on one-hot codes, whose squared Euclidean distance is
    twice the Hamming distance; only ties are settled in another order.

    Examples
    --------
    >>> from softmodes.baselines import Rock
    >>> rows = [["a", "x", 1], ["a", "x", 2], ["a", "x", 3], ["b", "y", 4], ["b", "y", 5]]
    >>> Rock(n_clusters=2, eps=1).fit(rows).labels_
    array([0, 0, 0, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        theta: float | None = None,
        eps: float | None = None,
        links: str = "common",
        min_neighbors: int = 1,
        leftover: str = "nearest",
        sample_size: int | None = None,
        missing: str = "category",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.theta = theta
        self.eps = eps
        self.links = links
        self.min_neighbors = min_neighbors
        self.leftover = leftover
        self.sample_size = sample_size
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of `X`.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            pandas, polars or pyarrow frame, NumPy array, list of lists, or scipy.sparse matrix
            (in which zero is a value). Every distinct entry of a column is a category.
        y : ignored

        Returns
        -------
        self
        """
        n_threads = thread_count(self.n_jobs)
        _, codes = learn(X, checked_missing(self.missing), n_threads)
        validate_data(self, X, skip_check_array=True)
        plan = self._plan(codes.n_rows, len(codes.ranges.n_codes), n_threads)
        records = Records.of(codes)
        sample = plan.sampled_rows(len(records))
        clusters, is_outlier = sample_clusters(records.take(sample), plan)
        self.labels_ = all_labels(records, sample, clusters, is_outlier, plan)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.n_remaining_ = len(np.unique(clusters[~is_outlier]))
        self.outliers_ = sample[is_outlier]
        self.sample_indices_ = sample
        return self

    def _plan(self, n_rows: int, n_features: int, n_threads: int) -> Plan:
        """Check and resolve every parameter."""
        k = whole("n_clusters", self.n_clusters, 1)
        theta, eps = thresholds(self.theta, self.eps, n_features)
        return Plan(
            k=k,
            rule=Rule(theta, eps),
            f=(1 - theta) / (1 + theta),
            links=choice("links", self.links, ("common", "direct")),
            min_neighbors=whole("min_neighbors", self.min_neighbors, 0),
            leftover=choice("leftover", self.leftover, ("nearest", "separate", "noise")),
            sample_size=sample_size(self.sample_size, k, n_rows),
            seed=seed(self.random_state),
            n_threads=n_threads,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
