"""The one door to sources: paths, streams, lazy frames -> a source; tables in memory are none."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import narwhals as nw
import pyarrow as pa

from softmodes._sources.arrow import open_dataset, open_duckdb, open_polars, open_reader
from softmodes._sources.paths import files_of, open_path
from softmodes._sources.source import Source


def open_source(table: Any) -> Source | None:
    """Return the rows of what is not a table in memory; None if it is one, or is not known.

    Which library a value is of, its class tells; none is imported for that.
    """
    if isinstance(table, Source):
        return table
    if _are_paths(table):
        return open_path(table, name="X")
    if isinstance(table, nw.LazyFrame):
        table = table.to_native()
    if isinstance(table, pa.RecordBatchReader):
        return open_reader(table)
    if nw.dependencies.is_pandas_dataframe(table):  # narwhals would look at all names, twice
        return None
    kind = type(table)
    opener = _OPENERS.get((kind.__module__.partition(".")[0], kind.__name__))
    if opener is not None:
        return opener(table)
    if kind.__module__.startswith("pyarrow._dataset"):
        return open_dataset(table) if hasattr(table, "scanner") else open_reader(table.to_reader())
    if hasattr(table, "__arrow_c_stream__") and not _is_frame(table):
        return open_reader(pa.RecordBatchReader.from_stream(table))
    return None


def is_in_memory(table: Any) -> bool:
    """Tell whether a table's rows are here: it is no path, reader, data set or lazy frame."""
    if _are_paths(table) or isinstance(table, Source | pa.RecordBatchReader | nw.LazyFrame):
        return False
    if type(table).__module__.startswith(("pyarrow._dataset", "dask.")):
        return False
    try:
        return not isinstance(nw.from_native(table), nw.LazyFrame)
    except (TypeError, ValueError):
        return True


def is_read_from(file: str, table: Any) -> bool:
    """Tell whether a file is one of those that a table is read from; lazy frames do not tell."""
    if not os.path.exists(file):
        return False
    return any(os.path.exists(one) and os.path.samefile(file, one) for one in _files_of(table))


def _files_of(table: Any) -> list[str]:
    if type(table).__module__.startswith("pyarrow._dataset"):
        return list(getattr(table, "files", ()))
    try:
        return files_of(table) if _are_paths(table) else []
    except (OSError, ValueError):
        return []  # what is wrong with the path is told when it is opened


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
    except ValueError:  # names that occur twice: its reader tells which
        return True
    return True


def _are_paths(table: Any) -> bool:
    """Tell whether a value is a path, or several: a list of texts that name files is no table."""
    if not isinstance(table, list | tuple):
        return isinstance(table, str | os.PathLike)
    if not table or not all(isinstance(one, str | os.PathLike) for one in table):
        return False
    return any(isinstance(one, os.PathLike) or os.path.exists(one) for one in table)
