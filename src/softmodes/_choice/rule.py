"""The rule that picks the number of clusters, and how far it is to be trusted.

The largest k that pays for itself (exact ICL), whose clusters are separated by a gap (valley), by
more than two columns, are found again in other rows and from other seeds, and are none too small.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How far a choice is to be trusted; of a single k, `DO_NOT_USE` stands for the last two."""

    SOLID = "Solid"
    CARE = "Use with care"
    DO_NOT_USE = "Do not use"
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
    n_columns: int
    same_again: float = math.nan
    shuffled: float = math.nan
    tied: float = math.nan
    missing: float = math.nan  # part of what tells two clusters apart that missing cells tell


@dataclass(frozen=True)
class Thresholds:
    """Where the rule draws its lines."""

    valley: float = 0.8
    found_again: float = 0.6
    fewest_rows: float = 10
    least_share: float = 0.01
    least_columns: float = 2.5  # or half of all
    solid_valley: float = 0.6
    solid_found_again: float = 0.75
    solid_columns: float = 3.5
    solid_missing: float = 0.5
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
    verdicts, reasons
        What to make of each k above 1, and why: a sentence.
    """

    pick: int | None
    pays: int
    solid: int | None
    more: bool
    verdict: Verdict
    why: str
    verdicts: dict[int, Verdict]
    reasons: dict[int, str]


def choose(
    found: Sequence[Statistics],
    limits: Thresholds | None = None,
    among: Collection[int] | None = None,
) -> Choice:
    """Pick the number of clusters, `among` some, from what is known of k = 1, 2, and so on."""
    limits = limits or Thresholds()
    by_k = {row.k: row for row in found}
    if 1 not in by_k:
        raise ValueError(f"found has k={sorted(by_k)}. Pass the statistics of k=1, too.")
    pays = min(by_k, key=lambda k: (by_k[k].icl, k))
    candidates = sorted(k for k in by_k if k > 1 and (among is None or k in among))
    verdicts = {k: _verdict_of(by_k[k], pays, limits) for k in candidates}
    reasons = {k: _why(by_k[k], verdict, pays, limits) for k, verdict in verdicts.items()}
    fine = [k for k, verdict in verdicts.items() if verdict is not Verdict.DO_NOT_USE]
    solid = max((k for k in fine if verdicts[k] is Verdict.SOLID), default=None)
    pick = max(fine, default=None)
    if pick is None:
        verdict, why = _no_groups([by_k[k] for k in candidates], pays, by_k.get(3), limits)
    else:
        verdict, why = verdicts[pick], reasons[pick]
    more = pick is not None and pick == max(candidates)
    return Choice(pick, pays, solid, more, verdict, why, verdicts, reasons)


def _verdict_of(row: Statistics, pays: int, limits: Thresholds) -> Verdict:
    if row.k > pays or not _is_separate(row, limits):
        return Verdict.DO_NOT_USE
    return Verdict.SOLID if _is_solid(row, limits) else Verdict.CARE


def _is_separate(row: Statistics, limits: Thresholds) -> bool:
    least = max(limits.fewest_rows, limits.least_share * row.n_rows)
    return (
        row.valley < limits.valley
        and not row.found_again < limits.found_again  # NaN: nobody has looked
        and not row.same_again < limits.found_again
        and row.smallest >= least
        and not _few_decide(row, limits)
    )


def _few_decide(row: Statistics, limits: Thresholds) -> bool:
    """Tell whether so few columns make two groups that these may just repeat one another."""
    return row.deciding_columns < min(limits.least_columns, row.n_columns / 2)


def _is_solid(row: Statistics, limits: Thresholds) -> bool:
    return (
        row.valley < limits.solid_valley
        and row.found_again >= limits.solid_found_again
        and not row.same_again < limits.solid_found_again
        and row.deciding_columns >= limits.solid_columns
        and not row.missing > limits.solid_missing
    )


def _why(row: Statistics, verdict: Verdict, pays: int, limits: Thresholds) -> str:
    if verdict is Verdict.SOLID:
        return _praise(row)
    return _doubt(row, limits) if verdict is Verdict.CARE else _refusal(row, pays, limits)


def _praise(row: Statistics) -> str:
    return f"the groups are apart, and are found again in other rows ({row.found_again:.2f})."


def _doubt(row: Statistics, limits: Thresholds) -> str:
    if row.deciding_columns < limits.solid_columns:
        return f"only about {row.deciding_columns:.0f} columns tell two of the groups apart."
    if row.missing > limits.solid_missing:
        return "two of the groups differ mostly in what is missing: try missing='ignore'."
    if math.isnan(row.found_again):
        return "whether the groups are found again in other rows was not tried."
    if row.found_again < limits.solid_found_again:
        return f"in other rows the groups are found again in part only ({row.found_again:.2f})."
    if row.same_again < limits.solid_found_again:
        return f"another seed finds the groups in part only ({row.same_again:.2f})."
    return "two of the groups are hardly apart."


def _refusal(row: Statistics, pays: int, limits: Thresholds) -> str:
    if row.k > pays:
        return "so many groups describe the rows no better than fewer do."
    if not row.valley < limits.valley:
        return "there is no gap between two of the groups."
    if _few_decide(row, limits):
        return "only a few columns tell two of the groups apart, which may repeat one another."
    if row.found_again < limits.found_again:
        return f"in other rows the groups are not found again ({row.found_again:.2f})."
    if row.same_again < limits.found_again:
        return f"another seed does not find the groups ({row.same_again:.2f})."
    return f"the smallest group has {row.smallest:.0f} rows, which is too few."


def _no_groups(
    rows: Sequence[Statistics], pays: int, three: Statistics | None, limits: Thresholds
) -> tuple[Verdict, str]:
    if not rows:
        return Verdict.NONE, "there are too few rows to look for any."
    if pays == 1:
        return Verdict.NONE, "the columns are unrelated, or the rows too few to tell."
    if rows[0].n_rows < 2 * limits.fewest_rows:
        return Verdict.NOT_SEPARATE, (
            f"with {rows[0].n_rows:.0f} rows, no two groups have {limits.fewest_rows:.0f} each."
        )
    found = [row for row in rows if row.k <= pays and row.valley < limits.valley]
    if any(_few_decide(row, limits) for row in found):
        return Verdict.NOT_SEPARATE, "only a few columns agree, which may repeat one another."
    if found:
        return Verdict.NOT_SEPARATE, "groups are too small, or are not found again."
    line = math.nan if three is None else three.line_share
    if math.isnan(line):
        return Verdict.NOT_SEPARATE, "there is no gap between any groups."
    if line >= limits.line:
        return Verdict.NOT_SEPARATE, "the rows lie on a scale: it can be cut into bands."
    return Verdict.NOT_SEPARATE, "the rows differ in several directions, without gaps."
