import gzip
import re
import sys

import pytest

from command import refused, softmodes
from softmodes._cli.paper_progress import Pace
from softmodes._paper import EXPERIMENTS
from softmodes._paper.results import ResultsFile, read
from softmodes.baselines import unregister

FEW = ["theorem", "--size", "small"]
PACKED = gzip.compress(b'{"key": "a"}\n' * 9)


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
    assert "Complete: 30 runs" in (report / "report.md").read_text()


def test_progress_shows_cells_done_and_time(tmp_path):
    shown = softmodes("paper", "run", *FEW, "--out", tmp_path).stderr
    assert "theorem" in shown
    assert "30/30" in shown
    assert re.search(r"\d:\d\d:\d\d", shown)
    assert re.search(r"theorem is done after \d+ seconds; about 0 seconds left", shown)


def test_the_time_left_follows_the_pace_so_far():
    cells = list(EXPERIMENTS["fig-ccm"].cells("full"))
    clock = iter([0.0, 60.0, 60.0])
    pace = Pace(cells, now=lambda: next(clock))
    for cell in cells[: len(cells) // 2]:
        pace.count(cell)
    left = 60 * (pace.all_work - pace.work_done) / pace.work_done
    assert left > 200, "the second half has the large tables"
    assert pace.left() == f"about {left / 60:.0f} minutes left"
    assert pace.spent() == "60 seconds"
    assert pace.to_do["fig-ccm"] == len(cells) - len(cells) // 2


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


@pytest.fixture
def own(tmp_path):
    """A table of two classes that one of its columns tells."""
    path = tmp_path / "my table.csv"
    rows = [
        f"{'ab'[i % 2]},{'' if i == 3 else i % 3},{i % 5},{['yes', 'no'][i % 2]}" for i in range(40)
    ]
    path.write_text("\n".join(["one,two,three,y", *rows, ""]))
    return path


def test_a_users_table_joins_table_real(tmp_path, own):
    arguments = ["paper", "run", "table-real", "--size", "small", "--out", tmp_path]
    softmodes(*arguments, "--table", own, "--class", "y", "--jobs", 2)
    joined = [r for r in read(tmp_path / "small.jsonl") if r["data"]["kind"].startswith("my table")]
    theirs = [r for r in read(tmp_path / "small.jsonl") if r["data"]["kind"] == "zoo"]
    assert {r["algorithm"] for r in joined} == {r["algorithm"] for r in theirs}
    assert {r["data"]["k"] for r in joined} == {2}
    assert max(r["metrics"]["accuracy"] for r in joined) == 1
    assert any("same_again" in r for r in joined)
    again = softmodes(*arguments, "--table", own, "--class", "y")
    assert again.stdout.startswith("0 cells run")
    report = ["paper", "report", "--results", tmp_path, "--size", "small", "--out", tmp_path]
    text = softmodes(*report).stdout and (tmp_path / "report.md").read_text()
    assert "| my table.csv | SoftModes(k), our default |" in text
    own.write_text(own.read_text().replace("a,0,0,yes", "b,0,0,yes"))
    changed = softmodes(*arguments, "--table", own, "--class", "y")
    assert not changed.stdout.startswith("0 cells run"), "results of two tables are mixed"


@pytest.mark.parametrize(
    ("experiment", "more", "message"),
    [
        ("table-real", ["--class", "z"], "class='z' is not a column of"),
        ("table-real", [], "--table is given 1 times, --class 0 times. Pass one --class for each"),
        ("fig-t", ["--class", "y"], "joins table-real, which is not among the experiments."),
        ("table-real", ["--class", "two"], "class='two' has no class for 1 of"),
    ],
)
def test_a_table_that_cannot_join_is_refused(tmp_path, own, experiment, more, message):
    text = refused("paper", "run", experiment, "--out", tmp_path, "--table", own, *more)
    assert message in text
    assert not list(tmp_path.glob("*.jsonl"))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("y\na\nb\na\nb\n", "has no column but class='y'. Pass one with more."),
        ("x,y\n1,a\n2,a\n", "The classes of 't.csv' are all the same"),
        ("x,y\n1,a\n2,b\n", "The 2 rows of 't.csv' have 2 classes, fewer than 2"),
    ],
)
def test_classes_by_which_nothing_can_be_judged_are_refused(tmp_path, body, message):
    path = tmp_path / "t.csv"
    path.write_text(body)
    arguments = ["paper", "run", "table-real", "--out", tmp_path, "--table", path, "--class", "y"]
    assert message in refused(*arguments)


@pytest.mark.parametrize("name", ["no.csv", "t.txt"])
def test_a_table_that_is_no_table_is_refused_by_its_name(tmp_path, name):
    (tmp_path / "t.txt").write_text("a,y\n")
    arguments = ["paper", "run", "table-real", "--out", tmp_path, "--class", "y"]
    assert name in refused(*arguments, "--table", tmp_path / name)


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
        (
            ["run", "all", "--size", "tiny"],
            "size='tiny' is not known. Pass one of 'small', 'full'.",
        ),
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


def test_a_report_without_matplotlib_says_how_to_install_it(monkeypatch, tmp_path):
    softmodes("paper", "run", *FEW, "--out", tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    message = refused("paper", "report", "--results", tmp_path, "--size", "small")
    assert 'The report needs matplotlib. Install it with: pip install "softmodes[paper]"' in message
