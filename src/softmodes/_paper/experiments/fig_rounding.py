"""The three rounding maps, drawn from their definitions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from softmodes._figures import BLUE, DARK_BLUE, GREY
from softmodes._paper.experiment import Experiment
from softmodes._paper.plots import many_panels
from softmodes._paper.summary import Found

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def _rounding_maps(found: Found) -> Figure:
    """Return the rounding maps as arrows from shares to probabilities."""
    from softmodes.rounding import plurality, soft, uniform  # imports SciPy

    maps = {"plurality": plurality, "soft(3)": soft(3.0), "uniform": uniform}
    figure, panels = many_panels(1, 3, (9.6, 3.2))
    shares, corners = _grid_of_shares(11), _in_plane(np.eye(3))
    for axes, (title, rounding) in zip(panels[0], maps.items(), strict=True):
        axes.plot(*corners[[0, 1, 2, 0]].T, color=GREY, linewidth=1)
        _draw_arrows(axes, _in_plane(shares), _in_plane(rounding(shares)))
        _write_at_corners(axes, corners, "abc")
        axes.set_title(title)
        axes.set_aspect("equal")
        axes.set_axis_off()
        axes.margins(0.12)
    return figure


def _draw_arrows(axes: Axes, start: NDArray[np.float64], end: NDArray[np.float64]) -> None:
    step = end - start
    axes.scatter(start[:, 0], start[:, 1], s=5, color=DARK_BLUE, zorder=3)
    moves = np.hypot(*step.T) > 1e-9
    axes.quiver(
        *start[moves].T,
        *step[moves].T,
        angles="xy",
        scale_units="xy",
        scale=1,
        width=0.0035,
        headwidth=4,
        color=BLUE,
        alpha=0.75,
    )


def _write_at_corners(axes: Axes, corners: NDArray[np.float64], values: str) -> None:
    for corner, value in zip(corners, values, strict=True):
        axes.annotate(
            value,
            corner,
            xytext=(corner - corners.mean(axis=0)) * 16,
            textcoords="offset points",
            ha="center",
            va="center",
        )


def _grid_of_shares(steps: int) -> NDArray[np.float64]:
    """Return points of the simplex, off its borders."""
    points = [
        (i + 1 / 3, j + 1 / 3, steps - 1 - i - j + 1 / 3)
        for i in range(steps)
        for j in range(steps - i)
    ]
    return np.array(points) / steps


def _in_plane(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Project the simplex to the plane, as an equilateral triangle."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(3) / 2]])
    return np.asarray(points @ corners, dtype=np.float64)


EXPERIMENT = Experiment(
    id="fig-rounding",
    title="The three rounding maps on the 2-simplex",
    setting=(
        "Each arrow leads from the shares of three values to the probabilities of the draw; under "
        "uniform rounding they are the same."
    ),
    joinable=False,
    figures={"rounding": _rounding_maps},
)
