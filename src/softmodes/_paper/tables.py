"""The tables of the report: published beside found, and accuracy never alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from softmodes._paper.claims import (
    AT_CHANCE,
    RECOVERED,
    best_by_label,
    choosing,
    label_free,
    place,
    rescored,
)
from softmodes._paper.experiments import ONE_HOT, PUBLISHED, RUNS_ON_TABLES, Data, Published
from softmodes._paper.summary import Found, Series

WITHOUT_SPREAD = 0.005
CODED = ("k-means", "birch", "gaussian")
_BESIDE = ("ARI", "NMI", "F1", "clusters in use", "largest cluster", "all in one")
_METRICS = ("ari", "nmi", "f1", "clusters_in_use", "largest_share", "all_in_one_accuracy")


@dataclass(frozen=True)
class Table:
    """A table of texts with a title."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Comparison:
    """A published accuracy beside the one found in the same setting."""

    data: Data
    found: Series
    published: Published

    @property
    def difference(self) -> float:
        """Found minus published."""
        return self.found.mean() - self.published.mean

    @property
    def allowed(self) -> float:
        """Two standard errors of the difference; a fixed margin where nothing is spread."""
        spreads = self.published.std or 0.0, self.found.std()
        if self.published.std is None or not any(spreads):
            return WITHOUT_SPREAD
        return 2 * math.hypot(*spreads) / math.sqrt(RUNS_ON_TABLES)

    @property
    def agrees(self) -> bool:
        """Whether the two are as close as chance allows."""
        return abs(self.difference) <= self.allowed

    @property
    def sentence(self) -> str:
        """The disagreement in words."""
        side = "higher" if self.difference > 0 else "lower"
        return (
            f"{self.data.kind}, {self.found.algorithm.title}: found {self.found.mean():.4f}, "
            f"published {self.published.mean:.4f}; ours is {side} by {abs(self.difference):.4f}, "
            f"where {self.allowed:.4f} is allowed."
        )


def tables_of(found: Found) -> list[Table]:
    """Return the tables of an experiment."""
    if not found.series:
        return []
    if found.experiment.id == "theorem-map":
        return [_map_table(found)]
    if found.experiment.id == "table-real":
        return [_published_table(found), _choice_table(found), _overview(found)]
    return [_overview(found)]


def notes_of(found: Found) -> list[str]:
    """Return the sentences that belong beside the tables."""
    notes = [_cap_note(series) for series in found.series if series.capped]
    if found.experiment.id == "table-real":
        notes += trivial_notes(found)
        notes += encoding_notes(found)
        notes += [c.sentence for c in comparisons(found) if not c.agrees]
    return notes


def comparisons(found: Found) -> list[Comparison]:
    """Return every published accuracy that has a counterpart; SoftModes at the paper's t."""
    return [
        Comparison(data, series, published)
        for data in found.data()
        for name, published in PUBLISHED[data.kind].items()
        for series in _counterparts(found, data, name, published)
    ]


def trivial_notes(found: Found) -> list[str]:
    """Say where a single cluster of all rows beats everything that the paper reports."""
    notes = []
    for data in found.data():
        trivial = found.on(data)[0].mean("all_in_one_accuracy")
        highest = max(p.mean for p in PUBLISHED[data.kind].values())
        if trivial > highest:
            notes.append(
                f"{data.kind}: putting all rows in one cluster has accuracy {trivial:.4f}, above "
                f"every number of the paper's table ({highest:.4f} at most). Accuracy says "
                "little there; look at the ARI."
            )
    return notes


def encoding_notes(found: Found) -> list[str]:
    """Say which encoding of the baselines is nearer to the published numbers."""
    judged = [c for c in comparisons(found) if c.found.algorithm.family in CODED]
    one_hot = [c for c in judged if c.found.algorithm.name.endswith(ONE_HOT)]
    codes = [c for c in judged if c not in one_hot]
    if not one_hot or not codes:
        return []
    agreeing = [sum(c.agrees for c in group) for group in (codes, one_hot)]
    note = (
        f"Of the published accuracies of k-means, BIRCH and Gaussian mixtures, {agreeing[0]} of "
        f"{len(codes)} agree with ours on integer codes, {agreeing[1]} of {len(one_hot)} on "
        "one-hot codes."
    )
    if agreeing[1] > agreeing[0]:
        note += " The paper's own runs probably were on one-hot codes."
    return [note]


def _counterparts(found: Found, data: Data, name: str, published: Published) -> list[Series]:
    if name == "softmodes":
        same = [choosing(found, data, float(published.parameter or math.nan))]
    elif name == "k-modes":
        same = [choosing(found, data, math.inf)]
    else:
        same = [s for s in found.on(data) if s.algorithm.family == name]
    return [series for series in same if series]


