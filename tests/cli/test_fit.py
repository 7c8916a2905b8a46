import math
import os
import stat
import threading

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from command import refused, softmodes
from softmodes import SoftModes


@pytest.fixture
def answers(tmp_path):
    """A file of 40 rows in two plain groups, one cell of them empty."""
    rows = [f"{i},yes,red" if i % 4 else f"{i},no,blue" for i in range(40)]
    rows[1] = "1,,red"
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(["id,agrees,colour", *rows, ""]))
    return path


def test_fit_prints_what_marks_each_cluster_and_writes_the_labels(answers, tmp_path):
    labels = tmp_path / "labels.csv"
    printed = softmodes("fit", answers, "-k", 2, "--drop", "id", "--out", labels).stdout
    assert "group 0: 30 rows (75 %)" in printed
    assert "colour: blue  100 % (all 25 %)" in printed
    table = csv.read_csv(answers).drop_columns("id").to_pandas()
    table["agrees"] = table["agrees"].replace("", None)
    model = SoftModes(2, random_state=0).fit(table)
    assert labels.read_text().split() == ["cluster", *map(str, model.labels_)]


@pytest.mark.parametrize(("given", "t"), [("1.5", 1.5), ("inf", math.inf), ("auto", "auto")])
def test_fit_takes_a_number_or_auto_for_t(answers, tmp_path, given, t):
    labels = tmp_path / "labels.csv"
    softmodes("fit", answers, "-k", 6, "--t", given, "--refine", "none", "--out", labels)
    table = csv.read_csv(answers, convert_options=csv.ConvertOptions(strings_can_be_null=True))
    model = SoftModes(6, t=t, refine=None, random_state=0).fit(table)
    assert labels.read_text().split() == ["cluster", *map(str, model.labels_)]


@pytest.mark.parametrize("refine", ["latent", "gini", "none"])
def test_fit_ends_as_it_is_asked_to(answers, tmp_path, refine):
    labels = tmp_path / "labels.csv"
    softmodes("fit", answers, "-k", 4, "--refine", refine, "--n-init", 2, "--out", labels)
    options = csv.ConvertOptions(strings_can_be_null=True)
    table = csv.read_csv(answers, convert_options=options)
    model = SoftModes(4, refine=None if refine == "none" else refine, n_init=2, random_state=0)
    assert labels.read_text().split() == ["cluster", *map(str, model.fit(table).labels_)]


@pytest.mark.parametrize("t", ["auto", "2.5", "inf"])
def test_fit_rounds_as_sharply_as_it_is_asked_to(answers, tmp_path, t):
    labels = tmp_path / "labels.csv"
    softmodes("fit", answers, "-k", 4, "--t", t, "--refine", "none", "--out", labels)
    options = csv.ConvertOptions(strings_can_be_null=True)
    table = csv.read_csv(answers, convert_options=options)
    model = SoftModes(4, t=t if t == "auto" else float(t), refine=None, random_state=0)
    assert labels.read_text().split() == ["cluster", *map(str, model.fit(table).labels_)]


def test_fit_reads_parquet_as_it_reads_csv(answers, tmp_path):
    options = csv.ConvertOptions(strings_can_be_null=True)
    copy = tmp_path / "answers.parquet"
    parquet.write_table(csv.read_csv(answers, convert_options=options), copy)
    printed = [softmodes("fit", path, "-k", 3).stdout for path in (answers, copy)]
    assert printed[0] == printed[1] != ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "41"], "n_clusters=41 is more than n_samples=40."),
        (["-k", "2", "--drop", "name"], "drop='name' is not a column of"),
        (["-k", "2", "--missing", "no"], "missing='no' is not known."),
        (["-k", "2", "--t", "0.5"], "t=0.5 is not a number >= 1."),
        (["-k", "2", "--t", "sharp"], "t='sharp' is not a number >= 1."),
        (["-k", "2", "--n-init", "0"], "n_init=0"),
        (["-k", "2", "--init", "best"], "init='best'"),
        (["-k", "2", "--n-init", "many"], "n_init='many'"),
        (["-k", "2", "--refine", "more"], "refine='more' is not known."),
        (["-k", "2", "--seed", "-1"], "seed=-1 is outside [0, 2**64). Pass another seed."),
        (["-k", "2", "--seed", str(2**64)], "seed=18446744073709551616 is outside [0, 2**64)."),
        (["-k", "2", "--out", "no/labels.csv"], "out='no/labels.csv' is in a folder that does not"),
    ],
)
def test_mistakes_in_fit_are_one_line_with_a_remedy(answers, arguments, message):
    assert message in refused("fit", answers, *arguments)


