"""Runs to convergence at t = inf: seconds, rounds, and how many rows move in each round.

    python -m benchmarks.convergence
    python -m benchmarks.convergence census20 --scale 0.1 --remember no yes

Each timed run is a process of its own. Without `remember`, every pass compares all rows with all
centers. The labels of all runs on the same table must agree. Rows that move are counted in a
further run, which is not timed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import markdown
from benchmarks.timing import Timing
from benchmarks.workloads import overlapping_census
from softmodes._algorithm.loop import run_once
from softmodes._algorithm.plan import OnRound, Plan, RoundState
from softmodes._rows.stores import open_store
from softmodes.datasets import make_ccm
from softmodes.rounding import plurality

ROOT = Path(__file__).parents[1]


def _ccm(k: int) -> Callable[[float], NDArray[np.uint8]]:
    return lambda scale: make_ccm(int(500_000 * scale), 1000, k, eps=0.3, random_state=0)[0].view(
        np.uint8
    )


def _census(scale: float) -> NDArray[np.uint8]:
    return overlapping_census(int(1_000_000 * scale))


TABLES: dict[str, tuple[int, Callable[[float], NDArray[np.uint8]]]] = {
    "ccm100": (100, _ccm(100)),
    "ccm1000": (1000, _ccm(1000)),
    "census20": (20, _census),
    "census100": (100, _census),
}


def plan(k: int, init: str, on_round: OnRound) -> Plan:
    """Return one run of k-modes."""
    return Plan(
        k=k,
        rounding=plurality,
        init=init,
        n_init=1,
        max_iter=100,
        patience=1,
        select="last",
        yardstick="cost",
        seed=0,
        on_round=(on_round,),
    )


def run_here(name: str, scale: float, init: str, n_threads: int, remember: bool) -> dict[str, Any]:
    """Run once; the clock starts at the first round, so that seeding is left out."""
    k, make = TABLES[name]
    clock: list[tuple[float, float]] = []

    def look(_: RoundState) -> None:
        clock.append((time.perf_counter(), time.process_time()))

    asked = plan(k, init, look)
    store = open_store(make(scale), n_threads=n_threads).store
    store.remember = remember
    run = run_once(store, asked, 0)
    wall, cpu = (last - first for first, last in zip(clock[0], clock[-1], strict=True))
    return {
        "wall": wall,
        "cpu": cpu,
        "rounds": len(run.history),
        "cost": run.chosen.cost,
        "labels": hashlib.sha256(store.labels(run.centers, asked.comparison(0))).hexdigest(),
    }


def run_apart(options: argparse.Namespace, name: str, remember: str) -> dict[str, Any]:
    """Run in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.convergence", name, "--here"]
    command += ["--remember", remember]
    command += ["--scale", str(options.scale), "--init", options.init]
    command += ["--threads", str(options.threads)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def moved_rows(name: str, scale: float, init: str) -> list[float]:
    """Return the share of rows that changed their cluster, from the second round on."""
    k, make = TABLES[name]
    table = make(scale)
    last = np.full(len(table), -1, np.int32)
    moved: list[float] = []

    def look(state: RoundState) -> None:
        labels = state.labels()
        moved.append(float(np.mean(labels != last)))
        last[:] = labels

    run_once(open_store(table).store, plan(k, init, look), 0)
    return moved[1:]


def compare(options: argparse.Namespace, name: str) -> list[list[str]]:
    """Return a row of the table for each way to make the rounds."""
    runs: dict[str, list[dict[str, Any]]] = {remember: [] for remember in options.remember}
    for _ in range(options.repeats):
        for remember in options.remember:
            runs[remember].append(run_apart(options, name, remember))
    everything = [run for several in runs.values() for run in several]
    if len({run["labels"] for run in everything}) != 1:
        raise RuntimeError(f"Runs on {name} found different labels.")
    best = {m: Timing(*(min(r[t] for r in rs) for t in ("wall", "cpu"))) for m, rs in runs.items()}
    first = best[options.remember[0]]
    return [
        [name, remember, str(timing), str(everything[0]["rounds"]),
         f"{first.wall / timing.wall:.2f}x ({first.cpu / timing.cpu:.2f}x CPU)"]
        for remember, timing in best.items()
    ]  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    from benchmarks.charts import draw_rounds

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(TABLES)} (default: all)")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows")
    parser.add_argument("--init", default="random")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--remember", nargs="+", choices=["no", "yes"], default=["yes"])
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"), help="a folder")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.here:
        remember = options.remember == ["yes"]
        size = options.names[0], options.scale
        print(json.dumps(run_here(*size, options.init, options.threads, remember)))
        return
    names = options.names or list(TABLES)
    rows = [row for name in names for row in compare(options, name)]
    print(markdown(["table", "remember", "rounds' time", "rounds", "gain"], rows), flush=True)
    moved = {name: moved_rows(name, options.scale, options.init) for name in names}
    print()
    for name, shares in moved.items():
        print(f"{name} moved:", " ".join(f"{share:.2%}" for share in shares))
    options.out.mkdir(parents=True, exist_ok=True)
    draw_rounds(moved, options.out / "convergence.svg")


if __name__ == "__main__":
    main()
