# ruff: noqa: RUF001 - letters of other scripts are meant
"""Text files as they are, read in small chunks and beside Python's csv module and pandas."""

import bz2
import csv
import gzip
import io
import lzma
import os
import random
import threading
import zipfile

import pandas as pd
import pyarrow as pa
import pytest

from softmodes._sources import csv as reader
from softmodes._sources import encoding
from softmodes._sources.csv import Cutter
from softmodes._sources.paths import open_path
from softmodes._sources.reading import Reading
from softmodes._sources.types import MISSING_WORDS
from softmodes._sources.whole import read_whole

ROWS = [
    ["Stadt", "n", "note"],
    ["München", "1", "a, b; c|d\te"],
    ["Köln", "2", 'two\nlines, "quoted"'],
    ["Düsseldorf", "NA", ""],
]
READ = {
    "Stadt": ["München", "Köln", "Düsseldorf"],
    "n": [1, 2, None],
    "note": ["a, b; c|d\te", 'two\nlines, "quoted"', None],
}


def written(rows, delimiter=",", newline="\n"):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=newline).writerows(rows)
    return out.getvalue()


@pytest.fixture
def file(tmp_path):
    """Write a file and return its path."""

    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def tiny_chunks(monkeypatch):
    """Let the reader cut files anywhere."""

    def cut(chunk=1, block=64):
        monkeypatch.setattr(reader, "_CHUNK", chunk)
        monkeypatch.setattr(reader, "_CHUNK_PER_COLUMN", 0)
        monkeypatch.setattr(reader, "_HEAD", block)
        monkeypatch.setattr(encoding, "_BLOCK", block)

    return cut


def read(path, **options):
    return read_whole(open_path(path, **options)).to_pydict()


def told(path, **options):
    source = open_path(path, **options)
    read_whole(source)
    return source.told


# --- dialects ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "delimiter", [",", ";", "\t", "|"], ids=["comma", "semicolon", "tab", "pipe"]
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["unix", "windows"])
def test_delimiters_and_line_ends_are_found_out(file, delimiter, newline):
    path = file(written(ROWS, delimiter, newline))
    assert read(path) == READ


def test_lines_may_end_as_on_old_macs(file):
    assert read(file("a,b\r1,x\r2,y\r")) == {"a": [1, 2], "b": ["x", "y"]}


def test_a_delimiter_that_is_not_looked_for_is_taken_from_the_option(file):
    path = file("a b\n1 x\n2 y\n")
    assert read(path, delimiter="space") == {"a": [1, 2], "b": ["x", "y"]}
    assert read(file("a:b\n1:x\n"), delimiter=":") == {"a": [1], "b": ["x"]}
    assert read(file("a;b,c\n1;2,3\n"), delimiter=",") == {"a;b": ["1;2"], "c": [3]}


def test_decimal_commas_do_not_pass_for_delimiters(file):
    path = file("x;y\n1,5;2,5\n3,5;4,25\n")
    assert read(path) == {"x": [1.5, 3.5], "y": [2.5, 4.25]}
    assert read(file("1,5;2,5;x\n3,5;4,25;y\n"))["column 2"] == [2.5, 4.25]
    assert read(file("a,x;1,5\nb,y;2,5\n"), header=False)["column 1"] == ["a", "b"]


def test_numbers_between_blanks_are_rows(file):
    assert read(file("a b\n1 2.5\n3 4\n")) == {"a": [1, 3], "b": [2.5, 4.0]}
    assert read(file("a question\nan answer\nno answer\n"))["a question"] == [
        "an answer",
        "no answer",
    ]


def test_a_title_above_the_names_is_not_taken_for_a_table_of_one_column(file):
    path = file("Export of 2024\n\na,b,c\n" + "1,2,3\n" * 5)
    with pytest.raises(ValueError, match=r"line 3: .* is 3, .* is 1\..*a title stands above"):
        read(path)
    assert read(file("place\n" + "Ulm, Germany\n" * 5))["place"] == ["Ulm, Germany"] * 5


