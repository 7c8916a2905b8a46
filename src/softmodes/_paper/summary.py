"""Records of cells gathered into series: all runs of one algorithm on one data set."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._journal import Record
from softmodes._paper.experiment import Experiment
from softmodes._paper.recipe import Algorithm, Data, Size


@dataclass(frozen=True, eq=False)
class Series:
    """The runs of one algorithm on one data set, in order."""

    data: Data
    algorithm: Algorithm
    records: tuple[Record, ...]

    def values(self, metric: str) -> NDArray[np.float64]:
        """Return a metric of all runs."""
        return np.array([record["metrics"][metric] for record in self.records])

    def mean(self, metric: str = "accuracy") -> float:
        """Return the mean of a metric over the runs."""
        return float(self.values(metric).mean())

    def std(self, metric: str = "accuracy") -> float:
        """Return the standard deviation over the runs; 0 for a single one."""
        values = self.values(metric)
        return float(values.std(ddof=1)) if len(values) > 1 else 0.0

    def average(self, read: Callable[[Record], float | None]) -> float | None:
        """Return the mean of what `read` finds in the records, or None if nothing."""
        found = [value for value in map(read, self.records) if value is not None]
        return sum(found) / len(found) if found else None

    def part(self, first: int, stop: int) -> Series:
        """Return the runs from `first` to before `stop`."""
        kept = tuple(r for r in self.records if first <= r["run"] < stop)
        return Series(self.data, self.algorithm, kept)

    @property
    def standard_error(self) -> float:
        """Standard error of the mean accuracy."""
        return self.std() / math.sqrt(len(self.records))

    @property
    def seconds(self) -> float:
        """Mean wall time of a run."""
        return float(np.mean([record["seconds"]["wall"] for record in self.records]))

    @property
    def same_again(self) -> float | None:
        """Mean ARI between fits on other rows with other seeds, if it was asked for."""
        return next((r["same_again"] for r in self.records if "same_again" in r), None)

    @property
    def capped(self) -> int:
        """Number of runs that were stopped by their time cap."""
        return sum(record["capped"] for record in self.records)


class Found:
    """All series of one experiment that a results file holds, and what is missing."""

    def __init__(self, experiment: Experiment, size: Size, records: Iterable[Record]) -> None:
        self.experiment, self.size = experiment, size
        self.records = [
            r for r in records if r["experiment"] == experiment.id and r["size"] == size
        ]
        self.series = _gather(self.records, experiment, size)
        done = {record["key"] for record in self.records}
        declared = [cell.key for cell in experiment.cells(size)]
        self.n_declared = len(declared)
        self.n_missing = sum(key not in done for key in declared)

    def data(self) -> list[Data]:
        """Return the data sets that have results, in the order of the experiment."""
        return list(dict.fromkeys(series.data for series in self.series))

    def on(self, data: Data) -> list[Series]:
        """Return the series on a data set."""
        return [series for series in self.series if series.data == data]

    def get(self, data: Data, name: str, t: float | None = None) -> Series | None:
        """Return a series by its data and algorithm, or None if it was not run."""
        for series in self.on(data):
            if series.algorithm.name == name and t in (None, series.algorithm.t):
                return series
        return None

    def series_of(
        self, name: str, t: float | None = None, data: Iterable[Data] | None = None
    ) -> list[Series]:
        """Return the series of an algorithm on all data sets, or on those given."""
        wanted = self.data() if data is None else data
        return [series for d in wanted if (series := self.get(d, name, t))]

    def algorithms(self) -> list[Algorithm]:
        """Return the algorithms that have results, in the order of the experiment."""
        return list(dict.fromkeys(series.algorithm for series in self.series))

    def finite_t(self) -> list[float]:
        """Return the values of t that SoftModes was run with, k-modes not counted."""
        return sorted({a.t for a in self.algorithms() if a.name == "softmodes"})

    @property
    def seconds(self) -> float:
        """Time that all cells took together."""
        return float(sum(record["seconds"]["total"] for record in self.records))


def _gather(records: list[Record], experiment: Experiment, size: Size) -> list[Series]:
    groups: dict[tuple[Data, Algorithm], list[Record]] = {}
    for cell in experiment.cells(size):
        groups.setdefault((cell.data, cell.algorithm), [])
    for record in records:
        groups.setdefault((_data(record), _algorithm(record)), []).append(record)
    place = {case.data: i for i, case in enumerate(experiment.cases(size))}
    series = [
        Series(data, algorithm, tuple(sorted(found, key=lambda r: int(r["run"]))))
        for (data, algorithm), found in groups.items()
        if found
    ]
    return sorted(series, key=lambda s: place.get(s.data, len(place)))


def _data(record: Record) -> Data:
    params: dict[str, Any] = dict(record["data"])
    return Data(params.pop("kind"), params.pop("k"), tuple(params.items()))


def _algorithm(record: Record) -> Algorithm:
    return Algorithm(record["algorithm"], tuple(record["params"].items()))


def compare(a: Series, b: Series) -> int:
    """Return 1, 0 or -1: the mean of `a` is above, level with, or below that of `b`.

    Level are means within two standard errors of their difference, or within 0.0005.
    """
    difference = a.mean() - b.mean()
    margin = max(2 * math.hypot(a.standard_error, b.standard_error), 5e-4)
    return 0 if abs(difference) <= margin else int(math.copysign(1, difference))


def mean_and_spread(series: Series, digits: int = 3) -> str:
    """Return the mean accuracy as text, with its standard deviation if there are several runs."""
    mean = f"{series.mean():.{digits}f}"
    return mean if len(series.records) == 1 else f"{mean} ± {series.std():.{digits}f}"
