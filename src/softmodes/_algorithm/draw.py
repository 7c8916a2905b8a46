"""Counts of clusters -> the next centers, drawn by a rounding family."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._algorithm.randomness import Use, address, fold_array, unit_interval
from softmodes._rows.centers import CodeCenters
from softmodes._rows.counts import Counts
from softmodes._rows.weights import in_weights
from softmodes.rounding import Rounding, plurality, soft, uniform

_CELLS_AT_ONCE = 1 << 22  # of a feature, shown to a user's function together


@dataclass(frozen=True, eq=False)
class Draw:
    """How centers are drawn in one fit."""

    rounding: Rounding
    seed: int
    unit: float = 1.0  # weight of one unit of the counts; only a user's function sees it
    n_threads: int = 1

    def __call__(self, counts: Counts, centers: CodeCenters, run: int, round_: int) -> CodeCenters:
        """Return the next centers; where nothing was observed, a center keeps its value.

        Plurality settles its ties once per run: their address does not hold the round.
        """
        codes = centers.codes.copy()
        if isinstance(self.rounding, soft):
            parts = () if math.isinf(self.rounding.t) else (round_,)
            key = address(self.seed, run, Use.DRAW, *parts)
            self._draw_soft(self.rounding.t, counts, codes, key)
        else:
            self._draw_custom(counts, codes, address(self.seed, run, Use.DRAW, round_))
        return CodeCenters(codes)

    def _draw_soft(self, t: float, counts: Counts, codes: NDArray[np.int32], key: int) -> None:
        _kernels.draw_dense(counts.native_dense(), float(t), key, codes, self.n_threads)
        if counts.sparse:
            native = counts.wide_values.native
            _kernels.draw_wide(native, float(t), key, codes, self.n_threads)

    def _draw_custom(self, counts: Counts, codes: NDArray[np.int32], key: int) -> None:
        cluster_keys = fold_array(key, np.arange(len(codes)))
        for j, n_values in enumerate(counts.n_values):
            at_once = max(1, _CELLS_AT_ONCE // int(n_values))
            for first in range(0, len(codes), at_once):
                part = slice(first, first + at_once)
                shown = counts.feature(j, part)
                uniforms = unit_interval(fold_array(cluster_keys[part], np.asarray(j)))
                drawn = draw_by_inversion(self._probabilities(shown, j), uniforms)
                codes[part, j] = np.where(shown.any(axis=1), drawn, codes[part, j])

    def _probabilities(self, counts: NDArray[np.int64], feature: int) -> NDArray[np.float64]:
        shown = in_weights(counts, self.unit)
        probabilities = np.zeros(counts.shape)
        filled = counts.any(axis=1)
        if filled.any():
            where = f"for feature {feature}"
            probabilities[filled] = _checked_probabilities(self.rounding, shown[filled], where)
        return probabilities


def draw_by_inversion(
    probabilities: NDArray[np.float64], uniforms: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Draw one value per row of `probabilities`, by inversion."""
    cumulated = np.cumsum(probabilities, axis=1)
    thresholds = uniforms * cumulated[:, -1]
    below = cumulated <= thresholds[:, None]
    drawn: NDArray[np.int32] = below.sum(axis=1, dtype=np.int32)
    return np.minimum(drawn, np.int32(probabilities.shape[1] - 1))


def resolve_rounding(rounding: str | Rounding, t: Any = None) -> Rounding:
    """Return the rounding that `rounding` and `t` ask for; try a user's function."""
    if isinstance(rounding, str) and rounding == "soft":
        return soft(t)
    if t is not None:
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
