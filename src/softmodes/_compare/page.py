"""The page of a comparison, as Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from softmodes._compare.bar import judge
from softmodes._compare.cells import AGAIN_FITS, AGAIN_SHARE
from softmodes._compare.contenders import CONTENDERS, DEFAULT
from softmodes._compare.losses import Loss, losses
from softmodes._compare.objectives import beside
from softmodes._compare.statistics import Interval
from softmodes._compare.summary import MARGIN, OVERRUN, Row, Summary
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
- Restarts are the method's own (`n_init`). *Equal time*: each makes as many restarts as fit into
  the {clock} seconds that KMeans takes with all restarts on that table (median of its runs), by the
  times of its runs with one restart and with all; the best is kept by its own objective. At least
  one is made; over {overrun:g} times as long is marked !. Encoding counts once in every run.
- Differences are our default minus the contender, with a paired 90 % bootstrap interval over
  {over}; won and lost are tables with a difference above {margin:g}. Ranks, 1 is best, are among
  contenders that were run on all tables. Slower: geometric mean of times over those of our default.
  Seconds are {clock} seconds. Clusters in use: of those asked for."""


def markdown(summary: Summary, title: str, figures: Sequence[str] = ()) -> str:
    """Return the report as Markdown, with some figures by the names of their files."""
    parts = [f"# {in_markdown(title)}", origin(summary), _how(summary)]
    if len(summary.tables) > 1:
        parts.append("## The bar\n\n" + bar_table(summary))
    parts += [f"![Contenders compared]({figure})" for figure in figures]
    for setting in _most_told_first(summary):
        parts.append(f"## {setting.capitalize()}\n\n" + _setting(summary, setting))
    parts.append(f"## Where our default loses, {summary.many}\n\n" + losses_table(summary))
    parts.append(
        f"## Who finds the lower objective, {summary.many}\n\n" + objectives_table(summary)
    )
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


def origin(summary: Summary) -> str:
    """Return where results come from, and what lacks."""
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
    lines += map(in_markdown, [*left_out(summary), *_partly_run(summary)])
    return "\n".join(f"- {line}" for line in lines)


def left_out(summary: Summary) -> list[str]:
    """Return a line for each reason why contenders that were asked for were not run."""
    rows = [table["rows"] for table in summary.tables.values()]
    reasons: dict[str | None, list[str]] = {}
    for one in summary.absent:
        reasons.setdefault(one.why_not(min(rows, default=0)), []).append(one.name)
    return [
        f"Not run: {', '.join(names)}" + (f"; {reason}." if reason else ".")
        for reason, names in reasons.items()
    ]


def _partly_run(summary: Summary) -> list[str]:
    """Return a line for each contender that lacks runs on the same tables at some settings."""
    lines = []
    for name in summary.contenders:
        settings: dict[tuple[str, ...], list[str]] = {}
        for setting in summary.settings:
            lacking = tuple(t for t in summary.tables if not summary.cell(t, name, setting))
            settings.setdefault(lacking, []).append(setting)
        for tables, some in settings.items():
            if tables:
                told = f"{name} was not run on {', '.join(tables)} ({', '.join(some)})"
                lines.append(f"{told}{_why(summary, name, tables)}.")
    return lines


def _why(summary: Summary, name: str, tables: tuple[str, ...]) -> str:
    """Return the reason that all these tables give for leaving a contender out, if they do."""
    known = CONTENDERS.get(name)
    reasons = {known.why_not(summary.tables[t]["rows"]) if known else None for t in tables}
    (reason, *others) = reasons
    return f": {reason}" if reason and not others else ""


def _how(summary: Summary) -> str:
    records = summary.records
    return _HOW.format(
        threads=" and ".join(map(str, sorted({r.get("threads", 1) for r in records}))),
        runs=max((r["wanted"] for r in records if r["what"] == "runs"), default=0),
        fits=AGAIN_FITS,
        share=AGAIN_SHARE,
        clock=summary.clock,
        overrun=OVERRUN,
        over="runs" if len(summary.tables) == 1 else "tables",
        margin=MARGIN,
    )


def bar_table(summary: Summary) -> str:
    """Return the bar, line by line."""
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
    return "\n\n".join(filter(None, (table, friedman_text(summary, setting))))


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


