"""A whole fit of a table of strings, from frame or file to labels, beside the usual ways.

    python -m benchmarks.end_to_end
    python -m benchmarks.end_to_end --rows 100000 --threads 1

softmodes encodes, packs and runs a fixed number of rounds (t=1 on noisy rows never settles; the
number is checked). The peer is OneHotEncoder + KMeans with as many rounds, from random seeds like
softmodes; kmodes gets the first rows only, and its time is scaled linearly.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from threadpoolctl import threadpool_limits

from benchmarks.machine import describe_machine, in_words
from benchmarks.tables import markdown, ratio, write_results
from benchmarks.timing import Timing, alternate, measure
from benchmarks.workloads import codes
from softmodes import SoftModes

K = 10
ROUNDS = 20
GROUPS = 60  # more than K: k-means is then not done before the rounds are over
KMODES_ROWS = 2000


def survey(n_rows: int, n_columns: int) -> pd.DataFrame:
    """Return columns of 2 to 21 distinct strings, in more groups than are looked for."""
    sizes = [2 + j % 20 for j in range(n_columns)]
    table = codes(n_rows, sizes, groups=GROUPS)
    answers = {
        f"question_{j}": np.array([f"answer {v}" for v in range(size)], object)[table[:, j]]
        for j, size in enumerate(sizes)
    }
    return pd.DataFrame(answers).astype("str")


def fit_softmodes(table: Any, n_threads: int, init: str) -> None:
    model = SoftModes(
        K,
        t=1,
        init=init,
        n_init=1,
        max_iter=ROUNDS,
        select="last",
        refine=None,
        n_jobs=n_threads,
        random_state=0,
    ).fit(table)
    if model.n_iter_ != ROUNDS:
        raise RuntimeError(f"softmodes made {model.n_iter_} rounds, not {ROUNDS}: no fair race.")


def fit_sklearn(frame: pd.DataFrame, dense: bool) -> None:
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import OneHotEncoder

    X = OneHotEncoder(dtype=np.float32, sparse_output=not dense).fit_transform(frame)
    model = KMeans(K, init="random", n_init=1, max_iter=ROUNDS, tol=0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ending at max_iter
        model.fit(X)
    if model.n_iter_ != ROUNDS:
        print(f"KMeans settled after {model.n_iter_} of {ROUNDS} rounds")


def fit_kmodes(frame: pd.DataFrame) -> int:
    """Return the number of iterations, an initial assignment counted as one."""
    from kmodes.kmodes import KModes

    model = KModes(K, init="random", n_init=1, max_iter=ROUNDS, random_state=0).fit(frame)
    return int(model.n_iter_) + 1


def kmodes_time(frame: pd.DataFrame) -> Timing:
    """Return the time of a fit of the first rows, scaled to all rows and all rounds."""
    part = frame.head(KMODES_ROWS).astype(object)
    rounds: list[int] = []
    timing = measure(lambda: rounds.append(fit_kmodes(part)))
    return timing.times(len(frame) / len(part) * ROUNDS / rounds[0])


def measure_all(options: argparse.Namespace) -> dict[str, Any]:
    frame = survey(options.rows, options.columns)
    found: dict[str, Any] = {"rows": options.rows, "columns": options.columns, "times": {}}
    found["kmodes"] = vars(kmodes_time(frame))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "survey.parquet"
        pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path)
        for n_threads in options.threads:
            timings = alternate(
                tasks(frame, path, n_threads),
                options.repeats,
                enough=120.0,
                around=lambda name, n=n_threads: threadpool_limits({"openmp": n, "blas": 1}),
            )
            found["times"][str(n_threads)] = {name: vars(t) for name, t in timings.items()}
    return found | {"machine": describe_machine()}


def tasks(frame: pd.DataFrame, path: Path, n_threads: int) -> dict[str, Callable[[], object]]:
    def from_parquet() -> Any:
        return pq.read_table(path, use_threads=n_threads > 1)

    pa.set_cpu_count(n_threads)
    return {
        "softmodes": lambda: fit_softmodes(frame, n_threads, "random"),
        "softmodes, d1-greedy": lambda: fit_softmodes(frame, n_threads, "d1-greedy"),
        "OneHotEncoder + KMeans": lambda: fit_sklearn(frame, dense=True),
        "OneHotEncoder (sparse) + KMeans": lambda: fit_sklearn(frame, dense=False),
        "softmodes, Parquet": lambda: fit_softmodes(from_parquet(), n_threads, "random"),
        "OneHotEncoder + KMeans, Parquet": lambda: fit_sklearn(
            from_parquet().to_pandas(), dense=True
        ),
    }


def report(found: dict[str, Any]) -> str:
    header = ["", *(f"{n} thread(s), wall (CPU)" for n in found["times"]), "against softmodes"]
    first = next(iter(found["times"].values()))
    rows = []
    for name in first:
        ours = "softmodes, Parquet" if name.endswith("Parquet") else "softmodes"
        factors = [ratio(t[name]["wall"] / t[ours]["wall"]) for t in found["times"].values()]
        cells = [str(Timing(**t[name])) for t in found["times"].values()]
        rows.append([name, *cells, ", ".join(factors)])
    kmodes = Timing(**found["kmodes"])
    factors = [ratio(kmodes.wall / t["softmodes"]["wall"]) for t in found["times"].values()]
    blanks = [""] * (len(found["times"]) - 1)
    rows.append([f"~ kmodes ({KMODES_ROWS:,} rows, scaled)", str(kmodes), *blanks,
                 ", ".join(factors)])  # fmt: skip
    return (
        f"{found['rows']:,} rows x {found['columns']} columns of strings, k = {K}, {ROUNDS} rounds,"
        f" random seeds. {in_words(found['machine'])}\n\n{markdown(header, rows)}\n"
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"), help="a folder")
    options = parser.parse_args(arguments)
    found = measure_all(options)
    write_results(options.out, "end_to_end", found, report(found))
    print(report(found))


if __name__ == "__main__":
    main()
