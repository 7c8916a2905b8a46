"""The whole choice of k: `softmodes.sweep` beside what one would do with StepMix or with KMeans.

    python -m benchmarks.choice_speed
    python -m benchmarks.choice_speed --rows 1000 --seeds 1

Tables with planted groups (8,000 rows of 25 columns with two to five values, half of the cells
drawn at random), 2 to 8 groups tried. softmodes fits every k, on all rows, in three parts of 80 %
and with shuffled columns, and gives a verdict. StepMix fits latent classes for 1 to 8 and takes the
lowest BIC; KMeans fits one-hot rows and takes the largest silhouette; both with one start for each
k, as they come. Seconds are CPU time at one thread, means over the tables.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

import softmodes
from benchmarks.machine import describe_machine, in_words
from benchmarks.tables import markdown, ratio, write_results
from benchmarks.timing import duration, measure

OURS = "softmodes.sweep"
MOST = 8

Table = NDArray[np.int64]
Choice = Callable[[Table, int], "int | None"]  # table and seed -> number of groups


def table(n_rows: int, k: int, seed: int, n_columns: int = 25, clarity: float = 0.5) -> Table:
    """Draw rows of k groups: a cell holds its group's value, or one that is drawn at random."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(k, size=n_rows)
    columns = []
    for j in range(n_columns):
        n_values = 2 + j % 4
        own = rng.integers(n_values, size=k)
        drawn = rng.integers(n_values, size=n_rows)
        columns.append(np.where(rng.random(n_rows) < clarity, own[groups], drawn))
    return np.stack(columns, axis=1)


def by_sweep(X: Table, seed: int) -> int | None:
    return softmodes.sweep(X, (2, MOST), n_jobs=1, random_state=seed).pick


def by_latent_classes(X: Table, seed: int) -> int:
    from stepmix import StepMix

    bic = {}
    for k in range(1, MOST + 1):
        model = StepMix(k, measurement="categorical", random_state=seed, verbose=0, progress_bar=0)
        bic[k] = model.fit(X).bic(X)
    return min(bic, key=lambda k: bic[k])


def by_silhouette(X: Table, seed: int) -> int:
    one_hot = OneHotEncoder(sparse_output=False, dtype=np.float32).fit_transform(X)
    score = {}
    for k in range(2, MOST + 1):
        labels = KMeans(k, random_state=seed).fit_predict(one_hot)
        score[k] = silhouette_score(one_hot, labels)
    return max(score, key=lambda k: score[k])


def contenders() -> dict[str, Choice]:
    return {
        OURS: by_sweep,
        "StepMix and BIC": by_latent_classes,
        "KMeans and silhouette": by_silhouette,
    }


def run(n_rows: int, seeds: int) -> dict[str, Any]:
    """Return the time and the picks of every contender."""
    planted = [3 + seed % 4 for seed in range(seeds)]
    found: dict[str, Any] = {"rows": n_rows, "planted": planted, "contenders": {}}
    by_sweep(table(500, 3, 0), 0)  # what is loaded when first used is no part of a choice
    for name, choose in contenders().items():
        walls, cpus, picks = [], [], []
        for seed, k in enumerate(planted):
            X, pick = table(n_rows, k, seed), list[Any]()
            timing = measure(partial(_append, pick, choose, X, seed))
            walls.append(timing.wall)
            cpus.append(timing.cpu)
            picks.append(pick[-1])
        found["contenders"][name] = {
            "wall": float(np.mean(walls)),
            "cpu": float(np.mean(cpus)),
            "picks": picks,
        }
    return found


def _append(found: list[Any], choose: Choice, X: Table, seed: int) -> None:
    found.append(choose(X, seed))


def report(found: dict[str, Any]) -> str:
    """Return a table: seconds, how many times ours, and how often the pick is the planted k."""
    ours = found["contenders"][OURS]["cpu"]
    rows = []
    for name, one in found["contenders"].items():
        right = sum(a == b for a, b in zip(one["picks"], found["planted"], strict=True))
        times = "" if name == OURS else ratio(one["cpu"] / ours)
        rows.append([name, duration(one["cpu"]), times, f"{right} of {len(found['planted'])}"])
    header = ["2 to 8 groups", "CPU time", "", "planted k found"]
    return (
        f"# The whole choice of k\n\n{len(found['planted'])} tables of {found['rows']:,} rows, 25 "
        f"columns, 3 to 6 planted groups. {in_words(found['machine'])}\n\n"
        f"{markdown(header, rows)}\n\n"
        "Only softmodes also tells whether there are groups at all and whether they are found "
        "again: shuffled columns, three parts of 80 % of the rows, other seeds are in its time.\n"
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=8_000)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"), help="a folder")
    options = parser.parse_args(arguments)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # of StepMix, about convergence and future versions
        found = run(options.rows, options.seeds)
    found["machine"] = describe_machine(("numpy", "scikit-learn", "stepmix"))
    text = report(found)
    write_results(options.out, "choice_speed", found, text)
    print(text)


if __name__ == "__main__":
    main()
