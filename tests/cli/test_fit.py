import gzip
import importlib
import os
import re
import stat
import sys
import threading
import time

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from typer.testing import CliRunner

from softmodes import SoftModes
from softmodes._cli import main as cli
from softmodes._paper import EXPERIMENTS
from softmodes._paper.results import ResultsFile, read
from softmodes._text import harmless
from softmodes.baselines import unregister

FEW = ["theorem", "--size", "small"]
PACKED = gzip.compress(b'{"key": "a"}\n' * 9)


def softmodes(*arguments):
    result = CliRunner().invoke(cli.app, [str(a) for a in arguments], env={"COLUMNS": "200"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def refused(*arguments):
    result = softmodes(*arguments)
    assert result.exit_code == 1
    assert "Traceback" not in result.stderr
    return " ".join(result.stderr.split())


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
    assert "cluster 0: 30 rows (75%)" in printed
    assert "colour=blue (100%, 4.0x)" in printed
    table = csv.read_csv(answers).drop_columns("id").to_pandas()
    table["agrees"] = table["agrees"].replace("", None)
    model = SoftModes(2, t=3.0, random_state=0).fit(table)
    assert labels.read_text().split() == ["cluster", *map(str, model.labels_)]


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
        (["-k", "2", "--seed", "-1"], "seed=-1 is outside [0, 2**64). Pass another seed."),
        (["-k", "2", "--seed", str(2**64)], "seed=18446744073709551616 is outside [0, 2**64)."),
        (["-k", "2", "--out", "no/labels.csv"], "out='no/labels.csv' is in a folder that does not"),
    ],
)
def test_mistakes_in_fit_are_one_line_with_a_remedy(answers, arguments, message):
    assert message in refused("fit", answers, *arguments)


def test_fit_refuses_files_of_unknown_kind(tmp_path):
    message = refused("fit", tmp_path / "table.xls", "-k", 2)
    assert "has an unknown ending. Pass a .csv or .parquet file." in message


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


# --- what is read ---


def test_line_breaks_in_quotes_belong_to_their_cell_wherever_blocks_meet(tmp_path):
    path = tmp_path / "breaks.csv"
    path.write_text("text,n\n" + '"line one\nline two",1\nx,2\n' * 100_000)
    table = cli._read_table(path, [])
    assert table["text"].value_counts().to_pylist() == [
        {"values": "line one\nline two", "counts": 100_000},
        {"values": "x", "counts": 100_000},
    ]


def test_a_cell_larger_than_a_block_is_read(tmp_path):
    path = tmp_path / "large.csv"
    path.write_text("text,n\n" + "x" * 3_000_000 + ",1\ny,2\n")
    table = cli._read_table(path, [])
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
    monkeypatch.setattr(cli, "_LARGEST_BLOCK", cli._BLOCK)
    path = tmp_path / "large.csv"
    path.write_text("text,n\n" + "x" * 3_000_000 + ",1\ny,2\n")
    message = refused("fit", path, "-k", 1)
    assert "large.csv cannot be read as CSV:" in message
    assert "every cell under 1,048,576 bytes, the largest block_size." in message


def test_a_file_that_only_claims_to_be_parquet_is_named(tmp_path):
    path = tmp_path / "table.parquet"
    path.write_text("a,b\n1,2\n")
    assert "table.parquet cannot be read as Parquet:" in refused("fit", path, "-k", 1)


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


