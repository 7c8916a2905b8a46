"""A journal of results: JSON lines, only ever appended to, one whole line per cell."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

Record: TypeAlias = dict[str, Any]

# What a record must hold: types, or dicts of them, by name.
Shape: TypeAlias = dict[str, Any]
# Returns the records that a line holds; None if it is not a line of the journal.
RecordsOf: TypeAlias = Callable[[Any], Iterable[Record] | None]


def one_record(shape: Shape) -> RecordsOf:
    """Return the function for a journal of which each line is one record of a shape."""
    return lambda line: [line] if has_shape(line, shape) else None


class Journal:
    """A journal open for appending, by one process at a time.

    Each line is written by one call and forced to disk before the next cell starts. What a killed
    run may leave behind, an incomplete last line, is cut off when the file is opened again.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.jsonl"
    >>> with Journal(path, one_record({"key": str})) as journal:
    ...     journal.append({"key": "a"})
    ...     journal.done
    {'a'}
    """

    def __init__(self, path: str | os.PathLike[str], records_of: RecordsOf) -> None:
        self.path, self.records_of = Path(path), records_of

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise ValueError(
                f"out={str(self.path.parent)!r} is a file, or in one. Pass the path of a folder."
            ) from None
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            _lock(self._file, self.path)
            whole = _whole_length(self.path.read_bytes())
            if whole < os.fstat(self._file).st_size:
                os.ftruncate(self._file, whole)
            _sync_folder(self.path.parent)
            self.done = {record["key"] for record in read(self.path, self.records_of)}
        except BaseException:
            os.close(self._file)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._file)

    def append(self, record: Record) -> None:
        """Write one line, whole, and wait until it is on disk."""
        self.write(record, [record["key"]])

    def write(self, line: Record, keys: Iterable[str]) -> None:
        """Write one line, whole, that holds the records of some keys."""
        text = (json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n").encode()
        written = os.write(self._file, text)
        if written != len(text):
            raise OSError(
                f"{self.path}: only {written} of {len(text)} bytes were written. Is the disk full? "
                "Make room and run again: the incomplete line is dropped then."
            )
        os.fsync(self._file)
        self.done.update(keys)


def read(path: str | os.PathLike[str], records_of: RecordsOf) -> Iterator[Record]:
    """Yield the records of a journal, plain or ending in .gz, without an incomplete last line.

    A file that does not exist has no records.
    """
    path = Path(path)
    if not path.exists():
        return
    content = _unpacked(path) if path.suffix == ".gz" else path.read_bytes()
    for number, line in enumerate(content[: _whole_length(content)].splitlines(), start=1):
        try:
            records = records_of(json.loads(line))
        except (ValueError, RecursionError):
            records = None
        if records is None:
            raise ValueError(
                f"{path}, line {number} is not a record of a cell: {line[:60]!r}. Every line is "
                "written whole, so something else has changed the file. Delete that line; its "
                "cell is then run again."
            )
        yield from records


def read_folder(folder: str | os.PathLike[str], name: str, records_of: RecordsOf) -> list[Record]:
    """Return the records of `<name>.jsonl` and `<name>.jsonl.gz` in a folder; later ones count."""
    paths = [Path(folder) / f"{name}.jsonl{ending}" for ending in ("", ".gz")]
    records = {
        record["key"]: record for path in reversed(paths) for record in read(path, records_of)
    }
    return list(records.values())


def _unpacked(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(
            f"{path} is damaged: {error}. Put a whole copy in its place, or delete it; its cells "
            "are then run again."
        ) from error


def has_shape(value: Any, shape: Any) -> bool:
    """Whether a value is of a type, or a dict that has certain entries of certain shapes."""
    if not isinstance(shape, dict):
        return isinstance(value, shape)
    return isinstance(value, dict) and all(
        name in value and has_shape(value[name], part) for name, part in shape.items()
    )


def _whole_length(content: bytes) -> int:
    """Return the length of the content up to the last line that is complete.

    After a power cut a file may end in a line of zeros, which is no line of ours either.
    """
    end = content.rfind(b"\n") + 1
    last = content[content.rfind(b"\n", 0, max(0, end - 1)) + 1 : end]
    return end - len(last) if b"\0" in last else end


def _lock(file: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # no such locks on Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError(
            f"{path} is being written by another run. Wait for it, or pass another --out."
        ) from None


def _sync_folder(folder: Path) -> None:
    """Force a new file's name to disk, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_DIRECTORY)
        os.fsync(handle)
        os.close(handle)
