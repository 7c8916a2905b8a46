"""A line about a cluster that holds nearly all rows, of a table whose columns hardly vary."""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from softmodes._model.clustering import Clustering
from softmodes._rows.counts import Counts

_LOGGER = logging.getLogger("softmodes")
_MOST_ROWS, _MOST_COMMON = 0.8, 0.9


def mention_dominance(found: Clustering) -> None:
    """Log a line if one cluster of several holds 80 % of the rows because most cells are alike.

    So it comes out where columns are words of texts, or goods in baskets: rows that have hardly any
    of them cannot be told apart.
    """
    sizes = found.tally.cluster_sizes
    largest = sizes.max() / max(1, sizes.sum())
    if len(sizes) == 1 or largest < _MOST_ROWS:
        return
    common = float(_shares_of_commonest(found.tally.counts).mean())
    if common < _MOST_COMMON:
        return
    _LOGGER.warning(
        "One cluster holds %.0f %% of the rows: the columns hardly vary (%.0f %% of the cells hold "
        "the commonest value of their column), and rows with nothing else look alike. Leave out "
        "rows or columns that are nearly empty, or join columns that mean the same.",
        100 * largest,
        100 * common,
    )


def _shares_of_commonest(counts: Counts) -> NDArray[np.float64]:
    """Return by feature which share of the cells holds its commonest code."""
    offsets = counts.layout.offsets
    dense = np.flatnonzero(np.diff(offsets))
    by_code, starts = counts.dense.sum(axis=0), offsets[dense]
    shares = np.zeros(counts.layout.n_features)
    if len(dense):
        all_ = np.maximum(np.add.reduceat(by_code, starts), 1)
        shares[dense] = np.maximum.reduceat(by_code, starts) / all_
    for j in counts.sparse:
        codes = counts.codes(j)
        shares[j] = codes.max() / max(1, codes.sum())
    return shares
