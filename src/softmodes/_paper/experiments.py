"""Every table and figure of the paper as a declared experiment: data, grid, algorithms, runs."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

Size: TypeAlias = Literal["small", "full"]
Seeding: TypeAlias = Literal["random", "d1-greedy"]
Params: TypeAlias = tuple[tuple[str, Any], ...]

SIZES: tuple[str, ...] = get_args(Size)
MAX_ITER = 30
GRID_OF_T = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 7.0, 10.0, math.inf)
FIGURE_T = (1.0, 3.0, 10.0)
RUNS_ON_TABLES = 25
TITLES = {"birch": "BIRCH", "gaussian": "Gaussian mixture", "rock": "ROCK"}
ONE_HOT = " (one-hot)"
TABLES = ("connect-4", "nursery", "mushroom", "tic-tac-toe", "zoo")


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

    def __getitem__(self, name: str) -> Any:
        return dict(self.params)[name]


@dataclass(frozen=True)
class Algorithm:
    """A clustering method with its parameters; `runs` where it differs from the experiment's."""

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
        title = TITLES.get(self.family, self.family) + self.name[len(self.family) :]
        return f"{title}, radius {self['eps']:g}" if self.name == "rock" else title

    def __getitem__(self, name: str) -> Any:
        return dict(self.params)[name]


@dataclass(frozen=True)
class Case:
    """The algorithms that run on one data set, and how often each runs."""

    data: Data
    algorithms: tuple[Algorithm, ...]
    runs: int


@dataclass(frozen=True)
class Cell:
    """The smallest piece of work: one run of one algorithm on one data set."""

    experiment: str
    size: Size
    data: Data
    algorithm: Algorithm
    run: int
    seeding: Seeding = "random"
    shared_seeds: bool = False
    trace: bool = False

    @property
    def key(self) -> str:
        """What tells this cell from all others, in every session."""
        parts = (self.experiment, self.size, self.data.key, self.algorithm.key)
        return "/".join((*parts, f"run={self.run}"))

    @property
    def seed(self) -> int:
        """The seed of the run, the same for all algorithms, so that they compare in pairs."""
        return stable_seed(f"{self.data.key}/run={self.run}")

    @property
    def work(self) -> float:
        """A rough share of the total time, in passes of our engine over 1e9 comparisons."""
        if self.data.kind not in ("bbm", "ccm"):
            return _TABLE_WORK[self.data.kind] * _SLOWNESS.get(self.algorithm.name, 1.0)
        cells = self.data["n"] * self.data["d"] / 1e9
        slowness = _SLOWNESS.get(self.algorithm.name, 1.0)
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


@dataclass(frozen=True)
class Experiment:
    """One figure or table of the paper."""

    id: str
    title: str
    setting: str
    claims: tuple[str, ...]
    full: tuple[Case, ...] = ()
    small: tuple[Case, ...] = ()
    seeding: Seeding = "random"
    shared_seeds: bool = False
    trace: bool = False
    joinable: bool = True

    def cases(self, size: Size) -> tuple[Case, ...]:
        """Return the cases of a size."""
        return self.full if size == "full" else self.small

    def cells(self, size: Size, methods: Iterable[str] = ()) -> Iterator[Cell]:
        """Yield all cells of a size, those on the same data and seed one after the other.

        `methods` are names of registered methods that join the declared algorithms.
        """
        guests = tuple(Algorithm(name) for name in methods) if self.joinable else ()
        for case in self.cases(size):
            algorithms = (*case.algorithms, *guests)
            for run in range(max((_runs(case, a) for a in algorithms), default=0)):
                for algorithm in algorithms:
                    if run < _runs(case, algorithm):
                        yield self._cell(size, case.data, algorithm, run)

    def _cell(self, size: Size, data: Data, algorithm: Algorithm, run: int) -> Cell:
        return Cell(
            experiment=self.id,
            size=size,
            data=data,
            algorithm=algorithm,
            run=run,
            seeding=self.seeding,
            shared_seeds=self.shared_seeds,
            trace=self.trace,
        )


