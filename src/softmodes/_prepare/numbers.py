"""A line about numbers that a clustering takes for categories."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from softmodes._text import harmless

_LOGGER = logging.getLogger("softmodes")
_FEWEST, _PER_VALUE = 50, 10
_SHOWN = 3


def mention_numbers(
    numeric_among: Callable[[NDArray[np.intp]], list[int]],
    lengths: NDArray[np.int32],
    names: Sequence[str] | None,
    n_rows: int,
) -> None:
    """Log a line if columns hold more numbers than categories do: over max(50, n_rows / 10)."""
    most = max(_FEWEST, n_rows / _PER_VALUE)
    many = numeric_among(np.flatnonzero(lengths > most))
    if not many:
        return
    shown = ", ".join(
        f"{harmless(names[j][:40]) if names else f'column {j}'} ({lengths[j]:,})"
        for j in many[:_SHOWN]
    )
    more = f" and {len(many) - _SHOWN} more columns" if len(many) > _SHOWN else ""
    _LOGGER.warning(
        "Every number is a category of its own, and these columns have many: %s%s. "
        "softmodes.Bands() or softmodes.Prepare() makes bands of them.",
        shown,
        more,
    )
