"""The native core: the only module that imports `softmodes._core`.

Results never depend on the number of threads or on the instruction set. The environment variable
`SOFTMODES_ISA` forces an instruction set; without it the best one that the CPU has is used.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from softmodes import _core
from softmodes._core import Block as NativeBlock
from softmodes._core import (
    Centers,
    DenseCounts,
    Layout,
    PriceSource,
    StringDictionary,
    TallyOut,
    TallySum,
    ValueCells,
    WideCounts,
    WidePrices,
    changed_rows,
    counts_by_value,
    draw_dense,
    draw_tickets,
    draw_wide,
    exact_sum,
    expected_cost_dense,
    expected_costs_wide,
    fixed_bonuses,
    fixed_numbers,
    fixed_prices,
    fixed_prices_and_spans,
    instruction_set,
    latent_bases,
    look_up,
    make_local,
    merged_likelihoods,
    mode_counts_wide,
    modes_cost_dense,
    pack_columns,
    pack_matrix,
    pack_transposed,
    pass_bytes,
    portable_log2,
    renumber_clusters,
    score_bytes,
    search_tickets,
    sum_by_shares,
    sum_of_raised,
    sum_of_raised_dense,
    value_shares,
    wide_prices,
    wide_sums_before_rounding,
)

if TYPE_CHECKING:
    from softmodes._rows.block import Block

__all__ = [
    "Centers",
    "DenseCounts",
    "Layout",
    "NativeBlock",
    "PriceSource",
    "StringDictionary",
    "TallyOut",
    "TallySum",
    "ValueCells",
    "WideCounts",
    "WidePrices",
    "candidate_totals",
    "changed_rows",
    "counts_by_value",
    "distances",
    "draw_dense",
    "draw_tickets",
    "draw_wide",
    "exact_sum",
    "expected_cost_dense",
    "expected_costs_wide",
    "fixed_bonuses",
    "fixed_numbers",
    "fixed_prices",
    "fixed_prices_and_spans",
    "instruction_set",
    "instruction_sets",
    "latent_bases",
    "look_up",
    "make_local",
    "merged_likelihoods",
    "mode_counts_wide",
    "modes_cost_dense",
    "nearer",
    "pack_columns",
    "pack_matrix",
    "pack_transposed",
    "pass_bytes",
    "portable_log2",
    "presence",
    "renumber_clusters",
    "score_bytes",
    "score_rows",
    "search_tickets",
    "soft_tally",
    "sparse_counts",
    "sum_by_shares",
    "sum_of_least",
    "sum_of_raised",
    "sum_of_raised_dense",
    "tally",
    "unpack",
    "update",
    "use_instruction_set",
    "value_shares",
    "wide_prices",
    "wide_sums_before_rounding",
]

# Of the layout's sparse features, one after the other: where clusters begin, codes, counts.
SparseCounts: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]
Distance = TypeVar("Distance", np.uint16, np.uint32)


def presence(matrix: NDArray[np.uint8], n_threads: int = 1) -> NDArray[np.bool_]:
    """Return which of the 256 byte values occur in each column."""
    seen = np.zeros((matrix.shape[1], 256), np.bool_)
    if len(matrix):
        _core.presence(matrix, n_threads, seen)
    return seen


def tally(
    block: Block, centers: Centers, tie_key: int | None, out: TallyOut, n_threads: int
) -> TallySum:
    """Assign the rows of a block to their nearest centers; return cost and fingerprint.

    A center code that no cell can hold matches nothing. Ties are settled by a hash of `tie_key`, of
    the row's values and of the cluster's number; without a key they go to the lowest cluster.
    """
    return _core.tally(block.native, centers, tie_key, out, n_threads)


def update(
    block: Block,
    centers: Centers,
    changed: NDArray[np.int32],
    tie_key: int | None,
    kept: TallyOut,
    n_threads: int,
) -> TallySum:
    """Bring all that `tally` found up to date after the centers `changed`, ascending, have changed.

    Returns by how much cost and fingerprint have grown. What was kept, all four arrays, is spoilt
    if the update is interrupted.
    """
    return _core.update(block.native, centers, changed, tie_key, kept, n_threads)


def soft_tally(
    block: Block,
    centers: Centers,
    tie_key: int | None,
    counts: NDArray[np.int64],
    cluster_sizes: NDArray[np.int64],
    n_threads: int,
) -> tuple[int, int, SparseCounts]:
    """Share every row among clusters by scores, and count: both arrays are added to.

    Returns the sums over the rows of their least totals above the floor, and of the logarithms of
    their sums of powers; and the counts of the layout's sparse features.
    """
    found = _core.soft_tally(block.native, centers, tie_key, counts, cluster_sizes, n_threads)
    least, log = ((high << 64) + low for high, low in (found.least, found.log))
    return least, log, found.sparse


def sum_of_least(prices: NDArray[np.uint32], totals: NDArray[np.int64], n_threads: int = 1) -> int:
    """Return the least price of each value over the clusters, times how often it occurs."""
    high, low = _core.sum_of_least(prices, totals, n_threads)
    return (high << 64) + low


def score_rows(
    block: Block,
    centers: Centers,
    tie_key: int | None,
    n_threads: int,
    *,
    totals: NDArray[np.int64] | None = None,
    memberships: NDArray[np.uint32] | None = None,
    logs: NDArray[np.float64] | None = None,
) -> None:
    """Write what rows get by scores: totals and memberships (n, k), logarithms in bits (n,)."""
    _core.score_rows(block.native, centers, tie_key, totals, memberships, logs, n_threads)


def distances(block: Block, centers: Centers, n_threads: int, out: NDArray[np.uint32]) -> None:
    """Write the distance of every row to every center into `out` (n, k)."""
    _core.distances(block.native, centers, n_threads, out)


def candidate_totals(
    block: Block,
    candidates: Centers,
    current: NDArray[Distance],
    distances: NDArray[Distance],
    n_threads: int,
) -> NDArray[np.int64]:
    """Return, by candidate, the sum of weight * min(current, distance).

    The distances themselves go into `distances` (m, n); its type must hold the largest.
    """
    return _core.candidate_totals(block.native, candidates, current, distances, n_threads)


def nearer(
    block: Block, centers: Centers, current: NDArray[Distance], n_threads: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Distance]]:
    """Return the rows that are nearer to a center than `current`, as `start`, `rows`, `distances`.

    Those of center c are `rows[start[c] : start[c + 1]]`, ascending.
    """
    return _core.nearer(block.native, centers, current, n_threads)


def sparse_counts(block: Block, labels: NDArray[np.int32], k: int, n_threads: int) -> SparseCounts:
    """Return the counts of all sparse features by cluster.

    Codes ascend inside a cluster; rows count by their weight.
    """
    return _core.sparse_counts(block.native, labels, k, n_threads)


def unpack(block: Block, rows: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the codes of some rows, numbered within the block."""
    out = np.empty((len(rows), block.layout.n_features), np.int32)
    _core.unpack(block.native, rows, out)
    return out


def instruction_sets() -> tuple[str, ...]:
    """Return the instruction sets that this CPU has, best last."""
    return tuple(_core.instruction_sets())


def use_instruction_set(name: str) -> None:
    """Use an instruction set other than the best, in the whole process."""
    if not _core.use_instruction_set(name):
        choices = ", ".join(instruction_sets())
        raise ValueError(
            f"SOFTMODES_ISA={name!r} is not an instruction set of this CPU. "
            f"Pass one of {choices}, or unset it for the best."
        )


if os.environ.get("SOFTMODES_ISA"):
    use_instruction_set(os.environ["SOFTMODES_ISA"])
