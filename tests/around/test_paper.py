import gzip
import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.cluster import KMeans

from softmodes import SoftModes
from softmodes._paper import EXPERIMENTS, chosen
from softmodes._paper.capped_k_means import capped_k_means
from softmodes._paper.cells import dataset, run_cell, seeds
from softmodes._paper.claims import (
    best_by_label,
    judge,
    label_free,
    rescored,
)
from softmodes._paper.experiments import (
    GRID_OF_T,
    PUBLISHED,
    TABLES,
    Algorithm,
    Cell,
    Data,
    Published,
    blocks,
    codewords,
    k_means,
    soft_modes,
)
from softmodes._paper.report import write_report
from softmodes._paper.results import ResultsFile, read, read_folder
from softmodes._paper.runner import load_methods, pending, run
from softmodes._paper.summary import Found, Series, compare
from softmodes._paper.tables import Comparison, notes_of, tables_of, trivial_notes
from softmodes.baselines import names, unregister
from softmodes.datasets import load_zoo, make_bbm, make_ccm
from softmodes.metrics import matching_accuracy

QUICK = ("theorem", "theorem-map")
COMMAND = (sys.executable, "-c", "from softmodes._cli.main import main; main()", "paper", "run")


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """The records of everything at small size, and the seconds it took."""
    folder = tmp_path_factory.mktemp("small")
    start = time.perf_counter()
    with ResultsFile(folder / "small.jsonl") as results:
        run(pending(chosen(["all"]), "small", results.done), results)
    return read_folder(folder, "small"), time.perf_counter() - start


def found_in(records, name, size="small"):
    return Found(EXPERIMENTS[name], size, records)


def made_up(cell, accuracy, **more):
    """A record of a cell as if it had been run."""
    metrics = dict.fromkeys(("f1", "ari", "nmi", "largest_share"), 0.5)
    return {
        "key": cell.key,
        "experiment": cell.experiment,
        "size": cell.size,
        "data": {"kind": cell.data.kind, "k": cell.data.n_clusters, **dict(cell.data.params)},
        "algorithm": cell.algorithm.name,
        "params": dict(cell.algorithm.params),
        "run": cell.run,
        "metrics": metrics
        | {"accuracy": accuracy, "clusters_in_use": 2, "all_in_one_accuracy": 0.5},
        "expected_cost": 1.0,
        "rounds": 3,
        "capped": False,
        "trace": None,
        "seconds": {"wall": 1.0, "cpu": 1.0, "seeding": 0.0, "total": 1.0},
        "versions": {"softmodes": "0"},
        "machine": "none",
        "date": "2026-01-01T00:00:00+00:00",
    } | more


def all_made_up(name, accuracy_of, size="full"):
    return [made_up(cell, accuracy_of(cell)) for cell in EXPERIMENTS[name].cells(size)]


# --- what is declared ---


@pytest.mark.parametrize(
    ("name", "data", "algorithms", "runs", "seeding"),
    [
        (
            "fig-sbm",
            [blocks(10**4, 10**4, *pq) for pq in ((0.6, 0.25), (0.45, 0.25), (0.3, 0.1), (0.3, 0))],
            {"k-modes", "SoftModes(1)"},
            50,
            "random",
        ),
        (
            "fig-ccm",
            [codewords(500_000, 1000, k, 0.2) for k in (2, 10, 100, 1000, 2000)],
            {"k-modes", "k-means", "SoftModes(1)", "SoftModes(3)", "SoftModes(10)"},
            5,
            "d1-greedy",
        ),
        (
            "fig-noise",
            [
                codewords(10**5, 500, k, 0.2, rho)
                for rho in (0.1, 0.5, 0.9)
                for k in (50, 200, 1000, 5000)
            ],
            {"k-modes", "k-means", "SoftModes(1)", "SoftModes(3)", "SoftModes(10)"},
            10,
            "d1-greedy",
        ),
        (
            "fig-convergence",
            [codewords(10**5, 200, 100, 0.3)],
            {"k-modes", "k-means", "SoftModes(1)", "SoftModes(3)", "SoftModes(10)"},
            10,
            "random",
        ),
        (
            "fig-t",
            [codewords(10**5, 200, 100, 0.3)],
            {"k-modes", *(f"SoftModes({t:g})" for t in GRID_OF_T[:-1])},
            10,
            "random",
        ),
    ],
)
def test_full_size_is_that_of_the_paper(name, data, algorithms, runs, seeding):
    experiment = EXPERIMENTS[name]
    assert [case.data for case in experiment.full] == data
    assert {a.title for case in experiment.full for a in case.algorithms} == algorithms
    assert {case.runs for case in experiment.full} == {runs}
    assert experiment.seeding == seeding


