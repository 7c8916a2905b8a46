"""What marks a group, and what tells two of them apart, among what may be shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from softmodes._report.shares import Floats, Shares

_LEAST_APART = 0.01  # of shares that look different to a reader


@dataclass(frozen=True)
class Mark:
    """A value that a group has more or less of than all rows; `value` counts within the shares."""

    value: int
    share: float
    overall: float


def more_of(shares: Shares, group: int, n_marks: int, is_no: NDArray[np.bool_]) -> list[Mark]:
    """Return what a group has more of than all rows: most telling first, a "no" last."""
    chosen = _ranked(shares, group, shares.shares[group] - shares.overall)[:n_marks]
    return [_mark(shares, group, v) for v in sorted(chosen, key=lambda v: bool(is_no[v]))]


def less_of(shares: Shares, group: int, n_marks: int, is_no: NDArray[np.bool_]) -> list[Mark]:
    """Return what a group has less of than all rows, most telling first.

    A "no" that it has less of is a "yes" that it has more of: that is told already.
    """
    chosen = _ranked(shares, group, shares.overall - shares.shares[group])
    return [_mark(shares, group, v) for v in chosen if not is_no[v]][:n_marks]


def apart(shares: Shares, a: int, b: int, n_marks: int) -> list[int]:
    """Return the values in which two groups differ most, one of each column."""
    gap = np.abs(shares.shares[a] - shares.shares[b])
    gap[shares.hidden[a] | shares.hidden[b] | (gap < _LEAST_APART)] = 0.0
    first: dict[int, int] = {}
    for v in np.argsort(-gap.round(12), kind="stable"):
        if gap[v] > 0:
            first.setdefault(int(shares.column[v]), int(v))
    return list(first.values())[:n_marks]


def _ranked(shares: Shares, group: int, ahead: Floats) -> list[int]:
    shown = np.flatnonzero((ahead >= _LEAST_APART) & ~shares.hidden[group])
    share, overall = shares.shares[group, shown], shares.overall[shown]
    telling = rel_entr(share, overall) + rel_entr(1 - share, 1 - overall)
    return [int(v) for v in shown[np.argsort(-telling.round(12), kind="stable")]]


def _mark(shares: Shares, group: int, value: int) -> Mark:
    return Mark(value, float(shares.shares[group, value]), float(shares.overall[value]))
