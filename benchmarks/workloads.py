"""The tables that speed is measured on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from softmodes.datasets import make_bbm, make_ccm

# How many features of a census-like table have 2, 3, 4, ... values: 68 features, 415 values.
CENSUS = {2: 9, 3: 12, 4: 8, 5: 10, 6: 5, 7: 5, 8: 4, 9: 3, 10: 4, 11: 1, 12: 1, 13: 2, 14: 1}
CENSUS |= {17: 2, 18: 1}


@dataclass(frozen=True)
class Workload:
    """One table and a number of clusters."""

    name: str
    describe: str
    k: int
    make: Callable[[float], NDArray[np.uint8]]


def codes(n: int, sizes: list[int], groups: int = 8, seed: int = 0) -> NDArray[np.uint8]:
    """Return rows around `groups` prototypes; half of the cells are changed to any value."""
    rng = np.random.default_rng(seed)
    sigma = np.array(sizes, np.uint8)
    prototypes = rng.integers(0, sigma, (groups, len(sizes)), dtype=np.uint8)
    table = prototypes[rng.integers(0, groups, n)]
    for start in range(0, n, 1 << 16):
        part = table[start : start + (1 << 16)]
        noise = rng.integers(0, sigma, part.shape, dtype=np.uint8)
        np.copyto(part, noise, where=rng.random(part.shape, np.float32) < 0.5)
    return table


def _ccm(n: int, d: int, k: int) -> NDArray[np.uint8]:
    X, _ = make_ccm(n, d, k, eps=0.2, random_state=0)
    return X.view(np.uint8)


def _bbm(n: int, d: int) -> NDArray[np.uint8]:
    X, _ = make_bbm([n // 2] * 2, [d // 2] * 2, [[0.3, 0.1], [0.1, 0.3]], random_state=0)
    return X.view(np.uint8)


def _census(n: int) -> NDArray[np.uint8]:
    return codes(n, [size for size, count in CENSUS.items() for _ in range(count)])


def overlapping_census(n: int, groups: int = 300, seed: int = 0) -> NDArray[np.uint8]:
    """Return a census-like table that is not settled at once.

    Few values of a column are frequent, groups differ in size, and 60 % of the cells have nothing
    to do with the row's group.
    """
    rng = np.random.default_rng(seed)
    sizes = [size for size, count in CENSUS.items() for _ in range(count)]
    group = _skewed(rng, groups, 1.0, n)
    columns = []
    for size in sizes:
        column = _skewed(rng, size, 1.2, groups)[group]
        noise = _skewed(rng, size, 1.2, n)
        columns.append(np.where(rng.random(n) < 0.6, noise, column).astype(np.uint8))
    return np.stack(columns, axis=1)


def _skewed(rng: np.random.Generator, size: int, power: float, n: int) -> NDArray[np.int64]:
    share = 1 / np.arange(1, size + 1) ** power
    return rng.choice(size, n, p=share / share.sum())


WORKLOADS = [
    Workload("W1", "CCM n 500k, d 1000, k 100", 100, lambda s: _ccm(int(500_000 * s), 1000, 100)),
    Workload("W2", "BBM n 10k, d 10k, k 2", 2, lambda s: _bbm(int(10_000 * s), 10_000)),
    Workload("W3", "n 1M, d 68, sigma 2..18, k 20", 20, lambda s: _census(int(1_000_000 * s))),
    Workload("W3b", "n 1M, d 42, sigma 3, k 3", 3, lambda s: codes(int(1_000_000 * s), [3] * 42)),
    Workload(
        "W4", "n 200k, d 200 binary, k 2000", 2000, lambda s: _ccm(int(200_000 * s), 200, 2000)
    ),
]


@dataclass(frozen=True, eq=False)
class Problem:
    """A table of codes with k of its rows as centers, in the forms that the methods take."""

    table: NDArray[np.uint8]
    k: int

    @cached_property
    def binary(self) -> bool:
        return bool(self.table.max() <= 1)

    @cached_property
    def seeds(self) -> NDArray[np.int64]:
        """Rows that are the first centers."""
        return np.random.default_rng(0).choice(len(self.table), self.k, replace=False)

    @cached_property
    def one_hot(self) -> NDArray[np.float32]:
        """One-hot rows; binary columns stay one column each."""
        return one_hot(self.table)

    @cached_property
    def bits(self) -> NDArray[np.uint8]:
        """Bits of binary rows, filled up with zeros to whole words of 64: what popcounts like."""
        packed = np.packbits(self.table, axis=1)
        return np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))

    def head(self, n_rows: int) -> Problem:
        """Return the first rows only."""
        return Problem(self.table[:n_rows], self.k)


def one_hot(table: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the table as k-means needs it; binary columns stay one column each."""
    if table.max() <= 1:
        return table.astype(np.float32)
    n_values = table.max(axis=0).astype(int) + 1
    hot = np.zeros((len(table), int(n_values.sum())), np.float32)
    rows = np.arange(len(table))
    for column, start in zip(table.T, np.cumsum(n_values) - n_values, strict=True):
        hot[rows, start + column] = 1.0
    return hot
