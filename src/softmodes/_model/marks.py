"""What marks a cluster, in words: values that it has more of, and what to call it by them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from softmodes._model.profile import Profile, feature_names
from softmodes._text import harmless

N_MARKS = 5  # that are shown of a cluster, and that it may be named by
_LONGEST_SHOWN = 36  # characters of a name or value in a mark, which is never broken
_LONGEST_READ = 200
_LOOKED_AT = 2000  # values of a cluster among which marks that repeat one another are found
# By which shares may differ, in every cluster, of values that repeat one another: by chance others
# rarely agree so well. Questions that were skipped together are missing in nearly all rows of a
# cluster, and in others as often as it happens.
_SAME, _SAME_MISSING = 0.0005, 0.1
_SKIPPED = 0.9
_BLOCK_SHOWN = 2
_NO_WORDS = frozenset({"", "0", "0.0", "f", "false", "n", "no", "none", "not selected", "off"})


@dataclass(frozen=True)
class Mark:
    """A value that a cluster has more, or less, of than the whole table has.

    Attributes
    ----------
    feature, value
        The column, and its value; None is missing.
    share, overall
        Its share in the cluster, and in the whole table.
    same_for
        Other marks of the cluster that repeat this one, as (feature, value): their shares are the
        same in every cluster.
    is_no
        Whether the value says that something is not there: missing, or the no of a yes or no.
    """

    feature: str
    value: Any
    share: float
    overall: float
    same_for: tuple[tuple[str, Any], ...] = ()
    is_no: bool = False

    @property
    def name(self) -> str:
        """Column and value as a text."""
        return f"{shown(self.feature)}: {shown_value(self.value)}"

    @property
    def shares(self) -> str:
        """The share in the cluster, beside that in the whole table."""
        return f"{percent(self.share)} (all {percent(self.overall)})"

    @property
    def block(self) -> str:
        """Which other marks repeat this one: a text, empty if none does."""
        if not self.same_for:
            return ""
        first = ", ".join(
            shown(feature)
            if shown_value(value) == shown_value(self.value)
            else f"{shown(feature)}: {shown_value(value)}"
            for feature, value in self.same_for[:_BLOCK_SHOWN]
        )
        more = ", ..." if len(self.same_for) > _BLOCK_SHOWN else ""
        return f"the same for {first}{more} (one block)"

    def __str__(self) -> str:
        block = f", {self.block}" if self.same_for else ""
        return f"{self.name}  {self.shares}{block}"


def marks_of(
    profile: Profile, cluster: int, n_marks: int = N_MARKS, side: Literal[1, -1] = 1
) -> list[Mark]:
    """Return the values that mark a cluster most, those that say no at the end.

    They are those that it has more of, or with `side` -1 less of, than the whole table. A value
    whose share looks like that in the whole table is no mark.
    """
    candidates = _candidates(profile, cluster, side)
    blocks = _blocks(profile, candidates, n_marks)
    marks = [_mark(profile, block) for block in blocks]
    return sorted(marks, key=lambda mark: mark.is_no)


def default_names(profile: Profile, k: int) -> tuple[str, ...]:
    """Return a name for each cluster: its first two marks of different columns, made unique."""
    names = [_default_name(marks_of(profile, i), i) for i in range(k)]
    taken = Counter(names)
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(f"{name} ({seen[name]})" if taken[name] > 1 else name)
    return tuple(unique)


def _default_name(marks: Sequence[Mark], number: int) -> str:
    first: dict[str, Mark] = {}
    for mark in marks:
        first.setdefault(mark.feature, mark)
    return ", ".join(mark.name for mark in list(first.values())[:2]) or f"group {number}"


def _candidates(profile: Profile, cluster: int, side: int) -> NDArray[np.intp]:
    """Return the rows of the profile that may mark a cluster."""
    start, end = np.searchsorted(profile.cluster, (cluster, cluster + 1))
    rows = np.arange(start, end)[profile.side[start:end] == side][:_LOOKED_AT]
    apart = [percent(profile.share[row]) != percent(profile.overall[row]) for row in rows]
    found: NDArray[np.intp] = rows[np.array(apart, bool)]
    return found


def _blocks(
    profile: Profile, candidates: NDArray[np.intp], n_blocks: int
) -> list[NDArray[np.intp]]:
    """Return the first rows, each with those that repeat it."""
    shares = shares_by_cluster(profile, candidates)
    feature = profile.feature[candidates]
    is_missing = profile.code[candidates] == profile.codebook.lengths[feature]
    left = np.ones(len(candidates), bool)
    blocks: list[NDArray[np.intp]] = []
    while left.any() and len(blocks) < n_blocks:
        first = int(left.argmax())
        alike = left & repeats(shares, is_missing, first) & (feature != feature[first])
        alike[first] = True
        left &= ~alike
        blocks.append(candidates[alike])
    return blocks


def repeats(
    shares: NDArray[np.float64], is_missing: NDArray[np.bool_], first: int
) -> NDArray[np.bool_]:
    """Tell which values repeat a first one, given their shares in every cluster."""
    off = np.abs(shares - shares[first]).max(axis=1)
    skipped = is_missing & (shares.max(axis=1) >= _SKIPPED)
    return np.asarray(off <= np.where(skipped & skipped[first], _SAME_MISSING, _SAME))


def shares_by_cluster(profile: Profile, candidates: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the shares of the values of some rows in every cluster."""
    k = int(profile.cluster.max(initial=0)) + 1
    shares = np.zeros((len(candidates), k))
    if not len(candidates):
        return shares
    width = int(profile.code.max()) + 1
    slot = profile.feature * width + profile.code
    order = np.argsort(slot[candidates])
    sorted_slots = slot[candidates][order]
    place = np.minimum(np.searchsorted(sorted_slots, slot), len(candidates) - 1)
    known = sorted_slots[place] == slot
    shares[order[place[known]], profile.cluster[known]] = profile.share[known]
    return shares


