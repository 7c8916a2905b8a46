"""What `benchmarks.versus` runs for each build: rounds of fits, each when a line is read."""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np

from softmodes import SoftModes


class Rounds:
    """Reports CPU seconds and costs of every round but the first of a fit, and waits."""

    def __init__(self) -> None:
        self._clock = 0.0

    def __call__(self, state: Any) -> None:
        if state.round:
            seconds = time.process_time() - self._clock
            print(seconds, repr(state.cost), repr(state.expected_cost), flush=True)
            wait()
        self._clock = time.process_time()


def wait() -> None:
    if not sys.stdin.readline():
        sys.exit()


def main(table: str, k: str, t: str, n_threads: str) -> None:
    """Fit over and over, each time with another seed, until nobody asks any more."""
    X = np.load(table)
    wait()
    # The other build may be of a time before there was a finish.
    bare = {"refine": None} if "refine" in SoftModes().get_params() else {}
    seed = 0
    while True:
        model = SoftModes(
            int(k),
            t=float(t),
            init="random",
            max_iter=10**6,
            select="last",
            **bare,
            n_jobs=int(n_threads),
            random_state=seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, on_round=Rounds())
        seed += 1


if __name__ == "__main__":
    main(*sys.argv[1:])
