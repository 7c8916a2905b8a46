"""Room for rows: memory up to a limit, and temporary files that have no name."""

from __future__ import annotations

import errno
import mmap
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.memory import available_memory

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_WRITTEN_AT_ONCE = 1 << 26
_ASSUMED_MEMORY = 1 << 32  # where the system does not tell


class Room:
    """How much memory rows may take, and how much they do."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0

    def has(self, n_bytes: int) -> bool:
        """Tell whether so many more bytes fit."""
        return self.used + n_bytes <= self.limit

    def take(self, n_bytes: int) -> bool:
        """Take some memory if it fits; tell whether it did."""
        fits = self.has(n_bytes)
        self.used += n_bytes if fits else 0
        return fits

    def give_back(self, n_bytes: int) -> None:
        """Give back what was taken."""
        self.used -= n_bytes


def default_room() -> int:
    """Return the bytes that rows may take by default: half of what can be had."""
    available = available_memory()
    return (_ASSUMED_MEMORY if available is None else available) // 2


class Scratch:
    """Bytes in a temporary file that no folder lists: nothing is left of it, whatever happens.

    It is always written to by `write`, which tells when a disk is full; a write through a map of
    the file would kill the process. It is gone when it and all maps of it are.
    """

    def __init__(self) -> None:
        self.folder = tempfile.gettempdir()
        self._file = tempfile.TemporaryFile(prefix="softmodes-", buffering=0)  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self.size = 0

    def write(self, data: Any, needed: int | None = None, new_page: bool = False) -> int:
        """Append bytes and return where they begin: at the end, or at the next page of memory.

        `needed` are the bytes that the file will have in the end, if they are known, for the error.
        """
        start, left = self.size, memoryview(data).cast("B")
        if new_page:
            start = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
        needed = max(needed or 0, start + len(left))
        self._file.seek(start)
        self.size = start
        while len(left):
            try:
                written = self._file.write(left[:_WRITTEN_AT_ONCE])
            except OSError as error:
                raise self._full(error, needed) if error.errno in _FULL else error from error
            left = left[written:]
            self.size += written or 0
        return start

    def read(self, start: int, n_bytes: int) -> bytes:
        """Return some of the bytes."""
        self._file.seek(start)
        parts = []
        while n_bytes:
            parts.append(self._file.read(n_bytes))
            n_bytes -= len(parts[-1])
        return b"".join(parts)

    def mapped(self) -> mmap.mmap:
        """Return all bytes as a map to read."""
        return mmap.mmap(self._file.fileno(), self.size, access=mmap.ACCESS_READ)

    def array(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        """Return all bytes as an array to read, which stays in the file."""
        return np.memmap(self._file, dtype, mode="r", shape=shape)

    def _full(self, error: OSError, needed: int) -> OSError:
        free = shutil.disk_usage(self.folder).free
        return OSError(
            error.errno,
            f"{self.folder} is full: rows beyond memory_limit need at least {needed} bytes there, "
            f"of which {self.size} are written; {free} are free. Make room, let TMPDIR name a "
            "folder with more, or pass a larger memory_limit",
        )


class Shelf:
    """Things made of bytes, to be taken down in the order in which they were put up, once each."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._scratch: Scratch | None = None
        self._places: list[bytes | tuple[int, int]] = []

    def put(self, data: bytes) -> None:
        """Put up bytes: in memory if there is room, else in a temporary file."""
        if self._room.take(len(data)):
            self._places.append(data)
            return
        self._scratch = self._scratch or Scratch()
        self._places.append((self._scratch.write(data), len(data)))

    def look(self) -> Iterator[bytes]:
        """Yield everything, and leave it where it is."""
        for place in self._places:
            yield self._at(place)

    def take(self) -> Iterator[bytes]:
        """Yield everything, and give its memory back."""
        for i, place in enumerate(self._places):
            data = self._at(place)
            self._places[i] = b""
            if isinstance(place, bytes):
                self._room.give_back(len(place))
            del place
            yield data
        self._places.clear()
        self._scratch = None

    def _at(self, place: bytes | tuple[int, int]) -> bytes:
        if isinstance(place, bytes):
            return place
        assert self._scratch is not None
        return self._scratch.read(*place)
