import json
import sys
import warnings

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import softmodes as package
from command import refused, softmodes
from softmodes.datasets import make_ccm


def table(n_rows, seed=1, **more):
    """Return rows in three plain groups: numbers, codes that look like numbers, words, several."""
    X, _ = make_ccm(n_rows, 12, 3, eps=0.05, random_state=5)
    X = X[np.random.default_rng(seed).permutation(n_rows)]
    columns = {f"q{j}": column.astype(int) for j, column in enumerate(X.T[:8])}
    columns |= {
        "code": np.where(X.T[8], "1", "x2"),
        "word": np.where(X.T[9], "often", "never"),
        "media": np.where(X.T[10], "radio;tv", "tv"),
        "age": 20 + 37 * np.arange(n_rows) % 50,
        "person": [f"p{i:03}" for i in range(n_rows)],
    }
    return pa.table(columns | more)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    csv.write_csv(table(150), folder / "old.csv")
    arguments = ["-k", 3, "--na", "refused", "--save", folder / "m.softmodes"]
    assert softmodes("fit", folder / "old.csv", *arguments).exit_code == 0
    return folder / "m.softmodes"


def groups_of(path):
    return csv.read_csv(path)["group"].to_pylist()


def test_rows_of_the_fit_get_their_groups_again_whatever_the_order_of_columns(model, tmp_path):
    old = table(150)
    names = old.column_names[::-1]
    csv.write_csv(old.select(names).append_column("new", [["x"] * 150]), tmp_path / "new.csv")
    softmodes("fit", model.parent / "old.csv", "-k", 3, "--out", tmp_path / "fit.csv")
    result = softmodes("predict", model, tmp_path / "new.csv", "--out", tmp_path / "groups.csv")
    assert result.exit_code == 0
    assert groups_of(tmp_path / "groups.csv") == groups_of(tmp_path / "fit.csv")
    assert "unseen" not in result.stdout
    assert csv.read_csv(tmp_path / "groups.csv").column_names[0] == "person"


def test_new_rows_that_are_none_are_told(model, tmp_path):
    (tmp_path / "new.csv").write_text("q0,q1\n")
    told = refused("predict", model, tmp_path / "new.csv")
    assert "The file has 2 columns and no rows." in told


def test_python_finds_the_same_groups(model, tmp_path):
    new = table(60, seed=2)
    csv.write_csv(new, tmp_path / "new.csv")
    softmodes("predict", model, tmp_path / "new.csv", "--out", tmp_path / "groups.csv")
    loaded = package.load(model)
    expected = loaded.predict(loaded.preparation_.transform(new))
    assert groups_of(tmp_path / "groups.csv") == expected.tolist()


def test_cells_have_the_types_of_the_fit(model, tmp_path):
    """A column of texts may look like numbers in new rows, and one of numbers hold a word."""
    new = table(60, seed=2)
    words = ["odd" if i == 0 else str(cell) for i, cell in enumerate(new["q3"].to_pylist())]
    coded = new.set_column(8, "code", [["1"] * 60]).set_column(3, "q3", [words])
    csv.write_csv(coded, tmp_path / "new.csv")
    result = softmodes("predict", model, tmp_path / "new.csv", "--json", "--limit", 1)
    drift = {row["feature"]: row for row in json.loads(result.stdout)["drift"]}
    assert drift["code"]["unseen"] == 0
    assert drift["q3"]["unseen"] == pytest.approx(1 / 60)
    assert drift["q3"]["unseen_values"] == "odd"


