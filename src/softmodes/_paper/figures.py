"""The paper's figures, redrawn from the results."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from softmodes._files import write_whole
from softmodes._paper.claims import curves, place
from softmodes._paper.experiments import Algorithm, Data
from softmodes._paper.summary import Found, Series
from softmodes.datasets import ccm_best_accuracy
from softmodes.rounding import plurality, soft, uniform

_STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    # Same results, same file.
    "svg.hashsalt": "softmodes",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
}
# Distinguishable in print and for the colour-blind: SoftModes in blues, others apart.
_COLORS = {"k-modes": "#222222", "k-means": "#e07b00"}
_BLUES = ("#9ecae1", "#3f8fc5", "#08457e")
_GUESTS = ("#7b3294", "#1b7837", "#b2182b", "#8c6d31")
_MARKERS = {"k-modes": "s", "k-means": "^", "softmodes": "o"}


def draw(found: Found, folder: Path, suffix: str = "svg") -> list[str]:
    """Draw the figures of an experiment into a folder, and return the names of their files."""
    makers = _FIGURES.get(found.experiment.id, {})
    drawn = []
    for name, make in makers.items():
        if not found.series and found.experiment.cases(found.size):
            continue
        with mpl.rc_context(_STYLE):
            _write(make(found), folder / f"{name}.{suffix}")
        drawn.append(f"{name}.{suffix}")
    return drawn


def _write(figure: Figure, path: Path) -> None:
    metadata = {"Date": None} if path.suffix == ".svg" else None
    save = partial(figure.savefig, format=path.suffix[1:], dpi=110, metadata=metadata)
    write_whole(path, save)


# -------------------------------------------------------------------------------- the kinds


def _bars(found: Found) -> Figure:
    """Return bars of accuracy with their spread, a group for each data set."""
    data, algorithms = found.data(), found.algorithms()
    figure, axes = _one_panel(width=min(11.0, 2.6 + 1.1 * len(data)))
    width = 0.8 / len(algorithms)
    for i, algorithm in enumerate(algorithms):
        series = [s for s in found.series if s.algorithm == algorithm]
        x = np.array([data.index(s.data) for s in series]) + (i - (len(algorithms) - 1) / 2) * width
        axes.bar(
            x,
            [s.mean() for s in series],
            width * 0.92,
            color=_color(algorithm, algorithms),
            label=algorithm.title,
        )
        axes.errorbar(
            x,
            [s.mean() for s in series],
            yerr=_spread(series),
            fmt="none",
            ecolor="#555555",
            elinewidth=0.8,
            capsize=2,
        )
    axes.set_xticks(range(len(data)), [place(d).replace(", ", "\n") for d in data])
    axes.grid(axis="x", visible=False)
    axes.axhline(0.5, color="#888888", linewidth=0.8, linestyle=":")
    _accuracy_axis(axes)
    _legend_above(axes, len(algorithms))
    return figure


def _accuracy_by_k(found: Found) -> Figure:
    figure, axes = _one_panel()
    _lines_by_k(axes, found, found.data(), _accuracy)
    _accuracy_axis(axes, bottom=None)
    _legend_above(axes, len(found.algorithms()))
    return figure


def _time_by_k(found: Found) -> Figure:
    figure, axes = _one_panel()
    _lines_by_k(axes, found, found.data(), _seconds)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
    axes.set_ylabel("seconds per run (bars: fastest to slowest)")
    _legend_above(axes, len(found.algorithms()))
    return figure


def _noise(found: Found) -> Figure:
    shares = sorted({d["noise"] for d in found.data()})
    figure = Figure(figsize=(3.3 * len(shares), 3.4), layout="constrained")
    panels = figure.subplots(1, len(shares), squeeze=False)[0]
    for axes, rho in zip(panels, shares, strict=True):
        data = [d for d in found.data() if d["noise"] == rho]
        _lines_by_k(axes, found, data, _accuracy)
        k = sorted({d.n_clusters for d in data})
        axes.plot(
            k,
            [ccm_best_accuracy(i, rho) for i in k],
            color="#888888",
            linestyle="--",
            linewidth=1,
            label="best possible",
        )
        axes.set_title(f"rho = {rho:g}")
        axes.set_ylim(bottom=0)
    panels[0].set_ylabel("accuracy")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def _convergence(found: Found) -> Figure:
    figure, axes = _one_panel()
    for series in found.series:
        runs = curves(series)
        rounds = np.arange(1, runs.shape[1] + 1)
        middle, spread = runs.mean(axis=0), runs.std(axis=0)
        style = _style(series.algorithm, found.algorithms())
        axes.plot(rounds, middle, **style, markevery=5)
        axes.fill_between(
            rounds, middle - spread, middle + spread, color=style["color"], alpha=0.15, linewidth=0
        )
    axes.set_xlabel("round")
    _accuracy_axis(axes)
    _legend_above(axes, len(found.series))
    return figure


def _by_t(found: Found) -> Figure:
    figure, axes = _one_panel()
    ours = [s for s in found.series if s.algorithm.name == "softmodes"]
    axes.errorbar(
        [s.algorithm.t for s in ours],
        [s.mean() for s in ours],
        yerr=_spread(ours),
        color=_BLUES[1],
        marker="o",
        markersize=4,
        capsize=2,
        label="SoftModes(t)",
    )
    for series in (s for s in found.series if s.algorithm.name == "k-modes"):
        low, high = series.mean() - series.std(), series.mean() + series.std()
        axes.axhspan(low, high, color=_COLORS["k-modes"], alpha=0.1, linewidth=0)
        axes.axhline(
            series.mean(),
            color=_COLORS["k-modes"],
            linestyle="--",
            linewidth=1,
            label="k-modes (t = inf)",
        )
    axes.set_xscale("log")
    ticks = [t for t in (1, 1.5, 2, 3, 5, 7, 10) if any(s.algorithm.t == t for s in ours)]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("t")
    _accuracy_axis(axes)
    _legend_above(axes, 2)
    return figure


def _heat_maps(found: Found) -> Figure:
    widths = sorted({d["d"] for d in found.data()})
    algorithms = found.algorithms()
    figure = Figure(
        figsize=(2.15 * len(algorithms) + 1, 2.1 * len(widths) + 0.6), layout="constrained"
    )
    panels = figure.subplots(len(widths), len(algorithms), squeeze=False, sharex=True, sharey=True)
    for row, d in zip(panels, widths, strict=True):
        for axes, algorithm in zip(row, algorithms, strict=True):
            series = [s for s in found.series if s.algorithm == algorithm and s.data["d"] == d]
            colors = _heat_map(axes, series)
        row[0].set_ylabel(f"{d:,} features\nq")
    for axes, algorithm in zip(panels[0], algorithms, strict=True):
        axes.set_title(algorithm.title)
    for axes in panels[-1]:
        axes.set_xlabel("p")
    figure.colorbar(colors, ax=panels, label="accuracy", shrink=0.6)
    return figure


def _heat_map(axes: Axes, series: list[Series]) -> Any:
    p = sorted({s.data["p"] for s in series})
    q = sorted({s.data["q"] for s in series})
    accuracy = np.full((len(q), len(p)), np.nan)
    for s in series:
        accuracy[q.index(s.data["q"]), p.index(s.data["p"])] = s.mean()
    axes.grid(visible=False)
    axes.set_aspect("equal")
    axes.axvline(0.5, color="#555555", linewidth=0.7, linestyle=":")
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.05, 1)
    return axes.pcolormesh(p, q, accuracy, vmin=0.5, vmax=1, cmap="viridis", shading="nearest")


def _simplex(found: Found) -> Figure:
    """Return the rounding maps as arrows from shares to probabilities."""
    maps = {"plurality": plurality, "soft(3)": soft(3.0), "uniform": uniform}
    figure = Figure(figsize=(9.6, 3.2), layout="constrained")
    for axes, (title, rounding) in zip(figure.subplots(1, 3), maps.items(), strict=True):
        shares = _grid_of_shares(11)
        start, end = _flat(shares), _flat(rounding(shares))
        step = end - start
        corners = _flat(np.eye(3)[[0, 1, 2, 0]])
        axes.plot(*corners.T, color="#888888", linewidth=1)
        axes.scatter(*start.T, s=5, color="#08457e", zorder=3)
        moves = np.hypot(*step.T) > 1e-9
        axes.quiver(
            *start[moves].T,
            *step[moves].T,
            angles="xy",
            scale_units="xy",
            scale=1,
            width=0.0035,
            headwidth=4,
            color="#3f8fc5",
            alpha=0.75,
        )
        axes.set_title(title)
        axes.set_aspect("equal")
        axes.set_axis_off()
        for corner, value in zip(corners[:3], "abc", strict=True):
            axes.annotate(
                value,
                corner,
                xytext=(corner - corners[:3].mean(axis=0)) * 16,
                textcoords="offset points",
                ha="center",
                va="center",
            )
        axes.margins(0.12)
    return figure


def _grid_of_shares(steps: int) -> NDArray[np.float64]:
    """Return points of the simplex, off its borders."""
    points = [
        (i + 1 / 3, j + 1 / 3, steps - 1 - i - j + 1 / 3)
        for i in range(steps)
        for j in range(steps - i)
    ]
    return np.array(points) / steps


def _flat(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Project the simplex to the plane, as an equilateral triangle."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(3) / 2]])
    return np.asarray(points @ corners, dtype=np.float64)


def _real_tables(found: Found) -> Figure:
    """Return accuracy against t for every table."""
    data = found.data()
    figure = Figure(figsize=(2.3 * len(data) + 0.4, 3.0), layout="constrained")
    panels = figure.subplots(1, len(data), squeeze=False)[0]
    for axes, d in zip(panels, data, strict=True):
        _table_by_t(axes, found, d)
    panels[0].set_ylabel("accuracy")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def _table_by_t(axes: Axes, found: Found, data: Data) -> None:
    ours = [s for s in found.on(data) if s.algorithm.name in ("softmodes", "k-modes")]
    ours.sort(key=lambda s: s.algorithm.t)
    x = range(len(ours))
    axes.errorbar(
        x,
        [s.mean() for s in ours],
        yerr=_spread(ours),
        color=_BLUES[1],
        marker="o",
        markersize=3,
        capsize=2,
        linewidth=1,
        label="SoftModes(t)",
    )
    axes.set_xticks(x, [f"{s.algorithm.t:g}" for s in ours], rotation=90)
    if ours:
        axes.axhline(
            ours[0].mean("all_in_one_accuracy"),
            color="#b2182b",
            linestyle=":",
            label="all rows in one cluster",
        )
    k_means = found.get(data, "k-means")
    if k_means:
        axes.axhline(k_means.mean(), color=_COLORS["k-means"], linewidth=1, label="k-means")
    axes.set_title(data.kind)
    axes.set_xlabel("t")


_FIGURES: dict[str, dict[str, Callable[[Found], Figure]]] = {
    "fig-rounding": {"rounding": _simplex},
    "theorem": {"theorem": _bars},
    "theorem-map": {"theorem-map": _heat_maps},
    "fig-sbm": {"sbm": _bars},
    "table-real": {"real": _real_tables},
    "fig-t": {"t": _by_t},
    "fig-convergence": {"convergence": _convergence},
    "fig-noise": {"noise": _noise},
    "fig-ccm": {"ccm-accuracy": _accuracy_by_k, "ccm-time": _time_by_k},
}


# ----------------------------------------------------------------------------------- pieces


def _one_panel(width: float = 5.6) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, 3.4), layout="constrained")
    return figure, figure.subplots()


def _lines_by_k(
    axes: Axes, found: Found, data: list[Data], read: Callable[[Series], tuple[float, float, float]]
) -> None:
    for i, algorithm in enumerate(found.algorithms()):
        series = [s for s in found.series if s.algorithm == algorithm and s.data in data]
        series.sort(key=lambda s: s.data.n_clusters)
        points = np.array([read(s) for s in series]).reshape(-1, 3)
        beside = 1.02 ** (i - len(found.algorithms()) // 2)  # or error bars would hide each other
        axes.errorbar(
            [s.data.n_clusters * beside for s in series],
            points[:, 0],
            yerr=points[:, 1:].T,
            capsize=2,
            **_style(algorithm, found.algorithms()),
        )
    k = sorted({d.n_clusters for d in data})
    axes.set_xscale("log")
    axes.set_xticks(k, [f"{i:,}" for i in k])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("number of clusters k")


def _accuracy(series: Series) -> tuple[float, float, float]:
    return series.mean(), *_bar(series.mean(), series.std())


def _seconds(series: Series) -> tuple[float, float, float]:
    seconds = [record["seconds"]["wall"] for record in series.records]
    return series.seconds, series.seconds - min(seconds), max(seconds) - series.seconds


def _spread(series: list[Series]) -> NDArray[np.float64]:
    """Return error bars of one standard deviation, but not beyond what an accuracy can be."""
    return np.array([_bar(s.mean(), s.std()) for s in series]).reshape(-1, 2).T


def _bar(mean: float, spread: float) -> tuple[float, float]:
    return min(spread, mean), min(spread, 1 - mean)


def _accuracy_axis(axes: Axes, bottom: float | None = 0.0) -> None:
    axes.set_ylabel("accuracy")
    axes.set_ylim(bottom=bottom, top=1.03)


def _legend_above(axes: Axes, entries: int) -> None:
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(entries, 3))


def _style(algorithm: Algorithm, among: list[Algorithm]) -> dict[str, Any]:
    return {
        "color": _color(algorithm, among),
        "marker": _MARKERS.get(algorithm.name, "D"),
        "markersize": 4,
        "linewidth": 1.3,
        "label": algorithm.title,
    }


def _color(algorithm: Algorithm, among: list[Algorithm]) -> str:
    if algorithm.name in _COLORS:
        return _COLORS[algorithm.name]
    if algorithm.name == "softmodes":
        ours = [a for a in among if a.name == "softmodes"]
        place_among = ours.index(algorithm) / max(1, len(ours) - 1)
        return str(mpl.colors.to_hex(_blues(place_among)))
    guests = [a.name for a in among if a.name not in (*_COLORS, "softmodes")]
    return _GUESTS[guests.index(algorithm.name) % len(_GUESTS)]


def _blues(share: float) -> Any:
    return mpl.colors.LinearSegmentedColormap.from_list("soft", _BLUES)(share)
