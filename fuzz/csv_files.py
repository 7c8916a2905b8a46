"""CSV files through the command's reader, against Python's own csv module."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path
from typing import Any

from fuzz.runner import Check, Wrong, require
from softmodes._cli.tables import read_table

_LARGEST_CELL = 1 << 30

_BLOCK = 1 << 20  # bytes that a reader is likely to take at a time
_PIECES = ["a", "b", "-", ",", '"', '""', "\n", "\r\n", " ", ";", "é", "NA", "'"]
# Types are guessed, so that two texts of one number would be one value: each has one text here.
_CELLS = ["", "x", "y", "7", "42", "true", "2020-01-01", "null"]
LONGEST_TEXT = 3_000


def read_by_command(path: Path) -> tuple[list[str], list[list[Any]]]:
    """Return names and columns as the command reads them; None is a missing cell."""
    table = read_table(path, [])
    return table.column_names, [column.to_pylist() for column in table.columns]


def read_by_python(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return header and rows; empty lines are no rows."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        limit = csv.field_size_limit(_LARGEST_CELL)  # of the whole process: put back afterwards
        try:
            header, *rows = [row for row in csv.reader(file) if row]
        finally:
            csv.field_size_limit(limit)
    return header, rows


def prepare(folder: Path) -> Check:
    """Return the check of one file."""

    def check(r: random.Random) -> None:
        path = folder / "table.csv"
        path.write_bytes(_random_file(r))
        _check_file(path)

    return check


def _check_file(path: Path) -> None:
    header, rows = read_by_python(path)
    ragged = any(len(row) != len(header) for row in rows)
    double = len(set(header)) < len(header)
    try:
        names, columns = read_by_command(path)
    except ValueError as error:
        text = str(error)
        require(ragged or double or not rows, f"a whole file is refused: {text[:200]}")
        require(str(path) in text, f"a refusal does not name the file: {text[:200]}")
        require(len(text) <= LONGEST_TEXT, f"refused by {len(text)} characters")
        return
    require(not ragged, "a file with rows of several lengths is not refused")
    require(list(names) == header, f"names are {names}, not {header}")
    require(columns and len(columns[0]) == len(rows), "the number of rows is wrong")
    for j, name in enumerate(header):
        _check_column(name, columns[j], [row[j] for row in rows])


def _check_column(name: str, found: list[Any], expected: list[str]) -> None:
    """Cells are the same value where the texts are the same, and missing where they are empty."""
    text_of: dict[Any, str] = {}
    value_of: dict[str, Any] = {}
    for value, text in zip(found, expected, strict=True):
        require((value is None) == (text == ""), f"column {name!r}: {text!r:.60} is {value!r:.60}")
        key = (type(value), value)
        if text_of.setdefault(key, text) != text:
            raise Wrong(f"column {name!r}: {text_of[key]!r:.60} and {text!r:.60} are one value")
        if value_of.setdefault(text, key) != key:
            raise Wrong(f"column {name!r}: {text!r:.60} is two values")


# -------------------------------------------------------------------------------------- files


def _random_file(r: random.Random) -> bytes:
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
    return _written(r, [header, *rows])


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
    """Return more than a block of cells with line breaks, or one cell longer than two blocks."""
    if r.random() < 0.15:
        return [["x"] * d, ["y" * (5 * _BLOCK // 2)] * d]
    lines = [f"line {i}\nx,{i}\n" * r.randrange(20, 400) for i in range(12)]
    rows, size = [], 0
    while size < 2 * _BLOCK + _BLOCK // 2:
        row = [r.choice(lines) for _ in range(d)]
        rows.append(row)
        size += sum(map(len, row))
    return rows


def _written(r: random.Random, rows: list[list[str]]) -> bytes:
    """Write rows as some program might."""
    out = io.StringIO()
    writer = csv.writer(
        out,
        lineterminator=r.choice(("\n", "\n", "\r\n")),
        quoting=r.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL)),
    )
    for row in rows:
        writer.writerow(row)
    text = out.getvalue()
    if r.random() < 0.2:
        text = text.removesuffix("\n").removesuffix("\r")
    return (b"\xef\xbb\xbf" if r.random() < 0.1 else b"") + text.encode()
