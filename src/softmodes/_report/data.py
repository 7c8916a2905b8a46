"""All that a report shows, as plain values: of a model, and of what was found in its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._model.clustering import Clustering
from softmodes._model.importance import importance_columns
from softmodes._model.marks import Mark, is_no
from softmodes._model.profile import feature_names
from softmodes._report.findings import ColumnLine, Findings, Swept
from softmodes._report.mapping import map_of, words_of_map
from softmodes._report.marks import apart, less_of, more_of, shown_names, shown_profile
from softmodes._report.shares import FEWEST_ROWS, Floats, Shares, column_shares, shares_of
from softmodes._report.words import Question, Words, headline, in_words, questions, verdict_sentence

N_MARKS, N_CARD_MARKS, N_APART = 15, 4, 5
N_HEAT, N_DESCRIBED, N_PAIRS, N_ON_MAP = 300, 150, 12, 12
MOST_GROUPS = 60  # on a page


@dataclass(frozen=True)
class ShownMark:
    """A value that a group has more or less of than all rows."""

    column: str
    value: str
    share: float
    overall: float
    same_for: str  # which others of the group repeat it


@dataclass(frozen=True)
class Difference:
    """A value in which two groups differ."""

    column: str
    value: str
    share: float
    other: float


@dataclass(frozen=True)
class Group:
    """A group: its size, what marks it, how sure it is. Hidden numbers are None."""

    number: int
    name: str
    rows: float | None
    share: float
    found_again: float
    undecided: float | None
    marks: tuple[ShownMark, ...]
    more: tuple[ShownMark, ...]
    less: tuple[ShownMark, ...]
    nearest: int | None
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class Importance:
    """How much a column separates the groups: the share of its mismatches that they explain."""

    column: str
    importance: float


@dataclass(frozen=True)
class ValueRow:
    """A value, and its share among all rows and in each group; None where it is hidden."""

    column: str
    value: str
    telling: float
    overall: float
    shares: tuple[float | None, ...]


@dataclass(frozen=True)
class Place:
    """Where a group or a value lies on the map."""

    kind: str
    number: int
    text: str
    x: float
    y: float
    size: float


@dataclass(frozen=True)
class MapData:
    """The map, and what share of the differences between groups its two directions show."""

    places: tuple[Place, ...]
    across: float
    up: float


@dataclass(frozen=True)
class Confused:
    """Two groups, and the rows that are undecided between them; None where these are few."""

    group: int
    other: int
    rows: float | None
    share: float | None


@dataclass(frozen=True)
class Bin:
    """Rows whose margin lies in a range; None where these are few."""

    least: float
    most: float
    rows: float | None


@dataclass(frozen=True)
class DescribedColumn:
    """A column that was not used, by group."""

    column: str
    values: tuple[ValueRow, ...]


@dataclass(frozen=True)
class ReportData:
    """Everything that a report shows."""

    title: str
    headline: str
    verdict: str
    tone: str
    sentence: str
    words: Words
    findings: Findings
    explained: float
    groups: tuple[Group, ...]
    questions: tuple[Question, ...]
    swept: Swept | None
    importance: tuple[Importance, ...]
    values: tuple[ValueRow, ...]
    n_values: int  # that there are
    map: MapData | None
    bins: tuple[Bin, ...]
    confused: tuple[Confused, ...]
    described: tuple[DescribedColumn, ...]
    columns: tuple[ColumnLine, ...]
    small_cells: bool
    python: str  # what makes the report again
    seed: str
    versions: tuple[str, ...]
    citation: str

    @property
    def n_groups(self) -> int:
        """How many groups the model has."""
        return len(self.groups)

    @property
    def swept_sentence(self) -> str:
        """What the sweep says, in the reader's words; empty without one."""
        return "" if self.swept is None else in_words(self.swept.sentence, self.words)

    @property
    def shown_groups(self) -> tuple[Group, ...]:
        """The groups that a page has room for: the largest, in their order."""
        largest = sorted(self.groups, key=lambda group: (-group.share, group.number))[:MOST_GROUPS]
        return tuple(sorted(largest, key=lambda group: group.number))


