import json
import math
import os
import stat
import sys
import threading

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import softmodes as package
from command import refused, softmodes
from softmodes import Prepare, SoftModes
from softmodes.datasets import make_ccm


@pytest.fixture
def answers(tmp_path):
    """A file of 60 rows in three plain groups, with ids, ages, weights and an empty cell."""
    X, y = make_ccm(60, 12, 3, eps=0.05, random_state=1)
    columns = {f"q{j}": np.where(column, "yes", "no") for j, column in enumerate(X.T)}
    table = pa.table(
        {
            "person": [f"p{i:03}" for i in range(60)],
            "age": [20 + 37 * i % 50 for i in range(60)],
            "weight": [1 + (i % 2) for i in range(60)],
            **columns,
            "group": y,
        }
    )
    path = tmp_path / "answers.csv"
    csv.write_csv(table, path, csv.WriteOptions(quoting_style="none", quoting_header="none"))
    path.write_text(path.read_text().replace("p001,57,2,yes", "p001,57,2,NA"))
    return path


def read(path):
    return csv.read_csv(path)


def fitted(path, k, *, prepare=None, **params):
    """Return what Python makes of a file, given the same wishes."""
    options = csv.ConvertOptions(strings_can_be_null=True, null_values=["NA"])
    table = csv.read_csv(path, convert_options=options)
    preparation = Prepare(**(prepare or {})).fit(table)
    weight = preparation.sample_weight(table)
    return SoftModes(k, random_state=0, **params).fit(preparation.transform(table), None, weight)


# --- the groups ---


def test_fit_picks_k_and_tells_groups_and_advice(answers):
    printed = softmodes("fit", answers, "--drop", "group").stdout
    first, *_ = printed.splitlines()
    assert first.startswith("60 rows, 16 columns. comma, utf-8.")
    assert "left out   person   every row has another value: an id" in printed
    assert "banded     age      50 numbers -> 5 bands of equal size" in printed
    assert "\n3 groups among 60 rows. Solid: found again " in printed
    assert printed.count("\ngroup ") == 3


def test_out_has_the_groups_that_python_finds(answers, tmp_path):
    out = tmp_path / "groups.csv"
    softmodes("fit", answers, "-k", 3, "--drop", "group,weight", "--out", out)
    model = fitted(answers, 3, prepare={"drop": ["group", "weight"]})
    written = read(out)
    assert written.column_names == ["person", "group", "name", "margin", "second"]
    assert written["group"].to_pylist() == model.labels_.tolist()
    assert written["person"].to_pylist() == [f"p{i:03}" for i in range(60)]
    names = dict(enumerate(model.names_))
    assert written["name"].to_pylist() == [names[i] for i in model.labels_]
    assert np.all(written["second"].to_numpy() != model.labels_)


@pytest.mark.parametrize(
    ("arguments", "params"),
    [
        (["-t", "1.5", "--refine", "none"], {"t": 1.5, "refine": None}),
        (["-t", "inf", "--refine", "none"], {"t": math.inf, "refine": None}),
        (["--refine", "gini", "--n-init", "2"], {"refine": "gini", "n_init": 2}),
        (["--init", "huang"], {"init": "huang"}),
        (["--missing", "ignore"], {"missing": "ignore"}),
    ],
)
def test_options_mean_what_parameters_mean(answers, tmp_path, arguments, params):
    out = tmp_path / "groups.csv"
    softmodes("fit", answers, "-k", 4, "--raw", *arguments, "--out", out)
    options = csv.ConvertOptions(strings_can_be_null=True, null_values=["NA"])
    table = csv.read_csv(answers, convert_options=options)
    expected = SoftModes(4, random_state=0, **params).fit(table).labels_
    assert read(out)["group"].to_pylist() == expected.tolist()


def test_weights_weigh_and_ids_are_carried(answers, tmp_path):
    out = tmp_path / "groups.parquet"
    wishes = ["--weight", "weight", "--id", "person,age", "--drop", "group"]
    softmodes("fit", answers, "-k", 5, *wishes, "--out", out)
    prepare = {"weight": "weight", "id": ["person", "age"], "drop": "group"}
    model = fitted(answers, 5, prepare=prepare)
    written = parquet.read_table(out)
    assert written.column_names[:3] == ["person", "age", "group"]
    assert written["group"].to_pylist() == model.labels_.tolist()


def test_rows_without_an_id_are_numbered(answers, tmp_path):
    out = tmp_path / "groups.tsv"
    softmodes("fit", answers, "-k", 2, "--only", "q1,q2,q3", "--out", out)
    lines = out.read_text().splitlines()
    assert lines[0].split("\t")[0] == '"row"'
    assert [line.split("\t")[0] for line in lines[1:]] == [str(i + 1) for i in range(60)]


