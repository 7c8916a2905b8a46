"""The runs of a cell: how many, how often repeated, and what of them is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes._compare.cells import AGAIN_FITS, EQUAL_TIME, Cell, Clock, Limits
from softmodes._compare.fitting import Fit, Fitting
from softmodes._compare.measures import against_classes, agreements
from softmodes._compare.tables import ReadyTable

RunRecord: TypeAlias = dict[str, Any]  # what the journal holds of a run


def several(
    one: Callable[[int, float], tuple[Any, Fit | None]], most: int, limits: Limits, least: int = 1
) -> list[Any]:
    """Return what `one(number, seconds left)` returns for 0, 1, ..., at least one, in the limits.

    It returns a result and its fit; None for a fit that took no time. With fewer than `least` there
    is nothing to tell: they have the time that the limits allow to those.
    """
    results: list[Any] = []
    spent, made = 0.0, 0
    while len(results) < most:
        is_needed = len(results) < least
        usual, left = spent / made if made else 0.0, limits.seconds_left(spent, is_needed)
        is_slow = usual > limits.slow_seconds and len(results) >= limits.slow_runs
        if results and (usual > left or (is_slow and not is_needed)):
            break
        result, fit = one(len(results), left)
        if fit is not None:
            if results and fit.out_of_time:
                break
            spent, made = spent + fit.wall, made + 1
        results.append(result)
        if fit is not None and fit.out_of_time:
            break
    return results


def runs_of(cell: Cell, table: ReadyTable, threads: int) -> dict[str, Any]:
    """Return the runs of a cell with so many restarts."""
    fitting = Fitting(cell.contender, table, threads)
    restarts = cell.setting.restarts or 1

    def one(run: int, seconds: float) -> tuple[RunRecord, Fit]:
        seed = cell.run_seed(run)
        fit = fitting.fit(seed, restarts, seconds=seconds)
        return _record(seed, fit, table.classes), fit

    with _threads(threads):
        runs = several(one, cell.limits.runs if cell.contender.is_random else 1, cell.limits)
    return {"runs": runs, "encoding": fitting.encoding_seconds}


def equal_time_runs_of(
    cell: Cell, table: ReadyTable, threads: int, budget: float, first: list[RunRecord]
) -> dict[str, Any]:
    """Return runs that each restart the contender for as long as the budget lasts.

    `first` are the runs of one restart: each is the first attempt of a run here. Where the method
    takes a number of restarts itself, later attempts have as many as there is time for.
    """
    fitting = Fitting(cell.contender, table, threads)

    def one(run: int, seconds: float) -> tuple[RunRecord, Fit | None]:
        def attempt(number: int, restarts: int) -> Fit:
            return fitting.fit(cell.run_seed(run, number), restarts, seconds=seconds)

        encoding, at_once = fitting.encoding_seconds, cell.contender.restarts
        best, new = repeated(first[run], attempt, budget, encoding, cell.limits.clock, at_once)
        if best.labels is not None:
            kept = _record(cell.run_seed(run), best, table.classes)
        else:
            kept = dict(first[run])
        spent, restarts = first[run]["wall"] + new.wall, 1 + new.restarts
        kept |= {"wall": spent, "cpu": first[run]["cpu"] + new.cpu, "attempts": restarts}
        return kept, Fit(None, wall=new.wall) if new.attempts else None

    with _threads(threads):
        runs = several(one, min(cell.limits.runs, len(first)), cell.limits)
    told = {"budget": budget, "clock": cell.limits.clock}
    return {"runs": runs, "encoding": fitting.encoding_seconds, **told}


@dataclass
class Repeated:
    """What attempts after the first took together; encoding counts once, with the first."""

    wall: float = 0.0
    cpu: float = 0.0
    attempts: int = 0
    restarts: int = 0  # of all attempts together

    def add(self, fit: Fit, encoding: float, restarts: int) -> None:
        """Count an attempt."""
        self.wall += max(0.0, fit.wall - encoding)
        self.cpu += max(0.0, fit.cpu - encoding)
        self.attempts += 1
        self.restarts += restarts


def repeated(
    first: RunRecord,
    attempt: Callable[[int, int], Fit],
    budget: float,
    encoding: float,
    clock: Clock = "wall",
    at_once: bool = False,
) -> tuple[Fit, Repeated]:
    """Repeat while another restart is expected to fit into the budget, the first included.

    A restart is expected to take as long as those before it on average; all that fit are made
    `at_once`, or one by one. Returns the attempt of the lowest objective, without labels if that
    is the first, and what was added to the first. A method that does not tell its objective is not
    repeated: there would be nothing to choose by.
    """
    best, more = Fit(None, first.get("objective")), Repeated()
    if best.objective is None and "error" not in first:
        return best, more
    spent = first[clock]
    while (fitting := _restarts_left(budget - spent, spent - encoding, 1 + more.restarts)) > 0:
        restarts = fitting if at_once else 1
        fit = attempt(1 + more.attempts, restarts)
        more.add(fit, encoding, restarts)
        spent = first[clock] + getattr(more, clock)
        if fit.objective is None:
            continue
        if best.objective is None or fit.objective < best.objective:
            best = fit
    return best, more


def _restarts_left(left: float, spent: float, made: int) -> int:
    """Return how many restarts fit into the time that is left, by the time of those made."""
    return int(left * made / max(spent, 1e-6)) if left > 0 else 0


def same_again_of(cell: Cell, table: ReadyTable, threads: int) -> dict[str, Any]:
    """Return how much fits with other seeds on other parts of the rows agree."""
    fitting = Fitting(cell.contender, table, threads)
    restarts = cell.setting.restarts or 1
    partitions: list[tuple[NDArray[np.intp], NDArray[np.intp] | None]] = []

    def one(number: int, seconds: float) -> tuple[RunRecord, Fit]:
        rows, seed = cell.again_rows(number, fitting.n_rows), cell.again_seed(number)
        fit = fitting.fit(seed, restarts, rows, seconds)
        partitions.append((rows, fit.labels))
        return _timing(seed, fit), fit

    limits = replace(cell.limits, slow_runs=AGAIN_FITS)  # slow fits are no fewer, but in time
    with _threads(threads):
        fits = several(one, AGAIN_FITS, limits, least=2)
    pairs = agreements(partitions[: len(fits)], fitting.n_rows)
    return {"fits": fits, "agreements": pairs, "encoding": fitting.encoding_seconds}


def measured(
    cell: Cell, table: ReadyTable, threads: int, budget: float, first: list[RunRecord]
) -> dict[str, Any]:
    """Return what a cell has found; budget and first runs count at equal time only."""
    if cell.what == "same again":
        return same_again_of(cell, table, threads)
    if cell.setting == EQUAL_TIME:
        return equal_time_runs_of(cell, table, threads, budget, first)
    return runs_of(cell, table, threads)


def _record(seed: int, fit: Fit, classes: NDArray[np.intp]) -> RunRecord:
    if fit.labels is None:
        return _timing(seed, fit)
    return _timing(seed, fit) | {"objective": fit.objective, **against_classes(classes, fit.labels)}


def _timing(seed: int, fit: Fit) -> RunRecord:
    failed = {} if fit.error is None else {"error": fit.error}
    return {"seed": seed, "wall": round(fit.wall, 6), "cpu": round(fit.cpu, 6), **failed}


@contextmanager
def _threads(n_threads: int) -> Iterator[None]:
    """Give numerical libraries so many threads."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(n_threads):
        yield
