"""Fill the generated parts of docs/quality.md from results; what is written by hand stays.

    python -m benchmarks.quality.page
    python -m benchmarks.quality.page --check

A part stands between `<!-- begin NAME -->` and `<!-- end NAME -->`.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from softmodes._compare.bar import FAR_BELOW, HOLDS, SO_FAR, best_rival, judge, stablest
from softmodes._compare.cells import EQUAL_TIME, ONCE
from softmodes._compare.contenders import DEFAULT
from softmodes._compare.page import (
    NOTHING,
    bar_table,
    digits,
    friedman_text,
    interval_text,
    losses_table,
    objectives_table,
    origin,
    shape_text,
)
from softmodes._compare.runner import RECORDS
from softmodes._compare.summary import Row, Summary
from softmodes._files import write_whole
from softmodes._journal import read_folder
from softmodes._text import markdown_table

DOCS = Path(__file__).parents[2] / "docs"
PAGE, RESULTS, CHOICE = DOCS / "quality.md", DOCS / "benchmarks/quality", "choosing_k.json"


# --------------------------------------------------------------------------------- the parts


def in_short(summary: Summary) -> str:
    """Return the main numbers in a paragraph."""
    many, lines = summary.many, judge(summary)
    rows = {row.contender: row for row in summary.rows(many)}
    ours, best = rows[DEFAULT], best_rival(summary, many)
    held = sum(line.verdict == HOLDS for line in lines)
    told = f"**In short**: mean ARI over {len(summary.tables)} tables, {many}: {digits(ours.ari)}"
    if best is not None:
        told += (
            f"; the best rival is {best} with {digits(rows[best].ari)} (difference "
            f"{interval_text(rows[best].difference)}; we win on {rows[best].wins} tables and lose "
            f"on {rows[best].losses})"
        )
    stable = stablest(summary)[1]
    if stable is not None:
        again = f"{digits(ours.same_again)}, {stable} {digits(rows[stable].same_again)}"
        told += f". Same again: {again}"
    told += f". Of {len(lines)} lines of the bar {held} hold"
    so_far = sum(line.verdict == SO_FAR for line in lines)
    failing = [line.claim for line in lines if line.verdict not in (HOLDS, SO_FAR)]
    told += f", {so_far} so far" if so_far else ""
    return told + (f"; not: {'; '.join(failing)}." if failing else ".")


def at_many_restarts(summary: Summary) -> str:
    """Return all contenders with the most restarts."""
    header = ("contender", "ARI", "mean rank", "our difference", "won", "lost", "same again")
    rows = [
        (
            *_name_and_score(row),
            digits(row.rank, 2),
            *_against(row),
            digits(row.same_again),
            f"{row.seconds:.2g}",
            NOTHING if row.contender == DEFAULT else f"{row.slower:.2g}x",
        )
        for row in summary.rows(summary.many)
    ]
    table = markdown_table((*header, "seconds", "times as long as ours"), rows)
    return f"{table}\n\n{friedman_text(summary, summary.many)}"


def at_one_restart(summary: Summary) -> str:
    """Return all contenders with a single restart."""
    rows = [
        (*_name_and_score(row), *_against(row), digits(row.same_again), f"{row.seconds:.2g}")
        for row in summary.rows(ONCE.name)
    ]
    header = ("contender", "ARI", "our difference", "won", "lost", "same again", "seconds")
    return markdown_table(header, rows)


def at_equal_time(summary: Summary) -> str:
    """Return all contenders at equal time."""
    rows = [
        (*_name_and_score(row), *_against(row), f"{row.overruns} of {row.tables}")
        for row in summary.rows(EQUAL_TIME.name)
    ]
    header = ("contender", "ARI", "our difference", "won", "lost", "took longer, tables")
    return markdown_table(header, rows)


def _name_and_score(row: Row) -> tuple[str, str]:
    is_default = row.contender == DEFAULT
    return (f"**{row.contender}**" if is_default else row.contender), digits(row.ari)


def _against(row: Row) -> tuple[str, str, str]:
    if row.contender == DEFAULT:
        return NOTHING, NOTHING, NOTHING
    return interval_text(row.difference), str(row.wins), str(row.losses)


def by_table(summary: Summary) -> str:
    """Return the mean ARI on every table; the highest is bold."""
    found = summary.values(summary.many, "ari")
    rows = []
    for table, aris in zip(summary.tables, found, strict=True):
        most = np.nanmax(aris)
        told = [f"**{digits(a)}**" if a >= most - 5e-4 else digits(a) for a in aris]
        rows.append((table, shape_text(summary, table), *told))
    means = [digits(mean) for mean in found.mean(axis=0)]
    header = ("table", "rows x columns, k", *summary.contenders)
    return markdown_table(header, [*rows, ("mean", "", *means)])


def again_by_table(summary: Summary) -> str:
    """Return the tables on which our default is less the same again than the stablest rival."""
    means, best = stablest(summary)
    if best is None:
        return "Not run yet."
    found = summary.same_again_values(summary.many)
    ours, theirs = found[:, summary.column(DEFAULT)], found[:, summary.column(best)]
    below = sorted(
        (float(a - b), table, a, b)
        for table, a, b in zip(summary.tables, ours, theirs, strict=True)
        if a < b - FAR_BELOW / 2
    )
    told = f"{DEFAULT} {means[DEFAULT]:.3f}, {best} {means[best]:.3f} over all tables."
    if not below:
        return f"{told} On no table is it below by more than {FAR_BELOW / 2:g}."
    rows = [
        (table, shape_text(summary, table), digits(a), digits(b), f"{gap:+.3f}")
        for gap, table, a, b in below
    ]
    header = ("below by more than .05", "rows x columns, k", DEFAULT, best, "difference")
    return f"{told}\n\n{markdown_table(header, rows)}"


def cost(summary: Summary) -> str:
    """Return how long a run takes, over the tables."""
    rows = []
    for name in summary.contenders:
        cells = {t: c for t in summary.tables if (c := summary.cell(t, name, summary.many))}
        seconds = {table: cell.seconds("cpu") for table, cell in cells.items()}
        if seconds:
            slowest = max(seconds, key=seconds.__getitem__)
            middle = float(np.median(list(seconds.values())))
            short = sum(cell.is_short for cell in cells.values())
            most = f"{seconds[slowest]:.2g} ({slowest})"
            rows.append((middle, (name, f"{middle:.2g}", most, str(short or ""))))
    header = ("contender", "CPU seconds of a run, median table", "most", "tables cut short")
    return markdown_table(header, [row for _, row in sorted(rows, key=lambda pair: pair[0])])


def choice_of_k(found: dict[str, Any]) -> str:
    """Return how often the number of groups is found, by criterion."""
    rows = [
        (name, _of(row["hit"]), *(_of(pair) for pair in row["alarm"].values()))
        for name, row in found["criteria"].items()
        if not name.startswith("-")
    ]
    kinds = [f"alarms, {kind}" for kind in found["no_groups"]]
    return markdown_table(("criterion", "planted number found", *kinds), rows)


def _of(pair: tuple[int, int]) -> str:
    return f"{pair[0]} of {pair[1]}"


PARTS: dict[str, Callable[[Summary], str]] = {
    "in short": in_short,
    "origin": origin,
    "bar": bar_table,
    "ten restarts": at_many_restarts,
    "one restart": at_one_restart,
    "equal time": at_equal_time,
    "losses": losses_table,
    "objectives": objectives_table,
    "same again": again_by_table,
    "cost": cost,
    "tables": by_table,
}


# ---------------------------------------------------------------------------------- the page


def filled(page: str, parts: dict[str, str]) -> str:
    """Return a page with its parts filled in; refuse one whose marks are not those of the parts."""
    marks = re.findall(r"<!-- (begin|end) ([^>]*) -->", page)
    expected = [(mark, name) for name in dict.fromkeys(n for _, n in marks) for mark in _MARKS]
    if marks != expected or {name for _, name in marks} != set(parts):
        raise ValueError(
            f"The page has the marks {marks}. Let it have each of {', '.join(parts)} once: "
            "<!-- begin NAME -->, then <!-- end NAME -->."
        )
    for name, text in parts.items():
        begin, end = (f"<!-- {mark} {name} -->" for mark in _MARKS)
        head, _, rest = page.partition(begin)
        page = f"{head}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}"
    return page


_MARKS = ("begin", "end")


def parts_of(results: Path, role: str) -> dict[str, str]:
    """Return all generated parts by name."""
    records = read_folder(results, role, RECORDS)
    if not records:
        raise ValueError(f"{results} holds no results of {role} tables. Run benchmarks.quality.")
    summary = Summary(records)
    choice = json.loads((results.parent / CHOICE).read_text("utf-8"))
    made = {name: make(summary) for name, make in PARTS.items()}
    return made | {"choice of k": choice_of_k(choice)}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder with the journal")
    parser.add_argument("--role", default="report", help="name of the journal")
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if it is old")
    options = parser.parse_args(arguments)
    before = options.page.read_text("utf-8")
    try:
        after = filled(before, parts_of(options.results, options.role))
    except ValueError as error:
        raise SystemExit(f"Error: {error}") from error
    if options.check and after != before:
        raise SystemExit(f"{options.page} is not what the results say. Run without --check.")
    if not options.check:
        write_whole(options.page, after.encode())


if __name__ == "__main__":
    main()
