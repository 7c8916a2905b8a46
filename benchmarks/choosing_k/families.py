"""Families of random tables: with planted groups, and with structure that is no groups.

The rule was calibrated on the families of `CALIBRATE` with seeds below 1000. The families of
`REPORT` differ from these in how they are made, and are for reports only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes._table.codebook import Missing
from softmodes.datasets import make_bbm

Kind: TypeAlias = Literal[
    "groups",
    "permuted",
    "one factor",
    "few factors",
    "blocks only",
    "repeated columns",
    "skip pattern",
]
Cells: TypeAlias = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Planted:
    """A table, and the groups that were planted in it, if any; -1 marks rows of noise."""

    family: str
    seed: int
    kind: Kind
    X: Cells
    y: NDArray[np.int64]
    k: int
    missing: Missing = "category"

    @property
    def name(self) -> str:
        """Family and seed."""
        return f"{self.family} {self.seed}"

    @property
    def noise(self) -> float:
        """Share of the rows that belong to no group."""
        return float((self.y < 0).mean()) if self.kind == "groups" else 0.0

    @property
    def range_end(self) -> int:
        """The largest k that is tried."""
        return 12 if self.k <= 10 else 28


Rng: TypeAlias = np.random.Generator
Groups: TypeAlias = Callable[[Rng], tuple[Cells, NDArray[np.int64]]]


# ------------------------------------------------------------------------------ shapes of tables


def _k(rng: Rng) -> int:
    """Return a number of groups: mostly few, up to 25."""
    return int(rng.choice([2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25], p=_K_SHARES))


_K_SHARES = [0.14, 0.14, 0.13, 0.12, 0.11, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03]


def _labels(rng: Rng, k: int, least: int = 40, most: int = 200) -> NDArray[np.int64]:
    """Return a group for each row: equal sizes, or sizes of up to 1 to 5."""
    n = int(np.clip(k * rng.integers(least, most), 400, 4000))
    shares = np.ones(k) if rng.random() < 0.5 else rng.uniform(0.25, 1.25, k)
    sizes = np.floor(n * shares / shares.sum()).astype(int)
    y = np.repeat(np.arange(k), sizes)
    return rng.permutation(y)


def _with_noise(rng: Rng, X: Cells, y: NDArray[np.int64], share: float) -> None:
    """Turn a share of the rows into noise, in place."""
    rows = rng.permutation(len(y))[: round(share * len(y))]
    for j in range(X.shape[1]):
        X[rows, j] = rng.integers(0, X[:, j].max() + 1, len(rows))
    y[rows] = -1


def _drawn(rng: Rng, shares: NDArray[np.float64]) -> Cells:
    """Draw a value for each row and column from its shares (rows, columns, values)."""
    below = rng.random(shares.shape[:2])[:, :, None] > np.cumsum(shares, axis=2)
    return np.minimum(below.sum(axis=2), shares.shape[2] - 1).astype(np.int8)


# ------------------------------------------------------------------------- groups, to calibrate on


def codewords(rng: Rng) -> tuple[Cells, NDArray[np.int64]]:
    """Binary centers, bits flipped with probability .1 to .3."""
    k = _k(rng)
    y, d = _labels(rng, k), int(rng.integers(20, 100))
    centers = rng.integers(0, 2, (k, d))
    return (centers[y] ^ (rng.random((len(y), d)) < rng.uniform(0.1, 0.3))).astype(np.int8), y


def noisy_codewords(rng: Rng) -> tuple[Cells, NDArray[np.int64]]:
    """Codewords among 10 to 50 % rows of noise."""
    X, y = codewords(rng)
    _with_noise(rng, X, y, rng.uniform(0.1, 0.5))
    return X, y


def several_values(rng: Rng) -> tuple[Cells, NDArray[np.int64]]:
    """Shares of 3 to 6 values, drawn for each group and column."""
    k = _k(rng)
    y, d, s = _labels(rng, k), int(rng.integers(10, 40)), int(rng.integers(3, 7))
    shares = rng.dirichlet(np.full(s, rng.uniform(0.3, 1.0)), (k, d))
    return _drawn(rng, shares[y]), y


def survey(rng: Rng) -> tuple[Cells, NDArray[np.int64]]:
    """Draw groups in half of the columns; irrelevant and related columns besides."""
    k = min(_k(rng), 8)
    y = _labels(rng, k, 100, 400)
    d, s = int(rng.integers(10, 24)), 4
    shares = rng.dirichlet(np.full(s, 0.5), (k, d))
    return _join(
        rng, _drawn(rng, shares[y]), _irrelevant(rng, len(y), d // 2), _block(rng, len(y), 4, 0.5)
    ), y


def block_model(rng: Rng) -> tuple[Cells, NDArray[np.int64]]:
    """Draw from the Boolean Block Model: each group has its own columns, which hold more ones."""
    k = min(_k(rng), 12)
    p, q = rng.uniform(0.4, 0.7), rng.uniform(0.05, 0.2)
    P = np.where(np.eye(k, dtype=bool), p, q)
    sizes = np.bincount(_labels(rng, k), minlength=k)
    X, y = make_bbm(sizes, k * int(rng.integers(8, 16)), P, random_state=rng)
    return X.astype(np.int8), y


# ------------------------------------------------------------------------------ groups, to report


def noise_by_column(rng: Rng) -> tuple[Cells, NDArray[np.int64]]:
    """Codewords whose columns are flipped with probabilities of their own, up to 1/2."""
    k = _k(rng)
    y, d = _labels(rng, k), int(rng.integers(30, 120))
    flips = rng.random((len(y), d)) < rng.uniform(0.05, 0.5, d)
    return (rng.integers(0, 2, (k, d))[y] ^ flips).astype(np.int8), y


def noisy_by_column(rng: Rng) -> tuple[Cells, NDArray[np.int64]]:
    """Draw the same among 10 to 50 % rows of noise."""
    X, y = noise_by_column(rng)
    _with_noise(rng, X, y, rng.uniform(0.1, 0.5))
    return X, y


def hierarchy(rng: Rng) -> tuple[Cells, NDArray[np.int64]]:
    """Centers that were changed step by step down a tree."""
    k = _k(rng)
    y, d = _labels(rng, k), int(rng.integers(30, 120))
    centers = rng.integers(0, 2, (1, d))
    while len(centers) < k:
        parent = centers[rng.integers(len(centers))]
        centers = np.vstack([centers, parent ^ (rng.random(d) < 0.3)])
    flips = rng.random((len(y), d)) < rng.uniform(0.08, 0.2)
    return (centers[y] ^ flips).astype(np.int8), y


def mode_and_uniform(rng: Rng) -> tuple[Cells, NDArray[np.int64]]:
    """Draw modes for each group and column, of 2 to 8 values; others are equally likely."""
    k = _k(rng)
    y, d = _labels(rng, k), int(rng.integers(10, 40))
    n_values, keep = rng.integers(2, 9, d), rng.uniform(0.4, 0.7)
    modes = rng.integers(0, n_values, (k, d))[y]
    others = rng.integers(0, n_values, (len(y), d))
    return np.where(rng.random(others.shape) < keep, modes, others).astype(np.int8), y


def mostly_nuisance(rng: Rng) -> tuple[Cells, NDArray[np.int64]]:
    """Draw groups in 40 % of the columns; the others are irrelevant."""
    k = min(_k(rng), 8)
    y, d = _labels(rng, k, 100, 400), int(rng.integers(12, 30))
    shares = rng.dirichlet(np.full(3, 0.4), (k, d))
    return _join(rng, _drawn(rng, shares[y]), _irrelevant(rng, len(y), 3 * d // 2)), y


def popular_rows(rng: Rng) -> tuple[Cells, NDArray[np.int64]]:
    """Draw a block model in which some rows hold more ones everywhere."""
    k = min(_k(rng), 8)
    y, wide = _labels(rng, k, 80, 300), int(rng.integers(10, 20))
    odds = np.where(
        np.repeat(np.arange(k), wide) == y[:, None], rng.uniform(0, 1), rng.uniform(-3, -2)
    )
    odds = odds + rng.normal(0, 0.5, (len(y), 1))
    return (rng.random(odds.shape) < 1 / (1 + np.exp(-odds))).astype(np.int8), y


def trait_inside(rng: Rng) -> tuple[Cells, NDArray[np.int64]]:
    """Draw groups of different answers, and within each a trait that moves all answers."""
    k = min(_k(rng), 6)
    y, d = _labels(rng, k, 100, 400), int(rng.integers(20, 50))
    odds = rng.choice([-2.0, 2.0], (k, d))[y] + 0.7 * rng.standard_normal((len(y), 1))
    return (rng.random(odds.shape) < 1 / (1 + np.exp(-odds))).astype(np.int8), y


def with_missing(rng: Rng) -> tuple[Cells, NDArray[np.int64]]:
    """Draw several values; 10 to 30 % of the cells are missing (-1)."""
    X, y = several_values(rng)
    X[rng.random(X.shape) < rng.uniform(0.1, 0.3)] = -1
    return X, y


# ------------------------------------------------------------------------------------- no groups


def one_factor(rng: Rng, skewed: bool = False) -> Cells:
    """Rows on one normal scale: every column is the more likely 1, the higher the row."""
    n, d = int(rng.integers(400, 4000)), int(rng.integers(10, 60))
    trait = rng.standard_normal(n)
    if skewed:
        trait = np.exp(0.7 * trait) - 1.3
    odds = rng.uniform(0.8, 2.0, d) * trait[:, None] + rng.normal(0, 1, d)
    return (rng.random((n, d)) < 1 / (1 + np.exp(-odds))).astype(np.int8)


def few_factors(rng: Rng, n_factors: int = 2) -> Cells:
    """Draw the same on two independent scales: each column depends on one or more of them."""
    n, d = int(rng.integers(400, 4000)), int(rng.integers(15, 60))
    loads = rng.uniform(0.5, 2.0, (n_factors, d)) * (rng.random((n_factors, d)) < 0.6)
    odds = rng.standard_normal((n, n_factors)) @ loads + rng.normal(0, 1, d)
    return (rng.random((n, d)) < 1 / (1 + np.exp(-odds))).astype(np.int8)


def blocks_only(rng: Rng) -> Cells:
    """Blocks of 2 to 5 related columns, without groups."""
    n = int(rng.integers(400, 4000))
    blocks = [_block(rng, n, int(rng.integers(2, 6)), rng.uniform(0.3, 0.6)) for _ in range(8)]
    return _join(rng, *blocks)


def twins(rng: Rng) -> Cells:
    """Unrelated columns, of which one is there twice, and another one nearly so."""
    X = _irrelevant(rng, int(rng.integers(400, 4000)), int(rng.integers(10, 40)))
    return _join(rng, X, X[:, :1], _nearly(rng, X[:, 1:2], rng.uniform(0.02, 0.15)))


def triplets(rng: Rng) -> Cells:
    """Unrelated columns, of which one is there three times, twice of these with errors."""
    X = _irrelevant(rng, int(rng.integers(400, 4000)), int(rng.integers(10, 40)))
    return _join(rng, X, *(_nearly(rng, X[:, :1], rng.uniform(0.0, 0.1)) for _ in range(2)))


def dummies(rng: Rng) -> Cells:
    """Unrelated columns, and a question of 5 answers as a column of 0 and 1 for each answer."""
    n = int(rng.integers(400, 4000))
    answer = rng.choice(5, n, p=rng.dirichlet(np.full(5, 3.0)))
    X = _irrelevant(rng, n, int(rng.integers(10, 40)))
    return _join(rng, X, answer[:, None] == np.arange(5))


def skipped(rng: Rng) -> Cells:
    """Unrelated columns, a block of 8 of which was not asked of 20 to 40 % of the rows (-1)."""
    X = _irrelevant(rng, int(rng.integers(400, 4000)), int(rng.integers(15, 40))).astype(np.int8)
    X[np.ix_(rng.random(len(X)) < rng.uniform(0.2, 0.4), np.arange(8))] = -1
    return X


def skipped_twice(rng: Rng) -> Cells:
    """Draw the same with another block of 5 columns, not asked of other rows."""
    X = skipped(rng)
    X[np.ix_(rng.random(len(X)) < 0.3, np.arange(8, 13))] = -1
    return X


def _nearly(rng: Rng, column: Cells, changed: float) -> Cells:
    """Return a column with a share of its cells drawn again."""
    return np.where(rng.random(column.shape) < changed, rng.permutation(column), column)


def _block(rng: Rng, n: int, d: int, related: float) -> Cells:
    """Columns of 3 values that share a normal trait."""
    trait = np.sqrt(related) * rng.standard_normal((n, 1))
    return np.digitize(trait + np.sqrt(1 - related) * rng.standard_normal((n, d)), [-0.5, 0.5])


def _irrelevant(rng: Rng, n: int, d: int) -> Cells:
    return _drawn(rng, np.broadcast_to(rng.dirichlet(np.full(4, 2.0), d), (n, d, 4)))


def _join(rng: Rng, *parts: Cells) -> Cells:
    joined = np.hstack(parts).astype(np.int8)
    return joined[:, rng.permutation(joined.shape[1])]


def _permuted(rng: Rng, X: Cells) -> Cells:
    return np.stack([rng.permutation(column) for column in X.T], axis=1)


# -------------------------------------------------------------------------------------- both sets

CALIBRATE: dict[str, Groups] = {
    "codewords": codewords,
    "codewords + noise": noisy_codewords,
    "several values": several_values,
    "survey": survey,
    "block model": block_model,
}
REPORT: dict[str, Groups] = {
    "noise by column": noise_by_column,
    "noise by column + noise": noisy_by_column,
    "hierarchy": hierarchy,
    "mode + uniform": mode_and_uniform,
    "60 % nuisance": mostly_nuisance,
    "block model, popular rows": popular_rows,
    "trait inside groups": trait_inside,
    "several values, missing": with_missing,
}
NO_GROUPS: dict[str, tuple[Kind, Callable[[Rng], Cells]]] = {
    "one factor": ("one factor", one_factor),
    "few factors": ("few factors", few_factors),
    "blocks only": ("blocks only", blocks_only),
    "twins": ("repeated columns", twins),
    "skipped block": ("skip pattern", skipped),
}
NO_GROUPS_REPORT: dict[str, tuple[Kind, Callable[[Rng], Cells]]] = {
    "skewed factor": ("one factor", lambda rng: one_factor(rng, skewed=True)),
    "three factors": ("few factors", lambda rng: few_factors(rng, 3)),
    "triplets": ("repeated columns", triplets),
    "dummies": ("repeated columns", dummies),
    "two skipped blocks": ("skip pattern", skipped_twice),
}
# Families in which missing cells count for nothing; else they are a value of their own.
IGNORED = frozenset({"several values, missing"})


def planted_tables(seeds: range, report: bool) -> Iterator[tuple[str, Callable[[], Planted]]]:
    """Yield the name of every table, and how to make it: to calibrate on, or to report.

    A report has the families of both sets, on seeds of its own. Every fourth seed also gives the
    tables with groups with each column permuted.
    """
    groups = CALIBRATE | (REPORT if report else {})
    others = NO_GROUPS | (NO_GROUPS_REPORT if report else {})
    for seed in seeds:
        for family, make in groups.items():
            yield f"{family} {seed}", partial(_groups, family, make, seed)
            if seed % 4 == 0:
                yield f"{family}, permuted {seed}", partial(_shuffled, family, make, seed)
        for family, (kind, draw) in others.items():
            yield f"{family} {seed}", partial(_no_groups, family, kind, draw, seed)


def _rng(family: str, seed: int) -> Rng:
    return np.random.default_rng([seed, *family.encode()])


def _groups(family: str, make: Groups, seed: int) -> Planted:
    X, y = make(_rng(family, seed))
    missing: Missing = "ignore" if family in IGNORED else "category"
    return Planted(family, seed, "groups", _with_gaps(X), y, int(y.max()) + 1, missing)


def _shuffled(family: str, make: Groups, seed: int) -> Planted:
    rng = _rng(family, seed)
    X, y = make(rng)
    X = _with_gaps(_permuted(rng, X))
    return Planted(f"{family}, permuted", seed, "permuted", X, np.zeros(len(y), int), 1)


def _no_groups(family: str, kind: Kind, draw: Callable[[Rng], Cells], seed: int) -> Planted:
    X = draw(_rng(family, seed))
    return Planted(family, seed, kind, _with_gaps(X), np.zeros(len(X), int), 1)


def _with_gaps(X: Cells) -> Cells:
    """Return a table in which cells of -1 are missing."""
    return np.where(X < 0, np.nan, X) if (X < 0).any() else X
