"""The paper's claims, each judged by the numbers found; none is forced."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softmodes._paper.experiments import Data
from softmodes._paper.summary import Found, Series, compare

HOLDS, FAILS, NOT_RUN = "holds", "does not hold", "not run"
AT_CHANCE = 0.55
RECOVERED = 0.95
CLOSE = 0.02
FLAT = 0.03


@dataclass(frozen=True)
class Judgement:
    """A claim, whether it holds, and the numbers that say so."""

    claim: str
    verdict: str
    evidence: str


def judge(found: Found) -> list[Judgement]:
    """Judge every claim of an experiment by what was found."""
    claims = found.experiment.claims
    if not found.series:
        return [Judgement(claim, NOT_RUN, "no results yet") for claim in claims]
    answers = _JUDGES[found.experiment.id](found) if claims else []
    so_far = " (so far)" if found.n_missing else ""
    return [
        Judgement(claim, verdict if verdict == NOT_RUN else verdict + so_far, evidence)
        for claim, (verdict, evidence) in zip(claims, answers, strict=True)
    ]


Answer = tuple[str, str]


def _theorem(found: Found) -> list[Answer]:
    return [
        _for_all(found, "k-modes", lambda s: s.mean() <= 0.51),
        _by_t(found, lambda s: s.mean() >= 0.74),
        _for_all(found, "softmodes", _mostly_perfect, t=1.0, where=lambda d: d["q"] <= 0.05),
    ]


def _theorem_map(found: Found) -> list[Answer]:
    widest = max(d["d"] for d in found.data())
    below = [d for d in found.data() if d["p"] < 0.5 and d["d"] == widest]
    if not below:
        return [(NOT_RUN, "no results with p < 0.5")]
    stuck = _share(_present(found, below, "k-modes"), lambda s: s.mean() <= AT_CHANCE)
    parts = [
        f"with {widest:,} features and p < 0.5, of the points (p, q) {stuck:.0%} leave "
        f"k-modes at chance (at most {AT_CHANCE})"
    ]
    holding = []
    for t in found.finite_t():
        share = _share(_present(found, below, "softmodes", t), lambda s: s.mean() >= RECOVERED)
        parts.append(f"SoftModes({t:g}) recovers the blocks (at least {RECOVERED}) at {share:.0%}")
        if share == 1 and stuck == 1:
            holding.append(t)
    return [(_verdict(holding, found.finite_t()), "; ".join(parts))]


def _fig_sbm(found: Found) -> list[Answer]:
    sparse = lambda d: d["p"] < 0.5  # noqa: E731
    return [
        _for_all(found, "softmodes", lambda s: s.mean() >= 0.995, t=1.0, where=sparse),
        _for_all(found, "k-modes", lambda s: s.mean() <= 0.52, where=sparse),
        _for_all(found, "k-modes", lambda s: s.std() >= 0.05, where=lambda d: d["p"] > 0.5),
    ]


def _fig_ccm(found: Found) -> list[Answer]:
    large = [d for d in found.data() if d.n_clusters >= 50]
    return [
        _compared_by_t(found, large, ["k-means"]),
        _compared(found, large, "k-means", "k-modes"),
        _time_by_t(found, large),
    ]


def _fig_noise(found: Found) -> list[Answer]:
    return [_compared_by_t(found, found.data(), ["k-means", "k-modes"])]


def _fig_convergence(found: Found) -> list[Answer]:
    data = found.data()[0]
    k_modes, k_means = found.get(data, "k-modes"), found.get(data, "k-means")
    ours = [(t, s) for t in found.finite_t() if (s := found.get(data, "softmodes", t))]
    return [_every_round(ours, k_modes), _faster_but_lower(ours, k_means)]


def _fig_t(found: Found) -> list[Answer]:
    data = found.data()[0]
    ours = [s for t in found.finite_t() if (s := found.get(data, "softmodes", t))]
    return [_threshold(ours), _compared_by_t(found, [data], ["k-modes"], level_is_enough=True)]


def _table_real(found: Found) -> list[Answer]:
    above, close, lines, gaps = [], [], [], []
    for data in found.data():
        best, k_modes = rescored(found, data), choosing(found, data, math.inf)
        if best is None or k_modes is None:
            continue
        lines.append(
            f"{data.kind}: {_numbers(best)} with t = {best.algorithm.t:g} against "
            f"{_numbers(k_modes)}"
        )
        above += [data.kind] if compare(best, k_modes) > 0 else []
        rival = max(_rivals(found, data), key=Series.mean, default=None)
        if rival is not None:
            gaps.append(
                f"{data.kind}: {best.mean():.3f}, {rival.algorithm.title} {rival.mean():.3f}"
            )
            close += [data.kind] if best.mean() >= rival.mean() - CLOSE else []
    return [
        (_verdict(above, lines, "on"), "; ".join(lines)),
        (_verdict(close, gaps, "on"), f"close is within {CLOSE}. " + "; ".join(gaps)),
    ]


_JUDGES: dict[str, Callable[[Found], list[Answer]]] = {
    "theorem": _theorem,
    "theorem-map": _theorem_map,
    "fig-sbm": _fig_sbm,
    "fig-ccm": _fig_ccm,
    "fig-noise": _fig_noise,
    "fig-convergence": _fig_convergence,
    "fig-t": _fig_t,
    "table-real": _table_real,
}


# ------------------------------------------------------------------------------ real tables


def best_by_label(found: Found, data: Data) -> Series | None:
    """Return SoftModes at the finite t of highest accuracy in the runs meant for choosing."""
    tried = [s for t in found.finite_t() if (s := choosing(found, data, t))]
    return max(tried, key=Series.mean, default=None)


def rescored(found: Found, data: Data) -> Series | None:
    """Return the runs with the best t that had no part in choosing it."""
    best = best_by_label(found, data)
    whole = found.get(data, "softmodes", best.algorithm.t) if best else None
    fresh = whole.part(found.runs(data), 2 * found.runs(data)) if whole else None
    return fresh if fresh and fresh.records else None


def choosing(found: Found, data: Data, t: float) -> Series | None:
    """Return the first half of the runs of SoftModes(t), as many as the paper's."""
    whole = found.get(data, "k-modes" if math.isinf(t) else "softmodes", t)
    first = whole.part(0, found.runs(data)) if whole else None
    return first if first and first.records else None


