"""A map of the groups, and of values among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softmodes._model.mapping import places_of_clusters
from softmodes._report.shares import Floats, Shares
from softmodes._rows.counts import Counts

_TINY = 1e-9


@dataclass(frozen=True, eq=False)
class Map:
    """Where groups and values lie, and what part of the differences the two directions show.

    A value lies in the middle of the rows that have it, each of them taken at the place of its
    group.
    """

    groups: Floats  # (n_groups, 2)
    values: Floats  # (n_values, 2)
    shown: tuple[float, float]  # shares of the differences between groups
    strength: Floats  # of each value: its rows, and how far from the middle they are


def map_of(counts: Counts, shares: Shares) -> Map | None:
    """Return the map of groups by their values; None if they do not differ."""
    total = differences(counts)
    if total < _TINY:
        return None
    groups = places_of_clusters(counts)
    mass = _cells(counts)
    parts = (mass[:, None] * groups**2).sum(axis=0) / mass.sum() / total
    rows = shares.counts.sum(axis=0)
    values = shares.counts.T @ groups / np.where(rows > 0, rows, 1.0)[:, None]
    strength = rows * (values**2).sum(axis=1)
    return Map(groups, values, (float(parts[0]), float(parts[1])), strength)


def differences(counts: Counts) -> float:
    """Return how much groups differ in their values, in all directions: chi squared by cells."""
    mass, total = _cells(counts), 0.0
    for j in range(counts.layout.n_features):
        cluster, code, count = counts.nonzero(j)
        expected = mass[cluster] * np.bincount(code, count, minlength=1)[code]
        total += float((count.astype(np.float64) ** 2 / expected).sum())
    return total - 1.0 if mass.any() else 0.0


def _cells(counts: Counts) -> Floats:
    """Return how many cells of each group hold a value."""
    cells = np.zeros(counts.n_clusters)
    for j in range(counts.layout.n_features):
        cluster, _, count = counts.nonzero(j)
        cells += np.bincount(cluster, count, minlength=counts.n_clusters)
    return cells


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