def test_without_pandas_a_word_among_numbers_is_told(model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    new = table(60, seed=2)
    words = ["odd" if i == 0 else str(cell) for i, cell in enumerate(new["q3"].to_pylist())]
    csv.write_csv(new.set_column(3, "q3", [words]), tmp_path / "new.csv")
    printed = softmodes("predict", model, tmp_path / "new.csv", "--limit", 1).stdout
    assert "column types differ" in printed


def test_words_that_meant_no_answer_at_fit_mean_it_again(model, tmp_path):
    new = table(60, seed=2)
    words = ["refused" if i == 0 else str(cell) for i, cell in enumerate(new["q3"].to_pylist())]
    csv.write_csv(new.set_column(3, "q3", [words]), tmp_path / "new.csv")
    found = json.loads(softmodes("predict", model, tmp_path / "new.csv", "--json").stdout)
    drift = {row["feature"]: row for row in found["drift"]}
    assert drift["q3"]["unseen_values"] in ("", "missing")
    assert drift["q3"]["note"] == ""


def test_drift_above_the_limit_ends_with_code_3_and_writes_all_the_same(model, tmp_path):
    new = table(120, seed=2, word=["often"] * 119 + ["daily"])
    csv.write_csv(new, tmp_path / "new.csv")
    arguments = ["predict", model, tmp_path / "new.csv", "--out", tmp_path / "groups.csv"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = softmodes(*arguments)
    assert result.exit_code == 3
    assert "drift: word: " in result.stdout
    assert "unseen at fit: word: daily (1 % of rows)" in result.stdout
    assert len(groups_of(tmp_path / "groups.csv")) == 120
    assert softmodes(*arguments, "--force", "--limit", "0.9").exit_code == 0


def test_a_model_without_a_preparation_takes_its_columns(tmp_path):
    rows = table(80).select(["q1", "q2", "word"])
    fitted = package.SoftModes(2, random_state=0).fit(rows)
    fitted.save(tmp_path / "m.softmodes")
    csv.write_csv(table(80), tmp_path / "new.csv")
    arguments = [tmp_path / "m.softmodes", tmp_path / "new.csv", "--id", "person"]
    softmodes("predict", *arguments, "--out", tmp_path / "groups.csv")
    assert groups_of(tmp_path / "groups.csv") == fitted.labels_.tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "X lacks columns that are used: ['q0']. Pass a table that has them."),
        (["--id", "nobody"], "X lacks columns"),
        (["--out", "new.csv"], "is read from: it would be lost."),
        (["--out", "m.softmodes"], "is read from: it would be lost."),
    ],
)
def test_mistakes_are_one_line_with_a_remedy(model, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.softmodes").write_bytes(model.read_bytes())
    csv.write_csv(table(20).drop_columns("q0"), tmp_path / "new.csv")
    assert message in refused("predict", "m.softmodes", "new.csv", *arguments)


def test_what_is_no_model_is_named(tmp_path):
    (tmp_path / "m.softmodes").write_text("no model")
    message = refused("predict", tmp_path / "m.softmodes", tmp_path / "new.csv")
    assert "m.softmodes cannot be loaded: it is not a whole model file" in message


# --- names, report, info ---


@pytest.fixture
def named(model, tmp_path):
    path = tmp_path / "named.softmodes"
    assert softmodes("name", model, "0=Readers", "2=Who says a=b?", "--out", path).exit_code == 0
    return path


def test_names_are_kept_and_shown(model, named, tmp_path):
    assert package.load(named).names_[::2] == ["Readers", "Who says a=b?"]
    assert package.load(model).names_[0] != "Readers"
    csv.write_csv(table(60, seed=2), tmp_path / "new.csv")
    printed = softmodes("predict", named, tmp_path / "new.csv").stdout
    assert "group 0, Readers: " in printed
    assert "Readers" in softmodes("info", named).stdout
    softmodes("name", named, "0=")
    assert package.load(named).names_[0] == package.load(model).names_[0]
    assert package.load(named).preparation_ is not None


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("Readers", 2, "is not GROUP=NAME"),
        ("x=Readers", 2, "is not GROUP=NAME"),
        ("9=Readers", 1, "has a name for 9, which is no cluster. Pass numbers from 0 to 2."),
        ("0=\x1b[2J", 1, r"holds control characters"),
    ],
)
def test_wrong_names_are_refused(model, name, code, message):
    before = model.read_bytes()
    result = softmodes("name", model, name)
    assert result.exit_code == code
    assert message in " ".join(result.stderr.split())
    assert model.read_bytes() == before


def test_the_report_is_written_again_without_the_rows(named, tmp_path):
    page = tmp_path / "page.html"
    arguments = ["--out", page, "--rows", "people", "--title", "Wave 2"]
    printed = softmodes("report", named, *arguments).stdout
    assert printed.startswith("3 groups among 150 people\n")
    text = page.read_text("utf-8")
    assert "Readers" in text
    assert "Wave 2" in text
    assert "exists. Pass --force" in refused("report", named, "--out", page)
    assert softmodes("report", named, "--out", "-").stdout.startswith("<!doctype html>")


def test_a_model_that_keeps_nothing_for_a_report_is_told_so(tmp_path):
    package.SoftModes(2, random_state=0).fit([["a"], ["a"], ["b"]]).save(tmp_path / "m")
    message = refused("report", tmp_path / "m", "--out", tmp_path / "page.html")
    assert "the model keeps nothing of its rows to report." in message
    assert not (tmp_path / "page.html").exists()


def test_info_tells_of_the_model_and_of_the_machine(model):
    of_model = json.loads(softmodes("info", model, "--json").stdout)
    assert of_model["rows"] == 150
    assert len(of_model["groups"]) == 3
    assert any("banded" in line for line in of_model["preparation"])
    here = json.loads(softmodes("info", "--json").stdout)
    assert here["softmodes"] == package.__version__
    assert here["threads"] >= 1
