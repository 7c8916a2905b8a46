"""Batches of any size -> tables of a size that is worth a call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa


def regrouped(batches: Iterable[pa.RecordBatch], n_rows: int) -> Iterator[pa.Table]:
    """Yield the rows of batches in tables of at most `n_rows`; small batches are put together.

    Examples
    --------
    >>> batches = [pa.record_batch({"x": list(range(n))}) for n in (1, 2, 5)]
    >>> [len(table) for table in regrouped(batches, 3)]
    [3, 3, 2]
    """
    waiting: list[pa.RecordBatch] = []
    n_waiting = 0
    for batch in batches:
        if waiting and batch.schema != waiting[0].schema:
            yield pa.Table.from_batches(waiting)
            waiting, n_waiting = [], 0
        rest = batch
        while n_waiting + len(rest) >= n_rows:
            room = n_rows - n_waiting
            yield pa.Table.from_batches([*waiting, rest.slice(0, room)])
            rest, waiting, n_waiting = rest.slice(room), [], 0
        if len(rest):
            waiting.append(rest)
            n_waiting += len(rest)
    if waiting:
        yield pa.Table.from_batches(waiting)
