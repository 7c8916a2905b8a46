"""Time one full iteration of SoftModes(1) beside one of scikit-learn's KMeans: a quick look.

    python -m benchmarks.iteration              all workloads, 1 thread
    python -m benchmarks.iteration W1 W3 --threads 2 --scale 0.1

`python -m benchmarks.peers` compares with all peers.
"""

from __future__ import annotations

import argparse

from benchmarks.methods import METHODS
from benchmarks.timing import alternate
from benchmarks.workloads import WORKLOADS, Problem
from softmodes import _kernels

TARGETS = {"W1": 11, "W2": 34, "W3": 14, "W3b": 8, "W4": 13}
TIMED = {
    name: METHODS[name] for name in ("softmodes", "softmodes assignment", "scikit-learn KMeans")
}


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
        problem = Problem(workload.make(options.scale), workload.k)
        tasks = {name: method.prepare(problem, options.threads) for name, method in TIMED.items()}
        ours, assigned, sklearn = alternate(
            tasks, options.repeats, around=lambda name: TIMED[name].around(options.threads)
        ).values()
        print(
            f"| {workload.name} | {workload.describe} | {ours} | {assigned} | {sklearn} | "
            f"{sklearn.wall / ours.wall:.1f}x | {0.9 * TARGETS[workload.name]:.1f}x |",
            flush=True,
        )


if __name__ == "__main__":
    main()
