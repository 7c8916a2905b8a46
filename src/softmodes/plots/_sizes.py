"""How large the groups are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from softmodes._figures import BLUE
from softmodes._model.marks import percent
from softmodes.plots._base import Display
from softmodes.plots._groups import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SizesDisplay(Display):
    """The share of the rows in each group, as bars.

    Parameters
    ----------
    sizes : sequence of numbers
        Rows of each group, or their weight.
    names : sequence of str, optional
        What to call the groups; by default their numbers.

    Attributes
    ----------
    ax_, figure_
        Axes and figure, once drawn.

    Examples
    --------
    >>> from softmodes import SoftModes
    >>> from softmodes.datasets import load_zoo
    >>> from softmodes.plots import SizesDisplay
    >>> model = SoftModes(4, random_state=0).fit(load_zoo(as_frame=True).data)
    >>> display = SizesDisplay.from_estimator(model)
    """

    def __init__(self, sizes: Any, *, names: Sequence[str] | None = None) -> None:
        self.sizes = np.asarray(sizes)
        self.names = [f"group {i}" for i in range(len(self.sizes))] if names is None else [*names]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the sizes of the clusters of a fitted model.

        Parameters
        ----------
        estimator : SoftModes, KModes or MiniBatchSoftModes
            A fitted model.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        SizesDisplay
            The drawn display.
        """
        check_is_fitted(estimator)
        return cls(estimator.cluster_sizes_, names=estimator.names_).plot(ax)

    def _draw(self, ax: Axes) -> None:
        places = np.arange(len(self.sizes))
        shares = self.sizes / max(float(self.sizes.sum()), np.finfo(np.float64).tiny)
        ax.barh(places, 100 * shares, height=0.66, color=BLUE)
        for place, size, share in zip(places, self.sizes.tolist(), shares, strict=True):
            rows = f"{size:,}" if isinstance(size, int) else f"{size:,.1f}"
            ax.annotate(
                f"{percent(share)}  ({rows})",
                (100 * share, place),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
            )
        labels = [label_of(i, name) for i, name in enumerate(self.names)]
        ax.set_yticks(places, labels, ha="left")
        ax.tick_params(axis="y", length=0, pad=_label_width(labels))
        ax.set_xlim(0, 122 * float(shares.max()))
        ax.set_ylim(len(places) - 0.4, -0.6)
        ax.grid(False, axis="y")
        ax.spines["left"].set_color("#bbbbbb")
        ax.set_xlabel("share of the rows, % (and their number)")
        ax.set_title(f"{len(places)} group{'' if len(places) == 1 else 's'}", loc="left")

    @property
    def _figure_size(self) -> tuple[float, float]:
        return (6.4, 1.1 + 0.42 * max(2, len(self.sizes)))


def _label_width(labels: Sequence[str]) -> float:
    """Return about how many points labels are wide, so that they begin at one line."""
    return 4 + 5.1 * max(len(line) for label in labels for line in label.split("\n"))
