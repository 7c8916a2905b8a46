"""Is each group found again in other rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from softmodes._figures import BLUE, DARK_BLUE, GREY, LIGHT_BLUE
from softmodes._model.stability import DISSOLVED, FOUND
from softmodes.plots._base import Display
from softmodes.plots._groups import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from softmodes._model.stability import Stability


class StabilityDisplay(Display):
    """How well each group is found again in other 80 % of the rows: a bar, and a dot for each part.

    Parameters
    ----------
    whole : float
        Mean agreement (ARI) of the whole partitions.
    by_cluster : sequence of float
        The mean best Jaccard coefficient of each cluster.
    jaccards : array of shape (n_resamples, n_clusters)
        Those of each part.
    names : sequence of str, optional
        What to call the clusters; by default their numbers.

    Attributes
    ----------
    ax_, figure_
        Axes and figure, once drawn.

    Examples
    --------
    >>> from softmodes import SoftModes
    >>> from softmodes.datasets import load_zoo
    >>> from softmodes.plots import StabilityDisplay
    >>> X = load_zoo().data
    >>> model = SoftModes(4, random_state=0).fit(X)
    >>> display = StabilityDisplay.from_estimator(model, X)
    """

    def __init__(
        self,
        whole: float,
        by_cluster: Any,
        jaccards: Any,
        *,
        names: Sequence[str] | None = None,
    ) -> None:
        self.whole = whole
        self.by_cluster = np.asarray(by_cluster, np.float64)
        self.jaccards = np.asarray(jaccards, np.float64)
        self.names = [str(i) for i in range(len(self.by_cluster))] if names is None else list(names)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Any = None, **options: Any) -> Self:
        """Measure and draw the stability of a fitted model.

        Parameters
        ----------
        estimator : SoftModes or KModes
            A fitted model.
        X : table
            The rows that it was fitted on.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        **options
            Of `stability`: n_resamples, sample_weight, max_rows, random_state.

        Returns
        -------
        StabilityDisplay
            The drawn display.
        """
        return cls.from_stability(estimator.stability(X, **options), ax=ax)

    @classmethod
    def from_stability(cls, stability: Stability, *, ax: Any = None) -> Self:
        """Draw what `stability` of a model returned.

        Parameters
        ----------
        stability : Stability
            What was measured.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        StabilityDisplay
            The drawn display.
        """
        names = [label_of(i, name) for i, name in enumerate(stability.names)]
        shown = cls(stability.whole, stability.by_cluster, stability.jaccards, names=names)
        return shown.plot(ax)

    def _draw(self, ax: Axes) -> None:
        places = np.arange(len(self.by_cluster))
        fine = np.nan_to_num(self.by_cluster) >= FOUND
        colors = [BLUE if is_fine else LIGHT_BLUE for is_fine in fine]
        ax.barh(places, np.nan_to_num(self.by_cluster), height=0.6, color=colors, zorder=2)
        spread = np.linspace(-0.22, 0.22, len(self.jaccards))[:, None]
        ax.plot(self.jaccards, places + spread, ".", color=DARK_BLUE, markersize=3, zorder=3)
        for limit, text, side in (
            (DISSOLVED, "dissolved \N{LEFTWARDS ARROW}", "right"),
            (FOUND, "\N{RIGHTWARDS ARROW} found again", "left"),
        ):
            ax.axvline(limit, color=GREY, linestyle="--", linewidth=0.9, zorder=4)
            ax.annotate(
                text,
                (limit, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(0, 2),
                textcoords="offset points",
                ha=side,
                fontsize=8,
            )
        ax.set_xlim(0, 1.02)
        ax.set_yticks(places, self.names)
        ax.invert_yaxis()
        ax.grid(False, axis="y")
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel("best overlap (Jaccard) with a group of other 80 % of the rows")
        ax.set_title(f"Whole: {self.whole:.2f} (ARI)", loc="left", pad=16)
