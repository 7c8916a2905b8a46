"""Labels as a file: Parquet or CSV, some rows at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softmodes._files import AnyPath, checked_target, write_whole
from softmodes._sources import is_read_from

_ROWS_AT_ONCE = 1 << 20

Labels: TypeAlias = NDArray[np.int32]


def checked_label_file(path: AnyPath, source: Any) -> str:
    """Return where labels go, before any work is done for them; never over what is read."""
    target = checked_target(path)
    if _writer(target) is None:
        raise ValueError(
            f"path={target!r} has another ending than .parquet and .csv. Pass a path with one of "
            "them: it tells the format."
        )
    if is_read_from(target, source):
        raise ValueError(f"path={target!r} is a file that X is read from. Pass another path.")
    return target


def write_labels(path: str, labels: Labels, column: str) -> None:
    """Write labels as a table of one column, whole or not at all."""
    write = _writer(path)
    assert write is not None
    schema = pa.schema([(column, pa.int32())])
    write_whole(path, partial(write, schema=schema, batches=_batches(labels, schema)))


def _batches(labels: Labels, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(labels), _ROWS_AT_ONCE):
        some = np.ascontiguousarray(labels[start : start + _ROWS_AT_ONCE])
        yield pa.record_batch([pa.array(some)], schema)


def _writer(path: str) -> Callable[..., None] | None:
    return {".parquet": _write_parquet, ".csv": _write_csv}.get(os.path.splitext(path.lower())[1])


def _write_parquet(file: BinaryIO, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    from pyarrow.parquet import ParquetWriter

    with ParquetWriter(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _write_csv(file: BinaryIO, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    from pyarrow.csv import CSVWriter

    with CSVWriter(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
