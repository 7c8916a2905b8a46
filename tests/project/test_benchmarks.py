"""The benchmarks run, and every method that is raced solves the same problem."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

import softmodes
from benchmarks import (
    big_files,
    choice_speed,
    engines,
    machine,
    memory,
    methods,
    mini_batch,
    peers,
    roofs,
    scaling,
    seeding_quality,
    timing,
    tiny_fits,
    versus,
    workloads,
)

PACKAGES = {"faiss": "faiss", "numkong": "numkong", "kmodes": "kmodes", "StepMix": "stepmix"}
SIZES = {2: 9, 3: 4, 5: 3, 12: 2, 17: 1}


def small(binary):
    sizes = [2] * 40 if binary else [s for s, n in SIZES.items() for _ in range(n)]
    return workloads.Problem(workloads.codes(600, sizes), 5)


def naive_cost(problem):
    centers = problem.table[problem.seeds]
    return int((problem.table[:, None] != centers).sum(axis=2).min(axis=1).sum())


@pytest.mark.parametrize("binary", [True, False])
def test_one_hot_distances_are_hamming_distances(binary):
    problem = small(binary)
    X = problem.one_hot
    squared = ((X[:, None] - X[problem.seeds]) ** 2).sum(axis=2).min(axis=1).sum()
    assert squared == naive_cost(problem) * (1 if binary else 2)


@pytest.mark.parametrize("binary", [True, False])
def test_our_pass_has_the_cost_of_the_problem(binary):
    problem = small(binary)
    assert methods.rows_pass(problem, 1)().cost == naive_cost(problem)
    labels = methods.assignment(problem, 1)()
    assert (problem.table != problem.table[problem.seeds][labels]).sum() == naive_cost(problem)


def test_faiss_binary_has_the_cost_of_the_problem():
    pytest.importorskip("faiss")
    distances, _ = methods.faiss_binary(small(True), 1)()
    assert distances.sum() == naive_cost(small(True))


@pytest.mark.parametrize("method", methods.PEERS, ids=lambda method: method.name)
def test_every_peer_runs(method):
    problem = small(True)
    pytest.importorskip(PACKAGES.get(method.name.split()[0], "sklearn"))
    assert method.rows(problem) == 600
    with method.around(2):
        method.prepare(problem, 2)()


def test_methods_for_bits_refuse_other_tables():
    refused = [method.name for method in methods.PEERS if not method.rows(small(False))]
    assert refused == ["faiss IndexBinaryFlat", "numkong"]


def test_roof_time_is_that_of_the_packed_columns():
    speeds = {"lookup": 1e9, "popcount": 1e9, "planes": 1e9, "planes_from": 16}
    # 3 of the binary features beside fields of 3 bits, 6 in a byte; 4 fields of 2 bits in
    # 2 nibbles; the other 3 + 2 + 1 features one column each.
    sizes = np.repeat(list(SIZES), list(SIZES.values())).astype(np.int32)
    assert roofs.assignment_seconds(sizes, 10**6, 10, speeds) == pytest.approx(0.01 * (1 + 2 + 6))
    assert roofs.assignment_seconds(sizes, 10**6, 10, speeds | {"popcount": 1e8}) == pytest.approx(
        0.01 * (2 + 2 + 6)
    )
    # With many centers, 9 binary features take 6 planes, and the other 10 one each.
    assert roofs.assignment_seconds(sizes, 10**6, 80, speeds) == pytest.approx(0.01 * (6 + 10))


class FakeBuild:
    """A build whose rounds take known times."""

    def __init__(self, seconds, costs="7 6.5"):
        self.source, self._seconds, self._costs = "here", iter(seconds), costs

    def round(self):
        return next(self._seconds), self._costs


def test_a_build_races_against_itself():
    here = str(Path(softmodes.__file__).parents[1])
    small_run = ["W3b", "--old", here, "--new", here, "--scale", "0.002", "--rounds", "3"]
    found = versus.main(small_run)["W3b"]
    assert found.old.shape == found.new.shape == (3,)
    assert (found.old > 0).all()
    assert (found.new > 0).all()


def test_the_race_tells_a_slower_build():
    old = FakeBuild([9.0, *np.linspace(1.0, 2.0, 15)])
    new = FakeBuild([9.0, *(1.1 * np.linspace(1.0, 2.0, 15))])
    found = versus.race(old, new, 15)
    assert found.ratio == pytest.approx(1.1)
    assert found.interval == pytest.approx((1.1, 1.1))


def test_the_race_ends_where_answers_differ():
    with pytest.raises(SystemExit, match=r"Round 0 differs: cost and expected cost are 7 6\.5"):
        versus.race(FakeBuild([1.0]), FakeBuild([1.0], "8 6.5"), 1)


def test_peak_memory_sees_what_a_method_allocates(tmp_path):
    ballast = np.ones(50_000_000)  # what this process needs does not count
    table = np.zeros((200_000, 50), np.uint8)
    table[::2] = 1
    np.save(tmp_path / "table.npy", table)
    one_hot_bytes = 4 * table.size
    peak = memory.peak_memory("scikit-learn KMeans", tmp_path / "table.npy", 2)
    assert 0.8 * one_hot_bytes < peak < 2 * one_hot_bytes
    del ballast


def test_the_least_of_the_repeats_counts():
    waits = iter([0.12, 1e-3, *[0.12] * 20])
    found = timing.alternate({"wait": lambda: time.sleep(next(waits))}, 3)
    assert found["wait"].wall < 0.1


@pytest.mark.parametrize("slope", [0.7, 1.0, 1.3])
def test_fitted_growth_is_that_of_the_curve(slope):
    x = np.geomspace(1e3, 1e5, 9)
    fixed, per_unit, found = scaling.fit_growth(x, 2e-3 + 1e-6 * x**slope)
    assert found == pytest.approx(slope, abs=0.02)
    assert fixed == pytest.approx(2e-3, rel=0.05)
    assert per_unit == pytest.approx(1e-6, rel=0.2)


def test_peers_writes_tables_chart_and_machine(tmp_path):
    for package in ("faiss", "kmodes", "matplotlib", "numkong", "stepmix"):
        pytest.importorskip(package)
    small_run = ["W3b", "--scale", "0.002", "--repeats", "1", "--threads", "1", "--no-memory"]
    peers.main([*small_run, "--out", str(tmp_path)])
    found = json.loads((tmp_path / "peers.json").read_text())
    assert found["workloads"][0]["n"] == 2000
    assert {"cpu", "cores", "instruction_set", "versions", "date"} <= found["machine"].keys()
    times = found["workloads"][0]["times"]["1"]
    ratio = times["scikit-learn KMeans"]["wall"] / times["softmodes"]["wall"]
    assert f"{ratio:.1f}x" in (tmp_path / "peers.md").read_text()
    assert (tmp_path / "peers.svg").stat().st_size > 1000


def test_one_epoch_is_raced_and_judged_by_the_bar(tmp_path, capsys):
    mini_batch.main(["--seeds", "1", "--tables", "Mushroom, k 2", "--out", str(tmp_path)])
    found = json.loads((tmp_path / "mini_batch.json").read_text("utf-8"))
    by_method = found["tables"]["Mushroom, k 2"]
    assert "held by both" in capsys.readouterr().out
    by_method["one epoch"]["cost"] = 1.04 * by_method[mini_batch.WHOLE]["cost"]
    assert "missed by Mushroom, k 2, one epoch:" in mini_batch.report(found)


def test_files_are_measured_in_every_step_and_held_against_the_bars(tmp_path, monkeypatch):
    monkeypatch.setattr(big_files, "FILE_ROWS", 2500)
    monkeypatch.setattr(big_files, "run_apart", lambda step, folder: big_files.STEPS[step](folder))
    monkeypatch.setattr(big_files, "LIMIT", "10kB")
    big_files.main(["--rows", "21000", "--folder", str(tmp_path), "--out", str(tmp_path / "out")])
    assert [path.name for path in tmp_path.iterdir()] == ["out"], "the files were not removed"
    found = json.loads((tmp_path / "out" / "big_files.json").read_text("utf-8"))
    steps = found["steps"]
    assert set(steps) == set(big_files.STEPS)
    assert steps["pass"]["cost"] == steps["pass in memory"]["cost"]
    assert sum(steps["fit"]["stages"].values()) == pytest.approx(steps["fit"]["cpu"], rel=0.2)
    text = (tmp_path / "out" / "big_files.md").read_text("utf-8")
    assert f"{steps['fit']['peak'] / 1e9:.2f} GB" in text
    steps["pass"]["cost"] += 1
    with pytest.raises(AssertionError):
        big_files.report(found)


def test_the_choice_of_k_is_raced_and_counted(tmp_path):
    pytest.importorskip("stepmix")
    choice_speed.main(["--rows", "300", "--seeds", "1", "--out", str(tmp_path)])
    found = json.loads((tmp_path / "choice_speed.json").read_text("utf-8"))
    ours, *others = found["contenders"].values()
    assert [len(one["picks"]) for one in (ours, *others)] == [1, 1, 1]
    text = (tmp_path / "choice_speed.md").read_text("utf-8")
    assert f"{others[0]['cpu'] / ours['cpu']:.1f}x" in text or others[0]["cpu"] > 99 * ours["cpu"]
    found["contenders"][choice_speed.OURS]["picks"] = [None]
    assert "| 0 of 1 |" in choice_speed.report(found)


def test_tiny_fits_are_raced_and_have_found_something():
    zoo = next(tiny_fits.tables())
    found = tiny_fits.fit_seconds(zoo, repeats=1)
    assert 0 < found["one"] < found["ten"]
    assert found["k-means"] > 0
    assert found["objective"] > 0
    shown = tiny_fits.report({"fits": [found], "machine": machine.describe_machine()})
    assert "zoo, 101 x 16, k 7" in shown


def test_seedings_are_told_apart_by_paired_costs(tmp_path):
    journal = tmp_path / "runs.jsonl"
    small_run = ["zoo", "--runs", "2", "--journal", str(journal), "--out", str(tmp_path)]
    seeding_quality.main(small_run)
    made = journal.read_text()
    seeding_quality.main(small_run)
    assert journal.read_text() == made, "runs that are there are not made again"
    runs = [json.loads(line) for line in made.splitlines()]
    assert len(runs) == 2 * 4 * 6
    found = json.loads((tmp_path / "seeding_quality.json").read_text())["against"]["random"]
    costs = {
        init: [r["cost"] for r in runs if (r["setting"], r["init"]) == ("t = inf", init)]
        for init in ("random", "cao")
    }
    (told,) = [f for f in found if (f["setting"], f["init"]) == ("t = inf", "cao")]
    expected = np.mean(costs["cao"]) / np.mean(costs["random"]) - 1
    assert told["cost"][0] == pytest.approx(expected)
    assert told["seeding_maps"] == 8
    assert f"{100 * expected:+.2f} %" in (tmp_path / "seeding_quality.md").read_text()


def test_a_seeding_is_better_only_beyond_chance_and_by_enough():
    interval = seeding_quality.Interval
    assert seeding_quality.better(interval(-0.01, -0.02, -0.001))
    assert not seeding_quality.better(interval(-0.004, -0.005, -0.003))
    assert not seeding_quality.better(interval(-0.01, -0.03, 0.001))
    assert seeding_quality.worse(interval(0.01, 0.001, 0.02))


def test_what_an_engine_adds_to_a_round_is_held_against_its_bar():
    times = {"memory": 0.5, "engine": 0.7, "empty": 0.15, "build": 3.0}
    found = {
        "rows": 100,
        "columns": 3,
        "partitions": 2,
        "k": 4,
        "repeats": 1,
        "engines": {"dask": times, "spark": times | {"engine": 1.2}},
        "growth": {"dask": [(0, 10**8), (2000, 2 * 10**8)]},
        "machine": engines.describe_machine(("numpy",)),
    }
    text = engines.report(found)
    assert "| 50 ms | 100 ms, held |" in text
    assert "| 550 ms | 500 ms, missed |" in text
    assert "| 2,000 | 200 MB |" in text
