"""How figures look, and how they are saved; matplotlib is imported when drawing."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softmodes._files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    # Same results, same file.
    "svg.hashsalt": "softmodes",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
}
# Distinguishable in print and for the colour-blind.
LIGHT_BLUE, BLUE, DARK_BLUE = "#9ecae1", "#3f8fc5", "#08457e"
GREY, RED = "#888888", "#b2182b"
ORANGE = "#d95f0e"
# Of groups: apart for the colour-blind (after Okabe and Ito); where they run out, markers go on.
GROUP_COLORS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b08a00"),
    *("#56b4e9", "#7a3e9d", "#555555"),
)
GROUP_MARKERS = "osD^vPX*"


def group_color(number: int) -> str:
    """Return the colour of a group."""
    return GROUP_COLORS[number % len(GROUP_COLORS)]


def group_marker(number: int) -> str:
    """Return the marker of a group: another one for every round of colours."""
    return GROUP_MARKERS[(number // len(GROUP_COLORS)) % len(GROUP_MARKERS)]


def house_style() -> AbstractContextManager[None]:
    """Return the context in which figures are drawn."""
    import matplotlib as mpl

    return mpl.rc_context(_STYLE)


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure whole, in the format of the path's ending."""
    metadata = {"Date": None} if path.suffix == ".svg" else None
    save = partial(figure.savefig, format=path.suffix[1:], dpi=110, metadata=metadata)
    write_whole(path, save)
