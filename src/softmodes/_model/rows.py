"""The rows back, with the group of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from softmodes._model.clustering import Clustering
from softmodes._prepare.frames import open_table
from softmodes._rows.stores import RowStore
from softmodes._table.frames import frame_of


def group_columns(found: Clustering, store: RowStore) -> dict[str, Any]:
    """Return group, name, margin and second-best group of every row."""
    labels = np.asarray(found.predict(store))
    columns: dict[str, Any] = {
        "group": labels,
        "name": np.array(found.names, dtype=object)[labels],
        "margin": found.margin(store),
    }
    return columns if len(found.centers) == 1 else columns | {"second": found.second(store)}


def with_columns(X: Any, columns: dict[str, Any], backend: str | None) -> Any:
    """Return a table with further columns; of a sparse one these alone."""
    if sp.issparse(X):
        return frame_of(columns, backend)
    table = open_table(X)
    double = [name for name in columns if name in table.names]
    if double:
        raise ValueError(
            f"X has columns {double} of its own. Pass a prefix for the new ones, such as "
            "prefix='softmodes_'."
        )
    return table.joined(columns)
