"""Rounding families: counts of a cluster's values -> the probabilities to draw the center from.

`soft(t)`, `plurality` and `uniform` are those of the paper; any function of counts (m, sigma) that
returns probabilities of the same shape is another one.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

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
        number = isinstance(self.t, numbers.Real) and not isinstance(self.t, bool)
        if not number or not _as_float(self.t) >= 1:
            raise ValueError(f"t={self.t!r} is not a number >= 1. Pass t from 1 up, or math.inf.")

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


def _as_float(number: Any) -> float:
    """Return a number as a float; NaN if it is too large for one."""
    try:
        return float(number)
    except OverflowError:
        return math.nan


plurality = soft(math.inf)
uniform = soft(1.0)
