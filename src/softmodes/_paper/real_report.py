"""Tables, notes and the figure of the real data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from softmodes._figures import BLUE, RED
from softmodes._paper.plots import COLORS, error_bars, legend_above_all, many_panels
from softmodes._paper.published import (
    PUBLISHED,
    REPORTS,
    PublishedAndFound,
    all_finite_t,
    by_chance,
    choosing_runs_of_best_t,
    fresh_runs_of_best_t,
    percentile_text,
    published_and_found,
    run_of_lowest_cost,
    soft_series,
)
from softmodes._paper.recipe import ONE_HOT, Data
from softmodes._paper.summary import Found, Series, mean_and_spread
from softmodes._paper.tables import ReportTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def published_table(found: Found) -> ReportTable:
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
    rows = [_published_row(pair) for pair in published_and_found(found)]
    return ReportTable("Published beside found; SoftModes at the paper's t", header, rows)


def _published_row(pair: PublishedAndFound) -> tuple[str, ...]:
    return (
        pair.found.data.title,
        pair.found.algorithm.title,
        str(pair.published),
        mean_and_spread(pair.found, 4),
        f"{pair.difference:+.4f}",
        f"{pair.allowed:.4f}",
        "yes" if pair.agrees else "no",
        f"{pair.found.mean('ari'):.3f}",
        f"{pair.found.mean('clusters_in_use'):.1f}",
        f"{pair.found.mean('largest_share'):.3f}",
        f"{pair.found.mean('all_in_one_accuracy'):.4f}",
    )


def table_of_chances(found: Found) -> ReportTable:
    header = (
        "table",
        "published",
        "t",
        "ours at that t",
        "25 runs at that t report",
        "percentile",
        "ours at its best t",
        "25 runs with t chosen by label report",
        "percentile",
    )
    rows = []
    for data in found.data():
        published = PUBLISHED.get(data.kind, {}).get("softmodes")
        t = float(published.parameter or math.nan) if published else math.nan
        at_its_t, best = soft_series(found, data, t), fresh_runs_of_best_t(found, data)
        if published is None or at_its_t is None or best is None:
            continue
        alone = by_chance(published, [at_its_t])
        chosen = by_chance(published, all_finite_t(found, data))
        rows.append(
            (
                data.title,
                f"{published.mean:.4f}",
                f"{t:g}",
                f"{mean_and_spread(at_its_t, 4)} ({len(at_its_t.records):,} runs)",
                str(alone),
                percentile_text(alone),
                f"{best.mean():.4f} (t = {best.algorithm.t:g})",
                str(chosen),
                percentile_text(chosen),
            )
        )
    return ReportTable(
        "SoftModes: where the published mean lies among what 25 runs would report", header, rows
    )


def table_of_our_default(found: Found) -> ReportTable:
    header = ("table", "algorithm", "runs", "accuracy", "ARI", "same again")
    rows = []
    for data in found.data():
        published = PUBLISHED.get(data.kind, {}).get("softmodes")
        at_paper_t = soft_series(found, data, published.parameter or 1) if published else None
        beside = [
            soft_series(found, data, math.inf),
            at_paper_t or choosing_runs_of_best_t(found, data),
            *(found.get(data, name + ONE_HOT) for name in ("k-means", "gaussian")),
            found.get(data, "default"),
        ]
        rows += [
            (
                data.title,
                series.algorithm.title,
                f"{len(series.records):,}",
                mean_and_spread(series),
                f"{series.mean('ari'):.3f}",
                "" if series.same_again is None else f"{series.same_again:.2f}",
            )
            for series in beside
            if series
        ]
    return ReportTable("Our default beside the paper's algorithms", header, rows)


def table_of_choices(found: Found) -> ReportTable:
    header = ("table", "choice", "t", "runs", "accuracy", "ARI", "all in one")
    rows = []
    for data in found.data():
        choices: Iterable[tuple[str, Series | None]] = (
            ("k-modes", soft_series(found, data, math.inf)),
            ("best t by label, runs that chose it", choosing_runs_of_best_t(found, data)),
            ("best t by label, fresh runs", fresh_runs_of_best_t(found, data)),
            ("lowest expected cost, no labels", run_of_lowest_cost(found, data)),
        )
        rows += [
            (
                data.title,
                choice,
                f"{series.algorithm.t:g}",
                f"{len(series.records):,}",
                mean_and_spread(series),
                f"{series.mean('ari'):.3f}",
                f"{series.mean('all_in_one_accuracy'):.3f}",
            )
            for choice, series in choices
            if series
        ]
    return ReportTable("Choosing t, with labels and without", header, rows)


def chance_notes(found: Found) -> list[str]:
    """Say how much of what the paper reports is the choice of t by label."""
    inside: list[str] = []
    outside: list[str] = []
    for data in found.data():
        published = PUBLISHED.get(data.kind, {}).get("softmodes")
        tried = all_finite_t(found, data)
        if published and tried:
            chosen = by_chance(published, tried)
            (inside if 5 <= chosen.percentile <= 95 else outside).append(
                f"{data.title} ({percentile_text(chosen)})"
            )
    if not inside and not outside:
        return []
    return [
        "The paper's means of 25 runs with t chosen by label are compared with what we would have "
        f"reported in its place, {REPORTS:,} times over: by percentile, within the middle nine "
        f"tenths on {', '.join(inside) or 'no table'}; outside on {', '.join(outside) or 'none'}. "
        "Who runs 25 times at a single t reports less: choosing the highest of several means by "
        "their labels lifts it by chance alone."
    ]


def trivial_notes(found: Found) -> list[str]:
    """Say where a single cluster of all rows beats everything that the paper reports."""
    notes = []
    for data in found.data():
        if data.kind not in PUBLISHED:
            continue
        trivial = found.on(data)[0].mean("all_in_one_accuracy")
        highest = max(p.mean for p in PUBLISHED[data.kind].values())
        if trivial > highest:
            notes.append(
                f"{data.title}: putting all rows in one cluster has accuracy {trivial:.4f}, above "
                f"every number of the paper's table ({highest:.4f} at most). Accuracy says "
                "little there; look at the ARI."
            )
    return notes


def encoding_notes(found: Found) -> list[str]:
    """Say which encoding of the baselines is nearer to the published numbers."""
    encoded = ("k-means", "birch", "gaussian")
    pairs = [p for p in published_and_found(found) if p.found.algorithm.family in encoded]
    one_hot = [p for p in pairs if p.found.algorithm.name.endswith(ONE_HOT)]
    codes = [p for p in pairs if p not in one_hot]
    if not one_hot or not codes:
        return []
    agreeing = [sum(p.agrees for p in group) for group in (codes, one_hot)]
    note = (
        f"Of the published accuracies of k-means, BIRCH and Gaussian mixtures, {agreeing[0]} of "
        f"{len(codes)} agree with ours on integer codes, {agreeing[1]} of {len(one_hot)} on "
        "one-hot codes."
    )
    if agreeing[1] > agreeing[0]:
        note += " The paper's own runs probably were on one-hot codes."
    return [note]


def disagreement_notes(found: Found) -> list[str]:
    return [_disagreement(pair) for pair in published_and_found(found) if not pair.agrees]


def _disagreement(pair: PublishedAndFound) -> str:
    side = "higher" if pair.difference > 0 else "lower"
    return (
        f"{pair.found.data.title}, {pair.found.algorithm.title}: found {pair.found.mean():.4f}, "
        f"published {pair.published.mean:.4f}; ours is {side} by {abs(pair.difference):.4f}, "
        f"where {pair.allowed:.4f} is allowed."
    )


# ------------------------------------------------------------------------------- the figure


def accuracy_by_t(found: Found) -> Figure:
    """Return accuracy against t, a panel for every table."""
    data = found.data()
    figure, panels = many_panels(1, len(data), (2.3 * len(data) + 0.4, 3.0))
    for axes, d in zip(panels[0], data, strict=True):
        _draw_accuracy_by_t(axes, found, d)
    panels[0, 0].set_ylabel("accuracy")
    legend_above_all(figure, panels)
    return figure


def _draw_accuracy_by_t(axes: Axes, found: Found, data: Data) -> None:
    ours = [s for s in found.on(data) if s.algorithm.name in ("softmodes", "k-modes")]
    ours.sort(key=lambda s: s.algorithm.t)
    x = range(len(ours))
    axes.errorbar(
        x,
        [s.mean() for s in ours],
        yerr=error_bars(ours),
        color=BLUE,
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
            color=RED,
            linestyle=":",
            label="all rows in one cluster",
        )
    k_means = found.get(data, "k-means")
    if k_means:
        axes.axhline(k_means.mean(), color=COLORS["k-means"], linewidth=1, label="k-means")
    axes.set_title(data.title)
    axes.set_xlabel("t")