@dataclass(frozen=True)
class Published:
    """A cell of the paper's table: mean accuracy, its spread, and t or radius where given."""

    mean: float
    std: float | None = None
    parameter: float | None = None


# ----------------------------------------------------------------------------- building blocks


def stable_seed(text: str) -> int:
    """Return a seed that depends on the text alone, the same in every process and version."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) >> 33


def _joined(params: Params) -> str:
    return ", ".join(f"{name}={value:g}" for name, value in params)


def _runs(case: Case, algorithm: Algorithm) -> int:
    return case.runs if algorithm.runs is None else algorithm.runs


def soft_modes(t: float) -> Algorithm:
    """Return Algorithm 1 of the paper with soft(t) rounding; t = inf is k-modes."""
    return Algorithm("softmodes", (("t", t),)) if t < math.inf else K_MODES


def k_means(cap: float) -> Algorithm:
    """Return scikit-learn's KMeans, stopped after `cap` seconds a run."""
    return Algorithm("k-means", (("cap", cap),))


K_MODES = Algorithm("k-modes")
IN_FIGURES = (K_MODES, *map(soft_modes, FIGURE_T))


def blocks(n: int, d: int, p: float, q: float) -> Data:
    """Return the recipe of a block model with two equal blocks."""
    return Data("bbm", 2, (("n", n), ("d", d), ("p", p), ("q", q)))


def codewords(n: int, d: int, k: int, eps: float, noise: float = 0.0) -> Data:
    """Return the recipe of corrupted codewords."""
    return Data("ccm", k, (("n", n), ("d", d), ("eps", eps), ("noise", noise)))


def _each(data: Iterable[Data], algorithms: tuple[Algorithm, ...], runs: int) -> tuple[Case, ...]:
    return tuple(Case(recipe, algorithms, runs) for recipe in data)


# ---------------------------------------------------------------------------- the experiments

THEOREM_PAIRS = ((0.45, 0.25), (0.4, 0.3), (0.3, 0.1), (0.3, 0.05), (0.2, 0.02), (0.1, 0.0))
THEOREM_T = (1.0, 2.0, 3.0, 5.0, 10.0)

THEOREM = Experiment(
    id="theorem",
    title="The theorem: two blocks with q < p < 0.5",
    setting=(
        "Boolean Block Model, two equal blocks of rows and features, random seeds. The bounds are "
        "read as bounds on the mean accuracy: by the paper's proof a run from two seeds in "
        "different blocks is right, and one from the same block may stay at chance. The theorem "
        "holds with high probability for tables large enough, and does not say how large: what "
        "fails here, with 4,000 features, need not fail with more (theorem-map shows how the "
        "number of features matters)."
    ),
    claims=(
        "k-modes has accuracy at most 0.51",
        "SoftModes(t) has accuracy at least 0.74 for every finite t",
        "SoftModes(1) makes no mistake if q is small",
    ),
    full=_each(
        (blocks(10_000, 4_000, p, q) for p, q in THEOREM_PAIRS),
        (K_MODES, *map(soft_modes, THEOREM_T)),
        50,
    ),
    small=_each(
        (blocks(2_000, 1_000, p, q) for p, q in ((0.45, 0.25), (0.3, 0.05))),
        (K_MODES, soft_modes(1.0), soft_modes(3.0)),
        5,
    ),
)

_SHARES = tuple(round(0.05 * i, 2) for i in range(1, 20))
MAP_T = (1.0, 2.0, 5.0)

THEOREM_MAP = Experiment(
    id="theorem-map",
    title="Where each algorithm recovers the blocks",
    setting=(
        "Block model of 2,000 rows in two equal blocks, random seeds: accuracy over (p, q), for "
        "several numbers of features. Only q < p is run; exchanging p and q renames the features."
    ),
    claims=("Below p = 0.5 k-modes stays at chance, and SoftModes recovers the blocks",),
    full=_each(
        (
            blocks(2_000, d, p, q)
            for d in (100, 1_000, 4_000)
            for p in _SHARES
            for q in (0.0, *_SHARES)
            if q < p
        ),
        (K_MODES, *map(soft_modes, MAP_T)),
        4,
    ),
    small=_each(
        (
            blocks(600, 300, p, q)
            for p in (0.2, 0.4, 0.6, 0.8)
            for q in (0.0, 0.2, 0.4, 0.6)
            if q < p
        ),
        (K_MODES, *map(soft_modes, MAP_T)),
        2,
    ),
    joinable=False,
)