def test_real_tables_run_25_times_and_the_grid_of_t_as_often_again_to_score_the_best():
    for case in EXPERIMENTS["table-real"].full:
        runs = {a.title: a.runs or case.runs for a in case.algorithms}
        ours = {title for title in runs if title.startswith(("SoftModes", "k-modes"))}
        assert len(ours) == 12
        assert {runs[title] for title in ours} == {50}
        assert runs["k-means"] == runs["Gaussian mixture"] == 25
    assert [case.data.kind for case in EXPERIMENTS["table-real"].full] == list(TABLES)


@pytest.mark.parametrize("size", ["small", "full"])
def test_no_two_cells_have_the_same_key(size):
    keys = [cell.key for experiment in EXPERIMENTS.values() for cell in experiment.cells(size)]
    assert len(keys) == len(set(keys)) > 400


def test_keys_and_seeds_never_change_lest_a_resumed_run_repeat_or_mix():
    cell = next(c for c in EXPERIMENTS["fig-noise"].cells("full") if c.algorithm.name == "k-means")
    assert cell.key == (
        "fig-noise/full/ccm(k=50, n=100000, d=500, eps=0.2, noise=0.1)/k-means(cap=30)/run=0"
    )
    assert (cell.data.seed, cell.seed) == (1087752743, 1483054610)


def test_unknown_experiments_are_refused_by_name():
    with pytest.raises(ValueError, match=r"experiment='fig-9' is not known. Pass 'all' or some of"):
        chosen(["fig-sbm", "fig-9"])


# --- a cell ---


def test_a_cell_is_algorithm_1_as_anyone_can_call_it():
    p, q = 0.3, 0.1
    data = blocks(300, 200, p, q)
    cell = Cell("theorem", "small", data, soft_modes(2.0), run=3)
    X, y = make_bbm(300, 200, [[p, q], [q, p]], random_state=data.seed)
    model = SoftModes(
        2, t=2, init="random", n_init=1, max_iter=30, select="last", random_state=cell.seed
    ).fit(X)
    record = run_cell(cell)
    assert record["metrics"]["accuracy"] == pytest.approx(matching_accuracy(y, model.labels_))
    assert record["cost"] == model.cost_
    assert record["expected_cost"] == pytest.approx(model.expected_cost_)
    assert record["rounds"] == model.n_iter_


def test_codes_of_a_table_give_the_answer_of_its_values():
    data = Data("zoo", 7)
    cell = Cell("table-real", "full", data, soft_modes(3.0), run=1, seeding="d1-greedy")
    X, y = load_zoo(return_X_y=True)
    model = SoftModes(7, t=3, n_init=1, max_iter=30, select="last", random_state=cell.seed).fit(X)
    assert run_cell(cell)["metrics"]["accuracy"] == pytest.approx(
        matching_accuracy(y, model.labels_)
    )


def test_shared_seeds_are_rows_that_all_algorithms_start_from():
    data = codewords(2_000, 200, 4, 0.2)
    cells = [
        Cell("fig-convergence", "small", data, algorithm, 0, "random", True, True)
        for algorithm in (soft_modes(1.0), soft_modes(math.inf), k_means(100.0))
    ]
    first = [run_cell(cell)["trace"][0] for cell in cells]
    assert first[0] == first[1]
    assert first[2] == pytest.approx(first[0], abs=0.05), "round 1 differs by more than ties"
    centers, seconds = seeds(data, "random", cells[0].seed, None)
    rows = {row.tobytes() for row in dataset(data).table}
    assert all(np.asarray(center, bool).tobytes() in rows for center in centers)
    assert seconds > 0