def label_free(found: Found, data: Data) -> Series | None:
    """Return the one run, over all t and the runs for choosing, of lowest expected cost."""
    runs = [
        Series(data, s.algorithm, (record,))
        for t in (*found.finite_t(), math.inf)
        if (s := choosing(found, data, t))
        for record in s.records
    ]
    return min(runs, key=lambda s: float(s.records[0]["expected_cost"]), default=None)


def _rivals(found: Found, data: Data) -> list[Series]:
    return [s for s in found.on(data) if s.algorithm.name not in ("softmodes", "k-modes")]


# ---------------------------------------------------------------------------------- wording


def _for_all(
    found: Found,
    name: str,
    test: Callable[[Series], bool],
    t: float | None = None,
    where: Callable[[Data], bool] = lambda data: True,
) -> Answer:
    tested = _present(found, filter(where, found.data()), name, t)
    if not tested:
        return NOT_RUN, "no results yet"
    passed = [series for series in tested if test(series)]
    verdict = HOLDS if len(passed) == len(tested) else FAILS
    if verdict == FAILS and passed:
        verdict = f"holds in {len(passed)} of {len(tested)} settings"
    return verdict, "; ".join(f"{place(s.data)}: {_numbers(s)}" for s in tested)


def _by_t(found: Found, test: Callable[[Series], bool]) -> Answer:
    holding, parts = [], []
    for t in found.finite_t():
        tested = _present(found, found.data(), "softmodes", t)
        passed = sum(map(test, tested))
        holding += [t] if passed == len(tested) else []
        worst = min(tested, key=Series.mean)
        parts.append(
            f"t = {t:g}: in {passed} of {len(tested)} settings, lowest "
            f"{worst.mean():.3f} at {place(worst.data)}"
        )
    return _verdict(holding, found.finite_t()), "; ".join(parts)


def _compared(found: Found, data: Iterable[Data], name: str, other: str) -> Answer:
    pairs = [(a, b) for d in data if (a := found.get(d, name)) and (b := found.get(d, other))]
    if not pairs:
        return NOT_RUN, "no results yet"
    verdict = HOLDS if all(compare(a, b) > 0 for a, b in pairs) else FAILS
    return verdict, "; ".join(
        f"{place(a.data)}: {name} {_numbers(a)}, {other} {_numbers(b)}" for a, b in pairs
    )


def _compared_by_t(
    found: Found, data: list[Data], others: list[str], level_is_enough: bool = False
) -> Answer:
    holding, tested, parts = [], [], []
    for t in found.finite_t():
        signs, worst = _signs(found, data, t, others)
        if not signs:
            continue
        tested.append(t)
        above, level, below = (signs.count(sign) for sign in (1, 0, -1))
        if not below and (above or level_is_enough):
            holding.append(t)
        parts.append(
            f"t = {t:g}: above in {above}, level in {level}, below in {below}"
            + (f" ({worst})" if below else "")
        )
    return _verdict(holding, tested), f"against {' and '.join(others)}: " + "; ".join(parts)


def _signs(found: Found, data: list[Data], t: float, others: list[str]) -> tuple[list[int], str]:
    """Return how SoftModes(t) compares with the best of others, and where it is lowest."""
    signs, gaps = [], {}
    for d in data:
        ours = found.get(d, "softmodes", t)
        rivals = [s for name in others if (s := found.get(d, name))]
        if ours is None or not rivals:
            continue
        best = max(rivals, key=Series.mean)
        signs.append(compare(ours, best))
        gaps[f"{place(d)}: {ours.mean():.3f} against {best.mean():.3f}"] = ours.mean() - best.mean()
    return signs, "worst " + min(gaps, key=gaps.__getitem__) if gaps else ""


