"""How claims are judged by the numbers found; none is forced.

A judge takes what was found and returns a verdict and its evidence. The functions that start with
`judge_` make judges of a common form; an experiment writes its own where none of them fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from softmodes._paper.experiment import Judge
from softmodes._paper.recipe import Data
from softmodes._paper.summary import Found, Series, compare, mean_and_spread

HOLDS, FAILS, NOT_RUN = "holds", "does not hold", "not run"
TOO_FEW = "too few runs"

Test: TypeAlias = Callable[[Series], bool]
Where: TypeAlias = Callable[[Data], bool]


class Answer(NamedTuple):
    """A judge's verdict, the numbers that say so, and, where a claim fails, what it is that fails.

    That is the claim, the size, the number of runs, or our reading of it.
    """

    verdict: str
    evidence: str
    reason: str = ""


NO_RESULTS = Answer(NOT_RUN, "no results yet")


@dataclass(frozen=True)
class Judgement:
    """A claim, whether it holds, and the numbers that say so."""

    claim: str
    verdict: str
    evidence: str
    reason: str = ""


def judgements_of(found: Found) -> list[Judgement]:
    """Judge every claim of an experiment by what was found.

    At the small size, which only shows that everything works, none is judged.
    """
    answers = [
        (claim.text, claim.judge(found) if found.series else NO_RESULTS)
        for claim in found.experiment.claims
    ]
    return [
        Judgement(text, _shown(found, answer), answer.evidence, _reason(found, answer))
        for text, answer in answers
    ]


def _shown(found: Found, answer: Answer) -> str:
    if found.series and found.size == "small":
        return TOO_FEW
    if answer.verdict == NOT_RUN:
        return NOT_RUN
    return answer.verdict + (" (so far)" if found.n_missing else "")


def _reason(found: Found, answer: Answer) -> str:
    return "" if found.size == "small" or answer.verdict == HOLDS else answer.reason


def with_reason(judge: Judge, reason: str) -> Judge:
    """Return a judge that says what it is that fails, where a claim does not hold."""

    def judge_with_reason(found: Found) -> Answer:
        return judge(found)._replace(reason=reason)

    return judge_with_reason


# ----------------------------------------------------------------------------- making judges


def anywhere(data: Data) -> bool:
    """Return true: no data set is left out."""
    return True


def judge_everywhere(
    name: str, test: Test, *, t: float | None = None, where: Where = anywhere
) -> Judge:
    """Return a judge of whether an algorithm passes a test on all data sets."""

    def judge(found: Found) -> Answer:
        tested = found.series_of(name, t, filter(where, found.data()))
        if not tested:
            return NO_RESULTS
        passed = [series for series in tested if test(series)]
        verdict = HOLDS if len(passed) == len(tested) else FAILS
        if verdict == FAILS and passed:
            verdict = f"holds in {len(passed)} of {len(tested)} settings"
        return Answer(verdict, "; ".join(f"{s.data.title}: {mean_and_spread(s)}" for s in tested))

    return judge


def judge_above(name: str, other: str, *, where: Where = anywhere) -> Judge:
    """Return a judge of whether one algorithm is above another on all data sets."""

    def judge(found: Found) -> Answer:
        pairs = pairs_of(found, filter(where, found.data()), name, other)
        if not pairs:
            return NO_RESULTS
        verdict = HOLDS if all(compare(a, b) > 0 for a, b in pairs) else FAILS
        parts = (
            f"{a.data.title}: {name} {mean_and_spread(a)}, {other} {mean_and_spread(b)}"
            for a, b in pairs
        )
        return Answer(verdict, "; ".join(parts))

    return judge


def judge_each_t_against(
    *others: str, where: Where = anywhere, level_is_enough: bool = False
) -> Judge:
    """Return a judge of the t for which SoftModes is nowhere below the best of other algorithms.

    And above it on some data set, unless to be level everywhere is enough.
    """

    def judge(found: Found) -> Answer:
        holding, tested, parts = [], [], []
        for t in found.finite_t():
            pairs = _pairs_with_the_best(found, filter(where, found.data()), t, others)
            if not pairs:
                continue
            tested.append(t)
            signs = [compare(ours, best) for ours, best in pairs]
            above, level, below = (signs.count(sign) for sign in (1, 0, -1))
            if not below and (above or level_is_enough):
                holding.append(t)
            parts.append(
                f"t = {t:g}: above in {above}, level in {level}, below in {below}"
                + (f" (worst {_lowest_beside_best(pairs)})" if below else "")
            )
        evidence = f"against {' and '.join(others)}: " + "; ".join(parts)
        return Answer(verdict_over(holding, tested), evidence)

    return judge


def pairs_of(
    found: Found, data: Iterable[Data], name: str, other: str, t: float | None = None
) -> list[tuple[Series, Series]]:
    """Return one algorithm, with `t` if given, beside another, for every data set that has both."""
    return [(a, b) for d in data if (a := found.get(d, name, t)) and (b := found.get(d, other))]


def _pairs_with_the_best(
    found: Found, data: Iterable[Data], t: float, others: Iterable[str]
) -> list[tuple[Series, Series]]:
    """Return SoftModes(t) beside the best of others, for every data set that has both."""
    pairs = []
    for d in data:
        ours = found.get(d, "softmodes", t)
        rivals = [series for name in others if (series := found.get(d, name))]
        if ours and rivals:
            pairs.append((ours, max(rivals, key=Series.mean)))
    return pairs


def _lowest_beside_best(pairs: list[tuple[Series, Series]]) -> str:
    ours, best = min(pairs, key=lambda pair: pair[0].mean() - pair[1].mean())
    return f"{ours.data.title}: {ours.mean():.3f} against {best.mean():.3f}"


# --------------------------------------------------------------------------------- verdicts


def verdict_over(
    holding: Sequence[float | str], tested: Sequence[object], where: str = "for t in"
) -> str:
    """Return the verdict on a claim that holds for some of all that was tested."""
    if not tested:
        return NOT_RUN
    if len(holding) == len(tested):
        return HOLDS
    if not holding:
        return FAILS
    shown = ", ".join(h if isinstance(h, str) else f"{h:g}" for h in holding)
    return f"holds {where} {shown}"


def share_passing(series: list[Series], test: Test) -> float:
    """Return the share of the series that pass a test; not a number if there are none."""
    return sum(map(test, series)) / len(series) if series else math.nan
