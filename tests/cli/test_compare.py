import json
import os
from dataclasses import replace

import pytest

from command import refused, softmodes
from softmodes._cli.compare import _print_table
from softmodes._compare import contenders
from softmodes.baselines import unregister
from softmodes.datasets import load_zoo

QUICK = ["--method", "SoftModes", "--method", "KMeans", "--method", "BIRCH", "--runs", 2]


@pytest.fixture
def animals(tmp_path):
    X, y = load_zoo(return_X_y=True, as_frame=True)
    path = tmp_path / "animals.csv"
    X.assign(name=[f"animal {i}" for i in range(len(X))], kind=y).to_csv(path, index=False)
    return path


def test_compare_prints_a_row_for_each_method(animals):
    result = softmodes("compare", animals, "--class", "kind", "--drop", "name", *QUICK)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert "ARI, 1 restart" in lines[0]
    assert "ARI, equal time" in lines[0]
    assert {line.split()[0] for line in lines[1:4]} == {"SoftModes", "KMeans", "BIRCH"}
    assert "animals: 101 rows, 16 columns, 7 classes, 7 clusters." in result.stdout
    assert "12/12" in result.stderr


def test_columns_that_tell_every_row_apart_are_named(animals):
    arguments = ["compare", animals, "--class", "kind", "--method", "KModes", "--runs", 1]
    line = "Column 'name' has 101 values in 101 rows. Is it an identifier? Leave it out with: --dr"
    assert line in softmodes(*arguments).stderr
    assert "identifier" not in softmodes(*arguments, "--drop", "name").stderr


def test_no_cell_is_cut_off_in_a_narrow_terminal(animals):
    arguments = ["compare", animals, "--class", "kind", "--drop", "name", *QUICK]
    result = softmodes(*arguments, "--method", "SoftModes unrefined", columns=40)
    assert "SoftModes unrefined" in result.stdout
    assert "\N{HORIZONTAL ELLIPSIS}" not in result.stdout


def test_cells_are_broken_between_words_only(capsys):
    _print_table([["", "our difference"], ["Gaussian diagonal", "+0.001 [-0.013, +0.015]"]], 20)
    lines = capsys.readouterr().out.splitlines()
    words = "our difference Gaussian +0.001 diagonal [-0.013, +0.015]"
    assert " ".join(" ".join(lines).split()) == words
    assert max(map(len, lines)) <= 20


def test_compare_writes_report_numbers_and_figure_and_resumes(animals, tmp_path):
    out = tmp_path / "out"
    arguments = ["compare", animals, "--class", "kind", "--drop", "name", *QUICK, "--out", out]
    printed = softmodes(*arguments).stdout
    paths = [out / f"compare.{ending}" for ending in ("md", "json", "svg")]
    assert all(str(path) in printed for path in paths)
    assert paths[0].read_text().startswith("# Methods compared on animals\n")
    before = [(out / "compare.jsonl").read_bytes(), *(path.read_bytes() for path in paths)]
    again = softmodes(*arguments)
    assert "0/0" in again.stderr
    assert again.stdout == printed
    after = [(out / "compare.jsonl").read_bytes(), *(path.read_bytes() for path in paths)]
    assert after == before


def test_compare_prints_json(animals, tmp_path):
    options = ["--json", "-k", 3, "--restarts", 2, "--seed", 7, "--out", tmp_path / "out"]
    result = softmodes("compare", animals, "--class", "kind", *QUICK, *options)
    found = json.loads(result.stdout)
    assert "compare.md" in result.stderr
    assert list(found["settings"]) == ["1 restart", "2 restarts", "equal time"]
    assert found["tables"][0]["k"] == 3
    assert found["tables"][0]["columns"] == 17
    names = {row["contender"] for row in found["settings"]["2 restarts"]["contenders"]}
    assert names == {"SoftModes", "KMeans", "BIRCH"}


def test_seeds_change_runs(animals):
    def aris(seed):
        arguments = ["--class", "kind", "--method", "SoftModes", "--runs", 2, "--json"]
        found = json.loads(softmodes("compare", animals, *arguments, "--seed", seed).stdout)
        return [(c["ari"], c["same_again"]) for c in found["settings"]["1 restart"]["cells"]]

    assert aris(1) == aris(1) != aris(2)


def test_rivals_that_are_missing_are_named(animals, monkeypatch):
    monkeypatch.setattr(contenders, "find_spec", lambda name: None)
    methods = ["--method", "SoftModes", "--method", "StepMix", "--runs", 1]
    result = softmodes("compare", animals, "--class", "kind", *methods)
    assert "Not installed: StepMix. Install with: pip install stepmix" in result.stderr
    assert "Not run: StepMix; stepmix is not installed (pip install stepmix)." in result.stdout


def test_methods_that_are_too_slow_for_a_table_are_named(animals, monkeypatch, tmp_path):
    rock = replace(contenders.CONTENDERS["ROCK"], most_rows=100)
    monkeypatch.setitem(contenders.CONTENDERS, "ROCK", rock)
    methods = ["--method", "SoftModes", "--method", "ROCK", "--runs", 1, "--out", tmp_path / "out"]
    told = "Not run: ROCK; it is run on tables of up to 100 rows."
    assert told in softmodes("compare", animals, "--class", "kind", *methods).stdout
    assert f"- {told}" in (tmp_path / "out/compare.md").read_text()
    assert json.loads((tmp_path / "out/compare.json").read_text())["not_run"] == [told]


