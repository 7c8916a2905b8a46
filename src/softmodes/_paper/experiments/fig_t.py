"""Corrupted codewords, much corrupted: accuracy against t."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from softmodes._figures import BLUE
from softmodes._paper.experiment import Claim, Experiment
from softmodes._paper.experiments.fig_convergence import FEW_CODEWORDS, MANY_CODEWORDS
from softmodes._paper.judging import (
    FAILS,
    HOLDS,
    NOT_RUN,
    Answer,
    judge_each_t_against,
    with_reason,
)
from softmodes._paper.plots import (
    COLORS,
    error_bars,
    label_accuracy,
    legend_above,
    one_panel,
)
from softmodes._paper.recipe import GRID_OF_T, cases_on, soft_modes
from softmodes._paper.summary import Found, mean_and_spread
from softmodes._paper.tables import table_of_all_results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FLAT = 0.03


def _judge_threshold(found: Found) -> Answer:
    """Judge whether there is a t, not the last, from which on all means are about the same."""
    data = found.data()[0]
    ours = [series for t in found.finite_t() if (series := found.get(data, "softmodes", t))]
    if len(ours) < 3:
        return Answer(NOT_RUN, "fewer than three values of t")
    means = [series.mean() for series in ours]
    flat = next(i for i in range(len(means)) if max(means[i:]) - min(means[i:]) <= _FLAT)
    verdict = HOLDS if flat < len(ours) - 1 else FAILS
    numbers = ", ".join(f"t = {s.algorithm.t:g}: {mean_and_spread(s)}" for s in ours)
    first = f"from t = {ours[flat].algorithm.t:g} on all means are within {_FLAT}"
    return Answer(verdict, f"{first}. {numbers}")


def _accuracy_by_t(found: Found) -> Figure:
    figure, axes = one_panel()
    ours = [s for s in found.series if s.algorithm.name == "softmodes"]
    axes.errorbar(
        [s.algorithm.t for s in ours],
        [s.mean() for s in ours],
        yerr=error_bars(ours),
        color=BLUE,
        marker="o",
        markersize=4,
        capsize=2,
        label="SoftModes(t)",
    )
    for k_modes in found.series_of("k-modes"):
        low, high = k_modes.mean() - k_modes.std(), k_modes.mean() + k_modes.std()
        axes.axhspan(low, high, color=COLORS["k-modes"], alpha=0.1, linewidth=0)
        axes.axhline(
            k_modes.mean(),
            color=COLORS["k-modes"],
            linestyle="--",
            linewidth=1,
            label="k-modes (t = inf)",
        )
    axes.set_xscale("log")
    ticks = [t for t in (1, 1.5, 2, 3, 5, 7, 10) if any(s.algorithm.t == t for s in ours)]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("t")
    label_accuracy(axes)
    legend_above(axes, 2)
    return figure


EXPERIMENT = Experiment(
    id="fig-t",
    title="Corrupted codewords: accuracy against t",
    setting="The data and seeds of fig-convergence.",
    full=cases_on([MANY_CODEWORDS], tuple(map(soft_modes, GRID_OF_T)), runs=10),
    small=cases_on(
        [FEW_CODEWORDS], tuple(map(soft_modes, (1.0, 1.5, 3.0, 5.0, 10.0, math.inf))), runs=5
    ),
    shared_seeds=True,
    joinable=False,
    claims=(
        Claim("Beyond a threshold accuracy does not depend on t", _judge_threshold),
        Claim(
            "SoftModes is never below k-modes",
            with_reason(
                judge_each_t_against("k-modes", level_is_enough=True),
                "the claim: below the threshold drawn centers lose codewords that are so much "
                "corrupted; with a larger t SoftModes tends to k-modes, and is level with it",
            ),
        ),
    ),
    figures={"t": _accuracy_by_t},
    tables=(table_of_all_results,),
)
