"""The tables of the report: accuracy never alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from softmodes._paper.summary import Found, Series, mean_and_spread

BESIDE_ACCURACY = ("ARI", "NMI", "F1", "clusters in use", "largest cluster", "all in one")
_METRICS = ("ari", "nmi", "f1", "clusters_in_use", "largest_share", "all_in_one_accuracy")


@dataclass(frozen=True)
class ReportTable:
    """A table of texts with a title."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def tables_of(found: Found) -> list[ReportTable]:
    """Return the tables of an experiment; none without results."""
    return [make(found) for make in found.experiment.tables] if found.series else []


def table_of_all_results(found: Found) -> ReportTable:
    """Return a row for each series: what was measured, and how long it took."""
    header = ("data", "algorithm", "runs", "accuracy", *BESIDE_ACCURACY, "rounds", "seconds")
    return ReportTable(
        "All results: means over the runs, accuracy ± standard deviation",
        header,
        [_row_of_results(series) for series in found.series],
    )


def measures_beside_accuracy(series: Series) -> list[str]:
    """Return the means of the metrics that `BESIDE_ACCURACY` names."""
    return [
        f"{series.mean(metric):.1f}"
        if metric == "clusters_in_use"
        else f"{series.mean(metric):.3f}"
        for metric in _METRICS
    ]


def _row_of_results(series: Series) -> tuple[str, ...]:
    rounds = series.average(lambda record: record["rounds"])
    return (
        series.data.title,
        series.algorithm.title,
        str(len(series.records)),
        mean_and_spread(series),
        *measures_beside_accuracy(series),
        "" if rounds is None else f"{rounds:.1f}",
        f"{series.seconds:.3g}",
    )
