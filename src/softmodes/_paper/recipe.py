"""What there is to run, as values: data sets, algorithms, cases and cells."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

from softmodes._parameters import stable_seed

Size: TypeAlias = Literal["small", "full"]
SeedingName: TypeAlias = Literal["random", "d1-greedy"]
Params: TypeAlias = tuple[tuple[str, Any], ...]

SIZES: tuple[str, ...] = get_args(Size)
MAX_ITER = 30
_DIGEST = re.compile(r" #[0-9a-f]{8}$")  # that follows the name of a user's table
ONE_HOT = " (one-hot)"
_TITLES = {
    "birch": "BIRCH",
    "gaussian": "Gaussian mixture",
    "rock": "ROCK",
    "default": "SoftModes(k), our default",
}


# -------------------------------------------------------------------------------- data sets


@dataclass(frozen=True)
class Data:
    """A data set by its recipe; `kind` is "bbm", "packed-bbm", "ccm" or the name of a table."""

    kind: str
    n_clusters: int
    params: Params = ()

    @property
    def key(self) -> str:
        """The recipe as a stable string."""
        return f"{self.kind}({_joined((('k', self.n_clusters), *self.params))})"

    @property
    def seed(self) -> int:
        """The seed of the data: the same recipe is the same table in every experiment."""
        return stable_seed(self.key)

    @property
    def title(self) -> str:
        """What to print: the parameters that differ within an experiment, or the table's name."""
        if self.kind == "bbm":
            return f"p = {self['p']:g}, q = {self['q']:g}"
        if self.kind == "packed-bbm":
            return f"p = {self['p']:g}, q = {self['q']:g}, d = {self['d']:,}"
        if self.kind == "ccm":
            noise = f", rho = {self['noise']:g}" if self["noise"] else ""
            return f"k = {self.n_clusters:,}{noise}"
        return _DIGEST.sub("", self.kind)

    def __getitem__(self, name: str) -> Any:
        return dict(self.params)[name]


def blocks(n: int, d: int, p: float, q: float) -> Data:
    """Return the recipe of a block model with two equal blocks."""
    return Data("bbm", 2, (("n", n), ("d", d), ("p", p), ("q", q)))


def wide_blocks(n: int, d: int, p: float, q: float) -> Data:
    """Return the recipe of such blocks with many features, packed as they are drawn."""
    return replace(blocks(n, d, p, q), kind="packed-bbm")


def codewords(n: int, d: int, k: int, eps: float, noise: float = 0.0) -> Data:
    """Return the recipe of corrupted codewords."""
    return Data("ccm", k, (("n", n), ("d", d), ("eps", eps), ("noise", noise)))


# ------------------------------------------------------------------------------- algorithms


@dataclass(frozen=True)
class Algorithm:
    """A clustering method with its parameters; `runs` where it differs from the case's."""

    name: str
    params: Params = ()
    runs: int | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        """Name and parameters as a stable string."""
        return f"{self.name}({_joined(self.params)})"

    @property
    def t(self) -> float:
        """The sharpness of the rounding; infinite for k-modes, and for other methods."""
        return float(dict(self.params).get("t", math.inf))

    @property
    def family(self) -> str:
        """The name without the encoding of the table."""
        return self.name.removesuffix(ONE_HOT)

    @property
    def title(self) -> str:
        """The name to print."""
        if self.name == "softmodes":
            return f"SoftModes({self.t:g})"
        title = _TITLES.get(self.family, self.family) + self.name[len(self.family) :]
        return f"{title}, radius {self['eps']:g}" if "eps" in dict(self.params) else title

    def __getitem__(self, name: str) -> Any:
        return dict(self.params)[name]


K_MODES = Algorithm("k-modes")
OUR_DEFAULT = Algorithm("default")


def soft_modes(t: float) -> Algorithm:
    """Return Algorithm 1 of the paper with soft(t) rounding; t = inf is k-modes."""
    return Algorithm("softmodes", (("t", t),)) if t < math.inf else K_MODES


def k_means(cap: float) -> Algorithm:
    """Return scikit-learn's KMeans, stopped after `cap` seconds a run."""
    return Algorithm("k-means", (("cap", cap),))


# Figures show SoftModes at each of these t, since the paper does not say its own.
IN_FIGURES = (K_MODES, *map(soft_modes, (1.0, 3.0, 10.0)))
GRID_OF_T = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 7.0, 10.0, math.inf)


# -------------------------------------------------------------------------- cases and cells


@dataclass(frozen=True)
class Case:
    """The algorithms that run on one data set, and how often each runs.

    `at_once` runs of an algorithm share a line of the results: for runs of milliseconds, that are
    many. With `same_again`, algorithms that are random are also asked how much their answers
    differ (see `same_again.py`).
    """

    data: Data
    algorithms: tuple[Algorithm, ...]
    runs: int
    at_once: int = 1
    same_again: bool = False

    def runs_of(self, algorithm: Algorithm) -> int:
        """Return how often an algorithm runs."""
        return self.runs if algorithm.runs is None else algorithm.runs


def cases_on(
    data: Iterable[Data], algorithms: tuple[Algorithm, ...], runs: int, at_once: int = 1
) -> tuple[Case, ...]:
    """Return a case for each data set, with the same algorithms and number of runs."""
    return tuple(Case(recipe, algorithms, runs, at_once) for recipe in data)


def key_of_run(series_key: str, run: int) -> str:
    """Return the key of a cell."""
    return f"{series_key}/run={run}"


@dataclass(frozen=True)
class Cell:
    """The smallest piece of work: one run of one algorithm on one data set."""

    experiment: str
    size: Size
    data: Data
    algorithm: Algorithm
    run: int
    seeding: SeedingName = "random"
    shared_seeds: bool = False
    trace: bool = False
    at_once: int = 1
    same_again: bool = False

    @property
    def series_key(self) -> str:
        """What the cells of one algorithm on one data set share, in every process and version."""
        return "/".join((self.experiment, self.size, self.data.key, self.algorithm.key))

    @property
    def key(self) -> str:
        """What tells this cell from all others."""
        return key_of_run(self.series_key, self.run)

    @property
    def seed(self) -> int:
        """The seed of the run, the same for all algorithms, so that they compare in pairs."""
        return stable_seed(f"{self.data.key}/run={self.run}")

    @property
    def work(self) -> float:
        """About the seconds that it takes on two cores; they only steer the time left."""
        name = self.algorithm.family
        if "n" not in dict(self.data.params):
            return _TABLE_WORK.get(self.data.kind, 0.01) * _SLOWNESS.get(name, 1.0)
        cells = float(self.data["n"] * self.data["d"])
        comparisons = cells / 1e9 * (5 + self.data.n_clusters)
        if name == "k-means":
            return min(float(self.algorithm["cap"]), 0.5 + 0.5 * comparisons)
        return 0.004 + 0.012 * comparisons


_TABLE_WORK = {
    "connect-4": 0.03,
    "nursery": 0.008,
    "mushroom": 0.006,
    "tic-tac-toe": 0.003,
    "zoo": 0.003,
}
_SLOWNESS = {"default": 10.0, "k-means": 5.0, "gaussian": 15.0, "birch": 500.0, "rock": 1000.0}


def _joined(params: Params) -> str:
    return ", ".join(f"{name}={_shown(value)}" for name, value in params)


def _shown(value: float) -> str:
    """Return a number as text; whole numbers in full, for two of them must not look the same."""
    return str(value) if isinstance(value, int) and value >= 10**6 else f"{value:g}"
