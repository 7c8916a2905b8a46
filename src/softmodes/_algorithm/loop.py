"""THE loop: pass over the rows -> next centers -> until nothing moves; restarts around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import get_ident

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.cost import modes_cost
from softmodes._algorithm.draw import Draw
from softmodes._algorithm.plan import Plan, Round, RoundState, Run
from softmodes._algorithm.stages import (
    FIRST_GINI_ROUNDS,
    FIRST_LATENT_ROUNDS,
    Fit,
    Gini,
    Latent,
    Modes,
    Stage,
    objective_of,
)
from softmodes._rows.centers import Centers, CodeCenters, Comparison
from softmodes._rows.stores.base import RowStore
from softmodes._rows.tally import SoftTally, Tally
from softmodes.rounding import plurality


def best_run(store: RowStore, plan: Plan) -> Run:
    """Run `n_init` times and return the best run, the first among equals.

    With refinement the starts are raced: only the `finalists` best of them are finished.
    """
    fit = Fit(store, plan)
    best: list[Run] = []
    stopped = False
    for run in starts(fit):
        best = sorted([*best, run], key=lambda run: _rank(plan, run))[: plan.finalists]
        stopped = run.stopped
    finished = []
    for run in sorted(best, key=lambda run: run.index):
        finished.append(run if stopped else _finish(fit, run))
        stopped = stopped or finished[-1].stopped
    return _settled(fit, min(finished, key=lambda run: _rank(plan, run)))


def run_once(store: RowStore, plan: Plan, index: int) -> Run:
    """Make one run from its seeds to its end."""
    fit = Fit(store, plan)
    return _settled(fit, _finish(fit, _start(fit, index)))


def run_from(fit: Fit, tally: Tally, drawn: CodeCenters, index: int) -> Run:
    """Make a latent finish of a partition that is given by its counts: it needs no seeds."""
    given = Gini(fit, index, 1).measure(drawn, tally, None)
    before = Run(index, drawn, drawn, tally, (given,), 0)
    return _settled(fit, _go_on(Latent(fit, index, fit.plan.latent_rounds), before))


def starts(fit: Fit) -> Iterator[Run]:
    """Start from `n_init` sets of seeds; run i depends on the seed and on i alone.

    Once a run cannot be beaten, no others are started.
    """
    for index in range(fit.plan.n_init):
        run = _start(fit, index)
        for callback in fit.plan.on_run:
            callback(run)
        yield run
        if run.stopped or _beyond_beating(fit.plan, run):
            return


def _start(fit: Fit, index: int) -> Run:
    """Make the rounds of drawn centers, and the first ones of the finish."""
    run = _go_on(Modes(fit, index, fit.plan.max_iter), None)
    if fit.plan.refine is not None and not run.stopped:
        run = _go_on(Gini(fit, index, FIRST_GINI_ROUNDS), run)
    if fit.plan.refine == "latent" and not run.stopped:
        run = _go_on(Latent(fit, index, _first_latent_rounds(fit)), run)
    return run


def _first_latent_rounds(fit: Fit) -> int:
    """Return how many latent rounds a start makes: one if there is nothing to look for.

    Of one column any partition makes a latent class model of the same likelihood.
    """
    return 1 if fit.store.layout.n_features == 1 else FIRST_LATENT_ROUNDS


def _finish(fit: Fit, run: Run) -> Run:
    """Make the other rounds of the finish, until nothing moves."""
    if run.stopped or run.converged or fit.plan.refine is None:
        return run
    if fit.plan.refine == "latent" and fit.store.layout.n_features == 1:
        return run
    if fit.plan.refine == "gini":
        return _go_on(Gini(fit, run.index, fit.plan.max_iter), run)
    return _go_on(Latent(fit, run.index, fit.plan.latent_rounds - FIRST_LATENT_ROUNDS), run)


def _settled(fit: Fit, run: Run) -> Run:
    """Return a run with the partition of its centers, and the modes of a refined one."""
    if isinstance(run.centers, CodeCenters):
        return run
    plan, tally, soft = fit.plan, run.tally, None
    if isinstance(tally, SoftTally):
        soft, tally = tally, fit.store.tally(run.centers, plan.comparison(run.index))
    modes = Draw(plurality, plan.seed, plan.row_unit, fit.store.n_threads)
    return replace(
        run,
        tally=replace(tally, cost=modes_cost(tally.counts, plan.feature_weight)),
        drawn=modes(tally.counts, run.drawn, run.index, 0),
        soft=soft,
    )


def _go_on(stage: Stage, before: Run | None) -> Run:
    """Make the rounds of a stage, from the run so far."""
    history = list(before.history) if before else []
    n_before = len(history)
    chosen, last = before, before.tally if before else None
    centers = stage.first_centers(before)
    while True:
        tally = stage.tally(centers)
        history.append(stage.measure(centers, tally, last))
        latest = history[-1]
        at_rest = stage.at_rest(latest, chosen.chosen if chosen else None)
        if chosen is None or stage.replaces(latest, chosen.chosen):
            drawn = _drawn(centers, chosen)
            chosen = Run(stage.run, centers, drawn, tally, tuple(history), len(history) - 1)
        stopped = _asked_to_stop(stage, history, centers)
        used_up = len(history) - n_before >= stage.most_rounds
        idle = len(history) - 1 - chosen.best_round
        if at_rest or stopped or used_up or stage.out_of_patience(idle):
            return replace(chosen, history=tuple(history), converged=at_rest, stopped=stopped)
        centers, last = stage.next_centers(centers, tally, len(history)), tally


def _drawn(centers: Centers, before: Run | None) -> CodeCenters:
    """Return the last centers of codes."""
    if isinstance(centers, CodeCenters):
        return centers
    assert before is not None
    return before.drawn


def _rank(plan: Plan, run: Run) -> float:
    """Return what runs are compared by; one that was stopped before its finish comes last."""
    if plan.refine is None:
        cost = getattr(run.chosen, plan.yardstick)
        return float(cost)
    return objective_of(run.chosen) if run.chosen.stage == plan.refine else np.inf


def _beyond_beating(plan: Plan, run: Run) -> bool:
    """Tell whether no run can be better: there is one partition, or one into equal rows was found.

    Runs of one cluster differ in nothing but drawn centers, by whose cost k-modes are compared.
    """
    if plan.k == 1 and (plan.refine is not None or plan.yardstick == "expected_cost"):
        return True
    if plan.refine == "latent":
        return any(r.expected_cost == 0 for r in run.history if r.stage != "latent")
    return _rank(plan, run) == 0


def _asked_to_stop(stage: Stage, history: list[Round], centers: Centers) -> bool:
    labels = _labels_of_round(stage.store, centers, stage.comparison)
    state = RoundState(**vars(history[-1]), run=stage.run, round=len(history) - 1, labels=labels)
    answers = [callback(state) for callback in stage.plan.on_round]
    return any(isinstance(answer, (bool, np.bool_)) and bool(answer) for answer in answers)


def _labels_of_round(
    store: RowStore, centers: Centers, comparison: Comparison
) -> Callable[[], NDArray[np.int32]]:
    """Return a function that finds the labels of a round: at any later time, from any thread."""
    fitting_thread = get_ident()

    def labels() -> NDArray[np.int32]:
        # What the store remembers may be changing under another thread's hands.
        return store.labels(centers, comparison, remember=get_ident() == fitting_thread)

    return labels