def test_a_record_says_all_that_should_stand_beside_an_accuracy():
    record = run_cell(Cell("theorem", "small", blocks(100, 50, 0.3, 0.1), soft_modes(1.0), 0))
    assert set(record["metrics"]) == {
        "accuracy",
        "f1",
        "ari",
        "nmi",
        "clusters_in_use",
        "largest_share",
        "all_in_one_accuracy",
    }
    assert set(record["versions"]) >= {"softmodes", "numpy", "scikit-learn", "python"}
    assert record["seconds"]["total"] >= record["seconds"]["wall"] > 0
    json.dumps(record, allow_nan=False)


# --- k-means with a cap ---


@pytest.fixture(scope="module")
def points():
    X, _ = make_ccm(3_000, 60, 8, 0.3, random_state=0)
    return X.astype(np.float32)


def test_uncapped_k_means_is_that_of_scikit_learn(points):
    ours = capped_k_means(points, points[:8], max_iter=200)
    theirs = KMeans(8, init=points[:8], n_init=1, max_iter=199).fit(points)
    assert matching_accuracy(theirs.labels_, ours.labels) > 0.999
    assert not ours.capped
    assert abs(ours.rounds - theirs.n_iter_) <= 2


def test_k_means_is_watched_from_the_assignment_to_its_seeds_on(points):
    seen = []
    ours = capped_k_means(points, points[:8], max_iter=6, on_round=seen.append)
    distances = ((points[:, None] - points[None, :8]) ** 2).sum(axis=2)
    assert matching_accuracy(distances.argmin(axis=1), seen[0]) > 0.999
    assert len(seen) == ours.rounds == 6
    assert_array_equal(seen[-1], ours.labels)
    theirs = KMeans(8, init=points[:8], n_init=1, max_iter=5).fit(points)
    assert_array_equal(ours.labels, theirs.labels_)


def test_capped_k_means_stops_and_says_so(points):
    ours = capped_k_means(points, points[:8], max_iter=200, cap=0.0)
    assert ours.capped
    assert ours.rounds == 2


# --- the results file ---


def lines_of(path):
    return [record["key"] for record in read(path)]


def a_record(key, **more):
    cell = next(iter(EXPERIMENTS["theorem"].cells("small")))
    return made_up(cell, 0.5, key=key, **more)


def a_line(key, **more):
    return json.dumps(a_record(key, **more)) + "\n"


def test_every_torn_last_line_is_dropped_and_written_again(tmp_path):
    path = tmp_path / "small.jsonl"
    with ResultsFile(path) as results:
        for key in ("a", "b"):
            results.append(a_record(key))
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for end in range(first, len(whole)):
        path.write_bytes(whole[:end])
        assert lines_of(path) == ["a"], "a reader takes a torn line for a whole one"
        with ResultsFile(path) as results:
            assert results.done == {"a"}
            results.append(a_record("b"))
        assert path.read_bytes() == whole


def test_zeros_that_a_power_cut_leaves_are_dropped(tmp_path):
    path = tmp_path / "small.jsonl"
    path.write_text(a_line("a") + "\0\0\0\0\0\n")
    with ResultsFile(path) as results:
        results.append(a_record("b"))
    assert b"\0" not in path.read_bytes()
    assert lines_of(path) == ["a", "b"]


def test_a_foreign_line_is_named(tmp_path):
    path = tmp_path / "small.jsonl"
    path.write_text(a_line("a") + "hello\n" + a_line("b"))
    with pytest.raises(ValueError, match=r"small.jsonl, line 2 is not a record.*Delete that line"):
        lines_of(path)


@pytest.mark.parametrize(
    "line",
    [
        '{"key":["a"]}\n',
        '{"key":"a"}\n',
        "[" * 100_000 + "]" * 100_000 + "\n",
        a_line("a", experiment=None),
        a_line("a", metrics={}),
        a_line("a", seconds={"wall": "1"}),
        a_line("a", data=["ccm", 2]),
        a_line("a", run="1"),
    ],
    ids=["key", "fields", "depth", "experiment", "metrics", "seconds", "data", "run"],
)
def test_a_run_and_a_report_refuse_what_is_not_a_record(tmp_path, line):
    path = tmp_path / "small.jsonl"
    path.write_text(a_line("whole") + line)
    refusal = r"small.jsonl, line 2 is not a record of a cell.*Delete that line"
    with pytest.raises(ValueError, match=refusal), ResultsFile(path):
        pass
    with pytest.raises(ValueError, match=refusal):
        read_folder(tmp_path, "small")
    assert path.read_text() == a_line("whole") + line


