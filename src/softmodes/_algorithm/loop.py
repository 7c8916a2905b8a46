"""THE loop: pass over the rows -> next centers -> until nothing moves; restarts around it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from threading import get_ident
from typing import Any

import numpy as np

from softmodes._algorithm.cost import modes_cost
from softmodes._algorithm.draw import Draw
from softmodes._algorithm.merging import merged
from softmodes._algorithm.plan import Plan, Round, RoundState, Run, StageName
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
from softmodes._rows.clusters import Clusters, feature_scale, row_scale
from softmodes._rows.stores.base import RowStore
from softmodes._rows.tally import SoftTally, Tally
from softmodes.rounding import plurality

# What a round takes of the allowance, at most: that of a latent one whose rows belong to all
# clusters takes 1.
_COSTS: dict[StageName, float] = {"modes": 1 / 8, "gini": 1 / 4, "latent": 1}
_WORTH_IT = 20  # rounds for a finalist
_FEWEST_MODES = 10  # rounds of drawn centers of a start that is refined


def best_run(store: RowStore, plan: Plan) -> Run:
    """Run `n_init` times and return the best run, the first among equals.

    With refinement the starts are raced: only the best of them are finished, or the best one, with
    which the others are crossed. No run is begun once the allowance is spent, of which starts have
    one half.
    """
    fit = Fit(store, plan)
    best: list[Run] = []
    stopped, spent = False, 0.0
    for run in starts(fit):
        best = sorted([*best, run], key=lambda run: _rank(plan, run))
        best = best[: plan.crossed or plan.finalists]
        stopped, spent = run.stopped, spent + _spent(run.history)
        if spent >= plan.allowance / 2:
            break
    if not stopped:
        left = plan.allowance - spent
        best = _crossed(fit, best, left) if plan.crossed else _finished(fit, best, left)
    return _settled(fit, min(best, key=lambda run: _rank(plan, run)))


def run_once(store: RowStore, plan: Plan, index: int) -> Run:
    """Make one run from its seeds to its end."""
    fit = Fit(store, plan)
    return _settled(fit, _finish(fit, _start(fit, index)))


def run_from(fit: Fit, tally: Tally, drawn: CodeCenters, index: int) -> Run:
    """Make a latent finish of a partition that is given by its counts: it needs no seeds."""
    before = _given(fit, tally, drawn, index)
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
    """Make the rounds of drawn centers, and the first ones of the finish.

    A run is handed over to the stage that goes on with it, so that its counts are gone when the
    second round of that stage is counted: with few rows for each value they take most memory.
    """
    wide = fit.with_spare
    runs = [_go_on(Modes(wide, index, _modes_rounds(fit.plan)), None)]
    if _has_gini_rounds(fit.plan, runs[0]) and not runs[0].stopped:
        runs.append(_go_on(Gini(wide, index, FIRST_GINI_ROUNDS), runs.pop()))
    runs.append(_without_spare(fit, runs.pop()))
    if fit.plan.refine == "latent" and not runs[0].stopped:
        runs.append(_go_on(Latent(fit, index, _first_latent_rounds(fit)), runs.pop()))
    return runs.pop()


def _modes_rounds(plan: Plan) -> int:
    """Return how many rounds of drawn centers a start makes at most.

    Those of a start that is refined take no more than what all starts have of the allowance.
    """
    if plan.refine is None:
        return plan.max_iter
    allowed = max(plan.allowance / 2 / _COSTS["modes"], _FEWEST_MODES)
    return int(min(plan.max_iter, allowed))


def _has_gini_rounds(plan: Plan, run: Run) -> bool:
    """Tell whether a start goes on to lower the expected cost.

    Where that cannot be, a finish by "gini" needs a round for its prices, and "latent" none.
    """
    may_fall = plan.k > 1 and run.chosen.expected_cost > 0
    return plan.refine == "gini" or (plan.refine == "latent" and may_fall)


def _without_spare(fit: Fit, run: Run) -> Run:
    """Merge what a start has more than asked for.

    What a run keeps that was stopped is the partition of its centers.
    """
    if not fit.plan.spare:
        return run
    run = replace(_merged(fit, run, fit.plan.spare), stopped=run.stopped)
    if run.stopped:
        stage = Modes(fit, run.index, 1)
        tally = stage.tally(run.drawn)
        history = (*run.history[:-1], stage.measure(run.drawn, tally, None))
        run = replace(run, tally=tally, history=history)
    return run


def _merged(fit: Fit, run: Run, n_times: int) -> Run:
    """Merge the two clusters that cost the least, so many times."""
    assert isinstance(run.tally, Tally)
    weight, scale = feature_scale(fit.plan.feature_weight), row_scale(fit.store, fit.plan.row_unit)
    clusters = Clusters(run.tally.counts, run.tally.cluster_sizes, scale, weight)
    tally, drawn = merged(run.tally, run.drawn, clusters, n_times)
    return _given(fit, tally, drawn, run.index, run.history)


def _given(
    fit: Fit, tally: Tally, drawn: CodeCenters, index: int, history: tuple[Round, ...] = ()
) -> Run:
    """Return a run that goes on with a partition that no pass has found."""
    given = Gini(fit, index, 1).measure(drawn, tally, None)
    return Run(index, drawn, drawn, tally, (*history, given), len(history))


def _first_latent_rounds(fit: Fit) -> int:
    """Return how many latent rounds a start makes: one if there is nothing to look for.

    Of one column any partition makes a latent class model of the same likelihood.
    """
    return 1 if fit.store.layout.n_features == 1 else FIRST_LATENT_ROUNDS


def _spent(rounds: Iterable[Round]) -> float:
    """Return what rounds take of the allowance."""
    return sum(_COSTS[round_.stage] for round_ in rounds)


def _affordable(rounds: int, left: float) -> int:
    """Return how many of so many latent rounds what is left allows; a few in any case."""
    return int(min(rounds, max(left, FIRST_LATENT_ROUNDS)))


def _finish(fit: Fit, run: Run, left: float = math.inf) -> Run:
    """Make the other rounds of the finish, until nothing moves or nothing is left."""
    if run.stopped or run.converged or fit.plan.refine is None:
        return run
    if fit.plan.refine == "latent" and fit.store.layout.n_features == 1:
        return run
    if fit.plan.refine == "gini":
        return _go_on(Gini(fit, run.index, fit.plan.max_iter), run)
    rounds = _affordable(fit.plan.latent_rounds - FIRST_LATENT_ROUNDS, left)
    return _go_on(Latent(fit, run.index, rounds), run)


def _finished(fit: Fit, best: list[Run], left: float) -> list[Run]:
    """Finish the best starts, in the order in which they were made; fewer if little is left."""
    best = best[: int(max(1, min(left / _WORTH_IT, len(best))))]
    finished: list[Run] = []
    for run in sorted(best, key=lambda run: run.index):
        stopped = bool(finished) and finished[-1].stopped
        finished.append(run if stopped else _finish(fit, run, left / len(best)))
    return finished


def _crossed(fit: Fit, best: list[Run], left: float) -> list[Run]:
    """Finish the best start, and let the others challenge it: each crossed with the best so far."""
    champion = _finish(fit, best[0], left)
    left -= _spent(champion.history[len(best[0].history) :])
    for other in best[1:]:
        if champion.stopped or left <= 0:
            break
        child = _cross(fit, champion, other, left)
        left -= _spent(child.history[len(champion.history) :])
        champion = min(champion, child, key=lambda run: _rank(fit.plan, run))
        champion = replace(champion, stopped=child.stopped)
    return [champion]


def _cross(fit: Fit, run: Run, other: Run, left: float) -> Run:
    """Go on with the clusters of two runs: rows choose among all of them, then they are merged.

    Where one run has split a group and the other one has not, merging puts it together again.
    """
    both = _partition(fit, run).beside(_partition(fit, other))
    drawn = CodeCenters(np.concatenate([run.drawn.codes, other.drawn.codes]))
    begun = replace(run, centers=drawn, drawn=drawn, tally=both)
    chosen = _go_on(Gini(fit.with_twice, run.index, FIRST_GINI_ROUNDS), begun)
    if chosen.stopped:
        return replace(run, stopped=True)
    rounds = _affordable(fit.plan.latent_rounds, left)
    return _go_on(Latent(fit, run.index, rounds), _merged(fit, chosen, fit.plan.k))


def _partition(fit: Fit, run: Run) -> Tally:
    """Return the tally of the partition that a run has come to."""
    if isinstance(run.tally, Tally):
        return run.tally
    return fit.store.tally(run.centers, fit.plan.comparison(run.index))


def _settled(fit: Fit, run: Run) -> Run:
    """Return a run with the partition of its centers, and the modes of a refined one."""
    if isinstance(run.centers, CodeCenters):
        return run
    plan, tally = fit.plan, _partition(fit, run)
    soft = run.tally if isinstance(run.tally, SoftTally) else None
    modes = Draw(plurality, plan.seed, plan.row_unit, fit.store.n_threads)
    return replace(
        run,
        tally=replace(
            tally, cost=modes_cost(tally.counts, plan.feature_weight, fit.store.n_threads)
        ),
        drawn=modes(tally.counts, run.drawn, run.index, 0),
        soft=soft,
    )


def _go_on(stage: Stage, before: Run | None) -> Run:
    """Make the rounds of a stage, from the run so far."""
    history = list(before.history) if before else []
    n_before = len(history)
    chosen, last = before, before.tally if before else None
    centers = stage.first_centers(before)
    del before
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
        over = used_up or stage.out_of_patience(idle) or stage.leaves_nothing(latest)
        if at_rest or stopped or over:
            return replace(chosen, history=tuple(history), converged=at_rest, stopped=stopped)
        last = tally
        centers = stage.next_centers(centers, tally, len(history))


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
        sure = [r for r in run.history if r.stage != "latent" and r.clusters <= plan.k]
        return any(r.expected_cost == 0 for r in sure)
    return _rank(plan, run) == 0


def _asked_to_stop(stage: Stage, history: list[Round], centers: Centers) -> bool:
    if not stage.plan.on_round:
        return False
    labels = _labels_of_round(stage.store, centers, stage.comparison)
    state = RoundState(**vars(history[-1]), run=stage.run, round=len(history) - 1, labels=labels)
    answers = [callback(state) for callback in stage.plan.on_round]
    return any(isinstance(answer, (bool, np.bool_)) and bool(answer) for answer in answers)


def _labels_of_round(
    store: RowStore, centers: Centers, comparison: Comparison
) -> Callable[[], Any]:
    """Return a function that finds the labels of a round: at any later time, from any thread."""
    fitting_thread = get_ident()

    def labels() -> Any:
        # What the store remembers may be changing under another thread's hands.
        return store.labels(centers, comparison, remember=get_ident() == fitting_thread)

    return labels