# --- where labels are written to ---


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("", "out='' is empty. Pass the path of a file to write."),
        ("a\0b", r"out='a\x00b' holds a NUL byte. Pass the path of a file to write."),
        (".", "out='.' is a folder. Pass the path of a file to write, in it or elsewhere."),
        ("no/labels.csv", "out='no/labels.csv' is in a folder that does not exist."),
    ],
)
def test_where_no_labels_can_be_written_is_refused_before_the_table_is_read(out, message):
    assert message in refused("fit", "no-such-table.csv", "-k", 2, "--out", out)


@pytest.mark.parametrize("way", ["itself", "link", "hard link"])
def test_the_table_is_never_overwritten_by_its_labels(answers, way):
    before, out = answers.read_bytes(), answers.with_name(way)
    if way == "itself":
        out = answers
    elif way == "link":
        out.symlink_to(answers)
    else:
        out.hardlink_to(answers)
    message = refused("fit", answers, "-k", 2, "--out", out)
    assert f"out={str(out)!r} is the table itself. Pass another file for the labels." in message
    assert answers.read_bytes() == out.read_bytes() == before


def test_labels_go_through_a_pipe_which_stays_a_pipe(answers, tmp_path):
    pipe, labels, got = tmp_path / "pipe", tmp_path / "labels.csv", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    for out in (pipe, labels):
        softmodes("fit", answers, "-k", 2, "--out", out)
        assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader.join(10)
    assert got == [labels.read_bytes()]


def test_labels_written_through_a_link_leave_the_link_and_the_mode(answers, tmp_path):
    labels, link = tmp_path / "labels.csv", tmp_path / "link"
    labels.touch(0o600)
    link.symlink_to(labels)
    softmodes("fit", answers, "-k", 2, "--out", link)
    assert link.is_symlink()
    assert labels.read_text().startswith("cluster\n")
    assert stat.S_IMODE(labels.stat().st_mode) == 0o600


def test_labels_are_written_whole_or_not_at_all(answers, tmp_path, monkeypatch):
    labels = tmp_path / "labels.csv"
    labels.write_text("what was there\n")
    monkeypatch.setattr(os, "replace", _full_disk)
    assert "No space left" in refused("fit", answers, "-k", 2, "--out", labels)
    assert labels.read_text() == "what was there\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.csv", "labels.csv"]


def _full_disk(*paths):
    raise OSError("No space left on device")


# --- what is refused and shown ---


@pytest.mark.parametrize("cells", [[[1, 2], [3]], [{"a": 1}, {"a": 2}]], ids=["lists", "structs"])
def test_columns_of_lists_and_structs_are_refused_in_one_line(tmp_path, cells):
    path = tmp_path / "nested.parquet"
    parquet.write_table(pa.table({"plain": ["x", "y"], "nested": cells}), path)
    message = refused("fit", path, "-k", 1)
    assert message.startswith("Error: ")
    assert "nested" in message


@pytest.mark.parametrize("text", ["", "n_clusters=2 needs more than there is."])
def test_too_little_memory_is_said_in_one_line(answers, monkeypatch, text):
    def fit(self, X):
        raise MemoryError(text)

    monkeypatch.setattr(SoftModes, "fit", fit)
    expected = text or "Memory is not enough. Pass a smaller table, or fewer clusters."
    assert refused("fit", answers, "-k", 2) == f"Error: {expected}"


def test_cells_headers_and_paths_cannot_act_on_the_terminal(tmp_path):
    evil = "\x1b[2J\x9b2J\u202e"  # clears the screen, twice; writes from right to left
    path, out = tmp_path / f"t{evil}.csv", tmp_path / f"out{evil}.csv"
    path.write_text(f"name{evil},n\ncell{evil},1\ny,2\n", encoding="utf-8")
    printed = softmodes("fit", path, "-k", 2, "--out", out).stdout
    assert printed.replace("\n", "").isprintable()
    assert printed.count(r"\x1b[2J\x9b2J\u202e") == 4  # twice the name, a cell and the path
    assert refused("fit", path, "-k", 9).isprintable()
    assert refused("fit", path.with_suffix(".xls"), "-k", 2).isprintable()
    assert refused("fit", path, "-k", 2, "--drop", "x").isprintable()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no.csv", "' does not exist."),
        (".", "' is a folder."),
        ("pipe.csv", "is a device or a pipe"),
    ],
)
def test_what_is_no_file_is_named(tmp_path, name, message):
    os.mkfifo(tmp_path / "pipe.csv")
    assert message in refused("fit", tmp_path / name, "-k", 2)
