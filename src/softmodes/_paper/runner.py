"""Run cells into a results file: resumable, in this process or in several."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from softmodes._journal import Record
from softmodes._paper.experiment import Experiment
from softmodes._paper.recipe import Cell, Size
from softmodes._paper.results import ResultsFile
from softmodes._workers import finished

OnCell: TypeAlias = Callable[[Cell, Record], None]


def pending(
    experiments: Iterable[Experiment], size: Size, done: set[str], methods: Iterable[str] = ()
) -> list[Cell]:
    """Return the cells that are not done yet."""
    methods = list(methods)
    cells = (cell for experiment in experiments for cell in experiment.cells(size, methods))
    return [cell for cell in cells if cell.key not in done]


def run(
    cells: list[Cell],
    results: ResultsFile,
    *,
    jobs: int = 1,
    plugins: Iterable[str] = (),
    on_cell: OnCell | None = None,
) -> None:
    """Run cells and append each to the results as soon as it is done.

    With one job everything runs in this process and may use all cores; with several, each runs in
    a process of its own with its share of the cores. Answers do not depend on that, times do.
    """
    done = finished(cells, _work, jobs, prepare=_prepare, given=(list(plugins),))
    for cell, record in done:
        results.append(record)
        if on_cell:
            on_cell(cell, record)


def _prepare(plugins: list[str]) -> None:
    from softmodes.baselines._plugins import load_methods

    load_methods(plugins)


def _work(cell: Cell, threads: int | None) -> Record:
    from softmodes._paper.cell import run_cell
    from softmodes.baselines._plugins import plugin_failure

    try:
        return run_cell(cell, n_jobs=threads)
    except Exception as error:
        failure = plugin_failure(cell.algorithm.name, f"in the cell {cell.key}", error)
        if failure is None:
            raise
        raise failure from error
