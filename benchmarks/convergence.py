"""Runs to convergence at t = inf: seconds, rounds, and how many rows move in each round.

    python -m benchmarks.convergence
    python -m benchmarks.convergence census20 --scale 0.1 --prune 0 1

Each timed run is a process of its own with SOFTMODES_PRUNE set as asked (unset without --prune);
the labels of all runs on the same table must agree. Rows that move are counted in a further run,
which is not timed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
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
from softmodes import SoftModes
from softmodes._algorithm.plan import RoundState
from softmodes.datasets import make_ccm

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


def model(k: int, init: str, n_threads: int) -> SoftModes:
    return SoftModes(
        k, t=math.inf, init=init, n_init=1, select="last", n_jobs=n_threads, random_state=0
    )


def run_here(name: str, scale: float, init: str, n_threads: int) -> dict[str, Any]:
    """Fit once; the clock starts at the first round, so that seeding is left out."""
    k, make = TABLES[name]
    clock: list[tuple[float, float]] = []

    def look(_: RoundState) -> None:
        clock.append((time.perf_counter(), time.process_time()))

    fitted = model(k, init, n_threads).fit(make(scale), on_round=look)
    wall, cpu = (last - first for first, last in zip(clock[0], clock[-1], strict=True))
    return {
        "wall": wall,
        "cpu": cpu,
        "rounds": fitted.n_iter_,
        "cost": fitted.cost_,
        "labels": hashlib.sha256(fitted.labels_.tobytes()).hexdigest(),
    }


def run_apart(options: argparse.Namespace, name: str, prune: str | None) -> dict[str, Any]:
    """Fit in a process of its own."""
    environment = {key: v for key, v in os.environ.items() if key != "SOFTMODES_PRUNE"}
    environment |= {} if prune is None else {"SOFTMODES_PRUNE": prune}
    command = [sys.executable, "-m", "benchmarks.convergence", name, "--here"]
    command += ["--scale", str(options.scale), "--init", options.init]
    command += ["--threads", str(options.threads)]
    done = subprocess.run(
        command, env=environment, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
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

    model(k, init, 1).fit(table, on_round=look)
    return moved[1:]


def compare(options: argparse.Namespace, name: str) -> list[list[str]]:
    """Return a row of the table for each setting of pruning."""
    settings = options.prune or [None]
    runs: dict[str | None, list[dict[str, Any]]] = {prune: [] for prune in settings}
    for _ in range(options.repeats):
        for prune in settings:
            runs[prune].append(run_apart(options, name, prune))
    everything = [run for several in runs.values() for run in several]
    if len({run["labels"] for run in everything}) != 1:
        raise RuntimeError(f"Runs on {name} found different labels: pruning is wrong.")
    best = {p: Timing(*(min(r[t] for r in rs) for t in ("wall", "cpu"))) for p, rs in runs.items()}
    first = best[settings[0]]
    return [
        [name, prune or "default", str(timing), str(everything[0]["rounds"]),
         f"{first.wall / timing.wall:.2f}x ({first.cpu / timing.cpu:.2f}x CPU)"]
        for prune, timing in best.items()
    ]  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    from benchmarks.charts import draw_rounds

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(TABLES)} (default: all)")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows")
    parser.add_argument("--init", default="random")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--prune", nargs="+", choices=["0", "1"], help="SOFTMODES_PRUNE")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"), help="a folder")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.here:
        found = run_here(options.names[0], options.scale, options.init, options.threads)
        print(json.dumps(found))
        return
    names = options.names or list(TABLES)
    rows = [row for name in names for row in compare(options, name)]
    print(markdown(["table", "pruning", "rounds' time", "rounds", "gain"], rows), flush=True)
    moved = {name: moved_rows(name, options.scale, options.init) for name in names}
    print()
    for name, shares in moved.items():
        print(f"{name} moved:", " ".join(f"{share:.2%}" for share in shares))
    options.out.mkdir(parents=True, exist_ok=True)
    draw_rounds(moved, options.out / "convergence.svg")


if __name__ == "__main__":
    main()
