"""A bar of the cells that are run, and a line for each experiment that is done."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from softmodes._journal import Record
from softmodes._paper import Cell


@contextmanager
def shown_progress(cells: list[Cell]) -> Iterator[Callable[[Cell, Record], None]]:
    """Show a bar, and the time left: large cells count for more than small ones."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[done]}/{task.fields[cells]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        pace = Pace(cells)
        task = bar.add_task("", total=pace.all_work, done=0, cells=len(cells), left="")

        def show(cell: Cell, record: Record) -> None:
            pace.count(cell)
            bar.update(
                task,
                completed=pace.work_done,
                description=cell.experiment,
                done=pace.cells_done,
                left=pace.left(),
            )
            if not pace.to_do[cell.experiment]:
                bar.console.print(f"{cell.experiment} is done after {pace.spent()}; {pace.left()}")

        yield show


class Pace:
    """What is done and what is left of cells, and how long that will take."""

    def __init__(self, cells: list[Cell], now: Callable[[], float] = time.monotonic) -> None:
        self._now, self._start = now, now()
        self.all_work = sum(cell.work for cell in cells)
        self.work_done, self.cells_done = 0.0, 0
        self.to_do = Counter(cell.experiment for cell in cells)

    def count(self, cell: Cell) -> None:
        """Take note of a cell that is done."""
        self.work_done += cell.work
        self.cells_done += 1
        self.to_do[cell.experiment] -= 1

    def spent(self) -> str:
        """Return the time since the start, to be read."""
        return _minutes(self._now() - self._start)

    def left(self) -> str:
        """Return the time that the other cells will take at the pace so far, to be read."""
        seconds = self._now() - self._start
        ahead = max(0.0, self.all_work - self.work_done)
        return f"about {_minutes(seconds * ahead / self.work_done)} left"


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"
