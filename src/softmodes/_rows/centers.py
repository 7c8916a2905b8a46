"""What rows are compared with, and how: both are values that travel with a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels


@dataclass(frozen=True, eq=False)
class CodeCenters:
    """Centers that are rows of codes, compared with rows by mismatches.

    A code that no cell can hold matches nothing.
    """

    codes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.codes)

    def native(self, feature_weight: NDArray[np.uint32] | None) -> _kernels.Centers:
        """Return the centers as the native core compares them."""
        return _kernels.Centers(self.codes, feature_weight)

    def changed_since(self, before: Centers) -> NDArray[np.int32]:
        """Return the clusters whose centers are not those of `before`: all, if their number is."""
        if len(before) != len(self):
            return np.arange(len(self), dtype=np.int32)
        return np.flatnonzero((self.codes != before.codes).any(axis=1)).astype(np.int32)

    def reorder(self, order: NDArray[np.intp]) -> CodeCenters:
        """Return the same centers renumbered: new center i was `order[i]`."""
        return CodeCenters(self.codes[order])


# The seam for other kinds of centers: a second one joins this union, the rules that make it from
# counts, and the kernels that compare with it; loop, stores and tasks pass centers on unseen.
Centers: TypeAlias = CodeCenters


@dataclass(frozen=True, eq=False)
class Comparison:
    """How a row is compared with centers: feature weights, and the key by which ties are settled.

    A tie goes to the smallest hash of the key, the row's values and the cluster's number; without a
    `tie_key`, to the lowest cluster.
    """

    tie_key: int | None = None
    feature_weight: NDArray[np.uint32] | None = None

    def same_as(self, other: Comparison) -> bool:
        """Tell whether both compare alike; by content, since tasks may be copies."""
        return self.tie_key == other.tie_key and (
            self.feature_weight is other.feature_weight
            or (
                self.feature_weight is not None
                and other.feature_weight is not None
                and np.array_equal(self.feature_weight, other.feature_weight)
            )
        )


def largest_distance(n_features: int, feature_weight: NDArray[np.uint32] | None) -> int:
    """Return the distance of a row and a center that differ everywhere."""
    return n_features if feature_weight is None else int(feature_weight.sum())
