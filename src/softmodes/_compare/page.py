"""The page of a comparison, as Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable

from softmodes._compare.bar import judge
from softmodes._compare.cells import AGAIN_FITS, AGAIN_SHARE
from softmodes._compare.contenders import DEFAULT
from softmodes._compare.statistics import Interval
from softmodes._compare.summary import MARGIN, OVERRUN, CellResult, Row, Summary
from softmodes._text import in_markdown, markdown_table

NOTHING = "-"

_HOW = """\
## How it is measured

- Every contender gets the number of clusters, {threads} thread(s), and the seeds of all others; up
  to {runs} runs a cell, fewer where they are slow (marked *).
- ARI is the adjusted Rand index against the classes (0 for chance), accuracy the share of rows that
  agree under the best matching. A run that fails counts as all rows in one cluster, and is listed.
- *Same again*: {fits} fits with other seeds on other random {share:.0%} of the rows, the same rows
  for all contenders; mean ARI of their pairs on the rows that both have. Not asked at equal time.
- Restarts are the method's own (`n_init`). *Equal time*: each repeats runs of one restart and keeps
  the best by its own objective, while another is expected to fit into the {clock} seconds that
  KMeans takes with all restarts on that table (median of its runs). At least one run is made; over
  {overrun:g} times as long is marked !. Encoding counts once in every run.
