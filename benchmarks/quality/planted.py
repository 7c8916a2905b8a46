"""Tables drawn by rule, with the group of every row: to tune on.

Each name says what is hard about the table. Seeds are fixed: the same table every time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from softmodes._compare.tables import LabelledTable
from softmodes.datasets import make_bbm, make_ccm

NOTHING = np.array(None, dtype=object)
Drawn = tuple[Any, NDArray[Any]]


def load(name: str) -> LabelledTable:
    """Draw a planted table."""
    X, y = TABLES[name]()
    return LabelledTable(name, X, y, "planted", "drawn by rule", "BSD-3-Clause")


def groups(rng: np.random.Generator, n: int, shares: Sequence[float]) -> NDArray[np.int64]:
    """Return the group of every row: groups have exactly their shares, rows any order."""
    ends = np.rint(np.cumsum(shares) / np.sum(shares) * n).astype(np.int64)
    return rng.permutation(np.repeat(np.arange(len(shares)), np.diff(ends, prepend=0)))


def skewed(rng: np.random.Generator, n: int, n_values: int) -> NDArray[np.int64]:
    """Draw values of which few are frequent; which ones, differs from call to call."""
    share = rng.permutation(1 / np.arange(1.0, n_values + 1))
    return rng.choice(n_values, n, p=share / share.sum())


def prototypes(
    seed: int, n: int, sizes: Sequence[int], shares: Sequence[float], noise: float
) -> Drawn:
    """Draw a value for every group and column; a share `noise` of the cells has another law."""
    rng = np.random.default_rng(seed)
    y = groups(rng, n, shares)
    columns = []
    for size in sizes:
        told = rng.integers(0, size, len(shares))[y]
        columns.append(np.where(rng.random(n) < noise, skewed(rng, n, size), told))
    return np.stack(columns, axis=1), y


def survey(seed: int, n: int, k: int, told: int, untold: int) -> Drawn:
    """Draw answers from 1 to 5 around a group's own; columns that know nothing of groups follow."""
    rng = np.random.default_rng(seed)
    y = groups(rng, n, [1.0] * k)
    usual = rng.integers(1, 6, (k, told))
    answers = np.clip(usual[y] + np.rint(rng.normal(0, 1.0, (n, told))).astype(np.int64), 1, 5)
    others = [1 + skewed(rng, n, 5) for _ in range(untold)]
    return np.column_stack([answers, *others]), y


def skips(seed: int, n: int, k: int, filters: int, asked: int) -> Drawn:
    """Draw yes and no to `filters` questions, each with `asked` more that only a yes leads to."""
    rng = np.random.default_rng(seed)
    y = groups(rng, n, [1.0] * k)
    columns: dict[str, NDArray[Any]] = {}
    for i in range(filters):
        yes = rng.random(n) < rng.choice([0.15, 0.85], k)[y]
        columns[f"q{i}"] = np.where(yes, "yes", "no").astype(object)
        for j in range(asked):
            usual = rng.integers(0, 4, k)[y]
            answer = np.where(rng.random(n) < 0.4, rng.integers(0, 4, n), usual)
            columns[f"q{i}.{j}"] = np.where(yes, answer.astype(str).astype(object), NOTHING)
    return pd.DataFrame(columns, dtype=object), y


def baskets(seed: int, n: int, k: int, items: int, favourites: int) -> Drawn:
    """Draw baskets of few items: every group buys some more often than others do."""
    rng = np.random.default_rng(seed)
    y = groups(rng, n, [1 / i for i in range(1, k + 1)])
    chance = np.tile(0.005 + 0.1 * rng.beta(0.5, 2.0, items), (k, 1))
    for own in chance:
        own[rng.choice(items, favourites, replace=False)] += 0.2
    return rng.random((n, items)) < chance[y], y


def echoes(seed: int, n: int, k: int, traits: int, copies: int) -> Drawn:
    """Draw traits that hang on the group, and ask for each several times: cells depend."""
    X, y = prototypes(seed, n, [4] * traits, [1.0] * k, 0.4)
    rng = np.random.default_rng([seed, 1])
    heard = np.repeat(X, copies, axis=1)
    return np.where(rng.random(heard.shape) < 0.15, rng.integers(0, 4, heard.shape), heard), y


def _codewords(seed: int, n: int, d: int, k: int, eps: float, noise: float = 0.0) -> Drawn:
    return make_ccm(n, d, k, eps, noise, random_state=seed)


def _blocks(seed: int) -> Drawn:
    P = [[0.4, 0.1, 0.1, 0.2], [0.1, 0.4, 0.1, 0.2], [0.1, 0.1, 0.4, 0.2], [0.2, 0.2, 0.2, 0.4]]
    return make_bbm([800, 500, 400, 300], [30, 30, 30, 60], P, random_state=seed)


TABLES: dict[str, Callable[[], Drawn]] = {
    "codewords-10": lambda: _codewords(1, 1000, 40, 10, 0.1),
    "codewords-20": lambda: _codewords(2, 2000, 60, 20, 0.2),
    "codewords-30": lambda: _codewords(3, 2000, 120, 25, 0.3),
    "codewords-35": lambda: _codewords(4, 2000, 150, 6, 0.35),
    "codewords-noise": lambda: _codewords(5, 2000, 60, 10, 0.2, 0.3),
    "blocks": lambda: _blocks(6),
    "values": lambda: prototypes(7, 1500, [3, 4, 5, 6, 8] * 4, [1.0] * 6, 0.5),
    "values-noise": lambda: prototypes(8, 3000, [2, 3, 5, 12] * 10, [1.0] * 12, 0.75),
    "values-many": lambda: prototypes(9, 2500, [30] * 15, [1.0] * 10, 0.6),
    "sizes": lambda: prototypes(10, 2000, [4] * 25, [0.6**i for i in range(8)], 0.6),
    "survey": lambda: survey(11, 1200, 4, 12, 28),
    "skips": lambda: skips(12, 1500, 5, 6, 4),
    "baskets": lambda: baskets(13, 3000, 6, 200, 12),
    "echoes": lambda: echoes(14, 1500, 5, 8, 4),
}
