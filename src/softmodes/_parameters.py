"""Checks of parameters: a value of the right type and range out, or an error with a remedy.

For estimators, baselines and data sets alike.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

RandomState: TypeAlias = int | np.integer[Any] | np.random.RandomState | np.random.Generator | None
Choice = TypeVar("Choice")


def is_whole(value: Any) -> bool:
    """Tell whether a value is a whole number; a bool is none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def whole(name: str, value: Any, least: int) -> int:
    """Return a whole number of at least `least` as an int."""
    if not is_whole(value) or value < least:
        raise ValueError(f"{name}={value!r} is not an int >= {least}. Pass one.")
    return int(value)


def whole_or_auto(name: str, value: Any, least: int) -> int | Literal["auto"]:
    """Return a whole number of at least `least` as an int, or "auto"."""
    if isinstance(value, str) and value == "auto":
        return "auto"
    if not is_whole(value) or value < least:
        raise ValueError(f"{name}={value!r} is not an int >= {least}, nor 'auto'. Pass one.")
    return int(value)


def check_most(name: str, value: int, limit_name: str, limit: int) -> None:
    """Refuse a number above that of another parameter."""
    if value > limit:
        raise ValueError(
            f"{name}={value} is more than {limit_name}={limit}. Pass {name} of at most {limit}."
        )


def number(
    name: str, value: Any, least: float, most: float = math.inf, remedy: str = "Pass one."
) -> float:
    """Return a number in a range, both ends included, as a float."""
    found = _as_float(value)
    if not least <= found <= most:
        limits = f">= {least}" if most == math.inf else f"from {least} to {most}"
        raise ValueError(f"{name}={value!r} is not a number {limits}. {remedy}")
    return found


def share(name: str, value: Any) -> float:
    """Return a share or probability as a float."""
    return number(name, value, 0, 1)


def choice(name: str, value: Any, choices: Sequence[Choice]) -> Choice:
    """Return the one of the choices that a value is; 1 is not True."""
    for known in choices:
        if isinstance(value, type(known)) and value == known:
            return known
    raise ValueError(f"{name}={value!r} is not known. Pass one of {', '.join(map(repr, choices))}.")


def generator(random_state: RandomState) -> np.random.Generator:
    """Return the generator that `random_state` is or seeds."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    if random_state is None:
        return np.random.default_rng()
    if not is_whole(random_state) or random_state < 0:
        raise ValueError(
            f"random_state={random_state!r} is not a seed. Pass an integer of at least 0, None, "
            "a numpy Generator or a numpy RandomState."
        )
    return np.random.default_rng(int(random_state))


def usable_cores() -> int:
    """Return the number of cores that this process may use: by affinity, and by its cgroup."""
    affinity = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    return _cores(frozenset(affinity))


@lru_cache(maxsize=4)  # files of the system are read for it, which takes longer than to predict
def _cores(affinity: frozenset[int]) -> int:
    from joblib import cpu_count

    cores: int = cpu_count()
    return cores


def allowed_threads() -> int:
    """Return how many threads to take where nobody asks for a number: cores, unless limited.

    What limits OpenMP, limits these: `threadpoolctl.threadpool_limits`, OMP_NUM_THREADS, and joblib
    in its workers (`inner_max_num_threads`).
    """
    threads: int = min([usable_cores(), *(library.num_threads for library in _openmp())])
    return threads


_OPENMP: list[Any] = []  # the OpenMP of this process: scikit-learn's, once it is imported


def _openmp() -> list[Any]:
    from threadpoolctl import ThreadpoolController

    if not _OPENMP:  # to look at all that is loaded takes milliseconds
        _OPENMP.extend(ThreadpoolController().select(user_api="openmp").lib_controllers)
    return _OPENMP


def thread_count(n_jobs: Any) -> int:
    """Return the number of threads that `n_jobs` asks for, at most one per core."""
    if n_jobs is None:
        return allowed_threads()
    cores = usable_cores()
    if not is_whole(n_jobs) or n_jobs == 0:
        raise ValueError(
            f"n_jobs={n_jobs!r} is not a number of threads. Pass 1, 2, ... or -1 for all."
        )
    return min(int(n_jobs), cores) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def byte_count(name: str, value: Any) -> int | None:
    """Return a number of bytes, given as such or as a text like "400MB" or "1.5 GiB"; or None.

    Examples
    --------
    >>> byte_count("memory_limit", "400MB"), byte_count("memory_limit", "1.5 GiB")
    (400000000, 1610612736)
    """
    if value is None:
        return None
    if isinstance(value, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?\s*", value.lower())
        if found:
            size, prefix, binary = found.groups()
            return int(float(size) * (1024 if binary else 1000) ** " kmgt".index(prefix or " "))
    elif is_whole(value) and value >= 0:
        return int(value)
    raise ValueError(
        f"{name}={value!r} is not a number of bytes. Pass an int, a text such as '400MB' or "
        "'2GiB', or None."
    )


def check_seed(random_state: Any, name: str = "random_state") -> None:
    """Refuse what `seed` cannot take, without drawing from it."""
    if is_whole(random_state):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"{name}={random_state} is outside [0, 2**64). Pass another seed.")
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
    if is_whole(random_state):
        return int(random_state)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))


def stable_seed(text: str) -> int:
    """Return a seed that depends on the text alone, the same in every process and version."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) >> 33


def check_callback(on_round: Any) -> tuple[Callable[..., Any], ...]:
    """Return the user's callback, if any; refuse what cannot be called."""
    if on_round is None:
        return ()
    if not callable(on_round):
        raise ValueError(
            f"on_round={on_round!r} cannot be called. Pass a function of one argument."
        )
    return (on_round,)


def _as_float(value: Any) -> float:
    """Return a real number as a float; NaN, which is in no range, for all else."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan
