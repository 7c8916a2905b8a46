"""The fitted clustering: a frozen value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.plan import Plan, Round, Run
from softmodes._rows.centers import Centers, Comparison
from softmodes._rows.tally import Tally
from softmodes._table.codebook import Codebook


@dataclass(frozen=True, eq=False)
class Clustering:
    """A partition of rows, the centers that produced it, and how it was found."""

    codebook: Codebook
    centers: Centers
    tally: Tally
    labels: NDArray[np.int32]
    history: tuple[Round, ...]
    best_round: int
    converged: bool
    feature_weight: NDArray[np.uint32] | None
    row_unit: float
    feature_unit: float
    backend: str | None  # kind of frame that the rows came in

    @property
    def chosen(self) -> Round:
        """The round whose partition this is."""
        return self.history[self.best_round]

    @property
    def comparison(self) -> Comparison:
        """How rows are compared with the centers once these are fixed."""
        return Comparison(feature_weight=self.feature_weight)

    @classmethod
    def of(
        cls,
        run: Run,
        plan: Plan,
        codebook: Codebook,
        labels: NDArray[np.int32],
        backend: str | None,
    ) -> Clustering:
        """Return the outcome of a run, its clusters renumbered by size unless seeds were given."""
        order = np.arange(plan.k)
        if isinstance(plan.init, str):
            order = np.argsort(-run.tally.cluster_sizes, kind="stable")
        rank = np.empty(plan.k, np.int32)
        rank[order] = np.arange(plan.k, dtype=np.int32)
        return cls(
            codebook=codebook,
            centers=run.centers.reorder(order),
            tally=run.tally.reorder(order),
            labels=rank[labels],
            history=run.history,
            best_round=run.best_round,
            converged=run.converged,
            feature_weight=plan.feature_weight,
            row_unit=plan.row_unit,
            feature_unit=plan.feature_unit,
            backend=backend,
        )
