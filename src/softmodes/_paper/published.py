"""What the paper's table of real data says, beside what was found and what chance would report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softmodes._paper.recipe import Data
from softmodes._paper.summary import Found, Series

PUBLISHED_RUNS = 25
WITHOUT_SPREAD = 0.005
REPORTS = 10_000


@dataclass(frozen=True)
class Published:
    """A cell of the paper's table: mean accuracy, its spread, and t or radius where given."""

    mean: float
    std: float | None = None
    parameter: float | None = None

    def __str__(self) -> str:
        spread = "" if self.std is None else f" ± {self.std:.4f}"
        parameter = "" if self.parameter is None else f" ({self.parameter:g})"
        return f"{self.mean:.4f}{spread}{parameter}"


PUBLISHED: dict[str, dict[str, Published]] = {
    "connect-4": {
        "k-modes": Published(0.3836, 0.0176),
        "softmodes": Published(0.4355, 0.0359, 1.5),
        "k-means": Published(0.3747, 0.0035),
        "birch": Published(0.4051),
        "gaussian": Published(0.4191, 0.0196),
    },
    "nursery": {
        "k-modes": Published(0.3038, 0.0184),
        "softmodes": Published(0.3192, 0.021, 3),
        "k-means": Published(0.2767, 0.0205),
        "birch": Published(0.2861),
        "gaussian": Published(0.323, 0.0595),
        "rock": Published(0.3332, None, 3),
    },
    "mushroom": {
        "k-modes": Published(0.7753, 0.119),
        "softmodes": Published(0.8837, 0.0073, 3),
        "k-means": Published(0.8902, 0.0),
        "birch": Published(0.8902),
        "gaussian": Published(0.7987, 0.117),
        "rock": Published(0.5201, None, 5),
    },
    "tic-tac-toe": {
        "k-modes": Published(0.5538, 0.0441),
        "softmodes": Published(0.5817, 0.0224, 3.5),
        "k-means": Published(0.5678, 0.0208),
        "birch": Published(0.5135),
        "gaussian": Published(0.5678, 0.0208),
        "rock": Published(0.5803, None, 2),
    },
    "zoo": {
        "k-modes": Published(0.7707, 0.0779),
        "softmodes": Published(0.7986, 0.0774, 3),
        "k-means": Published(0.7346, 0.0747),
        "birch": Published(0.7326),
        "gaussian": Published(0.7801, 0.0797),
        "rock": Published(0.792, None, 2),
    },
}


@dataclass(frozen=True, eq=False)
class PublishedAndFound:
    """A published accuracy beside the one found in the same setting."""

    published: Published
    found: Series

    @property
    def difference(self) -> float:
        """Found minus published."""
        return self.found.mean() - self.published.mean

    @property
    def allowed(self) -> float:
        """Two standard errors of the difference; a fixed margin where nothing is spread."""
        spread = self.published.std
        if spread is None or not (spread or self.found.std()):
            return WITHOUT_SPREAD
        return 2 * math.hypot(spread / math.sqrt(PUBLISHED_RUNS), self.found.standard_error)

    @property
    def agrees(self) -> bool:
        """Whether the two are as close as chance allows."""
        return abs(self.difference) <= self.allowed


def published_and_found(found: Found) -> list[PublishedAndFound]:
    """Return every published accuracy that has a counterpart; SoftModes at the paper's t."""
    return [
        PublishedAndFound(published, series)
        for data in found.data()
        for name, published in PUBLISHED.get(data.kind, {}).items()
        for series in _counterparts(found, data, name, published)
    ]


def _counterparts(found: Found, data: Data, name: str, published: Published) -> list[Series]:
    if name == "softmodes":
        at_its_t = soft_series(found, data, float(published.parameter or math.nan))
        return [at_its_t] if at_its_t else []
    return [s for s in found.on(data) if s.algorithm.family == name]


# ------------------------------------------------------------------------------- choosing t


