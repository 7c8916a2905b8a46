"""Tables small enough for a suite that runs on every commit."""

from __future__ import annotations

import numpy as np

from softmodes._rows.block import layout_of, pack
from softmodes._rows.stores import MemoryStore
from softmodes._table.codebook import learn
from softmodes.datasets import make_bbm, make_ccm

SIZES = (2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 11, 13, 17, 18)


def noise(n: int, sizes: list[int], seed: int = 0) -> np.ndarray:
    """Return codes without structure."""
    return np.random.default_rng(seed).integers(0, sizes, (n, len(sizes)), dtype=np.uint8)


TABLES = {
    "binary, many centers": lambda: make_ccm(20_000, 200, 500, eps=0.2, random_state=0)[0],
    "binary, long rows": lambda: make_bbm(2_000, 10_000, [[0.3, 0.1], [0.1, 0.3]], random_state=0)[
        0
    ],
    "mixed": lambda: noise(50_000, list(SIZES) * 5),
    "three values": lambda: noise(50_000, [3] * 42),
    "bytes": lambda: noise(20_000, [200] * 20),
}
CLUSTERS = dict(zip(TABLES, (500, 2, 20, 3, 20), strict=True))


def two_sets_of_centers(store: MemoryStore, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows as centers, twice, no center in common.

    A store remembers its last pass, and answers the same centers without looking at a row. Passes
    that are timed take turns between the two.
    """
    first, last = np.arange(k), np.arange(store.n_rows - k, store.n_rows)
    return store.rows(first), store.rows(last)


def open_store(table: np.ndarray) -> MemoryStore:
    """Encode and pack, for one thread."""
    codebook, codes = learn(table)
    return MemoryStore([pack(codes, layout_of(codes))], codebook.n_values)
