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

from softmodes._algorithm.loop import OnRound, Round, RoundState, Run
from softmodes._algorithm.seeding import METHODS
from softmodes._rows.weights import as_mapping
from softmodes._table.codebook import Codebook, learn
from softmodes._table.values import short_repr
from softmodes.rounding import soft


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


def resolve_init(init: Any, codebook: Codebook, k: int) -> str | NDArray[np.int32]:
    """Return the name of a seeding, or the codes of given seeds."""
    if isinstance(init, str):
        check_choice("init", init, tuple(METHODS))
        return init
    try:
        return codebook.encode_rows(init, k, "init")
    except (TypeError, ValueError) as error:
        if str(error).startswith("init "):
            raise
        shown = short_repr(init)
        raise ValueError(f"init={shown} is neither a name nor {k} rows. {error}") from error


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
    print(
        f"{head}: cost {round_.cost:g}, expected cost {round_.expected_cost:.6g}, "
        f"{round_.clusters} clusters in use",
        flush=True,
    )


def check_callback(on_round: Any) -> tuple[OnRound, ...]:
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


def plain_params(estimator: BaseEstimator) -> dict[str, Any]:
    """Return the parameters as JSON can hold them, or say which cannot be saved."""
    return {name: _plain(name, value) for name, value in estimator.get_params(deep=False).items()}


def _plain(name: str, value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return "inf" if math.isinf(value) else float(value)
    if isinstance(value, soft):
        return {"soft": _plain(name, value.t)}
    if name == "init":
        codebook, given = learn(value)
        codes = codebook.encode_rows(value, given.n_rows, name)
        return {"codebook": codebook.to_json(), "codes": codes.tolist()}
    if name == "feature_weight":
        named = as_mapping(value)
        if named is not None:
            return {str(key): float(weight) for key, weight in named.items()}
        return np.asarray(value, np.float64).tolist()
    raise ValueError(
        f"{name}={value!r} cannot be saved without pickle. "
        f"Call set_params({name}=...) with a plain value first, or pickle the model."
    )


def restored_params(plain: dict[str, Any]) -> dict[str, Any]:
    """Return parameters from what `plain_params` made of them."""
    return {name: _restored(name, value) for name, value in plain.items()}


def _restored(name: str, value: Any) -> Any:
    if name == "t" and value == "inf":
        return math.inf
    if name == "rounding" and isinstance(value, dict):
        return soft(_restored("t", value["soft"]))
    if name == "init" and isinstance(value, dict):
        codebook = Codebook.from_json(value["codebook"])
        return codebook.decode(np.array(value["codes"])).tolist()
    return value