def test_full_keeps_all_columns_and_its_own_apart(answers, tmp_path):
    out = tmp_path / "groups.csv"
    softmodes("fit", answers, "-k", 3, "--full", "--out", out)
    names = read(out).column_names
    assert names[:3] == ["person", "age", "weight"]
    assert names[-5:] == [
        "group",
        *(f"softmodes_{n}" for n in ("group", "name", "margin", "second")),
    ]


def test_raw_follows_no_advice(answers):
    printed = softmodes("fit", answers, "-k", 3, "--raw").stdout
    assert "16 of 16 columns are used" in printed
    assert "left out" not in printed
    message = refused("fit", answers, "--raw", "--as", "age=category")
    assert "--raw uses every column as it is, and --as names some. Pass one of them." in message


def test_a_file_without_groups_is_told_so(tmp_path):
    path = tmp_path / "noise.csv"
    rng = np.random.default_rng(0)
    csv.write_csv(pa.table({f"q{j}": rng.integers(0, 3, 80) for j in range(6)}), path)
    result = softmodes("fit", path, "--out", tmp_path / "out.csv")
    assert result.exit_code == 1
    assert "No groups: " in result.stdout
    assert "Pass -k with a number of groups to cut the rows anyway." in result.stderr
    assert not (tmp_path / "out.csv").exists()
    asked = softmodes("fit", path, "-k", 2)
    assert asked.exit_code == 0
    assert "2 groups among 80 rows. Do not use: " in asked.stdout


def test_fit_reads_parquet_as_it_reads_csv(answers, tmp_path):
    options = csv.ConvertOptions(strings_can_be_null=True, null_values=["NA"])
    copy = tmp_path / "answers.parquet"
    parquet.write_table(csv.read_csv(answers, convert_options=options), copy)
    printed = [softmodes("fit", path, "-k", 3, "-q").stdout for path in (answers, copy)]
    assert printed[0] == printed[1] != ""


def test_two_to_eight_groups_are_tried(answers, all_sweeps):
    found = json.loads(softmodes("fit", answers, "--json").stdout)
    assert [row["k"] for row in found["sweep"]["tried"]] == list(range(2, 9))


def test_json_has_all_that_is_told(answers, tmp_path):
    out = tmp_path / "groups.csv"
    found = json.loads(softmodes("fit", answers, "--drop", "group", "--out", out, "--json").stdout)
    assert found["k"] == found["sweep"]["pick"] == len(found["groups"]) == 3
    assert found["verdict"] == "Solid"
    assert sum(group["rows"] for group in found["groups"]) == 60
    assert found["written"] == [str(out)]
    assert found["advice"]["columns"][0]["kind"] == "id"


def test_quiet_leaves_the_outcome_alone(answers):
    loud, quiet = (softmodes("fit", answers, "-k", 3, *q).stdout for q in ([], ["--quiet"]))
    assert loud.endswith(quiet)
    assert quiet.startswith("3 groups among 60 rows.")


def test_a_single_group_is_no_matter_of_trust(answers):
    assert "1 group among 60 rows.\n" in softmodes("fit", answers, "-k", 1).stdout


def test_more_groups_than_are_swept_cost_no_sweep_up_to_them(answers):
    found = json.loads(softmodes("fit", answers, "-k", 21, "--json").stdout)
    assert [row["k"] for row in found["sweep"]["tried"]] == [2, 3, 4]
    assert (found["k"], found["verdict"]) == (21, None)
    assert len(found["groups"]) == 21
    printed = softmodes("fit", answers, "-k", 21, "-q").stdout
    assert printed.startswith(
        "21 groups among 60 rows. Whether to trust so many was not tried. What sweep says: 3 groups"
    )


def test_so_many_groups_that_no_part_of_the_rows_has_them_are_told_untried(answers):
    printed = softmodes("fit", answers, "-k", 55, "-q").stdout
    first, *_ = printed.splitlines()
    assert first == "55 groups among 60 rows. Whether to trust so many was not tried."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "61"], "n_clusters=61 is more than n_samples=60."),
        (["-k", "0"], "n_clusters=0 is not an int >= 1."),
        (["-k", "2", "--drop", "name"], "drop names column 'name', which the table does not have."),
        (["-k", "2", "--as", "age=maybe"], "as_['age']='maybe' is not known."),
        (["-k", "2", "--missing", "no"], "missing='no' is not known."),
        (["-k", "2", "--t", "0.5"], "t=0.5 is not a number >= 1."),
        (["-k", "2", "--t", "sharp"], "t='sharp' is not a number >= 1."),
        (["-k", "2", "--n-init", "0"], "n_init=0"),
        (["-k", "2", "--init", "best"], "init='best'"),
        (["-k", "2", "--n-init", "many"], "n_init='many'"),
        (["-k", "2", "--refine", "more"], "refine='more' is not known."),
        (["-k", "2", "--seed", "-1"], "seed=-1 is outside [0, 2**64). Pass another seed."),
        (["-k", "2", "--weight", "person"], "weight='person' is a column that holds 'p000', and"),
        (["-k", "2", "--out", "no/labels.csv"], "out='no/labels.csv' is in a folder that does not"),
        (["-k", "2", "--out", "labels"], "out='labels' has no ending that tells its format."),
    ],
)
def test_mistakes_in_fit_are_one_line_with_a_remedy(answers, arguments, message):
    assert message in refused("fit", answers, *arguments)


