"""The theorem, where it holds: accuracy against the number of features."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from softmodes._figures import GREY
from softmodes._paper.experiment import Claim, Experiment
from softmodes._paper.judging import FAILS, HOLDS, NO_RESULTS, Answer
from softmodes._paper.plots import (
    COLORS,
    color_of,
    label_accuracy,
    legend_above_all,
    line_style,
    many_panels,
)
from softmodes._paper.recipe import K_MODES, Case, soft_modes, wide_blocks
from softmodes._paper.summary import Found, Series
from softmodes._paper.tables import ReportTable, table_of_all_results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BOUND = 0.74
AT_CHANCE = 0.55
ROWS = 400

_T = (1.0, 2.0, 3.0, 5.0, 10.0)
_PAIRS = ((0.3, 0.1), (0.4, 0.3), (0.2, 0.02))
_WIDEST_OF_T_10 = 22  # as a power of two; where p = 0.3, q = 0.1


def _full() -> Iterator[Case]:
    for p, q in _PAIRS:
        for power in range(10, 21):
            data = wide_blocks(ROWS, 2**power, p, q)
            yield Case(data, (K_MODES, *map(soft_modes, _T)), runs=40, at_once=20)
    for power in range(21, _WIDEST_OF_T_10 + 1):
        data = wide_blocks(ROWS, 2**power, *_PAIRS[0])
        yield Case(data, (soft_modes(10.0),), runs=40, at_once=20)


def _small() -> Iterator[Case]:
    for power in (8, 10, 12):
        data = wide_blocks(ROWS, 2**power, *_PAIRS[0])
        yield Case(data, (K_MODES, *map(soft_modes, (1.0, 3.0))), runs=4, at_once=4)


# --------------------------------------------------------------------------------- accuracy


def by_seeds(series: Series, apart: bool) -> list[float]:
    """Return the accuracies of the runs whose seeds were in two blocks, or in one."""
    return [r["metrics"]["accuracy"] for r in series.records if bool(r["seeds_apart"]) == apart]


def expected_accuracy(series: Series) -> float:
    """Return the mean accuracy of random seeds, by its two cases.

    How often the seeds of 40 runs were in two blocks is chance, and moves the plain mean by 0.04;
    how often they are is known.
    """
    n = series.data["n"]
    share_apart = n / 2 / (n - 1)
    apart, together = by_seeds(series, apart=True), by_seeds(series, apart=False)
    if not apart or not together:
        return series.mean()
    return float(share_apart * np.mean(apart) + (1 - share_apart) * np.mean(together))


def holds_from(series: list[Series]) -> int | None:
    """Return the number of features from which on the bound is kept, as far as was tried."""
    first = None
    for s in sorted(series, key=lambda s: -int(s.data["d"])):
        if expected_accuracy(s) < BOUND:
            break
        first = int(s.data["d"])
    return first


def _pairs(found: Found) -> list[tuple[float, float]]:
    return list(dict.fromkeys((d["p"], d["q"]) for d in found.data()))


def _of_pair(found: Found, p: float, q: float, name: str, t: float | None = None) -> list[Series]:
    data = [d for d in found.data() if (d["p"], d["q"]) == (p, q)]
    series = found.series_of(name, t, data)
    return sorted(series, key=lambda s: int(s.data["d"]))


# ---------------------------------------------------------------------------------- judging


def _judge_growth(found: Found) -> Answer:
    """Judge from how many features on the bound is kept, for each t, at all (p, q) within reach."""
    from softmodes._paper.prediction import features_needed

    from_d: dict[float, int] = {}
    broken, parts = [], []
    for t in found.finite_t():
        for p, q in _pairs(found):
            series = _of_pair(found, p, q, "softmodes", t)
            if not series:
                continue
            first, widest = holds_from(series), int(series[-1].data["d"])
            needed = features_needed(p, q, t)
            predicted = f"predicted to suffice: {needed:,.0f}"
            where = f"t = {t:g}, p = {p:g}, q = {q:g}"
            if first is not None:
                from_d[t] = max(first, from_d.get(t, 0))
                parts.append(f"{where}: from d = {first:,} ({predicted})")
            else:
                parts.append(f"{where}: not up to {widest:,} ({predicted})")
                broken += [t] if needed <= widest else []
    if not parts:
        return NO_RESULTS
    if broken or not from_d:
        return Answer(FAILS, "; ".join(parts))
    shown = ", ".join(f"{d:,} (t = {t:g})" for t, d in from_d.items())
    return Answer(f"holds from d = {shown}", "; ".join(parts))


def _judge_collapse(found: Found) -> Answer:
    """Judge whether runs from seeds in two blocks are right where the prediction says so."""
    from softmodes._paper.prediction import features_needed

    beyond: list[float] = []
    below: list[float] = []
    for series in (s for s in found.series if s.algorithm.name == "softmodes"):
        apart = by_seeds(series, apart=True)
        if apart:
            data = series.data
            needed = features_needed(data["p"], data["q"], series.algorithm.t)
            (beyond if data["d"] >= needed else below).append(float(np.mean(apart)))
    if not beyond:
        return NO_RESULTS
    right, short = sum(a >= 0.99 for a in beyond), sum(a >= 0.99 for a in below)
    return Answer(
        HOLDS if right == len(beyond) else f"holds in {right} of {len(beyond)} settings",
        f"with d of at least d*, {right} of {len(beyond)} settings have a mean accuracy of 0.99 or "
        f"more over the runs whose seeds were in two blocks (lowest {min(beyond):.3f}); with "
        f"fewer features, {short} of {len(below)}",
    )


def _judge_k_modes(found: Found) -> Answer:
    series = [s for s in found.series if s.algorithm == K_MODES]
    if not series:
        return NO_RESULTS
    above = [s for s in series if s.mean() > AT_CHANCE]
    highest = max(series, key=Series.mean)
    evidence = (
        f"at chance (at most {AT_CHANCE}, for {ROWS} rows in two random clusters agree by 0.52) in "
        f"{len(series) - len(above)} of {len(series)} settings, highest {highest.mean():.3f} at "
        f"{highest.data.title}"
    )
    if not above:
        return Answer(HOLDS, evidence)
    where = f"holds in {len(series) - len(above)} of {len(series)} settings"
    return Answer(
        where,
        evidence,
        "the number of rows: in a cluster of 200 some features have more ones than zeros by chance "
        "where p is near 0.5, and among many features there are enough of them to tell the blocks "
        "apart. The theorem lets n grow too",
    )


# ------------------------------------------------------------------------- table and figure


def _table_of_growth(found: Found) -> ReportTable:
    from softmodes._paper.prediction import (
        TIPS,
        features_needed,
        ones_after_rounding,
        simple_features_needed,
    )

    header = (
        "p, q",
        "t",
        "p_t",
        f"{BOUND} kept from d =",
        "d*, predicted to suffice",
        "16 / (p_t (p - q)^2)",
        "where it should tip (z = 2)",
    )
    rows = []
    for p, q in _pairs(found):
        for t in found.finite_t():
            series = _of_pair(found, p, q, "softmodes", t)
            if series:
                first = holds_from(series)
                rows.append(
                    (
                        f"{p:g}, {q:g}",
                        f"{t:g}",
                        f"{ones_after_rounding(p, t):.2g}",
                        f"{first:,}" if first else f"not up to {series[-1].data['d']:,}",
                        f"{features_needed(p, q, t):,.0f}",
                        f"{simple_features_needed(p, q, t):,.0f}",
                        f"{features_needed(p, q, t, TIPS):,.0f}",
                    )
                )
    return ReportTable("From how many features on the bound of the theorem is kept", header, rows)


def _accuracy_by_features(found: Found) -> Figure:
    pairs = _pairs(found)
    figure, panels = many_panels(2, len(pairs), (3.4 * len(pairs) + 0.4, 5.6), share_axes=True)
    for (p, q), column in zip(pairs, panels.T, strict=True):
        _draw_growth(column[0], found, p, q)
        _draw_growth(column[1], found, p, q, apart=True)
        column[0].set_title(f"p = {p:g}, q = {q:g}")
        column[1].set_xlabel("number of features d")
    for row, seeds in zip(panels, ("random seeds", "seeds in two blocks"), strict=True):
        label_accuracy(row[0], bottom=0.45)
        row[0].set_ylabel(f"accuracy, {seeds}")
    legend_above_all(figure, panels)
    return figure


def _draw_growth(axes: Axes, found: Found, p: float, q: float, apart: bool = False) -> None:
    from softmodes._paper.prediction import features_needed

    for algorithm in found.algorithms():
        series = _of_pair(found, p, q, algorithm.name, algorithm.t)
        read = [
            float(np.mean(by_seeds(s, apart=True) or [math.nan])) if apart else expected_accuracy(s)
            for s in series
        ]
        style = line_style(algorithm, found.algorithms()) | {"markersize": 3}
        axes.plot([s.data["d"] for s in series], read, **style)
        if algorithm != K_MODES and series:
            axes.axvline(
                features_needed(p, q, algorithm.t),
                color=color_of(algorithm, found.algorithms()),
                linewidth=0.9,
                linestyle=":",
            )
    widths = [d["d"] for d in found.data()]
    axes.axhline(BOUND, color=GREY, linewidth=0.8, linestyle="--")
    axes.axhline(0.5, color=COLORS["k-modes"], linewidth=0.6, linestyle=":")
    axes.set_xscale("log", base=2)
    axes.set_xlim(min(widths) / 1.4, max(widths) * 1.4)


def _notes(found: Found) -> list[str]:
    widest = max((d["d"] for d in found.data()), default=0)
    if not widest:
        return []
    return [
        "Dotted verticals are d*, one for each t in its colour (those of larger t may lie to the "
        "right of the figure); the dashed line is the theorem's 0.74. The mean over random seeds "
        "is that of the two cases, seeds in two blocks or in one, by how likely each is.",
        f"Rows are packed as they are drawn: {ROWS} rows of {widest:,} features are "
        f"{ROWS * widest / 8 / 1e6:,.0f} MB, where a byte for each bit would be "
        f"{ROWS * widest / 1e6:,.0f} MB. Why a run collapses, and d*, are derived in theorem.md.",
    ]


EXPERIMENT = Experiment(
    id="theorem-growth",
    title="The theorem, where it holds: accuracy against the number of features",
    setting=(
        f"Boolean Block Model, two equal blocks of {ROWS} rows and d features, random seeds. The "
        "theorem says that the bound is kept for d large enough; here d grows. By d* = "
        "16 (p_t + q_t - 2 p_t q_t) / ((p_t - q_t)^2 (p - q)^2), which is "
        "16 / (p_t (p - q)^2) where p_t is small and q_t smaller still, a row is four standard "
        "deviations nearer to the center of its own block."
    ),
    full=tuple(_full()),
    small=tuple(_small()),
    joinable=False,
    claims=(
        Claim(
            f"SoftModes(t) has accuracy at least {BOUND} for every finite t, if d is large enough",
            _judge_growth,
        ),
        Claim("From seeds in two blocks a run is right from d = d* on", _judge_collapse),
        Claim("k-modes stays at chance, however many features there are", _judge_k_modes),
    ),
    figures={"theorem-growth": _accuracy_by_features},
    tables=(_table_of_growth, table_of_all_results),
    notes=(_notes,),
)
