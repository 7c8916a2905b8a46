"""The bytes of a file or of standard input, unpacked where they are packed."""

from __future__ import annotations

import io
import lzma
import os
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, Protocol

import pyarrow as pa

STDIN = "-"


class Bytes(Protocol):
    """What can be read in order."""

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes, none at the end."""

    def close(self) -> None:
        """Close it."""


_MAGIC = 8  # bytes that tell a kind of file

# First bytes, and the codec by which Arrow unpacks what follows.
_PACKED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
}
_DAMAGE = (zlib.error, lzma.LZMAError, zipfile.BadZipFile)
_XZ, ZIP = b"\xfd7zXZ\x00", b"PK\x03\x04"
# Zip archives and workbooks, Parquet, Arrow, old workbooks and SPSS: read from several places.
_NOT_IN_ORDER = (ZIP, b"PAR1", b"ARROW1", b"\xd0\xcf\x11\xe0", b"$FL2", b"$FL3")


def label_of(path: str) -> str:
    """Name a file in messages."""
    return "standard input" if path == STDIN else path


def can_be_read_again(path: str) -> bool:
    """Tell whether a path leads to a file, not to a pipe, a device or standard input."""
    return path != STDIN and stat.S_ISREG(os.stat(path).st_mode)


def first_bytes(path: str) -> bytes:
    """Return the first bytes of a file, none of what can be read only once."""
    if not can_be_read_again(path):
        return b""
    with open(path, "rb") as file:
        return file.read(_MAGIC)


def open_bytes(path: str) -> Bytes:
    """Open a file, or standard input, for reading its bytes in order, unpacked."""
    file = _Chained(sys.stdin.buffer if path == STDIN else open(path, "rb"))  # noqa: SIM115
    start = file.start
    if start.startswith(_NOT_IN_ORDER) and not can_be_read_again(path):
        raise ValueError(
            f"{label_of(path)} is no text, and such a file cannot be read in order. Save it, and "
            "pass its path."
        )
    if start.startswith(ZIP):
        return _only_member(path, file)
    if start.startswith(_XZ):
        return lzma.LZMAFile(file)  # type: ignore[arg-type]
    for magic, codec in _PACKED.items():
        if start.startswith(magic):
            packed: Bytes = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), codec)
            return packed
    return file


@contextmanager
def damage_named(path: str) -> Iterator[None]:
    """Say which file it is that cannot be unpacked."""
    try:
        yield
    except (pa.ArrowInvalid, OSError, EOFError, *_DAMAGE) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the system, which names the file
        raise ValueError(
            f"{label_of(path)} cannot be unpacked: {error}. The file is damaged or not complete: "
            "get it anew."
        ) from error


class _Chained(io.RawIOBase):
    """A file whose first bytes were looked at."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.start = _read_exactly(file.read, _MAGIC)
        self._left = self.start

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self._left:
            return self._file.read(size)
        if size < 0:
            taken, self._left = self._left + self._file.read(), b""
            return taken
        taken, self._left = self._left[:size], self._left[size:]
        return taken + self._file.read(size - len(taken)) if size > len(taken) else taken

    def close(self) -> None:
        if self._file is not sys.stdin.buffer:
            self._file.close()
        super().close()


def _read_exactly(read: Callable[[int], bytes], size: int) -> bytes:
    parts = []
    while size > 0 and (part := read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _only_member(path: str, file: _Chained) -> Bytes:
    """Open the one file of a zip archive."""
    file.close()
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        names = [name for name in names if not name.startswith("__MACOSX/")]
        if len(names) != 1:
            raise ValueError(
                f"{path} is a zip archive of {len(names)} files. "
                "Unpack it, and pass the path of one."
            )
        return archive.open(names[0])  # stays open when the archive is closed
