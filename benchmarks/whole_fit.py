"""A whole default fit, all restarts and the finish, beside the usual ways to their own end.

    python -m benchmarks.whole_fit
    python -m benchmarks.whole_fit --rows 100000 --no-peers

A table of strings: `SoftModes(k)` with its defaults, OneHotEncoder + KMeans with ten restarts, and
StepMix with ten restarts on the first rows, scaled linearly. Then defaults on tables of n d k up to
2e7, which should take less than a second each.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.end_to_end import survey
from benchmarks.machine import describe_machine, in_words
from benchmarks.tables import markdown, ratio, write_results
from benchmarks.timing import Timing, measure
from benchmarks.workloads import codes
from softmodes import SoftModes

K = 10
RESTARTS = 10
STEPMIX_ROWS = 5000
# Rows, columns, values per column and clusters: n d k is 2e7 or a little less.
SMALL = [
    (100_000, 20, 5, 10),
    (10_000, 100, 2, 20),
    (1_000, 200, 4, 100),
    (500_000, 20, 3, 2),
    (5_000, 400, 2, 10),
    (20_000, 10, 30, 100),
    (100, 2_000, 3, 50),
]


def fit_softmodes(table: Any, k: int, n_threads: int) -> SoftModes:
    return SoftModes(k, n_jobs=n_threads, random_state=0).fit(table)


def fit_k_means(frame: pd.DataFrame) -> None:
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import OneHotEncoder

    X = OneHotEncoder(dtype=np.float32, sparse_output=False).fit_transform(frame)
    KMeans(K, n_init=RESTARTS, random_state=0).fit(X)


def fit_stepmix(frame: pd.DataFrame) -> None:
    from sklearn.preprocessing import OrdinalEncoder
    from stepmix.stepmix import StepMix

    X = OrdinalEncoder(dtype=np.int64).fit_transform(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of restarts that end at max_iter
        StepMix(
            K,
            measurement="categorical",
            n_init=RESTARTS,
            n_steps=1,
            random_state=0,
            progress_bar=0,
        ).fit(X)


def measure_table(options: argparse.Namespace) -> dict[str, Any]:
    frame = survey(options.rows, options.columns)
    n = options.threads
    found = {"softmodes": vars(_best(lambda: fit_softmodes(frame, K, n), options.repeats))}
    if options.peers:
        with threadpool_limits({"openmp": n, "blas": n}):
            found["OneHotEncoder + KMeans"] = vars(measure(lambda: fit_k_means(frame)))
            part = frame.head(STEPMIX_ROWS)
            scaled = measure(lambda: fit_stepmix(part)).times(len(frame) / len(part))
            found["~ StepMix"] = vars(scaled)
    return found


def measure_small(options: argparse.Namespace) -> list[dict[str, Any]]:
    found = []
    for n, d, n_values, k in SMALL:
        for groups in (k, 3 * k):
            X = codes(n, [n_values] * d, groups=groups)
            models: list[SoftModes] = []
            timing = _best(
                lambda X=X, k=k, models=models: models.append(fit_softmodes(X, k, options.threads)),
                options.repeats,
            )
            shape = {"n": n, "d": d, "values": n_values, "k": k, "groups": groups}
            found.append(shape | {"rounds": models[-1].n_iter_, **vars(timing)})
    return found


def _best(task: Any, repeats: int) -> Timing:
    best = measure(task)
    for _ in range(repeats - 1):
        best = best.least(measure(task))
    return best


def report(found: dict[str, Any]) -> str:
    ours = found["table"]["softmodes"]
    rows = [
        [name, str(Timing(**timing)), *(ratio(timing[t] / ours[t]) for t in ("wall", "cpu"))]
        for name, timing in found["table"].items()
    ]
    small = [
        [*(f"{row[name]:,}" for name in ("n", "d", "values", "k", "groups", "rounds")),
         str(Timing(row["wall"], row["cpu"]))]
        for row in found["small"]
    ]  # fmt: skip
    shape = ["rows", "columns", "values", "clusters", "groups in it", "rounds of the best run"]
    return (
        f"{found['rows']:,} rows x {found['columns']} columns of strings, k = {K}, "
        f"{found['threads']} threads; the peers with {RESTARTS} restarts, ~ on {STEPMIX_ROWS:,} "
        f"rows and scaled. {in_words(found['machine'])}\n\n"
        f"{markdown(['', 'wall (CPU)', 'against softmodes', 'by CPU time'], rows)}\n\n"
        f"Defaults on tables of up to 2e7 comparisons of cells in a round:\n\n"
        f"{markdown([*shape, 'wall (CPU)'], small)}\n"
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-peers", dest="peers", action="store_false")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"), help="a folder")
    options = parser.parse_args(arguments)
    shape = {"rows": options.rows, "columns": options.columns, "threads": options.threads}
    found = shape | {"table": measure_table(options), "small": measure_small(options)}
    found["machine"] = describe_machine()
    write_results(options.out, "whole_fit", found, report(found))
    print(report(found))


if __name__ == "__main__":
    main()
