"""A table whose rows have a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """Rows and their classes; `X` is anything that `fit` takes."""

    name: str
    X: Any
    y: NDArray[Any]
    role: Literal["tune", "report", "planted"]
    source: str
    licence: str

    @property
    def n_classes(self) -> int:
        return len(np.unique(self.y))
