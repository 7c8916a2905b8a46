"""How many groups: what each number of them explains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from softmodes._figures import DARK_BLUE, GREY, RED
from softmodes.plots._base import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from softmodes._choice.outcome import Sweep

_PAD = 8  # points between the axis and what stands below it
_MOST_LABELS = 16  # numbers of groups that have room for what stands below them


class SweepDisplay(Display):
    """What each number of groups explains, beside what it does in a shuffled table.

    Below each number stand how well its groups are found again: from other seeds, and in other 80 %
    of the rows. Filled dots are solid, the ring is the pick.

    Parameters
    ----------
    k, explained, shuffled, same_again, other_80, verdict : sequence
        As in the frame of a `Sweep`.
    pick : int or None
        The number that is picked.
    title : str
        What stands above.

    Attributes
    ----------
    ax_, figure_
        Axes and figure, once drawn.

    Examples
    --------
    >>> import softmodes
    >>> from softmodes.datasets import load_zoo
    >>> from softmodes.plots import SweepDisplay
    >>> found = softmodes.sweep(load_zoo().data, random_state=0)
    >>> display = SweepDisplay.from_sweep(found)
    """

    def __init__(
        self,
        k: Sequence[int],
        explained: Sequence[float],
        shuffled: Sequence[float],
        *,
        same_again: Sequence[float],
        other_80: Sequence[float],
        verdict: Sequence[str],
        pick: int | None = None,
        title: str = "",
    ) -> None:
        self.k = list(k)
        self.explained = list(explained)
        self.shuffled = list(shuffled)
        self.same_again = list(same_again)
        self.other_80 = list(other_80)
        self.verdict = list(verdict)
        self.pick = pick
        self.title = title

    @classmethod
    def from_sweep(cls, sweep: Sweep, *, ax: Any = None) -> Self:
        """Draw what a sweep has found.

        Parameters
        ----------
        sweep : Sweep
            What `softmodes.sweep` returned.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        SweepDisplay
            The drawn display.
        """
        shown = {name: sweep.columns()[name] for name in _COLUMNS}
        found = sweep.verdict if sweep.pick is None else f"{sweep.pick} groups. {sweep.verdict}"
        return cls(**shown, pick=sweep.pick, title=found).plot(ax)

    def _draw(self, ax: Axes) -> None:
        ax.plot(self.k, _percent(self.explained), color=DARK_BLUE, zorder=2, label="explained")
        ax.plot(self.k, _percent(self.shuffled), "--", color=GREY, label="columns shuffled")
        dots = list(zip(self.k, _percent(self.explained), strict=True))
        solid = [dot for dot, verdict in zip(dots, self.verdict, strict=True) if verdict == "Solid"]
        picked = [dot for dot in dots if dot[0] == self.pick]
        _draw_dots(ax, dots, color=DARK_BLUE, markerfacecolor="white", markersize=6)
        _draw_dots(ax, solid, color=DARK_BLUE, markersize=6, label="solid")
        ring = {"markerfacecolor": "none", "markeredgewidth": 1.6, "markersize": 14}
        _draw_dots(ax, picked, color=RED, label="pick", **ring)
        ax.set_ylim(bottom=0)
        ax.set_ylabel("mismatches explained, %")
        ax.set_title(self.title, loc="left")
        if self.k:
            self._label_below(ax)
            ax.legend(loc="best")

    def _label_below(self, ax: Axes) -> None:
        """Write below each number how well its groups are found again."""
        if len(self.k) > _MOST_LABELS:
            ax.set_xlabel("number of groups")
            return
        labels = [
            f"{k}\n{_agreement(same)}\n{_agreement(other)}"
            for k, same, other in zip(self.k, self.same_again, self.other_80, strict=True)
        ]
        ax.set_xticks(self.k, labels)
        ax.tick_params(axis="x", length=0, pad=_PAD)
        ax.annotate(
            "groups\nsame again\nother 80 %",
            (0, 0),
            xycoords="axes fraction",
            xytext=(-_PAD, -_PAD),
            textcoords="offset points",
            ha="right",
            va="top",
            fontsize=ax.get_xticklabels()[0].get_fontsize(),
        )


_COLUMNS = ("k", "explained", "shuffled", "same_again", "other_80", "verdict")


def _draw_dots(ax: Axes, dots: list[tuple[int, float]], **how: Any) -> None:
    if dots:
        ax.plot(*zip(*dots, strict=True), "o", zorder=3, **how)


def _percent(shares: Sequence[float]) -> list[float]:
    return [100 * share for share in shares]


def _agreement(ari: float) -> str:
    return "" if math.isnan(ari) else f"{ari:.2f}"
