"""Records of cells summed up: by cell, and by contender over all tables."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._compare.cells import EQUAL_TIME, ONCE, Clock, Setting
from softmodes._compare.contenders import CONTENDERS, DEFAULT, Contender
from softmodes._compare.measures import of_nothing
from softmodes._compare.statistics import Interval, RankTest, paired_interval, rank_test, ranks
from softmodes._journal import Record

MARGIN = 0.005  # of a win or a loss
OVERRUN = 1.1  # of the budget, from which on it is marked
MEASURES = ("ari", "nmi", "accuracy")


@dataclass(frozen=True, eq=False)
class CellResult:
    """The runs of a contender on a table at a setting."""

    record: Record

    @property
    def n_runs(self) -> int:
        """Number of runs, failed ones included."""
        return len(self.record["runs"])

    @property
    def errors(self) -> list[str]:
        """What failed runs said."""
        return [run["error"] for run in self.record["runs"] if "error" in run]

    @property
    def is_short(self) -> bool:
        """Whether limits left it fewer runs than wanted."""
        return self.n_runs < int(self.record["wanted"])

    def values(self, measure: str) -> NDArray[np.float64]:
        """Return a measure of all runs; one that failed counts as all rows in one cluster."""
        nothing = of_nothing(self.record["table"])
        return np.array(
            [nothing[measure] if "error" in run else run[measure] for run in self.record["runs"]]
        )

    def mean(self, measure: str) -> float:
        """Return the mean of a measure over the runs."""
        return float(self.values(measure).mean())

    def spread(self, measure: str) -> float:
        """Return the standard deviation over the runs; 0 for a single one."""
        values = self.values(measure)
        return float(values.std(ddof=1)) if len(values) > 1 else 0.0

    def standard_error(self, measure: str) -> float:
        """Return the standard error of the mean over the runs."""
        return self.spread(measure) / math.sqrt(self.n_runs)

    @property
    def with_objective(self) -> list[Record]:
        """The runs that tell their own objective."""
        return [run for run in self.record["runs"] if run.get("objective") is not None]

    def objective(self) -> float:
        """Return the mean of the method's own objective; NaN if it does not tell it."""
        return _mean(run["objective"] for run in self.with_objective)

    def seconds(self, clock: str = "wall") -> float:
        """Return the median time of a run."""
        return float(np.median([run[clock] for run in self.record["runs"]]))


@dataclass(frozen=True)
class Row:
    """What is told of a contender at a setting, over the tables that it was run on."""

    contender: str
    tables: int
    ari: float
    rank: float
    nmi: float
    accuracy: float
    same_again: float
    clusters: float
    seconds: float
    slower: float
    difference: Interval
    wins: int
    losses: int
    failed: int
    short: int
    overruns: int