def test_every_column_of_a_name_is_dropped(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("a,a,b\n1,2,3\n")
    assert cli._read_table(path, ["a"]).column_names == ["b"]


# --- what is shown ---

CLEAR, TITLE, C1, RIGHT_TO_LEFT = "\x1b[2J", "\x1b]0;owned\x07", "\x9b2J", "\u202e"
ACTIVE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.mark.parametrize(
    ("control", "shown"),
    [
        (CLEAR, r"\x1b[2J"),
        (TITLE, r"\x1b]0;owned\x07"),
        (C1, r"\x9b2J"),
        (RIGHT_TO_LEFT, r"\u202e"),
        ("\r", r"\r"),
        ("\0", r"\x00"),
        ("\u2066", r"\u2066"),
    ],
)
def test_a_summary_spells_controls_out_and_a_profile_keeps_them(control, shown):
    table = [{f"f{control}": value} for value in (f"a{control}", f"a{control}", "b c", "b c")]
    model = SoftModes(2, random_state=0, n_init=1).fit(pd.DataFrame(table))
    assert f"f{shown}=a{shown} (100%, 2.0x)" in model.summary()
    assert f"f{shown}=b c (100%, 2.0x)" in model.summary()
    assert not ACTIVE.search(model.summary())
    assert set(model.profile()["value"]) == {f"a{control}", "b c"}
    assert set(model.profile()["feature"]) == {f"f{control}"}


def test_halves_of_characters_which_cannot_be_printed_are_spelled_out():
    assert harmless("a\ud800") == r"a\ud800"


def test_cells_headers_and_paths_cannot_act_on_the_terminal(tmp_path):
    evil = CLEAR + C1 + RIGHT_TO_LEFT
    path, out = tmp_path / f"t{evil}.csv", tmp_path / f"out{evil}.csv"
    path.write_text(f"name{evil},n\ncell{evil},1\ny,2\n", encoding="utf-8")
    printed = softmodes("fit", path, "-k", 2, "--out", out).stdout
    assert not ACTIVE.search(printed)
    assert printed.count(r"\x1b[2J\x9b2J\u202e") == 4  # twice the name, a cell and the path
    assert not ACTIVE.search(refused("fit", path, "-k", 9))
    assert not ACTIVE.search(refused("fit", path.with_suffix(".xls"), "-k", 2))
    assert not ACTIVE.search(refused("fit", path, "-k", 2, "--drop", "x"))


def test_a_summary_shows_the_start_of_a_long_value_at_once(tmp_path):
    values = ["x" * 2_000_000 + "y", "z" * 200]
    model = SoftModes(2, random_state=0, n_init=1).fit([[value] for value in values])
    start = time.perf_counter()
    text = "".join(model.summary().split())
    assert time.perf_counter() - start < 2.0
    assert f"x0={'x' * 200}...(100%,2.0x)" in text
    assert f"x0={'z' * 200}(100%,2.0x)" in text


def test_list_names_every_experiment_and_its_number_of_cells():
    printed = softmodes("paper", "list").stdout
    for experiment in EXPERIMENTS.values():
        row = next(line for line in printed.splitlines() if f" {experiment.id} " in line)
        assert experiment.title in row
        counts = [len(list(experiment.cells(size))) for size in ("small", "full")]
        assert row.split()[-2:] == [f"{count:,}" for count in counts]


def test_run_then_resume_then_report(tmp_path):
    results, report = tmp_path / "results", tmp_path / "report"
    first = softmodes("paper", "run", *FEW, "--out", results)
    assert re.search(r"30 cells run, 30 in .*small\.jsonl", first.stdout)
    before = (results / "small.jsonl").read_bytes()
    again = softmodes("paper", "run", *FEW, "--out", results)
    assert "0 cells run, 30 in" in again.stdout
    assert (results / "small.jsonl").read_bytes() == before
    printed = softmodes(
        "paper", "report", "--results", results, "--size", "small", "--out", report
    ).stdout
    assert printed.split() == [str(report / "report.md"), str(report / "report.html")]
    assert "Complete: 30 cells" in (report / "report.md").read_text()


def test_progress_shows_cells_done_and_time(tmp_path):
    shown = softmodes("paper", "run", *FEW, "--out", tmp_path).stderr
    assert "theorem" in shown
    assert "30/30" in shown
    assert re.search(r"\d:\d\d:\d\d", shown)


def test_a_plugin_joins(tmp_path):
    plugin = tmp_path / "mine.py"
    plugin.write_text(
        "from softmodes.baselines import register\n"
        "@register('all in one')\n"
        "def all_in_one(X, n_clusters, random_state):\n"
        "    return [0] * len(X)\n"
    )
    try:
        softmodes("paper", "run", *FEW, "--out", tmp_path, "--plugin", plugin)
    finally:
        unregister("all in one")
    joined = [r for r in read(tmp_path / "small.jsonl") if r["algorithm"] == "all in one"]
    assert len(joined) == 10
    assert {r["metrics"]["accuracy"] for r in joined} == {0.5}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise KeyError('x')", "raised KeyError when imported: 'x'."),
        ("def broken(:", "raised SyntaxError when imported: "),
        ("import no_such_module", "raised ModuleNotFoundError when imported: No module named"),
    ],
)
def test_a_plugin_that_raises_is_one_line(tmp_path, body, message):
    plugin = tmp_path / "mine.py"
    plugin.write_text(body)
    text = refused("paper", "run", *FEW, "--out", tmp_path, "--plugin", plugin)
    assert f"plugin={str(plugin)!r} {message}" in text


