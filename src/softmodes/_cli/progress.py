"""A bar of the cells that are run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from softmodes._journal import Record
from softmodes._paper import Cell


@contextmanager
def shown_progress(cells: list[Cell]) -> Iterator[Callable[[Cell, Record], None]]:
    """Show a bar whose time left counts large cells for more than small ones."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[done]}/{task.fields[cells]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    # The speed is that of the last minutes: what a cell takes differs from kind to kind.
    with Progress(*columns, speed_estimate_period=300, console=Console(stderr=True)) as bar:
        work = sum(cell.work for cell in cells)
        task = bar.add_task("", total=work, done=0, cells=len(cells))
        done = 0

        def show(cell: Cell, record: Record) -> None:
            nonlocal done
            done += 1
            bar.update(task, advance=cell.work, description=cell.experiment, done=done)

        yield show
