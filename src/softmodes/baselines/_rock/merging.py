"""ROCK's links and its merging of clusters, best pair first."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from heapq import heapify, heappop, heappush
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes.baselines._rock.plan import Plan
from softmodes.baselines._rock.records import Records, neighbor_lists

# A cluster's links: the other clusters, and the number of links with each.
Row: TypeAlias = tuple[NDArray[Any], NDArray[Any]]
# Minus goodness, then the births of the newer and the older cluster, which settle ties, and slots.
Entry: TypeAlias = tuple[float, int, int, int, int]

_ROWS_AT_ONCE = 256
# A dense product does so many more multiplications a second than a sparse one.
_DENSE_ADVANTAGE = 200


def sample_clusters(rows: Records, plan: Plan) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return a number for each row's cluster, and which rows are outliers, each by itself."""
    neighbors = neighbor_lists(rows, plan.rule, plan.n_threads)
    is_outlier = np.diff(neighbors.indptr) < plan.min_neighbors
    inside = np.flatnonzero(~is_outlier)
    if is_outlier.any():
        neighbors = neighbors[inside][:, inside]
    if plan.links == "common":
        links = common_neighbors(neighbors, plan.n_threads)
    else:
        links = list(sparse_rows(neighbors))
    clusters = np.arange(len(rows))
    clusters[inside] = inside[merge(links, plan.k, plan.f)]
    return clusters, is_outlier


def common_neighbors(neighbors: Any, n_threads: int) -> list[Row]:
    """Return for each row the others with common neighbours, and how many these are.

    The product of the neighbour matrix with itself, block by block: sparse, unless rows have so
    many neighbours that a dense product is the quicker one.
    """
    n = neighbors.shape[0]
    degree = np.diff(neighbors.indptr).astype(np.float64)
    if (degree**2).sum() * _DENSE_ADVANTAGE > float(n) ** 3:
        return _dense_product(neighbors)

    def one_block(start: int) -> Any:
        return neighbors[start : start + _ROWS_AT_ONCE] @ neighbors

    with ThreadPoolExecutor(n_threads) as pool:
        products = pool.map(one_block, range(0, n, _ROWS_AT_ONCE))
        return [row for product in products for row in sparse_rows(product)]


def sparse_rows(matrix: Any) -> Iterator[Row]:
    """Yield the column numbers and the values of each row."""
    cuts = matrix.indptr[1:-1]
    yield from zip(np.split(matrix.indices, cuts), np.split(matrix.data, cuts), strict=True)


def _dense_product(neighbors: Any) -> list[Row]:
    # 32-bit floats are exact here: no count exceeds the number of rows, far below 2**24.
    dense = neighbors.toarray().astype(np.float32)
    rows = []
    for start in range(0, len(dense), _ROWS_AT_ONCE):
        for counts in dense[start : start + _ROWS_AT_ONCE] @ dense:
            ids = np.flatnonzero(counts).astype(np.int32)
            rows.append((ids, counts[ids].astype(np.int32)))
    return rows


def expected_links(most: int, f: float) -> NDArray[np.float64]:
    """Return the expected links in a cluster by its size from 0 to `most`, up to a linear part.

    The linear part drops out of the differences that matter. With f near 0 it is all that floating
    point would keep of ``size ** (1 + 2 * f)``, so the rest is computed by itself there; at f = 0
    it is the limit, ``size * log(size)``.
    """
    size = np.arange(most + 1, dtype=np.float64)
    if f >= 0.01:
        return np.asarray(size ** (1 + 2 * f))
    log = np.log(np.maximum(size, 1))
    return np.asarray(size * (np.expm1(2 * f * log) / (2 * f) if f > 0 else log))


def merge(links: list[Row], n_clusters: int, f: float) -> NDArray[np.intp]:
    """Merge clusters, at first single rows, until `n_clusters` or no links between them are left.

    Each time the two clusters of the highest goodness merge: their links over the expected number,
    ``(a + b)**e - a**e - b**e`` for sizes a and b and ``e = 1 + 2 * f``. Among pairs of equal
    goodness that whose newer cluster arose first is taken, then that whose older one did; single
    rows arose in order.

    Returns
    -------
    NDArray
        For each row the number of one row of its cluster, the same for all in it.
    """
    merging = _Merging(links, f)
    for _ in range(len(links) - n_clusters):
        pair = merging.best_pair()
        if pair is None:
            break
        merging.join(*pair)
    return merging.slot


class _Merging:
    """Clusters that merge.

    A pair of clusters belongs to the newer one. So a cluster never gains a pair after it arose, the
    goodness of its pairs never changes, and what it once put on the heap stays an upper bound
    of what it has: it is enough to look again when that comes to the top. Ties go by age, newer
    cluster first, since then equal pairs that are gone hardly ever come to the top before one that
    is not; by row numbers they would, all of them, in every merge.
    """

    def __init__(self, links: list[Row], f: float) -> None:
        n = len(links)
        self.links: list[Row | None] = list(links)
        self.slot = np.arange(n)  # of each row: where its cluster is kept
        self.size = np.ones(n, np.intp)
        self.born = np.arange(n)  # of the cluster in each slot: when it arose
        self.now = n
        self.gone = 2 * n  # later than any: an emptied slot is never the older of two
        self.expected = expected_links(n, f)
        entries = (self._best_of(slot) for slot in range(n))
        self.heap = [entry for entry in entries if entry is not None]
        heapify(self.heap)

    def best_pair(self) -> tuple[int, int] | None:
        """Return the slots of the pair of the highest goodness, or None if no links are left."""
        while self.heap:
            _, newer, older, slot, other = heappop(self.heap)
            if self.born[slot] != newer:
                continue
            if self.born[other] == older:
                return slot, other
            self._push(slot)
        return None

    def join(self, first: int, second: int) -> None:
        """Make one cluster of two, in the first slot."""
        both = self._take(first), self._take(second)
        self.slot[self.slot == second] = first
        self.born[first], self.born[second] = self.now, self.gone
        self.now += 1
        self.size[first] += self.size[second]
        ids = self.slot[np.concatenate([ids for ids, _ in both])]
        counts = np.concatenate([counts for _, counts in both])
        totals = np.bincount(ids, counts, minlength=len(self.slot))
        linked = np.flatnonzero(totals)
        self.links[first] = linked.astype(np.int32), totals[linked]
        self._push(first)

    def _take(self, slot: int) -> Row:
        row = self.links[slot]
        assert row is not None
        self.links[slot] = None
        return row

    def _push(self, slot: int) -> None:
        entry = self._best_of(slot)
        if entry is not None:
            heappush(self.heap, entry)

    def _best_of(self, slot: int) -> Entry | None:
        """Return the best pair of a cluster with an older one."""
        row = self.links[slot]
        assert row is not None
        ids, counts = row
        older = self.born[ids] < self.born[slot]
        if not older.any():
            return None
        ids, counts = ids[older], counts[older]
        goodness = counts / self._expected_between(self.size[slot], self.size[ids])
        best = goodness.max()
        tied = ids[goodness == best]
        partner = int(tied[np.argmin(self.born[tied])])
        return -float(best), int(self.born[slot]), int(self.born[partner]), slot, partner

    def _expected_between(self, a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float64]:
        apart = self.expected[a] + self.expected[b]
        return np.asarray(self.expected[a + b] - apart)
