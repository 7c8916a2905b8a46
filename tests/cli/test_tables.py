import pytest

from command import refused, softmodes
from softmodes._cli.options import ReadingOptions
from softmodes._cli.prepared import read_rows
from softmodes._cli.tables import read_labelled
from softmodes._sources import csv


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("table.json", "has an unknown ending, '.json'. Pass a file that ends with .csv, .tsv,"),
        ("table.xls", "table.xls cannot be read as a workbook:"),
        ("table.sav", "table.sav cannot be read:"),
        ("table.parquet", "table.parquet cannot be read as Parquet:"),
        ("table.arrow", "table.arrow cannot be read as Arrow:"),
    ],
)
def test_a_file_that_is_not_what_its_ending_says_is_named(tmp_path, name, message):
    path = tmp_path / name
    path.write_bytes(b"a,b\n1,2\n")
    assert message in refused("fit", path, "-k", 1)


def test_line_breaks_in_quotes_belong_to_their_cell_wherever_blocks_meet(tmp_path):
    path = tmp_path / "breaks.csv"
    path.write_text("text,n\n" + '"line one\nline two",1\nx,2\n' * 100_000)
    table = read_rows(str(path), ReadingOptions()).table
    assert table["text"].value_counts().to_pylist() == [
        {"values": "line one\nline two", "counts": 100_000},
        {"values": "x", "counts": 100_000},
    ]


def test_a_cell_larger_than_a_block_is_read(tmp_path):
    path = tmp_path / "large.csv"
    path.write_text("text,n\n" + "x" * 3_000_000 + ",1\ny,2\n")
    table = read_rows(str(path), ReadingOptions()).table
    assert table["text"].to_pylist() == ["x" * 3_000_000, "y"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "a,b\n1,2\n3\n",
            "table.csv, line 3: the number of cells is 1, that of column names is 2.",
        ),
        ('a,b\n\n"1\n1",2\n3,4,5\n', "table.csv, line 5: the number of cells is 3, that of column"),
        ('a,b\n1,2\n"3,4\n5,6\n', "table.csv, line 3: the number of cells is 1, that of column"),
        (
            "a,b\n1,2,3\n",
            "Make them equal; put a cell that holds the delimiter ',' or a line break in double",
        ),
        ("", "table.csv is empty. Pass a table: a line of column names and a line for each case."),
        ('a,b\n"' + "x,1\n" * 50_000, "line for each case, with every quote closed"),
        ("\n\n", "table.csv is empty."),
    ],
    ids=["short", "long", "open quote", "remedy", "empty", "large open quote", "blank"],
)
def test_a_broken_csv_file_is_named_with_the_line_and_a_remedy(tmp_path, content, message):
    path = tmp_path / "table.csv"
    path.write_text(content)
    assert message in refused("fit", path, "-k", 1)


def test_a_row_larger_than_the_largest_is_refused_with_the_line_and_the_limit(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(csv, "_LARGEST_ROW", 1 << 20)
    monkeypatch.setattr(csv, "_CHUNK", 1 << 20)
    path = tmp_path / "large.csv"
    path.write_text("text,n\nx,1\n" + '"' + "x" * 5_000_000)
    message = refused("fit", path, "-k", 1)
    assert "large.csv: the row that begins on line 3 has over 1,048,576 bytes" in message
    assert "Is a double quote not closed there?" in message


def test_every_column_of_a_name_is_dropped(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("a,a,b\n" + "1,2,3\n4,5,6\n" * 5)
    assert read_rows(str(path), ReadingOptions()).named(["a"]) == ["a", "a_2"]
    assert "1 of 3 columns is used" in softmodes("look", path, "--drop", "a").stdout


def test_a_class_that_two_columns_hold_is_refused_and_not_left_among_the_features(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("a,y,y\n1,2,3\n")
    with pytest.raises(ValueError, match="class='y' is the name of several columns"):
        read_labelled(str(path), "y")


def test_options_say_how_a_file_is_read(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes("größe;1,234\nklein;2,345\n".encode("latin-1") * 30)
    lines = softmodes("look", path).stdout
    assert "60 rows, 2 columns. semicolon, cp1252." in lines
    assert "No column names: the first line looks like the others." in lines
    lines = softmodes("look", path, "--header", "--encoding", "mac_roman").stdout
    assert "59 rows, 2 columns. semicolon, mac_roman." in lines
    lines = softmodes("look", path, "--no-header", "--delimiter", ",", "--na", "345").stdout
    assert '60 rows, 2 columns. comma, cp1252. "345" read as missing (30 cells).' in lines
    told = {"as they look": ReadingOptions(), "said": ReadingOptions(decimal=",")}
    types = {
        name: str(read_rows(str(path), how).table["column 2"].type) for name, how in told.items()
    }
    assert types == {"as they look": "string", "said": "double"}
    assert "decimal='x' is neither" in refused("look", path, "--decimal", "x")
