"""The one door to sources: paths, streams, lazy frames -> a source; tables in memory are none."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import narwhals as nw
import pyarrow as pa

from softmodes._sources.arrow import open_dataset, open_duckdb, open_polars, open_reader
from softmodes._sources.paths import open_path
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
    kind = type(table)
    opener = _OPENERS.get((kind.__module__.partition(".")[0], kind.__name__))
    if opener is not None:
        return opener(table)
    if kind.__module__.startswith("pyarrow._dataset"):
        return open_dataset(table)
    if hasattr(table, "__arrow_c_stream__") and not _is_frame(table):
        return open_reader(pa.RecordBatchReader.from_stream(table))
    _refuse_lazy(table)
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


def _refuse_lazy(table: Any) -> None:
    """Refuse a lazy frame that cannot be streamed: to collect it would fill the memory."""
    try:
        frame = nw.from_native(table)
    except (TypeError, ValueError):
        return
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(
            f"{type(table).__module__}.{type(table).__name__} is a lazy frame that cannot be "
            "streamed, and it is not collected unasked. Pass an Arrow reader of its rows, files, "
            "or what its own collect() returns."
        )
