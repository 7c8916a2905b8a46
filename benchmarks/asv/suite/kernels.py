"""One pass over the rows, and its parts."""

from __future__ import annotations

from softmodes._algorithm.cost import expected_cost
from softmodes._algorithm.draw import Draw
from softmodes._algorithm.seeding import Seeding, d1_greedy
from softmodes._rows.centers import CodeCenters, Comparison
from softmodes._rows.stores import open_store
from softmodes.rounding import uniform

from .common import CLUSTERS, TABLES, rows_and_centers


class Rows:
    """Kernels on packed rows."""

    params = (list(TABLES),)
    param_names = ("table",)

    def setup(self, name: str) -> None:
        self.table = TABLES[name]()
        self.store, self.centers = rows_and_centers(self.table, CLUSTERS[name])
        self.seeding = Seeding(self.store, CLUSTERS[name], seed=0, run=0)
        self.comparison = Comparison(tie_key=1)
        self.draw = Draw(uniform, 0)
        self.tally = self.store.tally(self.centers, self.comparison)

    def time_encode_and_pack(self, name: str) -> None:
        open_store(self.table)

    def time_assignment(self, name: str) -> None:
        self.store.labels(self.centers, self.comparison)

    def time_pass(self, name: str) -> None:
        self.store.tally(self.centers, self.comparison)

    def track_cost_of_pass(self, name: str) -> int:
        return self.tally.cost

    def time_expected_cost(self, name: str) -> None:
        expected_cost(self.tally.counts)

    def track_expected_cost(self, name: str) -> float:
        return expected_cost(self.tally.counts)

    def time_draw(self, name: str) -> None:
        self.draw(self.tally.counts, self.centers, 0, 0)

    def track_cost_after_draw(self, name: str) -> int:
        drawn = self.draw(self.tally.counts, self.centers, 0, 0)
        return self.store.tally(drawn, self.comparison).cost

    def time_seeding(self, name: str) -> None:
        d1_greedy(self.seeding)

    def track_cost_of_seeding(self, name: str) -> int:
        seeds = CodeCenters(d1_greedy(self.seeding))
        return self.store.tally(seeds, self.comparison).cost


for _name in [name for name in dir(Rows) if name.startswith("track_")]:
    getattr(Rows, _name).unit = "mismatches"
