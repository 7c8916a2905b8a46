"""Run cells into a journal: resumable, in this process or in several."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TypeAlias

from softmodes._compare.cells import (
    AGAIN_FITS,
    EQUAL_TIME,
    ONCE,
    Cell,
    Limits,
    Setting,
    cells_of,
    pace_of,
)
from softmodes._compare.contenders import CONTENDERS, K_MEANS, Contender
from softmodes._compare.fitting import check_params
from softmodes._compare.running import EqualTime, measured, restarts_that_fit
from softmodes._compare.tables import LabelledTable, ReadyTable
from softmodes._journal import Journal, Record, one_record, read
from softmodes._parameters import check_most, whole
from softmodes._provenance import machine, versions
from softmodes._workers import finished

Tables: TypeAlias = Mapping[str, Callable[[], LabelledTable]]
Source: TypeAlias = Callable[[], Tables]
OnCell: TypeAlias = Callable[[Cell], None]

RECORDS = one_record(
    {
        **dict.fromkeys(("key", "what", "setting", "machine", "date"), str),
        "table": {
            "name": str,
            "role": str,
            "fingerprint": str,
            "rows": int,
            "columns": int,
            "k": int,
        },
        "contender": {"name": str, "side": str, "is_random": bool, "note": str},
        "wanted": int,
        "versions": dict,
    }
)
_RIVAL_PACKAGES = ("kmodes", "stepmix")


@dataclass(frozen=True)
class Comparison:
    """All that is asked for: who, at which settings, with how many runs.

    `source` returns the tables by name, each as a function that loads it; it and all in it are
    called in every process.
    """

    source: Source
    tables: tuple[str, ...]
    contenders: tuple[Contender, ...]
    settings: tuple[Setting, ...]
    limits: Limits = field(default_factory=Limits)
    n_clusters: int | None = None
    seed: int = 0
    threads: int = 1
    plugins: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Task:
    """A cell, and what it needs of others: at equal time."""

    cell: Cell
    time: EqualTime | None = None


def only(table: LabelledTable) -> Tables:
    """Return a single table as the source of a comparison does."""
    return {table.name: lambda: table}


def all_cells(comparison: Comparison) -> list[Cell]:
    """Return the cells of a comparison; loads every table once to tell its rows and classes."""
    loaders = comparison.source()
    cells: list[Cell] = []
    for name in comparison.tables:
        ready = ReadyTable(loaders[name](), comparison.n_clusters)
        table = ready.describe()
        whole("n_clusters", table["k"], 1)
        check_most("n_clusters", table["k"], "n_samples", table["rows"])
        for contender in comparison.contenders:
            check_params(contender, ready)
        cells += cells_of(
            table,
            comparison.contenders,
            comparison.settings,
            comparison.limits,
            comparison.seed,
        )
    return cells


def run(
    comparison: Comparison,
    cells: Iterable[Cell],
    journal: Journal,
    *,
    jobs: int = 1,
    on_cell: OnCell | None = None,
) -> None:
    """Run the cells that are not in the journal, and append each as soon as it is done.

    Those at equal time come last: how long that is, others say. Where a cell that they need is
    not there, or KMeans has failed, they are left out.
    """
    todo = to_run(comparison, cells, journal)
    direct = [_Task(cell) for cell in todo if cell.setting != EQUAL_TIME]
    _run_tasks(comparison, direct, journal, jobs, on_cell)
    found = found_in(journal)
    timed = [_at_equal_time(cell, comparison, found) for cell in todo if cell.setting == EQUAL_TIME]
    _run_tasks(comparison, [task for task in timed if task], journal, jobs, on_cell)


def found_in(journal: Journal) -> dict[str, Record]:
    """Return what a journal holds by key; of cells that were run again, the last."""
    return {record["key"]: record for record in read(journal.path, RECORDS)}


def to_run(comparison: Comparison, cells: Iterable[Cell], journal: Journal) -> list[Cell]:
    """Return the cells that are not in the journal, or ask for more than what is there.

    More runs, where time was short and there is more of it now; another time, at equal time, if
    KMeans has another number of restarts, is run again or is timed by another clock.
    """
    found = {key: record for key, record in found_in(journal).items() if key in journal.done}
    direct, timed = [], []
    for cell in cells:
        if cell.setting == EQUAL_TIME:
            timed.append(cell)
        elif cell.key not in found or _has_more_time(cell, found[cell.key]):
            direct.append(cell)
    again = {cell.key for cell in direct}
    return direct + [cell for cell in timed if _is_new_time(cell, comparison, found, again)]


def _has_more_time(cell: Cell, record: Record) -> bool:
    made = len(record["runs" if cell.what == "runs" else "fits"])
    known = record.get("cell_seconds", cell.limits.cell_seconds)
    return bool(made < record["wanted"] and known < cell.limits.cell_seconds)


def _is_new_time(
    cell: Cell, comparison: Comparison, found: Mapping[str, Record], again: set[str]
) -> bool:
    record = found.get(cell.key)
    pace, once, many = _needed(cell, comparison)
    needed = {pace.key, once.key, many.key}
    if record is None or needed & again or _has_more_time(cell, record):
        return True
    given = (record["budget"], record["clock"])
    return given != (_seconds_of(pace, found), cell.limits.clock)


def _run_tasks(
    comparison: Comparison,
    tasks: list[_Task],
    journal: Journal,
    jobs: int,
    on_cell: OnCell | None,
) -> None:
    given = (comparison.source, comparison.plugins)
    _use(comparison.source)
    done = finished(tasks, _work, jobs, threads=comparison.threads, prepare=_prepare, given=given)
    for task, record in done:
        journal.append(record | {"jobs": jobs})
        if on_cell:
            on_cell(task.cell)


def _at_equal_time(cell: Cell, comparison: Comparison, found: Mapping[str, Record]) -> _Task | None:
    """Return a cell with the time that KMeans takes, and the restarts that fit into it."""
    pace, once, many = _needed(cell, comparison)
    budget = _seconds_of(pace, found)
    if budget is None or once.key not in found:
        return None
    first = tuple(found[once.key]["runs"])
    one, all_, n = _seconds_of(once, found), _seconds_of(many, found), many.setting.restarts
    if not cell.contender.restarts or one is None or all_ is None or n is None:
        return _Task(cell, EqualTime(budget, first))
    return _Task(cell, EqualTime(budget, first, restarts_that_fit(budget, one, all_, n)))


def _needed(cell: Cell, comparison: Comparison) -> tuple[Cell, Cell, Cell]:
    """Return the cells that one at equal time needs: KMeans's, and its own of one restart and many.

    Without the last one it is repeated.
    """
    many = replace(cell, setting=pace_of(comparison.settings))
    return replace(many, contender=CONTENDERS[K_MEANS]), replace(cell, setting=ONCE), many


def _seconds_of(cell: Cell, found: Mapping[str, Record]) -> float | None:
    """Return how long a run of a cell takes; None if it was not run, or has failed."""
    runs = found[cell.key]["runs"] if cell.key in found else []
    seconds = [run[cell.limits.clock] for run in runs if "error" not in run]
    return statistics.median(seconds) if seconds else None


# ------------------------------------------------------------------------------ in a process

_source: list[Source] = []


def _prepare(source: Source, plugins: Iterable[str]) -> None:
    """Make a new process ready for cells."""
    from softmodes.baselines._plugins import load_methods

    _use(source)
    load_methods(plugins)


def _use(source: Source) -> None:
    _source[:] = [source]
    _ready.cache_clear()


@lru_cache(maxsize=1)
def _ready(name: str, n_clusters: int) -> ReadyTable:
    """Load a table; one at a time, since cells come in that order and tables can be large."""
    return ReadyTable(_source[0]()[name](), n_clusters)


def _work(task: _Task, threads: int | None) -> Record:
    cell = task.cell
    table = _ready(cell.table, cell.n_clusters)
    found = measured(cell, table, threads or 1, task.time)
    return {
        "key": cell.key,
        "what": cell.what,
        "setting": cell.setting.name,
        "restarts": cell.setting.restarts,
        "table": table.describe(),
        "contender": cell.contender.describe(),
        "wanted": _wanted(cell),
        "cell_seconds": cell.limits.cell_seconds,
        "seed": cell.seed,
        "threads": threads or 1,
        **found,
        "versions": versions(*_RIVAL_PACKAGES),
        "machine": machine(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _wanted(cell: Cell) -> int:
    if cell.what == "same again":
        return AGAIN_FITS
    return cell.limits.runs if cell.contender.is_random else 1
