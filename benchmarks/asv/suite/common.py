"""Tables small enough for a suite that runs on every commit."""

from __future__ import annotations

import numpy as np

from softmodes._rows.centers import CodeCenters
from softmodes._rows.stores import RowStore, open_store
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


def rows_and_centers(table: np.ndarray, k: int) -> tuple[RowStore, CodeCenters]:
    """Encode and pack, for one thread; the first rows are centers.

    Every pass compares all rows with all centers, or the second timed one would look at none.
    """
    store = open_store(table).store
    store.remember = False
    return store, CodeCenters(store.rows(np.arange(k)))
