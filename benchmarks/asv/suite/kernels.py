"""One pass over the rows, and its parts."""

from __future__ import annotations

from itertools import cycle

from softmodes._algorithm.cost import expected_cost
from softmodes._algorithm.seeding import Seeding, d1_greedy
from softmodes._rows.block import layout_of, pack
from softmodes._rows.tally import Metric
from softmodes._table.codebook import learn
from softmodes.rounding import Draw, uniform

from .common import CLUSTERS, TABLES, open_store, two_sets_of_centers


class Rows:
    """Kernels on packed rows."""

    params = (list(TABLES),)
    param_names = ("table",)

    def setup(self, name: str) -> None:
        self.table = TABLES[name]()
        self.store = open_store(self.table)
        self.seeding = Seeding(self.store, CLUSTERS[name], seed=0, run=0)
        self.centers, self.others = two_sets_of_centers(self.store, CLUSTERS[name])
        self.turns = cycle((self.others, self.centers))
        self.metric = Metric(tie_key=1)
        self.draw = Draw(uniform, 0, self.store.layout, self.store.sizes)
        self.tally = self.store.tally(self.centers, self.metric)

    def time_encode_and_pack(self, name: str) -> None:
        _, codes = learn(self.table)
        pack(codes, layout_of(codes))

    def time_assignment(self, name: str) -> None:
        self.store.labels(self.others, self.metric)

    def time_pass(self, name: str) -> None:
        self.store.tally(next(self.turns), self.metric)

    def track_cost_of_pass(self, name: str) -> int:
        return self.tally.cost

    def time_expected_cost(self, name: str) -> None:
        expected_cost(self.tally, self.store.layout, self.store.sizes)

    def track_expected_cost(self, name: str) -> float:
        return expected_cost(self.tally, self.store.layout, self.store.sizes)

    def time_draw(self, name: str) -> None:
        self.draw(self.tally, self.centers, 0, 0)

    def track_cost_after_draw(self, name: str) -> int:
        return self.store.tally(self.draw(self.tally, self.centers, 0, 0), self.metric).cost

    def time_seeding(self, name: str) -> None:
        d1_greedy(self.seeding)

    def track_cost_of_seeding(self, name: str) -> int:
        return self.store.tally(d1_greedy(self.seeding), self.metric).cost


for _name in [name for name in dir(Rows) if name.startswith("track_")]:
    getattr(Rows, _name).unit = "mismatches"