PACKED = gzip.compress(a_line("a").encode())


@pytest.mark.parametrize(
    "content",
    [b"hello", PACKED[:-9], PACKED[:10] + b"\xff" * 20, PACKED[:-8] + bytes(8)],
    ids=["plain", "truncated", "deflate", "checksum"],
)
def test_damaged_compressed_results_are_named(tmp_path, content):
    (tmp_path / "full.jsonl.gz").write_bytes(content)
    with pytest.raises(ValueError, match=r"full.jsonl.gz is damaged: .*Put a whole copy in its"):
        read_folder(tmp_path, "full")


def test_published_results_are_records():
    published = Path(__file__).parents[2] / "docs" / "paper"
    assert len(read_folder(published, "full")) > 1000


def test_two_runs_cannot_write_the_same_file(tmp_path):
    path = tmp_path / "small.jsonl"
    with (
        ResultsFile(path),
        pytest.raises(ValueError, match=r"being written by another run. Wait for it, or pass"),
        ResultsFile(path),
    ):
        pass


def test_compressed_results_are_read_and_newer_plain_ones_win(tmp_path):
    with gzip.open(tmp_path / "full.jsonl.gz", "wt") as file:
        file.write(a_line("a", run=1) + a_line("b", run=1))
    (tmp_path / "full.jsonl").write_text(a_line("b", run=2))
    assert {r["key"]: r["run"] for r in read_folder(tmp_path, "full")} == {"a": 1, "b": 2}


# --- running, dying, resuming ---


