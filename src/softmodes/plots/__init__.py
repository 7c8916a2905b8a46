"""Plots, as scikit-learn's Displays: a class each, made from what was fitted.

Each keeps what it shows, draws it with `plot(ax=None)`, and has the axes in `ax_` and the figure in
`figure_` then. They need matplotlib: ``pip install "softmodes[plot]"``.
"""

from softmodes.plots._stability import StabilityDisplay
from softmodes.plots._sweep import SweepDisplay

__all__ = ["StabilityDisplay", "SweepDisplay"]
