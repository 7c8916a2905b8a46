"""How many restarts and rounds a table is worth: functions of its size alone, never of a clock."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.merging import few_pairs
from softmodes._algorithm.plan import MOST_SPARE

_STARTS = ((10**9, 10), (10**10, 5))  # restarts by the most comparisons of cells in a round
_FEWEST_STARTS = 3
_CROSSED = 10
# Of all restarts together, where it does not take many comparisons of cells.
_MOST_SHARES = 5 * 10**6
_FEW_SHARES = 48  # clusters among which sharing a row costs a third as much for each
_MOST_PRICES = 10**6
_MOST_SEEDS = 3000
_WIDE = 256  # values of a column from which on its cells cost as much as a quarter of a price each
# Of a latent finish.
_ROUNDS, _FEWEST_ROUNDS = 60, 10
_MOST_PRICES_OF_ROUNDS = 2 * 10**7
# Of all runs together, in comparisons of cells.
_ALLOWED, _SMALL = 10**9, 2 * 10**7
_WIDE_CELLS = 96  # comparisons that take as long as to look up one cell of a wide column


@dataclass(frozen=True)
class TableSize:
    """Rows, columns, values of all columns together, and columns of more than 256 values."""

    n: int
    d: int
    n_values: int
    n_wide: int = 0

    @classmethod
    def of(cls, n_rows: int, n_values: NDArray[np.int32]) -> TableSize:
        """Return the size of a table by the number of values of each column."""
        wide = int(np.count_nonzero(n_values > _WIDE))
        return cls(n_rows, len(n_values), int(n_values.sum()), wide)


def auto_starts(size: TableSize, k: int) -> int:
    """Return how many restarts a table is worth, by the comparisons of cells that a round makes.

    Fewer where a round costs much more than these: where rows are short, and shared by many of the
    clusters; where columns have few rows for each value, and prices of all are made; and where
    there are more clusters to be seeded than restarts would improve.
    """
    n, d = size.n, size.d
    most = next((starts for most, starts in _STARTS if n * d * k <= most), _FEWEST_STARTS)
    dear = 3 if k > _FEW_SHARES else 1
    shares = max(d * d // (20 * dear), _MOST_SHARES // (dear * n * k))
    dearest = k * size.n_values + n * size.n_wide // 4
    prices = max(n * d // (20 * size.n_values), _MOST_PRICES // dearest)
    seeds = max(_FEWEST_STARTS, _MOST_SEEDS // k)
    return max(1, min(most, shares, prices, seeds))


def auto_rounds(size: TableSize, k: int) -> int:
    """Return how many rounds a latent finish makes at most.

    Fewer where columns have few rows for each value, and there are many prices: they would fit
    noise.
    """
    by_rows = _ROUNDS * size.n * size.d // (100 * size.n_values)
    most = max(by_rows, _MOST_PRICES_OF_ROUNDS // (k * size.n_values))
    return min(max(most, _FEWEST_ROUNDS), _ROUNDS)


def allowance(size: TableSize, k: int) -> float:
    """Return how many latent rounds all runs may make together, or as many others as cost as much.

    Tables with groups in them come to rest long before; where there are none, or thousands of
    columns, a fit would go on for seconds. Of a larger table, for which one waits anyway, more.
    """
    cells = size.n * size.d * k
    most = _ALLOWED * max(1.0, cells / _SMALL) ** 2
    return most / (cells + _WIDE_CELLS * size.n * size.n_wide)


def spare_clusters(size: TableSize, k: int) -> int:
    """Return how many clusters a start has more than asked for, to be merged before its finish.

    Some, where all pairs are soon compared: they find higher likelihoods, from fewer starts.
    """
    spare = min(MOST_SPARE, size.n - k)
    return spare if _may_merge(size, k) and few_pairs(k + spare, size.n_values) else 0


def crossed_starts(size: TableSize, k: int) -> int:
    """Return how many of the best starts are crossed; 0 where they are finished one by one."""
    return _CROSSED if _may_merge(size, k) and few_pairs(2 * k, size.n_values) else 0


def _may_merge(size: TableSize, k: int) -> bool:
    """Tell whether partitions differ: not those of one column, nor those into one cluster."""
    return size.d > 1 and k > 1
