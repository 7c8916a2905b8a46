"""What a terminal shows of a comparison on a single table."""

from __future__ import annotations

from softmodes._compare.contenders import DEFAULT
from softmodes._compare.page import (
    NOTHING,
    again_text,
    digits,
    interval_text,
    left_out,
    score_text,
)
from softmodes._compare.summary import OVERRUN, CellResult, Row, Summary


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
        notes.append("* fewer runs or fits than asked for: they are slow. Pass more --seconds.")
    if "!" in told:
        notes.append(f"! took over {OVERRUN:g} times as long as KMeans with all restarts.")
    failed = sum(len(cell.errors) for cell in _all_cells(summary))
    if failed:
        count = "counts" if failed == 1 else "count"
        failures = f"{_so_many(failed, 'run')} failed and {count} as all rows in one cluster."
        notes.append(f"{failures} What the first of each method said:")
        notes += [f"  {name}: {error}" for name, error in _first_errors(summary).items()]
    return header, rows, notes + left_out(summary)


def _first_errors(summary: Summary) -> dict[str, str]:
    """Return what the first failed run of each contender said."""
    found: dict[str, str] = {}
    for cell in _all_cells(summary):
        for error in cell.errors[:1]:
            found.setdefault(cell.record["contender"]["name"], error)
    return found


def _overview_row(summary: Summary, row: Row) -> list[str]:
    (table,) = summary.tables
    scores = [score_text(summary, table, row.contender, name) for name in summary.settings]
    difference = NOTHING if row.contender == DEFAULT else interval_text(row.difference)
    cell = summary.cell(table, row.contender, summary.many)
    assert cell is not None
    return [
        row.contender,
        *scores,
        difference,
        digits(row.nmi),
        digits(row.accuracy),
        again_text(summary, table, row.contender, summary.many),
        f"{cell.mean('clusters'):.3g}",
        f"{row.seconds:.2g}",
    ]


def _all_cells(summary: Summary) -> list[CellResult]:
    """Return the cells of all settings; one that serves several comes once."""
    cells = (
        summary.cell(table, name, setting)
        for setting in summary.settings
        for table in summary.tables
        for name in summary.contenders
    )
    return list({cell.record["key"]: cell for cell in cells if cell}.values())


def _so_many(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
