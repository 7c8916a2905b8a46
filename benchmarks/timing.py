"""Timing on a shared machine: alternate, repeat, take the minimum, wall and CPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """Least wall time, and the CPU time of that repeat, in seconds."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall * 1e3:.1f} ms ({self.cpu * 1e3:.1f} cpu)"


def alternate(
    tasks: Mapping[str, Callable[[], object]], repeats: int, enough: float = 20.0
) -> dict[str, Timing]:
    """Run the tasks in turn `repeats` times, or until `enough` seconds have passed."""
    best: dict[str, Timing] = {}
    start = time.perf_counter()
    for repeat in range(repeats):
        for name, task in tasks.items():
            wall, cpu = time.perf_counter(), time.process_time()
            task()
            timing = Timing(time.perf_counter() - wall, time.process_time() - cpu)
            best[name] = min(best.get(name, timing), timing, key=lambda t: t.wall)
        if repeat >= 1 and time.perf_counter() - start > enough:
            break
    return best
