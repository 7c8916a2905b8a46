"""How groups are called and listed in plots."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from softmodes._figures import group_color, group_marker
from softmodes._model.marks import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LISTED = 24


def label_of(number: int, name: str, width: int = 26, lines: int = 2) -> str:
    """Return number and name of a group as a label of a few lines."""
    parts = wrap(f"{number}  {shown(name)}", width, break_on_hyphens=False)
    if len(parts) > lines:
        parts = [*parts[: lines - 1], parts[lines - 1][: width - 3] + "..."]
    # A dollar sign would begin a formula.
    return "\n".join(parts).replace("$", r"\$")


def list_groups(ax: Axes, names: Sequence[str], title: str = "group") -> None:
    """List colours, numbers and names of groups at the right of the axes."""
    from matplotlib.lines import Line2D

    handles: list[Any] = [
        Line2D([], [], linestyle="", marker=group_marker(i), color=group_color(i), markersize=6)
        for i in range(min(len(names), _MOST_LISTED))
    ]
    labels = [label_of(i, name) for i, name in enumerate(names[:_MOST_LISTED])]
    if len(names) > _MOST_LISTED:
        handles.append(Line2D([], [], linestyle=""))
        labels.append(f"and {len(names) - _MOST_LISTED} more")
    ax.legend(
        handles,
        labels,
        title=title,
        alignment="left",
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0.0,
        handletextpad=0.4,
        labelspacing=0.7,
    )
