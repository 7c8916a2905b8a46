"""Rounding families: counts of a cluster's values -> the probabilities to draw the center from.

`soft(t)`, `plurality` and `uniform` are those of the paper; any function of counts (m, sigma) that
returns probabilities of the same shape is another one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes._parameters import number

__all__ = ["Rounding", "plurality", "soft", "uniform"]

Rounding: TypeAlias = Callable[[NDArray[Any]], NDArray[np.float64]]


@dataclass(frozen=True)
class soft:  # noqa: N801  (reads as the function that it is)
    """The rounding family of SoftModes(t): probability proportional to share ** t.

    `soft(1)` is uniform rounding, `soft(inf)` plurality rounding. Called with counts of shape
    (m, sigma) it returns probabilities of the same shape; rows without counts give zeros.

    Examples
    --------
    >>> from softmodes.rounding import soft
    >>> soft(2.0)([[3, 1]])
    array([[0.9, 0.1]])
    """

    t: float

    def __post_init__(self) -> None:
        number("t", self.t, 1, remedy="Pass t from 1 up, math.inf, or 'auto' to SoftModes.")

    def __call__(self, counts: Any) -> NDArray[np.float64]:
        """Return the probabilities of the values, row by row."""
        counts = np.asarray(counts, np.float64)
        largest = counts.max(axis=1, keepdims=True, initial=0.0)
        relative = np.divide(counts, largest, out=np.zeros_like(counts), where=largest > 0)
        hard = math.isinf(self.t)
        weights = (relative == 1.0).astype(np.float64) if hard else relative**self.t
        total = weights.sum(axis=1, keepdims=True)
        probabilities: NDArray[np.float64] = np.divide(weights, total, out=weights, where=total > 0)
        return probabilities


plurality = soft(math.inf)
uniform = soft(1.0)
