"""Whole fits of real and of planted tables."""

from __future__ import annotations

import math
import warnings

from softmodes import SoftModes
from softmodes.datasets import load_mushroom, make_bbm, make_ccm
from softmodes.metrics import matching_accuracy

PROBLEMS = {
    "mushroom": (lambda: load_mushroom(return_X_y=True), 2),
    "block model": (lambda: make_bbm(2000, 200, [[0.3, 0.1], [0.1, 0.3]], random_state=0), 2),
    "codewords": (lambda: make_ccm(10_000, 100, 20, eps=0.3, random_state=0), 20),
}


class Fit:
    """One run with a fixed seed: time, costs, rounds, accuracy."""

    params = (list(PROBLEMS), [1.0, math.inf])
    param_names = ("problem", "t")
    timeout = 120

    def setup(self, name: str, t: float) -> None:
        make, k = PROBLEMS[name]
        self.table, self.planted = make()
        # The last round, not the best: that may be the first, which no draw has touched.
        self.model = SoftModes(
            k,
            t=t,
            select="last",
            refine=None,
            n_init=2,
            max_iter=20,
            n_jobs=1,
            random_state=0,
        )

    def fit(self) -> SoftModes:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.model.fit(self.table)

    def time_fit(self, name: str, t: float) -> None:
        self.fit()

    def track_cost(self, name: str, t: float) -> float:
        return self.fit().cost_

    def track_expected_cost(self, name: str, t: float) -> float:
        return self.fit().expected_cost_

    def track_rounds(self, name: str, t: float) -> int:
        return self.fit().n_iter_

    def track_accuracy(self, name: str, t: float) -> float:
        return matching_accuracy(self.planted, self.fit().labels_)


Fit.track_cost.unit = Fit.track_expected_cost.unit = "mismatches"
Fit.track_rounds.unit = "rounds"
Fit.track_accuracy.unit = "share"
