"""ROCK on the five tables of the paper: time, memory and accuracy.

Run with ``python -m benchmarks.rock``. Each table runs in a process of its own, so that the peak of
memory is its own too. Radii are Hamming distances: the paper's own, and with direct links what they
are on one-hot codes (half the square, rounded down). Connect-4 has no published one.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from typing import Any

from softmodes import datasets
from softmodes.baselines import Rock
from softmodes.metrics import agreement

DIRECT = {"links": "direct", "theta": 0.5, "min_neighbors": 0, "leftover": "separate"}
RUNS: list[tuple[str, dict[str, Any]]] = [
    ("zoo", {"eps": 2}),
    ("zoo", {"eps": 2, **DIRECT}),
    ("tic_tac_toe", {"eps": 2}),
    ("tic_tac_toe", {"eps": 2, **DIRECT}),
    ("mushroom", {"eps": 5}),
    ("mushroom", {"theta": 0.8}),
    ("mushroom", {"eps": 12, **DIRECT}),
    ("nursery", {"eps": 3}),
    ("nursery", {"eps": 4, **DIRECT}),
    ("connect4", {"eps": 6}),
]


def run(table: str, params: dict[str, Any]) -> None:
    X, y = getattr(datasets, f"load_{table}")(return_X_y=True)
    start = time.perf_counter()
    model = Rock(len(set(y)), random_state=0, **params).fit(X)
    seconds = time.perf_counter() - start
    found = agreement(y, model.labels_)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    shown = " ".join(
        f"{name}={value}" for name, value in params.items() if name in ("eps", "theta", "links")
    )
    print(
        f"{table:12} {shown:32} {seconds:7.1f} s {peak:5.2f} GB  accuracy {found['accuracy']:.4f}  "
        f"ARI {found['ari']:6.3f}  largest {found['largest_share']:.3f}  "
        f"clusters {model.n_clusters_}, {model.n_remaining_} when merging ended",
        flush=True,
    )


if __name__ == "__main__":
    for table, params in RUNS:
        process = multiprocessing.get_context("spawn").Process(target=run, args=(table, params))
        process.start()
        process.join()
