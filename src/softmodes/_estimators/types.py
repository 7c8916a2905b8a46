"""What parameters of estimators may be, for type checkers."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias

from softmodes._algorithm.plan import Refine, Select
from softmodes._table.codebook import Missing
from softmodes.rounding import Rounding

__all__ = ["Auto", "Init", "Missing", "Refine", "RoundingRule", "Select", "Sharpness"]


class Shaped(Protocol):
    """A frame, an array or a sparse matrix."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows, and of columns."""


Auto: TypeAlias = Literal["auto"]
InitName: TypeAlias = Literal["d1-greedy", "d1-parallel", "d1", "random", "huang", "cao"]
Init: TypeAlias = InitName | Shaped | list[Any] | tuple[Any, ...]
RoundingName: TypeAlias = Literal["soft", "plurality", "uniform"]
RoundingRule: TypeAlias = RoundingName | Rounding
Sharpness: TypeAlias = float | Auto
