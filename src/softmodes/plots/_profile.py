"""Which values mark which group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from softmodes._model.marks import (
    is_no,
    percent,
    repeats,
    shares_by_cluster,
    shown,
    shown_value,
)
from softmodes._model.profile import Profile, feature_names
from softmodes._parameters import whole
from softmodes.plots._base import Display
from softmodes.plots._groups import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

_LOOKED_AT = 2000  # values among which those that repeat one another are found
_FAR = 0.75  # difference of shares that has the strongest colour
_DARK = 0.5  # difference from which on the text is white


class ProfileDisplay(Display):
    """The share of the most telling values in each group, beside that in all rows.

    Values are in rows, groups in columns. Blue: more than in all rows; orange: less.

    Parameters
    ----------
    values : sequence of str
        What to call the values.
    shares : array of shape (n_values, n_groups)
        Their shares in each group.
    overall : sequence of float
        Their shares in all rows.
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
    >>> from softmodes.plots import ProfileDisplay
    >>> model = SoftModes(4, random_state=0).fit(load_zoo(as_frame=True).data)
    >>> display = ProfileDisplay.from_estimator(model, n_values=12)
    """

    def __init__(
        self,
        values: Sequence[str],
        shares: Any,
        overall: Any,
        *,
        names: Sequence[str] | None = None,
    ) -> None:
        self.values = list(values)
        self.shares = np.asarray(shares, np.float64)
        self.overall = np.asarray(overall, np.float64)
        k = self.shares.shape[1]
        self.names = [f"group {i}" for i in range(k)] if names is None else list(names)

    @classmethod
    def from_estimator(cls, estimator: Any, *, n_values: int = 20, ax: Any = None) -> Self:
        """Draw the most telling values of a fitted model.

        Parameters
        ----------
        estimator : SoftModes, KModes or MiniBatchSoftModes
            A fitted model.
        n_values : int, default=20
            Number of values: those that tell most, on average over all rows, of the group. Of a
            column with two values one is shown: not the one that says no. One stands for all that
            have the same shares.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        ProfileDisplay
            The drawn display.
        """
        check_is_fitted(estimator)
        found = estimator._clustering
        labels, shares, overall = _most_telling(
            found.profile, np.asarray(found.tally.cluster_sizes), whole("n_values", n_values, 1)
        )
        return cls(labels, shares, overall, names=estimator.names_).plot(ax)

    def _draw(self, ax: Axes) -> None:
        table = np.column_stack([self.shares, self.overall])
        apart = np.column_stack([self.shares - self.overall[:, None], np.zeros(len(self.overall))])
        ax.pcolormesh(
            np.ma.masked_invalid(apart),
            cmap=_colors(),
            vmin=-_FAR,
            vmax=_FAR,
            edgecolors="white",
            linewidth=1.5,
        )
        for (i, j), share in np.ndenumerate(table):
            ax.text(
                j + 0.5,
                i + 0.5,
                percent(share).replace(" %", "") if np.isfinite(share) else "-",
                ha="center",
                va="center",
                fontsize=8,
                color="white" if abs(apart[i, j]) > _DARK else "#222222",
            )
        ax.axvline(len(self.names), color="#666666", linewidth=1.2)
        heads = [label_of(i, name, width=16, lines=4) for i, name in enumerate(self.names)]
        ax.set_xticks(np.arange(len(heads) + 1) + 0.5, [*heads, "all"], fontsize=8)
        ax.set_yticks(np.arange(len(self.values)) + 0.5, self.values)
        ax.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
        ax.invert_yaxis()
        ax.grid(False)
        for spine in ax.spines.values():
            spine.set_visible(False)
        ax.set_xlabel("share in the group, %: blue more than in all rows, orange less", fontsize=8)

    @property
    def _figure_size(self) -> tuple[float, float]:
        n, k = self.shares.shape
        return (min(20.0, 2.4 + 1.15 * (k + 1)), 1.3 + 0.27 * max(4, n))


def _colors() -> Any:
    """Return colours from orange over white to blue, as dark at one end as at the other."""
    from matplotlib.colors import LinearSegmentedColormap

    ends = ["#a63f03", "#e8853a", "#fdd9b5", "#f7f7f7", "#bcd9ec", "#4f93c4", "#08457e"]
    return LinearSegmentedColormap.from_list("more and less", ends)


def _most_telling(
    profile: Profile, sizes: NDArray[np.int64], n_values: int
) -> tuple[list[str], Floats, Floats]:
    """Return labels, shares by group and overall shares of the values that tell most.

    Of values that repeat one another the first stands for all; of a column with two values, the one
    that does not say no.
    """
    width = int(profile.code.max(initial=0)) + 1
    _, row, of_row = np.unique(
        profile.feature * width + profile.code, return_index=True, return_inverse=True
    )
    weight = sizes[profile.cluster] / max(1, sizes.sum())
    telling = np.bincount(of_row, profile.telling * weight, minlength=len(row))
    ordered = row[np.argsort(-telling.round(12), kind="stable")]
    rows = _one_of_two(profile, ordered)[:_LOOKED_AT]
    shares = shares_by_cluster(profile, rows)
    chosen, alike = _without_repeats(profile, rows, shares, n_values)
    shares, overall = shares[chosen], profile.overall[rows[chosen]]
    # Values that mark one group stand together, so that a reader finds its block.
    by_group = np.argsort((shares - overall[:, None]).argmax(axis=1), kind="stable")
    labels = [_label(profile, rows[chosen[i]], alike[i]) for i in by_group.tolist()]
    padded = np.full((len(chosen), len(sizes)), np.nan)
    padded[:, : shares.shape[1]] = shares
    padded[:, sizes == 0] = np.nan
    return labels, padded[by_group], overall[by_group]


def _without_repeats(
    profile: Profile, rows: NDArray[np.intp], shares: Floats, most: int
) -> tuple[NDArray[np.intp], list[int]]:
    """Return the places of the first values that do not repeat others, and how many repeat each."""
    is_missing = profile.code[rows] == profile.codebook.lengths[profile.feature[rows]]
    left = np.ones(len(rows), bool)
    chosen: list[int] = []
    alike: list[int] = []
    while left.any() and len(chosen) < most:
        first = int(left.argmax())
        same = left & repeats(shares, is_missing, first)
        left &= ~same
        chosen.append(first)
        alike.append(int(same.sum()) - 1)
    return np.array(chosen, np.intp), alike


def _label(profile: Profile, row: int, alike: int) -> str:
    j = int(profile.feature[row])
    value = profile.codebook.values(j)[profile.code[row]]
    text = f"{shown(feature_names(profile.codebook)[j])}: {shown_value(value)}"
    return text.replace("$", r"\$") + (f"  (+{alike} alike)" if alike else "")


def _one_of_two(profile: Profile, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Leave out, of columns with two values, the one that says no, or that comes second."""
    of_feature: dict[int, list[int]] = {}
    for row in rows.tolist():
        of_feature.setdefault(int(profile.feature[row]), []).append(row)
    left_out = set()
    for j, own in of_feature.items():
        if len(own) == 2:
            values, n_values = profile.codebook.values(j), int(profile.codebook.lengths[j])
            no = [row for row in own if is_no(values[profile.code[row]], n_values)]
            left_out.add(no[0] if len(no) == 1 else own[1])
    return np.array([row for row in rows.tolist() if row not in left_out], np.intp)