class Summary:
    """All that a journal tells.

    Ranks are among contenders that were run on all tables. `difference`, wins and losses of a row
    are those of our default against it, on the tables that both were run on. Contenders that were
    asked for but never run are `absent`.
    """

    def __init__(self, records: Iterable[Record], asked: Iterable[Contender] = ()) -> None:
        records = list(records)
        self.records = records
        self.tables = _tables(records)
        self.contenders = _contenders(records)
        self.settings = _settings(records)
        self.absent = [one for one in asked if one.name not in self.contenders]
        self._cells = {_place(record): record for record in records}

    # ------------------------------------------------------------------------------- cells

    def cell(self, table: str, contender: str, setting: str) -> CellResult | None:
        """Return the runs of a contender; None if there are none."""
        record = self._cells.get((table, contender, self._setting(contender, setting), "runs"))
        return CellResult(record) if record and record["runs"] else None

    def same_again(self, table: str, contender: str, setting: str) -> float:
        """Return the mean agreement of fits on parts of the rows; NaN if there are too few.

        A fit that failed agrees with none, a single one included.
        """
        record = self._again(table, contender, setting)
        if record is None:
            return math.nan
        if not record["agreements"]:
            return 0.0 if any("error" in fit for fit in record["fits"]) else math.nan
        return float(np.mean(record["agreements"]))

    def has_few_fits(self, table: str, contender: str, setting: str) -> bool:
        """Tell whether limits left fewer fits on parts of the rows than wanted."""
        record = self._again(table, contender, setting)
        return record is not None and len(record["fits"]) < record["wanted"]

    def _again(self, table: str, contender: str, setting: str) -> Record | None:
        place = (table, contender, self._setting(contender, setting), "same again")
        return self._cells.get(place)

    def is_overrun(self, table: str, contender: str, setting: str) -> bool:
        """Tell whether the runs of a cell took longer than equal time."""
        cell = self.cell(table, contender, setting)
        budget = self._budget(table)
        if cell is None or setting != EQUAL_TIME.name or budget is None:
            return False
        return cell.seconds(budget[1]) > OVERRUN * budget[0]

    def values(self, setting: str, measure: str) -> NDArray[np.float64]:
        """Return the mean of a measure, by table and contender; NaN where it was not run."""
        return self._table_of(
            lambda table, name: (
                cell.mean(measure) if (cell := self.cell(table, name, setting)) else math.nan
            )
        )

    def same_again_values(self, setting: str) -> NDArray[np.float64]:
        """Return how much partitions are the same again, by table and contender."""
        return self._table_of(lambda table, name: self.same_again(table, name, setting))

    def _table_of(self, read: Any) -> NDArray[np.float64]:
        rows = [[read(table, name) for name in self.contenders] for table in self.tables]
        return np.array(rows, dtype=np.float64).reshape(len(self.tables), len(self.contenders))

    def _setting(self, contender: str, setting: str) -> str:
        """Return the setting whose runs serve for one: what is not random has one only."""
        about = self.contenders.get(contender)
        return setting if about is None or about["is_random"] else ONCE.name

    @cached_property
    def clock(self) -> Clock:
        """The clock by which times are compared: that of equal time, where there is any."""
        clocks = [record["clock"] for record in self._cells.values() if "clock" in record]
        return "cpu" if "cpu" in clocks else "wall"

    def _budget(self, table: str) -> tuple[float, str] | None:
        for name in self.contenders:
            record = self._cells.get((table, name, EQUAL_TIME.name, "runs"))
            if record is not None:
                return record["budget"], record["clock"]
        return None

    # --------------------------------------------------------------------------- contenders

    def column(self, contender: str) -> int:
        """Return the number of a contender's column."""
        return list(self.contenders).index(contender)

    def row(self, contender: str, setting: str) -> Row | None:
        """Return what is told of a contender at a setting; None if it was not run."""
        tables = [t for t in self.tables if self.cell(t, contender, setting)]
        if not tables:
            return None
        cells = [cell for t in tables if (cell := self.cell(t, contender, setting))]
        differences = self.differences(contender, setting)
        again = [self.same_again(t, contender, setting) for t in tables]
        return Row(
            contender=contender,
            tables=len(cells),
            ari=_mean(cell.mean("ari") for cell in cells),
            rank=self.mean_ranks(setting).get(contender, math.nan),
            nmi=_mean(cell.mean("nmi") for cell in cells),
            accuracy=_mean(cell.mean("accuracy") for cell in cells),
            same_again=_mean(a for a in again if not math.isnan(a)),
            clusters=_mean(c.mean("clusters") / c.record["table"]["k"] for c in cells),
            seconds=_mean(cell.seconds(self.clock) for cell in cells),
            slower=self._slower(contender, setting, tables),
            difference=self.interval(contender, setting),
            wins=int((differences > MARGIN).sum()),
            losses=int((differences < -MARGIN).sum()),
            failed=sum(len(cell.errors) for cell in cells),
            short=sum(cell.is_short for cell in cells),
            overruns=sum(self.is_overrun(t, contender, setting) for t in tables),
        )

    def rows(self, setting: str) -> list[Row]:
        """Return what is told of all contenders at a setting, the highest mean first."""
        rows = [row for name in self.contenders if (row := self.row(name, setting))]
        return sorted(rows, key=lambda row: -row.ari)

    def differences(self, contender: str, setting: str, measure: str = "ari") -> NDArray[Any]:
        """Return our default's mean minus that of a contender, on the tables that both have."""
        if DEFAULT not in self.contenders:
            return np.empty(0)
        found = self.values(setting, measure)
        gaps = found[:, self.column(DEFAULT)] - found[:, self.column(contender)]
        return gaps[~np.isnan(gaps)]

    def interval(self, contender: str, setting: str) -> Interval:
        """Return the mean difference and its interval: over tables, of a single one over runs."""
        gaps = self.differences(contender, setting)
        if len(self.tables) == 1 and len(gaps):
            gaps = self._differences_of_runs(contender, setting)
        return paired_interval(gaps) if len(gaps) else Interval(math.nan, math.nan, math.nan)

    def _differences_of_runs(self, contender: str, setting: str) -> NDArray[Any]:
        (table,) = self.tables
        ours, theirs = (self.cell(table, name, setting) for name in (DEFAULT, contender))
        assert ours is not None
        assert theirs is not None
        a, b = ours.values("ari"), theirs.values("ari")
        if len(b) == 1:
            return np.asarray(a - b)
        both = min(len(a), len(b))
        return np.asarray(a[:both] - b[:both])

    def mean_ranks(self, setting: str) -> dict[str, float]:
        """Return the mean ranks of the contenders that were run on all tables."""
        table = self.rank_table(setting)
        return dict(zip(self.ranked(setting), table.mean(axis=0).tolist(), strict=True))

    def rank_table(self, setting: str) -> NDArray[np.float64]:
        """Return ranks by table and contender, of those that were run on all tables."""
        columns = [self.column(name) for name in self.ranked(setting)]
        return ranks(self.values(setting, "ari")[:, columns])

    def ranked(self, setting: str) -> list[str]:
        """Return the contenders that were run on all tables at a setting."""
        missing = np.isnan(self.values(setting, "ari"))
        return [name for i, name in enumerate(self.contenders) if not missing[:, i].any()]

    def test(self, setting: str) -> RankTest | None:
        """Test whether contenders rank alike; None for one table or fewer than 3 of them."""
        if len(self.tables) < 2 or len(self.ranked(setting)) < 3:
            return None
        return rank_test(self.rank_table(setting))

    @property
    def many(self) -> str:
        """The setting with the most restarts."""
        with_restarts = [name for name in self.settings if name != EQUAL_TIME.name]
        return with_restarts[-1] if with_restarts else ONCE.name

    def _slower(self, contender: str, setting: str, tables: list[str]) -> float:
        """Return the geometric mean of the times over those of our default."""
        factors = [
            theirs.seconds(self.clock) / ours.seconds(self.clock)
            for t in tables
            if (theirs := self.cell(t, contender, setting))
            and (ours := self.cell(t, DEFAULT, setting))
        ]
        return math.exp(_mean(map(math.log, factors))) if factors else math.nan


def _mean(numbers: Iterable[float]) -> float:
    found = list(numbers)
    return math.fsum(found) / len(found) if found else math.nan


def _place(record: Record) -> tuple[str, str, str, str]:
    name, contender = record["table"]["name"], record["contender"]["name"]
    return name, contender, record["setting"], record["what"]


def _tables(records: list[Record]) -> dict[str, dict[str, Any]]:
    found = {record["table"]["name"]: record["table"] for record in records}
    return dict(sorted(found.items()))


def _contenders(records: list[Record]) -> dict[str, dict[str, Any]]:
    found = {record["contender"]["name"]: record["contender"] for record in records}
    order = [*CONTENDERS, *found]
    return dict(sorted(found.items(), key=lambda item: order.index(item[0])))


def _settings(records: list[Record]) -> list[str]:
    found = {record["setting"]: record.get("restarts") for record in records}
    settings = sorted(found.items(), key=lambda item: item[1] or math.inf)
    return [Setting(restarts).name for _, restarts in settings]
