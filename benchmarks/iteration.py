"""Time one full iteration of SoftModes(1) beside one of scikit-learn's KMeans.

An iteration is: nearest centers, counts, costs, next centers. scikit-learn's is its lloyd kernel
(labels, sums, new centers, shifts; no relocation of empty clusters) on one-hot float32 data.

    python -m benchmarks.iteration              all workloads, 1 thread
    python -m benchmarks.iteration W1 W3 --threads 2 --scale 0.1
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster._k_means_lloyd import lloyd_iter_chunked_dense
from threadpoolctl import threadpool_limits

from benchmarks.timing import alternate
from benchmarks.workloads import WORKLOADS, one_hot
from softmodes import _kernels
from softmodes.encode import learn
from softmodes.objective import expected_cost
from softmodes.pack import pack
from softmodes.rounding import Draw, uniform
from softmodes.stores import MemoryStore
from softmodes.tally import Metric

TARGETS = {"W1": 11, "W2": 34, "W3": 14, "W3b": 8, "W4": 13}


def softmodes_iteration(
    table: NDArray[np.uint8], k: int, n_threads: int
) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return one full iteration, and its pass over the rows alone."""
    codebook, codes = learn(table)
    store = MemoryStore([pack(codes, n_threads)], codebook.sizes, n_threads)
    rows = np.random.default_rng(0).choice(len(table), k, replace=False)
    centers = store.rows(rows)
    metric = Metric(tie_key=1)
    draw = Draw(uniform, 0, store.layout, store.sizes)

    def iteration() -> None:
        tally = store.tally(centers, metric)
        expected_cost(tally, store.layout, store.sizes)
        draw(tally, centers, 0, 0)

    return iteration, lambda: store.labels(centers, metric)


def sklearn_iteration(table: NDArray[np.uint8], k: int, n_threads: int) -> Callable[[], object]:
    """Return one lloyd iteration on the same rows and centers."""
    X = one_hot(table)
    rows = np.random.default_rng(0).choice(len(table), k, replace=False)
    centers = X[rows].copy()
    weights = np.ones(len(X), X.dtype)
    scratch = np.zeros_like(centers), np.zeros(k, X.dtype), np.full(len(X), -1, np.int32)
    shift = np.zeros(k, X.dtype)
    return lambda: lloyd_iter_chunked_dense(
        X, weights, centers, *scratch, shift, n_threads=n_threads, update_centers=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="workloads (default: all)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows")
    options = parser.parse_args()
    print(f"instruction set {_kernels.instruction_set()}, {options.threads} thread(s)")
    print("| | data | softmodes | of it assignment | scikit-learn | ratio | to reach (90 %) |")
    print("|---|---|---|---|---|---|---|")
    for workload in WORKLOADS:
        if options.names and workload.name not in options.names:
            continue
        table = workload.make(options.scale)
        ours, assignment = softmodes_iteration(table, workload.k, options.threads)
        tasks = {
            "softmodes": ours,
            "assignment": assignment,
            "sklearn": sklearn_iteration(table, workload.k, options.threads),
        }
        with threadpool_limits(options.threads, user_api="blas"):
            times = alternate(tasks, options.repeats)
        ratio = times["sklearn"].wall / times["softmodes"].wall
        print(
            f"| {workload.name} | {workload.describe} | {times['softmodes']} | "
            f"{times['assignment'].wall * 1e3:.1f} ms | {times['sklearn']} | {ratio:.1f}x | "
            f"{0.9 * TARGETS[workload.name]:.1f}x |",
            flush=True,
        )


if __name__ == "__main__":
    main()
