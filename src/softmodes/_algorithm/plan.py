"""What a fit is asked to do, and what its rounds and runs have found: values only."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.randomness import Use, address
from softmodes._rows.centers import Centers, CodeCenters, Comparison
from softmodes._rows.tally import SoftTally, Tally
from softmodes.rounding import Rounding, soft

MOST_SPARE = 3  # clusters that a start may have more than asked for

Select: TypeAlias = Literal["best", "last"]
Refine: TypeAlias = Literal["latent", "gini"]
StageName: TypeAlias = Literal["modes", "gini", "latent"]


@dataclass(frozen=True)
class Round:
    """One round of a run: what its partition costs, and whether any row changed its cluster.

    Rounds of stage "modes" compare rows with drawn centers; "gini" and "latent" refine what these
    have found. A latent round shares each row among clusters: it has no Hamming cost, its expected
    cost is that of the shares, and it has moved if it shared any row otherwise than the last one.
    `objective` is what a refining stage lowers.
    """

    cost: float | None
    expected_cost: float
    clusters: int
    moved: bool
    stage: StageName = "modes"
    objective: float | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class RoundState(Round):
    """What a per-round callback gets to see; a callback that returns True stops the fit."""

    run: int
    round: int
    labels: Callable[[], Any] = field(repr=False)


OnRound: TypeAlias = Callable[[RoundState], Any]


@dataclass(frozen=True, eq=False)
class Plan:
    """All that a fit depends on besides the rows; every parameter checked and resolved."""

    k: int
    rounding: Rounding
    init: str | NDArray[np.int32]
    n_init: int
    max_iter: int
    patience: int
    select: Select
    yardstick: Literal["expected_cost", "cost"]
    seed: int
    ladder: tuple[Rounding, ...] = ()  # roundings of one run after the other, if they differ
    refine: Refine | None = None
    finalists: int = 1  # starts that are finished, each by itself
    crossed: int = 0  # in their place: starts of which the best is finished and crossed with others
    latent_rounds: int = 60  # of a latent finish, at most
    spare: int = 0  # clusters that a start has more than asked for, until its latent rounds
    allowance: float = math.inf  # latent rounds, and others by what they cost, of all runs together
    feature_weight: NDArray[np.uint32] | None = None
    row_unit: float = 1.0
    feature_unit: float = 1.0
    on_round: tuple[OnRound, ...] = ()
    on_run: tuple[Callable[[Run], None], ...] = ()

    @property
    def settles(self) -> bool:
        """Whether the run must end by itself, as it does for plurality rounding."""
        plurality = isinstance(self.rounding, soft) and math.isinf(self.rounding.t)
        return plurality and self.refine is None

    @property
    def unit(self) -> float:
        """What a cost of 1 in units of rows and features is in weights."""
        return self.row_unit * self.feature_unit

    def rounding_of(self, run: int) -> Rounding:
        """Return how a run rounds its centers."""
        return self.ladder[run % len(self.ladder)] if self.ladder else self.rounding

    def comparison(self, run: int) -> Comparison:
        """Return how a run compares rows with centers: its ties are settled once for all."""
        return Comparison(address(self.seed, run, Use.TIE), self.feature_weight)


@dataclass(frozen=True, eq=False)
class Run:
    """One run from seeds to the chosen round. `centers` are those that produced its partition.

    `drawn` are the last centers of codes: the same, unless the run was refined.
    """

    index: int
    centers: Centers
    drawn: CodeCenters
    tally: Tally | SoftTally
    history: tuple[Round, ...]
    best_round: int
    converged: bool = False
    stopped: bool = False
    soft: SoftTally | None = None  # the last pass of a latent finish

    @property
    def chosen(self) -> Round:
        """The round whose partition is the result."""
        return self.history[self.best_round]
