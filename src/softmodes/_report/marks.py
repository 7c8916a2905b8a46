"""What marks a group, and what tells two of them apart, among what may be shown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from softmodes._model.clustering import Clustering
from softmodes._model.marks import Mark, default_names, marks_of
from softmodes._model.naming import all_names
from softmodes._model.profile import Profile
from softmodes._report.shares import Shares

_LEAST_APART = 0.01  # of shares that look different to a reader


def shown_profile(found: Clustering, shares: Shares) -> Profile:
    """Return what marks the groups, where nothing that is hidden is on a side.

    It stays in the profile: which marks repeat one another hangs on the shares in all groups.
    """
    profile = found.profile
    width = int(max(profile.code.max(initial=0), shares.code.max(initial=0))) + 1
    known = shares.column * width + shares.code  # in ascending order
    slot = profile.feature * width + profile.code
    place = np.minimum(np.searchsorted(known, slot), max(0, len(known) - 1))
    is_shown = np.zeros(len(slot), np.bool_)
    if len(known):
        is_shown = (known[place] == slot) & ~shares.hidden[profile.cluster, place]
    return replace(profile, side=np.where(is_shown, profile.side, 0))


def shown_names(found: Clustering, profile: Profile) -> tuple[str, ...]:
    """Return what to call the groups: as was given, or by what marks them and may be shown."""
    return all_names(found.given_names, default_names(profile, len(found.centers)))


def more_of(profile: Profile, group: int, n_marks: int) -> list[Mark]:
    """Return what a group has more of than all rows: most telling first, a "no" last."""
    return marks_of(profile, group, n_marks)


def less_of(profile: Profile, group: int, n_marks: int) -> list[Mark]:
    """Return what a group has less of than all rows, most telling first.

    A "no" that it has less of is a "yes" that it has more of: that is told already.
    """
    marks = marks_of(profile, group, 2 * n_marks, side=-1)
    return [mark for mark in marks if not mark.is_no][:n_marks]


def apart(shares: Shares, a: int, b: int, n_marks: int) -> list[int]:
    """Return the values in which two groups differ most, one of each column."""
    gap = np.abs(shares.shares[a] - shares.shares[b])
    gap[shares.hidden[a] | shares.hidden[b] | (gap < _LEAST_APART)] = 0.0
    first: dict[int, int] = {}
    for v in np.argsort(-gap.round(12), kind="stable"):
        if gap[v] > 0:
            first.setdefault(int(shares.column[v]), int(v))
    return list(first.values())[:n_marks]
