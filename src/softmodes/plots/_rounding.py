"""What rounding makes of shares."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from softmodes._figures import group_color
from softmodes.plots._base import Display
from softmodes.rounding import Rounding, soft

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLES = ("-", "--", "-.", ":")
_SHARES = np.linspace(0.0, 1.0, 401)


class RoundingDisplay(Display):
    """With what probability a center takes a value, by the value's share in the cluster.

    Of a column with two values; the grey line is sampling, "soft" with t = 1.

    Parameters
    ----------
    roundings : mapping of str to rounding
        What to draw: functions of counts, as in `softmodes.rounding`, by what to call them.

    Attributes
    ----------
    ax_, figure_
        Axes and figure, once drawn.

    Examples
    --------
    >>> from softmodes.plots import RoundingDisplay
    >>> from softmodes.rounding import plurality, soft
    >>> display = RoundingDisplay({"t = 3": soft(3), "k-modes": plurality})
    >>> display.probability["t = 3"][300].round(3)  # of a value with a share of 3/4
    np.float64(0.964)
    >>> display = display.plot()
    """

    _size = (5.2, 4.0)

    def __init__(self, roundings: Mapping[str, Rounding]) -> None:
        counts = np.column_stack([_SHARES, 1 - _SHARES])
        self.share = _SHARES
        self.probability = {name: rounding(counts)[:, 0] for name, rounding in roundings.items()}

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw how an estimator, fitted or not, rounds its centers.

        Parameters
        ----------
        estimator : SoftModes, KModes or MiniBatchSoftModes
            The estimator; with t="auto" one run after the other takes the next curve.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        RoundingDisplay
            The drawn display.
        """
        algorithm = estimator._algorithm()
        roundings = algorithm.get("ladder") or (algorithm["rounding"],)
        return cls({_name(rounding): rounding for rounding in roundings}).plot(ax)

    def _draw(self, ax: Axes) -> None:
        ax.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=1, zorder=1)
        for i, (name, probability) in enumerate(self.probability.items()):
            style = _STYLES[i % len(_STYLES)]
            ax.plot(self.share, probability, style, color=group_color(i), linewidth=2, label=name)
        ax.set_xlabel("share of the value in the cluster")
        ax.set_ylabel("probability that the center takes it")
        ax.set_xlim(0, 1)
        ax.set_ylim(-0.02, 1.02)
        ax.legend(loc="upper left")


def _name(rounding: Rounding) -> str:
    if not isinstance(rounding, soft):
        return getattr(rounding, "__name__", "rounding")
    return "k-modes (t = inf)" if math.isinf(rounding.t) else f"t = {rounding.t:g}"
