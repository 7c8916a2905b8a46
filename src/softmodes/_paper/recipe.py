"""What there is to run, as values: data sets, algorithms, cases and cells."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from softmodes._parameters import stable_seed

Size: TypeAlias = Literal["small", "full"]
SeedingName: TypeAlias = Literal["random", "d1-greedy"]
Params: TypeAlias = tuple[tuple[str, Any], ...]

SIZES: tuple[str, ...] = get_args(Size)
MAX_ITER = 30
ONE_HOT = " (one-hot)"
_TITLES = {"birch": "BIRCH", "gaussian": "Gaussian mixture", "rock": "ROCK"}


# -------------------------------------------------------------------------------- data sets


@dataclass(frozen=True)
class Data:
    """A data set by its recipe; `kind` is "bbm", "ccm" or the name of a bundled table."""

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
        if self.kind == "ccm":
            noise = f", rho = {self['noise']:g}" if self["noise"] else ""
            return f"k = {self.n_clusters:,}{noise}"
        return self.kind

    def __getitem__(self, name: str) -> Any:
        return dict(self.params)[name]


def blocks(n: int, d: int, p: float, q: float) -> Data:
    """Return the recipe of a block model with two equal blocks."""
    return Data("bbm", 2, (("n", n), ("d", d), ("p", p), ("q", q)))


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
        return f"{title}, radius {self['eps']:g}" if self.name == "rock" else title

    def __getitem__(self, name: str) -> Any:
        return dict(self.params)[name]


K_MODES = Algorithm("k-modes")


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
    """The algorithms that run on one data set, and how often each runs."""

    data: Data
    algorithms: tuple[Algorithm, ...]
    runs: int

    def runs_of(self, algorithm: Algorithm) -> int:
        """Return how often an algorithm runs."""
        return self.runs if algorithm.runs is None else algorithm.runs


def cases_on(
    data: Iterable[Data], algorithms: tuple[Algorithm, ...], runs: int
) -> tuple[Case, ...]:
    """Return a case for each data set, with the same algorithms and number of runs."""
    return tuple(Case(recipe, algorithms, runs) for recipe in data)


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

    @property
    def key(self) -> str:
        """What tells this cell from all others, in every process and version."""
        parts = (self.experiment, self.size, self.data.key, self.algorithm.key)
        return "/".join((*parts, f"run={self.run}"))

    @property
    def seed(self) -> int:
        """The seed of the run, the same for all algorithms, so that they compare in pairs."""
        return stable_seed(f"{self.data.key}/run={self.run}")

    @property
    def work(self) -> float:
        """A rough share of the total time, in passes of our engine over 1e9 comparisons."""
        slowness = _SLOWNESS.get(self.algorithm.name, 1.0)
        if self.data.kind not in ("bbm", "ccm"):
            return _TABLE_WORK.get(self.data.kind, 0.1) * slowness
        cells = self.data["n"] * self.data["d"] / 1e9
        return float(0.01 + cells * (5 + self.data.n_clusters * slowness))


# Seconds on two cores, measured once; they only steer the estimate of the time left.
_TABLE_WORK = {
    "connect-4": 0.2,
    "nursery": 0.04,
    "mushroom": 0.03,
    "tic-tac-toe": 0.02,
    "zoo": 0.02,
}
_SLOWNESS = {"k-means": 8.0, "birch": 100.0, "gaussian": 20.0, "rock": 500.0}


def _joined(params: Params) -> str:
    return ", ".join(f"{name}={value:g}" for name, value in params)
