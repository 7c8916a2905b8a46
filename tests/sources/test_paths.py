"""Folders, patterns and lists of files; files by what they hold."""

import re

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from softmodes._sources.paths import open_path
from softmodes._sources.whole import read_whole


def read(path, **options):
    return read_whole(open_path(path, **options)).to_pydict()


@pytest.fixture
def waves(tmp_path):
    (tmp_path / "wave1.csv").write_text("id,x\n1,a\n2,NA\n")
    (tmp_path / "wave2.tsv").write_text("x\tid\nc\t3\n")
    (tmp_path / "Wave3.CSV").write_bytes("id;x\n4;é\n".encode("latin-1"))
    (tmp_path / "notes.txt").write_text("nothing")
    (tmp_path / ".hidden.csv").write_text("z\n1\n")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "more.csv").mkdir()
    return tmp_path


def test_the_tables_of_a_folder_are_one_table_in_the_order_of_names(waves):
    source = open_path(waves)
    assert read_whole(source).to_pydict() == {"id": [4, 1, 2, 3], "x": ["é", "a", None, "c"]}
    assert source.told == (
        "4 rows, 2 columns. 3 files. semicolon, cp1252. comma, utf-8. tab, utf-8. "
        '"NA" read as missing (1 cell).',
        "Left out, being no tables by their endings: notes.txt.",
    )


def test_patterns_and_lists_name_files(waves):
    assert read(waves / "wave*")["id"] == [1, 2, 3]
    assert read([waves / "wave2.tsv", str(waves / "wave1.csv")])["id"] == [3, 1, 2]
    assert read(str(waves / "**" / "*1.csv"))["id"] == [1, 2]


def test_a_name_with_the_signs_of_a_pattern_is_a_name(tmp_path):
    path = tmp_path / "a[1]*.csv"
    path.write_text("x\n1\n")
    assert read(path, header=True) == {"x": [1]}


def test_the_type_of_a_column_is_decided_over_all_files(tmp_path):
    (tmp_path / "a.csv").write_text("n,m\n1,1\n2,1\n")
    (tmp_path / "b.csv").write_text("n,m\nA12,1.5\n")
    assert read(tmp_path) == {"n": ["1", "2", "A12"], "m": [1.0, 1.0, 1.5]}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("id,y\n1,2\n", "b.csv lacks the column 'x', unlike "),
        ("id,x,z,w,v,u\n1,2,3,4,5,6\n", "b.csv has the columns 'z', 'w', 'v' and 1 more, unlike "),
        ("", "b.csv is empty."),
    ],
)
def test_a_file_with_other_columns_is_named(tmp_path, lines, message):
    (tmp_path / "a.csv").write_text("id,x\n1,2\n")
    (tmp_path / "b.csv").write_text(lines)
    with pytest.raises(ValueError, match=re.escape(message)):
        open_path(tmp_path)


def test_the_line_of_a_fault_is_that_of_its_file(tmp_path):
    (tmp_path / "a.csv").write_text("id,x\n1,2\n")
    (tmp_path / "b.csv").write_text("id,x\n1,2\n3\n")
    with pytest.raises(ValueError, match=r"b\.csv, line 3: the number of cells is 1"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ("no.csv", FileNotFoundError, "no.csv' does not exist. Pass the path of a file that does"),
        ("no*.csv", FileNotFoundError, "no*.csv' matches no file. Pass a pattern that does"),
        (
            "folder",
            FileNotFoundError,
            "folder' is a folder without tables. Pass the path of a file",
        ),
        ("x.docx", ValueError, "x.docx has an unknown ending, '.docx'. Pass a file that ends with"),
        ("x.json.gz", ValueError, "x.json.gz has an unknown ending, '.json'."),
    ],
)
def test_what_is_no_table_is_named_with_a_remedy(tmp_path, path, error, message):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.md").write_text("x")
    (tmp_path / "x.docx").write_text("x")
    (tmp_path / "x.json.gz").write_text("{}")
    with pytest.raises(error, match=re.escape(message)):
        open_path(tmp_path / path)


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        ("year=2020", "is cut into folders by a column: 'year=2020'. Pass pyarrow.dataset"),
        ("_delta_log", "is a table of Delta Lake, whose files hold rows that were deleted"),
    ],
)
def test_a_folder_whose_files_alone_are_not_the_table_is_refused(waves, inner, message):
    (waves / inner).mkdir()
    with pytest.raises(ValueError, match=re.escape(message)):
        open_path(waves)


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ("", ValueError, "path='' is empty"),
        ("a\0b", ValueError, "holds a NUL byte"),
        ([], ValueError, "has no file"),
        (3, TypeError, "path=3 is not a path"),
    ],
)
def test_what_is_no_path_is_refused(path, error, message):
    with pytest.raises(error, match=re.escape(message)):
        open_path(path)


TABLE = pa.table({"n": [1, 2, None], "x": ["a", None, "c"]})


@pytest.mark.parametrize("name", ["t.parquet", "t.PQ", "t.arrow", "t.feather", "t.csv", "t"])
def test_parquet_and_arrow_files_are_known_by_what_they_hold(tmp_path, name):
    path = tmp_path / name
    if name.lower().endswith(("q", "t")):
        parquet.write_table(TABLE, path)
    elif name.endswith("feather"):
        feather.write_feather(TABLE, path)
    else:
        with ipc.new_file(path, TABLE.schema) as file:
            file.write_table(TABLE)
    source = open_path(path)
    assert source.names == ("n", "x")
    assert read_whole(source).to_pydict() == TABLE.to_pydict()
    assert source.told[0].startswith("3 rows, 2 columns. ")


def test_files_of_one_kind_are_read_together_and_of_two_refused(tmp_path):
    for name in ("a.parquet", "b.parquet"):
        parquet.write_table(TABLE, tmp_path / name)
    assert read(tmp_path)["n"] == [1, 2, None] * 2
    pd.DataFrame({"n": [1], "x": ["a"]}).to_csv(tmp_path / "c.csv", index=False)
    with pytest.raises(ValueError, match=r"c\.csv is another kind of file than .*a\.parquet"):
        open_path(tmp_path)
