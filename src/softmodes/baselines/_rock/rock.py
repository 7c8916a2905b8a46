"""ROCK: merging clusters by their links, the common neighbours of their rows."""

from __future__ import annotations

import numbers
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from softmodes._parameters import check_choice, seed, thread_count, whole
from softmodes._table.codebook import learn
from softmodes.baselines._rock.merging import common_neighbors, merge, sparse_rows
from softmodes.baselines._rock.records import Records, Rule, neighbor_lists

MAX_SAMPLE = 15_000


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
        check_choice("missing", self.missing, ("category", "ignore", "error"))
        n_threads = thread_count(self.n_jobs)
        _, codes = learn(X, self.missing, n_threads)  # type: ignore[arg-type]
        validate_data(self, X, skip_check_array=True)
        plan = self._plan(codes.n_rows, len(codes.n_codes), n_threads)
        records = Records.of(codes)
        sample = plan.draw(len(records))
        slots, is_outlier = _merged(records.take(sample), plan)
        self._publish(plan, records, sample, slots, is_outlier)
        return self

    def _plan(self, n_rows: int, n_features: int, n_threads: int) -> _Plan:
        """Check and resolve every parameter."""
        check_choice("links", self.links, ("common", "direct"))
        check_choice("leftover", self.leftover, ("nearest", "separate", "noise"))
        k = whole("n_clusters", self.n_clusters, 1)
        theta, eps = _thresholds(self.theta, self.eps, n_features)
        return _Plan(
            k=k,
            rule=Rule(theta, eps),
            f=(1 - theta) / (1 + theta),
            common=self.links == "common",
            min_neighbors=whole("min_neighbors", self.min_neighbors, 0),
            leftover=self.leftover,
            sample_size=_sample_size(self.sample_size, k, n_rows),
            seed=seed(self.random_state),
            n_threads=n_threads,
        )

    def _publish(
        self,
        plan: _Plan,
        records: Records,
        sample: NDArray[np.intp],
        slots: NDArray[np.intp],
        is_outlier: NDArray[np.bool_],
    ) -> None:
        """Label the rows outside the sample and the leftover ones, and set the attributes."""
        labels = np.full(len(records), -1)
        labels[sample] = _kept(plan, _numbered(slots), is_outlier)
        to_label = _to_label(plan, labels, sample)
        labels[to_label] = _labelled(records, labels, to_label, plan)
        alone = np.flatnonzero(labels < 0)
        if plan.leftover != "noise":
            labels[alone] = labels.max(initial=-1) + 1 + np.arange(len(alone))
        self.labels_ = _numbered(labels)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.n_remaining_ = len(np.unique(slots[~is_outlier]))
        self.outliers_ = sample[is_outlier]
        self.sample_indices_ = sample

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


@dataclass(frozen=True)
class _Plan:
    """The parameters, checked and resolved."""

    k: int
    rule: Rule
    f: float
    common: bool
    min_neighbors: int
    leftover: str
    sample_size: int
    seed: int
    n_threads: int

    def draw(self, n_rows: int) -> NDArray[np.intp]:
        """Return the rows to cluster, in order."""
        if self.sample_size >= n_rows:
            return np.arange(n_rows)
        rng = np.random.default_rng(self.seed)
        return np.sort(rng.choice(n_rows, self.sample_size, replace=False))


# ---------------------------------------------------------------------------------- the phases


def _merged(rows: Records, plan: _Plan) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return a number for each row's cluster, and which rows are outliers, each by itself."""
    neighbors = neighbor_lists(rows, plan.rule, plan.n_threads)
    is_outlier = np.diff(neighbors.indptr) < plan.min_neighbors
    inside = np.flatnonzero(~is_outlier)
    if is_outlier.any():
        neighbors = neighbors[inside][:, inside]
    if plan.common:
        links = common_neighbors(neighbors, plan.n_threads)
    else:
        links = list(sparse_rows(neighbors))
    slots = np.arange(len(rows))
    slots[inside] = inside[merge(links, plan.k, plan.f)]
    return slots, is_outlier


