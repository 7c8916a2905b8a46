"""Files of Arrow batches, Parquet and Arrow IPC, one after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from softmodes._sources.arrow import BATCH_ROWS, checked_names
from softmodes._sources.source import Source

SUFFIXES = (".parquet", ".pq", ".arrow", ".feather", ".ipc")


class TableFile(ABC):
    """One file: what its footer says, and its rows."""

    schema: pa.Schema
    n_rows: int

    def __init__(self, path: Path) -> None:
        self.path = path

    @abstractmethod
    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return the rows, some at a time."""

    @abstractmethod
    def damaged_column(self) -> str | None:
        """Return the first column that cannot be read."""


class ParquetFile(TableFile):
    """A Parquet file; its texts come as indices into dictionaries, as they lie in it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with pq.ParquetFile(path) as file:
            self.schema, self.n_rows = file.schema_arrow, file.metadata.num_rows

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return the rows, some at a time."""
        texts = [field.name for field in self.schema if _kind(field.type) == "text"]
        with pq.ParquetFile(self.path, read_dictionary=texts) as file:
            yield from file.iter_batches(batch_size=BATCH_ROWS)

    def damaged_column(self) -> str | None:
        """Return the first column that cannot be read."""
        with pq.ParquetFile(self.path) as file:
            names: list[str] = self.schema.names
            for name in names:
                try:
                    for _ in file.iter_batches(BATCH_ROWS, columns=[name]):
                        pass
                except (OSError, pa.ArrowException):
                    return name
        return None


class IpcFile(TableFile):
    """A file of Arrow's own format (also called Feather)."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
            self.schema = file.schema
            self.n_rows = sum(file.get_batch(i).num_rows for i in range(file.num_record_batches))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return the rows, some at a time."""
        with pa.OSFile(str(self.path)) as source, pa.ipc.open_file(source) as file:
            for i in range(file.num_record_batches):
                yield file.get_batch(i)

    def damaged_column(self) -> str | None:
        """Return None: the batches of such a file are read as a whole."""
        return None


class FilesSource(Source):
    """The rows of some files with the same columns, in the order of the files."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._files = [_opened(path) for path in paths]
        first = self._files[0]
        self.names = checked_names(str(first.path), first.schema.names)
        kinds = dict.fromkeys(self.names, "empty")
        for file in self._files:
            _check_columns(file, first, kinds)
        n_rows = sum(file.n_rows for file in self._files)
        self.told = (f"{len(self._files)} files, {n_rows} rows, from {first.path} on",)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return all rows, some at a time."""
        for file in self._files:
            n_rows = 0
            with _naming(file.path, file):
                for batch in file.batches():
                    n_rows += len(batch)
                    yield batch
            if n_rows != file.n_rows:
                raise ValueError(
                    f"{file.path} had {file.n_rows} rows when it was opened, and {n_rows} came: it "
                    "was changed meanwhile. Fit again when it is at rest."
                )


def open_files(paths: Sequence[Path]) -> Source:
    """Return the rows of Parquet or Arrow files; all footers are read and compared now."""
    return FilesSource(paths)


def _opened(path: Path) -> TableFile:
    with _naming(path):
        return (ParquetFile if _is_parquet(path) else IpcFile)(path)


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


@contextmanager
def _naming(path: Path, file: TableFile | None = None) -> Iterator[None]:
    """Let errors about a file name it, and the column where that can be found out."""
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{path} does not exist (any more).") from error
    except (OSError, pa.ArrowException) as error:
        column = _damaged_column(file)
        where = "" if column is None else f", column {column!r},"
        raise ValueError(
            f"{path}{where} cannot be read: {error}. Is it whole, and of the kind that its name "
            "tells?"
        ) from error


def _damaged_column(file: TableFile | None) -> str | None:
    try:
        return None if file is None else file.damaged_column()
    except (OSError, pa.ArrowException):
        return None


def _check_columns(file: TableFile, first: TableFile, kinds: dict[str, str]) -> None:
    """Refuse a file whose columns are not those of the first one, or of other kinds than before."""
    names = file.schema.names
    for j, (mine, expected) in enumerate(zip_longest(names, first.schema.names)):
        if mine == expected:
            continue
        if mine not in first.schema.names and mine is not None:
            raise _other(file, f"has a column {mine!r} that {first.path} does not have")
        if expected not in names and expected is not None:
            raise _other(file, f"lacks the column {expected!r} that {first.path} has")
        raise _other(file, f"has {mine!r} for column {j}, and {first.path} has {expected!r} there")
    for field in file.schema:
        kind = _kind(field.type)
        if kinds[field.name] == "empty":
            kinds[field.name] = kind
        elif kind not in ("empty", kinds[field.name]):
            raise _other(
                file,
                f"holds {kind} ({field.type}) in column {field.name!r}, and files before it hold "
                f"{kinds[field.name]}",
            )


def _other(file: TableFile, what: str) -> ValueError:
    return ValueError(
        f"{file.path} {what}. Pass files with the same columns, in the same order and of the same "
        "kinds."
    )


def _kind(type_: Any) -> str:
    """Return what kind of values a type has: types of one kind have values in common."""
    types = pa.types
    if types.is_dictionary(type_):
        return _kind(type_.value_type)
    for kind, tests in _KINDS.items():
        if any(test(type_) for test in tests):
            return kind
    return "times with a zone" if types.is_timestamp(type_) and type_.tz else str(type_)


_KINDS = {
    "empty": (pa.types.is_null,),
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
    "times": (lambda type_: pa.types.is_timestamp(type_) and type_.tz is None,),
    "times of day": (pa.types.is_time,),
    "durations": (pa.types.is_duration,),
}
