"""THE loop: pass over the rows -> round the centers -> until nothing moves; restarts around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import get_ident

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.cost import expected_cost
from softmodes._algorithm.draw import Draw
from softmodes._algorithm.plan import Plan, Round, RoundState, Run
from softmodes._algorithm.seeding import METHODS, Seeding, complete
from softmodes._rows.centers import CodeCenters, Comparison
from softmodes._rows.stores.base import RowStore
from softmodes._rows.tally import Tally
from softmodes._rows.weights import in_weights


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
    comparison = plan.comparison(index)
    draw = Draw(plan.rounding, plan.seed, plan.row_unit, store.n_threads)
    centers = first_centers(store, plan, index)
    history: list[Round] = []
    chosen: Run | None = None
    fingerprint = None
    converged = stopped = False
    while True:
        tally = store.tally(centers, comparison)
        converged, fingerprint = tally.fingerprint == fingerprint, tally.fingerprint
        history.append(_measure(store, plan, tally, moved=not converged))
        if chosen is None or _replaces(plan, history[-1], chosen):
            chosen = Run(index, centers, tally, tuple(history), len(history) - 1, False, False)
        labels = _labels_of_round(store, centers, comparison)
        stopped = _asked_to_stop(plan, index, history, labels)
        if converged or stopped or _used_up(plan, chosen, history):
            return replace(chosen, history=tuple(history), converged=converged, stopped=stopped)
        centers = draw(tally.counts, centers, index, len(history))


def first_centers(store: RowStore, plan: Plan, run: int) -> CodeCenters:
    """Return the seeds of a run, complete."""
    seeding = Seeding(store, plan.k, plan.seed, run, plan.feature_weight)
    seeds = METHODS[plan.init](seeding) if isinstance(plan.init, str) else plan.init.copy()
    return CodeCenters(complete(seeding, seeds))


def _measure(store: RowStore, plan: Plan, tally: Tally, moved: bool) -> Round:
    expected = expected_cost(tally.counts, plan.feature_weight, store.n_threads)
    return Round(
        cost=in_weights(tally.cost, plan.unit),
        expected_cost=expected * plan.unit,
        clusters=int(np.count_nonzero(tally.cluster_sizes)),
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
    store: RowStore, centers: CodeCenters, comparison: Comparison
) -> Callable[[], NDArray[np.int32]]:
    """Return a function that finds the labels of a round: at any later time, from any thread."""
    fitting_thread = get_ident()

    def labels() -> NDArray[np.int32]:
        # What the store remembers may be changing under another thread's hands.
        return store.labels(centers, comparison, remember=get_ident() == fitting_thread)

    return labels
