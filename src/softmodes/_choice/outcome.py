"""What a sweep has found, to read and to go on with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from softmodes._choice.fits import Fits
from softmodes._choice.rule import Choice, Statistics
from softmodes._model.profile import as_frame
from softmodes._parameters import whole

if TYPE_CHECKING:
    from softmodes._estimators.soft_modes import SoftModes
    from softmodes.plots import SweepDisplay

_HEADER = ("k", "explained", "shuffled", "same again", "other 80 %", "smallest", "tied")
_WIDTHS = (2, 10, 8, 10, 10, 8, 4)


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """What `softmodes.sweep` has found: how many groups there are, and whether to trust them.

    Printed, it is a table with a line for each k, and a sentence. `explained` is the share of
    mismatches that the groups take away, `shuffled` the same where each column was put in a random
    order; `same again` the mean agreement (ARI) of fits from other seeds, `other 80 %` that of fits
    on other parts of the rows; `smallest` the share of the rows in the smallest group, `tied` that
    of the rows whose group leads the second by less than 0.1 in probability.

    Attributes
    ----------
    pick : int or None
        The number of groups; None if there are no separate ones.
    verdict : str
        "Solid", "Use with care", "No separate groups" or "No groups".
    why : str
        A sentence.
    solid : int or None
        The largest k that is solid.
    more : bool
        Whether the pick is the largest k that was tried: there may be more groups.
    n_rows, n_rows_seen : int
        Rows of the table, and those that were looked at.

    Examples
    --------
    >>> import softmodes
    >>> from softmodes.datasets import load_zoo
    >>> found = softmodes.sweep(load_zoo().data, random_state=0)
    >>> found.to_frame().columns[:4].tolist()
    ['k', 'explained', 'shuffled', 'same_again']
    >>> found.model().cluster_sizes_.shape == (found.pick,)
    True
    """

    statistics: tuple[Statistics, ...]
    choice: Choice
    fits: Fits
    n_rows_seen: int

    @property
    def pick(self) -> int | None:
        """The number of groups; None if there are no separate ones."""
        return self.choice.pick

    @property
    def verdict(self) -> str:
        """How far the pick is to be trusted."""
        return str(self.choice.verdict)

    @property
    def why(self) -> str:
        """Why the verdict is as it is: a sentence."""
        return self.choice.why[0].upper() + self.choice.why[1:]

    @property
    def solid(self) -> int | None:
        """The largest k that is solid."""
        return self.choice.solid

    @property
    def more(self) -> bool:
        """Whether the pick is the largest k that was tried."""
        return self.choice.more

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self.fits.n_rows

    def to_frame(self) -> Any:
        """Return a row for each k, as a frame of the kind that came in.

        Columns: k, explained, shuffled, same_again, other_80, smallest, tied (all shares or ARI),
        valley, icl, silhouette, deciding_columns (see `softmodes.metrics`), verdict ("Do not use"
        where the groups do not pay, have no gap, are not found again, are too small, or are made by
        two columns). pandas for input without a frame; a pyarrow Table where pandas is not
        installed.
        """
        return as_frame(self.columns(), self.fits.backend)

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of the frame by name."""
        rows = self.statistics
        return {
            "k": [row.k for row in rows],
            "explained": [row.explained for row in rows],
            "shuffled": [row.shuffled for row in rows],
            "same_again": [row.same_again for row in rows],
            "other_80": [row.found_again for row in rows],
            "smallest": [row.smallest / row.n_rows for row in rows],
            "tied": [row.tied for row in rows],
            "valley": [row.valley for row in rows],
            "icl": [row.icl for row in rows],
            "silhouette": [row.silhouette for row in rows],
            "deciding_columns": [row.deciding_columns for row in rows],
            "verdict": [str(self.choice.verdicts[row.k]) for row in rows],
        }

    def model(self, k: int | None = None) -> SoftModes:
        """Return a fitted model: that of `SoftModes(k, random_state=...)` on all rows.

        Its other parameters are those of the sweep. Made once, and kept.

        Parameters
        ----------
        k : int, optional
            Number of clusters; by default the pick.

        Returns
        -------
        SoftModes
            The same for the same seed as a fit without a sweep.
        """
        k = self.pick if k is None else whole("k", k, 1)
        if k is None:
            raise ValueError(
                f"k=None stands for the pick, and there is none ({self.verdict}: "
                f"{self.choice.why}) Pass a number of groups, if you want to cut the rows anyway."
            )
        return self.fits.of(k)

    def plot(self, ax: Any = None) -> SweepDisplay:
        """Draw what is explained by each k, beside what is in a shuffled table.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        SweepDisplay
            With the figure in `figure_` and the axes in `ax_`.
        """
        from softmodes.plots import SweepDisplay

        return SweepDisplay.from_sweep(self, ax=ax)

    def sentence(self) -> str:
        """Return the pick, the verdict and why, as one line or a few sentences."""
        found = self.verdict if self.pick is None else f"{self.pick} groups. {self.verdict}"
        parts = [f"{found}: {self.choice.why}"]
        if self.more:
            parts.append(f"There may be more than {self.pick}: raise the range of k.")
        if self.solid not in (None, self.pick):
            parts.append(f"The most that are solid: {self.solid}.")
        if self.n_rows_seen < self.n_rows:
            parts.append(f"{self.n_rows_seen:,} of {self.n_rows:,} rows were looked at.")
        return " ".join(parts)

    def __repr__(self) -> str:
        lines = [
            "  ".join(f"{cell:>{w}}" for cell, w in zip(cells, _WIDTHS, strict=True))
            for cells in (_HEADER, *self._cells())
        ]
        marked = [f"{line}{self._mark(i)}" for i, line in enumerate(lines, -1)]
        return "\n".join([*marked, self.sentence()])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{title}</th>" for title in (*_HEADER, ""))
        body = ""
        for i, cells in enumerate(self._cells()):
            mark = escape(self._mark(i).strip())
            body += "<tr>" + "".join(f"<td>{cell}</td>" for cell in (*cells, mark)) + "</tr>"
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"<p>{escape(self.sentence())}</p>"
        )

    def _mark(self, i: int) -> str:
        return "   <- pick" if i >= 0 and self.statistics[i].k == self.pick else ""

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            (
                str(row.k),
                f"{100 * row.explained:.1f} %",
                f"{100 * row.shuffled:.1f} %",
                _agreement(row.same_again),
                _agreement(row.found_again),
                f"{100 * row.smallest / row.n_rows:.0f} %",
                f"{100 * row.tied:.0f} %",
            )
            for row in self.statistics
        ]


def _agreement(ari: float) -> str:
    return "-" if math.isnan(ari) else f"{ari:.2f}"
