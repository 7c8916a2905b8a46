"""THE loop: pass over the rows -> round the centers -> until nothing moves; restarts around it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from threading import get_ident
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.cost import expected_cost
from softmodes._algorithm.randomness import Use, address
from softmodes._algorithm.seeding import METHODS, Seeding, complete
from softmodes._rows.stores import RowStore
from softmodes._rows.tally import Metric, Tally, label_block
from softmodes._rows.weights import in_weights
from softmodes.rounding import Draw, Rounding, soft

Select: TypeAlias = Literal["best", "last"]


@dataclass(frozen=True)
class Round:
    """One round of a run: what its partition costs, and whether any row changed its cluster."""

    cost: float
    expected_cost: float
    clusters: int
    moved: bool


@dataclass(frozen=True, eq=False)
class RoundState(Round):
    """What a per-round callback gets to see; a callback that returns True stops the fit."""

    run: int
    round: int
    labels: Callable[[], NDArray[np.int32]] = field(repr=False)


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
    feature_weight: NDArray[np.uint32] | None = None
    row_unit: float = 1.0
    feature_unit: float = 1.0
    on_round: tuple[OnRound, ...] = ()
    on_run: tuple[Callable[[Run], None], ...] = ()

    @property
    def settles(self) -> bool:
        """Whether the run must end by itself, as it does for plurality rounding."""
        return isinstance(self.rounding, soft) and math.isinf(self.rounding.t)


@dataclass(frozen=True, eq=False)
class Run:
    """One run from seeds to the chosen round. `centers` are those that produced its partition."""

    index: int
    centers: NDArray[np.int32]
    tally: Tally
    history: tuple[Round, ...]
    best_round: int
    converged: bool
    stopped: bool

    @property
    def chosen(self) -> Round:
        """The round whose partition is the result."""
        return self.history[self.best_round]


def best_run(store: RowStore, plan: Plan) -> Run:
    """Run `n_init` times and return the run with the lowest yardstick, the first among equals."""
    return min(runs(store, plan), key=lambda run: getattr(run.chosen, plan.yardstick))


def runs(store: RowStore, plan: Plan) -> Iterator[Run]:
    """Run from `n_init` sets of seeds; run i depends on the seed and on i alone."""
    for index in range(plan.n_init):
        run = run_once(store, plan, index)
        for callback in plan.on_run:
            callback(run)
        yield run
        if run.stopped:
            return


def run_once(store: RowStore, plan: Plan, index: int) -> Run:
    """Algorithm 1 of the paper, watched for its best round."""
    metric = tie_order(plan, index)
    draw = Draw(plan.rounding, plan.seed, store.layout, store.sizes, plan.row_unit, store.n_threads)
    centers = first_centers(store, plan, index)
    history: list[Round] = []
    chosen: Run | None = None
    fingerprint = None
    converged = stopped = False
    while True:
        tally = store.tally(centers, metric)
        converged, fingerprint = tally.fingerprint == fingerprint, tally.fingerprint
        history.append(_measure(store, plan, tally, moved=not converged))
        if chosen is None or _replaces(plan, history[-1], chosen):
            chosen = Run(index, centers, tally, tuple(history), len(history) - 1, False, False)
        labels = _labels_of_round(store, centers, metric)
        stopped = _asked_to_stop(plan, index, history, labels)
        if converged or stopped or _used_up(plan, chosen, history):
            return replace(chosen, history=tuple(history), converged=converged, stopped=stopped)
        centers = draw(tally, centers, index, len(history))


def tie_order(plan: Plan, run: int) -> Metric:
    """Return the comparison of rows and centers of a run: its ties are settled once for all."""
    return Metric(address(plan.seed, run, Use.TIE), plan.feature_weight)


def first_centers(store: RowStore, plan: Plan, run: int) -> NDArray[np.int32]:
    """Return the seeds of a run, complete."""
    seeding = Seeding(store, plan.k, plan.seed, run, plan.feature_weight)
    seeds = METHODS[plan.init](seeding) if isinstance(plan.init, str) else plan.init.copy()
    return complete(seeding, seeds)


def _measure(store: RowStore, plan: Plan, tally: Tally, moved: bool) -> Round:
    unit = plan.row_unit * plan.feature_unit
    expected = expected_cost(tally, store.layout, store.sizes, plan.feature_weight, store.n_threads)
    return Round(
        cost=in_weights(tally.cost, unit),
        expected_cost=expected * unit,
        clusters=int(np.count_nonzero(tally.sizes)),
        moved=moved,
    )


def _replaces(plan: Plan, latest: Round, chosen: Run) -> bool:
    return plan.select == "last" or latest.expected_cost < chosen.chosen.expected_cost


def _used_up(plan: Plan, chosen: Run, history: list[Round]) -> bool:
    """Whether the rounds, or the patience with rounds that are no better, have run out."""
    idle = len(history) - 1 - chosen.best_round
    return len(history) >= plan.max_iter or (plan.select == "best" and idle >= plan.patience)


def _asked_to_stop(
    plan: Plan, run: int, history: list[Round], labels: Callable[[], NDArray[np.int32]]
) -> bool:
    state = RoundState(**vars(history[-1]), run=run, round=len(history) - 1, labels=labels)
    answers = [callback(state) for callback in plan.on_round]
    return any(isinstance(answer, (bool, np.bool_)) and bool(answer) for answer in answers)


def _labels_of_round(
    store: RowStore, centers: NDArray[np.int32], metric: Metric
) -> Callable[[], NDArray[np.int32]]:
    """Return a function that finds the labels of a round: at any later time, from any thread."""
    fitting_thread = get_ident()

    def labels() -> NDArray[np.int32]:
        if get_ident() == fitting_thread:
            return store.labels(centers, metric)
        # What the store remembers may be changing under another thread's hands: a pass of its own.
        parts = store.map(lambda block, n_threads: label_block(block, centers, metric, n_threads))
        return np.concatenate(parts)

    return labels
