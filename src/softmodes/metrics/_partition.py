"""A table cut into clusters by labels: what every statistic of a partition starts from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.clusters import Clusters, row_scale
from softmodes._rows.stores import RowStore, open_store
from softmodes._rows.weights import Units
from softmodes.metrics._labels import check_rows, label_codes

if TYPE_CHECKING:
    from softmodes._table.codebook import Missing


@dataclass(frozen=True, eq=False)
class Partition(Clusters):
    """Clusters with their rows, and the labels of these."""

    store: RowStore = field(kw_only=True)
    labels: NDArray[np.int32] = field(kw_only=True)

    @classmethod
    def of(
        cls,
        X: Any,
        labels: Any,
        missing: Missing = "category",
        sample_weight: Any = None,
        n_clusters: int | None = None,
    ) -> Partition:
        """Open a table, and count its rows by labels of any kind."""
        clusters = label_codes("labels", labels).astype(np.int32)
        opened = open_store(X, missing=missing, sample_weight=sample_weight)
        check_rows(len(clusters), opened.store.n_rows)
        k = int(clusters.max()) + 1
        if n_clusters is not None and n_clusters < k:
            raise ValueError(
                f"n_clusters={n_clusters} is less than the {k} labels in use. Pass at least {k}."
            )
        return cls.in_store(opened.store, opened.rows, clusters, n_clusters or k)

    @classmethod
    def in_store(cls, store: RowStore, rows: Units, labels: NDArray[np.int32], k: int) -> Partition:
        """Count the rows of a store by labels from 0 to k - 1."""
        counts, sizes = store.count(labels, k)
        return cls(counts, sizes, row_scale(store, rows.unit), store=store, labels=labels)
