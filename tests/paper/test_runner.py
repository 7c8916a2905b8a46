import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from softmodes._paper import EXPERIMENTS, runner
from softmodes._paper.recipe import Data
from softmodes._paper.results import ResultsFile, read
from softmodes._paper.runner import lines_of, pending, run
from softmodes._paper.summary import Found
from softmodes._paper.tables import tables_of
from softmodes.baselines import names, unregister
from softmodes.baselines._plugins import load_methods
from softmodes.datasets import load_zoo
from softmodes.metrics import matching_accuracy

QUICK = ("theorem", "theorem-map")
COMMAND = (sys.executable, "-c", "from softmodes._cli.main import main; main()", "paper", "run")


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
    assert len(list(read(path))) == len(expected), "a cell was run twice"


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


def test_runs_that_come_at_once_share_a_line_and_others_do_not():
    cells = [c for c in EXPERIMENTS["table-real"].cells("full") if c.data.kind == "zoo"]
    lines = lines_of(cells)
    assert sum(map(len, lines)) == len(cells)
    assert max(map(len, lines)) == 100
    for line in lines:
        assert len({cell.series_key for cell in line}) == 1
        assert [cell.run for cell in line] == list(range(line[0].run, line[0].run + len(line)))
    alone = lines_of(EXPERIMENTS["theorem"].cells("small"))
    assert {len(line) for line in alone} == {1}
    # A line that was lost in part, by another number at once, is made whole.
    assert [len(line) for line in lines_of(lines[0][:30] + lines[0][50:])] == [80]


def test_cells_that_share_seeds_run_alone_and_the_others_elsewhere(tmp_path, monkeypatch):
    asked = []

    def finished(lines, work, jobs, **more):
        asked.append((jobs, list(lines)))
        return ((line, work(line, None)) for line in lines)

    monkeypatch.setattr(runner, "finished", finished)
    shared = list(EXPERIMENTS["fig-t"].cells("small"))[:2]
    others = list(EXPERIMENTS["theorem-map"].cells("small"))[:3]
    with ResultsFile(tmp_path / "small.jsonl") as results:
        run([*shared, *others], results, jobs=2)
    keys = [record["key"] for record in read(tmp_path / "small.jsonl")]
    assert keys == [cell.key for cell in (*others, *shared)]
    assert asked == [(2, [(cell,) for cell in others]), (1, [(cell,) for cell in shared])]


def test_zero_processes_are_refused(tmp_path):
    with (
        ResultsFile(tmp_path / "x.jsonl") as results,
        pytest.raises(ValueError, match=r"jobs=0 is not a number of processes. Pass 1 or more."),
    ):
        run([], results, jobs=0)
