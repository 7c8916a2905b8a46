"""Lines of progress for whoever watches a fit: through the logger `softmodes`."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from softmodes._algorithm.plan import Round, RoundState, Run
from softmodes._parameters import whole

_LOGGER = logging.getLogger("softmodes")


def progress(verbose: Any) -> dict[str, tuple[Any, ...]]:
    """Return the callbacks that tell of runs and rounds, as far as somebody listens.

    Runs are logged as information, rounds for debugging. With verbose=1 runs, with 2 rounds are
    printed instead where the logger is not set up for them.
    """
    if isinstance(verbose, bool):
        verbose = int(verbose)
    level = whole("verbose", verbose, 0)
    runs, rounds = _is_heard(logging.INFO), _is_heard(logging.DEBUG)
    told: dict[str, tuple[Any, ...]] = {"on_run": (), "on_round": ()}
    if runs or level == 1:
        told["on_run"] = (partial(_tell_run, log=runs),)
    if rounds or level > 1:
        told["on_round"] = (partial(_tell_round, log=rounds),)
    return told


def _is_heard(level: int) -> bool:
    return _LOGGER.isEnabledFor(level) and _LOGGER.hasHandlers()


def _tell_run(run: Run, log: bool) -> None:
    line = _line(f"run {run.index}, {len(run.history)} rounds", run.chosen)
    _tell(line, logging.INFO if log else None)


def _tell_round(state: RoundState, log: bool) -> None:
    line = _line(f"run {state.run}, round {state.round}", state)
    _tell(line, logging.DEBUG if log else None)


def _tell(line: str, level: int | None) -> None:
    if level is None:
        print(line, flush=True)
    else:
        _LOGGER.log(level, "%s", line)


def _line(head: str, round_: Round) -> str:
    costs = f"expected cost {round_.expected_cost:.6g}, {round_.clusters} clusters in use"
    if round_.cost is not None:
        costs = f"cost {round_.cost:g}, {costs}"
    if round_.stage == "latent":
        costs = f"objective {round_.objective:.8g}, {costs}"
    return f"{head}: {costs}"
