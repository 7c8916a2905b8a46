"""The benchmark of quality runs over tables, resumes, and reports from its journal."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from made_up_cells import zoo

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.quality import __main__ as quality
from benchmarks.quality import tables
from softmodes._compare.tables import LabelledTable
from softmodes.datasets import load_tic_tac_toe


def tic_tac_toe():
    X, y = load_tic_tac_toe(return_X_y=True, as_frame=False)
    return LabelledTable("tic-tac-toe", X[::4], y[::4])


@pytest.fixture
def two_tables(monkeypatch):
    monkeypatch.setattr(tables, "report_tables", lambda: {"zoo": zoo, "tic-tac-toe": tic_tac_toe})


FEW = ["--contenders", "SoftModes", "SoftModes(t=2)", "KMeans", "--runs", "2"]


def test_it_runs_resumes_and_reports(two_tables, tmp_path, capsys):
    arguments = [*FEW, "--out", str(tmp_path)]
    quality.main(arguments)
    shown = capsys.readouterr()
    assert "30/30" in shown.err
    assert [Path(line).name for line in shown.out.split()] == [
        f"report.{ending}" for ending in ("md", "json", "svg")
    ]
    found = json.loads((tmp_path / "report.json").read_text())
    assert {table["name"] for table in found["tables"]} == {"zoo", "tic-tac-toe"}
    assert "SoftModes(t=2)" in {one["name"] for one in found["contenders"]}
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    quality.main(arguments)
    quality.main(["--report", "--out", str(tmp_path)])
    assert "/" not in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_contenders_are_run_anew_if_asked(two_tables, tmp_path, capsys):
    arguments = [*FEW, "--tables", "zoo", "--settings", "1", "--out", str(tmp_path)]
    quality.main(arguments)
    lines = (tmp_path / "report.jsonl").read_bytes().count(b"\n")
    quality.main([*arguments, "--fresh", "KMeans"])
    assert (tmp_path / "report.jsonl").read_bytes().count(b"\n") == lines + 2
    found = json.loads((tmp_path / "report.json").read_text())
    assert len(found["settings"]["1 restart"]["cells"]) == 3


def test_mistakes_are_named(two_tables, tmp_path, capsys):
    with pytest.raises(SystemExit, match=r"--role tune needs tables to tune on. Pass --tune"):
        quality.main(["--role", "tune", "--out", str(tmp_path)])
    with pytest.raises(ValueError, match=r"tables='no' is not known. Pass one of 'zoo'"):
        quality.main(["--tables", "no", "--out", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"holds no results of report tables. Run first"):
        quality.main(["--report", "--out", str(tmp_path)])
    with pytest.raises(SystemExit):
        quality.main(["--settings", "many"])
    assert "'many' is no setting. Pass 1, 10, ... or equal." in capsys.readouterr().err


def test_tables_to_tune_on_are_read_from_a_folder(tmp_path):
    rows = ["a,b,class", *(["x,y,one", "x,z,one", "w,z,two", "w,y,two"] * 3)]
    (tmp_path / "made-up.csv").write_text("\n".join(rows) + "\n")
    loaders = tables.tuning_tables(tmp_path)
    table = loaders["made-up"]()
    assert list(loaders) == ["made-up"]
    assert sorted(set(table.y)) == ["one", "two"]
