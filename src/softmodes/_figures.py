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


def house_style() -> AbstractContextManager[None]:
    """Return the context in which figures are drawn."""
    import matplotlib as mpl

    return mpl.rc_context(_STYLE)


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure whole, in the format of the path's ending."""
    metadata = {"Date": None} if path.suffix == ".svg" else None
    save = partial(figure.savefig, format=path.suffix[1:], dpi=110, metadata=metadata)
    write_whole(path, save)
