"""Counts of a cluster -> the next center: soft(t), plurality, uniform, or a user's function."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._algorithm.randomness import Use, address, fold_array, unit_interval
from softmodes._rows.block import Layout
from softmodes._rows.tally import Tally, feature_counts

Rounding: TypeAlias = Callable[[NDArray[Any]], NDArray[np.float64]]

_CELLS_AT_ONCE = 1 << 22  # of a wide feature, shown to a user's function together


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


@dataclass(frozen=True, eq=False)
class Draw:
    """How centers are drawn in one fit: the rounding, the seed, the shape of the counts."""

    rounding: Rounding
    seed: int
    layout: Layout
    sizes: NDArray[np.int32]
    unit: float = 1.0  # weight of one unit of the counts; only a user's function sees it
    n_threads: int = 1

    def __call__(
        self, tally: Tally, centers: NDArray[np.int32], run: int, round_: int
    ) -> NDArray[np.int32]:
        """Return the next centers; where nothing was observed, a center keeps its value.

        Plurality settles its ties once per run: their address does not hold the round.
        """
        centers = centers.copy()
        if isinstance(self.rounding, soft):
            parts = () if math.isinf(self.rounding.t) else (round_,)
            key = address(self.seed, run, Use.DRAW, *parts)
            self._draw_soft(self.rounding.t, tally, centers, key)
        else:
            self._draw_custom(tally, centers, address(self.seed, run, Use.DRAW, round_))
        return centers

    def _draw_soft(self, t: float, tally: Tally, centers: NDArray[np.int32], key: int) -> None:
        _kernels.draw_dense(
            tally.cells, self.layout.offsets, self.sizes, float(t), key, centers, self.n_threads
        )
        for j in tally.wide:
            parts = tally.wide_parts(j)
            _kernels.draw_wide(*parts, j, int(self.sizes[j]), float(t), key, centers)

    def _draw_custom(self, tally: Tally, centers: NDArray[np.int32], key: int) -> None:
        cluster_keys = fold_array(key, np.arange(len(centers)))
        for j, size in enumerate(self.sizes):
            at_once = max(1, _CELLS_AT_ONCE // int(size))
            for first in range(0, len(centers), at_once):
                part = slice(first, first + at_once)
                counts = feature_counts(tally, self.layout, j, int(size), part)
                uniforms = unit_interval(fold_array(cluster_keys[part], np.asarray(j)))
                drawn = draw_from(self._probabilities(counts, j), uniforms)
                centers[part, j] = np.where(counts.any(axis=1), drawn, centers[part, j])

    def _probabilities(self, counts: NDArray[np.int64], feature: int) -> NDArray[np.float64]:
        shown = counts if self.unit == 1.0 else counts * self.unit
        probabilities = np.zeros(counts.shape)
        filled = counts.any(axis=1)
        if filled.any():
            where = f"for feature {feature}"
            probabilities[filled] = _checked_probabilities(self.rounding, shown[filled], where)
        return probabilities


def draw_from(
    probabilities: NDArray[np.float64], uniforms: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Draw one value per row of `probabilities`, by inversion."""
    cumulated = np.cumsum(probabilities, axis=1)
    thresholds = uniforms * cumulated[:, -1]
    below = cumulated <= thresholds[:, None]
    drawn: NDArray[np.int32] = below.sum(axis=1, dtype=np.int32)
    return np.minimum(drawn, np.int32(probabilities.shape[1] - 1))


def resolve(rounding: str | Rounding, t: float) -> Rounding:
    """Return the rounding that `rounding` and `t` ask for; try a user's function."""
    if isinstance(rounding, str) and rounding == "soft":
        return soft(t)
    if t != 3.0:
        raise ValueError(
            f"t={t!r} has a meaning for rounding='soft' only, and rounding={rounding!r} was given. "
            "Leave t out."
        )
    if isinstance(rounding, str):
        named = {"plurality": plurality, "uniform": uniform}
        if rounding not in named:
            raise ValueError(
                f"rounding={rounding!r} is not known. Pass 'soft', 'plurality', 'uniform' "
                "or a function of counts."
            )
        return named[rounding]
    if not callable(rounding):
        raise ValueError(
            f"rounding={rounding!r} is neither a name nor a function. Pass 'soft', 'plurality', "
            "'uniform' or a function that maps counts (m, sigma) to probabilities (m, sigma)."
        )
    if not isinstance(rounding, soft):
        _check_on_sample(rounding)
    return rounding


def _check_on_sample(rounding: Rounding) -> None:
    """Try a user's function on fixed samples of counts: it must keep their order."""
    generator = np.random.default_rng(0)
    for n_values in (1, 2, 3, 7):
        counts = generator.integers(0, 12, (50, n_values))
        counts[:, 0] += counts.sum(axis=1) == 0
        given = _checked_probabilities(rounding, counts, f"for counts of {n_values} values")
        as_frequent = counts[:, :, None] >= counts[:, None, :]
        less_likely = given[:, :, None] < given[:, None, :] - 1e-9
        disordered = (as_frequent & less_likely).any(axis=(1, 2))
        if disordered.any():
            worst = int(np.argmax(disordered))
            raise ValueError(
                f"rounding={rounding!r} does not keep order: for counts {counts[worst].tolist()} "
                f"it returned {given[worst].tolist()}. A value that is at least as frequent as "
                "another must not get a lower probability."
            )


def _checked_probabilities(
    rounding: Rounding, counts: NDArray[Any], where: str
) -> NDArray[np.float64]:
    """Return what a user's function makes of counts; refuse what is no table of probabilities."""
    answer = rounding(counts.copy())
    try:
        given = np.asarray(answer, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"rounding={rounding!r} returned {answer!r:.100} {where}, which are not numbers. "
            f"Return an array of probabilities of shape {counts.shape}, that of the counts it got."
        ) from error
    _check_probabilities(given, counts, where)
    return given


def _check_probabilities(given: NDArray[np.float64], counts: NDArray[Any], where: str) -> None:
    if given.shape != counts.shape:
        raise ValueError(
            f"rounding returned an array of shape {given.shape} {where}; expected {counts.shape}, "
            "the shape of the counts it got."
        )
    total = given.sum(axis=1)
    if not (np.isfinite(given).all() and (given >= 0).all() and np.allclose(total, 1.0)):
        row = int(np.argmax(~np.isclose(total, 1.0) | (given < 0).any(axis=1)))
        raise ValueError(
            f"rounding returned {given[row].tolist()} {where} and counts {counts[row].tolist()}. "
            "Every row must be non-negative and sum to 1."
        )
