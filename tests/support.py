from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.block import layout_of, pack
from softmodes._rows.stores import MemoryStore
from softmodes._table.codebook import learn


def table(n: int, sizes: tuple[int, ...], seed: int = 0, groups: int = 3) -> NDArray[np.int64]:
    """Rows around a few prototypes: every column holds 0..size-1, some cells are changed."""
    rng = np.random.default_rng(seed)
    prototypes = np.stack([rng.integers(0, s, groups) for s in sizes], axis=1)
    rows = prototypes[rng.integers(0, groups, n)]
    noise = np.stack([rng.integers(0, s, n) for s in sizes], axis=1)
    return np.where(rng.random(rows.shape) < 0.3, noise, rows)


def open_store(
    X: Any, cuts: tuple[int, ...] = (), weight: NDArray[np.int64] | None = None, n_threads: int = 1
) -> MemoryStore:
    """Rows in memory, cut into blocks at the given rows."""
    codebook, codes = learn(X)
    whole = pack(codes, layout_of(codes.ranges), weight=weight)
    blocks = []
    edges = [0, *cuts, codes.n_rows]
    for index, (a, b) in enumerate(pairwise(edges)):
        blocks.append(
            type(whole)(
                layout=whole.layout,
                packed=whole.packed[a:b].copy(),
                first_row=a,
                index=index,
                weight=None if weight is None else weight[a:b].copy(),
            )
        )
    return MemoryStore(blocks, codebook.n_values, n_threads)
