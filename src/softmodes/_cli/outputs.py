"""The files that a command writes: checked before any work is done, each written whole."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, BinaryIO

from softmodes._files import Content, checked_target, write_whole
from softmodes._text import harmless, harmless_cell, short_repr

STANDARD = "-"  # standard input or output


class Outputs:
    """Where a command writes to, by option; None where the option was not given.

    A file is refused that is one of the inputs, that another option names, or that exists, unless
    `force` is given. Standard output, devices and pipes are written to as they stand.
    """

    def __init__(self, *, force: bool, inputs: Sequence[str] = (), **targets: str | None) -> None:
        self._targets = {name: path for name, path in targets.items() if path is not None}
        self.written: list[str] = []
        for name, path in self._targets.items():
            if path != STANDARD:
                checked_target(path, name)
                _check_free(name, path, inputs, force)
        self._check_different()

    def __contains__(self, name: str) -> bool:
        return name in self._targets

    def path(self, name: str) -> str:
        """Return the path that an option gave."""
        return self._targets[name]

    @property
    def text_to(self) -> Any:
        """The stream for text: standard output, unless a file goes there."""
        return sys.stderr if STANDARD in self._targets.values() else sys.stdout

    def write(self, name: str, content: Content) -> None:
        """Write what an option asked for."""
        path = self._targets[name]
        if path == STANDARD:
            _to_standard_output(content)
            return
        write_whole(path, content, name)
        self.written.append(path)

    def write_table(self, name: str, table: Any) -> None:
        """Write an Arrow table in the format of the file's ending."""
        self.write(name, partial(_WRITERS[_ending(name, self._targets[name])], table))

    def check_table(self, name: str) -> None:
        """Refuse an ending of which no format is known."""
        if name in self:
            _ending(name, self._targets[name])

    def tell_written(self) -> None:
        """Say what was written."""
        for path in self.written:
            print(harmless(f"Written: {path}"), file=self.text_to)

    def _check_different(self) -> None:
        seen: dict[str, str] = {}
        for name, path in self._targets.items():
            real = path if path == STANDARD else os.path.realpath(path)
            first = seen.setdefault(real, name)
            if first != name and not (os.path.exists(real) and not os.path.isfile(real)):
                raise ValueError(
                    f"{name}={short_repr(path)} is also the file of {first}. Pass another one."
                )


def _check_free(name: str, path: str, inputs: Sequence[str], force: bool) -> None:
    """Refuse a file that is read from, and one that exists where that is not wanted."""
    for source in inputs:
        if source != STANDARD and _is_read_from(path, source):
            raise ValueError(
                f"{name}={short_repr(path)} is read from: it would be lost. Pass another file."
            )
    if not force and os.path.exists(path) and stat.S_ISREG(os.stat(path).st_mode):
        raise FileExistsError(
            f"{name}={short_repr(path)} exists. Pass --force to write over it, or another file."
        )


def _is_read_from(path: str, source: str) -> bool:
    if not os.path.exists(path):
        return False
    from softmodes._sources import is_read_from

    return is_read_from(path, source)


def _to_standard_output(content: Content) -> None:
    import io

    buffer = io.BytesIO()
    if callable(content):
        content(buffer)
    else:
        buffer.write(content)
    sys.stdout.flush()
    sys.stdout.buffer.write(buffer.getvalue())
    sys.stdout.buffer.flush()


# --- tables --------------------------------------------------------------------------------------


def _ending(name: str, path: str) -> str:
    ending = ".csv" if path == STANDARD else os.path.splitext(path)[1].lower()
    if ending not in _WRITERS and not _is_device(path):
        raise ValueError(
            f"{name}={short_repr(path)} has no ending that tells its format. "
            f"Pass a file that ends in {', '.join(_WRITERS)}."
        )
    return ending if ending in _WRITERS else ".csv"


def _is_device(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path)


def _write_text(table: Any, file: BinaryIO, delimiter: str) -> None:
    from pyarrow import csv

    csv.write_csv(_for_spreadsheets(table), file, csv.WriteOptions(delimiter=delimiter))


def _write_parquet(table: Any, file: BinaryIO) -> None:
    from pyarrow import parquet

    parquet.write_table(table, file)


_WRITERS: dict[str, Callable[..., None]] = {
    ".csv": partial(_write_text, delimiter=","),
    ".tsv": partial(_write_text, delimiter="\t"),
    ".parquet": _write_parquet,
}


def _for_spreadsheets(table: Any) -> Any:
    """Return a table none of whose texts a spreadsheet would run."""
    names = [harmless_cell(name) for name in table.column_names]
    return table.from_arrays([_harmless_column(column) for column in table.columns], names)


def _harmless_column(column: Any) -> Any:
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_nested(kind):
        return _harmless_column(pa.chunked_array([[str(cell) for cell in column.to_pylist()]]))
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return column
    coded = column.combine_chunks()
    coded = coded if pa.types.is_dictionary(column.type) else coded.dictionary_encode()
    texts = coded.dictionary.to_pylist()
    safe = [None if text is None else harmless_cell(text) for text in texts]
    if safe == texts:
        return column
    return pa.array(safe, kind).take(coded.indices)
