"""The bar: what our default must reach beside the rivals, judged line by line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from softmodes._compare.cells import EQUAL_TIME
from softmodes._compare.contenders import CONTENDERS, DEFAULT
from softmodes._compare.summary import Summary

BELOW_BEST = 0.01
LEAST_LOW_END = -0.03
BELOW_STABLEST = 0.02
FAR_BELOW, MOST_FAR_BELOW = 0.1, 2
STABLE_RIVALS = ("KMeans", "Gaussian diagonal", "Gaussian full", "StepMix", "kmodes Huang")
_ALL_RIVALS = tuple(name for name, one in CONTENDERS.items() if one.side == "rival")

HOLDS, SO_FAR, FAILS, NOT_RUN = "holds", "holds so far", "does not hold", "not run"


@dataclass(frozen=True)
class Judgement:
    """A line of the bar, whether it holds, and the numbers that say so."""

    claim: str
    verdict: str
    evidence: str


def judge(summary: Summary) -> list[Judgement]:
    """Judge every line of the bar, by rivals that were run on all tables.

    While a rival was not, a line that asks for the best of them holds "so far", and tells which.
    """
    return [
        _mean(summary),
        _interval(summary),
        *_at_equal_time(summary),
        _same_again(summary),
        _same_again_by_table(summary),
    ]


def _mean(summary: Summary) -> Judgement:
    many = summary.many
    claim = f"{many}: mean ARI at least that of the best rival minus {BELOW_BEST}"
    means = _means(summary, many)
    best = best_rival(summary, many)
    if best is None or DEFAULT not in means:
        return _not_run(claim)
    holds = means[DEFAULT] >= means[best] - BELOW_BEST
    told = f"{means[DEFAULT]:.3f}, the best rival {best} {means[best]:.3f}"
    return _judged(claim, holds, told, _lacking(_ALL_RIVALS, means))


def _interval(summary: Summary) -> Judgement:
    many = summary.many
    claim = (
        f"{many}: lower end of the paired 90 % interval of the difference to the best rival "
        f"at least {LEAST_LOW_END}"
    )
    means = _means(summary, many)
    best = best_rival(summary, many)
    if best is None or DEFAULT not in means:
        return _not_run(claim)
    mean, low, high = summary.interval(best, many)
    if math.isnan(low):
        return _not_run(claim)
    told = f"{mean:+.3f} [{low:+.3f}, {high:+.3f}] against {best}"
    return _judged(claim, low >= LEAST_LOW_END, told, _lacking(_ALL_RIVALS, means))


def _at_equal_time(summary: Summary) -> list[Judgement]:
    setting = EQUAL_TIME.name
    rivals = _rivals(summary)
    judged = []
    for name in rivals:
        claim = f"{setting}: more wins than losses against {name}"
        row = summary.row(name, setting)
        if row is None or not len(summary.differences(name, setting)):
            judged.append(_not_run(claim))
            continue
        ties = len(summary.differences(name, setting)) - row.wins - row.losses
        told = f"{row.wins} wins, {row.losses} losses, {ties} within .005"
        judged.append(_judged(claim, row.wins > row.losses, told))
    return judged


def _same_again(summary: Summary) -> Judgement:
    claim = (
        f"same again, {summary.many}: mean at least that of the best of "
        f"{', '.join(STABLE_RIVALS)} minus {BELOW_STABLEST}"
    )
    means, best = stablest(summary)
    if best is None:
        return _not_run(claim)
    holds = means[DEFAULT] >= means[best] - BELOW_STABLEST
    told = f"{means[DEFAULT]:.3f}, {best} {means[best]:.3f}"
    return _judged(claim, holds, told, _lacking(STABLE_RIVALS, means))


def _same_again_by_table(summary: Summary) -> Judgement:
    claim = (
        f"same again, {summary.many}: below that one by over {FAR_BELOW} "
        f"on at most {MOST_FAR_BELOW} tables"
    )
    means, best = stablest(summary)
    if best is None:
        return _not_run(claim)
    found = summary.same_again_values(summary.many)
    ours, theirs = found[:, summary.column(DEFAULT)], found[:, summary.column(best)]
    far = [
        f"{table} {a:.2f} against {b:.2f}"
        for table, a, b in zip(summary.tables, ours, theirs, strict=True)
        if a < b - FAR_BELOW
    ]
    told = f"{len(far)} against {best}" + (f": {'; '.join(far)}" if far else "")
    return _judged(claim, len(far) <= MOST_FAR_BELOW, told, _lacking(STABLE_RIVALS, means))


def stablest(summary: Summary) -> tuple[dict[str, float], str | None]:
    """Return how much each is the same again over all tables, and the best of the stable rivals."""
    found = summary.same_again_values(summary.many)
    means = {
        name: float(found[:, i].mean())
        for i, name in enumerate(summary.contenders)
        if not math.isnan(found[:, i].mean())
    }
    rivals = [name for name in STABLE_RIVALS if name in means]
    if not rivals or DEFAULT not in means:
        return means, None
    return means, max(rivals, key=means.__getitem__)


def _rivals(summary: Summary) -> list[str]:
    return [name for name, about in summary.contenders.items() if about["side"] == "rival"]


def _means(summary: Summary, setting: str) -> dict[str, float]:
    """Return the mean ARI of those that were run on all tables."""
    found = summary.values(setting, "ari")
    return {name: float(found[:, summary.column(name)].mean()) for name in summary.ranked(setting)}


def best_rival(summary: Summary, setting: str) -> str | None:
    """Return the rival of the highest mean ARI, of those that were run on all tables."""
    means = _means(summary, setting)
    rivals = [name for name in _rivals(summary) if name in means]
    return max(rivals, key=means.__getitem__, default=None)


def _lacking(rivals: Iterable[str], means: dict[str, float]) -> list[str]:
    return [name for name in rivals if name not in means]


def _judged(claim: str, holds: bool, told: str, lacking: Sequence[str] = ()) -> Judgement:
    if lacking:
        told += f"; not run on all tables: {', '.join(lacking)}"
    return Judgement(claim, (SO_FAR if lacking else HOLDS) if holds else FAILS, told)


def _not_run(claim: str) -> Judgement:
    return Judgement(claim, NOT_RUN, "no results on all tables yet")