def friedman_text(summary: Summary, setting: str) -> str:
    """Return what Friedman's test says of a setting; nothing if there is none."""
    test = summary.test(setting)
    if test is None:
        return ""
    return (
        f"Friedman's test: chi-square {test.chi_square:.1f}, p = {test.p:.2g}. Mean ranks differ "
        f"by more than chance from {test.critical_distance:.2f} on (Nemenyi, .05)."
    )


def losses_table(summary: Summary) -> str:
    """Return the tables on which a rival is above our default, and what may explain it."""
    found = losses(summary)
    if not found:
        return f"On no table is a rival more than {MARGIN:g} above it."
    told = (
        f"On {len(found)} of {len(summary.tables)} tables a rival is more than {MARGIN:g} above "
        f"it, on {sum(not loss.by_chance for loss in found)} of them by more than two standard "
        "errors over the runs."
    )
    here = [n for n, one in summary.contenders.items() if one["side"] == "here" and n != DEFAULT]
    header = (
        "table",
        "rows x columns, k",
        "our ARI",
        "best rival",
        "above us by",
        "rivals above us",
    )
    more = ("lowest objective", "objective points to classes", "reading")
    lines = [_loss_line(summary, loss, here) for loss in found]
    note = (
        "Lowest objective: ARI of our run with the lowest of our own objective. Points to classes: "
        "rank correlation, over our runs of one restart, of ARI and how low the objective is."
    )
    return "\n\n".join((told, markdown_table((*header, *here, *more), lines), note))


def _loss_line(summary: Summary, loss: Loss, here: list[str]) -> tuple[str, ...]:
    return (
        loss.table,
        shape_text(summary, loss.table),
        digits(loss.ours),
        f"{loss.best} {digits(loss.theirs)}",
        f"{loss.gap:+.3f}",
        str(loss.rivals_above),
        *(digits(loss.others.get(name, math.nan)) for name in here),
        digits(loss.lowest),
        NOTHING if math.isnan(loss.points) else f"{loss.points:+.2f}",
        loss.reading,
    )


def shape_text(summary: Summary, table: str) -> str:
    """Return rows, columns and clusters of a table as text."""
    about = summary.tables[table]
    return f"{about['rows']:,} x {about['columns']:,}, {about['k']}"


def objectives_table(summary: Summary) -> str:
    """Return who finds the lower objective, where two lower the same one."""
    rows = [
        (
            one.ours,
            one.theirs,
            *map(str, (one.lower, one.equal, one.higher)),
            f"{one.mean_difference:+.2%}",
            f"{one.most_above[0]:+.2%} ({one.most_above[1]})" if one.higher else NOTHING,
        )
        for one in beside(summary, summary.many)
    ]
    header = ("ours", "theirs", "lower", "equal", "higher", "mean difference", "most above")
    return (
        markdown_table(header, rows) if rows else "No two that lower the same objective were run."
    )


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
        marks = marks_of(summary, table, name, setting)
        failed = f" ({len(cell.errors)} failed)" if cell.errors else ""
        return f"{cell.mean('ari'):.3f} ± {cell.spread('ari'):.3f}{marks}{failed}"

    return _grid(summary, told) + "\n\nMean ± standard deviation over the runs."


def _again_by_table(summary: Summary) -> str:
    grid = _grid(summary, lambda t, name: again_text(summary, t, name, summary.many))
    return f"{grid}\n\n* Fewer fits than {AGAIN_FITS}: they are slow."


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


def score_text(summary: Summary, table: str, contender: str, setting: str) -> str:
    """Return the mean ARI of a cell as text, with its marks."""
    cell = summary.cell(table, contender, setting)
    if cell is None:
        return NOTHING
    return digits(cell.mean("ari")) + marks_of(summary, table, contender, setting)


def marks_of(summary: Summary, table: str, contender: str, setting: str) -> str:
    """Return the marks of a cell: of too few runs, and of too much time."""
    cell = summary.cell(table, contender, setting)
    overrun = summary.is_overrun(table, contender, setting)
    return ("*" if cell and cell.is_short else "") + ("!" if overrun else "")


def again_text(summary: Summary, table: str, contender: str, setting: str) -> str:
    """Return how much a partition is the same again as text, marked if there were few fits."""
    mark = "*" if summary.has_few_fits(table, contender, setting) else ""
    return digits(summary.same_again(table, contender, setting)) + mark


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
