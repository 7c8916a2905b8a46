"""Fits that are made on every engine: settings in which every two values occur together."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse
from numpy.testing import assert_array_equal

N_ROWS = 700
_ANY = "abcdefghijklmnopqrstuvwxyz"


class Setting(NamedTuple):
    """What a fit is asked for, and what its table is like."""

    t: float
    init: str
    refine: str | None
    weights: str | None  # "whole" or "fractions"
    feature_weight: bool
    missing: str
    wide: bool  # with a column of over 256 values
    forgetful: bool  # caches are dropped at random

    @property
    def name(self) -> str:
        return "-".join(str(value) for value in self)

    @property
    def params(self) -> dict[str, Any]:
        n_columns = 5 + self.wide
        return {
            "n_clusters": 7,
            "t": self.t,
            "init": self.table().drop_duplicates()[::50][:7] if self.init == "given" else self.init,
            "refine": self.refine,
            "missing": self.missing,
            "feature_weight": np.arange(1, n_columns + 1) / 4 if self.feature_weight else None,
            "n_init": 2,
            "max_iter": 6,
            "random_state": 3,
        }

    def table(self) -> pd.DataFrame:
        """Return rows of some hidden groups, sorted, so that no two partitions are alike."""
        rng = np.random.default_rng(8)
        group = np.sort(rng.integers(0, 9, N_ROWS))
        columns: dict[str, Any] = {}
        for j, n_values in enumerate((2, 3, 5, 9, 26)):
            liked = rng.integers(0, n_values, 9)[group]
            any_value = rng.integers(0, n_values, N_ROWS)
            codes = np.where(rng.random(N_ROWS) < 0.6, liked, any_value)
            columns[f"c{j}"] = codes if j % 2 else np.array(list(_ANY))[codes].astype(object)
        if self.wide:
            columns["wide"] = rng.integers(0, 400, N_ROWS)
        table = pd.DataFrame(columns)
        if self.missing != "error":
            table.loc[rng.random(N_ROWS) < 0.05, "c2"] = None
            table.loc[rng.random(N_ROWS) < 0.05, "c3"] = np.nan
        return table

    def weight(self) -> Any:
        rng = np.random.default_rng(9)
        kinds = {"whole": rng.integers(0, 4, N_ROWS), "fractions": rng.random(N_ROWS) * 1e-3}
        return kinds[self.weights].astype(float) if self.weights else None


_VALUES = Setting(  # type: ignore[call-arg]
    t=(1.0, 2.0, math.inf),
    init=("random", "d1", "d1-greedy", "d1-parallel", "huang", "cao", "given"),
    refine=(None, "gini", "latent"),
    weights=(None, "whole", "fractions"),
    feature_weight=(False, True),
    missing=("category", "ignore", "error"),
    wide=(False, True),
    forgetful=(False, True),
)


def settings() -> list[Setting]:
    """Return settings in which every two values of two parameters occur together."""
    left = _pairs(itertools.product(*_VALUES))
    found = []
    everything = [Setting(*values) for values in itertools.product(*_VALUES)]
    while left:
        best = max(everything, key=lambda setting: len(left & _pairs([setting])))
        found.append(best)
        left -= _pairs([best])
    return found


def _pairs(some: Any) -> set[tuple[Any, ...]]:
    return {pair for values in some for pair in itertools.combinations(enumerate(values), 2)}


def assert_same_fit(there: Any, here: Any) -> None:
    """Compare all that fits are compared by, but labels: these are of their engine's kind."""
    assert there.history_ == here.history_
    assert_array_equal(there.cluster_centers_, here.cluster_centers_)
    assert_array_equal(there.cluster_sizes_, here.cluster_sizes_)
    for one, other in zip(there.cluster_counts_, here.cluster_counts_, strict=True):
        assert_array_equal(_dense(one), _dense(other))
    assert (there.cost_, there.expected_cost_, there.objective_) == (
        here.cost_,
        here.expected_cost_,
        here.objective_,
    )
    assert (there.best_round_, there.converged_) == (here.best_round_, here.converged_)


def _dense(counts: Any) -> Any:
    return counts.toarray() if scipy.sparse.issparse(counts) else counts
