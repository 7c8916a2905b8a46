"""Workbooks, written by another library, beside the same table as CSV."""

import csv
import datetime as dt
import sys

import pytest

from softmodes._sources.paths import open_path
from softmodes._sources.whole import read_whole

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("fastexcel")

NAMES = ["id", "zip", "city", "n", "x", "day", "moment", "clock", "member", "id", None]
DAYS = dt.date(2020, 1, 1), dt.date(2020, 2, 29)
MOMENTS = dt.datetime(2020, 1, 1, 10, 30), dt.datetime(2020, 1, 1)
CLOCKS = dt.time(9, 5), dt.time(23, 59, 1)
ROWS = [
    NAMES,
    [1, "01234", "Köln", 1, 1.5, DAYS[0], MOMENTS[0], CLOCKS[0], True, 5, "a"],
    [2, "1234", "line\nbreak", 2, 2, DAYS[1], MOMENTS[1], CLOCKS[1], False, 6, "b"],
    [3, None, "NA", 30, -0.25, None, None, None, None, 7, "n/a"],
]


@pytest.fixture
def workbook(tmp_path):
    """Write sheets and return the path."""

    def write(name="table.xlsx", **sheets):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
        path = tmp_path / name
        book.save(path)
        return path

    return write


def read(path, **options):
    return read_whole(open_path(path, **options)).to_pydict()


def test_a_sheet_is_read_as_the_same_table_saved_as_csv(workbook, tmp_path):
    saved = tmp_path / "saved.csv"
    with saved.open("w", newline="") as file:
        writer = csv.writer(file)
        for row in ROWS:
            shown = [str(x).lower() if isinstance(x, bool) else x for x in row]
            writer.writerow(["" if x is None else x for x in shown])
    assert read(workbook(Data=ROWS)) == read(saved)


def test_cells_have_the_types_that_they_have_in_the_sheet(workbook):
    assert read(workbook(Data=ROWS)) == {
        "id": [1, 2, 3],
        "zip": ["01234", "1234", None],
        "city": ["Köln", "line\nbreak", None],
        "n": [1, 2, 30],
        "x": [1.5, 2.0, -0.25],
        "day": [*DAYS, None],
        "moment": [*MOMENTS, None],
        "clock": [*CLOCKS, None],
        "member": [True, False, None],
        "id_2": [5, 6, 7],
        "column 11": ["a", "b", None],
    }


def test_told_names_the_sheet_and_the_others(workbook):
    source = open_path(workbook(Empty=[], Data=[["a", "b"], [1, "NA"], [2, None]], More=[["x"]]))
    read_whole(source)
    assert source.told == (
        "2 rows, 2 columns. sheet 'Data', not 'Empty', 'More'. \"NA\" and empty cells read as "
        "missing (2 cells).",
    )


def test_sheets_are_chosen_by_name_or_number(workbook):
    path = workbook(One=[["a"], ["x"]], Two=[["b"], ["y"]])
    assert read(path) == {"a": ["x"]}
    assert read(path, sheet="Two") == read(path, sheet=2) == read(path, sheet="2") == {"b": ["y"]}
    for sheet in ("Three", 3, 0, "0"):
        with pytest.raises(
            ValueError, match=r"is not a sheet of .*Pass a number from 1 to 2, or one"
        ):
            open_path(path, sheet=sheet)


def test_blank_rows_are_no_rows_but_in_a_single_column(workbook):
    assert read(workbook(S=[["a", "b"], [1, 2], [None, None], [3, 4]])) == {
        "a": [1, 3],
        "b": [2, 4],
    }
    assert read(workbook(S=[["a"], ["x"], [None], ["y"]])) == {"a": ["x", None, "y"]}


def test_a_sheet_without_names_is_noticed(workbook):
    assert list(read(workbook(S=[[5, "x"], [7, "x"], [9, "y"]]))) == ["column 1", "column 2"]


def test_rows_come_in_batches(workbook, monkeypatch):
    monkeypatch.setattr("softmodes._sources.excel._ROWS_AT_ONCE", 2)
    source = open_path(workbook(Data=ROWS))
    assert [batch.num_rows for batch in source.batches()] == [2, 1]


def test_an_empty_or_broken_workbook_is_named(workbook, tmp_path):
    with pytest.raises(
        ValueError, match=r"table\.xlsx has no cells in the sheet 'S'\. Pass a sheet"
    ):
        open_path(workbook(S=[]))
    whole = workbook(Data=ROWS).read_bytes()
    path = tmp_path / "broken.xlsx"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(
        ValueError, match=r"broken\.xlsx cannot be read as a workbook: .*save it as"
    ):
        open_path(path)


def test_a_missing_reader_is_one_line_with_the_extra(workbook, monkeypatch):
    path = workbook(Data=ROWS)
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(ImportError, match=r'need fastexcel\. .* pip install "softmodes\[excel\]"'):
        open_path(path)
