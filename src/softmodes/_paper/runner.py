"""Run cells into a results file: resumable, in this process or in several."""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from itertools import chain, groupby
from pathlib import Path
from typing import TypeAlias

from softmodes._paper.experiment import Experiment
from softmodes._paper.own_table import OwnTable, add_table
from softmodes._paper.recipe import Cell, Size
from softmodes._paper.results import Record, ResultsFile

Line: TypeAlias = tuple[Cell, ...]
OnCell: TypeAlias = Callable[[Cell, Record], None]
_THREAD_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_plugin_of: dict[str, str] = {}  # by the names of the methods that this process got from plugins


def load_methods(plugins: Iterable[str]) -> list[str]:
    """Import modules, or files ending in .py, and return the names of methods they registered."""
    from softmodes import baselines

    before = set(baselines.names())
    for plugin in plugins:
        known = set(baselines.names())
        _import(plugin)
        _plugin_of.update(dict.fromkeys(set(baselines.names()) - known, plugin))
    return [name for name in baselines.names() if name not in before]


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
    if jobs < 1:
        raise ValueError(f"jobs={jobs} is not a number of processes. Pass 1 or more.")
    tables = list(tables)
    for table in tables:
        add_table(table)
    lines = lines_of(cells)
    elsewhere = [line for line in lines if jobs > 1 and not line[0].shared_seeds]
    here = [line for line in lines if jobs == 1 or line[0].shared_seeds]
    finished = chain(_elsewhere(elsewhere, jobs, list(plugins), tables), _here(here))
    for line, records in finished:
        results.append(*records)
        for cell, record in zip(line, records, strict=True):
            if on_cell:
                on_cell(cell, record)


def lines_of(cells: Iterable[Cell]) -> list[Line]:
    """Return cells by the line of the results that they share."""

    def place(cell: Cell) -> tuple[str, int]:
        return cell.series_key, cell.run // cell.at_once

    return [tuple(line) for _, line in groupby(cells, key=place)]


def _here(lines: list[Line]) -> Iterator[tuple[Line, list[Record]]]:
    return ((line, _work(line)) for line in lines)


def _elsewhere(
    lines: list[Line], jobs: int, plugins: list[str], tables: list[OwnTable]
) -> Iterator[tuple[Line, list[Record]]]:
    if not lines:
        return
    threads = max(1, (os.cpu_count() or 1) // jobs)
    pool = ProcessPoolExecutor(
        jobs,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(plugins, tables, list(sys.path)),
    )
    try:
        with _limited_threads(threads):
            tasks: dict[Future[list[Record]], Line] = {
                pool.submit(_work, line, threads): line for line in lines
            }
        for task in as_completed(tasks):
            yield tasks[task], task.result()
    finally:
        pool.shutdown(cancel_futures=True)


class _limited_threads:  # noqa: N801  (a context manager, used like a function)
    """Set the limits of numerical libraries for processes that start within."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def __enter__(self) -> None:
        self.before = {name: os.environ.get(name) for name in _THREAD_LIMITS}
        os.environ.update(dict.fromkeys(_THREAD_LIMITS, str(self.threads)))

    def __exit__(self, *error: object) -> None:
        for name, value in self.before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _start_worker(plugins: list[str], tables: list[OwnTable], path: list[str]) -> None:
    sys.path[:] = path
    for table in tables:
        add_table(table)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    load_methods(plugins)


def _die_with_parent() -> None:
    """End this process when the one that writes the results is gone, however it died."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(line: Line, threads: int | None = None) -> list[Record]:
    return [_run_cell(cell, threads) for cell in line]


def _run_cell(cell: Cell, threads: int | None) -> Record:
    from softmodes._paper.cell import run_cell

    try:
        return run_cell(cell, n_jobs=threads)
    except Exception as error:
        if cell.algorithm.name not in _plugin_of:
            raise
        plugin, doing = _plugin_of[cell.algorithm.name], f"in the cell {cell.key}"
        raise _plugin_failure(plugin, doing, error) from error


def _plugin_failure(plugin: str, doing: str, error: Exception) -> ValueError:
    return ValueError(
        f"plugin={plugin!r} raised {type(error).__name__} {doing}: {error}. Mend the plugin and "
        "run again: what is done is kept."
    )


def _import(plugin: str) -> None:
    if plugin.endswith(".py") and not Path(plugin).is_file():
        raise ValueError(f"plugin={plugin!r} is not a file. Pass a .py file or a module's name.")
    try:
        if plugin.endswith(".py"):
            _run_file(Path(plugin))
        else:
            importlib.import_module(plugin)
    except Exception as error:
        raise _plugin_failure(plugin, "when imported", error) from error


def _run_file(path: Path) -> None:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None  # a .py file always has a loader
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