def test_the_line_that_excel_understands_is_no_row(file):
    path = file("sep=;\r\na;b\r\n1,5;x, y\r\n")
    assert read(path) == {"a": [1.5], "b": ["x, y"]}


@pytest.mark.parametrize(
    "name",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252"],
)
@pytest.mark.parametrize("told", [False, True], ids=["found out", "told"])
def test_encodings_are_read(file, name, told):
    path = file(written(ROWS).encode(name))
    assert read(path, encoding=name if told else None) == READ


PACKINGS = {
    "table.csv.gz": gzip.compress,
    "table.CSV.GZ": gzip.compress,
    "table.csv.bz2": bz2.compress,
    "table.tsv.xz": lzma.compress,
    "table.csv.zst": lambda content: pa.compress(content, "zstd", asbytes=True),
    "table.csv": gzip.compress,
    "table.TSV": bytes,
    "table.TXT": bytes,
    "table": bytes,
}


@pytest.mark.parametrize("name", PACKINGS)
def test_packed_files_and_endings_in_any_case_are_read(file, name):
    path = file(PACKINGS[name](written(ROWS, "\t").encode()), name)
    assert read(path) == READ


def test_files_packed_one_after_the_other_are_one(file):
    content = written(ROWS).encode()
    path = file(gzip.compress(content[:40]) + gzip.compress(content[40:]), "table.csv.gz")
    assert read(path) == READ


