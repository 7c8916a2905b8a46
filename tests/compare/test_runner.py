from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from statistics import median

import pytest
from made_up_cells import zoo, zoo_alone

from softmodes._compare.cells import EQUAL_TIME, Limits, Setting
from softmodes._compare.contenders import chosen
from softmodes._compare.report import as_json
from softmodes._compare.runner import RECORDS, Comparison, all_cells, only, run
from softmodes._compare.summary import Summary
from softmodes._journal import Journal, read
from softmodes.baselines import unregister
from softmodes.baselines._plugins import load_methods
from softmodes.datasets import load_zoo

COMMAND = (sys.executable, "-c", "from softmodes._cli.main import main; main()", "compare")
TIMES = ("wall", "cpu", "seconds", "slower")
SETTINGS = (Setting(1), Setting(3))


def comparison(methods=("SoftModes", "KMeans", "BIRCH"), settings=SETTINGS, **more):
    source = partial(only, zoo())
    return Comparison(source, ("zoo",), tuple(chosen(methods)), settings, Limits(runs=3), **more)


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items() if key not in TIMES}
    return [without_times(part) for part in value] if isinstance(value, list) else value


def told(path):
    return without_times(as_json(Summary(read(path, RECORDS))))


def run_into(path, asked, **more):
    with Journal(path, RECORDS) as journal:
        run(asked, all_cells(asked), journal, **more)
    return told(path)


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("n_cells", [1, 4, 9])
def test_a_run_that_is_stopped_and_resumed_tells_the_same(tmp_path, n_cells):
    whole = run_into(tmp_path / "whole.jsonl", comparison())
    done = []

    def stop(cell):
        done.append(cell.key)
        if len(done) == n_cells:
            raise StoppedError

    path = tmp_path / "cut.jsonl"
    with pytest.raises(StoppedError):
        run_into(path, comparison(), on_cell=stop)
    path.write_bytes(path.read_bytes() + b'{"key": "torn')
    assert run_into(path, comparison(), on_cell=lambda cell: done.append(cell.key)) == whole
    assert len(set(done)) == len(done) == 10, "a cell was run twice, or not at all"