def test_a_file_of_names_alone_is_told_so(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("a,b\n")
    assert "The file has 2 columns and no rows." in refused("fit", path)


def test_info_rounds_weights(answers, tmp_path):
    weighed, model = tmp_path / "weighed.csv", tmp_path / "m.softmodes"
    weights = pa.array([0.1 + 0.3 * (i % 3) for i in range(60)])
    csv.write_csv(read(answers).append_column("w", weights), weighed)
    softmodes("fit", weighed, "-k", 2, "--weight", "w", "--save", model)
    assert "rows         24.0\n" in softmodes("info", model).stdout


def test_debug_shows_where_an_error_arose(answers):
    with pytest.raises(ValueError, match="n_clusters=61"):
        softmodes("fit", answers, "-k", 61, "--debug")


# --- models and reports ---


def test_a_saved_model_keeps_the_preparation_and_no_labels(answers, tmp_path):
    path, page = tmp_path / "m.softmodes", tmp_path / "report.html"
    arguments = ["--drop", "group", "--save", path, "--report", page]
    printed = softmodes("fit", answers, "-k", 3, *arguments).stdout
    assert printed.endswith(f"Written: {path}\nWritten: {page}\n")
    model = package.load(path)
    assert not hasattr(model, "labels_")
    assert model.preparation_.drop == ["group"]
    assert "3 groups among 60 rows" in page.read_text("utf-8")
    assert f"softmodes fit {answers} -k 3 --save" in page.read_text("utf-8")


# --- where outputs are written to ---


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("", "out='' is empty. Pass the path of a file to write."),
        ("a\0b", r"out='a\x00b' holds a NUL byte. Pass the path of a file to write."),
        (".", "out='.' is a folder. Pass the path of a file to write, in it or elsewhere."),
        ("no/labels.csv", "out='no/labels.csv' is in a folder that does not exist."),
    ],
)
def test_where_nothing_can_be_written_is_refused_before_the_table_is_read(out, message):
    assert message in refused("fit", "no-such-table.csv", "-k", 2, "--out", out)


@pytest.mark.parametrize("way", ["itself", "link", "hard link"])
@pytest.mark.parametrize("option", ["out", "save", "report"])
def test_the_table_is_never_overwritten(answers, way, option):
    before, out = answers.read_bytes(), answers.with_name(f"{way}.csv")
    if way == "itself":
        out = answers
    elif way == "link":
        out.symlink_to(answers)
    else:
        out.hardlink_to(answers)
    message = refused("fit", answers, "-k", 2, f"--{option}", out, "--force")
    assert f"{option}={str(out)!r} is read from: it would be lost. Pass another file." in message
    assert answers.read_bytes() == out.read_bytes() == before


@pytest.mark.parametrize("given", ["folder", "pattern"])
def test_no_file_of_a_folder_that_is_read_is_overwritten(answers, given):
    before, folder = answers.read_bytes(), answers.parent
    source = folder if given == "folder" else folder / "*.csv"
    message = refused("fit", source, "-k", 2, "--out", answers, "--force")
    assert "is read from: it would be lost. Pass another file." in message
    assert answers.read_bytes() == before


@pytest.mark.parametrize("option", ["out", "save", "report"])
def test_a_file_that_exists_is_replaced_only_by_force(answers, tmp_path, option):
    taken = tmp_path / "taken.csv"
    taken.write_text("what was there\n")
    message = refused("fit", answers, "-k", 2, f"--{option}", taken)
    assert f"{option}={str(taken)!r} exists. Pass --force to write over it" in message
    assert taken.read_text() == "what was there\n"
    assert softmodes("fit", answers, "-k", 2, f"--{option}", taken, "--force").exit_code == 0
    assert not taken.read_bytes().startswith(b"what was there")