def report_data(
    found: Clustering,
    findings: Findings,
    *,
    words: Words,
    title: str,
    small_cells: bool,
    python: str,
    seed: str,
    versions: tuple[str, ...],
    citation: str,
) -> ReportData:
    """Put together all that a report shows."""
    shown = _Shown(found, small_cells)
    sizes, explained, importance = shown.sizes, _explained(found), _importance(found)
    names = shown_names(found, shown.profile)
    groups = tuple(_group(shown, i, name, findings) for i, name in enumerate(names))
    n_groups = len(groups)
    smallest = float(sizes.min())
    verdict, tone, sentence = verdict_sentence(findings, n_groups, explained, words)
    return ReportData(
        title=title,
        headline=headline(findings, n_groups, words),
        verdict=verdict,
        tone=tone,
        sentence=sentence,
        words=words,
        findings=findings,
        explained=explained,
        groups=groups,
        questions=questions(findings, n_groups, explained, smallest, float(sizes.sum()), words),
        swept=findings.swept,
        importance=importance,
        values=_heat(shown),
        n_values=shown.n_values,
        map=_map(shown, names),
        bins=_bins(findings, small_cells),
        confused=_confused(findings, float(sizes.sum()), small_cells),
        described=_described(findings, small_cells),
        columns=findings.columns,
        small_cells=small_cells,
        python=python,
        seed=seed,
        versions=versions,
        citation=citation,
    )


class _Shown:
    """The values that may be shown, with their texts."""

    def __init__(self, found: Clustering, small_cells: bool) -> None:
        codebook = found.codebook
        self.small_cells = small_cells
        self.counts = found.tally.counts
        self.sizes: Floats = found.tally.cluster_sizes.astype(np.float64) * found.row_unit
        self.shares: Shares = shares_of(found, small_cells)
        self.n_values = self.shares.n_left_out + len(self.shares.code)
        self.profile = shown_profile(found, self.shares)
        self.columns = list(feature_names(codebook))
        n_values = codebook.lengths.tolist()
        known = [codebook.values(j) for j in range(codebook.n_features)]
        pairs = list(zip(self.shares.column.tolist(), self.shares.code.tolist(), strict=True))
        self.texts = [_text(known[j][v]) for j, v in pairs]
        self.is_no: NDArray[np.bool_] = np.array(
            [is_no(known[j][v], n_values[j]) for j, v in pairs], bool
        )

    def column_of(self, value: int) -> str:
        return self.columns[int(self.shares.column[value])]


def _text(value: Any) -> str:
    return "missing" if value is None else str(value)


def _mark(mark: Mark) -> ShownMark:
    return ShownMark(mark.feature, _text(mark.value), mark.share, mark.overall, mark.block)


def _group(shown: _Shown, i: int, name: str, findings: Findings) -> Group:
    shares, size = shown.shares, float(shown.sizes[i])
    marks = [more_of(shown.profile, i, n) for n in (N_CARD_MARKS, N_MARKS)]
    card, more, less = (
        tuple(map(_mark, some)) for some in (*marks, less_of(shown.profile, i, N_MARKS))
    )
    nearest = _nearest(shares, shown.sizes, i)
    undecided = findings.margins.undecided[i]
    few = not shown.small_cells and 0 < undecided < FEWEST_ROWS
    again = findings.again
    return Group(
        number=i,
        name=name,
        rows=None if not shown.small_cells and 0 < size < FEWEST_ROWS else size,
        share=size / max(float(shown.sizes.sum()), 1e-300),
        found_again=float("nan") if again is None else again.by_group[i],
        undecided=None if few else undecided / size if size else 0.0,
        marks=card,
        more=more,
        less=less,
        nearest=nearest,
        differences=() if nearest is None else tuple(_differences(shown, i, nearest)),
    )


def _nearest(shares: Shares, sizes: Floats, i: int) -> int | None:
    """Return the group whose shares are the most like those of another."""
    others = [j for j in range(len(sizes)) if j != i and sizes[j] > 0]
    if not others or not sizes[i]:
        return None
    gaps = [float(((shares.shares[i] - shares.shares[j]) ** 2).sum()) for j in others]
    return others[int(np.argmin(gaps))]