def test_a_plugin_takes_part(animals, tmp_path):
    plugin = tmp_path / "mine.py"
    plugin.write_text(
        "from softmodes.baselines import register\n"
        "@register('all in one')\n"
        "def all_in_one(X, n_clusters, random_state):\n"
        "    return [0] * len(X)\n"
    )
    methods = ["--method", "SoftModes", "--runs", 1, "--plugin", plugin]
    try:
        printed = softmodes("compare", animals, "--class", "kind", *methods).stdout
    finally:
        unregister("all in one")
    (row,) = [line for line in printed.splitlines() if "all in one" in line]
    assert "0.000" in row


GOOD = "a,y\n1,2\n2,2\n1,3\n2,3\n"


@pytest.mark.parametrize(
    ("lines", "arguments", "message"),
    [
        (GOOD, ["--class", "z"], "class='z' is not a column of"),
        (GOOD, ["--class", "z"], "Pass one of 'a', 'y'."),
        ("a,y\n1,2\n2,2\n1,2\n", ["--class", "y"], "are all the same"),
        ("a,y\n1,2\n2,3\n1,4\n", ["--class", "y"], "The 3 rows of 'x' have 3 classes, fewer than"),
        ("a,y\n1,2\n", ["--class", "y"], "The table 'x' has 1 row. Pass one with a line for each"),
        (
            "a,y\n1,2\n2,\n1,3\n",
            ["--class", "y"],
            "class='y' has no class for 1 of 3 rows, the first of them row 2.",
        ),
        ("y\n2\n2\n3\n", ["--class", "y"], "has no column but class='y'."),
        ("a,y,y\n1,2,2\n2,2,2\n1,3,3\n", ["--class", "y"], "class='y' is the name of several"),
        (GOOD, ["--class", "y", "-k", "5"], "n_clusters=5 is more than"),
        (GOOD, ["--class", "y", "-k", "0"], "n_clusters=0 is not an int >= 1."),
        (GOOD, ["--class", "y", "--seed", "-1"], "seed=-1 is outside"),
        (GOOD, ["--class", "y", "--method", "x"], "method='x' is not known."),
        (GOOD, ["--class", "y", "--drop", "b"], "drop='b' is not a column of"),
        (GOOD, ["--class", "y", "--plugin", "no.py"], "plugin='no.py' is not a"),
        (
            GOOD,
            ["--class", "y", "--method", "KMeans(a=1)"],
            "method='KMeans(a=1)' is refused. Type",
        ),
        (GOOD, ["--class", "y", "--method", "SoftModes(t=-1)"], "is refused. ValueError: t=-1"),
        ("a,y\n", ["--class", "y"], "has no rows. Pass a file with a line for each case."),
    ],
)
def test_mistakes_are_one_line_with_a_remedy(tmp_path, lines, arguments, message):
    path = tmp_path / "x.csv"
    path.write_text(lines)
    assert message in refused("compare", path, *arguments)


def test_a_file_is_read_as_it_is(animals, tmp_path):
    """Semicolons and Latin-1 are no reason to refuse a file, and change nothing."""
    other = tmp_path / "animals.CSV"
    lines = animals.read_text().replace(",", ";").replace("kind", "größe")
    other.write_bytes(lines.encode("latin-1"))
    printed = [
        softmodes("compare", path, "--class", name, *QUICK, "--json").stdout
        for path, name in ((animals, "kind"), (other, "größe"))
    ]
    first = [next(iter(json.loads(text)["settings"].values())) for text in printed]  # not by time
    found = [[cell["ari"] for cell in setting["cells"]] for setting in first]
    assert found[0] == found[1] != []


def test_a_method_that_fails_or_exits_is_told_with_its_reason(animals, tmp_path):
    plugin = tmp_path / "mine.py"
    plugin.write_text(
        "from softmodes.baselines import register\n"
        "@register('leaves')\n"
        "def leaves(X, n_clusters, random_state):\n"
        "    raise SystemExit('<b>no</b>')\n"
    )
    methods = ["--method", "SoftModes", "--runs", 1, "--plugin", plugin, "--out", tmp_path / "out"]
    try:
        result = softmodes("compare", animals, "--class", "kind", *methods)
    finally:
        unregister("leaves")
    assert result.exit_code == 0
    assert "leaves: SystemExit: <b>no</b>" in result.stdout
    assert "SystemExit: &lt;b>no&lt;/b>" in (tmp_path / "out/compare.md").read_text()


def test_what_is_no_file_is_refused(tmp_path):
    assert "does not exist" in refused("compare", tmp_path / "no.csv", "--class", "y")


def test_names_cannot_act_on_the_terminal(tmp_path):
    evil = "\x1b[2J"
    path = tmp_path / f"t{evil}.csv"
    path.write_text("a,b,y\n" + "1,2,x\n2,1,z\n1,1,x\n2,2,z\n" * 5)
    result = softmodes("compare", path, "--class", "y", "--method", "KModes", "--runs", 1)
    assert r"t\x1b[2J: 20 rows" in result.stdout
    assert evil not in result.stdout
    assert evil not in refused("compare", path, "--class", evil)


def test_names_cannot_act_in_the_report(tmp_path, recwarn):
    path = tmp_path / "t\x1b[2J<script>.csv"
    path.write_text("a,b,y\n" + "1,2,x\n2,1,z\n1,1,x\n2,2,z\n" * 5)
    arguments = ["--class", "y", "--method", "KModes", "--runs", 1, "--out", tmp_path / "out"]
    softmodes("compare", path, *arguments)
    page = (tmp_path / "out/compare.md").read_text()
    assert "# Methods compared on t\\x1b[2J&lt;script>\n" in page
    assert "\x1b" not in page
    assert "<script" not in page
    assert not [w for w in recwarn if "Glyph" in str(w.message)]


def test_a_folder_that_cannot_be_written_is_refused(animals, tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("")
    message = refused("compare", animals, "--class", "kind", *QUICK, "--out", taken)
    assert os.path.basename(taken) in message
    assert message.endswith("is a file, or in one. Pass the path of a folder.")
