"""Fits of one table, each made when first asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.loop import best_run
from softmodes._algorithm.randomness import Use, address
from softmodes._estimators.soft_modes import SoftModes
from softmodes._rows.stores import Opened


@dataclass(frozen=True, eq=False)
class Fits:
    """Fits of one table into k clusters, each made when first asked for."""

    model: SoftModes  # with the parameters of all
    opened: Opened
    backend: str | None
    fitted: dict[int, SoftModes] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return self.opened.store.n_rows

    def of(self, k: int) -> SoftModes:
        """Return the fitted model of k clusters."""
        if k not in self.fitted:
            self.fitted[k] = self._fit(k, self.model.random_state)
        return self.fitted[k]

    def two_labels(self, k: int) -> list[NDArray[np.int32]]:
        """Return the labels of that model, and those of a fit from another seed."""
        other = address(self.model.random_state, 0, Use.AGAIN)
        return [self.of(k).labels_, self._fit(k, other).labels_]

    def _fit(self, k: int, random_state: int) -> SoftModes:
        model = with_params(self.model, n_clusters=k, random_state=random_state)
        plan = model._plan(self.opened, None)
        model._keep(best_run(self.opened.store, plan), plan, self.opened, self.backend)
        return model


def with_params(model: SoftModes, **changes: Any) -> SoftModes:
    """Return an unfitted model with some other parameters."""
    return SoftModes(**(model.get_params(deep=False) | changes))
