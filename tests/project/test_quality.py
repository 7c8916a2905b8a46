"""The benchmark of quality runs over tables, resumes, and reports from its journal."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from made_up_cells import zoo

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.quality import __main__ as quality
from benchmarks.quality import page, tables
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
        *(f"report.{ending}" for ending in ("md", "json", "svg")),
        "report-tables.svg",
    ]
    found = json.loads((tmp_path / "report.json").read_text())
    assert {table["name"] for table in found["tables"]} == {"zoo", "tic-tac-toe"}
    assert "SoftModes(t=2)" in {one["name"] for one in found["contenders"]}
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    quality.main(arguments)
    quality.main(["--report", *arguments])
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
    with pytest.raises(
        SystemExit, match=r"Error: Tables to tune on are in a folder of yours. Pass --t"
    ):
        quality.main(["--role", "tune", "--out", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"is no folder that holds tables. Pass one with .csv"):
        quality.main(["--role", "tune", "--tune", str(tmp_path / "no"), "--out", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"Error: tables='no' is not known. Pass one of 'zoo'"):
        quality.main(["--tables", "no", "--out", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"Error: method='SoftModes\(t=-1\)' is refused. ValueErr"):
        quality.main(["--contenders", "SoftModes(t=-1)", "--out", str(tmp_path)])
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SystemExit, match=r"holds no results of report tables. Run first"):
        quality.main(["--report", "--out", str(tmp_path)])
    with pytest.raises(SystemExit):
        quality.main(["--settings", "many"])
    assert "'many' is no setting. Pass 1, 10, ... or equal." in capsys.readouterr().err
    for option, value, least in (
        ("--runs", "0", 1),
        ("--jobs", "x", 1),
        ("--minutes-per-cell", "-1", 0),
    ):
        with pytest.raises(SystemExit):
            quality.main([option, value])
        assert f"{option}: '{value}' is not a number >= {least}." in capsys.readouterr().err


def test_who_was_asked_for_and_never_run_is_told(two_tables, tmp_path, capsys):
    quality.main([*FEW, "--tables", "zoo", "--settings", "1", "--out", str(tmp_path)])
    assert "Not run" not in (tmp_path / "report.md").read_text()
    quality.main(["--report", "--out", str(tmp_path)])
    assert "- Not run: SoftModes gini, SoftModes unrefined," in (tmp_path / "report.md").read_text()


def test_tables_to_tune_on_are_read_from_a_folder(tmp_path):
    rows = ["a,b,class", *(["x,y,one", "x,z,one", "w,z,two", "w,y,two"] * 3)]
    (tmp_path / "made-up.csv").write_text("\n".join(rows) + "\n")
    loaders = tables.tuning_tables(tmp_path)
    table = loaders["made-up"]()
    assert list(loaders) == ["made-up"]
    assert sorted(set(table.y)) == ["one", "two"]


# --- the page ---


def test_the_page_is_filled_from_results_and_what_is_written_by_hand_stays(
    two_tables, tmp_path, capsys
):
    results = tmp_path / "benchmarks/quality"
    quality.main([*FEW, "--out", str(results)])
    choice = page.DOCS / "benchmarks/choosing_k.json"
    (tmp_path / "benchmarks/choosing_k.json").write_bytes(choice.read_bytes())
    path = tmp_path / "quality.md"
    path.write_text(page.PAGE.read_text("utf-8"), "utf-8")
    arguments = ["--results", str(results), "--page", str(path)]
    page.main(arguments)
    filled = path.read_text("utf-8")
    assert "**In short**: mean ARI over 2 tables, 10 restarts: 0." in filled
    assert "| equal time: more wins than losses against KMeans |" in filled
    assert "| zoo | 101 x 16, 7 |" in filled
    hits, tables = json.loads(choice.read_text("utf-8"))["criteria"]["**the rule**"]["hit"]
    assert f"| **the rule** | {hits} of {tables} |" in filled
    by_hand = re.compile(r"<!-- begin ([^>]*) -->.*?<!-- end \1 -->", re.DOTALL)
    assert by_hand.sub("", filled) == by_hand.sub("", page.PAGE.read_text("utf-8"))
    page.main([*arguments, "--check"])
    path.write_text(filled.replace("**In short**", "In short"), "utf-8")
    with pytest.raises(SystemExit, match="is not what the results say"):
        page.main([*arguments, "--check"])


def test_a_page_without_its_marks_is_refused():
    parts = {"a": "1", "b": "2"}
    good = "x <!-- begin a -->old<!-- end a --> y <!-- begin b --><!-- end b -->"
    expected = "x <!-- begin a --> 1 <!-- end a --> y <!-- begin b --> 2 <!-- end b -->"
    assert page.filled(good, parts).split() == expected.split()
    for bad in ("", good.replace("end a", "end b"), good + good, good.replace(" b ", " c ")):
        with pytest.raises(ValueError, match=r"Let it have each of a, b once"):
            page.filled(bad, parts)


def test_the_page_says_what_the_committed_results_say():
    if not list(page.RESULTS.glob("report.jsonl*")):
        pytest.skip("no results are committed")
    page.main(["--check"])
