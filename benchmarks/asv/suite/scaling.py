"""One pass at growing sizes: rows, features, clusters, values per feature."""

from __future__ import annotations

from softmodes._rows.centers import Comparison

from .common import noise, rows_and_centers

BASE = {"n": 20_000, "d": 50, "k": 20, "sigma": 4}


class _Axis:
    """One axis grows, the others stay."""

    axis = ""
    comparison = Comparison(tie_key=1)

    def setup(self, x: int) -> None:
        size = BASE | {self.axis: x}
        table = noise(size["n"], [size["sigma"]] * size["d"])
        self.store, self.centers = rows_and_centers(table, size["k"])

    def time_pass(self, x: int) -> None:
        self.store.tally(self.centers, self.comparison)

    def track_cost(self, x: int) -> int:
        return self.store.tally(self.centers, self.comparison).cost


class OverRows(_Axis):
    axis, params, param_names = "n", [2_000, 20_000, 200_000], ["rows"]


class OverFeatures(_Axis):
    axis, params, param_names = "d", [10, 100, 1_000], ["features"]


class OverClusters(_Axis):
    axis, params, param_names = "k", [10, 100, 1_000], ["clusters"]


class OverValues(_Axis):
    axis, params, param_names = "sigma", [2, 20, 200], ["values"]


_Axis.track_cost.unit = "mismatches"
