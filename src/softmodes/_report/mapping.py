"""A map of the groups: correspondence analysis of their values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softmodes._report.shares import Floats, Shares

_TINY = 1e-9


@dataclass(frozen=True, eq=False)
class Map:
    """Where groups and values lie, and what part of the differences the two directions show.

    A value lies in the direction of the groups that have more of it.
    """

    groups: Floats  # (n_groups, 2)
    values: Floats  # (n_values, 2)
    shown: tuple[float, float]  # shares of the differences between groups
    strength: Floats  # of each value: its part in the two directions


def map_of(shares: Shares, sizes: Floats) -> Map | None:
    """Return the map of groups by the shares of their values; None if they do not differ."""
    if len(sizes) < 2 or not len(shares.code):
        return None
    weight = sizes / sizes.sum()
    overall = shares.overall
    spread = np.sqrt(np.where(overall > 0, overall, 1.0))
    apart = np.sqrt(weight)[:, None] * (shares.shares - overall) / spread
    left, scale, right = np.linalg.svd(apart, full_matrices=False)
    total = float((scale**2).sum())
    if total < _TINY:
        return None
    scale, left, right = scale[:2], left[:, :2], right[:2].T
    if len(scale) < 2 or scale[1] < _TINY * scale[0]:
        scale = np.array([scale[0], 0.0])
        left = np.column_stack([left[:, 0], np.zeros(len(left))])
        right = np.column_stack([right[:, 0], np.zeros(len(right))])
    sign = np.where(left[np.abs(left).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)  # one of two mirrors
    groups = sign * left * scale / np.sqrt(np.where(weight > 0, weight, 1.0))[:, None]
    strength = ((right * scale) ** 2).sum(axis=1) / total
    values = sign * right * scale
    parts = scale**2 / total
    return Map(groups, values, (float(parts[0]), float(parts[1])), strength)


def words_of_map(
    found: Map, column: NDArray[np.intp], visible: NDArray[np.bool_], n_words: int
) -> list[int]:
    """Return some values to write on the map: the strongest towards each group, in turn.

    No column is named twice.
    """
    towards = (found.values @ found.groups.T).argmax(axis=1)
    strongest = np.argsort(-found.strength.round(12), kind="stable")
    by_group = [
        [int(v) for v in strongest if visible[v] and towards[v] == i]
        for i in range(len(found.groups))
    ]
    chosen: list[int] = []
    named: set[int] = set()
    while len(chosen) < n_words and any(by_group):
        for values in by_group:
            while values and int(column[values[0]]) in named:
                values.pop(0)
            if values and len(chosen) < n_words:
                chosen.append(values.pop(0))
                named.add(int(column[chosen[-1]]))
    return chosen
