"""The figures: mean ranks with their critical distance; for a single table, its runs."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from softmodes._compare.contenders import DEFAULT
from softmodes._compare.statistics import critical_distance
from softmodes._compare.summary import Summary
from softmodes._figures import BLUE, DARK_BLUE, GREY, house_style, save_figure
from softmodes._text import harmless

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK = "#333333"


def draw(summary: Summary, folder: Path, name: str) -> list[Path]:
    """Draw the figures that suit what was run into a folder, and return their paths."""
    paths = []
    with house_style():
        for ending, figure in _figures(summary).items():
            paths.append(folder / f"{name}{ending}.svg")
            save_figure(figure, paths[-1])
    return paths


def _figures(summary: Summary) -> dict[str, Figure]:
    """Return the figures by the endings of their names."""
    if len(summary.tables) == 1:
        found = {"": runs_figure(summary)}
    else:
        settings = [name for name in summary.settings if len(summary.ranked(name)) > 2]
        ranks = ranks_figure(summary, settings) if settings else None
        found = {"": ranks, "-tables": tables_figure(summary)}
    return {ending: figure for ending, figure in found.items() if figure is not None}


# -------------------------------------------------------------------------------------- ranks


def ranks_figure(summary: Summary, settings: list[str]) -> Figure:
    """Return a panel for each setting: contenders on the line of their mean ranks.

    A bar joins those whose ranks differ by less than the critical distance.
    """
    from matplotlib.figure import Figure

    heights = [_height(len(summary.ranked(name))) for name in settings]
    figure = Figure(figsize=(7.6, sum(heights)), layout="constrained")
    panels = figure.subplots(len(settings), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, setting in zip(panels, settings, strict=True):
        _draw_ranks(axes, summary.mean_ranks(setting), len(summary.tables), setting)
    return figure


def _height(n_contenders: int) -> float:
    return 1.0 + 0.2 * ((n_contenders + 1) // 2)


def groups(ranks: list[float], distance: float) -> list[tuple[int, int]]:
    """Return the longest stretches, first and last, of sorted ranks within a distance."""
    ends = [max(j for j, r in enumerate(ranks) if r - first <= distance) for first in ranks]
    found = [(0, ends[0])]
    found += [(i + 1, b) for i, (a, b) in enumerate(pairwise(ends)) if b > a]
    return [(first, last) for first, last in found if last > first]


def _draw_ranks(axes: Axes, mean_ranks: dict[str, float], n_tables: int, setting: str) -> None:
    ordered = sorted(mean_ranks.items(), key=lambda item: item[1])
    n, half = len(ordered), (len(ordered) + 1) // 2
    distance = critical_distance(n, n_tables)
    joined = groups([rank for _, rank in ordered], distance)
    below = 0.5 + 0.28 * len(joined)
    axes.set_xlim(0.2 - 0.28 * n, 0.8 + 1.28 * n)
    axes.set_ylim(-below - 0.62 * half, 2.1)
    axes.set_axis_off()
    axes.set_title(f"Mean rank by ARI over {n_tables} tables, {setting} (1 is best)", fontsize=9)
    _draw_line_of_ranks(axes, n, distance)
    for i, (first, last) in enumerate(joined):
        ends = [ordered[first][1] - 0.04, ordered[last][1] + 0.04]
        axes.plot(ends, [-0.3 - 0.28 * i] * 2, color=GREY, linewidth=3.5, solid_capstyle="butt")
    for i, (name, rank) in enumerate(ordered):
        line = i if i < half else n - 1 - i
        edge = 0.6 if i < half else n + 0.4
        _draw_contender(axes, name, rank, -below - 0.62 * line, edge)


def _draw_line_of_ranks(axes: Axes, n: int, distance: float) -> None:
    axes.plot([1, n], [0, 0], color=_INK, linewidth=1)
    for rank in range(1, n + 1):
        axes.plot([rank, rank], [0, 0.2], color=_INK, linewidth=1)
        axes.text(rank, 0.3, str(rank), ha="center", va="bottom", fontsize=8, color=_INK)
    axes.plot([1, 1 + distance], [1.35, 1.35], color=GREY, linewidth=2, solid_capstyle="butt")
    text = f"critical distance {distance:.2f} (Nemenyi, .05)"
    axes.text(1.15 + distance, 1.35, text, va="center", fontsize=8, color=_INK)


def _draw_contender(axes: Axes, name: str, rank: float, y: float, edge: float) -> None:
    """Draw a line from a rank to the edge, left or right, where the name stands."""
    ours, left = name == DEFAULT, edge < 1
    color = DARK_BLUE if ours else _INK
    axes.plot([rank, rank, edge], [0, y, y], color=color, linewidth=1.8 if ours else 0.8)
    axes.text(
        edge - 0.1 if left else edge + 0.1,
        y,
        f"{name}  {rank:.1f}" if left else f"{rank:.1f}  {name}",
        ha="right" if left else "left",
        va="center",
        fontsize=8.5,
        color=color,
        weight="bold" if ours else "normal",
    )


# ------------------------------------------------------------------------------------- tables


def tables_figure(summary: Summary) -> Figure | None:
    """Return the ARI of our default and of all rivals on each table, by how far we are ahead."""
    from matplotlib.figure import Figure

    rivals = [name for name, about in summary.contenders.items() if about["side"] == "rival"]
    lines = [line for table in summary.tables if (line := _line(summary, table, rivals))]
    if not lines:
        return None
    lines.sort(key=lambda line: max(line.rivals.values()) - line.ours)
    figure = Figure(figsize=(7.6, 1.3 + 0.2 * len(lines)), layout="constrained")
    axes = figure.subplots()
    for y, line in enumerate(lines):
        best = max(line.rivals, key=line.rivals.__getitem__)
        axes.plot([line.ours, line.rivals[best]], [y, y], color=GREY, linewidth=1)
        axes.plot(list(line.rivals.values()), [y] * len(line.rivals), "|", color=GREY, markersize=6)
        axes.plot(line.rivals[best], y, "o", color=_INK, markerfacecolor="none", markersize=5)
        axes.plot(line.ours, y, "o", color=DARK_BLUE, markersize=5)
        axes.text(1.02, y, best, transform=axes.get_yaxis_transform(), va="center", fontsize=7.5)
    axes.set_yticks(range(len(lines)), [harmless(line.table) for line in lines])
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.set_xlabel(
        f"mean ARI, {summary.many}: {DEFAULT} (dots), rivals (strokes; circles are the best, named)"
    )
    return figure


class _Line(NamedTuple):
    table: str
    ours: float
    rivals: dict[str, float]


def _line(summary: Summary, table: str, rivals: list[str]) -> _Line | None:
    ours = summary.cell(table, DEFAULT, summary.many)
    cells = {name: summary.cell(table, name, summary.many) for name in rivals}
    means = {name: cell.mean("ari") for name, cell in cells.items() if cell}
    return _Line(table, ours.mean("ari"), means) if ours and means else None


# --------------------------------------------------------------------------------------- runs


def runs_figure(summary: Summary) -> Figure | None:
    """Return the ARI of all runs on the only table, a line for each contender, best on top."""
    from matplotlib.figure import Figure

    (table,) = summary.tables
    rows = summary.rows(summary.many)
    if not rows:
        return None
    figure = Figure(figsize=(6.4, 1.2 + 0.27 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for y, row in enumerate(rows):
        cell = summary.cell(table, row.contender, summary.many)
        assert cell is not None
        color = DARK_BLUE if row.contender == DEFAULT else GREY
        values = cell.values("ari")
        axes.plot(values, [y] * len(values), "o", color=color, markersize=4, alpha=0.6)
        axes.plot([row.ari, row.ari], [y - 0.3, y + 0.3], color=color, linewidth=2)
        axes.plot(row.same_again, y, "D", color=BLUE, markerfacecolor="none", markersize=5)
    axes.set_yticks(range(len(rows)), [harmless(row.contender) for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("ARI against the classes: runs (dots) and their mean; same again (diamonds)")
    axes.set_title(harmless(f"{table}, {summary.many}"), fontsize=9)
    return figure
