"""The native core, typed: the only module that imports `softmodes._core`.

Results never depend on the number of threads or on the instruction set. The environment variable
`SOFTMODES_ISA` forces an instruction set; without it the best one that the CPU has is used.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import softmodes._core as _core  # type: ignore[import-not-found]
from softmodes._core import draw_dense, draw_wide, expected_cost_dense, expected_cost_wide

if TYPE_CHECKING:
    from softmodes._rows.block import Block

__all__ = [
    "candidate_totals",
    "distances",
    "draw_dense",
    "draw_wide",
    "expected_cost_dense",
    "expected_cost_wide",
    "instruction_set",
    "instruction_sets",
    "nearer",
    "presence",
    "roofs",
    "tally",
    "update",
    "wide_counts",
]

Distance = TypeVar("Distance", np.uint16, np.uint32)


def presence(matrix: NDArray[np.uint8], n_threads: int = 1) -> NDArray[np.bool_]:
    """Return which of the 256 byte values occur in each column."""
    seen = np.zeros((matrix.shape[1], 256), np.bool_)
    if len(matrix):
        _core.presence(matrix, n_threads, seen)
    return seen


def tally(
    block: Block,
    centers: NDArray[np.int32],
    *,
    feature_weight: NDArray[np.uint32] | None,
    tie_key: int | None,
    n_threads: int,
    counts: NDArray[np.int64] | None,
    sizes: NDArray[np.int64] | None,
    labels: NDArray[np.int32] | None,
    distances: NDArray[np.uint32] | None = None,
) -> tuple[int, int]:
    """Assign the rows of a block to their nearest centers; return cost and fingerprint.

    `counts` (k, n_cells) and `sizes` (k) are added to, `labels` (n) and `distances` (n), those to
    the nearest centers, are overwritten; each may be None. A center code that no cell can hold
    matches nothing. Without a `tie_key` ties go to the lowest cluster.
    """
    found: tuple[int, int] = _core.tally(
        block.layout.native,
        block.packed,
        block.first_row,
        block.weight,
        centers,
        feature_weight,
        tie_key,
        n_threads,
        counts,
        sizes,
        labels,
        distances,
    )
    return found


def update(
    block: Block,
    centers: NDArray[np.int32],
    changed: NDArray[np.int32],
    *,
    feature_weight: NDArray[np.uint32] | None,
    tie_key: int | None,
    n_threads: int,
    counts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    labels: NDArray[np.int32],
    distances: NDArray[np.uint32],
) -> tuple[int, int]:
    """Bring all that `tally` found up to date after the centers `changed`, ascending, have changed.

    Returns by how much cost and fingerprint have grown. The arrays are spoilt if it is interrupted.
    """
    grown: tuple[int, int] = _core.update(
        block.layout.native,
        block.packed,
        block.first_row,
        block.weight,
        centers,
        feature_weight,
        changed,
        tie_key,
        n_threads,
        counts,
        sizes,
        labels,
        distances,
    )
    return grown


def distances(
    block: Block,
    centers: NDArray[np.int32],
    feature_weight: NDArray[np.uint32] | None,
    n_threads: int,
    out: NDArray[np.uint32],
) -> None:
    """Write the distance of every row to every center into `out` (n, k)."""
    _core.distances(block.layout.native, block.packed, centers, feature_weight, n_threads, out)


def candidate_totals(
    block: Block,
    candidates: NDArray[np.int32],
    feature_weight: NDArray[np.uint32] | None,
    current: NDArray[Distance],
    distances: NDArray[Distance],
    n_threads: int,
) -> NDArray[np.int64]:
    """Return, by candidate, the sum of weight * min(current, distance).

    The distances themselves go into `distances` (m, n); its type must hold the largest.
    """
    totals: NDArray[np.int64] = _core.candidate_totals(
        block.layout.native,
        block.packed,
        block.weight,
        candidates,
        feature_weight,
        current,
        distances,
        n_threads,
    )
    return totals.reshape(-1, len(candidates)).sum(axis=0)  # type: ignore[no-any-return]


def nearer(
    block: Block,
    centers: NDArray[np.int32],
    feature_weight: NDArray[np.uint32] | None,
    current: NDArray[Distance],
    n_threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Distance]]:
    """Return the rows that are nearer to a center than `current`, as `start`, `rows`, `distances`.

    Those of center c are `rows[start[c] : start[c + 1]]`, ascending.
    """
    found: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Distance]] = _core.nearer(
        block.layout.native, block.packed, centers, feature_weight, current, n_threads
    )
    return found


def wide_counts(
    block: Block, feature: int, labels: NDArray[np.int32], k: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return the counts of one feature by cluster as CSR: `indptr`, `codes`, `counts`.

    Codes ascend inside a cluster; rows count by their weight.
    """
    found: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]] = _core.wide_counts(
        block.layout.native, block.packed, block.weight, feature, labels, k
    )
    return found


def make_layout(**parts: NDArray[Any]) -> Any:
    """Return a layout as the native core holds it."""
    return _core.Layout(**parts)


def pack_columns(
    layout: Any, columns: list[NDArray[Any]], packed: NDArray[np.uint8], n_threads: int
) -> NDArray[np.uint32]:
    """Pack code columns into `packed`, all zero; return the largest code of each column."""
    largest: NDArray[np.uint32] = _core.pack_columns(layout, columns, packed, n_threads)
    return largest


def pack_matrix(
    layout: Any,
    matrix: NDArray[np.uint8],
    remap: NDArray[np.uint8],
    packed: NDArray[np.uint8],
    n_threads: int,
) -> None:
    """Pack `remap[column, matrix[row, column]]` into `packed`, all zero."""
    _core.pack_matrix(layout, matrix, remap, packed, n_threads)


def unpack(layout: Any, packed: NDArray[np.uint8], rows: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the codes of some rows."""
    out = np.empty((len(rows), layout.n_features), np.int32)
    _core.unpack(layout, packed, rows, out)
    return out


def string_dictionary() -> Any:
    """Return an empty dictionary of strings, to be filled run by run of cells."""
    return _core.StringDictionary()


def look_up(codes: NDArray[np.int32], table: NDArray[Any], out: NDArray[Any]) -> None:
    """Write `table[codes]` into `out`; codes outside get the last entry."""
    _core.look_up(codes, table, out)


def roofs(n_threads: int) -> dict[str, float]:
    """Measure what bounds the kernels on this machine, in bytes per second of all threads.

    `lookup` and `popcount` are the inner loops of an assignment on rows in the first-level cache
    (a byte is one row and column: a nibble, or eight binary features), `planes` is the same by bit
    planes (a byte is eight rows and one plane), for `planes_from` centers or more; `read` is the
    memory. `bits_by_popcount` tells what compares binary features with fewer centers.
    """
    measured: dict[str, float] = _core.roofs(n_threads)
    return measured


def instruction_sets() -> tuple[str, ...]:
    """Return the instruction sets that this CPU has, best last."""
    return tuple(_core.instruction_sets())


def instruction_set() -> str:
    """Return the instruction set in use."""
    name: str = _core.instruction_set()
    return name


def use_instruction_set(name: str) -> None:
    """Use an instruction set other than the best, in the whole process."""
    if not _core.use_isa(name):
        choices = ", ".join(instruction_sets())
        raise ValueError(
            f"SOFTMODES_ISA={name!r} is not an instruction set of this CPU. "
            f"Pass one of {choices}, or unset it for the best."
        )


if os.environ.get("SOFTMODES_ISA"):
    use_instruction_set(os.environ["SOFTMODES_ISA"])