def _kept(
    plan: _Plan, clusters: NDArray[np.intp], is_outlier: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Return the clusters with -1 for those that do not stay."""
    if plan.leftover == "noise":
        clusters = _numbered(np.where(is_outlier, -1, clusters))
    if plan.leftover == "separate":
        return clusters
    return np.where(clusters < plan.k, clusters, -1)


def _to_label(plan: _Plan, labels: NDArray[np.intp], sample: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the rows for the labelling phase."""
    open_rows = labels < 0
    if plan.leftover == "noise":
        open_rows[sample] = False
    return np.flatnonzero(open_rows)


def _labelled(
    records: Records, labels: NDArray[np.intp], rows: NDArray[np.intp], plan: _Plan
) -> NDArray[np.intp]:
    """Return the labels of more rows by their neighbours among those that have one.

    A row without any gets -1, or with leftover "nearest" the cluster it equals in most cells.
    """
    members = np.argsort(labels, kind="stable")[np.count_nonzero(labels < 0) :]
    if len(rows) == 0 or len(members) == 0:
        return np.full(len(rows), -1)
    known, sizes = records.take(members), np.bincount(labels[members])
    starts = np.cumsum(sizes) - sizes
    more = records.take(rows)

    def one_block(block: slice) -> NDArray[np.intp]:
        some = more.take(block)
        matches = some.matches(known)
        near = plan.rule.holds(some, known, matches)
        votes = np.add.reduceat(near, starts, axis=1, dtype=np.intp)
        found = np.argmax(votes / (sizes + 1.0) ** plan.f, axis=1)
        lonely = ~votes.any(axis=1)
        found[lonely] = -1
        if plan.leftover == "nearest" and lonely.any():
            equal = np.add.reduceat(matches[lonely], starts, axis=1, dtype=np.intp)
            found[lonely] = np.argmax(equal / sizes, axis=1)
        return np.asarray(found)

    with ThreadPoolExecutor(plan.n_threads) as pool:
        return np.concatenate(list(pool.map(one_block, more.blocks(len(known)))))


def _numbered(clusters: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the clusters numbered by size, the largest first, then by first row; -1 stays."""
    inside = np.flatnonzero(clusters >= 0)
    _, first, index, sizes = np.unique(
        clusters[inside], return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(len(sizes), np.intp)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    numbered = np.full(len(clusters), -1)
    numbered[inside] = rank[index]
    return numbered


# ---------------------------------------------------------------------------------- parameters


def _thresholds(theta: Any, eps: Any, n_features: int) -> tuple[float, float | None]:
    """Return theta, as it enters the expected number of links, and eps if it was given."""
    if theta is not None and not (_is_number(theta) and 0 <= theta <= 1):
        raise ValueError(
            f"theta={theta!r} is not a similarity from 0 to 1. Pass the least similarity of "
            "neighbours, for example theta=0.5, or a Hamming distance as eps."
        )
    if eps is None:
        return (0.5 if theta is None else float(theta)), None
    if not (_is_number(eps) and 0 <= eps <= n_features):
        raise ValueError(
            f"eps={eps!r} is not a Hamming distance from 0 to n_features={n_features}. "
            f"Pass the largest number of cells in which neighbours may differ."
        )
    equivalent = (n_features - eps) / (n_features + eps)
    return float(equivalent if theta is None else theta), float(eps)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _sample_size(sample_size: Any, k: int, n_rows: int) -> int:
    if k > n_rows:
        raise ValueError(
            f"n_clusters={k} is more than n_samples={n_rows}. Pass n_clusters of at most {n_rows}."
        )
    size = MAX_SAMPLE if sample_size is None else whole("sample_size", sample_size, 1)
    if k > size:
        raise ValueError(
            f"n_clusters={k} is more than sample_size={size}. Pass sample_size of at least {k}."
        )
    return min(size, n_rows)
