"""The one door to sources: paths, streams, lazy frames -> a source; tables in memory are none."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa

from softmodes._sources.arrow import open_dataset, open_duckdb, open_polars, open_reader
from softmodes._sources.parquet import SUFFIXES, open_files
from softmodes._sources.source import Source


def open_source(table: Any) -> Source | None:
    """Return the rows of what is not a table in memory; None if it is one, or is not known.

    Which library a value is of, its class tells; none is imported for that.
    """
    if isinstance(table, Source):
        return table
    if _are_paths(table):
        return _open_paths(table)
    if isinstance(table, nw.LazyFrame):
        table = table.to_native()
    if isinstance(table, pa.RecordBatchReader):
        return open_reader(table)
    kind = type(table)
    opener = _OPENERS.get((kind.__module__.partition(".")[0], kind.__name__))
    if opener is not None:
        return opener(table)
    if kind.__module__.startswith("pyarrow._dataset"):
        return open_dataset(table)
    if hasattr(table, "__arrow_c_stream__") and not _is_frame(table):
        return open_reader(pa.RecordBatchReader.from_stream(table))
    return None


_OPENERS: dict[tuple[str, str], Callable[[Any], Source]] = {
    ("polars", "LazyFrame"): open_polars,
    ("duckdb", "DuckDBPyRelation"): open_duckdb,
    ("_duckdb", "DuckDBPyRelation"): open_duckdb,
}


def _is_frame(table: Any) -> bool:
    """Tell whether a value is a frame or a column in memory, which has its own reader."""
    if isinstance(table, pa.Array | pa.ChunkedArray | pa.RecordBatch):
        return True
    try:
        nw.from_native(table, eager_only=True, allow_series=True)
    except TypeError:
        return False
    return True


def _are_paths(table: Any) -> bool:
    """Tell whether a value is a path, or several: a list of texts is no table."""
    if isinstance(table, list | tuple):
        return bool(table) and all(isinstance(one, os.PathLike) for one in table)
    return isinstance(table, str | os.PathLike)


def _open_paths(paths: Any) -> Source:
    found = sorted(glob.glob(os.fspath(paths)))
    assert all(name.endswith(SUFFIXES) for name in found)
    return open_files(list(map(Path, found)))
