"""Files written whole or not at all."""

from __future__ import annotations

import io
import os
import secrets
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeAlias

from softmodes._text import short_repr

AnyPath: TypeAlias = str | os.PathLike[str]
Content: TypeAlias = bytes | Callable[[BinaryIO], object]

_OPEN_FILES = "/proc/self/fd"


def write_whole(path: AnyPath, content: Content, name: str = "path") -> None:
    """Write a file so that its old content stands until the new one is complete.

    Links are followed, and the file keeps its mode; one that may not be written is not replaced.
    What is not a regular file (a device, a pipe, standard output) is written to as it stands.

    Parameters
    ----------
    path : str or os.PathLike
        Where to write.
    content : bytes or callable
        What to write, or a function that writes it to the open file that it gets.
    name : str, default="path"
        What errors call the path: the parameter that it came from.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> write_whole(path, b"hello")
    >>> path.read_text()
    'hello'
    """
    given = checked_target(path, name)
    try:
        mode = _mode(given)
        stream = _standard_stream(given)
        if stream is None and (mode is None or stat.S_ISREG(mode)):
            _replace(Path(os.path.realpath(given)), mode, content)
        else:
            with open(given if stream is None else stream, "wb") as file:
                file.write(_as_bytes(content))
    except OSError as error:
        raise _refusal(error, name, given) from error


def checked_source(path: AnyPath, name: str = "path") -> str:
    """Return the path of a file to read as text; refuse one where no file is."""
    given = _as_text(path, name, "read")
    if os.path.isdir(given):
        raise IsADirectoryError(f"{name}={short_repr(given)} is a folder. Pass the path of a file.")
    if not os.path.exists(given):
        raise FileNotFoundError(
            f"{name}={short_repr(given)} does not exist. Pass the path of a file that does; paths "
            f"start from {os.getcwd()!r}."
        )
    return given


def checked_target(path: AnyPath, name: str = "path") -> str:
    """Return a path as text; refuse one where no file can be, before any work is done for it."""
    given = _as_text(path, name, "write")
    if os.path.isdir(given) or not os.path.basename(given):
        raise IsADirectoryError(
            f"{name}={short_repr(given)} is a folder. "
            "Pass the path of a file to write, in it or elsewhere."
        )
    folder = os.path.dirname(os.path.realpath(given))
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"{name}={short_repr(given)} is in a folder that does not exist. Make the folder "
            f"{folder!r} first, or pass a path in one that exists."
        )
    return given


def _as_text(path: AnyPath, name: str, purpose: str) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{name}={short_repr(path)} is not a path. Pass a str or a pathlib.Path.")
    given = os.fsdecode(path)
    fault = _fault(given)
    if fault is not None:
        raise ValueError(
            f"{name}={short_repr(given)} {fault}. Pass the path of a file to {purpose}."
        )
    return given


def _fault(path: str) -> str | None:
    """Return why no system takes a text for a path, None if there is no reason."""
    if not path:
        return "is empty"
    if "\0" in path:
        return "holds a NUL byte"
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return "holds half a character"
    return None


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _standard_stream(path: str) -> int | None:
    """Return a new handle of standard output or error if the path leads there, as /dev/stdout does.

    Opened by its path it would be written from its start, over what has been printed.
    """
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
        with suppress(OSError):
            if os.path.samestat(os.stat(path), os.fstat(number)):
                stream.flush()
                return os.dup(number)
    return None


def _replace(target: Path, mode: int | None, content: Content) -> None:
    """Fill a new file beside the target and rename it: the target is old or new, never partial.

    Where the system can, the new file has no name until it is whole: a process that is killed
    leaves nothing.
    """
    # A name of its own, not the target's with an ending: that could be too long for the system.
    unfinished = target.with_name(f".softmodes-{secrets.token_hex(8)}")
    permissions = 0o666 if mode is None else stat.S_IMODE(mode) & 0o777
    if mode is not None:
        os.close(os.open(target, os.O_WRONLY))  # renaming asks for no leave to write the old file
    try:
        unnamed = _unnamed(target.parent, permissions)
        opener = partial(os.open, mode=permissions)
        with open(unfinished, "xb", opener=opener) if unnamed is None else unnamed as file:
            if mode is not None:  # given at opening, it was narrowed by the umask
                os.chmod(unfinished if unnamed is None else file.fileno(), permissions)
            _fill(file, content)
            file.flush()
            os.fsync(file.fileno())
            if unnamed is not None:
                _name(file, unfinished)
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def _unnamed(folder: Path, permissions: int) -> BinaryIO | None:
    """Return a new file in a folder that does not list it; None where there are no such files."""
    if not (hasattr(os, "O_TMPFILE") and os.path.isdir(_OPEN_FILES)):
        return None
    try:
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_RDWR, permissions), "wb")
    except OSError:
        return None


def _name(file: BinaryIO, path: Path) -> None:
    """Give a name to a file that has none."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:  # only with a folder does Python follow the link to the file
        source = f"{_OPEN_FILES}/{file.fileno()}"
        os.link(source, path.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def _as_bytes(content: Content) -> bytes:
    """Return what is to be written where a file cannot tell its place, as an archive asks it to."""
    buffer = io.BytesIO()
    _fill(buffer, content)
    return buffer.getvalue()


def _fill(file: BinaryIO, content: Content) -> None:
    if callable(content):
        content(file)
    else:
        file.write(content)


def _refusal(error: OSError, name: str, path: str) -> OSError:
    reason = error.strerror or error
    refusal = type(error)(
        f"{name}={short_repr(path)} cannot be written: {reason}. Mend that, or pass another path."
    )
    refusal.errno = error.errno
    return refusal
