"""All rows of a source as one table, for tables that fit in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from softmodes._sources.source import Source
from softmodes._sources.types import typed, typed_as
from softmodes._table.values import ColumnValues, Kind, keys_of


def read_whole(source: Source, as_text: Collection[str] = ()) -> pa.Table:
    r"""Return all rows; a column of texts has the type that all of its values have.

    Columns that are named in `as_text` stay texts.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from softmodes._sources.paths import open_path
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("zip,n\n01234,1\n1234,2\n")
    >>> read_whole(open_path(path)).to_pydict()
    {'zip': ['01234', '1234'], 'n': [1, 2]}
    """
    batches = list(source.batches())
    if not batches:
        return pa.table({name: pa.nulls(0) for name in source.names})
    table = pa.Table.from_batches(batches)
    if not source.is_text:
        return table
    columns = [
        column.cast(pa.string()) if name in as_text else _typed(column, source)
        for name, column in zip(source.names, table.unify_dictionaries().columns, strict=True)
    ]
    return pa.table(columns, names=list(source.names))


def texts_among(known: Mapping[str, ColumnValues]) -> set[str]:
    """Return the columns all of whose values are texts."""
    return {name for name, values in known.items() if _kinds(values) == {Kind.STRING}}


def as_known(table: pa.Table, known: Mapping[str, ColumnValues]) -> Any:
    """Return a table whose texts are values of the kinds that are known, those that can be.

    A column in which some are and some are not holds both, which Arrow cannot: the table is one of
    pandas then, and where that is not installed the column stays text.

    Examples
    --------
    >>> numbers = ColumnValues(np.array([1, 2]), has_missing=False)
    >>> as_known(pa.table({"n": ["2", "1"]}), {"n": numbers})["n"].to_pylist()
    [2, 1]
    """
    mixed: dict[str, Any] = {}
    for name, values in known.items():
        column = table[name]
        if not pa.types.is_string(column.type) or _kinds(values) in (set(), {Kind.STRING}):
            continue
        coded = column.combine_chunks().dictionary_encode()
        found = typed_as(coded.dictionary, values)
        if isinstance(found, np.ndarray):
            places = coded.indices.fill_null(len(found)).to_numpy(zero_copy_only=False)
            mixed[name] = np.array([*found.tolist(), None], dtype=object)[places]
        else:
            place = table.column_names.index(name)
            table = table.set_column(place, name, found.take(coded.indices))
    return _with_objects(table, mixed)


def _kinds(values: ColumnValues) -> set[int]:
    return {kind for kind, _ in keys_of(values.array)}


def _with_objects(table: pa.Table, columns: dict[str, Any]) -> Any:
    """Return a table with columns of values of several kinds, where pandas is installed."""
    try:
        frame = table.to_pandas() if columns else table
    except ImportError:
        return table
    return frame.assign(**columns) if columns else frame


def _typed(column: pa.ChunkedArray, source: Source) -> pa.ChunkedArray:
    values = typed(column.chunk(0).dictionary, source.spelling)
    return pa.chunked_array([values.take(chunk.indices) for chunk in column.chunks], values.type)
