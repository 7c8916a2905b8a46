"""Seeding against the distances it has to compute.

    python -m benchmarks.seeding
    python -m benchmarks.seeding --k 10 100 --rows 50000

Greedy D1 looks at 2 + floor(ln k) candidates for each of k seeds: as many distances as so many
assignments of all rows to k centers. The ratio is its time over theirs.
"""

from __future__ import annotations

import argparse
import math
from functools import partial

from benchmarks.methods import METHODS, open_rows
from benchmarks.tables import markdown
from benchmarks.timing import alternate
from benchmarks.workloads import Problem
from softmodes._algorithm.seeding import METHODS as SEEDINGS
from softmodes._algorithm.seeding import Seeding
from softmodes._rows.centers import CodeCenters, Comparison
from softmodes._rows.stores import RowStore
from softmodes.datasets import make_ccm


def compare(store: RowStore, k: int, repeats: int) -> list[str]:
    """Return a row of the table: the times of seeding and of one assignment, and their ratio."""
    seeding = Seeding(store, k, seed=0, run=0)
    centers = CodeCenters(SEEDINGS["random"](seeding))
    tasks = {
        "random": partial(SEEDINGS["random"], seeding),
        "d1-greedy": partial(SEEDINGS["d1-greedy"], seeding),
        "assignment": partial(store.labels, centers, Comparison(tie_key=1)),
    }
    around = METHODS["softmodes"].around
    times = alternate(tasks, repeats, 60.0, lambda _: around(store.n_threads))
    n_candidates = 2 + int(math.log(k))
    wall, cpu = (
        getattr(times["d1-greedy"], kind) / getattr(times["assignment"], kind) / n_candidates
        for kind in ("wall", "cpu")
    )
    return [f"{k}", *map(str, times.values()), f"{n_candidates}", f"{wall:.2f} ({cpu:.2f} CPU)"]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--features", type=int, default=1000)
    parser.add_argument("--k", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    X, _ = make_ccm(options.rows, options.features, max(options.k), eps=0.2, random_state=0)
    header = ["k", "random", "d1-greedy", "one assignment", "candidates", "ratio"]
    for n_threads in options.threads:
        store = open_rows(Problem(X.view("u1"), 1), n_threads)
        rows = [compare(store, k, options.repeats) for k in options.k]
        print(f"\nn {options.rows:,}, d {options.features:,}, {n_threads} thread(s)\n")
        print(markdown(header, rows), flush=True)


if __name__ == "__main__":
    main()