def _mark(profile: Profile, block: NDArray[np.intp]) -> Mark:
    """Return the mark of a block: the first that does not say no stands for all."""
    names = feature_names(profile.codebook)
    first, *others = sorted(block.tolist(), key=lambda row: _says_no(profile, row))
    return Mark(
        feature=names[profile.feature[first]],
        value=_value(profile, first),
        share=float(profile.share[first]),
        overall=float(profile.overall[first]),
        same_for=tuple((names[profile.feature[row]], _value(profile, row)) for row in others),
        is_no=_says_no(profile, first),
    )


def _says_no(profile: Profile, row: int) -> bool:
    return is_no(_value(profile, row), int(profile.codebook.lengths[profile.feature[row]]))


def _value(profile: Profile, row: int) -> Any:
    return profile.codebook.values(int(profile.feature[row]))[profile.code[row]]


def is_no(value: Any, n_values: int) -> bool:
    """Tell whether a value of a column says that something is not there.

    Examples
    --------
    >>> is_no(None, 5), is_no("No", 2), is_no(0, 2), is_no(0, 9), is_no("never", 2)
    (True, True, True, False, False)
    """
    return value is None or (n_values <= 2 and str(value)[:20].strip().lower() in _NO_WORDS)


def percent(share: float) -> str:
    """Return a share in per cent; one that is not 0 or 1 does not look as if it were.

    Examples
    --------
    >>> percent(0.486), percent(0.001), percent(0.999), percent(1.0)
    ('49 %', '<1 %', '>99 %', '100 %')
    """
    rounded = round(100 * share)
    if rounded == 0 and share > 0:
        return "<1 %"
    return ">99 %" if rounded == 100 and share < 1 else f"{rounded} %"


def shown(text: str) -> str:
    """Return a name as a reader can take it in: harmless, in one line, and short."""
    long = len(text) > _LONGEST_READ
    text = harmless(" ".join(text[:_LONGEST_READ].split(" ")))
    if not long and len(text) <= _LONGEST_SHOWN:
        return text
    return text[: _LONGEST_SHOWN - 3] + "..."


def shown_value(value: Any) -> str:
    """Return a value as a reader can take it in."""
    return "missing" if value is None else shown(str(value))
