"""What all Displays share: where they draw, and how it looks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Self

from softmodes._figures import house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class Display(ABC):
    """A plot: a subclass keeps what is shown, and says how to draw it."""

    ax_: Axes
    figure_: Figure | SubFigure
    _size: ClassVar[tuple[float, float]] = (6.4, 4.0)  # of a new figure, in inches

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        self
            With the axes in `ax_`, and their figure in `figure_`.
        """
        require_matplotlib()
        with house_style():
            if ax is None:
                from matplotlib import pyplot

                _, ax = pyplot.subplots(figsize=self._figure_size, layout="constrained")
            self._draw(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @property
    def _figure_size(self) -> tuple[float, float]:
        return self._size

    @abstractmethod
    def _draw(self, ax: Axes) -> None:
        """Draw what is kept."""


def require_matplotlib() -> None:
    """Refuse to draw where matplotlib is not installed, and say what to do."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            'Plots need matplotlib. Install it with: pip install "softmodes[plot]"'
        ) from error