FIG_SBM = Experiment(
    id="fig-sbm",
    title="Block model: accuracy of k-modes and SoftModes(1)",
    setting="Two equal blocks, random seeds.",
    claims=(
        "For p < 0.5 SoftModes(1) classifies perfectly",
        "For p < 0.5 k-modes stays near 0.5",
        "For p > 0.5 k-modes varies much from run to run",
    ),
    full=_each(
        (
            blocks(10_000, 10_000, p, q)
            for p, q in ((0.6, 0.25), (0.45, 0.25), (0.3, 0.1), (0.3, 0.0))
        ),
        (K_MODES, soft_modes(1.0)),
        50,
    ),
    small=_each(
        (blocks(4_000, 4_000, p, q) for p, q in ((0.6, 0.25), (0.3, 0.05))),
        (K_MODES, soft_modes(1.0)),
        10,
    ),
)

FIG_CCM = Experiment(
    id="fig-ccm",
    title="Corrupted codewords: accuracy and time against k",
    setting=(
        "eps = 0.2, no noise, k-means++ seeds. Over bits squared Euclidean and Hamming distance to "
        "a row are equal, so that greedy D1 seeding is k-means++; each run's seeds are drawn once "
        "and given to all algorithms, and every run's time includes drawing them."
    ),
    claims=(
        "For large k SoftModes is above k-means",
        "For large k k-means is above k-modes",
        "SoftModes takes no longer than k-modes",
    ),
    full=_each(
        (codewords(500_000, 1_000, k, 0.2) for k in (2, 10, 100, 1_000, 2_000)),
        (*IN_FIGURES, k_means(180.0)),
        5,
    ),
    small=_each(
        (codewords(10_000, 500, k, 0.2) for k in (2, 10, 50)), (*IN_FIGURES, k_means(20.0)), 5
    ),
    seeding="d1-greedy",
    shared_seeds=True,
)

FIG_NOISE = Experiment(
    id="fig-noise",
    title="Corrupted codewords with noise: accuracy against k",
    setting=(
        "eps = 0.2, a share rho of uniform rows with uniform labels, k-means++ seeds, drawn once a "
        "run and given to all algorithms. The best possible accuracy is rho/k + 1 - rho."
    ),
    claims=("SoftModes is highest for every rho",),
    full=_each(
        (
            codewords(100_000, 500, k, 0.2, rho)
            for rho in (0.1, 0.5, 0.9)
            for k in (50, 200, 1_000, 5_000)
        ),
        (*IN_FIGURES, k_means(30.0)),
        10,
    ),
    small=_each(
        (codewords(5_000, 200, k, 0.2, rho) for rho in (0.1, 0.5, 0.9) for k in (10, 50)),
        (*IN_FIGURES, k_means(20.0)),
        2,
    ),
    seeding="d1-greedy",
    shared_seeds=True,
)

_NEAR_CODEWORDS = codewords(100_000, 200, 100, 0.3)
_FEWER_NEAR_CODEWORDS = codewords(10_000, 200, 20, 0.3)

FIG_CONVERGENCE = Experiment(
    id="fig-convergence",
    title="Corrupted codewords: accuracy after each round",
    setting=(
        "eps = 0.3, random seeds, the same for all algorithms. Round 1 is the assignment to the "
        "seeds. A run that has converged keeps its accuracy in later rounds."
    ),
    claims=(
        "SoftModes is above k-modes at every round",
        "k-means converges faster than SoftModes, which ends higher",
    ),
    full=_each([_NEAR_CODEWORDS], (*IN_FIGURES, k_means(300.0)), 10),
    small=_each([_FEWER_NEAR_CODEWORDS], (*IN_FIGURES, k_means(20.0)), 3),
    shared_seeds=True,
    trace=True,
    joinable=False,
)

