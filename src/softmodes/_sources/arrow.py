"""Streams of Arrow batches: readers, data sets, lazy frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from softmodes._sources.source import Source

BATCH_ROWS = 1 << 16


class ArrowSource(Source):
    """Rows from a function that returns a reader, or batches and their schema."""

    def __init__(
        self, what: str, schema: pa.Schema, batches: Callable[[], Iterator[pa.RecordBatch]]
    ) -> None:
        self.names = checked_names(what, schema.names)
        self.told = (what,)
        self._batches = batches

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return all rows, some at a time."""
        try:
            yield from self._batches()
        except pa.ArrowException as error:
            raise ValueError(f"{self.told[0]} cannot be read: {error}") from error


def open_reader(reader: pa.RecordBatchReader, what: str = "The stream of X") -> Source:
    """Return the rows of a reader, which can be read once."""

    def batches() -> Iterator[pa.RecordBatch]:
        some = False
        for batch in reader:
            some = True
            yield batch
        if not some:
            raise ValueError(
                f"{what} has no rows. A stream can be read once: if it was read before, open it "
                "again."
            )

    return ArrowSource(what, reader.schema, batches)


def open_dataset(dataset: Any) -> Source:
    """Return the rows of an Arrow data set, in the order of its files and their row groups."""
    # By default Arrow reads so far ahead that a gigabyte of texts waits.
    scanner = dataset.scanner(batch_size=BATCH_ROWS, batch_readahead=2, fragment_readahead=1)
    return ArrowSource("The data set X", dataset.schema, scanner.to_batches)


def open_polars(frame: Any) -> Source:
    """Return the rows of a lazy frame of polars, in its order."""

    def batches() -> Iterator[pa.RecordBatch]:
        for some in frame.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True):
            yield from some.to_arrow().to_batches()

    schema = frame.collect_schema().to_frame().to_arrow().schema
    return ArrowSource("The lazy frame X", schema, batches)


def open_duckdb(relation: Any) -> Source:
    """Return the rows of a relation of DuckDB, in its order; refuse one that has none."""
    setting = "select current_setting('preserve_insertion_order')"
    if not relation.query("softmodes_rows", setting).fetchall()[0][0]:
        raise ValueError(
            "DuckDB's setting preserve_insertion_order is false: rows would come in another order "
            "each time, and which row has which label would be left to chance. Run "
            '"SET preserve_insertion_order = true" first, or sort the relation with '
            "X.order(...) and pass X.to_arrow_reader()."
        )
    return open_reader(relation.to_arrow_reader(BATCH_ROWS), "The relation X")


def checked_names(what: str, names: list[str]) -> tuple[str, ...]:
    """Return the names of columns; refuse none, and those that occur twice."""
    double = sorted({name for name in names if names.count(name) > 1})
    if double:
        raise ValueError(
            f"{what}: column names occur more than once: {double}. Rename or drop columns."
        )
    if not names:
        raise ValueError(f"{what} has no columns.")
    return tuple(names)
