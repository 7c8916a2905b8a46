"""A sweep of one table as a record: all statistics, agreement with the truth, and the time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any, Protocol, TypeAlias

import numpy as np

from benchmarks.choosing_k.families import Planted
from softmodes._choice.chain import Levels, chain
from softmodes._choice.sweep import Sweep, sweep
from softmodes.metrics import ari

Record: TypeAlias = dict[str, Any]


class Labelled(Protocol):
    """A table with known classes."""

    name: str
    X: Any
    y: Any


def measure_planted(table: Planted, levels: Levels = chain, n_init: int = 3) -> Record:
    """Return the record of a planted table; agreement is on the rows that are no noise."""
    found, seconds = _timed_sweep(table.X, table.range_end, levels, n_init, table.seed)
    signal = table.y >= 0
    return {
        "name": table.name,
        "family": table.family,
        "seed": table.seed,
        "kind": table.kind,
        "k": table.k,
        "noise": round(table.noise, 3),
        "n": len(table.X),
        "d": table.X.shape[1],
        **_found(found, table.y[signal], signal, seconds),
    }


def measure_labelled(tables: Iterable[Labelled], most: int = 12) -> Iterator[Record]:
    """Yield a record for each table with known classes, which need not be its groups."""
    for table in tables:
        y = np.asarray(table.y)
        k = len(set(y.tolist()))
        found, seconds = _timed_sweep(table.X, max(most, k + 2), chain, 3, 0)
        yield {
            "name": table.name,
            "kind": "labelled",
            "k": k,
            "n": len(y),
            **_found(found, y, np.ones(len(y), bool), seconds),
        }


def _timed_sweep(X: Any, most: int, levels: Levels, n_init: int, seed: int) -> tuple[Sweep, float]:
    start = time.process_time()
    found = sweep(X, most, n_init=n_init, levels=levels, random_state=seed, n_jobs=1)
    return found, time.process_time() - start


def _found(found: Sweep, y: Any, signal: Any, seconds: float) -> Record:
    choice = asdict(found.choice) | {"verdict": str(found.choice.verdict)}
    return {
        "seconds": round(seconds, 4),
        "choice": choice,
        "statistics": [
            {name: _short(number) for name, number in asdict(row).items()}
            for row in found.statistics
        ],
        "ari": [round(ari(y, level.labels[signal]), 4) for level in found.levels],
    }


def _short(number: float) -> float | int | None:
    if isinstance(number, int):
        return number
    return None if np.isnan(number) else float(f"{number:.7g}")