def _differences(shown: _Shown, i: int, other: int) -> list[Difference]:
    shares = shown.shares.shares
    return [
        Difference(shown.column_of(v), shown.texts[v], float(shares[i, v]), float(shares[other, v]))
        for v in apart(shown.shares, i, other, N_APART)
    ]


def _explained(found: Clustering) -> float:
    columns = importance_columns(found.codebook, found.tally.counts, found.feature_weight)
    return float((columns["importance"] * columns["weight"]).sum())


def _importance(found: Clustering) -> tuple[Importance, ...]:
    columns = importance_columns(found.codebook, found.tally.counts, found.feature_weight)
    pairs = zip(columns["feature"], columns["importance"].tolist(), strict=True)
    return tuple(Importance(name, tau) for name, tau in pairs)


def _heat(shown: _Shown) -> tuple[ValueRow, ...]:
    """Return the most telling values; of a column of two, the one that does not say no."""
    shares = shown.shares
    telling = shares.telling
    twin = _twins(shares, shown.is_no)
    order = [int(v) for v in np.argsort(-telling.round(12), kind="stable") if not twin[v]]
    return tuple(
        _value_row(shares, v, shown.column_of(v), shown.texts[v], float(telling[v]))
        for v in order[:N_HEAT]
    )


def _twins(shares: Shares, is_no: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which values say no more than the other one of their column: no, or the common one."""
    twin = np.zeros(len(shares.code), bool)
    _, first, n_values = np.unique(shares.column, return_index=True, return_counts=True)
    overall = shares.overall
    for start in first[n_values == 2]:
        a, b = int(start), int(start) + 1
        if is_no[a] == is_no[b]:
            twin[a if overall[a] > overall[b] else b] = True
        else:
            twin[a if is_no[a] else b] = True
    return twin


def _value_row(shares: Shares, v: int, column: str, value: str, telling: float) -> ValueRow:
    cells = zip(shares.counts[:, v], shares.observed[:, v], shares.hidden[:, v], strict=True)
    return ValueRow(
        column,
        value,
        telling,
        float(shares.overall[v]),
        tuple(None if hid or not whole else float(part / whole) for part, whole, hid in cells),
    )


def _map(shown: _Shown, names: tuple[str, ...]) -> MapData | None:
    found = map_of(shown.counts, shown.shares)
    if found is None:
        return None
    places = [
        Place("group", i, name, float(x), float(y), float(size))
        for i, (name, (x, y), size) in enumerate(zip(names, found.groups, shown.sizes, strict=True))
        if size > 0
    ]
    visible = ~shown.is_no & ~shown.shares.hidden.all(axis=0)
    for v in words_of_map(found, shown.shares.column, visible, N_ON_MAP):
        x, y = found.values[v]
        text = f"{shown.column_of(v)}: {shown.texts[v]}"
        places.append(Place("value", v, text, float(x), float(y), float(found.strength[v])))
    return MapData(tuple(places), *found.shown)


def _bins(findings: Findings, small_cells: bool) -> tuple[Bin, ...]:
    heights = findings.margins.bins
    n = len(heights)
    return tuple(
        Bin(i / n, (i + 1) / n, None if _is_few(rows, small_cells) else rows)
        for i, rows in enumerate(heights)
    )


def _is_few(rows: float, small_cells: bool) -> bool:
    return not small_cells and 0 < rows < FEWEST_ROWS


def _confused(findings: Findings, total: float, small_cells: bool) -> tuple[Confused, ...]:
    rows = []
    for pair in findings.margins.pairs[:N_PAIRS]:
        few = _is_few(pair.rows, small_cells)
        hidden = None if few else pair.rows
        rows.append(Confused(pair.group, pair.other, hidden, None if few else pair.rows / total))
    return tuple(rows)


def _described(findings: Findings, small_cells: bool) -> tuple[DescribedColumn, ...]:
    found, left = [], N_DESCRIBED
    for described in findings.described:
        counts = np.array(described.counts).T
        shares = column_shares(counts, 0, small_cells)
        column = described.column
        rows = [
            _value_row(shares, v, column, described.values[code], 0.0)
            for v, code in enumerate(shares.code.tolist()[:left])
        ]
        left -= len(rows)
        if rows:
            found.append(DescribedColumn(column, tuple(rows)))
    return tuple(found)
