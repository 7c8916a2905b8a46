"""Whole fits of tables of a few hundred rows, where time goes by rounds and not by rows.

    python -m benchmarks.tiny_fits
    OMP_NUM_THREADS=1 python -m benchmarks.tiny_fits --repeats 30

A fit with one start, one with ten, and scikit-learn's KMeans with ten on one-hot rows, which are
made before its time counts. Least CPU time of the repeats, in turn, on one thread.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from benchmarks.machine import describe_machine, in_words
from benchmarks.tables import markdown, write_results
from benchmarks.timing import alternate, duration
from softmodes import SoftModes
from softmodes.datasets import load_tic_tac_toe, load_zoo

SEED = 3


@dataclass(frozen=True, eq=False)
class TinyTable:
    """Codes, and the number of clusters to be found in them."""

    name: str
    codes: NDArray[np.int32]
    k: int

    def __str__(self) -> str:
        n, d = self.codes.shape
        return f"{self.name}, {n} x {d}, k {self.k}"


def tables() -> Iterator[TinyTable]:
    """Yield tables that are known, and planted ones of other shapes."""
    yield TinyTable("zoo", _coded(load_zoo().data), 7)
    yield TinyTable("tic-tac-toe", _coded(load_tic_tac_toe().data), 2)
    for n, d, values, k in (
        (88, 8, (2, 3), 2),
        (286, 9, (2, 11), 2),
        (1000, 20, (2, 10), 2),
        (1500, 60, (2, 4), 5),
        (360, 90, (2, 2), 15),
    ):
        yield TinyTable("planted", _planted(n, d, values, k), k)


def _coded(frame: pd.DataFrame) -> NDArray[np.int32]:
    columns = [pd.factorize(frame[name])[0] for name in frame.columns]
    return np.stack(columns, axis=1).astype(np.int32)


def _planted(n: int, d: int, values: tuple[int, int], k: int) -> NDArray[np.int32]:
    """Return groups with a codeword each; half of the cells are noise."""
    rng = np.random.default_rng(0)
    n_values = rng.integers(values[0], values[1] + 1, d)
    codewords = rng.integers(0, n_values, (k, d))
    codes = codewords[rng.integers(0, k, n)]
    noisy = rng.random((n, d)) < 0.5
    return np.where(noisy, rng.integers(0, n_values, (n, d)), codes).astype(np.int32)


def tasks(table: TinyTable) -> dict[str, Callable[[], object]]:
    """Return the fits that are raced."""
    one_hot = OneHotEncoder(sparse_output=False).fit_transform(table.codes)

    def fit(n_init: int) -> SoftModes:
        model = SoftModes(table.k, n_init=n_init, n_jobs=1, random_state=SEED)
        return model.fit(table.codes)

    return {
        "one": lambda: fit(1),
        "ten": lambda: fit(10),
        "k-means": lambda: KMeans(table.k, n_init=10, random_state=SEED).fit(one_hot),
    }


def fit_seconds(table: TinyTable, repeats: int) -> dict[str, Any]:
    """Return the CPU time of each fit of a table, and what the one with ten starts has found."""
    with threadpool_limits(1):
        best = alternate(tasks(table), repeats)
    model = SoftModes(table.k, n_init=10, n_jobs=1, random_state=SEED).fit(table.codes)
    found = {name: timing.cpu for name, timing in best.items()}
    return {"table": str(table), **found, "objective": model.objective_}


def report(found: dict[str, Any]) -> str:
    """Return a table of all fits."""
    header = ["table", "1 start", "10 starts", "each further", "KMeans, 10 starts"]
    rows = [
        [
            fit["table"],
            duration(fit["one"]),
            duration(fit["ten"]),
            duration((fit["ten"] - fit["one"]) / 9),
            duration(fit["k-means"]),
        ]
        for fit in found["fits"]
    ]
    return (
        f"Least CPU time of whole fits on one thread, in turn. {in_words(found['machine'])}\n\n"
        f"{markdown(header, rows)}\n"
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"), help="a folder")
    options = parser.parse_args(arguments)
    fits = [fit_seconds(table, options.repeats) for table in tables()]
    found: dict[str, Any] = {"fits": fits, "machine": describe_machine()}
    write_results(options.out, "tiny_fits", found, report(found))
    print(report(found))


if __name__ == "__main__":
    main()
