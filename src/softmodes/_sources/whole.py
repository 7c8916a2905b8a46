"""All rows of a source as one table, for tables that fit in memory."""

from __future__ import annotations

import pyarrow as pa

from softmodes._sources.source import Source
from softmodes._sources.types import typed


def read_whole(source: Source) -> pa.Table:
    r"""Return all rows; a column of texts has the type that all of its values have.

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
    columns = [_typed(column, source) for column in table.unify_dictionaries().columns]
    return pa.table(columns, names=list(source.names))


def _typed(column: pa.ChunkedArray, source: Source) -> pa.ChunkedArray:
    values = typed(column.chunk(0).dictionary, source.spelling)
    return pa.chunked_array([values.take(chunk.indices) for chunk in column.chunks], values.type)
