"""What is measured of partitions: agreement with classes, and with each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes.metrics import ari, matching_accuracy, nmi


def against_classes(classes: NDArray[np.intp], labels: NDArray[np.intp]) -> dict[str, Any]:
    """Return how well a partition agrees with classes, and its clusters in use."""
    return {
        "ari": round(ari(classes, labels), 6),
        "nmi": round(nmi(classes, labels), 6),
        "accuracy": round(matching_accuracy(classes, labels), 6),
        "clusters": len(np.unique(labels)),
    }


def of_nothing(table: dict[str, Any]) -> dict[str, Any]:
    """Return what a fit that failed counts for: that of all rows in one cluster."""
    return {"ari": 0.0, "nmi": 0.0, "accuracy": table["largest_class"], "clusters": 0}


def agreements(
    fits: Sequence[tuple[NDArray[np.intp], NDArray[np.intp] | None]], n_rows: int
) -> list[float]:
    """Return the ARI of each pair of partitions of parts of the rows, on the rows they share.

    A fit is the rows it was made on and their labels, None if it failed: it agrees with none.
    """
    return [round(_agreement(a, b, n_rows), 6) for a, b in combinations(fits, 2)]


def _agreement(
    a: tuple[NDArray[np.intp], NDArray[np.intp] | None],
    b: tuple[NDArray[np.intp], NDArray[np.intp] | None],
    n_rows: int,
) -> float:
    (rows_a, labels_a), (rows_b, labels_b) = a, b
    if labels_a is None or labels_b is None:
        return 0.0
    spread = np.zeros((2, n_rows), dtype=np.intp)
    inside = np.zeros((2, n_rows), dtype=bool)
    for i, (rows, labels) in enumerate(((rows_a, labels_a), (rows_b, labels_b))):
        spread[i, rows], inside[i, rows] = labels, True
    both = inside.all(axis=0)
    return ari(spread[0, both], spread[1, both]) if both.any() else 0.0
