"""The rule that picks the number of clusters, and how far it is to be trusted.

The largest k that pays for itself (exact ICL), whose clusters are separated by a gap (valley), are
found again in other rows, and are none too small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How far a choice is to be trusted."""

    SOLID = "Solid"
    CARE = "Use with care"
    NOT_SEPARATE = "No separate groups"
    NONE = "No groups"


@dataclass(frozen=True)
class Statistics:
    """What is known of the partition into k clusters; NaN where one cluster has no such thing."""

    k: int
    icl: float
    valley: float
    found_again: float
    silhouette: float
    aic3: float
    bic: float
    deciding_columns: float
    line_share: float
    explained: float
    smallest: float  # rows in the smallest cluster
    n_rows: float


@dataclass(frozen=True)
class Thresholds:
    """Where the rule draws its lines."""

    valley: float = 0.8
    found_again: float = 0.6
    fewest_rows: float = 10
    least_share: float = 0.01
    solid_valley: float = 0.6
    solid_found_again: float = 0.75
    solid_columns: float = 3
    line: float = 0.9


@dataclass(frozen=True)
class Choice:
    """The number of clusters, and what to make of it.

    Attributes
    ----------
    pick
        Number of clusters; None if there are no separate ones.
    pays
        The k with the lowest ICL: more clusters do not pay for themselves.
    solid
        The largest k that is solid, if any.
    more
        Whether the pick is the largest k that was tried: there may be more.
    verdict, why
        A word, and a sentence.
    """

    pick: int | None
    pays: int
    solid: int | None
    more: bool
    verdict: Verdict
    why: str


def choose(found: Sequence[Statistics], limits: Thresholds | None = None) -> Choice:
    """Pick the number of clusters from what is known of k = 1, 2, and so on."""
    limits = limits or Thresholds()
    by_k = {row.k: row for row in found}
    if 1 not in by_k:
        raise ValueError(f"found has k={sorted(by_k)}. Pass the statistics of k=1, too.")
    pays = min(by_k, key=lambda k: (by_k[k].icl, k))
    separate = [k for k in by_k if 2 <= k <= pays and _is_separate(by_k[k], limits)]
    solid = max((k for k in separate if _is_solid(by_k[k], limits)), default=None)
    pick = max(separate, default=None)
    verdict, why = _verdict(by_k, pays, pick, limits)
    return Choice(pick, pays, solid, pick == max(by_k), verdict, why)


def _is_separate(row: Statistics, limits: Thresholds) -> bool:
    least = max(limits.fewest_rows, limits.least_share * row.n_rows)
    return (
        row.valley < limits.valley
        and not row.found_again < limits.found_again  # NaN: nobody has looked
        and row.smallest >= least
    )


def _is_solid(row: Statistics, limits: Thresholds) -> bool:
    return (
        row.valley < limits.solid_valley
        and row.found_again >= limits.solid_found_again
        and row.deciding_columns >= limits.solid_columns
    )


def _verdict(
    by_k: dict[int, Statistics], pays: int, pick: int | None, limits: Thresholds
) -> tuple[Verdict, str]:
    if pick is not None:
        row = by_k[pick]
        if _is_solid(row, limits):
            return Verdict.SOLID, "The groups are apart, and are found again in other rows."
        return Verdict.CARE, _doubt(row, limits)
    if pays == 1:
        return Verdict.NONE, "No groups pay for themselves: the columns are unrelated."
    line = by_k[3].line_share if 3 in by_k else math.nan
    if math.isnan(line):
        return Verdict.NOT_SEPARATE, "There is no gap between any groups."
    if line >= limits.line:
        return Verdict.NOT_SEPARATE, "The rows lie on a scale: it can be cut into bands."
    return Verdict.NOT_SEPARATE, "The rows differ in several directions, without gaps."


def _doubt(row: Statistics, limits: Thresholds) -> str:
    if row.deciding_columns < limits.solid_columns:
        return f"Only about {row.deciding_columns:.0f} columns tell two of the groups apart."
    if row.found_again < limits.solid_found_again:
        return "In other rows the groups are found again in part only."
    return "Two of the groups are hardly apart."
