import pytest

from command import refused
from softmodes._cli import tables
from softmodes._cli.tables import read_table


def test_fit_refuses_files_of_unknown_kind(tmp_path):
    path = tmp_path / "table.xls"
    path.write_bytes(b"a\n1\n")
    message = refused("fit", path, "-k", 2)
    assert "has an unknown ending. Pass a .csv or .parquet file." in message


def test_line_breaks_in_quotes_belong_to_their_cell_wherever_blocks_meet(tmp_path):
    path = tmp_path / "breaks.csv"
    path.write_text("text,n\n" + '"line one\nline two",1\nx,2\n' * 100_000)
    table = read_table(path, [])
    assert table["text"].value_counts().to_pylist() == [
        {"values": "line one\nline two", "counts": 100_000},
        {"values": "x", "counts": 100_000},
    ]


def test_a_cell_larger_than_a_block_is_read(tmp_path):
    path = tmp_path / "large.csv"
    path.write_text("text,n\n" + "x" * 3_000_000 + ",1\ny,2\n")
    table = read_table(path, [])
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
            "Make them equal; put a cell that holds a comma or a line break in double",
        ),
        ("", "table.csv cannot be read as CSV: Empty CSV file. Pass a file of a line of column"),
        ('a,b\n"' + "x,1\n" * 50_000, "line for each case, with every quote closed"),
        ("\n\n", "table.csv cannot be read as CSV: CSV parse error: Empty CSV file"),
    ],
    ids=["short", "long", "open quote", "remedy", "empty", "large open quote", "blank"],
)
def test_a_broken_csv_file_is_named_with_the_line_and_a_remedy(tmp_path, content, message):
    path = tmp_path / "table.csv"
    path.write_text(content)
    assert message in refused("fit", path, "-k", 1)


def test_a_cell_larger_than_the_largest_block_is_refused_with_the_file_and_the_limit(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(tables, "_LARGEST_BLOCK", tables._BLOCK)
    path = tmp_path / "large.csv"
    path.write_text("text,n\n" + "x" * 3_000_000 + ",1\ny,2\n")
    message = refused("fit", path, "-k", 1)
    assert "large.csv cannot be read as CSV:" in message
    assert "every cell under 1,048,576 bytes, the largest block_size." in message


def test_a_file_that_only_claims_to_be_parquet_is_named(tmp_path):
    path = tmp_path / "table.parquet"
    path.write_text("a,b\n1,2\n")
    assert "table.parquet cannot be read as Parquet:" in refused("fit", path, "-k", 1)


def test_every_column_of_a_name_is_dropped(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("a,a,b\n1,2,3\n")
    assert read_table(path, ["a"]).column_names == ["b"]
