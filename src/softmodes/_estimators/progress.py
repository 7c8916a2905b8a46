"""Lines of progress for whoever watches a fit."""

from __future__ import annotations

from typing import Any

from softmodes._algorithm.plan import Round, RoundState, Run
from softmodes._parameters import whole


def progress(verbose: Any) -> dict[str, tuple[Any, ...]]:
    """Return the callbacks that print a line per run (verbose=1) or per round (verbose=2)."""
    if isinstance(verbose, bool):
        verbose = int(verbose)
    level = whole("verbose", verbose, 0)
    return {
        "on_run": (_print_run,) if level == 1 else (),
        "on_round": (_print_round,) if level > 1 else (),
    }


def _print_run(run: Run) -> None:
    _print_costs(f"run {run.index}, {len(run.history)} rounds", run.chosen)


def _print_round(state: RoundState) -> None:
    _print_costs(f"run {state.run}, round {state.round}", state)


def _print_costs(head: str, round_: Round) -> None:
    costs = f"expected cost {round_.expected_cost:.6g}, {round_.clusters} clusters in use"
    if round_.cost is not None:
        costs = f"cost {round_.cost:g}, {costs}"
    if round_.stage == "latent":
        costs = f"objective {round_.objective:.8g}, {costs}"
    print(f"{head}: {costs}", flush=True)