def test_a_zip_archive_of_one_file_is_read_and_of_two_refused(tmp_path):
    path = tmp_path / "table.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/table.csv", written(ROWS))
        archive.writestr("__MACOSX/data/._table.csv", b"\0\1")
    assert read(path) == READ
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("more.csv", written(ROWS))
    with pytest.raises(ValueError, match=r"is a zip archive of 2 files\. Unpack it"):
        open_path(path)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_damaged_packing_is_named(file, pack):
    lines = "".join(f"{i},{i * i}\n" for i in range(20_000))
    packed = pack(f"a,b\n{lines}".encode())
    for content in (packed[: len(packed) // 2], packed[:30] + b"broken" + packed[36:]):
        path = file(content)
        with pytest.raises(ValueError, match=r"table\.csv cannot be unpacked: .*damaged or not"):
            read(path)


# --- where files are cut -------------------------------------------------------------------------


def slow_rows(text, delimiter=","):
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    return rows[0], [row for row in rows[1:] if row]


@pytest.mark.parametrize("seed", range(150))
def test_quotes_anywhere_are_read_as_python_reads_them_wherever_the_file_is_cut(
    file, tiny_chunks, seed
):
    r = random.Random(seed)
    pieces = ["a", "b ", '"', '""', ",", ",", "\n", "\n", "\r\n", '",', ',"', '\n"', '"\n', "é"]
    body = "".join(r.choices(pieces, k=r.randrange(1, 60)))
    text = f"x,y\nu,v\n{body}\n"
    header, rows = slow_rows(text)
    tiny_chunks(r.choice((1, 7, 30)), 64)
    path = file(text)
    options = {"delimiter": ",", "header": True}
    if any(len(row) != 2 for row in rows):
        with pytest.raises(ValueError, match=r"table\.csv, (line|in the lines from) \d"):
            read(path, **options)
        return
    batches = [batch.to_pydict() for batch in open_path(path, **options).batches()]
    for j, name in enumerate(header):
        expected = [None if row[j].strip() in MISSING_WORDS else row[j] for row in rows]
        assert [cell for batch in batches for cell in batch[name]] == expected


def test_the_last_row_end_is_outside_of_quotes():
    cutter = Cutter(b",", b"\n")
    for rows, end in [
        (b"a,b\nc", 4),
        (b"a,b", 0),
        (b'a,"b\nc', 0),
        (b'a\n"b\nc"\nd', 8),
        (b'a\n"b\nc', 2),
        (b'5" x\n3" y\n', 10),
        (b'5" x\n"a\nb', 5),
        (b'"a""\n""b"\n"', 10),
        (b'"a"b"\n"c\n', 6),
        (b'5" x\n"a""\nb', 5),
        (b'5" x\r\ny\r', 6),
    ]:
        assert cutter.last_row_end(rows) == end, rows


def test_a_value_of_another_type_on_the_last_line_makes_the_column_text(file, tiny_chunks):
    numbers = [str(i) for i in range(300)]
    path = file("x,y\n" + "".join(f"{n},{n}\n" for n in numbers) + "A12,7\n")
    whole = read(path)
    assert whole == {"x": [*numbers, "A12"], "y": [*map(int, numbers), 7]}
    tiny_chunks()
    assert len(list(open_path(path).batches())) > 10
    assert read(path) == whole


def test_batches_do_not_grow_with_the_file(file):
    line = "some text,another text,1,2\n"
    path = file("a,b,c,d\n" + line * 1_000_000)
    sizes = [batch.num_rows for batch in open_path(path).batches()]
    assert sum(sizes) == 1_000_000
    assert max(sizes) * len(line) < 6 << 20


def test_a_cell_longer_than_any_chunk_is_read(file, tiny_chunks):
    tiny_chunks(100, 100)
    cell = "line\n" * 2000
    path = file(f'a,b\nx,1\n"{cell}",2\ny,3\n')
    assert read(path) == {"a": ["x", cell, "y"], "b": [1, 2, 3]}


def test_names_with_line_breaks_are_whole_however_little_is_looked_at_first(file, tiny_chunks):
    tiny_chunks(1, 10)
    path = file('"a long\nname in\nthree lines","b"\n1,2\n3,4\n')
    assert read(path) == {"a long\nname in\nthree lines": [1, 3], "b": [2, 4]}


@pytest.mark.parametrize("name", ["utf-8", "utf-16", "cp932"])
def test_characters_of_several_bytes_are_whole_wherever_blocks_meet(file, tiny_chunks, name):
    tiny_chunks(1, 65)
    word = "はい" * 20
    path = file(f"a,b\n{word},1\nx{word},2\n".encode(name))
    assert read(path, encoding=name) == {"a": [word, f"x{word}"], "b": [1, 2]}


def test_an_encoding_that_shows_late_is_found_out_late(file):
    plain = "x,1\n" * 600_000
    path = file((f"a,b\n{plain}Köln,2\nMünchen,3\n").encode("latin-1"))
    source = open_path(path)
    assert source.told == ("2 columns. comma, utf-8.",)
    assert read_whole(source)["a"].to_pylist()[-2:] == ["Köln", "München"]
    assert source.told == ("600,002 rows, 2 columns. comma, cp1252.",)


def test_two_encodings_in_one_file_are_refused_with_the_line(file, tiny_chunks):
    tiny_chunks()
    good = "a,b\n" + "Köln,1\n" * 50
    path = file(good.encode() + "München,2\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"table\.csv, line 52: the byte 0xfc is not utf-8, which"):
        read(path)
    with pytest.raises(ValueError, match=r"line 52: the byte 0xfc is not utf-8, which was asked"):
        read(path, encoding="utf-8")
    assert len(read(path, encoding="latin-1")["a"]) == 51


@pytest.mark.parametrize(
    ("text", "line", "n_cells"),
    [
        ("a,b\n" + "1,2\n" * 500 + "3\n" + "1,2\n" * 500, 502, 1),
        ("\n\na,b\n\n" + '"1\n1",2\n' * 100 + "\n3,4,5\n", 206, 3),
        ("a,b\r\n" + "1,2\r\n" * 100 + "1,2,3\r\n", 102, 3),
        ("a,b\n" + "1,2,3\n" * 10, 2, 3),
    ],
)
def test_a_row_of_another_length_is_refused_with_its_line(file, tiny_chunks, text, line, n_cells):
    path = file(text)
    expected = (
        f"table.csv, line {line}: the number of cells is {n_cells}, that of column names is 2."
    )
    for _ in range(2):
        with pytest.raises(ValueError, match="in double quotes") as error:
            read(path)
        assert expected in str(error.value)
        tiny_chunks()


# --- names ---------------------------------------------------------------------------------------


def test_names_that_lack_or_occur_again_are_made_up_and_told(file):
    path = file("a,,a, b ,column 2,a_2,\n1,2,3,4,5,6,7\n")
    source = open_path(path)
    assert source.names == ("a", "column 2_2", "a_3", "b", "column 2", "a_2", "column 7")
    assert source.renamed == {"a_3": "a"}
    assert source.told[1:] == (
        'Columns without a name are called "column 2_2", "column 7".',
        'Names that occur again are changed to "a_3".',
    )


@pytest.mark.parametrize(
    "lines",
    [
        "1,2\n3,4\n",
        "5,2,3\n3,4,1\n",
        "5,Bern,x\n7,Ulm,y\n8,Wil,x\n",
        "1.5,x\n2.5,y\n2,x\n",
        "2020-01-01,x\n2020-01-02,y\n",
        "p,x,s\ne,x,y\ne,b,s\np,x,y\n",
        "yes\nno\nyes\nno\n",
        "yes,old\nno,young\n" * 5,
        "7\n42\n",
    ],
)
def test_a_file_without_names_is_noticed(file, lines):
    path = file(lines)
    source = open_path(path)
    assert source.names == tuple(f"column {j + 1}" for j in range(len(source.names)))
    assert "No column names: the first line looks like the others." in source.told[1]
    assert len(read(path)["column 1"]) == lines.count("\n")
    assert len(read(path, header=True).popitem()[1]) == lines.count("\n") - 1


@pytest.mark.parametrize(
    "lines",
    [
        "a,b\n1,2\n",
        "a,b\n",
        "2019,2020,2021\n3,4,5\n6,7,8\n",
        "0,1,2\nx,y,z\n",
        "name,1\nx,3\ny,4\n",
        "country,2019\nDE,5\nFR,6\n",
        "city,color\nUlm,red\nBern,blue\n",
        "x,y\nx,y\n",
        "x,y\n" + "a,b\n" * 30 + "x,y\n",
        "id,answer\n,yes\n,no\n",
    ],
)
def test_names_are_not_taken_for_a_row(file, lines):
    names = tuple(lines.partition("\n")[0].split(","))
    assert open_path(file(lines)).names == names
    assert open_path(file(lines), header=False).names[0] == "column 1"


# --- missing cells -------------------------------------------------------------------------------


def test_missing_words_are_counted_and_told(file, tiny_chunks):
    path = file("a,b,c\n" + "NA,x,1\nn/a, NA ,2\n,-9,3\n" * 40)
    for _ in range(2):
        assert told(path) == (
            '120 rows, 3 columns. comma, utf-8. "NA", "n/a" and empty cells read as missing '
            "(160 cells).",
        )
        tiny_chunks(50)
    assert told(path, na=["-9", "x"])[0].endswith(
        '"-9", "NA", "n/a", "x" and empty cells read as missing (240 cells).'
    )
    assert read(path, na="-9")["b"][:3] == ["x", None, None]


def test_a_source_that_is_read_again_tells_the_same(file):
    source = open_path(file("a,b\nNA,1\nx,2\n"))
    assert read_whole(source).equals(read_whole(source))
    assert source.told == ('2 rows, 2 columns. comma, utf-8. "NA" read as missing (1 cell).',)


def test_told_is_for_people(file):
    assert told(file("a\n1\n")) == ("1 row, 1 column. one cell a line, utf-8.",)
    assert told(file("a;b\n1;\n")) == (
        "1 row, 2 columns. semicolon, utf-8. Empty cells read as missing (1 cell).",
    )
    assert told(file("a,b\nNA,1\n"))[0].endswith('"NA" read as missing (1 cell).')
    escapes = told(file("a\x1b[2J,a\x1b[2J\nx,y\n"), na=["y\x1b[2J"])
    assert all(line.isprintable() for line in escapes)
    assert any(r"\x1b[2J" in line for line in escapes)


def test_decimal_and_leading_zeros(file):
    path = file("zip;x;n\n01234;1,50;1.000\n1234;2;2.000\n")
    assert read(path) == {"zip": ["01234", "1234"], "x": [1.5, 2.0], "n": [1.0, 2.0]}
    assert read(path, decimal=",")["n"] == ["1.000", "2.000"]
    assert read(path, decimal=".")["x"] == ["1,50", "2"]


# --- odd tables ----------------------------------------------------------------------------------


def test_a_file_of_one_column_keeps_its_empty_lines(file):
    assert read(file("a\n\nx\n\n\ny\n")) == {"a": [None, "x", None, None, "y"]}
    assert read(file('comment\n"a, b"\nno, no\n"line\nbreak"\n')) == {
        "comment": ["a, b", "no, no", "line\nbreak"]
    }
    assert read(file("\n5\n\n7\n"), header=False) == {"column 1": [None, 5, None, 7]}
    assert read(file("a,b\n\n1,2\n\n")) == {"a": [1], "b": [2]}


def test_a_file_without_rows_is_a_table_without_rows(file):
    table = read_whole(open_path(file("a,b\n")))
    assert table.shape == (0, 2)
    assert table.column_names == ["a", "b"]


def test_thousands_of_columns_are_read(file):
    names = [f"question {j}" for j in range(3000)]
    cells = [[str(i * j % 7) for j in range(3000)] for i in range(20)]
    path = file(written([names, *cells], ";"))
    table = read_whole(open_path(path))
    assert table.column_names == names
    assert table["question 2999"].to_pylist() == [int(row[2999]) for row in cells]


def test_null_bytes_and_escapes_are_cells_like_others(file):
    assert read(file("a,b\nx\0y,\x1b[2J\nz,w\n" * 1 + "q,r\n" * 50))["a"][0] == "x\0y"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"table\.csv is empty\. Pass a table: a line of column names and a line for each"),
        (b"\xef\xbb\xbf\r\n", r"table\.csv is empty\."),
        (random.Random(0).randbytes(4000), r"table\.csv holds no text: it looks like an image"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), r"table\.csv holds no text"),
    ],
    ids=["empty", "blank", "garbage", "image"],
)
def test_what_is_no_table_is_named(file, content, message):
    with pytest.raises(ValueError, match=message):
        open_path(file(content))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": ";;"}, r"delimiter=';;' is not one ASCII sign .*Pass one, or one of comma"),
        ({"delimiter": '"'}, "delimiter='\"' is not one ASCII sign"),
        ({"encoding": "klingon"}, "encoding='klingon' is unknown. Pass one .* such as \"utf-8\""),
        ({"encoding": "base64"}, "encoding='base64' is unknown"),
        ({"decimal": "'"}, r"decimal=\"'\" is neither"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        Reading(**options)


# --- another path --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_random_tables_are_read_as_pandas_reads_them(file, tiny_chunks, seed):
    r = random.Random(seed)
    makers = [
        lambda: str(r.randrange(-5, 100)),
        lambda: f"{r.random():.3f}",
        lambda: r.choice(["red", "blue", "dark green", "NA", ""]),
        lambda: r.choice(["x\ny", 'say "no"', "a,b"]),
    ]
    kinds = [r.choice(makers) for _ in range(5)]
    rows = [[f"c{j}" for j in range(5)], *([make() for make in kinds] for _ in range(200))]
    path = file(written(rows))
    tiny_chunks(r.choice((10, 1000, 1 << 20)), 1000)
    frame = pd.read_csv(path, keep_default_na=False, na_values=list(MISSING_WORDS))
    expected = {name: [None if pd.isna(x) else x for x in frame[name]] for name in frame}
    assert read(path) == expected


# --- pipes ---------------------------------------------------------------------------------------


def test_standard_input_is_read_once(monkeypatch):
    content = gzip.compress(written(ROWS, ";").encode("latin-1"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    source = open_path("-")
    assert read_whole(source).to_pydict() == READ
    assert source.told[0].startswith("3 rows, 3 columns. semicolon, cp1252.")
    with pytest.raises(ValueError, match=r"standard input was read already\. Save it as a file"):
        read_whole(source)


def test_errors_name_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1\n")))
    with pytest.raises(ValueError, match="standard input, line 2: the number of cells is 1"):
        read_whole(open_path("-"))


def test_a_named_pipe_is_read(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(written([ROWS[0], *ROWS[1:] * 1000]),))
    writer.start()
    table = read_whole(open_path(path))
    writer.join()
    assert table.num_rows == 3 * 1000


# --- encodings -----------------------------------------------------------------------------------


GUESSES = {
    "cp1252": "question\ndon’t know, “maybe”\nit’s – no\nl’été\n",
    "latin-1": "Stadt,Antwort\nMünchen,ja\nKöln,nein\nZürich,weiß nicht\n",
    "cp1250": "Miasto;Odpowiedź\nŁódź;zażółć gęślą jaźń\nGdańsk;nie\n",
    "mac_roman": "Ville;Réponse\nBesançon;déçu\nNîmes;à côté\nOrléans;très satisfait\n",
    "cp850": "Stadt,Antwort\nMünchen,größer\nDüsseldorf,weiß nicht\n",
    "cp1251": "Город;Ответ\nМосква;да\nКазань;нет\nСанкт-Петербург;не знаю\n",
    "koi8_r": "Город;Ответ\nМосква;да\nКазань;нет\nСанкт-Петербург;не знаю\n",
    "cp1253": "Πόλη;Απάντηση\nΑθήνα;ναι\nΠάτρα;όχι\n",
    "cp932": "都市,回答\n東京,はい\n大阪,いいえ\n名古屋,わからない\n",
}
NEED_CHARSET_NORMALIZER = ("cp1251", "koi8_r", "cp1253", "cp932")


@pytest.mark.parametrize("name", GUESSES)
def test_the_encoding_of_a_few_lines_is_guessed(name):
    if name in NEED_CHARSET_NORMALIZER:
        pytest.importorskip("charset_normalizer")
    content = GUESSES[name].encode(name)
    assert content.decode(encoding.guess(content)) == GUESSES[name]


def test_many_letters_with_accents_are_western_still():
    content = "España,señor,mañana,niño,año,sueño,pequeño,otoño,montaña,compañía\n".encode("cp1252")
    assert encoding.guess(content) == "cp1252"


def test_utf_16_without_a_mark_is_read_where_it_is_asked_for(file):
    path = file(GUESSES["cp1251"].encode("utf-16-le"))
    assert list(read(path, encoding="utf-16")) == ["Город", "Ответ"]


def test_without_charset_normalizer_other_scripts_are_read_as_some_letters(monkeypatch, file):
    monkeypatch.setitem(__import__("sys").modules, "charset_normalizer", None)
    path = file(GUESSES["cp1251"].encode("cp1251"))
    table = read(path)
    assert len(set(next(iter(table.values())))) == 3
    assert list(read(path, encoding="cp1251")) == ["Город", "Ответ"]


@pytest.mark.parametrize("start", [b"PAR1", b"PK\x03\x04", b"ARROW1", b"$FL2"])
def test_files_that_are_read_from_several_places_are_refused_from_a_pipe(monkeypatch, start):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(start + bytes(100))))
    with pytest.raises(
        ValueError, match=r"^standard input is no text.* Save it, and pass its path"
    ):
        open_path("-", name="file")


def test_arrow_parses_memory_of_its_own(monkeypatch, tmp_path):
    """Its threads may free it after the end of the interpreter, which frees no object then."""
    given, read_csv = [], reader.arrow_csv.read_csv

    def noted(table, *options):
        given.append(table.read_buffer())
        table.seek(0)
        return read_csv(table, *options)

    monkeypatch.setattr(reader.arrow_csv, "read_csv", noted)
    before = pa.total_allocated_bytes()
    path = tmp_path / "table.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 1_000)
    assert read_whole(open_path(path)).num_rows == 1_000
    assert sum(buffer.size for buffer in given) >= 4_000
    assert pa.total_allocated_bytes() - before >= 4_000
