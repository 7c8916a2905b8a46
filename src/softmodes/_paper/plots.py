"""What the figures share: style, panels, bars and lines; matplotlib is imported when drawing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softmodes._figures import BLUE, DARK_BLUE, GREY, LIGHT_BLUE, RED, house_style, save_figure
from softmodes._paper.recipe import Algorithm, Data
from softmodes._paper.summary import Found, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Distinguishable in print and for the colour-blind: SoftModes in blues, others apart.
COLORS = {"k-modes": "#222222", "k-means": "#e07b00"}
_GUESTS = ("#7b3294", "#1b7837", RED, "#8c6d31")
_MARKERS = {"k-modes": "s", "k-means": "^", "softmodes": "o"}


def draw_figures(found: Found, folder: Path, suffix: str = "svg") -> list[str]:
    """Draw the figures of an experiment into a folder, and return the names of their files."""
    if not found.series and found.experiment.cases(found.size):
        return []
    drawn = []
    for name, draw in found.experiment.figures.items():
        with house_style():
            save_figure(draw(found), folder / f"{name}.{suffix}")
        drawn.append(f"{name}.{suffix}")
    return drawn


# Colours of a figure that follow those of the page, light or dark.
_PAGE_COLORS = {
    "#000000": "currentColor",
    "#222222": "currentColor",
    "#555555": "var(--soft)",
    "#e4e4e4": "var(--line)",
}


def inlined_svg(text: str, name: str) -> str:
    """Return the drawing of an SVG file as it can stand inside a page of several.

    Its ids get the figure's name before them, its ink and lines take the page's colours, and it has
    no background of its own.
    """
    svg = text[text.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\bid=\"([^\"]+)\"", rf'id="{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    svg = re.sub(r"href=\"#([^\"]+)\"", rf'href="#{name}-\1"', svg)
    svg = svg.replace("fill: #ffffff", "fill: none")
    for fixed, of_page in _PAGE_COLORS.items():
        svg = svg.replace(fixed, of_page)
    return svg


# ----------------------------------------------------------------------------------- panels


def one_panel(width: float = 5.6) -> tuple[Figure, Axes]:
    """Return a figure with a single panel."""
    figure, panels = many_panels(1, 1, (width, 3.4))
    return figure, panels[0, 0]


def many_panels(
    n_rows: int, n_columns: int, inches: tuple[float, float], share_axes: bool = False
) -> tuple[Figure, NDArray[Any]]:
    """Return a figure and its panels, in rows and columns."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=inches, layout="constrained")
    panels = figure.subplots(n_rows, n_columns, squeeze=False, sharex=share_axes, sharey=share_axes)
    return figure, panels


def label_accuracy(axes: Axes, bottom: float | None = 0.0) -> None:
    """Let the vertical axis be accuracy, up to 1 and a little air."""
    axes.set_ylabel("accuracy")
    axes.set_ylim(bottom=bottom, top=1.03)


def legend_above(axes: Axes, entries: int) -> None:
    """Put the legend above a panel."""
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(entries, 3))


def legend_above_all(figure: Figure, panels: NDArray[Any]) -> None:
    """Put the legend of the first panel above them all."""
    handles, labels = panels.flat[0].get_legend_handles_labels()
    most = 2 * panels.shape[1]
    figure.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), most))


# ----------------------------------------------------------------------------- bars and lines


def bars_by_data(found: Found) -> Figure:
    """Return bars of accuracy with their spread, a group for each data set."""
    data, algorithms = found.data(), found.algorithms()
    figure, axes = one_panel(width=min(11.0, 2.6 + 1.1 * len(data)))
    width = 0.8 / len(algorithms)
    for i, algorithm in enumerate(algorithms):
        series = [s for s in found.series if s.algorithm == algorithm]
        x = np.array([data.index(s.data) for s in series]) + (i - (len(algorithms) - 1) / 2) * width
        axes.bar(
            x,
            [s.mean() for s in series],
            width * 0.92,
            color=color_of(algorithm, algorithms),
            label=algorithm.title,
        )
        axes.errorbar(
            x,
            [s.mean() for s in series],
            yerr=error_bars(series),
            fmt="none",
            ecolor="#555555",
            elinewidth=0.8,
            capsize=2,
        )
    axes.set_xticks(range(len(data)), [d.title.replace(", ", "\n") for d in data])
    axes.grid(axis="x", visible=False)
    axes.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    label_accuracy(axes)
    legend_above(axes, len(algorithms))
    return figure


def draw_lines_by_k(
    axes: Axes, found: Found, data: list[Data], read: Callable[[Series], tuple[float, float, float]]
) -> None:
    """Draw a line for each algorithm; `read` returns a height and its bars down and up."""
    algorithms = found.algorithms()
    for i, algorithm in enumerate(algorithms):
        series = [s for s in found.series if s.algorithm == algorithm and s.data in data]
        series.sort(key=lambda s: s.data.n_clusters)
        points = np.array([read(s) for s in series]).reshape(-1, 3)
        beside = 1.02 ** (i - len(algorithms) // 2)  # or error bars would hide each other
        axes.errorbar(
            [s.data.n_clusters * beside for s in series],
            points[:, 0],
            yerr=points[:, 1:].T,
            capsize=2,
            **line_style(algorithm, algorithms),
        )
    k = sorted({d.n_clusters for d in data})
    axes.set_xscale("log")
    axes.set_xticks(k, [f"{i:,}" for i in k])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("number of clusters k")


def accuracy_with_bars(series: Series) -> tuple[float, float, float]:
    """Return the mean accuracy and its error bars, down and up."""
    return series.mean(), *_error_bar(series)


def error_bars(series: list[Series]) -> NDArray[np.float64]:
    """Return the error bars of accuracies as two rows, down and up."""
    return np.array([_error_bar(s) for s in series]).reshape(-1, 2).T


def _error_bar(series: Series) -> tuple[float, float]:
    """Return one standard deviation, but not beyond what an accuracy can be."""
    mean, spread = series.mean(), series.std()
    return min(spread, mean), min(spread, 1 - mean)


# ----------------------------------------------------------------------------------- colours


def line_style(algorithm: Algorithm, among: list[Algorithm]) -> dict[str, Any]:
    """Return how to draw the line of an algorithm among those of a figure."""
    return {
        "color": color_of(algorithm, among),
        "marker": _MARKERS.get(algorithm.name, "D"),
        "markersize": 4,
        "linewidth": 1.3,
        "label": algorithm.title,
    }


def color_of(algorithm: Algorithm, among: list[Algorithm]) -> str:
    """Return the colour of an algorithm among those of a figure; SoftModes is darker with t."""
    if algorithm.name in COLORS:
        return COLORS[algorithm.name]
    if algorithm.name == "softmodes":
        ours = [a for a in among if a.name == "softmodes"]
        return _shade_of_blue(ours.index(algorithm) / max(1, len(ours) - 1))
    guests = [a.name for a in among if a.name not in (*COLORS, "softmodes")]
    return _GUESTS[guests.index(algorithm.name) % len(_GUESTS)]


def _shade_of_blue(share: float) -> str:
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    blues = LinearSegmentedColormap.from_list("soft", (LIGHT_BLUE, BLUE, DARK_BLUE))
    return str(to_hex(blues(share)))