def _time_by_t(found: Found, data: list[Data]) -> Answer:
    holding, parts = [], []
    for t in found.finite_t():
        pairs = [
            (a, b)
            for d in data
            if (a := found.get(d, "softmodes", t)) and (b := found.get(d, "k-modes"))
        ]
        holding += [t] if all(a.seconds <= 1.05 * b.seconds for a, b in pairs) else []
        parts += [
            f"{place(a.data)}: SoftModes({t:g}) {a.seconds:.2f} s, k-modes {b.seconds:.2f} s"
            for a, b in pairs
        ]
    return _verdict(holding, found.finite_t()), "; ".join(parts)


def _every_round(ours: list[tuple[float, Series]], k_modes: Series | None) -> Answer:
    if k_modes is None or not ours:
        return NOT_RUN, "no results yet"
    theirs = curves(k_modes).mean(axis=0)
    holding, parts = [], []
    for t, series in ours:
        gap = curves(series).mean(axis=0) - theirs
        later = gap[1:]  # the seeds, and so round 1, are the same
        holding += [t] if (later > 0).all() else []
        parts.append(
            f"t = {t:g}: above in {int((later > 0).sum())} of {len(later)} rounds after "
            f"the first, lowest {later.min():+.3f} in round {int(later.argmin()) + 2}, "
            f"last {later[-1]:+.3f}"
        )
    return _verdict(holding, [t for t, _ in ours]), "; ".join(parts)


def _faster_but_lower(ours: list[tuple[float, Series]], k_means: Series | None) -> Answer:
    if k_means is None or not ours:
        return NOT_RUN, "no results yet"
    reference = curves(k_means).mean(axis=0)
    holding = []
    parts = [
        f"k-means ends at {reference[-1]:.3f} and is near that (within 0.01) from round "
        f"{_near_its_end(reference)}"
    ]
    for t, series in ours:
        curve = curves(series).mean(axis=0)
        slower = _near_its_end(curve) > _near_its_end(reference)
        holding += [t] if slower and compare(series, k_means) > 0 else []
        parts.append(
            f"SoftModes({t:g}) ends at {curve[-1]:.3f}, near from round {_near_its_end(curve)}"
        )
    return _verdict(holding, [t for t, _ in ours]), "; ".join(parts)


def curves(series: Series) -> NDArray[np.float64]:
    """Return accuracy by run and round; a run that has ended stays where it is."""
    traces = [record["trace"] for record in series.records]
    rounds = max(30, *map(len, traces))
    return np.array([[*trace, *[trace[-1]] * (rounds - len(trace))] for trace in traces])


def _near_its_end(curve: NDArray[np.float64]) -> int:
    far = np.flatnonzero(np.abs(curve - curve[-1]) > 0.01)
    return int(far[-1]) + 2 if len(far) else 1


def _threshold(ours: list[Series]) -> Answer:
    if len(ours) < 3:
        return NOT_RUN, "fewer than three values of t"
    means = [series.mean() for series in ours]
    flat = next(i for i in range(len(means)) if max(means[i:]) - min(means[i:]) <= FLAT)
    t = ours[flat].algorithm.t
    verdict = HOLDS if flat < len(ours) - 1 else FAILS
    numbers = ", ".join(f"t = {s.algorithm.t:g}: {_numbers(s)}" for s in ours)
    return verdict, f"from t = {t:g} on all means are within {FLAT}. {numbers}"


def _mostly_perfect(series: Series) -> bool:
    return float((series.values("accuracy") == 1).mean()) >= 0.95


def _present(found: Found, data: Iterable[Data], name: str, t: float | None = None) -> list[Series]:
    return [series for d in data if (series := found.get(d, name, t))]


def _share(series: list[Series], test: Callable[[Series], bool]) -> float:
    return sum(map(test, series)) / len(series) if series else math.nan


def _verdict(holding: list[float] | list[str], tested: Iterable[object], word: str = "") -> str:
    n_tested = len(list(tested))
    if n_tested == 0:
        return NOT_RUN
    if len(holding) == n_tested:
        return HOLDS
    if not holding:
        return FAILS
    shown = ", ".join(h if isinstance(h, str) else f"{h:g}" for h in holding)
    return f"holds {word or 'for t in'} {shown}"


def _numbers(series: Series) -> str:
    if len(series.records) == 1:
        return f"{series.mean():.3f}"
    return f"{series.mean():.3f} ± {series.std():.3f}"


def place(data: Data) -> str:
    """Return where in its experiment's grid a data set stands."""
    if data.kind == "bbm":
        return f"p = {data['p']:g}, q = {data['q']:g}"
    if data.kind == "ccm":
        noise = f", rho = {data['noise']:g}" if data["noise"] else ""
        return f"k = {data.n_clusters:,}{noise}"
    return data.kind
