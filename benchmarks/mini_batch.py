"""MiniBatchSoftModes after one epoch beside whole fits, and beside k-means by batches.

    python -m benchmarks.mini_batch
    python -m benchmarks.mini_batch --seeds 3 --threads 2

What the partition of all rows costs: expected mismatches with centers drawn from the clusters'
shares, the mean over seeds, as a ratio to `SoftModes(refine=None)` with its restarts. For time, CPU
seconds of a whole fit, from codes (k-means: from one-hot rows, made beforehand). The bar: one epoch
costs at most 3 % more.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import MiniBatchKMeans
from sklearn.preprocessing import OneHotEncoder

from benchmarks.machine import describe_machine, in_words
from benchmarks.tables import markdown, write_results
from benchmarks.timing import duration, measure
from softmodes import MiniBatchSoftModes, SoftModes
from softmodes.datasets import load_mushroom, load_nursery, make_ccm
from softmodes.metrics import expected_cost

WHOLE = "SoftModes(refine=None)"
BAR = 1.03

Fit = Callable[[int], NDArray[Any]]  # seed -> labels


def codes(table: NDArray[Any]) -> NDArray[np.uint8]:
    columns = [np.unique(column, return_inverse=True)[1] for column in table.T]
    return np.stack(columns, axis=1).astype(np.uint8)


def tables() -> Iterator[tuple[str, NDArray[Any], int]]:
    """Yield name, table and number of clusters."""
    yield "codewords 20k x 128, k 20", make_ccm(20_000, 128, 20, 0.2, random_state=1)[0], 20
    yield "codewords, more noise", make_ccm(20_000, 128, 20, 0.3, random_state=1)[0], 20
    yield "codewords 60k x 128, k 100", make_ccm(60_000, 128, 100, 0.2, random_state=1)[0], 100
    yield "Mushroom, k 2", codes(load_mushroom(return_X_y=True, as_frame=False)[0]), 2
    yield "Mushroom, k 10", codes(load_mushroom(return_X_y=True, as_frame=False)[0]), 10
    yield "Nursery, k 5", codes(load_nursery(return_X_y=True, as_frame=False)[0]), 5


def methods(X: NDArray[Any], k: int, n_jobs: int) -> dict[str, Fit]:
    """Return what is compared: functions of a seed that return labels."""
    one_hot = OneHotEncoder(sparse_output=False, dtype=np.float32).fit_transform(X)
    ours = {"n_clusters": k, "n_jobs": n_jobs}

    def softly(model: Any) -> Fit:
        return lambda seed: model.set_params(random_state=seed).fit(X).labels_

    def k_means(seed: int) -> NDArray[Any]:
        return MiniBatchKMeans(k, max_iter=1, n_init=3, random_state=seed).fit_predict(one_hot)

    return {
        WHOLE: softly(SoftModes(refine=None, **ours)),
        "one epoch": softly(MiniBatchSoftModes(**ours)),
        "one epoch, refine=None": softly(MiniBatchSoftModes(refine=None, **ours)),
        "three epochs": softly(MiniBatchSoftModes(n_epochs=3, **ours)),
        "half_life=5000": softly(MiniBatchSoftModes(half_life=5000, **ours)),
        "MiniBatchKMeans": k_means,
    }


def timed(fit: Fit, seed: int) -> tuple[NDArray[Any], float]:
    """Return the labels of a fit, and its CPU seconds."""
    labels: list[NDArray[Any]] = []
    cpu = measure(lambda: labels.append(fit(seed))).cpu
    return labels[0], cpu


def run(X: NDArray[Any], k: int, seeds: int, n_jobs: int) -> dict[str, dict[str, float]]:
    """Return the mean cost, its deviation and the mean CPU seconds of every method."""
    found = {}
    for name, fit in methods(X, k, n_jobs).items():
        costs, seconds = [], []
        for seed in range(seeds):
            labels, cpu = timed(fit, seed)
            seconds.append(cpu)
            costs.append(expected_cost(X, labels))
        found[name] = {
            "cost": float(np.mean(costs)),
            "deviation": float(np.std(costs)),
            "cpu": float(np.mean(seconds)),
        }
    return found


def report(found: dict[str, Any]) -> str:
    """Return a table of costs and one of times."""
    names = list(next(iter(found["tables"].values())))
    costs, times = [], []
    for title, by_method in found["tables"].items():
        whole = by_method[WHOLE]["cost"]
        shown = [
            f"{one['cost'] / whole:.4f} ± {one['deviation'] / whole:.4f}"
            for one in by_method.values()
        ]
        costs.append([title, *shown])
        times.append([title, *(duration(one["cpu"]) for one in by_method.values())])
    late = [
        f"{title}, {name}"
        for title, by_method in found["tables"].items()
        for name in names[1:3]
        if by_method[name]["cost"] > BAR * by_method[WHOLE]["cost"]
    ]
    verdict = f"missed by {'; '.join(late)}" if late else "held by both kinds of one epoch"
    return (
        "# Mini-batches\n\n"
        f"Mean and deviation over {found['seeds']} seeds, {found['threads']} thread. "
        f"{in_words(found['machine'])}\n\n"
        f"Expected cost, as a ratio to `{WHOLE}`; the bar of {BAR} is {verdict}:\n\n"
        f"{markdown(['table', *names], costs)}\n\n"
        f"CPU time of a fit (k-means: without making one-hot rows, all threads that it takes):\n\n"
        f"{markdown(['table', *names], times)}\n"
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tables", default="", help="only those whose name holds this")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"), help="a folder")
    options = parser.parse_args(arguments)
    found: dict[str, Any] = {"seeds": options.seeds, "threads": options.threads, "tables": {}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MiniBatchKMeans tells that one epoch may not be enough
        for title, X, k in tables():
            if options.tables in title:
                found["tables"][title] = run(X, k, options.seeds, options.threads)
    found["machine"] = describe_machine(("numpy", "scikit-learn"))
    text = report(found)
    write_results(options.out, "mini_batch", found, text)
    print(text)


if __name__ == "__main__":
    main()
