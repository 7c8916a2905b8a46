"""Blocks that a process keeps from one task to the next, and shares with the processes beside it.

An engine that runs tasks in processes of its own would have to bring a block along with every task.
Here a block stays, found by name. Its bytes lie in memory that the kernel knows by that name, too
(Linux only): the other children of the same parent find it under /proc, so that together they hold
it once. It is gone when the last of them ends, however that happens. Blocks of one store are kept
at a time; whoever finds none must be able to make it again.
"""

from __future__ import annotations

import mmap
import os
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np

from softmodes._rows.block import Block

_ALIGNMENT = 64

_store = ""
_blocks: dict[str, Block] = {}


def flat(block: Block) -> bytes:
    """Return a block as bytes, the rows aligned as they are in memory."""
    arrays: list[pickle.PickleBuffer] = []
    head = pickle.dumps(block, 5, buffer_callback=arrays.append)
    pieces = [memoryview(head), *(array.raw() for array in arrays)]
    lengths = np.array([len(pieces), *map(len, pieces)], np.int64).tobytes()
    return b"".join(_padded(piece) for piece in (memoryview(lengths), *pieces))


def from_flat(data: Any) -> Block:
    """Return the block that was made `flat`, without a copy of its rows."""
    view = memoryview(data)
    n_pieces = int(np.frombuffer(view[:8], np.int64)[0])
    lengths = np.frombuffer(view[8 : 8 * (n_pieces + 1)], np.int64).tolist()
    pieces, start = [], _rounded(8 * (n_pieces + 1))
    for length in lengths:
        pieces.append(view[start : start + length])
        start += _rounded(length)
    block: Block = pickle.loads(pieces[0], buffers=pieces[1:])
    return block


def keep(store: str, name: str, data: Any) -> Block:
    """Keep a block of a store that was made `flat`, in the place of those of other stores."""
    _forget_others(store)
    _blocks[name] = from_flat(_shared(f"softmodes-{store}-{name}", data))
    return _blocks[name]


def kept(store: str, name: str) -> Block | None:
    """Return a block of a store that this process, or one beside it, has kept."""
    _forget_others(store)
    if name not in _blocks:
        found = _found_beside(f"softmodes-{store}-{name}")
        if found is None:
            return None
        _blocks[name] = from_flat(found)
    return _blocks[name]


def _forget_others(store: str) -> None:
    global _store
    if store != _store:
        _blocks.clear()
        _store = store


def _shared(name: str, data: Any) -> Any:
    """Copy bytes to memory that other processes find by its name, once it is whole and sealed."""
    if not hasattr(os, "memfd_create"):
        return bytearray(data)
    import fcntl  # which Windows does not have

    with open(os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING), "wb") as memory:
        memory.write(data)
        memory.flush()
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK)
        return _mapped(memory.fileno())


def _found_beside(name: str) -> Any:
    """Return the memory of this name that a child of the same parent has open, if it is whole."""
    for link in _links_beside():
        try:
            if os.readlink(link) == f"/memfd:{name} (deleted)":
                with open(link, "rb") as memory:
                    if _is_sealed(memory.fileno()):
                        return _mapped(memory.fileno())
        except OSError:  # the process has just ended, or closed it
            continue
    return None


def _links_beside() -> Iterator[str]:
    parent = os.getppid()
    try:
        with open(f"/proc/{parent}/task/{parent}/children") as children:
            folders = [f"/proc/{child}/fd" for child in children.read().split()]
    except OSError:  # no Linux, or a kernel without this list
        return
    for folder in folders:
        try:
            yield from (f"{folder}/{fd}" for fd in os.listdir(folder))
        except OSError:
            continue


def _is_sealed(fd: int) -> bool:
    import fcntl

    return bool(fcntl.fcntl(fd, fcntl.F_GET_SEALS) & fcntl.F_SEAL_WRITE)


def _mapped(fd: int) -> mmap.mmap:
    return mmap.mmap(fd, 0, access=mmap.ACCESS_COPY)  # the mapping keeps the memory open


def _rounded(length: int) -> int:
    return -(-length // _ALIGNMENT) * _ALIGNMENT


def _padded(piece: memoryview) -> bytes:
    return bytes(piece).ljust(_rounded(len(piece)), b"\0")
