"""The default beside Algorithm 1 on the paper's models: the settings of its figures, fewer rows.

    python -m benchmarks.paper_models
    python -m benchmarks.paper_models fig-noise --runs 3 --most-clusters 200

A tenth of the rows of each figure, for all k that leave 50 rows a cluster. `SoftModes(k)` with its
defaults against one run of Algorithm 1 (30 rounds, the last partition) at each of several t; where
the paper seeds at random, with random and with greedy seeds. Accuracy is that of the rows that are
no noise. Runs are kept as they are made: what is in `paper_models.json` is not run again.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from benchmarks.machine import describe_machine, in_words
from benchmarks.tables import markdown, write_results
from benchmarks.timing import duration
from softmodes import SoftModes, datasets
from softmodes._paper.experiments import EXPERIMENTS
from softmodes._paper.recipe import MAX_ITER, Data
from softmodes.metrics import matching_accuracy

FIGURES = ("fig-sbm", "fig-t", "fig-noise", "fig-ccm")  # fig-convergence has the data of fig-t
SHRINK = 10
ROWS_PER_CLUSTER = 50
GRID_OF_T = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0, math.inf)
DEFAULT = "default"
NEAR = 0.005


@dataclass(frozen=True)
class Setting:
    """A table of a figure, with fewer rows, and how its runs are seeded."""

    figure: str
    data: Data
    seedings: tuple[str, ...]

    @property
    def title(self) -> str:
        return f"{self.figure}, {self.data.title}"

    def make(self) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Return the table and the classes of its first rows; noise comes last, without any."""
        p, k, seed = dict(self.data.params), self.data.n_clusters, self.data.seed
        if self.data.kind == "bbm":
            matrix = [[p["p"], p["q"]], [p["q"], p["p"]]]
            return datasets.make_bbm(p["n"], p["d"], matrix, random_state=seed)
        X, y = datasets.make_ccm(
            p["n"], p["d"], k, p["eps"], p["noise"], shuffle=False, random_state=seed
        )
        return X, y[: len(y) - round(p["noise"] * len(y))]

    def methods(self, options: dict[str, Any]) -> dict[str, SoftModes]:
        """Return the estimators by name: the default with `options`, and Algorithm 1."""
        k = self.data.n_clusters
        found = {DEFAULT: SoftModes(k, **options)}
        for seeding in self.seedings:
            for t in GRID_OF_T:
                found[f"{seeding}, t = {t:g}"] = SoftModes(
                    k, t=t, init=seeding, refine=None, select="last", n_init=1, max_iter=MAX_ITER
                )
        return found


def settings(names: list[str]) -> Iterator[Setting]:
    """Yield the tables of figures."""
    for name in names:
        experiment = EXPERIMENTS[name]
        for data in (case.data for case in experiment.full):
            n = data["n"] // SHRINK
            if n >= ROWS_PER_CLUSTER * data.n_clusters:
                fewer = replace(data, params=(("n", n), *data.params[1:]))
                yield Setting(name, fewer, tuple({experiment.seeding: 0, "d1-greedy": 0}))


def run(model: SoftModes, X: NDArray[np.bool_], y: NDArray[np.int64]) -> dict[str, float]:
    """Fit once, and return the accuracy on the rows that have a class, and the seconds."""
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 30 rounds are the paper's
        labels = model.fit(X).labels_
    seconds = time.perf_counter() - begun
    return {"accuracy": matching_accuracy(y, labels[: len(y)]), "seconds": seconds}


def measure(setting: Setting, runs: int, n_jobs: int, found: dict[str, Any]) -> Iterator[None]:
    """Add the missing runs of a setting to what was found, one at a time."""
    table: tuple[Any, Any] | None = None
    for seed in range(runs):
        for name, model in setting.methods(found["options"]).items():
            done = found["runs"].setdefault(setting.title, {}).setdefault(name, [])
            if len(done) <= seed:
                table = setting.make() if table is None else table
                done.append(run(model.set_params(random_state=seed, n_jobs=n_jobs), *table))
                yield


def row_of(title: str, runs: dict[str, list[dict[str, float]]]) -> list[str]:
    """Return the line of a setting: the default, Algorithm 1 at its best t, and who is ahead."""
    means = {name: mean(some, "accuracy") for name, some in runs.items()}
    ours = means.pop(DEFAULT)
    best = max(means, key=means.__getitem__, default="")
    lost = ours < means[best] - NEAR
    seconds = (duration(mean(runs[name], "seconds")) for name in (DEFAULT, best))
    return [
        title, f"{ours:.4f}", f"{means[best]:.4f}", best, f"{ours - means[best]:+.4f}",
        "**lost**" if lost else "", *seconds, str(len(runs[DEFAULT])),
    ]  # fmt: skip


def mean(runs: list[dict[str, float]], measure_: str) -> float:
    return float(np.mean([run[measure_] for run in runs]))


def report(found: dict[str, Any]) -> str:
    """Return the table of all settings, and every mean behind it."""
    complete = {
        title: runs for title, runs in found["runs"].items() if len(runs) > 1 and all(runs.values())
    }
    header = ["setting", "default", "Algorithm 1, best", "by", "difference", "", "seconds",
              "of Algorithm 1", "runs"]  # fmt: skip
    lines = [row_of(title, runs) for title, runs in complete.items()]
    names = list(dict.fromkeys(name for runs in complete.values() for name in runs))
    every = [
        [title, *(f"{mean(runs[n], 'accuracy'):.3f}" if n in runs else "" for n in names)]
        for title, runs in complete.items()
    ]
    return (
        f"Mean accuracy on rows that are no noise; lost: over {NEAR} below Algorithm 1. "
        f"{in_words(found['machine'])}\n\n{markdown(header, lines)}\n\n"
        f"{markdown(['setting', *names], every)}\n"
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(FIGURES)} (default: all)")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--most-clusters", type=int, default=10**6, help="leave out larger tables")
    parser.add_argument("--default", type=json.loads, default={}, help="other defaults, as JSON")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"), help="a folder")
    options = parser.parse_args(arguments)
    kept = options.out / "paper_models.json"
    found: dict[str, Any] = {"options": options.default, "runs": {}}
    if kept.exists():
        found = json.loads(kept.read_text(encoding="utf-8"))
        if found["options"] != options.default:
            raise SystemExit(
                f"{kept} is of other defaults: {found['options']}. Pass another --out."
            )
    for setting in settings(options.names or list(FIGURES)):
        if setting.data.n_clusters > options.most_clusters:
            continue
        for _ in measure(setting, options.runs, options.threads, found):
            found["machine"] = describe_machine(("numpy",))
            write_results(options.out, "paper_models", found, report(found))
        print(
            markdown(["setting"], [row_of(setting.title, found["runs"][setting.title])]), flush=True
        )
    print(report(found))


if __name__ == "__main__":
    main()
