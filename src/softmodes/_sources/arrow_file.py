"""Parquet and Arrow files, batch by batch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from softmodes._sources.arrow import BATCH_ROWS, checked_names
from softmodes._sources.source import Source
from softmodes._sources.texts import counted


class ArrowFile(Source):
    """The rows of a Parquet or an Arrow file.

    Texts of a Parquet file come as indices into dictionaries, as they lie in it. `kinds` tell what
    each column holds.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._content = _content(path)
        self._kind = "Parquet" if _is_parquet(path) else "Arrow"
        with self._naming(), self._opened() as file:
            schema = file.schema_arrow if self._kind == "Parquet" else file.schema
            n_rows = _n_rows(file)
        self.names = checked_names(path, schema.names)
        self.kinds = {field.name: kind_of(field.type) for field in schema}
        self.told = (
            f"{counted(n_rows, 'row')}, {counted(len(self.names), 'column')}. {self._kind}.",
        )

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return the rows."""
        with self._naming(self._damaged_column):
            self._check_content()
            yield from self._batches()
            self._check_content()

    def _check_content(self) -> None:
        if _content(self.path) != self._content:
            raise ValueError(
                f"{self.path} was changed after it was opened. Wait until it is at rest."
            )

    def _batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        texts = [name for name, kind in self.kinds.items() if kind == "text"]
        with self._opened(texts) as file:
            if self._kind == "Parquet":
                yield from file.iter_batches(BATCH_ROWS, columns=columns)
            else:
                yield from (file.get_batch(i) for i in range(file.num_record_batches))

    def _opened(self, texts: Sequence[str] = ()) -> Any:
        if self._kind == "Parquet":
            from pyarrow import parquet

            return parquet.ParquetFile(self.path, read_dictionary=list(texts))
        return pa.ipc.open_file(pa.memory_map(self.path))

    @contextmanager
    def _naming(self, damaged_column: Any = None) -> Iterator[None]:
        """Let errors name the file, and the column where that can be found out."""
        try:
            yield
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{self.path} is gone. Pass files that stay until they are read."
            ) from None
        except (pa.ArrowException, OSError) as error:
            column = damaged_column and damaged_column()
            where = f", column {column!r}," if column else ""
            raise ValueError(
                f"{self.path}{where} cannot be read as {self._kind}: {error}. Pass a whole file."
            ) from error

    def _damaged_column(self) -> str | None:
        """Return the first column that cannot be read alone."""
        for name in self.names if self._kind == "Parquet" else ():
            try:
                for _ in self._batches([name]):
                    pass
            except (pa.ArrowException, OSError):
                return name
        return None


def check_kinds(files: Sequence[ArrowFile]) -> None:
    """Refuse files whose columns do not hold the same kinds of values."""
    known: dict[str, tuple[str, str]] = {}
    for file in files:
        for name, kind in file.kinds.items():
            expected, before = known.setdefault(name, (kind, file.path))
            if expected == "nothing":
                known[name] = kind, file.path
            elif kind not in (expected, "nothing"):
                raise ValueError(
                    f"{file.path} holds {kind} in the column {name!r}, and {before} holds "
                    f"{expected}. Pass files whose columns are of the same kinds."
                )


def kind_of(type_: Any) -> str:
    """Return what kind of values a type has; only types of one kind have values in common."""
    if pa.types.is_dictionary(type_):
        return kind_of(type_.value_type)
    found = (kind for kind, tests in _KINDS.items() if any(test(type_) for test in tests))
    return next(found, str(type_))


def _has_zone(type_: Any) -> bool:
    return pa.types.is_timestamp(type_) and type_.tz is not None


_KINDS = {
    "nothing": (pa.types.is_null,),
    "truth values": (pa.types.is_boolean,),
    "numbers": (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal),
    "text": (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
    "bytes": (
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_binary_view,
        pa.types.is_fixed_size_binary,
    ),
    "dates": (pa.types.is_date,),
    "times with a zone": (_has_zone,),
    "times": (pa.types.is_timestamp,),
    "times of day": (pa.types.is_time,),
    "durations": (pa.types.is_duration,),
}


def _is_parquet(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"PAR1" or path.lower().endswith((".parquet", ".pq"))


def _content(path: str) -> tuple[int, int]:
    """Return what is another number once a file is written to, or another one takes its place."""
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


def _n_rows(file: Any) -> int:
    if hasattr(file, "metadata") and hasattr(file.metadata, "num_rows"):
        return int(file.metadata.num_rows)
    return sum(file.get_batch(i).num_rows for i in range(file.num_record_batches))
