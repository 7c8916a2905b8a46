"""How well each row fits its group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from softmodes._figures import GREY, group_color
from softmodes.plots._base import Display
from softmodes.plots._groups import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from softmodes._table.codebook import Missing

_GAP = 0.02  # between two groups, as a share of all rows


class SilhouetteDisplay(Display):
    """The silhouette of every row in Hamming distance, sorted within each group.

    A row of 1 is alike to its group and to no other, one of 0 lies between two groups, one below 0
    is more alike to another group. The dashed line is the mean.

    Parameters
    ----------
    silhouettes : array of shape (n_samples,)
        The silhouette of each row.
    labels : int array of shape (n_samples,)
        The group of each row.
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
    >>> from softmodes.plots import SilhouetteDisplay
    >>> X = load_zoo().data
    >>> model = SoftModes(4, random_state=0).fit(X)
    >>> display = SilhouetteDisplay.from_estimator(model, X)
    """

    def __init__(
        self, silhouettes: Any, labels: Any, *, names: Sequence[str] | None = None
    ) -> None:
        self.silhouettes = np.asarray(silhouettes, np.float64)
        self.labels = np.asarray(labels)
        k = int(self.labels.max()) + 1
        self.names = [f"group {i}" for i in range(k)] if names is None else list(names)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, sample_weight: Any = None, ax: Any = None
    ) -> Self:
        """Measure and draw the silhouettes of rows in the groups of a fitted model.

        Parameters
        ----------
        estimator : SoftModes, KModes or MiniBatchSoftModes
            A fitted model.
        X : table
            Rows, such as those that it was fitted on.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows in the distances.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        SilhouetteDisplay
            The drawn display.
        """
        from softmodes.metrics import silhouette_samples

        labels = estimator.predict(X)
        missing: Missing = "ignore" if estimator.missing == "ignore" else "category"
        silhouettes = silhouette_samples(X, labels, missing=missing, sample_weight=sample_weight)
        return cls(silhouettes, labels, names=estimator.names_).plot(ax)

    def _draw(self, ax: Axes) -> None:
        n, top, places = len(self.labels), 0.0, []
        for i in range(len(self.names)):
            own = np.sort(self.silhouettes[self.labels == i])
            bottom = top + len(own)
            places.append((top + bottom) / 2)
            if len(own):
                steps = np.linspace(top, bottom, len(own) + 1)
                ax.stairs(
                    own[::-1], steps, orientation="horizontal", fill=True, color=group_color(i)
                )
            top = bottom + _GAP * n
        mean = float(np.mean(self.silhouettes))
        ax.axvline(0, color="#444444", linewidth=0.9)
        ax.axvline(mean, color=GREY, linestyle="--", linewidth=1.1)
        ax.annotate(
            f"mean {mean:.2f}",
            (mean, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2),
            textcoords="offset points",
            ha="center",
            fontsize=8,
        )
        labels = [label_of(i, name) for i, name in enumerate(self.names)]
        ax.set_yticks(places, labels)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(top, -_GAP * n)
        least, most = float(np.min(self.silhouettes)), float(np.max(self.silhouettes))
        ax.set_xlim(min(0.0, least) - 0.02, min(1.0, max(0.25, most + 0.05)))
        ax.grid(False, axis="y")
        ax.spines["left"].set_visible(False)
        ax.set_xlabel("silhouette of the rows (Hamming distance)")

    @property
    def _figure_size(self) -> tuple[float, float]:
        return (6.4, 1.4 + 0.5 * max(4, len(self.names)))
