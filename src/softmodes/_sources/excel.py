"""Sheets of workbooks, read as texts, as if the sheet had been saved as CSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from softmodes._sources.dialect import Row, columns_of
from softmodes._sources.reading import Reading
from softmodes._sources.texts import TextSource
from softmodes._text import short_repr

_FEW_ROWS = 500
_ROWS_AT_ONCE = 1 << 16


class ExcelSource(TextSource):
    """The rows of one sheet: the first that has some, unless told."""

    def __init__(self, path: str, reading: Reading) -> None:
        self._path = path
        self._workbook = self._opened()
        self._sheet, cells = self._found(reading.sheet)
        cells = _without_blank_rows(cells)
        if not cells.num_rows:
            raise ValueError(
                f"{path} has no cells in the sheet {self._sheet!r}. Pass a sheet with a row of "
                "column names and a row for each case, by sheet=, its name."
            )
        columns = columns_of(_first_rows(cells), reading.header)
        self._cells = cells.slice(1) if columns.in_file else cells
        super().__init__(columns, reading)

    @property
    def how(self) -> str:
        """Which sheet, and which others there are."""
        names = self._workbook.sheet_names
        others = [repr(name) for name in names if name != self._sheet]
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        return f"sheet {self._sheet!r}" + (f", not {', '.join(others[:3])}{more}" if others else "")

    def columns_of_text(self) -> Iterator[list[pa.Array]]:
        """Return the rows after the names."""
        for start in range(0, self._cells.num_rows, _ROWS_AT_ONCE):
            rows = self._cells.slice(start, _ROWS_AT_ONCE)
            yield [column.dictionary_encode() for column in rows.columns]

    def _opened(self) -> Any:
        try:
            import fastexcel
        except ImportError:
            raise ImportError(
                'Excel files need fastexcel. Install it with: pip install "softmodes[excel]"'
            ) from None
        try:
            return fastexcel.read_excel(self._path)
        except fastexcel.FastExcelError as error:
            raise self._refusal(error) from error

    def _refusal(self, error: Exception) -> ValueError:
        first_line = str(error).partition("\n")[0]
        return ValueError(
            f"{self._path} cannot be read as a workbook: {first_line}. "
            "Open it with the program that wrote it, and save it as .xlsx or .csv."
        )

    def _found(self, sheet: str | int | None) -> tuple[str, pa.RecordBatch]:
        """Return the name of a sheet and its cells: if none is named, the first that has some."""
        names = self._workbook.sheet_names if sheet is None else [self._named(sheet)]
        loaded = ((name, self._loaded(name)) for name in names)
        none = names[0], pa.record_batch({})
        return next(((name, cells) for name, cells in loaded if cells.num_rows), none)

    def _named(self, sheet: str | int) -> str:
        names: list[str] = self._workbook.sheet_names
        if isinstance(sheet, str) and sheet in names:
            return sheet
        number = int(sheet) if isinstance(sheet, int) or sheet.isdecimal() else 0
        if not 1 <= number <= len(names):
            raise ValueError(
                f"sheet={short_repr(sheet)} is not a sheet of {self._path}. "
                f"Pass a number from 1 to {len(names)}, or one of {', '.join(map(repr, names))}."
            )
        return names[number - 1]

    def _loaded(self, name: str) -> pa.RecordBatch:
        """Return all cells of a sheet as texts, its names among them."""
        import fastexcel

        try:
            sheet = self._workbook.load_sheet(name, header_row=None, dtypes="string")
        except fastexcel.FastExcelError as error:
            raise self._refusal(error) from error
        cells = pa.record_batch(sheet)
        return pa.record_batch([_plain(column) for column in cells.columns], cells.schema.names)


def _without_blank_rows(cells: pa.RecordBatch) -> pa.RecordBatch:
    """Leave out rows without any cell, as blank lines of a text file are; not in one column."""
    if cells.num_columns < 2:
        return cells
    filled = cells.column(0).is_valid()
    for column in cells.columns[1:]:
        filled = pc.or_(filled, column.is_valid())
    return cells.filter(filled)


def _plain(column: pa.Array) -> pa.Array:
    """Return texts of cells with days and times of day as people write them."""
    texts = column.cast(pa.string())
    texts = pc.replace_substring_regex(texts, r"^([0-9]{4}-[0-9]{2}-[0-9]{2}) 00:00:00$", r"\1")
    return pc.replace_substring_regex(texts, r"^1899-12-3[01] ([0-9:]{8})$", r"\1")


def _first_rows(cells: pa.RecordBatch) -> list[Row]:
    columns = [column.fill_null("").to_pylist() for column in cells.slice(0, _FEW_ROWS).columns]
    return [list(row) for row in zip(*columns, strict=True)]
