"""ROCK's labels of all rows, from the clusters of a sample."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from softmodes.baselines._rock.plan import Plan
from softmodes.baselines._rock.records import Records


def all_labels(
    records: Records,
    sample: NDArray[np.intp],
    clusters: NDArray[np.intp],
    is_outlier: NDArray[np.bool_],
    plan: Plan,
) -> NDArray[np.intp]:
    """Label the sample, then the rows outside it and the leftover ones; largest cluster first."""
    labels = np.full(len(records), -1)
    labels[sample] = _staying(plan, _numbered(clusters), is_outlier)
    rows = _unlabelled(plan, labels, sample)
    labels[rows] = _joined(records, labels, rows, plan)
    alone = np.flatnonzero(labels < 0)
    if plan.leftover != "noise":
        labels[alone] = labels.max(initial=-1) + 1 + np.arange(len(alone))
    return _numbered(labels)


def _staying(
    plan: Plan, clusters: NDArray[np.intp], is_outlier: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Return the numbered clusters, with -1 for rows of those that do not stay."""
    if plan.leftover == "noise":
        clusters = _numbered(np.where(is_outlier, -1, clusters))
    if plan.leftover == "separate":
        return clusters
    return np.where(clusters < plan.k, clusters, -1)


def _unlabelled(plan: Plan, labels: NDArray[np.intp], sample: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the rows that may join a cluster by their neighbours."""
    open_rows = labels < 0
    if plan.leftover == "noise":
        open_rows[sample] = False
    return np.flatnonzero(open_rows)


def _joined(
    records: Records, labels: NDArray[np.intp], rows: NDArray[np.intp], plan: Plan
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
