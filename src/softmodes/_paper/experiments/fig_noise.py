"""Corrupted codewords among uniform rows: accuracy against the number of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from softmodes._figures import GREY
from softmodes._paper.experiment import Claim, Experiment
from softmodes._paper.judging import judge_each_t_against, with_reason
from softmodes._paper.plots import (
    accuracy_with_bars,
    draw_lines_by_k,
    legend_above_all,
    many_panels,
)
from softmodes._paper.recipe import IN_FIGURES, cases_on, codewords, k_means
from softmodes._paper.summary import Found
from softmodes._paper.tables import table_of_all_results
from softmodes.datasets import ccm_best_accuracy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHARES_OF_NOISE = (0.1, 0.5, 0.9)


def _accuracy_by_k_and_noise(found: Found) -> Figure:
    shares = sorted({d["noise"] for d in found.data()})
    figure, panels = many_panels(1, len(shares), (3.3 * len(shares), 3.4))
    for axes, rho in zip(panels[0], shares, strict=True):
        data = [d for d in found.data() if d["noise"] == rho]
        draw_lines_by_k(axes, found, data, accuracy_with_bars)
        k = sorted({d.n_clusters for d in data})
        axes.plot(
            k,
            [ccm_best_accuracy(i, rho) for i in k],
            color=GREY,
            linestyle="--",
            linewidth=1,
            label="best possible",
        )
        axes.set_title(f"rho = {rho:g}")
        axes.set_ylim(bottom=0)
    panels[0, 0].set_ylabel("accuracy")
    legend_above_all(figure, panels)
    return figure


EXPERIMENT = Experiment(
    id="fig-noise",
    title="Corrupted codewords with noise: accuracy against k",
    setting=(
        "eps = 0.2, a share rho of uniform rows with uniform labels, k-means++ seeds, drawn once a "
        "run and given to all algorithms. The best possible accuracy is rho/k + 1 - rho."
    ),
    full=cases_on(
        (
            codewords(100_000, 500, k, 0.2, rho)
            for rho in _SHARES_OF_NOISE
            for k in (50, 200, 1_000, 5_000)
        ),
        (*IN_FIGURES, k_means(cap=15.0)),
        runs=10,
    ),
    small=cases_on(
        (codewords(5_000, 200, k, 0.2, rho) for rho in _SHARES_OF_NOISE for k in (10, 50)),
        (*IN_FIGURES, k_means(cap=20.0)),
        runs=2,
    ),
    seeding="d1-greedy",
    shared_seeds=True,
    claims=(
        Claim(
            "SoftModes is highest for every rho",
            with_reason(
                judge_each_t_against("k-means", "k-modes"),
                "the t, which the paper does not name: uniform rows in a cluster bring all shares "
                "nearer to one half, and only a sharp rounding still tells them apart",
            ),
        ),
    ),
    figures={"noise": _accuracy_by_k_and_noise},
    tables=(table_of_all_results,),
)