def test_a_module_that_is_not_there_is_named_as_the_plugin(tmp_path):
    text = refused("paper", "run", *FEW, "--out", tmp_path, "--plugin", "no_such_module")
    assert "plugin='no_such_module' raised ModuleNotFoundError when imported" in text


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_method_of_a_plugin_that_raises_is_one_line(tmp_path, jobs):
    plugin = tmp_path / "mine.py"
    plugin.write_text(
        "from softmodes.baselines import register\n"
        "class Odd(Exception):\n"
        "    def __init__(self, a, b):\n"
        "        super().__init__(f'{a}\\n{b}')\n"
        "@register('broken')\n"
        "def broken(X, n_clusters, random_state):\n"
        "    raise Odd('first', 'second')\n"
    )
    try:
        text = refused("paper", "run", *FEW, "--out", tmp_path, "--plugin", plugin, "--jobs", jobs)
    finally:
        unregister("broken")
    assert f"plugin={str(plugin)!r} raised Odd in the cell theorem/" in text
    assert r": first\nsecond. Mend the plugin and run again: what is done is kept." in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "fig-9"], "experiment='fig-9' is not known. Pass 'all' or some of 'fig-rounding'"),
        (["run", "all", "--size", "tiny"], "size='tiny' is not known. Pass one of small, full."),
        (["run", "theorem", "--plugin", "no.py"], "plugin='no.py' is not a file."),
        (["run", "theorem", "--jobs", "0"], "jobs=0 is not a number of processes."),
        (["report"], "results holds no results of size full. Run first: softmodes paper run all"),
    ],
)
def test_mistakes_are_one_line_with_a_remedy(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in refused("paper", *arguments)
    assert not list(tmp_path.rglob("*.jsonl")) or "--jobs" in arguments


def test_a_second_run_into_the_same_file_is_refused(tmp_path):
    with ResultsFile(tmp_path / "small.jsonl"):
        message = refused("paper", "run", *FEW, "--out", tmp_path)
    assert "is being written by another run. Wait for it, or pass another --out." in message


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("small.jsonl", b'{"key": ["a"]}\n', "small.jsonl, line 1 is not a record of a cell"),
        ("small.jsonl", b'{"key": "a"}\n', "small.jsonl, line 1 is not a record of a cell"),
        ("small.jsonl", b"[" * 100_000 + b"\n", "small.jsonl, line 1 is not a record of a cell"),
        ("small.jsonl.gz", b"plain text", "small.jsonl.gz is damaged: Not a gzipped file"),
        ("small.jsonl.gz", PACKED[:-20], "small.jsonl.gz is damaged: Compressed file ended"),
        ("small.jsonl.gz", PACKED[:10] + b"\xff" * 20, "small.jsonl.gz is damaged: Error -3"),
    ],
    ids=["key", "fields", "depth", "plain", "truncated", "deflate"],
)
def test_a_report_of_damaged_results_names_the_file_and_a_remedy(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    text = refused("paper", "report", "--results", tmp_path, "--size", "small")
    assert message in text
    assert re.search(r"Delete that line|Put a whole copy in its place, or delete it", text)


@pytest.mark.parametrize("missing", ["typer", "rich.console"])
def test_without_its_libraries_it_says_how_to_install_them(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "softmodes._cli.main")
    with pytest.raises(SystemExit) as stopped:
        importlib.import_module("softmodes._cli.main")
    assert str(stopped.value) == (
        f'The softmodes command needs {missing}. Install it with: pip install "softmodes[cli]"'
    )


def test_a_report_without_matplotlib_says_how_to_install_it(monkeypatch, tmp_path):
    softmodes("paper", "run", *FEW, "--out", tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    message = refused("paper", "report", "--results", tmp_path, "--size", "small")
    assert 'The report needs matplotlib. Install it with: pip install "softmodes[paper]"' in message