def test_a_killed_comparison_resumes_without_repeating_or_losing(tmp_path):
    X, y = load_zoo(return_X_y=True, as_frame=True)
    file = tmp_path / "zoo.csv"
    X.assign(kind=y).to_csv(file, index=False)

    def command(out):
        names = [part for name in ("SoftModes", "KMeans", "KModes") for part in ("--method", name)]
        arguments = [str(file), "--class", "kind", "--runs", "4", "--out", str(out), *names]
        return subprocess.Popen(
            [*COMMAND, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def lines(out):
        path = out / "compare.jsonl"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    killed = command(tmp_path / "cut")
    deadline = time.monotonic() + 60
    while lines(tmp_path / "cut") < 3 and killed.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL, "it ended before it was killed"
    kept = (tmp_path / "cut/compare.jsonl").read_bytes()
    for folder in ("cut", "whole"):
        process = command(tmp_path / folder)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    whole_lines = kept[: kept.rfind(b"\n") + 1]
    assert (tmp_path / "cut/compare.jsonl").read_bytes().startswith(whole_lines)
    cut, whole = (told(tmp_path / folder / "compare.jsonl") for folder in ("cut", "whole"))
    for found in (cut, whole):
        del found["settings"]["equal time"], found["bar"]  # they depend on the clock
    assert cut == whole
    assert (tmp_path / "cut/compare.md").exists()


def test_processes_find_what_one_finds(tmp_path):
    alone = run_into(tmp_path / "one.jsonl", comparison())
    several = replace(comparison(), source=zoo_alone)
    assert run_into(tmp_path / "two.jsonl", several, jobs=2) == alone
    assert {record["jobs"] for record in read(tmp_path / "two.jsonl", RECORDS)} == {2}


def test_equal_time_is_that_of_k_means(tmp_path):
    path = tmp_path / "x.jsonl"
    asked = comparison(("SoftModes", "KMeans"), (Setting(1), Setting(3), EQUAL_TIME))
    run_into(path, asked)
    records = {(r["contender"]["name"], r["setting"], r["what"]): r for r in read(path, RECORDS)}
    pace = sorted(run["wall"] for run in records["KMeans", "3 restarts", "runs"]["runs"])
    assert records["SoftModes", "equal time", "runs"]["budget"] == pace[1]
    once = records["SoftModes", "1 restart", "runs"]["runs"]
    for run_, first in zip(records["SoftModes", "equal time", "runs"]["runs"], once, strict=True):
        assert run_["objective"] <= first["objective"]


def test_a_comparison_without_a_budget_leaves_equal_time_out(tmp_path, monkeypatch):
    from sklearn.cluster import KMeans

    def fit(self, X):
        raise ValueError("broken")

    monkeypatch.setattr(KMeans, "fit", fit)
    asked = comparison(("SoftModes", "KMeans"), (Setting(1), EQUAL_TIME))
    found = run_into(tmp_path / "x.jsonl", asked)
    assert list(found["settings"]) == ["1 restart", "10 restarts"]


def test_a_plugin_takes_part(tmp_path):
    plugin = tmp_path / "mine.py"
    plugin.write_text(
        "from softmodes.baselines import register\n"
        "@register('first column', encoding='codes')\n"
        "def first_column(X, n_clusters, random_state):\n"
        "    return X[:, 0].astype(int)\n"
    )
    try:
        contenders = tuple(chosen(["SoftModes"], load_methods([str(plugin)])))
        asked = Comparison(
            partial(only, zoo()), ("zoo",), contenders, (Setting(1), EQUAL_TIME), Limits(runs=2)
        )
        run_into(tmp_path / "x.jsonl", asked)
    finally:
        unregister("first column")
    found = Summary(read(tmp_path / "x.jsonl", RECORDS))
    assert found.contenders["first column"]["side"] == "guest"
    assert found.row("first column", "equal time").clusters == pytest.approx(2 / 7)


@pytest.mark.parametrize(("k", "message"), [(0, "n_clusters=0 is not"), (200, "n_clusters=200 is")])
def test_numbers_of_clusters_that_cannot_be_are_refused(k, message):
    with pytest.raises(ValueError, match=message):
        all_cells(comparison(n_clusters=k))


def run_keys(path, asked):
    keys = []
    with Journal(path, RECORDS) as journal:
        run(asked, all_cells(asked), journal, on_cell=lambda cell: keys.append(cell.key))
    return keys


def test_another_pace_gives_another_equal_time(tmp_path):
    path = tmp_path / "x.jsonl"
    asked = comparison(("SoftModes",), (Setting(1), Setting(2), EQUAL_TIME))
    run_into(path, asked)
    assert run_keys(path, asked) == []
    more = replace(asked, settings=(Setting(1), Setting(9), EQUAL_TIME))
    assert sum("/equal time/" in key for key in run_keys(path, more)) == 2
    clock = replace(more, limits=replace(more.limits, clock="cpu"))
    assert all("/equal time/" in key for key in run_keys(path, clock))
    pace, *_ = [r for r in read(path, RECORDS) if r["setting"] == "9 restarts"]
    last = [r for r in read(path, RECORDS) if r["setting"] == "equal time"][-1]
    assert last["budget"] == median(run["cpu"] for run in pace["runs"])
    assert run_keys(path, clock) == []


def test_cells_that_were_short_of_time_go_on_with_more_of_it(tmp_path):
    path = tmp_path / "x.jsonl"
    asked = comparison(("SoftModes", "BIRCH"))
    short = replace(asked, limits=Limits(runs=3, cell_seconds=1e-9, longest=60))
    assert len(run_keys(path, short)) == 6
    assert run_keys(path, short) == []
    assert "/BIRCH/1 restart/3 runs/" not in "".join(again := run_keys(path, asked))
    assert len(again) == 5
    assert told(path) == run_into(tmp_path / "whole.jsonl", asked)
