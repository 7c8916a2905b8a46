"""How the time of one iteration grows with rows, features, clusters and values per feature.

    python -m benchmarks.scaling
    python -m benchmarks.scaling n k --shrink 10

Every axis spans two decades. The slope is the s of a + b x^s, fitted to the logarithm of the least
wall times; a, at least 0, is the cost that does not grow, and left out of the slope over the upper
decade. Writes `scaling.json`, `scaling.md` and `scaling.svg`.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from benchmarks.machine import describe_machine, in_words
from benchmarks.methods import METHODS, Run, iteration
from benchmarks.tables import markdown, write_results
from benchmarks.timing import alternate, duration
from benchmarks.workloads import Problem, codes

POINTS = 9


@dataclass(frozen=True)
class Size:
    """What the time depends on."""

    n: int
    d: int
    k: int
    sigma: int

    def problem(self) -> Problem:
        """Return a table in which every value occurs, however few the rows."""
        table = codes(self.n, [self.sigma] * self.d)
        table[: self.sigma] = np.add.outer(np.arange(self.sigma), np.arange(self.d)) % self.sigma
        return Problem(table, self.k)


# For each axis the largest size; the axis itself then goes down by two decades.
LARGEST = {
    "n": Size(n=1_000_000, d=100, k=20, sigma=4),
    "d": Size(n=5_000, d=4_000, k=50, sigma=4),
    "k": Size(n=100_000, d=100, k=2_000, sigma=4),
    "sigma": Size(n=500, d=30, k=200, sigma=250),
}
LABELS = {"n": "rows", "d": "features", "k": "clusters", "sigma": "values per feature"}


def measure_axis(axis: str, shrink: int, n_threads: int, repeats: int) -> dict[str, Any]:
    """Time an iteration at sizes over two decades of one axis, and fit the growth."""
    largest = LARGEST[axis]
    largest = replace(largest, n=max(largest.n // shrink, largest.k, largest.sigma))
    top = getattr(largest, axis)
    points = np.unique(np.round(np.geomspace(top / 100, top, POINTS)).astype(int))
    runs = {
        x: iteration(replace(largest, **{axis: x}).problem(), n_threads) for x in points.tolist()
    }
    seconds = _least_seconds(runs, n_threads, repeats)
    fixed, per_unit, slope = fit_growth(points, np.array(seconds))
    upper = points >= top / 10
    growing = np.array(seconds)[upper] - fixed
    slope_of_upper = np.polyfit(np.log(points[upper]), np.log(growing), 1)[0]
    return {
        "x": points.tolist(),
        "seconds": seconds,
        "others": {name: v for name, v in vars(largest).items() if name != axis},
        "fixed": fixed,
        "per_unit": per_unit,
        "slope": slope,
        "slope_of_upper_decade": float(slope_of_upper),
    }


def _least_seconds(runs: dict[int, Run], n_threads: int, repeats: int) -> list[float]:
    """Time all sizes in turn, so that what disturbs the machine for a while spoils none of them."""
    around = METHODS["softmodes"].around
    tasks = {str(x): run for x, run in runs.items()}
    timings = alternate(tasks, repeats, 60.0, lambda _: around(n_threads))
    return [timing.wall for timing in timings.values()]


def fit_growth(x: NDArray[Any], seconds: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return a, b and s of a + b x^s with the least error of the logarithm."""
    last_x, last = float(x[-1]), float(seconds[-1])

    def error(parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        fixed, growing, s = parameters
        return np.log(fixed * last + growing * last * (x / last_x) ** s) - np.log(seconds)

    start = [seconds[0] / last / 2, 1.0, 1.0]
    fit = least_squares(error, start, bounds=([0, 1e-3, 0.1], [1.0, 10.0, 3.0]), loss="soft_l1",
                        f_scale=0.05)  # fmt: skip
    fixed, growing, s = fit.x
    return float(fixed * last), float(growing * last / last_x**s), float(s)


def report(found: dict[str, Any]) -> str:
    rows = []
    for axis, curve in found["axes"].items():
        others = ", ".join(f"{name} {v:,}" for name, v in curve["others"].items())
        rows.append(
            [
                LABELS[axis],
                f"{curve['x'][0]:,} to {curve['x'][-1]:,}",
                others,
                f"{duration(curve['seconds'][0])} to {duration(curve['seconds'][-1])}",
                duration(curve["fixed"]),
                f"{curve['slope']:.2f}",
                f"{curve['slope_of_upper_decade']:.2f}",
            ]
        )
    header = ["axis", "range", "others", "time", "fixed cost a", "slope s", "slope, upper decade"]
    return f"{in_words(found['machine'])}\n\n{markdown(header, rows)}\n"


def main(arguments: list[str] | None = None) -> None:
    from benchmarks.charts import draw_scaling

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("axes", nargs="*", help="of n, d, k, sigma (default: all)")
    parser.add_argument("--shrink", type=int, default=1, help="divide the rows by this")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"), help="a folder")
    options = parser.parse_args(arguments)
    axes = {}
    for axis in options.axes or LARGEST:
        axes[axis] = measure_axis(axis, options.shrink, options.threads, options.repeats)
        print(f"{axis}: slope {axes[axis]['slope']:.2f}", flush=True)
    found = {"machine": describe_machine(), "threads": options.threads, "axes": axes}
    write_results(options.out, "scaling", found, report(found))
    draw_scaling(axes, options.out / "scaling.svg", LABELS)
    print(report(found))


if __name__ == "__main__":
    main()