FIG_T = Experiment(
    id="fig-t",
    title="Corrupted codewords: accuracy against t",
    setting="The data and seeds of fig-convergence.",
    claims=(
        "Beyond a threshold accuracy does not depend on t",
        "SoftModes is never below k-modes",
    ),
    full=_each([_NEAR_CODEWORDS], tuple(map(soft_modes, GRID_OF_T)), 10),
    small=_each(
        [_FEWER_NEAR_CODEWORDS], tuple(map(soft_modes, (1.0, 1.5, 3.0, 5.0, 10.0, math.inf))), 5
    ),
    shared_seeds=True,
    joinable=False,
)

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

CLASSES = {"connect-4": 3, "nursery": 5, "mushroom": 2, "tic-tac-toe": 2, "zoo": 7}
# The paper's radius e as a Hamming distance; and, where that is another, the Hamming distance of
# rows whose one-hot codes are e apart, e^2 / 2.
ROCK_RADII = {
    "connect-4": (6.0,),
    "nursery": (3.0, 4.0),
    "mushroom": (5.0, 12.0),
    "tic-tac-toe": (2.0,),
    "zoo": (2.0,),
}


def _table_case(table: str, grid: tuple[float, ...], runs: int) -> Case:
    """Return the case of a real table; SoftModes runs twice as often, to re-score its best t."""
    ours = tuple(replace(soft_modes(t), runs=2 * runs) for t in grid)
    others = [
        Algorithm(name + encoding, runs=1 if name == "birch" else None)
        for name in ("k-means", "gaussian", "birch")
        for encoding in ("", ONE_HOT)
        if (table, name + encoding) != ("connect-4", "gaussian" + ONE_HOT)
    ]
    rock = [Algorithm("rock", (("eps", radius),), runs=1) for radius in ROCK_RADII[table]]
    return Case(Data(table, CLASSES[table]), (*ours, *others, *rock), runs)


TABLE_REAL = Experiment(
    id="table-real",
    title="Five real tables",
    setting=(
        "k-means++ seeds. k-means, BIRCH and Gaussian mixtures run on integer codes, as the "
        "authors' program does, and on one-hot codes; but for a Gaussian mixture on the 126 "
        "one-hot columns of Connect-4, which takes minutes a run. BIRCH and ROCK run once; neither "
        "is random, but that ROCK clusters a random sample of Connect-4. ROCK takes the paper's "
        "radius as a Hamming distance, and as the distance of one-hot codes where that differs; on "
        "Connect-4, where the paper's run did not halt, 6."
    ),
    claims=(
        "On every table SoftModes with a suitable t is above k-modes",
        "Where SoftModes is not highest, it is close to the highest",
    ),
    full=tuple(_table_case(table, GRID_OF_T, RUNS_ON_TABLES) for table in TABLES),
    small=tuple(_table_case(table, (1.0, 3.0, math.inf), 5) for table in ("tic-tac-toe", "zoo")),
    seeding="d1-greedy",
)

FIG_ROUNDING = Experiment(
    id="fig-rounding",
    title="The three rounding maps on the 2-simplex",
    setting=(
        "Each arrow leads from the shares of three values to the probabilities of the draw; under "
        "uniform rounding they are the same."
    ),
    claims=(),
    joinable=False,
)

EXPERIMENTS: dict[str, Experiment] = {
    experiment.id: experiment
    for experiment in (
        FIG_ROUNDING,
        THEOREM,
        THEOREM_MAP,
        FIG_SBM,
        TABLE_REAL,
        FIG_T,
        FIG_CONVERGENCE,
        FIG_NOISE,
        FIG_CCM,
    )
}


def chosen(names: Iterable[str]) -> list[Experiment]:
    """Return experiments by their ids; "all" stands for every one."""
    wanted = list(names)
    unknown = [name for name in wanted if name not in (*EXPERIMENTS, "all")]
    if unknown:
        raise ValueError(
            f"experiment={unknown[0]!r} is not known. Pass 'all' or some of "
            f"{', '.join(map(repr, EXPERIMENTS))}."
        )
    if "all" in wanted:
        return list(EXPERIMENTS.values())
    return [EXPERIMENTS[name] for name in dict.fromkeys(wanted)]
