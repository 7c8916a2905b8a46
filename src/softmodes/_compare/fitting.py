"""One fit of a contender: timed, limited, and its failure told."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes import baselines
from softmodes._compare.contenders import Contender
from softmodes._compare.tables import ReadyTable, some_rows
from softmodes._quiet import quiet
from softmodes.baselines import Outcome

_LONGEST_ERROR = 200


@dataclass(frozen=True, eq=False)
class Fit:
    """What a fit has found, in which time; labels are None, and the reason said, if it failed."""

    labels: NDArray[np.intp] | None
    objective: float | None = None
    wall: float = 0.0
    cpu: float = 0.0
    error: str | None = None
    out_of_time: bool = False


class Fitting:
    """Fits of a contender on a table, with so many threads."""

    def __init__(self, contender: Contender, table: ReadyTable, threads: int) -> None:
        self.contender, self.table, self.threads = contender, table, threads
        self.n_rows = len(table.classes)
        self.rows, self.encoding_seconds = table.form(contender.form)

    def fit(
        self,
        seed: int,
        restarts: int = 1,
        index: NDArray[np.intp] | None = None,
        seconds: float = float("inf"),
    ) -> Fit:
        """Fit all rows or some, within so many seconds; the time has that of encoding in it."""
        warm_up(self.contender.method)
        rows = self.rows if index is None else some_rows(self.rows, index)
        wall, cpu = time.perf_counter(), time.process_time()
        found, error, out_of_time = Outcome(None), None, False
        try:
            with _within(seconds), _measured():
                found = self._found(rows, seed, restarts)
        except _OutOfTime:
            error, out_of_time = f"no answer within {seconds:.0f} seconds", True
        except (Exception, SystemExit) as raised:  # a method must not end the comparison
            error = f"{type(raised).__name__}: {raised}"[:_LONGEST_ERROR]
        return Fit(
            labels=found.labels,
            objective=_finite(found.objective),
            wall=time.perf_counter() - wall + self.encoding_seconds,
            cpu=time.process_time() - cpu + self.encoding_seconds,
            error=error,
            out_of_time=out_of_time,
        )

    def _found(self, rows: Any, seed: int, restarts: int) -> Outcome:
        one = self.contender
        method = baselines.baseline(one.method)
        params = dict(one.params)
        if one.side == "here":
            params["n_jobs"] = self.threads
        if one.rule is not None:
            params |= one.rule(rows, self.table.n_clusters)
        k = self.table.n_clusters
        if one.restarts:
            return method.outcome(rows, k, seed, **{"n_init": restarts, **params})
        best = method.outcome(rows, k, seed, **params)
        for again in range(1, restarts):
            best = _better(best, method.outcome(rows, k, seed + again, **params))
        return best


def _better(best: Outcome, other: Outcome) -> Outcome:
    """Return the outcome of the lower objective; the first if there is none."""
    if best.objective is None or other.objective is None:
        return best
    return other if other.objective < best.objective else best


_TOY = [["a", "x"], ["a", "y"], ["b", "x"], ["b", "z"]] * 3


@cache
def warm_up(method: str) -> None:
    """Let a method import what it needs before its time counts."""
    with _measured():
        try:
            baselines.cluster(method, _TOY, 2, 0)
        except (Exception, SystemExit):
            return  # it will say so again where it counts


def check_params(contender: Contender, table: ReadyTable) -> None:
    """Refuse parameters that the method refuses, before anything is run.

    They are tried on a few rows; if refused there, on the table itself, which they may be made for.
    """
    if not contender.params or contender.why_not(len(table.classes)):
        return
    try:
        with _measured():
            baselines.cluster(contender.method, _TOY, 2, 0, **dict(contender.params))
    except (TypeError, ValueError):
        error = Fitting(contender, table, 1).fit(0).error
        if error is not None:
            raise ValueError(f"method={contender.name!r} is refused. {error}") from None


def _finite(objective: float | None) -> float | None:
    return objective if objective is not None and np.isfinite(objective) else None


@contextmanager
def _measured() -> Iterator[None]:
    """Hide what is said: that rounds ran out, or that clusters are fewer, shows in the measures."""
    with quiet(), np.errstate(all="ignore"):
        yield


class _OutOfTime(BaseException):
    """Not an Exception, so that no method catches it."""


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Stop what runs within after some seconds, where the system can."""
    here = threading.current_thread() is threading.main_thread()
    if not here or not hasattr(signal, "setitimer") or seconds == float("inf"):
        yield
        return

    def stop(*_: object) -> None:
        raise _OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
