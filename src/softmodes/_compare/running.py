"""The runs of a cell: how many, how often repeated, and what of them is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes._compare.cells import AGAIN_FITS, Cell, Clock, Limits, Setting
from softmodes._compare.fitting import Fit, Fitting
from softmodes._compare.measures import against_classes, agreements
from softmodes._compare.tables import ReadyTable

RunRecord: TypeAlias = dict[str, Any]  # what the journal holds of a run


@dataclass(frozen=True)
class EqualTime:
    """The seconds that a contender has, and what it is known to make of them.

    `first` are its runs of one restart; `restarts` how many fit, by the runs of one and of many.
    None stands for a contender that is repeated instead.
    """

    budget: float
    first: tuple[RunRecord, ...]
    restarts: int | None = None


def restarts_that_fit(budget: float, once: float, many: float, n_many: int) -> int:
    """Return how many restarts fit into a budget, if one takes `once`, and `n_many` take `many`.

    Times vary: a further restart takes a tenth of the mean of many at least.

    Examples
    --------
    >>> restarts_that_fit(10.0, once=2.0, many=11.0, n_many=10)
    9
    >>> restarts_that_fit(1.9, once=2.0, many=11.0, n_many=10)
    1
    """
    another = max((many - once) / (n_many - 1), many / (10 * n_many))
    return 1 + max(0, int((budget - once) / another))


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
    cell: Cell, table: ReadyTable, threads: int, time: EqualTime
) -> dict[str, Any]:
    """Return runs that each restart the contender for as long as the budget lasts.

    A contender that takes a number of restarts gets as many as fit. Others are repeated, and the
    run of one restart is the first attempt of each run.
    """
    told = {"budget": time.budget, "clock": cell.limits.clock}
    if time.restarts is None:
        return repeated_runs_of(cell, table, threads, time) | told
    if time.restarts > 1:
        found = runs_of(replace(cell, setting=Setting(time.restarts)), table, threads)
    else:
        found = {"runs": list(time.first), "encoding": table.form(cell.contender.form)[1]}
    runs = [run | {"attempts": time.restarts} for run in found["runs"]]
    return found | {"runs": runs} | told


def repeated_runs_of(
    cell: Cell, table: ReadyTable, threads: int, time: EqualTime
) -> dict[str, Any]:
    """Return runs that are attempts, repeated for as long as the budget lasts; the best is kept."""
    first, budget = time.first, time.budget
    fitting = Fitting(cell.contender, table, threads)

    def one(run: int, seconds: float) -> tuple[RunRecord, Fit | None]:
        def attempt(number: int) -> Fit:
            return fitting.fit(cell.run_seed(run, number), seconds=seconds)

        encoding = fitting.encoding_seconds
        best, new = repeated(first[run], attempt, budget, encoding, cell.limits.clock)
        if best.labels is not None:
            kept = _record(cell.run_seed(run), best, table.classes)
        else:
            kept = dict(first[run])
        spent, attempts = first[run]["wall"] + new.wall, 1 + new.attempts
        kept |= {"wall": spent, "cpu": first[run]["cpu"] + new.cpu, "attempts": attempts}
        return kept, Fit(None, wall=new.wall) if new.attempts else None

    with _threads(threads):
        runs = several(one, min(cell.limits.runs, len(first)), cell.limits)
    return {"runs": runs, "encoding": fitting.encoding_seconds}


@dataclass
class Repeated:
    """What attempts after the first took together; encoding counts once, with the first."""

    wall: float = 0.0
    cpu: float = 0.0
    attempts: int = 0

    def add(self, fit: Fit, encoding: float) -> None:
        """Count an attempt."""
        self.wall += max(0.0, fit.wall - encoding)
        self.cpu += max(0.0, fit.cpu - encoding)
        self.attempts += 1


def repeated(
    first: RunRecord,
    attempt: Callable[[int], Fit],
    budget: float,
    encoding: float,
    clock: Clock = "wall",
) -> tuple[Fit, Repeated]:
    """Repeat while another attempt is expected to fit into the budget, the first included.

    An attempt is expected to take as long as those before it on average. Returns the attempt of
    the lowest objective, without labels if that is the first, and what was added to the first. A
    method that does not tell its objective is not repeated: there would be nothing to choose by.
    """
    best, more = Fit(None, first.get("objective")), Repeated()
    if best.objective is None and "error" not in first:
        return best, more
    spent = first[clock]
    while spent + (spent - encoding) / (1 + more.attempts) <= budget:
        fit = attempt(1 + more.attempts)
        more.add(fit, encoding)
        spent = first[clock] + getattr(more, clock)
        if fit.objective is None:
            continue
        if best.objective is None or fit.objective < best.objective:
            best = fit
    return best, more


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
    cell: Cell, table: ReadyTable, threads: int, time: EqualTime | None = None
) -> dict[str, Any]:
    """Return what a cell has found, with the time that it has at equal time."""
    if cell.what == "same again":
        return same_again_of(cell, table, threads)
    if time is not None:
        return equal_time_runs_of(cell, table, threads, time)
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
