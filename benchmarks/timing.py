"""Timing on a shared machine: alternate, repeat, take the minimum, wall and CPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """Least wall and least CPU time of some repeats, in seconds; CPU time is of all threads."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{duration(self.wall)} ({duration(self.cpu)} CPU)"

    def least(self, other: Timing) -> Timing:
        return Timing(min(self.wall, other.wall), min(self.cpu, other.cpu))

    def times(self, factor: float) -> Timing:
        return Timing(self.wall * factor, self.cpu * factor)


def duration(seconds: float) -> str:
    """Return a time to read: three digits and a unit."""
    for unit, size in (("h", 3600.0), ("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 * size else f"{seconds:.0f} s"
    return f"{seconds * 1e6:.3g} µs" if seconds >= 1e-8 else "0"


def measure(task: Callable[[], object]) -> Timing:
    """Run a task once."""
    wall, cpu = time.perf_counter(), time.process_time()
    task()
    return Timing(time.perf_counter() - wall, time.process_time() - cpu)


def turn(task: Callable[[], object], least: float = 0.1) -> Timing:
    """Run a task until `least` seconds have passed, and return its least times."""
    start = time.perf_counter()
    best = measure(task)
    while time.perf_counter() - start < least:
        best = best.least(measure(task))
    return best


def alternate(
    tasks: Mapping[str, Callable[[], object]],
    repeats: int,
    enough: float = 20.0,
    around: Callable[[str], AbstractContextManager[object]] = lambda name: nullcontext(),
) -> dict[str, Timing]:
    """Run the tasks in turn `repeats` times, or twice and until `enough` seconds have passed.

    A short task runs several times in its turn: the iterations of a fit follow each other too, and
    find the rows where the last one left them. `around` gives the context, not timed, of a turn.
    """
    best: dict[str, Timing] = {}
    start = time.perf_counter()
    for repeat in range(repeats):
        for name, task in tasks.items():
            with around(name):
                timing = turn(task)
            best[name] = timing.least(best.get(name, timing))
        if repeat >= 1 and time.perf_counter() - start > enough:
            break
    return best
