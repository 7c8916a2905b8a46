"""Parquet and Arrow files, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from softmodes._sources.source import Source
from softmodes._sources.texts import counted


class ArrowFile(Source):
    """The rows of a Parquet or an Arrow file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._kind = "Parquet" if _is_parquet(path) else "Arrow"
        try:
            file = self._opened()
            self.names = tuple(
                (file.schema_arrow if self._kind == "Parquet" else file.schema).names
            )
        except (pa.ArrowException, OSError) as error:
            raise self._refusal(error) from error
        self.told = (f"{counted(len(self.names), 'column')}. {self._kind}.",)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return the rows."""
        n_rows = 0
        try:
            for batch in self._batches():
                n_rows += batch.num_rows
                yield batch
        except (pa.ArrowException, OSError) as error:
            raise self._refusal(error) from error
        columns = counted(len(self.names), "column")
        self.told = (f"{counted(n_rows, 'row')}, {columns}. {self._kind}.",)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        file = self._opened()
        if self._kind == "Parquet":
            yield from file.iter_batches()
        else:
            yield from (file.get_batch(i) for i in range(file.num_record_batches))

    def _opened(self) -> Any:
        if self._kind == "Parquet":
            from pyarrow import parquet

            return parquet.ParquetFile(self._path)
        return pa.ipc.open_file(self._path)

    def _refusal(self, error: Exception) -> ValueError:
        return ValueError(
            f"{self._path} cannot be read as {self._kind}: {error}. Pass a whole file."
        )


def _is_parquet(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"PAR1" or path.lower().endswith((".parquet", ".pq"))
