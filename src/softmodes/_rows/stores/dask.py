"""Rows in the partitions of a Dask collection: with the workers of the current client, if any.

Tasks make blocks of partitions, and workers keep them, with what passes leave there. A pass is a
map of futures and a tree of sums. A lost block is made again, and refused if it holds other rows.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial, reduce
from operator import add, attrgetter
from typing import Any, cast
from uuid import uuid4

import dask
import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph
from numpy.typing import NDArray

from softmodes._rows.parts import Outline, Place, merged
from softmodes._rows.stores import cluster
from softmodes._rows.stores.cluster import Alone, ClusterStore, Packing, Partitions, T, Task
from softmodes._rows.stores.open import Opened
from softmodes._table.codebook import Codebook, Missing

_FEW_BYTES = 50_000  # of a task that is sent with every block; a longer one is sent by itself
_AT_ONCE = 8  # what is added or merged in one place


class DaskStore(ClusterStore):
    """Blocks as futures of a client."""

    def __init__(self, client: Any, blocks: list[Any]) -> None:
        self._client, self._blocks = client, blocks

    def map(self, task: Task[T]) -> list[T]:
        """Run a task on every block."""
        return cast(list[T], self._client.gather(self._run(task)))

    def sum(self, task: Task[T]) -> T:
        """Run a task on every block; workers add what it returns."""
        return cast(T, _in_tree(self._client, partial(reduce, add), self._run(task)))

    def by_row(self, task: Task[NDArray[Any]], name: str = "found") -> Any:
        """Run a task on every block; what it returns stays there, behind a dask.array."""
        found, nothing = iter(self._run(task)), task(self.nothing, 1)
        parts = [next(found) if n else nothing for n in self.part_rows]
        return _as_array(parts, self.part_rows, nothing)

    def _run(self, task: Task[Any]) -> Any:
        n_threads = self.n_threads if isinstance(self._client, Alone) else 1
        return _map(self._client, task, self._blocks, [n_threads] * len(self._blocks))


class DaskPartitions(Partitions):
    """The partitions of a dask.dataframe or dask.array."""

    def __init__(self, table: Any, sample_weight: Any) -> None:
        self._client = _current_client()
        self._parts = _partitions("X", table)
        self.empty, self._chunks = getattr(table, "_meta", None), (np.nan,) * len(self._parts)
        if isinstance(table, da.Array):
            self.empty, self._chunks = np.empty((0, *table.shape[1:])), table.chunks[0]
        self.has_weights = sample_weight is not None
        self._weights = [sample_weight] * len(self._parts)
        if isinstance(sample_weight, str):
            self.empty = cluster.without_weights(self.empty, sample_weight)
        elif self.has_weights:
            self._weights = _partitions("sample_weight", sample_weight)
            cluster.check_partitions(len(self._weights), len(self._parts))

    def code(self, missing: Missing) -> list[Outline]:
        """Code each partition, and tell of each in order."""
        code = dask.delayed(partial(cluster.code_partition, missing=missing), pure=False)
        lazy = map(code, range(len(self._parts)), self._parts, self._weights)
        self._coded = self._client.compute(list(lazy))
        found = self._client.gather(_map(self._client, attrgetter("outline"), self._coded))
        return cast(list[Outline], found)

    def codebook(self) -> Codebook:
        """Return the codebook of all coded partitions."""
        codebooks = _map(self._client, attrgetter("codebook"), self._coded)
        return cast(Codebook, _in_tree(self._client, merged, codebooks))

    def store(self, packing: Packing, places: list[Place]) -> DaskStore:
        """Pack the coded partitions that have rows, and let the codes go."""
        coded = [self._coded[place.part] for place in places]
        del self._coded
        return DaskStore(self._client, _map(self._client, packing.block_at, coded, places))

    def lazy_by_row(self, packing: Packing, task: Task[NDArray[Any]], name: str = "found") -> Any:
        """Return a dask.array with a chunk for each partition."""
        sent = dask.delayed(pickle.dumps(partial(cluster.of_new_rows, packing, task)))
        parts = [dask.delayed(cluster.call_sent)(sent, *one) for one in enumerate(self._parts)]
        return _as_array(parts, self._chunks, task(packing.nothing, 1))


def open_table(table: Any, *, sample_weight: Any, **asked: Any) -> Opened:
    """Open a dask.dataframe or dask.array, as `open_store` does."""
    return cluster.open_partitions(DaskPartitions(table, sample_weight), **asked)


def _current_client() -> Any:
    with suppress(KeyError, ValueError):  # not imported, so that there is none; there is none
        return sys.modules["distributed"].Client.current()
    return Alone(dask.compute)


def _partitions(name: str, given: Any) -> list[Any]:
    """Return the partitions of a collection, each as something to be computed."""
    if isinstance(given, da.Array):
        whole_rows = given.rechunk({1: -1}) if given.numblocks[1:] > (1,) else given
        return list(whole_rows.to_delayed().ravel())
    if hasattr(given, "to_delayed") and hasattr(given, "_meta"):
        return list(given.to_delayed())
    raise TypeError(
        f"{name} is a {type(given).__name__}, but must be a dask.dataframe or a dask.array. Of a "
        "bag, pass bag.to_dataframe(). Weights may also be the name of a column of X."
    )


def _in_tree(client: Any, combine: Callable[..., Any], found: list[Any]) -> Any:
    """Combine some at a time, and what comes of these, until one is left; return that."""
    while len(found) > 1:
        some = [found[i : i + _AT_ONCE] for i in range(0, len(found), _AT_ONCE)]
        found = [client.submit(combine, few, pure=False) for few in some]
    return client.gather(found[0])


def _map(client: Any, task: Callable[..., Any], *given: list[Any]) -> Any:
    """Call a task for one of each after the other, where they are."""
    sent: Any = pickle.dumps(task)
    if len(sent) > _FEW_BYTES:  # and not as a keyword of `map`, which has one key in all calls
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            sent = client.submit(bytes, sent, pure=False)
    return client.map(cluster.call_sent, [sent] * len(given[0]), *given, pure=False)


def _as_array(parts: list[Any], n_rows: Sequence[float], nothing: NDArray[Any]) -> da.Array:
    """Return a chunk for each part; `nothing` is one of no rows."""
    chunks = [dask.delayed(part, pure=False) for part in parts]
    name, rest = "softmodes-" + uuid4().hex, nothing.shape[1:]
    layer = {(name, i, *[0] * len(rest)): chunk.key for i, chunk in enumerate(chunks)}
    graph = HighLevelGraph.from_collections(name, layer, dependencies=chunks)
    return da.Array(graph, name, (tuple(n_rows), *[(n,) for n in rest]), meta=nothing)