def start(out, *more):
    return subprocess.Popen(
        [*COMMAND, *QUICK, "--size", "small", "--out", str(out), *more],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def count_lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for_lines(process, path, n):
    deadline = time.monotonic() + 60
    while count_lines(path) < n and process.poll() is None:
        assert time.monotonic() < deadline, f"{count_lines(path)} of {n} lines after a minute"
        time.sleep(0.002)


def test_a_run_killed_at_any_moment_resumes_without_repeating_or_losing(tmp_path, small):
    moments = random.Random(5)
    path = tmp_path / "small.jsonl"
    kept = []
    for _ in range(3):
        process = start(tmp_path)
        wait_for_lines(process, path, count_lines(path) + moments.randint(2, 25))
        time.sleep(moments.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kept.append(path.read_bytes())
        assert process.returncode == -signal.SIGKILL, "it ended before it was killed"
    last = start(tmp_path)
    _, errors = last.communicate(timeout=120)
    assert last.returncode == 0, errors
    content = path.read_bytes()
    for before in kept:
        whole = before[: before.rfind(b"\n") + 1]
        assert content.startswith(whole), "a line that was written has changed"
    expected = {r["key"]: r["metrics"] for r in small[0] if r["experiment"] in QUICK}
    assert {r["key"]: r["metrics"] for r in read(path)} == expected
    assert len(lines_of(path)) == len(expected), "a cell was run twice"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes in /proc")
def test_processes_of_a_killed_run_do_not_outlive_it(tmp_path):
    process = start(tmp_path, "--jobs", "2")
    wait_for_lines(process, tmp_path / "small.jsonl", 1)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert len(children) >= 2
    process.kill()
    process.wait()  # not communicate: survivors would hold its pipe open
    process.stderr.close()
    deadline = time.monotonic() + 20
    try:
        while any(map(alive, children)):
            assert time.monotonic() < deadline, "still running after 20 seconds"
            time.sleep(0.05)
    finally:
        for pid in filter(alive, children):
            os.kill(int(pid), signal.SIGKILL)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


PLUGIN = """
from softmodes.baselines import register

@register("by first column", encoding="codes")
def by_first_column(X, n_clusters, random_state):
    return X[:, 0].astype(int) % n_clusters
"""


def test_someone_elses_function_joins_and_two_processes_find_what_one_finds(tmp_path, small):
    plugin = tmp_path / "mine.py"
    plugin.write_text(PLUGIN)
    with ResultsFile(tmp_path / "small.jsonl") as results:
        try:
            methods = load_methods([str(plugin)])
            cells = pending([EXPERIMENTS["table-real"]], "small", set(), methods)
        finally:
            unregister("by first column")
        keep = ("k-modes", "rock", "by first column")
        cells = [cell for cell in cells if cell.algorithm.name in keep]
        run(cells, results, jobs=2, plugins=[str(plugin)])
    assert methods == ["by first column"]
    records = list(read(tmp_path / "small.jsonl"))
    alone = {r["key"]: r["metrics"] for r in small[0]}
    both = [r for r in records if r["key"] in alone]
    assert len(both) > 10
    assert all(r["metrics"] == alone[r["key"]] for r in both)
    X, y = load_zoo(return_X_y=True, as_frame=False)
    expected = matching_accuracy(y, np.unique(X[:, 0], return_inverse=True)[1] % 7)
    guest = Found(EXPERIMENTS["table-real"], "small", records).get(Data("zoo", 7), methods[0])
    assert guest.mean() == pytest.approx(expected)
    rows = tables_of(Found(EXPERIMENTS["table-real"], "small", records))[-1].rows
    assert any(row[1] == "by first column" for row in rows)


def test_a_missing_plugin_is_refused():
    with pytest.raises(ValueError, match=r"plugin='no-such.py' is not a file. Pass a .py file"):
        load_methods(["no-such.py"])
    assert "by first column" not in names()


def test_zero_processes_are_refused(tmp_path):
    with (
        ResultsFile(tmp_path / "x.jsonl") as results,
        pytest.raises(ValueError, match=r"jobs=0 is not a number of processes. Pass 1 or more."),
    ):
        run([], results, jobs=0)


# --- everything at small size: what is certain ---


def test_everything_at_small_size_takes_under_three_minutes(small):
    records, seconds = small
    declared = [c for e in EXPERIMENTS.values() for c in e.cells("small")]
    assert len(records) == len(declared)
    assert seconds < 180


def test_soft_modes_recovers_blocks_that_k_modes_cannot_see(small):
    found = found_in(small[0], "fig-sbm")
    data = blocks(4_000, 4_000, 0.3, 0.05)
    k_modes, ours = found.get(data, "k-modes"), found.get(data, "softmodes", 1.0)
    assert len(k_modes.records) == len(ours.records) == 10
    assert k_modes.mean() <= 0.55
    assert ours.mean() >= 0.95


def test_the_best_t_is_above_k_modes_on_fifty_codewords(small):
    found = found_in(small[0], "fig-ccm")
    data = next(d for d in found.data() if d.n_clusters == 50)
    best = max(found.get(data, "softmodes", t).mean() for t in found.finite_t())
    assert best > found.get(data, "k-modes").mean()


def test_accuracy_has_a_threshold_in_t(small):
    found = found_in(small[0], "fig-t")
    means = {s.algorithm.t: s.mean() for s in found.series}
    assert max(means[1.0], means[1.5]) < 0.5
    assert min(means[t] for t in (3.0, 5.0, 10.0)) > 0.8


# --- judging ---


def test_levels_are_two_standard_errors_apart():
    def series(mean, spread, n=25):
        cells = [Cell("x", "full", blocks(2, 2, 0, 0), soft_modes(1.0), run) for run in range(n)]
        steps = np.linspace(-1, 1, n)
        values = mean + spread * steps / steps.std(ddof=1)
        return Series(
            cells[0].data,
            cells[0].algorithm,
            tuple(made_up(c, v) for c, v in zip(cells, values, strict=True)),
        )

    # The standard error of a difference of such means is 0.05 * sqrt(2 / 25) = 0.01414.
    assert compare(series(0.529, 0.05), series(0.5, 0.05)) == 1
    assert compare(series(0.528, 0.05), series(0.5, 0.05)) == 0
    assert compare(series(0.471, 0.05), series(0.5, 0.05)) == -1


def test_a_claim_about_t_names_the_t_for_which_it_holds():
    accuracy = {"k-modes": 0.5, "k-means": 0.6}

    def of(cell):
        return accuracy.get(cell.algorithm.name, 0.4 if cell.algorithm.t == 1 else 0.7)

    (answer,) = judge(found_in(all_made_up("fig-noise", of), "fig-noise", "full"))
    assert answer.verdict == "holds for t in 3, 10"
    assert "t = 1: above in 0, level in 0, below in 12" in answer.evidence
    assert "0.400 against 0.600" in answer.evidence


@pytest.mark.parametrize(("level", "verdict"), [(0.9, "holds"), (0.1, "does not hold")])
def test_a_claim_holds_for_all_t_or_none(level, verdict):
    records = all_made_up("fig-noise", lambda c: level if c.algorithm.name == "softmodes" else 0.5)
    assert judge(found_in(records, "fig-noise", "full"))[0].verdict == verdict


def test_the_theorem_is_judged_by_its_bounds():
    def of(cell):
        if cell.algorithm.name == "k-modes":
            return 0.505
        return 1.0 if cell.algorithm.t == 1 else 0.73

    verdicts = [j.verdict for j in judge(found_in(all_made_up("theorem", of), "theorem", "full"))]
    assert verdicts == ["holds", "holds for t in 1", "holds"]


def test_convergence_is_judged_round_by_round():
    def trace(cell):
        level = {"k-modes": 0.5, "k-means": 0.6}.get(cell.algorithm.name, 0.8)
        second = 0.4 if cell.algorithm.t == 1 else level  # t = 1 lags at first
        return [0.3, second, *[level] * (1 if cell.algorithm.name == "k-means" else 20)]

    cells = EXPERIMENTS["fig-convergence"].cells("full")
    records = [made_up(c, trace(c)[-1], trace=trace(c)) for c in cells]
    above, faster = judge(found_in(records, "fig-convergence", "full"))
    assert above.verdict == "holds for t in 3, 10"
    assert "k-means ends at 0.600" in faster.evidence


def test_claims_without_results_are_not_judged():
    for experiment in EXPERIMENTS.values():
        verdicts = {j.verdict for j in judge(Found(experiment, "full", []))}
        assert verdicts <= {"not run"}


# --- the real tables ---


def zoo_records():
    """Runs in which t = 2 wins among those that choose, and loses among fresh ones."""

    def record(cell):
        chooses = cell.run < 25
        accuracy = 0.9 if (cell.algorithm.t == 2) == chooses else 0.7
        cost = 5.0 if (cell.algorithm.t, cell.run) == (4.0, 7) else 10.0
        cost = 1.0 if cell.run == 40 else cost  # a fresh run must not be chosen
        return made_up(cell, accuracy, expected_cost=cost)

    cells = EXPERIMENTS["table-real"].cells("full")
    return [record(c) for c in cells if c.data.kind == "zoo"]


def test_the_best_t_is_scored_on_runs_that_did_not_choose_it():
    found, zoo = found_in(zoo_records(), "table-real", "full"), Data("zoo", 7)
    assert best_by_label(found, zoo).algorithm.t == 2
    assert best_by_label(found, zoo).mean() == pytest.approx(0.9)
    assert rescored(found, zoo).algorithm.t == 2
    assert rescored(found, zoo).mean() == pytest.approx(0.7)
    assert {r["run"] for r in rescored(found, zoo).records} == set(range(25, 50))


def test_the_choice_without_labels_has_the_lowest_expected_cost():
    free = label_free(found_in(zoo_records(), "table-real", "full"), Data("zoo", 7))
    assert (free.algorithm.t, free.records[0]["run"]) == (4.0, 7)


def test_agreement_is_two_standard_errors_or_half_a_percent_without_a_spread():
    cells = [Cell("table-real", "full", Data("zoo", 7), Algorithm("k-means"), r) for r in range(25)]
    steps = np.linspace(-1, 1, 25) / np.linspace(-1, 1, 25).std(ddof=1)
    spread = Series(
        cells[0].data,
        cells[0].algorithm,
        tuple(made_up(c, 0.7 + 0.03 * s) for c, s in zip(cells, steps, strict=True)),
    )
    pair = Comparison(spread.data, spread, Published(0.7199, 0.04))
    assert pair.allowed == pytest.approx(2 * math.sqrt(0.04**2 / 25 + 0.03**2 / 25))
    assert pair.agrees
    assert not Comparison(spread.data, spread, Published(0.7201, 0.04)).agrees
    assert Comparison(spread.data, spread, Published(0.704)).agrees
    assert not Comparison(spread.data, spread, Published(0.706)).agrees
    single = spread.part(0, 1)
    assert Comparison(single.data, single, Published(0.7, 0.0)).allowed == 0.005


def test_the_trivial_answer_beats_the_whole_table_where_it_does():
    trivial = {"connect-4": 0.6583, "nursery": 0.3333, "mushroom": 0.518, "tic-tac-toe": 0.6534}
    records = all_made_up("table-real", lambda cell: 0.5)
    for record in records:
        share = trivial.get(record["data"]["kind"], 0.4059)
        record["metrics"]["all_in_one_accuracy"] = share
    notes = trivial_notes(found_in(records, "table-real", "full"))
    assert [note.split(":")[0] for note in notes] == ["connect-4", "nursery", "tic-tac-toe"]
    for table, share in {"zoo": 0.4059, **trivial}.items():
        X, y = dataset(Data(table, 2)).table, dataset(Data(table, 2)).classes
        assert np.unique(y, return_counts=True)[1].max() / len(X) == pytest.approx(share, abs=1e-4)


# --- the report ---


class Balanced(HTMLParser):
    """Checks that every element is closed, and collects pictures."""

    def __init__(self):
        super().__init__()
        self.open, self.pictures = [], []

    def handle_starttag(self, tag, attrs):
        if tag == "img":
            self.pictures.append(dict(attrs)["src"])
        elif tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="session")
def report(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    return folder, write_report(small[0], folder, "small")


def test_the_report_shows_every_experiment_with_its_pictures(report):
    folder, (markdown, html) = report
    text = markdown.read_text()
    page = Balanced()
    page.feed(html.read_text())
    assert page.open == []
    for experiment in EXPERIMENTS.values():
        assert f"## {experiment.title}" in text
        assert experiment.claims == () or experiment.claims[0] in text
    drawn = {path.name for path in (folder / "figures").iterdir()}
    assert {f"figures/{name}" for name in drawn} == set(page.pictures)
    assert len(drawn) == 10
    assert all(f"(figures/{name})" in text for name in drawn)
    assert "missing" not in text.split("## Claims")[0]


def test_the_report_has_published_beside_found(report):
    text = report[1][0].read_text()
    rows = [line for line in text.splitlines() if line.startswith("| zoo | ")]
    for name, published in PUBLISHED["zoo"].items():
        title = {"k-modes": "k-modes", "softmodes": "SoftModes(3)"}.get(name, "")
        assert any(f"{published.mean:.4f}" in row and title in row for row in rows)
    assert "tic-tac-toe: putting all rows in one cluster has accuracy 0.6534" in text


def test_the_same_results_give_the_same_report(small, report, tmp_path):
    write_report(small[0], tmp_path, "small")
    for path in sorted(report[0].rglob("*.*")):
        assert (tmp_path / path.relative_to(report[0])).read_bytes() == path.read_bytes(), path


def test_a_report_of_part_of_the_results_says_what_is_missing(small, tmp_path):
    part = [r for r in small[0] if r["experiment"] in ("fig-sbm", "fig-ccm", "table-real")]
    part = [r for r in part if r["run"] < 2 and r["data"]["kind"] != "zoo"]
    text = write_report(part, tmp_path, "small")[0].read_text()
    assert "cells are missing**" in text
    assert "Incomplete: 32 of 40 cells are missing." in text
    assert "Not run yet: all 60 cells are missing." in text
    verdicts = [line for line in text.splitlines() if line.startswith("| [fig-sbm]")]
    assert len(verdicts) == 3
    assert all(line.endswith(" (so far) |") for line in verdicts), "judged as if complete"
    assert (tmp_path / "figures" / "sbm.svg").exists()
    assert not (tmp_path / "figures" / "noise.svg").exists()


def test_a_report_of_any_single_cell_can_be_written(small, tmp_path):
    firsts = {r["experiment"]: r for r in small[0]}
    for record in firsts.values():
        write_report([record], tmp_path, "small")


def test_capped_runs_are_said_to_be_capped():
    records = [
        made_up(c, 0.5, capped=c.algorithm.name == "k-means", rounds=4 + c.run)
        for c in EXPERIMENTS["fig-ccm"].cells("full")
        if c.data.n_clusters == 2000
    ]
    assert notes_of(found_in(records, "fig-ccm", "full")) == [
        "k = 2,000: k-means was capped at 180 seconds in 5 of 5 runs, after 4 to 8 rounds."
    ]
