"""Files of rows, read as tables."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from softmodes._files import checked_source

# A cell may be as large as a block: small blocks are read side by side, the largest holds any cell.
_BLOCK, _LARGEST_BLOCK = 1 << 20, (1 << 31) - 1


def read_table(path: Path, drop: list[str], name: str = "file") -> Any:
    """Return the columns of a file as an Arrow table; an empty cell of a CSV file is missing.

    `name` is what errors call the file.
    """
    readers = {".csv": _read_csv, ".parquet": _read_parquet}
    checked_source(path, name)
    if not path.is_file():
        raise ValueError(
            f"{name}={str(path)!r} is a device or a pipe. Pass a .csv or .parquet file."
        )
    if path.suffix not in readers:
        raise ValueError(f"{path} has an unknown ending. Pass a .csv or .parquet file.")
    table = readers[path.suffix](path)
    _check_names(path, table)
    unknown = [name for name in drop if name not in table.column_names]
    if unknown:
        raise ValueError(
            f"drop={unknown[0]!r} is not a column of {path}. "
            f"Pass some of {', '.join(map(repr, table.column_names))}."
        )
    return table.select([j for j, name in enumerate(table.column_names) if name not in drop])


def read_labelled(
    path: Path, class_column: str, drop: list[str], name: str = "file"
) -> tuple[Any, Any]:
    """Return the columns of a file without that of the classes, and the classes; both from Arrow.

    Refuses a column that gives no class to some of the rows.
    """
    table = read_table(path, [column for column in drop if column != class_column], name)
    names = table.column_names
    if class_column not in names:
        raise ValueError(
            f"class={class_column!r} is not a column of {path}. "
            f"Pass one of {', '.join(map(repr, names))}."
        )
    if names.count(class_column) > 1:
        raise ValueError(
            f"class={class_column!r} is the name of several columns of {path}. Give each its own."
        )
    classes = table.column(class_column)
    if not len(classes):
        raise ValueError(f"{path} has no rows. Pass a file with a line for each case.")
    if classes.null_count:
        first = classes.is_null().to_pylist().index(True) + 1
        raise ValueError(
            f"class={class_column!r} has no class for {classes.null_count:,} of {len(classes):,} "
            f"rows, the first of them row {first:,}. Fill them in, or leave these rows out."
        )
    features = [j for j, column in enumerate(names) if column != class_column]
    if not features:
        raise ValueError(f"{path} has no column but class={class_column!r}. Pass one with more.")
    return table.select(features), classes


def _check_names(path: Path, table: Any) -> None:
    """Refuse column names that are not UTF-8, and a single one that looks like several."""
    try:
        names = table.column_names
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} has column names that are not UTF-8 ({error.object!r}). Save it as UTF-8."
        ) from None
    for sign, told in (";", "semicolons"), ("\t", "tabs"):
        if path.suffix == ".csv" and len(names) == 1 and sign in names[0]:
            raise ValueError(
                f"{path} has one column, {names[0]!r}: its cells seem to be separated by {told}. "
                "Save it with commas."
            )


def _read_parquet(path: Path) -> Any:
    from pyarrow import ArrowException, parquet

    try:
        return parquet.read_table(path)
    except ArrowException as error:
        raise ValueError(
            f"{path} cannot be read as Parquet: {error}. Pass a whole .parquet file."
        ) from error


def _read_csv(path: Path) -> Any:
    from pyarrow import ArrowInvalid

    try:
        return _read_csv_blocks(path, _BLOCK)
    except ArrowInvalid:
        _check_row_lengths(path)
    try:
        return _read_csv_blocks(path, max(_BLOCK, min(path.stat().st_size, _LARGEST_BLOCK)))
    except ArrowInvalid as error:
        raise ValueError(
            f"{path} cannot be read as CSV: {error}. Pass a file of a line of column names and a "
            "line for each case, with every quote closed and "
            f"every cell under {_LARGEST_BLOCK:,} bytes, the largest block_size."
        ) from error


def _read_csv_blocks(path: Path, block_size: int) -> Any:
    from pyarrow import csv as arrow_csv

    return arrow_csv.read_csv(
        path,
        read_options=arrow_csv.ReadOptions(block_size=block_size),
        # Without it, a line break in quotes ends the row where two blocks meet.
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(strings_can_be_null=True, null_values=[""]),
    )


def _check_row_lengths(path: Path) -> None:
    """Refuse a CSV file whose rows differ in length, naming the line: Arrow knows only the row."""
    with open(path, newline="", encoding="utf-8", errors="replace") as lines:
        rows = csv.reader(lines)
        names, line = next(rows, []), rows.line_num + 1
        try:
            for row in rows:
                if row and len(row) != len(names):
                    raise ValueError(
                        f"{path}, line {line}: the number of cells is {len(row)}, that of column "
                        f"names is {len(names)}. Make them equal; put a cell that holds a comma "
                        "or a line break in double quotes."
                    )
                line = rows.line_num + 1
        except csv.Error:
            return  # a cell too large for this reader, which need not be a fault
