"""How a fit went: what each round costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

from softmodes._figures import BLUE, DARK_BLUE, ORANGE, RED
from softmodes.plots._base import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STAGES = {
    "modes": (ORANGE, "o", "rounds of drawn centers"),
    "gini": (BLUE, "s", "finish: shares (gini)"),
    "latent": (DARK_BLUE, "D", "finish: latent classes"),
}


class HistoryDisplay(Display):
    """The expected mismatches of a row after every round of the chosen run, by stage.

    The ring is the round that is the result.

    Parameters
    ----------
    cost : sequence of float
        The expected mismatches of a row, by round.
    stage : sequence of {"modes", "gini", "latent"}
        The stage of each round.
    best_round : int
        The round that is the result, from 0.

    Attributes
    ----------
    ax_, figure_
        Axes and figure, once drawn.

    Examples
    --------
    >>> from softmodes import SoftModes
    >>> from softmodes.datasets import load_zoo
    >>> from softmodes.plots import HistoryDisplay
    >>> model = SoftModes(4, random_state=0).fit(load_zoo().data)
    >>> display = HistoryDisplay.from_estimator(model)
    """

    def __init__(self, cost: Sequence[float], stage: Sequence[str], best_round: int) -> None:
        self.cost = list(cost)
        self.stage = list(stage)
        self.best_round = best_round

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the rounds of a fitted model.

        Parameters
        ----------
        estimator : SoftModes, KModes or MiniBatchSoftModes
            A fitted model.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        HistoryDisplay
            The drawn display.
        """
        check_is_fitted(estimator)
        n_rows = float(sum(estimator.cluster_sizes_))
        cost = [round_.expected_cost / n_rows for round_ in estimator.history_]
        stage = [round_.stage for round_ in estimator.history_]
        return cls(cost, stage, estimator.best_round_).plot(ax)

    def _draw(self, ax: Axes) -> None:
        rounds = range(len(self.cost))
        ax.plot(rounds, self.cost, color="#c8c8c8", linewidth=1, zorder=1)
        for stage, (color, marker, label) in _STAGES.items():
            own = [i for i in rounds if self.stage[i] == stage]
            if own:
                costs = [self.cost[i] for i in own]
                ax.plot(own, costs, marker, color=color, markersize=5, label=label, zorder=2)
        ring: dict[str, Any] = {"markerfacecolor": "none", "markeredgewidth": 1.6, "markersize": 13}
        best = self.best_round
        ax.plot([best], [self.cost[best]], "o", color=RED, label="result", zorder=3, **ring)
        ax.set_xlabel("round")
        ax.set_ylabel("expected mismatches of a row")
        ax.locator_params(axis="x", integer=True)
        ax.margins(y=0.12)
        ax.legend(loc="upper right")