- Differences are our default minus the contender, with a paired 90 % bootstrap interval over
  {over}; won and lost are tables with a difference above {margin:g}. Ranks, 1 is best, are among
  contenders that were run on all tables. Slower: geometric mean of times over those of our default.
  Clusters in use: of those asked for."""


def markdown(summary: Summary, title: str, figure: str | None = None) -> str:
    """Return the report as Markdown."""
    parts = [f"# {in_markdown(title)}", _origin(summary), _how(summary)]
    if len(summary.tables) > 1:
        parts.append("## The bar\n\n" + _bar(summary))
    if figure is not None:
        parts.append(f"![Contenders compared]({figure})")
    for setting in _most_told_first(summary):
        parts.append(f"## {setting.capitalize()}\n\n" + _setting(summary, setting))
    parts.append(f"## Where our default loses, {summary.many}\n\n" + _losses(summary))
    parts.append("## Tables\n\n" + _tables(summary))
    for setting in summary.settings:
        parts.append(f"## ARI by table, {setting}\n\n" + _by_table(summary, setting))
    parts.append(f"## Same again by table, {summary.many}\n\n" + _again_by_table(summary))
    parts.append(f"## Seconds of a run by table, {summary.many}\n\n" + _seconds_by_table(summary))
    parts.append("## Failures\n\n" + _failures(summary))
    parts.append("## Contenders\n\n" + _contenders(summary))
    return "\n\n".join(parts) + "\n"


def _most_told_first(summary: Summary) -> list[str]:
    return sorted(summary.settings, key=lambda name: name != summary.many)


def _origin(summary: Summary) -> str:
    records = summary.records
    machines = sorted({record["machine"] for record in records})
    versions = sorted({", ".join(f"{k} {v}" for k, v in r["versions"].items()) for r in records})
    days = sorted({record["date"][:10] for record in records})
    shared = any(record.get("jobs", 1) > 1 for record in records)
    lines = [
        f"Tables: {len(summary.tables)}; contenders: {len(summary.contenders)}; "
        f"cells: {len(records):,}; {' to '.join(dict.fromkeys((days[0], days[-1])))}.",
        *(f"Machine: {name}." for name in machines),
        *(f"Versions: {name}." for name in versions),
    ]
    if shared:
        lines.append("Several processes ran at once: wall times are those of a shared machine.")
    lines += _not_run(summary)
    return "\n".join(f"- {line}" for line in lines)


def _not_run(summary: Summary) -> list[str]:
    """Return a line for each contender that lacks runs on some tables."""
    lines = []
    for name in summary.contenders:
        for setting in summary.settings:
            lacking = [t for t in summary.tables if not summary.cell(t, name, setting)]
            if lacking:
                told = f"{name} was not run on {', '.join(lacking)} ({setting})."
                lines.append(in_markdown(told))
    return lines


def _how(summary: Summary) -> str:
    records = summary.records
    return _HOW.format(
        threads=" and ".join(map(str, sorted({r.get("threads", 1) for r in records}))),
        runs=max((r["wanted"] for r in records if r["what"] == "runs"), default=0),
        fits=AGAIN_FITS,
        share=AGAIN_SHARE,
        clock=" and ".join(sorted({r["clock"] for r in records if "clock" in r})) or "wall",
        overrun=OVERRUN,
        over="runs" if len(summary.tables) == 1 else "tables",
        margin=MARGIN,
    )


def _bar(summary: Summary) -> str:
    lines = [(line.claim, f"**{line.verdict}**", line.evidence) for line in judge(summary)]
    return markdown_table(("what", "verdict", "numbers"), lines)


def _setting(summary: Summary, setting: str) -> str:
    header = (
        "contender",
        "tables",
        "ARI",
        "rank",
        "our difference",
        "won",
        "lost",
        "NMI",
        "accuracy",
        "same again",
        "clusters in use",
        "seconds",
        "slower",
        "failed runs",
    )
    rows = [_told(row) for row in summary.rows(setting)]
    table = markdown_table(header, rows)
    return "\n\n".join(filter(None, (table, _test(summary, setting))))


def _told(row: Row) -> tuple[str, ...]:
    is_default = row.contender == DEFAULT
    marks = ("*" if row.short else "") + ("!" if row.overruns else "")
    return (
        f"**{row.contender}**{marks}" if is_default else f"{row.contender}{marks}",
        str(row.tables),
        digits(row.ari),
        digits(row.rank, 2),
        NOTHING if is_default else interval_text(row.difference),
        NOTHING if is_default else str(row.wins),
        NOTHING if is_default else str(row.losses),
        digits(row.nmi),
        digits(row.accuracy),
        digits(row.same_again),
        f"{row.clusters:.0%}",
        f"{row.seconds:.3g}",
        f"{row.slower:.2g}x" if math.isfinite(row.slower) else NOTHING,
        str(row.failed or ""),
    )


def _test(summary: Summary, setting: str) -> str:
    test = summary.test(setting)
    if test is None:
        return ""
    return (
        f"Friedman's test: chi-square {test.chi_square:.1f}, p = {test.p:.2g}. Mean ranks differ "
        f"by more than chance from {test.critical_distance:.2f} on (Nemenyi, .05)."
    )


def _losses(summary: Summary) -> str:
    rivals = [name for name, about in summary.contenders.items() if about["side"] == "rival"]
    lost = []
    for table in summary.tables:
        ours = summary.cell(table, DEFAULT, summary.many) if DEFAULT in summary.contenders else None
        cells = {name: summary.cell(table, name, summary.many) for name in rivals}
        means = {name: cell.mean("ari") for name, cell in cells.items() if cell}
        if ours is None or not means:
            continue
        best = max(means, key=means.__getitem__)
        gap = means[best] - ours.mean("ari")
        if gap > MARGIN:
            above = sum(mean > ours.mean("ari") + MARGIN for mean in means.values())
            lost.append((gap, table, ours.mean("ari"), best, means[best], above))
    lines = [
        (table, digits(ours), f"{best} {digits(mean)}", f"{gap:+.3f}", str(above))
        for gap, table, ours, best, mean, above in sorted(lost, reverse=True)
    ]
    if not lines:
        return f"On no table is a rival more than {MARGIN:g} above it."
    told = (
        f"On {len(lines)} of {len(summary.tables)} tables a rival is more than {MARGIN:g} above it."
    )
    header = ("table", "our ARI", "best rival", "above us by", "rivals above us")
    return told + "\n\n" + markdown_table(header, lines)


def _tables(summary: Summary) -> str:
    rows = [
        (
            table["name"],
            *(f"{table[what]:,}" for what in ("rows", "columns", "values", "classes", "k")),
            table["source"] or NOTHING,
            table["licence"] or NOTHING,
        )
        for table in summary.tables.values()
    ]
    header = ("table", "rows", "columns", "values", "classes", "k", "source", "licence")
    return markdown_table(header, rows)


def _by_table(summary: Summary, setting: str) -> str:
    def told(table: str, name: str) -> str:
        cell = summary.cell(table, name, setting)
        if cell is None:
            return NOTHING
        marks = _marks(summary, table, name, setting)
        failed = f" ({len(cell.errors)} failed)" if cell.errors else ""
        return f"{cell.mean('ari'):.3f} ± {cell.spread('ari'):.3f}{marks}{failed}"

    return _grid(summary, told) + "\n\nMean ± standard deviation over the runs."


def _again_by_table(summary: Summary) -> str:
    return _grid(summary, lambda t, name: digits(summary.same_again(t, name, summary.many)))


def _seconds_by_table(summary: Summary) -> str:
    def told(table: str, name: str) -> str:
        cell = summary.cell(table, name, summary.many)
        return NOTHING if cell is None else f"{cell.seconds():.3g} ({cell.seconds('cpu'):.3g})"

    return _grid(summary, told) + "\n\nMedian wall seconds of a run, CPU seconds in brackets."


def _grid(summary: Summary, told: Callable[[str, str], str]) -> str:
    rows = [
        (table, *(told(table, name) for name in summary.contenders)) for table in summary.tables
    ]
    return markdown_table(("", *summary.contenders), rows)


def _failures(summary: Summary) -> str:
    counts: dict[tuple[str, str, str, str], int] = {}
    for record in summary.records:
        for run in record["runs" if record["what"] == "runs" else "fits"]:
            if "error" in run:
                where = (record["contender"]["name"], record["table"]["name"])
                place = (*where, f"{record['setting']}, {record['what']}", run["error"])
                counts[place] = counts.get(place, 0) + 1
    if not counts:
        return "None: every fit gave a partition."
    rows = [(*place[:3], str(count), place[3]) for place, count in counts.items()]
    return markdown_table(("contender", "table", "where", "how often", "what it said"), rows)


def _contenders(summary: Summary) -> str:
    lines = [
        f"- **{in_markdown(name)}**: {in_markdown(about['note'])}."
        for name, about in summary.contenders.items()
    ]
    return "\n".join(lines)


def overview(summary: Summary) -> tuple[list[str], list[list[str]], list[str]]:
    """Return what a terminal shows of a single table: header, a row for each contender, notes."""
    (about,) = summary.tables.values()
    many = summary.many
    header = ["", *(f"ARI, {name}" for name in summary.settings), "our difference"]
    header += ["NMI", "accuracy", "same again", "k in use", "seconds"]
    rows = [_overview_row(summary, row) for row in summary.rows(many)]
    notes = [
        f"{about['name']}: {about['rows']:,} rows, {_so_many(about['columns'], 'column')}, "
        f"{about['classes']:,} classes, {_so_many(about['k'], 'cluster')}. Means over the runs. "
        f"All columns from our difference on: {many}.",
        "Our difference: ARI of SoftModes minus that of the method, and a paired 90 % interval.",
        "Same again: agreement of fits with other seeds on other 90 % of the rows.",
    ]
    told = {mark for row in rows for cell in row[1:] for mark in "*!" if mark in cell}
    if "*" in told:
        notes.append("* fewer runs than asked for: they are slow. Pass more --seconds.")
    if "!" in told:
        notes.append(f"! took over {OVERRUN:g} times as long as KMeans with all restarts.")
    failed = sum(len(c.errors) for s in summary.settings for c in _cells(summary, s))
    if failed:
        count = "counts" if failed == 1 else "count"
        failures = f"{_so_many(failed, 'run')} failed and {count} as all rows in one cluster."
        notes.append(f"{failures} What the first of each method said:")
        notes += [f"  {name}: {error}" for name, error in _first_errors(summary).items()]
    return header, rows, notes


def _first_errors(summary: Summary) -> dict[str, str]:
    """Return what the first failed run of each contender said."""
    found: dict[str, str] = {}
    for setting in summary.settings:
        for cell in _cells(summary, setting):
            for error in cell.errors[:1]:
                found.setdefault(cell.record["contender"]["name"], error)
    return found


def _overview_row(summary: Summary, row: Row) -> list[str]:
    (table,) = summary.tables
    cells = [summary.cell(table, row.contender, name) for name in summary.settings]
    scores = [
        f"{cell.mean('ari'):.3f}{_marks(summary, table, row.contender, name)}" if cell else NOTHING
        for cell, name in zip(cells, summary.settings, strict=True)
    ]
    difference = NOTHING if row.contender == DEFAULT else interval_text(row.difference)
    cell = summary.cell(table, row.contender, summary.many)
    assert cell is not None
    return [
        row.contender,
        *scores,
        difference,
        digits(row.nmi),
        digits(row.accuracy),
        digits(row.same_again),
        f"{cell.mean('clusters'):.3g}",
        f"{row.seconds:.2g}",
    ]


def _cells(summary: Summary, setting: str) -> list[CellResult]:
    places = [(table, name) for table in summary.tables for name in summary.contenders]
    return [cell for place in places if (cell := summary.cell(*place, setting))]


def _marks(summary: Summary, table: str, contender: str, setting: str) -> str:
    """Return the marks of a cell: of too few runs, and of too much time."""
    cell = summary.cell(table, contender, setting)
    overrun = summary.is_overrun(table, contender, setting)
    return ("*" if cell and cell.is_short else "") + ("!" if overrun else "")


def _so_many(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def digits(number: float, n_digits: int = 3) -> str:
    """Return a number as text, a dash for none."""
    return NOTHING if math.isnan(number) else f"{number:.{n_digits}f}"


def interval_text(interval: Interval) -> str:
    """Return a difference with its interval as text."""
    if math.isnan(interval.mean):
        return NOTHING
    if math.isnan(interval.low):
        return f"{interval.mean:+.3f}"
    return f"{interval.mean:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"
