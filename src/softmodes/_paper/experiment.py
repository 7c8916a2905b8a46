"""An experiment: one figure or table of the paper, with all that belongs to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from softmodes._paper.recipe import Algorithm, Case, Cell, SeedingName, Size

if TYPE_CHECKING:  # these are made from experiments
    from softmodes._paper.judging import Answer
    from softmodes._paper.own_table import OwnTable
    from softmodes._paper.summary import Found
    from softmodes._paper.tables import ReportTable

Judge: TypeAlias = "Callable[[Found], Answer]"
DrawFigure: TypeAlias = "Callable[[Found], Any]"
MakeTable: TypeAlias = "Callable[[Found], ReportTable]"
MakeNotes: TypeAlias = "Callable[[Found], list[str]]"


@dataclass(frozen=True)
class Claim:
    """What the paper says, and the function that judges it by what was found."""

    text: str
    judge: Judge


@dataclass(frozen=True)
class Experiment:
    """One figure or table of the paper.

    `figures` are by the names of their files, without ending; a figure is drawn only if there are
    results, or nothing to run. Methods of users join the cases unless `joinable` is false; tables
    of users do where `own_case` says what to run on one.
    """

    id: str
    title: str
    setting: str
    full: tuple[Case, ...] = ()
    small: tuple[Case, ...] = ()
    seeding: SeedingName = "random"
    shared_seeds: bool = False
    trace: bool = False
    joinable: bool = True
    own_case: Callable[[OwnTable, Size], Case] | None = None
    claims: tuple[Claim, ...] = ()
    figures: Mapping[str, DrawFigure] = field(default_factory=dict)
    tables: tuple[MakeTable, ...] = ()
    notes: tuple[MakeNotes, ...] = ()

    def cases(self, size: Size) -> tuple[Case, ...]:
        """Return the cases of a size."""
        return self.full if size == "full" else self.small

    def cells(
        self, size: Size, methods: Iterable[str] = (), tables: Iterable[OwnTable] = ()
    ) -> Iterator[Cell]:
        """Yield all cells of a size, those on the same data one after the other.

        So are those of the same run, or, where a case runs several at once, of one algorithm.

        `methods` are names of registered methods that join the declared algorithms; `tables` join
        the declared data.
        """
        guests = tuple(Algorithm(name) for name in methods) if self.joinable else ()
        own_cases = [self.own_case(table, size) for table in tables] if self.own_case else []
        for case in (*self.cases(size), *own_cases):
            algorithms = (*case.algorithms, *guests)
            most = max(map(case.runs_of, algorithms), default=0)
            for first in range(0, most, case.at_once):
                for algorithm in algorithms:
                    stop = min(first + case.at_once, case.runs_of(algorithm))
                    for run in range(first, stop):
                        yield self._cell(size, case, algorithm, run)

    def _cell(self, size: Size, case: Case, algorithm: Algorithm, run: int) -> Cell:
        return Cell(
            experiment=self.id,
            size=size,
            data=case.data,
            algorithm=algorithm,
            run=run,
            seeding=self.seeding,
            shared_seeds=self.shared_seeds,
            trace=self.trace,
            at_once=case.at_once,
            same_again=case.same_again and run == 0 and case.runs_of(algorithm) > 1,
        )
