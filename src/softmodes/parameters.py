"""Parameters of the estimators: checked, resolved, or refused with a remedy."""

from __future__ import annotations

import math
import numbers
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from softmodes.encode import Codebook
from softmodes.loop import OnRound, RoundState
from softmodes.seeding import METHODS


def whole(name: str, value: Any, least: int) -> int:
    """Return a parameter that must be a whole number, as an int."""
    if not _is_whole(value) or value < least:
        raise ValueError(f"{name}={value!r} is not a whole number >= {least}.")
    return int(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not among the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(
            f"{name}={value!r} is not known. Pass one of {', '.join(map(repr, choices))}."
        )


def thread_count(n_jobs: Any) -> int:
    """Return the number of threads that `n_jobs` asks for; None means all."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = cores or 1
    if n_jobs is None:
        return cores
    if not _is_whole(n_jobs) or n_jobs == 0:
        raise ValueError(
            f"n_jobs={n_jobs!r} is not a number of threads. Pass 1, 2, ... or -1 for all."
        )
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def seed(random_state: Any) -> int:
    """Return the 64-bit seed that `random_state` stands for."""
    if _is_whole(random_state):
        if not 0 <= random_state < 2**64:
            raise ValueError(
                f"random_state={random_state} is outside [0, 2**64). Pass another seed."
            )
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def resolve_init(init: Any, codebook: Codebook, k: int) -> str | NDArray[np.int32]:
    """Return the name of a seeding, or the codes of given seeds."""
    if isinstance(init, str):
        check_choice("init", init, tuple(METHODS))
        return init
    return codebook.encode_rows(init, k, "init")


def progress(verbose: Any) -> OnRound | None:
    """Return the callback that prints runs (verbose=1) or rounds (verbose=2), if any."""
    if not verbose:
        return None

    def show(state: RoundState) -> None:
        if verbose > 1 or state.round == 0:
            print(
                f"run {state.run}, round {state.round}: cost {state.cost:g}, expected cost "
                f"{state.expected_cost:.6g}, {state.clusters} clusters in use",
                flush=True,
            )

    return show


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def plain_params(estimator: BaseEstimator) -> dict[str, Any]:
    """Return the parameters as JSON can hold them, or say which cannot be saved."""
    return {name: _plain(name, value) for name, value in estimator.get_params(deep=False).items()}


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return "inf"
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if name == "feature_weight" and isinstance(value, dict):
        return {str(key): float(weight) for key, weight in value.items()}
    if name in ("feature_weight", "init"):
        rows = value.to_numpy() if hasattr(value, "to_numpy") else np.asarray(value, object)
        return rows.tolist()
    raise ValueError(
        f"{name}={value!r} cannot be saved without pickle. "
        f"Call set_params({name}=...) with a plain value first, or pickle the model."
    )
