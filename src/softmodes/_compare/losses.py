"""Where our default loses to a rival, and what the results say of why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from softmodes._compare.cells import ONCE
from softmodes._compare.contenders import DEFAULT
from softmodes._compare.summary import MARGIN, CellResult, Summary

STEP_MIX = "StepMix"
_AGAINST = -0.3  # a correlation below which our objective leads away from the classes


@dataclass(frozen=True)
class Loss:
    """A table on which the best rival is above our default, with what may explain it.

    Attributes
    ----------
    table
        Its name.
    ours, theirs, best
        Mean ARI of our default, of the best rival, and who that is.
    rivals_above
        How many rivals are above us.
    by_chance
        Whether the difference is within two standard errors over the runs.
    others
        Mean ARI of the other methods here.
    lowest
        ARI of our run with the lowest objective, of all that were made.
    points
        Rank correlation, over our runs of one restart, of ARI and how low the objective is; NaN if
        all runs are alike.
    """

    table: str
    ours: float
    theirs: float
    best: str
    rivals_above: int
    by_chance: bool
    others: Mapping[str, float]
    lowest: float
    points: float

    @property
    def gap(self) -> float:
        """How far the best rival is above us."""
        return self.theirs - self.ours

    @property
    def reading(self) -> str:
        """What the numbers say, in a few words."""
        reached = [name for name, ari in self.others.items() if ari >= self.theirs - MARGIN]
        if self.by_chance:
            return "within the spread of the runs"
        if self.lowest >= self.theirs - MARGIN:
            return "search: our run of the lowest objective reaches it"
        if reached:
            told = f"objective: reached by {', '.join(reached)}"
        elif self.best == STEP_MIX:
            told = "the same model from other starts, without a prior"
        else:
            told = "no method here reaches it"
        if self.points < _AGAINST:
            told += "; the lower our objective, the lower our ARI"
        return told


def losses(summary: Summary) -> list[Loss]:
    """Return the tables on which a rival is above our default by more than chance, worst first."""
    found = [loss for table in summary.tables if (loss := _loss(summary, table))]
    return sorted(found, key=lambda loss: -loss.gap)


def _loss(summary: Summary, table: str) -> Loss | None:
    rivals = _cells(summary, table, "rival")
    ours = summary.cell(table, DEFAULT, summary.many)
    if ours is None or not rivals:
        return None
    means = {name: cell.mean("ari") for name, cell in rivals.items()}
    best = max(means, key=means.__getitem__)
    if means[best] - ours.mean("ari") <= MARGIN:
        return None
    here = {name: cell for name, cell in _cells(summary, table, "here").items() if name != DEFAULT}
    return Loss(
        table=table,
        ours=ours.mean("ari"),
        theirs=means[best],
        best=best,
        rivals_above=sum(mean > ours.mean("ari") + MARGIN for mean in means.values()),
        by_chance=means[best] - ours.mean("ari")
        <= 2 * math.hypot(ours.standard_error("ari"), rivals[best].standard_error("ari")),
        others={name: cell.mean("ari") for name, cell in here.items()},
        lowest=_ari_of_lowest_objective(summary, table),
        points=_correlation(summary.cell(table, DEFAULT, ONCE.name)),
    )


def _cells(summary: Summary, table: str, side: str) -> dict[str, CellResult]:
    return {
        name: cell
        for name, about in summary.contenders.items()
        if about["side"] == side and (cell := summary.cell(table, name, summary.many))
    }


def _ari_of_lowest_objective(summary: Summary, table: str) -> float:
    cells = [summary.cell(table, DEFAULT, setting) for setting in summary.settings]
    runs = [run for cell in cells if cell for run in cell.with_objective]
    lowest = min(runs, key=lambda run: float(run["objective"]), default=None)
    return math.nan if lowest is None else float(lowest["ari"])


def _correlation(cell: CellResult | None) -> float:
    """Return the rank correlation of ARI and minus the objective over the runs of a cell."""
    from scipy.stats import spearmanr

    runs = cell.with_objective if cell else []
    aris = np.round([run["ari"] for run in runs], 6)
    low = -np.array([run["objective"] for run in runs])
    if len(np.unique(aris)) < 2 or len(np.unique(low)) < 2:
        return math.nan
    return float(spearmanr(aris, low).statistic)
