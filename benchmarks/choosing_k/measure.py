"""A sweep of one table as a record: all statistics, agreement with the truth, and the time."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from benchmarks.choosing_k.families import Planted
from softmodes import SoftModes
from softmodes._choice.chain import Level, Levels, chain
from softmodes._choice.fits import Fits
from softmodes._choice.measure import Effort, measure
from softmodes._choice.rule import Statistics, choose
from softmodes._choice.samples import mean_agreement
from softmodes._choice.sweeping import first_plan
from softmodes._model.parts import part_size
from softmodes._rows.stores import open_store
from softmodes.metrics import ari

Record: TypeAlias = dict[str, Any]
LABELLED = "labelled"


class Labelled(Protocol):
    """A table with known classes."""

    name: str
    role: str
    X: Any
    y: Any


def measure_planted(table: Planted, levels: Levels = chain, n_init: int = 3) -> Record:
    """Return the record of a planted table; agreement is on the rows that are no noise."""
    model = SoftModes(missing=table.missing, random_state=table.seed, n_jobs=1)
    found = _measured(table.X, table.range_end, model, levels, n_init)
    return {
        "name": table.name,
        "family": table.family,
        "seed": table.seed,
        "kind": table.kind,
        "k": table.k,
        "noise": round(table.noise, 3),
        "n": len(table.X),
        "d": table.X.shape[1],
        **found.record(table.y, table.y >= 0),
    }


def measure_labelled(table: Labelled, most: int = 12) -> Record:
    """Return the record of a table with known classes, which need not be its groups."""
    y = np.asarray(table.y)
    n, k = len(y), len(set(y.tolist()))
    model = SoftModes(random_state=0, n_jobs=1)
    found = _measured(table.X, min(max(most, k + 2), part_size(n)), model, chain, 3)
    return {
        "name": table.name,
        "kind": LABELLED,
        "role": table.role,
        "k": k,
        "n": n,
        **found.record(y, np.ones(n, bool)),
    }


@dataclass(frozen=True)
class Measured:
    """What is known of every k, and the model that a user gets for the pick."""

    statistics: tuple[Statistics, ...]
    levels: tuple[Level, ...]
    model: SoftModes | None
    seconds: float

    def record(self, y: Any, signal: Any) -> Record:
        """Return all that is kept; agreement with known classes is on some of the rows."""
        choice = asdict(choose(self.statistics))
        labels = None if self.model is None else self.model.labels_[signal]
        return {
            "seconds": round(self.seconds, 4),
            "choice": choice,
            "statistics": [
                {name: _short(number) for name, number in asdict(row).items()}
                for row in self.statistics
            ],
            "ari": [round(ari(y[signal], level.labels[signal]), 4) for level in self.levels],
            "model_ari": None if labels is None else round(ari(y[signal], labels), 4),
        }


def _measured(X: Any, most: int, model: SoftModes, levels: Levels, n_init: int) -> Measured:
    """Sweep a table; fits from other seeds are made only where they decide.

    That is for one k after the other that would be picked, until one is. The shuffled table decides
    nothing, and is left out.
    """
    start = time.process_time()
    opened = open_store(X, missing=model.missing)
    fits = Fits(model, opened, None)
    plan = first_plan(model, opened, most, n_init)
    statistics, found = measure(opened, plan, most, Effort(shuffle=False, levels=levels))
    while (pick := choose(statistics).pick) and math.isnan(statistics[pick - 1].same_again):
        again = mean_agreement([found[pick - 1].labels, *fits.two_labels(pick)])
        judged = replace(statistics[pick - 1], same_again=again)
        statistics = (*statistics[: pick - 1], judged, *statistics[pick:])
    best = None if pick is None else fits.of(pick)
    return Measured(statistics, found, best, time.process_time() - start)


def _short(number: float) -> float | int | None:
    if isinstance(number, int):
        return number
    return None if np.isnan(number) else float(f"{number:.7g}")
