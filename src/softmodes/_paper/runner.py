"""Run cells into a results file: resumable, in this process or in several."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain, groupby
from typing import TypeAlias

from softmodes._journal import Record
from softmodes._paper.experiment import Experiment
from softmodes._paper.own_table import OwnTable, add_table
from softmodes._paper.recipe import Cell, Size
from softmodes._paper.results import ResultsFile
from softmodes._workers import finished

Line: TypeAlias = tuple[Cell, ...]
OnCell: TypeAlias = Callable[[Cell, Record], None]


def pending(
    experiments: Iterable[Experiment],
    size: Size,
    done: set[str],
    methods: Iterable[str] = (),
    tables: Iterable[OwnTable] = (),
) -> list[Cell]:
    """Return the cells that are not done yet."""
    methods, tables = list(methods), list(tables)
    cells = (cell for experiment in experiments for cell in experiment.cells(size, methods, tables))
    return [cell for cell in cells if cell.key not in done]


def run(
    cells: list[Cell],
    results: ResultsFile,
    *,
    jobs: int = 1,
    plugins: Iterable[str] = (),
    tables: Iterable[OwnTable] = (),
    on_cell: OnCell | None = None,
) -> None:
    """Run cells and append each line to the results as soon as it is done.

    With one job everything runs in this process and may use all cores. With several, cells run in
    as many processes, each with its share of the cores; but for those that share seeds, which are
    large, which are timed, and whose data and seeds each process would have to make for itself:
    they run here, after the others. Answers do not depend on that, times do.
    """
    tables = list(tables)
    for table in tables:
        add_table(table)
    lines = lines_of(cells)
    elsewhere = [line for line in lines if jobs > 1 and not line[0].shared_seeds]
    here = [line for line in lines if jobs == 1 or line[0].shared_seeds]
    done = chain(
        finished(elsewhere, _work, jobs, prepare=_prepare, given=(list(plugins), tables)),
        finished(here, _work, 1),
    )
    for line, records in done:
        results.append(*records)
        for cell, record in zip(line, records, strict=True):
            if on_cell:
                on_cell(cell, record)


def lines_of(cells: Iterable[Cell]) -> list[Line]:
    """Return cells by the line of the results that they share."""

    def place(cell: Cell) -> tuple[str, int]:
        return cell.series_key, cell.run // cell.at_once

    return [tuple(line) for _, line in groupby(cells, key=place)]


def _prepare(plugins: list[str], tables: list[OwnTable]) -> None:
    """Make a new process ready for cells."""
    from softmodes.baselines._plugins import load_methods

    for table in tables:
        add_table(table)
    load_methods(plugins)


def _work(line: Line, threads: int | None) -> list[Record]:
    return [_run_cell(cell, threads) for cell in line]


def _run_cell(cell: Cell, threads: int | None) -> Record:
    from softmodes._paper.cell import run_cell
    from softmodes.baselines._plugins import plugin_failure

    try:
        return run_cell(cell, n_jobs=threads)
    except Exception as error:
        failure = plugin_failure(cell.algorithm.name, f"in the cell {cell.key}", error)
        if failure is None:
            raise
        raise failure from error
