"""What there is to run, as values: settings, limits and cells, with their seeds and rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes._compare.contenders import CONTENDERS, K_MEANS, Contender
from softmodes._parameters import stable_seed

What: TypeAlias = Literal["runs", "same again"]
Clock: TypeAlias = Literal["wall", "cpu"]

AGAIN_FITS = 8
AGAIN_SHARE = 0.9


@dataclass(frozen=True)
class Setting:
    """So many restarts; or as many runs as fit into equal time, for None."""

    restarts: int | None

    @property
    def name(self) -> str:
        """What it is called in results."""
        if self.restarts is None:
            return "equal time"
        return "1 restart" if self.restarts == 1 else f"{self.restarts} restarts"


ONCE, EQUAL_TIME = Setting(1), Setting(None)


def settings_up_to(restarts: int) -> list[Setting]:
    """Return the settings of a comparison: one restart, that many, equal time."""
    return list(dict.fromkeys([ONCE, Setting(restarts), EQUAL_TIME]))


@dataclass(frozen=True)
class Limits:
    """How much a cell may take.

    `runs` of them, but `slow_runs` where one takes over `slow_seconds`, and no more is begun that
    would not end within `cell_seconds`, by the time of those before it. A run without which there
    is no result is stopped after `longest` seconds, by default those of the cell. Equal time is
    told by `clock`: "wall", or "cpu" where others use the machine (and threads add up).
    """

    runs: int = 20
    slow_runs: int = 5
    slow_seconds: float = 10.0
    cell_seconds: float = 600.0
    longest: float | None = None
    clock: Clock = "wall"

    def seconds_left(self, spent: float, is_needed: bool) -> float:
        """Return after how many seconds a run is stopped."""
        if is_needed and self.longest is not None:
            return self.longest
        return self.cell_seconds - spent


@dataclass(frozen=True)
class Cell:
    """One contender on one table at one setting: its runs, or fits on parts of the rows."""

    table: str
    fingerprint: str
    n_clusters: int
    contender: Contender
    setting: Setting
    what: What
    limits: Limits
    seed: int = 0

    @property
    def key(self) -> str:
        """What tells this cell from all others, in every process and version."""
        many = self.limits.runs if self.what == "runs" else AGAIN_FITS
        parts = (
            f"{self.table}#{self.fingerprint}",
            f"k={self.n_clusters}",
            self.contender.name,
            self.setting.name,
            f"{many} {self.what}",
            f"seed={self.seed}",
        )
        return "/".join(parts)

    def run_seed(self, run: int, attempt: int = 0) -> int:
        """Return the seed of a run, the same for all contenders."""
        return stable_seed(f"{self.seed}/{self.table}/run={run}/attempt={attempt}")

    def again_seed(self, fit: int) -> int:
        """Return the seed of a fit on a part of the rows, the same for all contenders."""
        return stable_seed(f"{self.seed}/{self.table}/again={fit}")

    def again_rows(self, fit: int, n_rows: int) -> NDArray[np.intp]:
        """Return the rows of a fit on a part of them, in order, the same for all contenders."""
        rng = np.random.default_rng(stable_seed(f"{self.seed}/{self.table}/rows={fit}"))
        return np.sort(rng.choice(n_rows, max(1, round(AGAIN_SHARE * n_rows)), replace=False))


def cells_of(
    table: dict[str, Any],
    contenders: Iterable[Contender],
    settings: Iterable[Setting],
    limits: Limits,
    seed: int = 0,
) -> Iterator[Cell]:
    """Yield the cells of a table, as `ReadyTable.describe` tells of it.

    Where equal time is wanted, KMeans takes part and comes first, since that is the time of its
    restarts. What is not random runs at one setting, which serves all. Whether a partition is
    the same again is not asked at equal time.
    """
    settings = list(settings)
    for contender in _in_order(contenders, EQUAL_TIME in settings):
        if contender.why_not(table["rows"]):
            continue
        for setting in _wanted(contender, settings):
            for what in ("runs", "same again") if setting != EQUAL_TIME else ("runs",):
                yield Cell(
                    table=table["name"],
                    fingerprint=table["fingerprint"],
                    n_clusters=table["k"],
                    contender=contender,
                    setting=setting,
                    what=what,
                    limits=limits,
                    seed=seed,
                )


def pace_of(settings: Iterable[Setting]) -> Setting:
    """Return the setting at which the time of KMeans is what others get."""
    most = max((s.restarts for s in settings if s.restarts is not None), default=1)
    return Setting(most if most > 1 else 10)


def _wanted(contender: Contender, settings: list[Setting]) -> list[Setting]:
    if not contender.is_random:
        return [ONCE]
    if EQUAL_TIME not in settings:
        return settings
    # A run at equal time begins with that of one restart.
    pace = [pace_of(settings)] if contender.name == K_MEANS else []
    return list(dict.fromkeys([ONCE, *pace, *settings]))


def _in_order(contenders: Iterable[Contender], k_means_first: bool) -> list[Contender]:
    first = [CONTENDERS[K_MEANS]] if k_means_first else []
    return list(dict.fromkeys([*first, *contenders]))
