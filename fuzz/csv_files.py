"""CSV files in many dialects and encodings through the one reader, against Python's csv module."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from fuzz.runner import Check, Wrong, require
from softmodes._sources import csv as reader
from softmodes._sources import encoding
from softmodes._sources.paths import open_path
from softmodes._sources.reading import Reading
from softmodes._sources.types import MISSING_WORDS
from softmodes._sources.whole import read_whole

_LARGEST_CELL = 1 << 30

_CHUNK = 4 << 20  # bytes that the reader takes at a time
_PIECES = ["a", "b", "-", ",", '"', '""', "\n", "\r\n", " ", ";", "|", "\t", "é", "NA", "'"]
# Types are guessed, so that two texts of one number would be one value: each has one text here.
_CELLS = ["", "x", "y", "7", "42", "true", "2020-01-01", "null"]
_WORDS = {
    "cp1252": ["größer", "Köln", "Straße", "très", "niño", "ja", "7", "42", "NA", ""],
    "cp1251": ["Москва", "Казань", "не знаю", "да", "нет", "7", ""],
}
_PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
LONGEST_TEXT = 3_000


@dataclass(frozen=True)
class Dialect:
    """How a file is written; `told` is what the reader is told of it."""

    delimiter: str = ","
    encoding: str = "utf-8-sig"
    told: Reading = Reading(delimiter=",", header=True)  # noqa: RUF009 - frozen


PLAIN = Dialect()


def read_by_reader(path: Path, dialect: Dialect) -> tuple[list[str], list[list[Any]]]:
    """Return names and columns as the reader finds them; None is a missing cell."""
    table = read_whole(open_path(path, dialect.told))
    return table.column_names, [column.to_pylist() for column in table.columns]


def read_by_python(path: Path, dialect: Dialect) -> tuple[list[str], list[list[str]]]:
    """Return header and rows; empty lines are rows of files of one column only."""
    unpack = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
    content = unpack.get(path.suffix, bytes)(path.read_bytes())
    text = content.decode(dialect.encoding).removeprefix("\ufeff")
    limit = csv.field_size_limit(_LARGEST_CELL)  # of the whole process: put back afterwards
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=dialect.delimiter))
    finally:
        csv.field_size_limit(limit)
    header, *rows = lines
    return header, [row or [""] for row in rows if row or len(header) == 1]


def prepare(folder: Path) -> Check:
    """Return the check of one file."""

    def check(r: random.Random) -> None:
        dialect, path, content = _random_file(r, folder)
        path.write_bytes(content)
        chunk, block = r.choice(((_CHUNK, 1 << 20), (1, 64), (50, 1000), (3000, 100)))
        with (
            mock.patch.multiple(reader, _CHUNK=chunk, _CHUNK_PER_COLUMN=0, _HEAD=block),
            mock.patch.object(encoding, "_BLOCK", block),
        ):
            _check_file(path, dialect)

    return check


def _check_file(path: Path, dialect: Dialect = PLAIN) -> None:
    header, rows = read_by_python(path, dialect)
    ragged = any(len(row) != len(header) for row in rows)
    try:
        names, columns = read_by_reader(path, dialect)
    except ValueError as error:
        text = str(error)
        require(ragged, f"a whole file is refused: {text[:200]}")
        require(str(path) in text, f"a refusal does not name the file: {text[:200]}")
        require(len(text) <= LONGEST_TEXT, f"refused by {len(text)} characters")
        return
    require(not ragged, "a file with rows of several lengths is not refused")
    _check_names(names, header)
    require(columns and len(columns[0]) == len(rows), "the number of rows is wrong")
    for j, name in enumerate(header):
        _check_column(name, columns[j], [row[j] for row in rows])


def _check_names(names: list[str], header: list[str]) -> None:
    """Columns have their names, but blank ones and those that occurred before."""
    require(len(set(names)) == len(names) == len(header), f"names are {names}, not {header}")
    wanted = [name.strip() for name in header]
    for j, (name, given) in enumerate(zip(names, wanted, strict=True)):
        if given and given not in wanted[:j]:
            require(name == given, f"a name is {name!r}, not {given!r}")


def _check_column(name: str, found: list[Any], expected: list[str]) -> None:
    """Cells are the same value where the texts are the same, and missing where they say so."""
    text_of: dict[Any, str] = {}
    value_of: dict[str, Any] = {}
    for value, text in zip(found, expected, strict=True):
        missing = text.strip() in MISSING_WORDS
        require((value is None) == missing, f"column {name!r}: {text!r:.60} is {value!r:.60}")
        if missing:
            continue
        key = (type(value), value)
        if text_of.setdefault(key, text) != text:
            raise Wrong(f"column {name!r}: {text_of[key]!r:.60} and {text!r:.60} are one value")
        if value_of.setdefault(text, key) != key:
            raise Wrong(f"column {name!r}: {text!r:.60} is two values")


# -------------------------------------------------------------------------------------- files


def _random_file(r: random.Random, folder: Path) -> tuple[Dialect, Path, bytes]:
    delimiter = r.choice(",,;\t|")
    if r.random() < 0.3:
        dialect, rows = _usual_table(r, delimiter)
    else:
        encoding = r.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1", "utf-16-be"))
        told = Reading(delimiter, None if "sig" in encoding else encoding, header=True)
        dialect, rows = Dialect(delimiter, encoding, told), _odd_rows(r)
    packing = r.choice(("", "", "", *_PACKINGS))
    path = folder / f"table.csv{packing}"
    return dialect, path, _PACKINGS[packing](_written(r, rows, dialect))


def _usual_table(r: random.Random, delimiter: str) -> tuple[Dialect, list[list[str]]]:
    """Return a table as people have it, of which the reader finds out everything."""
    language = r.choice(list(_WORDS))
    d, n = r.randrange(2, 6), r.randrange(4, 40)
    rows = [[f"name {j}" for j in range(d)]]
    rows += [[r.choice(_WORDS[language]) for _ in range(d)] for _ in range(n)]
    rows.append([_WORDS[language][0]] * d)  # enough to guess by
    encoding = r.choice((language, "utf-8", "utf-8-sig", "utf-16"))
    return Dialect(delimiter, encoding, Reading()), rows


def _odd_rows(r: random.Random) -> list[list[str]]:
    d = r.choice((1, 2, 2, 3, 5))
    header = _header(r, d)
    n = r.choice((0, 1, 2, 5, 20))
    rows = [[_cell(r) for _ in range(d)] for _ in range(n)]
    dice = r.random()
    if dice < 0.03:
        rows = _long_rows(r, d)
    elif dice < 0.1 and rows:
        row = r.choice(rows)
        row.append("more") if r.random() < 0.5 else row.pop()
    return [header, *rows]


def _header(r: random.Random, d: int) -> list[str]:
    names = [f"name {j}" for j in range(d)]
    if r.random() < 0.3:
        names[r.randrange(d)] = r.choice(
            ("1", 'quoted "name"', "two\nlines", "a,b", " ", "é", "x" * 300)
        )
    if r.random() < 0.05 and d > 1:
        names[1] = names[0]
    return names


def _cell(r: random.Random) -> str:
    if r.random() < 0.5:
        return r.choice(_CELLS)
    return "".join(r.choice(_PIECES) for _ in range(r.randrange(1, 5)))


def _long_rows(r: random.Random, d: int) -> list[list[str]]:
    """Return more than a chunk of cells with line breaks, or one cell longer than a chunk."""
    if r.random() < 0.15:
        return [["x"] * d, ["y" * (5 * _CHUNK // 4)] * d]
    lines = [f"line {i}\nx,{i}\n" * r.randrange(20, 400) for i in range(12)]
    rows, size = [], 0
    while size < _CHUNK + _CHUNK // 4:
        row = [r.choice(lines) for _ in range(d)]
        rows.append(row)
        size += sum(map(len, row))
    return rows


def _written(r: random.Random, rows: list[list[str]], dialect: Dialect) -> bytes:
    """Write rows as some program might."""
    out = io.StringIO()
    writer = csv.writer(
        out,
        delimiter=dialect.delimiter,
        lineterminator=r.choice(("\n", "\n", "\r\n")),
        quoting=r.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL)),
    )
    for row in rows:
        writer.writerow(row)
    text = out.getvalue()
    if r.random() < 0.2:
        text = text.removesuffix("\n").removesuffix("\r")
    return text.encode(dialect.encoding)
