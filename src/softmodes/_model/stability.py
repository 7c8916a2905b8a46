"""Is a clustering found again in other rows: the same fit on random parts of them, compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from softmodes._algorithm.loop import best_run
from softmodes._algorithm.plan import Plan
from softmodes._algorithm.randomness import Use, address
from softmodes._model.parts import part_of, part_size, rows_that_count, take_rows
from softmodes._model.profile import as_frame
from softmodes._parameters import check_most
from softmodes._rows.stores import Opened, RowStore, some_rows
from softmodes.metrics._agreement import ari

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]

# From this on a cluster counts as found again, below the other one as dissolved (Hennig, 2007).
FOUND, DISSOLVED = 0.75, 0.5


@dataclass(frozen=True, eq=False)
class Stability:
    """How well a clustering is found again when it is fitted on other parts of the rows.

    What `stability` of a fitted estimator returns.

    Attributes
    ----------
    whole : float
        Mean agreement (ARI) of the partitions of the parts with the model's.
    by_cluster : array of shape (n_clusters,)
        For each cluster, the mean over the parts of its best Jaccard coefficient with a cluster of
        the part: rows in both over rows in either. From 0.75 on it is found again, below 0.5 it
        mostly dissolves. NaN for a cluster without rows.
    agreements : array of shape (n_resamples,)
        ARI of each part.
    jaccards : array of shape (n_resamples, n_clusters)
        The best Jaccard coefficient by part and cluster.
    sizes : array of shape (n_clusters,)
        Rows of each cluster in the table.
    names : tuple of str
        What the clusters are called.

    Examples
    --------
    >>> from softmodes import SoftModes
    >>> from softmodes.datasets import make_ccm
    >>> X, _ = make_ccm(300, 30, 3, eps=0.1, random_state=0)
    >>> found = SoftModes(3, random_state=0).fit(X).stability(X, random_state=0)
    >>> print(found)
    3 groups are found again in other 80 % of the rows: ARI 1.00 (10 parts)
    group  rows  found again  name
        0   100         1.00  x22: True, x6: True
        1   100         1.00  x21: True, x10: True
        2   100         1.00  x29: True, x15: False
    """

    whole: float
    by_cluster: Floats
    agreements: Floats
    jaccards: Floats
    sizes: NDArray[np.int64]
    names: tuple[str, ...]
    backend: str | None = None

    def to_frame(self) -> Any:
        """Return a row for each cluster, as a frame of the kind that `fit` got.

        Columns: cluster, name, rows, found_again (the mean best Jaccard coefficient), dissolved
        (the share of the parts in which it is below 0.5).
        """
        with np.errstate(invalid="ignore"):
            dissolved = (self.jaccards < DISSOLVED).mean(axis=0)
        columns = {
            "cluster": np.arange(len(self.sizes)),
            "name": list(self.names),
            "rows": self.sizes,
            "found_again": self.by_cluster,
            "dissolved": np.where(np.isnan(self.by_cluster), np.nan, dissolved),
        }
        return as_frame(columns, self.backend)

    def __repr__(self) -> str:
        head = (
            f"{len(self.sizes)} groups are found again in other 80 % of the rows: "
            f"ARI {self.whole:.2f} ({len(self.agreements)} parts)"
        )
        width = max(4, len(str(max(self.sizes.tolist()))))
        lines = [f"group  {'rows':>{width}}  found again  name"]
        for i, (size, again) in enumerate(zip(self.sizes, self.by_cluster, strict=True)):
            lines.append(f"{i:5d}  {size:{width}d}  {again:11.2f}  {self.names[i]}")
        return "\n".join([head, *lines])


def stability_of(
    opened: Opened,
    plan: Plan,
    predict: Callable[[RowStore], Labels],
    n_resamples: int,
    most_rows: int | None,
    names: tuple[str, ...],
    backend: str | None,
) -> Stability:
    """Fit on random parts of the rows, and compare with the labels that a model gives them."""
    counted = rows_that_count(opened, most_rows, plan.seed)
    check_most("n_clusters", plan.k, "80 % of the rows", part_size(len(counted)))
    store = take_rows(opened, counted).store
    labels = predict(store)
    sizes = np.bincount(labels, minlength=plan.k)
    agreements, jaccards = [], []
    for rows, other in _other_partitions(store, plan, n_resamples):
        agreements.append(ari(labels[rows], other))
        jaccards.append(best_jaccards(labels[rows], other, plan.k))
    by_part = np.array(jaccards)
    seen = np.maximum((~np.isnan(by_part)).sum(axis=0), 1)
    mean = np.where(sizes > 0, np.nansum(by_part, axis=0) / seen, np.nan)
    return Stability(
        float(np.mean(agreements)), mean, np.array(agreements), by_part, sizes, names, backend
    )


def _other_partitions(
    store: RowStore, plan: Plan, n_resamples: int
) -> Iterator[tuple[NDArray[np.intp], Labels]]:
    for i in range(n_resamples):
        rows = part_of(store.n_rows, plan.seed, i)
        part, other = some_rows(store, rows), replace(plan, seed=address(plan.seed, i, Use.SAMPLE))
        run = best_run(part, other)
        yield rows, part.labels(run.centers, other.comparison(run.index))


def best_jaccards(labels: Labels, other: Labels, k: int) -> Floats:
    """Return for each cluster the largest Jaccard coefficient with one of another partition.

    Examples
    --------
    >>> best_jaccards(np.array([0, 0, 0, 1]), np.array([5, 5, 2, 2]), 3)
    array([0.66666667, 0.5       ,        nan])
    """
    both = coo_array((np.ones(len(labels), np.int64), (labels, other)), (k, int(other.max()) + 1))
    common = both.toarray()
    own, others = common.sum(axis=1), common.sum(axis=0)
    either = own[:, None] + others - common
    best: Floats = (common / np.maximum(either, 1)).max(axis=1)
    return np.where(own > 0, best, np.nan)