def _cap_note(series: Series) -> str:
    capped = [r["rounds"] for r in series.records if r["capped"]]
    return (
        f"{place(series.data)}: {series.algorithm.title} was capped at "
        f"{series.algorithm['cap']:g} seconds in {series.capped} of {len(series.records)} runs, "
        f"after {min(capped)} to {max(capped)} rounds."
    )


# ------------------------------------------------------------------------------- the tables


def _overview(found: Found) -> Table:
    header = ("data", "algorithm", "runs", "accuracy", *_BESIDE, "rounds", "seconds")
    return Table(
        "All results: means over the runs, accuracy ± standard deviation",
        header,
        [_overview_row(series) for series in found.series],
    )


def _overview_row(series: Series) -> tuple[str, ...]:
    rounds = series.average(lambda record: record["rounds"])
    return (
        place(series.data),
        series.algorithm.title,
        str(len(series.records)),
        _spread(series),
        *_beside(series),
        "" if rounds is None else f"{rounds:.1f}",
        f"{series.seconds:.3g}",
    )


def _beside(series: Series) -> list[str]:
    return [
        f"{series.mean(metric):.1f}"
        if metric == "clusters_in_use"
        else f"{series.mean(metric):.3f}"
        for metric in _METRICS
    ]


def _published_table(found: Found) -> Table:
    header = (
        "table",
        "algorithm",
        "published",
        "found",
        "difference",
        "allowed",
        "agree",
        "ARI",
        "clusters in use",
        "largest cluster",
        "all in one",
    )
    rows = [
        (
            c.data.kind,
            c.found.algorithm.title,
            _published(c.published),
            _spread(c.found, 4),
            f"{c.difference:+.4f}",
            f"{c.allowed:.4f}",
            "yes" if c.agrees else "no",
            f"{c.found.mean('ari'):.3f}",
            f"{c.found.mean('clusters_in_use'):.1f}",
            f"{c.found.mean('largest_share'):.3f}",
            f"{c.found.mean('all_in_one_accuracy'):.4f}",
        )
        for c in comparisons(found)
    ]
    return Table("Published beside found; SoftModes at the paper's t", header, rows)


def _choice_table(found: Found) -> Table:
    header = ("table", "choice", "t", "accuracy", *_BESIDE)
    rows = []
    for data in found.data():
        choices: Iterable[tuple[str, Series | None]] = (
            ("k-modes", choosing(found, data, math.inf)),
            ("best t by label, runs that chose it", best_by_label(found, data)),
            ("best t by label, fresh runs", rescored(found, data)),
            ("lowest expected cost, no labels", label_free(found, data)),
        )
        rows += [
            (data.kind, name, f"{s.algorithm.t:g}", _spread(s), *_beside(s))
            for name, s in choices
            if s
        ]
    return Table("Choosing t, with labels and without", header, rows)


def _map_table(found: Found) -> Table:
    header = (
        "features",
        "p",
        "algorithm",
        "points",
        f"recovered (at least {RECOVERED})",
        f"at chance (at most {AT_CHANCE})",
        "accuracy",
        *_BESIDE,
    )
    rows = []
    for d in sorted({data["d"] for data in found.data()}):
        for side, low, high in (("below 0.5", 0.0, 0.5), ("from 0.5", 0.5, 1.0)):
            for algorithm in found.algorithms():
                series = [
                    s
                    for s in found.series
                    if s.algorithm == algorithm and s.data["d"] == d and low <= s.data["p"] < high
                ]
                if series:
                    rows.append((f"{d:,}", side, algorithm.title, *_map_row(series)))
    return Table("Points (p, q) at which each algorithm recovers the blocks", header, rows)


def _map_row(series: list[Series]) -> list[str]:
    means = [s.mean() for s in series]
    pooled = Series(
        series[0].data, series[0].algorithm, tuple(r for s in series for r in s.records)
    )
    return [
        str(len(series)),
        f"{sum(mean >= RECOVERED for mean in means) / len(means):.0%}",
        f"{sum(mean <= AT_CHANCE for mean in means) / len(means):.0%}",
        f"{pooled.mean():.3f}",
        *_beside(pooled),
    ]


def _spread(series: Series, digits: int = 3) -> str:
    mean = f"{series.mean():.{digits}f}"
    return mean if len(series.records) == 1 else f"{mean} ± {series.std():.{digits}f}"


def _published(published: Published) -> str:
    spread = "" if published.std is None else f" ± {published.std:.4f}"
    parameter = "" if published.parameter is None else f" ({published.parameter:g})"
    return f"{published.mean:.4f}{spread}{parameter}"
