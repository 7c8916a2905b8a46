"""Algorithm 1 on tables of bits that are packed as they are drawn.

A cell of such a table is one bit from its first moment on. The estimator keeps names and values of
every column in Python, which for millions of columns takes longer than the run: here its loop runs
on the packed rows, and finds the partition that the estimator would from the same seeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.loop import best_run
from softmodes._algorithm.plan import Plan, Run
from softmodes._parameters import thread_count
from softmodes._rows.block import Block, pack_bits
from softmodes._rows.stores import MemoryStore
from softmodes.datasets._generators import BlockModel
from softmodes.rounding import soft


def packed_blocks(n: int, d: int, p: float, q: float, seed: int) -> tuple[Block, NDArray[np.int64]]:
    """Draw two equal blocks, of rows and of features, and pack them row by row.

    The bits are those of `make_bbm` with this seed. Memory is n * d / 8 bytes for the rows, and
    some 10 * d for drawing one.
    """
    model = BlockModel(n, d, [[p, q], [q, p]], random_state=seed)
    return pack_bits((bits for _, bits in model.parts()), *model.shape), model.y


@dataclass(frozen=True, eq=False)
class PackedRun:
    """A run on packed rows, the labels of its last round, and the rows that were its seeds."""

    run: Run
    labels: NDArray[Any]
    seeds: NDArray[np.int64]


def algorithm_1(
    block: Block, k: int, *, t: float, max_iter: int, seed: int, n_jobs: int | None = None
) -> PackedRun:
    """Run Algorithm 1 on packed bits, from k distinct rows drawn at random."""
    n_values = np.full(block.layout.n_features, 2, np.int32)
    store = MemoryStore([block], n_values, thread_count(n_jobs))
    seeds = np.random.default_rng(seed).choice(store.n_rows, size=k, replace=False)
    plan = Plan(
        k=k,
        rounding=soft(t),
        init=store.rows(seeds),
        n_init=1,
        max_iter=max_iter,
        patience=max_iter,
        select="last",
        yardstick="expected_cost",
        seed=seed,
    )
    run = best_run(store, plan)
    return PackedRun(run, store.labels(run.centers, plan.comparison(run.index)), seeds)
