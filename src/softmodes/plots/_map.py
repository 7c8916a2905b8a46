"""Rows or groups in two dimensions: a picture, not the distance used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from softmodes._algorithm.randomness import random_part
from softmodes._figures import group_color, group_marker
from softmodes._model.mapping import places_of_clusters, places_of_rows
from softmodes._parameters import seed, whole
from softmodes.plots._base import Display
from softmodes.plots._groups import list_groups

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LARGEST = 900.0  # area of the largest group's circle, in points


class MapDisplay(Display):
    """Rows, or groups alone, where correspondence analysis puts them.

    Rows that share values, above all rare ones, lie near each other, as far as two dimensions can
    show that; the groups were found by all columns. The numbers stand at the middle of their rows.

    Parameters
    ----------
    places : array of shape (n_groups, 2)
        Where the groups are.
    sizes : sequence of numbers
        Rows of each group.
    rows : array of shape (n_rows, 2), optional
        Where rows are.
    labels : int array of shape (n_rows,), optional
        The group of each of these rows.
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
    >>> from softmodes.plots import MapDisplay
    >>> X = load_zoo(as_frame=True).data
    >>> model = SoftModes(4, random_state=0).fit(X)
    >>> display = MapDisplay.from_estimator(model, X)
    >>> groups_alone = MapDisplay.from_estimator(model)
    """

    _size = (7.4, 4.6)

    def __init__(
        self,
        places: Any,
        sizes: Any,
        *,
        rows: Any = None,
        labels: Any = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.places = np.asarray(places, np.float64)
        self.sizes = np.asarray(sizes)
        self.rows = None if rows is None else np.asarray(rows, np.float64)
        self.labels = None if labels is None else np.asarray(labels)
        self.names = [f"group {i}" for i in range(len(self.sizes))] if names is None else [*names]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        max_rows: int = 1000,
        random_state: Any = 0,
        ax: Any = None,
    ) -> Self:
        """Draw the map of a fitted model: of rows, or without these of its groups.

        Parameters
        ----------
        estimator : SoftModes, KModes or MiniBatchSoftModes
            A fitted model.
        X : table, optional
            Rows, such as those that it was fitted on.
        max_rows : int, default=1000
            Of a longer table, so many rows drawn at random are shown.
        random_state : int, RandomState or None, default=0
            Which rows.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        MapDisplay
            The drawn display.
        """
        check_is_fitted(estimator)
        sizes, names = estimator.cluster_sizes_, estimator.names_
        if X is None:
            places = places_of_clusters(estimator._clustering.tally.counts)
            return cls(places, sizes, names=names).plot(ax)
        store = estimator._open(X, needed_by="MapDisplay").store
        most = whole("max_rows", max_rows, 1)
        some = np.arange(store.n_rows)
        if store.n_rows > most:
            some = random_part(store.n_rows, most, seed(random_state))
        labels = estimator._clustering.predict(store)[some]
        rows = places_of_rows(store.rows(some), store.n_values, store.layout.ignored)
        middle = np.full((len(sizes), 2), np.nan)
        for i in np.unique(labels):
            middle[i] = rows[labels == i].mean(axis=0)
        return cls(middle, sizes, rows=rows, labels=labels, names=names).plot(ax)

    def _draw(self, ax: Axes) -> None:
        if self.rows is not None and self.labels is not None:
            for i in np.unique(self.labels).tolist():
                x, y = self.rows[self.labels == i].T
                style: dict[str, Any] = {"color": group_color(i), "marker": group_marker(i)}
                ax.scatter(x, y, s=16, alpha=0.55, linewidths=0, zorder=2, **style)
        area = np.full(len(self.sizes), 190.0)
        if self.rows is None:
            area = np.maximum(120.0, _LARGEST * self.sizes / max(1, self.sizes.max()))
        for i in np.flatnonzero(np.isfinite(self.places[:, 0])).tolist():
            x, y = self.places[i]
            ring: dict[str, Any] = {"edgecolors": "white", "linewidths": 1.6}
            ax.scatter(x, y, s=area[i], color=group_color(i), zorder=4 + i, **ring)
            ax.annotate(
                str(i),
                (x, y),
                ha="center",
                va="center",
                color="white",
                weight="bold",
                fontsize=8,
                zorder=4.5 + i,
            )
        ax.axhline(0, color="#dddddd", linewidth=0.8, zorder=1)
        ax.axvline(0, color="#dddddd", linewidth=0.8, zorder=1)
        ax.grid(False)
        for spine in ax.spines.values():
            spine.set(visible=True, color="#cccccc", linewidth=0.8)
        ax.margins(0.08 if self.rows is not None else 0.2)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_xlabel("first axis")
        ax.set_ylabel("second axis")
        ax.set_title("A picture, not the distance used", loc="left", fontsize=9, color="#555555")
        list_groups(ax, self.names)
