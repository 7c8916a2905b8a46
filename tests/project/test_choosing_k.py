"""The benchmark of the choice of k: its tables, its rates, and that it goes on where it stopped."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.choosing_k import __main__ as command
from benchmarks.choosing_k import families, rates
from benchmarks.choosing_k.measure import measure_labelled
from benchmarks.quality import tables
from softmodes._compare.tables import LabelledTable
from softmodes.datasets import make_ccm


@pytest.mark.parametrize("report", [False, True])
def test_tables_are_the_same_for_a_seed_and_as_told(report):
    names = set()
    for name, make in families.planted_tables(range(4, 6), report):
        one, two = make(), make()
        assert one.name == name
        assert name not in names
        names.add(name)
        np.testing.assert_array_equal(one.X, two.X)
        assert one.k == one.y.max() + 1
        assert (one.kind == "groups") == (one.k > 1)
        assert ("noise" in one.family.split(" + ")) == (one.noise > 0) or one.kind != "groups"
        assert len(one.X) == len(one.y) <= 4000
    kinds = [name for name in names if "permuted" in name]
    assert len(kinds) == (13 if report else 5)


def test_it_goes_on_where_it_stopped_and_writes_its_results(tmp_path, monkeypatch, capsys):
    few = dict(list(families.CALIBRATE.items())[2:3])
    monkeypatch.setattr(families, "CALIBRATE", few)
    monkeypatch.setattr(families, "NO_GROUPS", {})
    journal = tmp_path / "journal.jsonl"
    arguments = ["--set", "calibrate", "--journal", str(journal), "--out", str(tmp_path)]
    command.main([*arguments, "--seeds", "1"])
    first = journal.read_text()
    assert first.count("\n") == 2
    command.main([*arguments, "--seeds", "2"])
    assert journal.read_text().startswith(first)
    assert journal.read_text().count("\n") == 3
    found = json.loads((tmp_path / "choosing_k.json").read_text())
    assert found["tables"] == 3
    assert found["criteria"]["**the rule**"]["alarm"]["permuted"] == [0, 1]
    assert (tmp_path / "choosing_k.md").read_text() in capsys.readouterr().out


def test_a_hit_is_the_planted_number_or_one_more_with_noise():
    plain, noisy = {"k": 4, "noise": 0.0}, {"k": 4, "noise": 0.3}
    assert [rates.is_hit(plain, k) for k in (None, 3, 4, 5)] == [False, False, True, False]
    assert [rates.is_hit(noisy, k) for k in (3, 4, 5, 6)] == [False, True, True, False]
    assert [rates.is_hit(plain, k, 1) for k in (2, 3, 5, 6)] == [False, True, True, False]


def groups(n=200):
    X, y = make_ccm(n, 20, 3, 0.1, random_state=0)
    return LabelledTable("mine", X, np.array(["a", "b", "c"])[y], "tune")


def test_a_labelled_table_has_a_record():
    record = measure_labelled(groups(), most=4)
    assert (record["name"], record["k"], record["choice"]["pick"]) == ("mine", 3, 3)
    assert record["ari"][2] > 0.9
    (row,) = rates.summary([record])["labelled"]
    assert "| mine | 200 | 3 | 3 | 3 | 3 | Solid |" in rates.labelled_table([row])
    assert len(measure_labelled(groups(10))["statistics"]) == 8, "no more than a sample has rows"


def test_labelled_tables_join_the_page_and_count_in_no_rate(tmp_path, monkeypatch):
    monkeypatch.setattr(families, "CALIBRATE", {})
    monkeypatch.setattr(families, "NO_GROUPS", {})
    monkeypatch.setattr(tables, "tuning_tables", lambda folder: {"mine": groups, "other": groups})
    arguments = ["--set", "calibrate", "--labelled", "tune", "--tune", str(tmp_path)]
    command.main([*arguments, "--journal", str(tmp_path / "j"), "--out", str(tmp_path)])
    found = json.loads((tmp_path / "choosing_k.json").read_text())
    assert found["tables"] == 0
    assert [row["name"] for row in found["labelled"]] == ["tune: mine", "tune: other"]
    page = (tmp_path / "choosing_k.md").read_text()
    assert "Tables to tune on, 2: Solid 2, Use with care 0, No separate groups 0, No gr" in page
    assert "Of 2 picks 2 are the number of classes, 0 are more, 0 fewer." in page
    assert "| other | 200 | 3 | 3 |" in page
