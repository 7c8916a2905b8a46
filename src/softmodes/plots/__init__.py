"""Plots, as scikit-learn's Displays: a class each, made from what was fitted.

Each keeps what it shows, draws it with `plot(ax=None)`, and has the axes in `ax_` and the figure in
`figure_` then. They need matplotlib: ``pip install "softmodes[plot]"``.
"""

from softmodes.plots._history import HistoryDisplay
from softmodes.plots._map import MapDisplay
from softmodes.plots._profile import ProfileDisplay
from softmodes.plots._rounding import RoundingDisplay
from softmodes.plots._silhouette import SilhouetteDisplay
from softmodes.plots._sizes import SizesDisplay
from softmodes.plots._stability import StabilityDisplay
from softmodes.plots._sweep import SweepDisplay

__all__ = [
    "HistoryDisplay",
    "MapDisplay",
    "ProfileDisplay",
    "RoundingDisplay",
    "SilhouetteDisplay",
    "SizesDisplay",
    "StabilityDisplay",
    "SweepDisplay",
]
