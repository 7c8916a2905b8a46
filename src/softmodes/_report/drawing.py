"""Where lines, dots and words lie in the figures of a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from softmodes._report.data import Bin, Group, MapData, Place
from softmodes._report.findings import Swept
from softmodes._report.texts import LONGEST

_WIDTH = 500.0  # of a figure that stands beside a table


@dataclass(frozen=True)
class Dot:
    """A number of groups in the figure of a sweep."""

    x: float
    y: float
    low: float  # where the shuffled table lies
    k: int
    same_again: float
    solid: bool
    picked: bool
    used: bool


@dataclass(frozen=True)
class Tick:
    """A line of a scale, and what stands at it."""

    at: float
    text: str


@dataclass(frozen=True)
class SweepFigure:
    """What each number of groups explains, above what it does in a shuffled table."""

    dots: tuple[Dot, ...]
    ticks: tuple[Tick, ...]
    width: float
    height: float
    labelled: bool  # whether there is room for how well groups are found again

    def line(self, of: str) -> str:
        """Return the points of a line."""
        return " ".join(f"{dot.x:.1f},{getattr(dot, of):.1f}" for dot in self.dots)


_LEFT, _RIGHT, _TOP, _BOTTOM = 104.0, 20.0, 14.0, 52.0
_MOST_LABELLED = 12


def sweep_figure(swept: Swept, n_groups: int, height: float = 270.0) -> SweepFigure | None:
    """Return the figure of a sweep; None where no number of groups was tried."""
    rows = swept.tried
    if not rows:
        return None
    top = _round_up(max(max(row.explained, _known(row.shuffled)) for row in rows))
    step = (_WIDTH - _LEFT - _RIGHT) / max(1, len(rows) - 1)

    def y(share: float) -> float:
        return _TOP + (1.0 - _known(share) / top) * (height - _TOP - _BOTTOM)

    dots = tuple(
        Dot(
            x=_LEFT + i * step if len(rows) > 1 else _WIDTH / 2,
            y=y(row.explained),
            low=y(row.shuffled),
            k=row.k,
            same_again=row.same_again,
            solid=row.verdict == "Solid",
            picked=row.k == swept.pick,
            used=row.k == n_groups,
        )
        for i, row in enumerate(rows)
    )
    ticks = tuple(Tick(y(top * part / 4), f"{100 * top * part / 4:.3g} %") for part in range(5))
    return SweepFigure(dots, ticks, _WIDTH, height, len(rows) <= _MOST_LABELLED)


def _known(share: float) -> float:
    return 0.0 if math.isnan(share) else max(0.0, share)


def _round_up(share: float) -> float:
    """Return the next round number, of which a quarter is round."""
    steps = (0.01, 0.02, 0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8, 1.0)
    return next((step for step in steps if share <= step), 1.0)


@dataclass(frozen=True)
class Spot:
    """A group or a value on the map, and where its words stand."""

    place: Place
    x: float
    y: float
    radius: float
    label_x: float
    label_y: float
    anchor: str


@dataclass(frozen=True)
class MapFigure:
    """The map, ready to be drawn."""

    spots: tuple[Spot, ...]
    width: float
    height: float
    origin_x: float
    origin_y: float


_MAP_WIDTH, _MAP_HEIGHT, _MARGIN = 680.0, 420.0, 46.0
_LARGEST, _SMALLEST = 30.0, 9.0  # radius of a group
_LINE, _LETTER = 14.0, 6.4  # height of a line, width of a letter


def map_figure(found: MapData) -> MapFigure:
    """Return the map with its words put where they do not cover one another."""
    groups = [place for place in found.places if place.kind == "group"]
    values = [place for place in found.places if place.kind == "value"]
    wide = max(max(abs(p.x) for p in groups), 1e-12)
    high = max(max(abs(p.y) for p in groups), 1e-12)
    across = (_MAP_WIDTH / 2 - 2 * _MARGIN) / wide
    up = min((_MAP_HEIGHT / 2 - _MARGIN) / high, across)
    largest = max(place.size for place in groups)
    widest = min(_LARGEST, _SMALLEST + 80 / len(groups))
    cx, cy = _MAP_WIDTH / 2, _MAP_HEIGHT / 2
    spots: list[Spot] = []
    taken: list[tuple[float, float, float, float]] = []
    for place in groups:
        x, y = cx + place.x * across, cy - place.y * up
        radius = max(_SMALLEST, widest * math.sqrt(place.size / largest))
        taken.append((x - radius, y - radius, x + radius, y + radius))
        spots.append(Spot(place, x, y, radius, x, y, "middle"))
    for place in values:
        x, y = cx + place.x * across, cy - place.y * up
        x, y = _inside(x, _MAP_WIDTH), _inside(y, _MAP_HEIGHT)
        spots.append(_labelled(place, x, y, taken))
    return MapFigure(tuple(spots), _MAP_WIDTH, _MAP_HEIGHT, cx, cy)


def _inside(at: float, size: float) -> float:
    return min(max(at, 12.0), size - 12.0)


def _labelled(
    place: Place, x: float, y: float, taken: list[tuple[float, float, float, float]]
) -> Spot:
    """Put the words of a value beside it, at the nearest height where they cover no others."""
    length = _LETTER * min(len(place.text), LONGEST) + 8
    anchor = "start" if x + length < _MAP_WIDTH else "end"
    left = x + 6 if anchor == "start" else x - 6 - length
    for shift in (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6):
        at = y + shift * _LINE
        box = (left, at - _LINE / 2, left + length, at + _LINE / 2)
        if 8 < at < _MAP_HEIGHT - 8 and not any(_cover(box, other) for other in taken):
            break
    taken.append(box)
    return Spot(place, x, y, 2.5, x + 6 if anchor == "start" else x - 6, at, anchor)


def _cover(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@dataclass(frozen=True)
class Column:
    """A column of a histogram."""

    x: float
    y: float
    width: float
    height: float
    undecided: bool
    least: float
    most: float
    share: float


def histogram(bins: Sequence[Bin], limit: float, height: float = 150.0) -> tuple[Column, ...]:
    """Return the columns of a histogram; hidden ones are as low as none."""
    rows = [bin.rows or 0.0 for bin in bins]
    most, total = max([*rows, 1e-300]), max(sum(rows), 1e-300)
    width = (_WIDTH - 40) / max(1, len(bins))
    return tuple(
        Column(
            x=20 + i * width + 1,
            y=height - height * here / most,
            width=width - 2,
            height=height * here / most,
            undecided=bin.most <= limit + 1e-9,
            least=bin.least,
            most=bin.most,
            share=here / total,
        )
        for i, (bin, here) in enumerate(zip(bins, rows, strict=True))
    )


@dataclass(frozen=True)
class Piece:
    """A piece of the bar of all groups, in per cent of its length."""

    number: int
    start: float
    length: float
    share: float


def pieces(groups: Sequence[Group]) -> tuple[Piece, ...]:
    """Return the pieces of the bar of all groups."""
    found, start = [], 0.0
    for group in groups:
        found.append(Piece(group.number, start, 100 * group.share, group.share))
        start += 100 * group.share
    return tuple(found)


def n_across(n_groups: int) -> int:
    """Return how many cards stand side by side: 2 to 5, such that the last line is the fullest.

    Examples
    --------
    >>> [n_across(n) for n in (2, 3, 4, 5, 6, 7, 8, 9, 50)]
    [2, 3, 4, 5, 3, 4, 4, 3, 5]
    """
    return max((5, 4, 3, 2), key=lambda n: -((-n_groups) % n) / n)


def heat(share: float | None, overall: float) -> str:
    """Return the class of a cell's colour: how far its share is from that of all rows.

    Examples
    --------
    >>> heat(0.5, 0.1), heat(0.1, 0.5), heat(0.5, 0.49), heat(None, 0.5)
    ('m4', 'l4', '', 'few')
    """
    if share is None:
        return "few"
    gap = share - overall
    level = sum(abs(gap) >= least for least in (0.04, 0.1, 0.2, 0.35))
    return f"{'m' if gap > 0 else 'l'}{level}" if level else ""
