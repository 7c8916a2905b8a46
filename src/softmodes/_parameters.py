"""Parameters of the estimators: checked, resolved, or refused with a remedy."""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def whole(name: str, value: Any, least: int) -> int:
    """Return a parameter that must be a whole number, as an int."""
    if not _is_whole(value) or value < least:
        raise ValueError(f"{name}={value!r} is not an int >= {least}. Pass one.")
    return int(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not among the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(
            f"{name}={value!r} is not known. Pass one of {', '.join(map(repr, choices))}."
        )


def usable_cores() -> int:
    """Return the number of cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(n_jobs: Any) -> int:
    """Return the number of threads that `n_jobs` asks for, at most one per core; None means all."""
    cores = usable_cores()
    if n_jobs is None:
        return cores
    if not _is_whole(n_jobs) or n_jobs == 0:
        raise ValueError(
            f"n_jobs={n_jobs!r} is not a number of threads. Pass 1, 2, ... or -1 for all."
        )
    return min(int(n_jobs), cores) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def check_seed(random_state: Any) -> None:
    """Refuse what `seed` cannot take, without drawing from it."""
    if _is_whole(random_state):
        if not 0 <= random_state < 2**64:
            raise ValueError(
                f"random_state={random_state} is outside [0, 2**64). Pass another seed."
            )
    elif isinstance(random_state, np.random.Generator):
        raise ValueError(
            f"random_state={random_state!r} is a Generator, and scikit-learn's estimators take "
            "none. Pass a seed drawn from it: random_state=int(generator.integers(2**63))."
        )
    elif not (
        random_state is None
        or random_state is np.random
        or isinstance(random_state, np.random.RandomState)
    ):
        raise ValueError(
            f"random_state={random_state!r:.100} is not a seed. "
            "Pass an int from 0 to 2**64 - 1, a numpy.random.RandomState, or None."
        )


def seed(random_state: Any) -> int:
    """Return the 64-bit seed that `random_state` stands for."""
    check_seed(random_state)
    if _is_whole(random_state):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def check_callback(on_round: Any) -> tuple[Callable[..., Any], ...]:
    """Return the user's callback, if any; refuse what cannot be called."""
    if on_round is None:
        return ()
    if not callable(on_round):
        raise ValueError(
            f"on_round={on_round!r} cannot be called. Pass a function of one argument."
        )
    return (on_round,)


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