def soft_series(found: Found, data: Data, t: float) -> Series | None:
    """Return all runs of SoftModes(t); t = inf is k-modes."""
    return found.get(data, "k-modes" if math.isinf(t) else "softmodes", t)


def choosing_runs(found: Found, data: Data, t: float) -> Series | None:
    """Return the first half of the runs of SoftModes(t): they choose t."""
    return _runs_between(found, data, t, 0, _half(found, data))


def choosing_runs_of_best_t(found: Found, data: Data) -> Series | None:
    """Return the choosing runs at the finite t where their accuracy is highest."""
    tried = [s for t in found.finite_t() if (s := choosing_runs(found, data, t))]
    return max(tried, key=Series.mean, default=None)


def fresh_runs_of_best_t(found: Found, data: Data) -> Series | None:
    """Return the runs with the best t that had no part in choosing it."""
    best, half = choosing_runs_of_best_t(found, data), _half(found, data)
    return _runs_between(found, data, best.algorithm.t, half, 2 * half) if best else None


def run_of_lowest_cost(found: Found, data: Data) -> Series | None:
    """Return the one run, over all t and as many runs as the paper's, of lowest expected cost."""
    runs = [
        Series(data, s.algorithm, (record,))
        for t in (*found.finite_t(), math.inf)
        if (s := _runs_between(found, data, t, 0, PUBLISHED_RUNS))
        for record in s.records
    ]
    return min(runs, key=lambda s: float(s.records[0]["expected_cost"]), default=None)


def _half(found: Found, data: Data) -> int:
    runs = [len(s.records) for s in found.on(data) if s.algorithm.name == "softmodes"]
    return max(runs, default=0) // 2


def _runs_between(found: Found, data: Data, t: float, first: int, stop: int) -> Series | None:
    whole = soft_series(found, data, t)
    part = whole.part(first, stop) if whole else None
    return part if part and part.records else None


# ------------------------------------------------------- what 25 runs would report, by chance


@dataclass(frozen=True)
class ByChance:
    """What reports of 25 runs are like: the middle nine tenths, and where a published one lies."""

    low: float
    high: float
    percentile: float

    def __str__(self) -> str:
        return f"{self.low:.4f} to {self.high:.4f}"


def reported_means(
    accuracies: Sequence[NDArray[np.float64]], runs: int, reports: int, seed: int = 0
) -> NDArray[np.float64]:
    """Return what `reports` authors would report who choose t by label.

    `accuracies` are those of many runs, for each t. An author makes `runs` runs with each, here
    drawn from the many, and reports the highest of the mean accuracies.
    """
    rng = np.random.default_rng(seed)
    means = [
        found[rng.integers(len(found), size=(reports, runs))].mean(axis=1) for found in accuracies
    ]
    return np.max(means, axis=0)  # type: ignore[no-any-return]


def percentile_among(value: float, reports: NDArray[np.float64]) -> float:
    """Return the share of reports below a value, in percent; equal ones count half."""
    below = np.count_nonzero(reports < value) + np.count_nonzero(reports == value) / 2
    return 100 * float(below) / len(reports)


def by_chance(published: Published, tried: Sequence[Series]) -> ByChance:
    """Place a published mean among reports of 25 runs, with t chosen by label if several."""
    accuracies = [series.values("accuracy") for series in tried]
    reports = reported_means(accuracies, PUBLISHED_RUNS, REPORTS)
    low, high = np.quantile(reports, (0.05, 0.95))
    return ByChance(float(low), float(high), percentile_among(published.mean, reports))


def all_finite_t(found: Found, data: Data) -> list[Series]:
    return [series for t in found.finite_t() if (series := soft_series(found, data, t))]


def percentile_text(chance: ByChance) -> str:
    """Return a percentile, not finer than the reports allow."""
    percentile = chance.percentile
    if percentile in (0, 100):
        return "above all" if percentile else "below all"
    if not 0.1 <= percentile <= 99.9:
        return "over 99.9" if percentile > 50 else "under 0.1"
    return f"{percentile:.0f}" if 1 <= percentile <= 99 else f"{percentile:.1f}"
