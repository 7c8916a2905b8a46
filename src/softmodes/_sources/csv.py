"""Tables in text files: lines of cells, streamed by Arrow's CSV reader as texts.

A file is read once, in order: bytes, unpacked (`raw.py`), as UTF-8 (`encoding.py`), cut where a row
ends into chunks of some megabytes, each of which Arrow parses. So memory does not grow with the
file, a line break in quotes stays in its cell, and a fault is on a line that is known.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
from numpy.typing import NDArray

from softmodes._sources.dialect import NO_DELIMITER, Dialect, dialect_of
from softmodes._sources.encoding import Utf8Blocks
from softmodes._sources.raw import can_be_read_again, damage_named, label_of, open_bytes
from softmodes._sources.reading import Reading
from softmodes._sources.texts import TextSource

_HEAD = 1 << 20  # bytes that a dialect is found by, at least
_CHUNK, _CHUNK_PER_COLUMN = 4 << 20, 8 << 10  # bytes that are parsed at a time
_LARGEST_ROW = 1 << 28
_QUOTE = ord('"')


class CsvSource(TextSource):
    """The rows of a text file, or of standard input."""

    def __init__(self, path: str, reading: Reading) -> None:
        self._path, self._reading = path, reading
        self._file: _OpenFile | None = _OpenFile(path, reading)
        self._delimiter = self._file.dialect.told
        self._encoding = self._file.encoding
        super().__init__(self._file.dialect.columns, reading)
        if can_be_read_again(path):
            self._file.close()
            self._file = None

    @property
    def how(self) -> str:
        """Delimiter and encoding."""
        return f"{self._delimiter}, {self._encoding}"

    def columns_of_text(self) -> Iterator[list[pa.Array]]:
        with closing(self._opened()) as file:
            yield from file.columns()
            self._encoding = file.encoding

    def _opened(self) -> _OpenFile:
        if can_be_read_again(self._path):
            return _OpenFile(self._path, self._reading)
        if self._file is None:
            raise ValueError(f"{label_of(self._path)} was read already. Save it as a file first.")
        file, self._file = self._file, None
        return file


class _OpenFile:
    """A file of which the first lines were looked at."""

    def __init__(self, path: str, reading: Reading) -> None:
        self._label = label_of(path)
        self._head = b""
        self._line_end = b"\n"
        self._raw = _Unpacked(path)
        try:
            self._texts = Utf8Blocks(self._raw, reading.encoding, self._label)
            self._blocks = iter(self._texts)
            self.dialect = self._find_dialect(reading)
        except BaseException:
            self.close()
            raise

    @property
    def encoding(self) -> str:
        """The encoding, as far as the file was read."""
        return self._texts.encoding

    def close(self) -> None:
        """Close the file."""
        self._raw.close()

    def columns(self) -> Iterator[list[pa.Array]]:
        """Return the rows after the names, as columns of texts."""
        parser = _Parser(self.dialect, self._label)
        cutter = Cutter(self.dialect.delimiter.encode(), self._line_end)
        for line, rows in self._chunks(cutter):
            yield from parser.columns(rows, line)

    def _chunks(self, cutter: Cutter) -> Iterator[tuple[int, bytes]]:
        """Cut blocks anew, where rows end; each with the line on which it begins."""
        usual = max(_CHUNK, _CHUNK_PER_COLUMN * len(self.dialect.columns.names))
        parts, size, wanted = [self._head[self.dialect.start :]], 0, usual
        self._head, line = b"", self.dialect.start_line
        for block in self._blocks:
            parts.append(block)
            size += len(block)
            if size < wanted:
                continue
            rows = b"".join(parts)
            end = cutter.last_row_end(rows)
            if end:
                yield line, rows[:end]
                line += rows.count(self._line_end, 0, end)
                parts, size, wanted = [rows[end:]], len(rows) - end, usual
            elif size > _LARGEST_ROW:
                raise _too_large(self._label, line)
            else:
                parts, wanted = [rows], 2 * size  # a long row is looked through a few times
        yield line, b"".join(parts)

    def _find_dialect(self, reading: Reading) -> Dialect:
        """Read on until the first rows are there."""
        size = _HEAD
        while True:
            whole = self._read_head(size)
            self._line_end = b"\n" if b"\n" in self._head else b"\r"
            end = len(self._head) if whole else self._head.rfind(self._line_end) + 1
            dialect = dialect_of(self._head[:end].decode(), whole, reading) if end else None
            if dialect is not None:
                return dialect
            if whole:
                raise ValueError(
                    f"{self._label} is empty. Pass a table: a line of column names and a line for "
                    "each case."
                )
            if size > _LARGEST_ROW:
                raise _too_large(self._label, 1)
            size *= 4

    def _read_head(self, size: int) -> bool:
        """Hold at least so many bytes, and tell whether they are all."""
        parts = [self._head]
        missing = size - len(self._head)
        for block in self._blocks:
            parts.append(block)
            missing -= len(block)
            if missing <= 0:
                break
        self._head = b"".join(parts)
        return missing > 0


class _Unpacked:
    """A file whose damage is told with its name."""

    def __init__(self, path: str) -> None:
        self._path = path
        with damage_named(path):
            self._raw = open_bytes(path)

    def read(self, size: int) -> bytes:
        with damage_named(self._path):
            return self._raw.read(size)

    def close(self) -> None:
        self._raw.close()


# --- rows ----------------------------------------------------------------------------------------


class Cutter:
    """Finds where rows end: at a line break that is in no quoted cell."""

    def __init__(self, delimiter: bytes, line_end: bytes) -> None:
        self._line_end = line_end
        self._before_quote = np.zeros(256, bool)
        self._before_quote[list(delimiter + b'\r\n"')] = True
        # Possessive, so that nothing is tried twice.
        sign = re.escape(delimiter)
        plain = rb"[^\r\n%s]*+" % sign
        cell = rb'(?:"[^"]*+(?:""[^"]*+)*+"%s|(?!")%s)' % (plain, plain)
        row = rb"%s(?:%s%s)*+(?:\r?\n|\r(?=[^\n]))" % (cell, sign, cell)
        self._whole_rows = re.compile(rb"(?:%s)*+" % row)

    def last_row_end(self, rows: bytes) -> int:
        """Return the end of the last whole row, 0 if there is none; a row begins at 0."""
        if b'"' not in rows:
            return rows.rfind(self._line_end) + 1
        cells = np.frombuffer(rows, np.uint8)
        quotes = np.flatnonzero(cells == _QUOTE)
        if not self._are_regular(cells, quotes):
            found = self._whole_rows.match(rows)
            return found.end() if found else 0
        end = len(rows)
        while (end := rows.rfind(self._line_end, 0, end)) >= 0:
            n_before = int(np.searchsorted(quotes, end))
            if n_before % 2 == 0:
                return end + 1
            end = int(quotes[n_before - 1])
        return 0

    def _are_regular(self, cells: NDArray[np.uint8], quotes: NDArray[np.intp]) -> bool:
        """Tell whether every other quote begins a cell, or follows one in it: none is text."""
        opening = quotes[::2]
        opening = opening[1:] if opening[0] == 0 else opening
        return bool(self._before_quote[cells[opening - 1]].all())


def _too_large(label: str, line: int) -> ValueError:
    return ValueError(
        f"{label}: the row that begins on line {line:,} has over {_LARGEST_ROW:,} bytes, "
        "the most that a row may have. Is a double quote not closed there? Close it, or leave it "
        "out."
    )


# --- cells ---------------------------------------------------------------------------------------


def _in_arrow(chunk: bytes) -> pa.BufferReader:
    """Return a copy of some bytes in Arrow's own memory.

    Threads of Arrow may let go of it when the interpreter has already ended, and Python's memory
    cannot be freed then: the process would be aborted.
    """
    own = pa.allocate_buffer(len(chunk))
    np.frombuffer(own, np.uint8)[:] = np.frombuffer(chunk, np.uint8)
    return pa.BufferReader(own)


class _Parser:
    """Arrow's reader, told all that there is to know."""

    def __init__(self, dialect: Dialect, label: str) -> None:
        self._delimiter, self._label = dialect.delimiter, label
        self._names = [str(j) for j in range(len(dialect.columns.names))]
        self._parse = arrow_csv.ParseOptions(
            delimiter=dialect.delimiter,
            newlines_in_values=True,
            ignore_empty_lines=len(self._names) > 1,
        )
        texts = pa.dictionary(pa.int32(), pa.string())
        self._convert = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(self._names, texts), check_utf8=False
        )

    def columns(self, chunk: bytes, line: int) -> Iterator[list[pa.Array]]:
        """Return the columns of some whole rows, the first on this line; nothing for no row."""
        if not chunk or (len(self._names) > 1 and not chunk.strip(b"\r\n")):
            return
        # One block: rows may be of any size.
        read = arrow_csv.ReadOptions(column_names=self._names, block_size=len(chunk) + 1)
        try:
            table = arrow_csv.read_csv(_in_arrow(chunk), read, self._parse, self._convert)
        except pa.ArrowInvalid as error:
            raise self._refusal(chunk, line, error) from None
        yield [column.combine_chunks() for column in table.columns]

    def _refusal(self, chunk: bytes, line: int, error: Exception) -> ValueError:
        odd = self._odd_row(chunk, line)
        if odd is None:
            reason = str(error).partition("\n")[0][:200]
            return ValueError(
                f"{self._label}, in the lines from {line:,} on: {reason}. Pass a file of a line of "
                "column names and a line for each case, with every quote closed."
            )
        n_cells, line = odd
        sign, title = "a line break", ""
        if len(self._names) == 1:
            title = " If a title stands above the names of the columns, leave it out."
        if self._delimiter != NO_DELIMITER:
            sign = f"the delimiter {self._delimiter!r} or a line break"
        return ValueError(
            f"{self._label}, line {line:,}: the number of cells is {n_cells:,}, that of column "
            f"names is {len(self._names):,}. Make them equal; put a cell that holds {sign} in "
            f"double quotes.{title}"
        )

    def _odd_row(self, chunk: bytes, first_line: int) -> tuple[int, int] | None:
        """Return the number of cells and the line of the first row of another length."""
        rows = csv.reader(io.StringIO(chunk.decode(), newline=""), delimiter=self._delimiter)
        line = first_line
        try:
            for row in rows:
                if row and len(row) != len(self._names):
                    return len(row), line
                line = first_line + rows.line_num
        except csv.Error:
            pass  # a cell too large for this reader, which need not be a fault
        return None