def test_two_outputs_cannot_be_one_file(answers, tmp_path):
    out = tmp_path / "both.csv"
    message = refused("fit", answers, "-k", 2, "--out", out, "--report", out)
    assert "is also the file of out. Pass another one." in message


def test_groups_go_through_a_pipe_which_stays_a_pipe(answers, tmp_path):
    pipe, labels, got = tmp_path / "pipe", tmp_path / "labels.csv", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    for out in (pipe, labels):
        softmodes("fit", answers, "-k", 2, "--out", out)
        assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader.join(10)
    assert got == [labels.read_bytes()]


def test_groups_written_through_a_link_leave_the_link_and_the_mode(answers, tmp_path):
    labels, link = tmp_path / "labels.csv", tmp_path / "link.csv"
    labels.touch(0o600)
    link.symlink_to(labels)
    softmodes("fit", answers, "-k", 2, "--out", link, "--force")
    assert link.is_symlink()
    assert labels.read_text().startswith('"person"')
    assert stat.S_IMODE(labels.stat().st_mode) == 0o600


def test_groups_are_written_whole_or_not_at_all(answers, tmp_path, monkeypatch):
    labels = tmp_path / "labels.csv"
    labels.write_text("what was there\n")
    monkeypatch.setattr(os, "replace", _full_disk)
    assert "No space left" in refused("fit", answers, "-k", 2, "--out", labels, "--force")
    assert labels.read_text() == "what was there\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.csv", "labels.csv"]


def _full_disk(*paths):
    raise OSError("No space left on device")


def test_standard_output_has_the_groups_and_standard_error_the_text(answers):
    result = softmodes("fit", answers, "-k", 2, "--out", "-")
    assert result.stdout.splitlines()[0] == '"person","group","name","margin","second"'
    assert len(result.stdout.splitlines()) == 61
    assert "2 groups among 60 rows." in result.stderr


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
    def fit(self, X, sample_weight=None):
        raise MemoryError(text)

    monkeypatch.setattr(SoftModes, "fit", fit)
    expected = text or "Memory is not enough. Pass a smaller table, or fewer clusters."
    assert refused("fit", answers, "-k", 1) == f"Error: {expected}"


def test_cells_headers_and_paths_cannot_act_on_the_terminal(tmp_path):
    evil = "\x1b[2J\x9b2J\u202e"  # clears the screen, twice; writes from right to left
    path, out = tmp_path / f"t{evil}.csv", tmp_path / f"out{evil}.csv"
    path.write_text(f"name{evil},n\n" + f"cell{evil},1\ny,2\n" * 30, encoding="utf-8")
    result = softmodes("fit", path, "-k", 2, "--out", out)
    assert result.stdout.replace("\n", "").isprintable()
    assert result.stdout.count(r"\x1b[2J\x9b2J\u202e") >= 3  # a name, a cell and the path
    assert refused("fit", path, "-k", 99).isprintable()
    assert refused("fit", path.with_suffix(".xyz"), "-k", 2).isprintable()
    assert refused("fit", path, "-k", 2, "--drop", "x").isprintable()


def test_cells_that_a_spreadsheet_would_run_are_written_harmlessly(tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    ids = ["=1+1", "+x", "-x", "@x", "\tx", "-5", "+3.5", "plain"]
    table = pa.table({"=id": ids * 5, "a": ["x", "y"] * 20, "n": [-5, 5] * 20})
    csv.write_csv(table, path)
    softmodes("fit", path, "-k", 2, "--only", "a,n", "--id", "=id", "--out", out)
    written = read(out)
    assert written.column_names[0] == "'=id"
    expected = ["'=1+1", "'+x", "'-x", "'@x", "'\tx", "-5", "+3.5", "plain"]
    assert written["'=id"].to_pylist()[:8] == expected


# --- progress ---


def test_a_command_that_takes_its_time_says_what_it_does(answers, monkeypatch):
    from softmodes._cli import waiting

    assert softmodes("fit", answers, "-k", 2, "-q").stderr == ""
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    shown = softmodes("fit", answers, "-k", 2).stderr
    assert "Trying numbers of groups ...\nFitting 2 groups ...\n" in shown
    assert softmodes("fit", answers, "-k", 2, "--quiet").stderr == ""


def test_on_a_terminal_the_line_of_progress_goes_away(monkeypatch, capsys):
    from softmodes._cli.waiting import Waiting

    monkeypatch.setattr("softmodes._cli.waiting.PATIENCE", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with Waiting() as waiting:
        waiting.say("first")
        waiting._timer.join()
        waiting.say("second [x]")
        assert waiting._shown is not None
        assert waiting._shown.status == r"second \[x]"
    assert not waiting._shown._live.is_started
