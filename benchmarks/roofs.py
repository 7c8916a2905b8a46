"""The least time that the machine allows for a pass, by what was measured of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray


def assignment_seconds(
    sizes: NDArray[np.int32], n: int, k: int, roofs: Mapping[str, float]
) -> float:
    """Return the time for all comparisons at the speed of the inner loops in first-level cache.

    With many centers a bit plane is added for every feature, for three binary ones two. With few,
    eight binary features are a byte to popcount, or two nibbles to look up, whichever is faster.
    Other features are nibbles, two to a nibble up to 4 values; the spare bit beside 5 to 8 values
    holds a binary feature. Features of more than 16 values are compared bytewise, which is
    reckoned as a look-up.
    """
    n_binary = int((sizes <= 2).sum())
    if k >= roofs["planes_from"]:
        planes = 2 * -(-n_binary // 3) + len(sizes) - n_binary
        return n / 8 * k * planes / roofs["planes"]
    small = int(((sizes > 2) & (sizes <= 4)).sum())
    spare = int(((sizes > 4) & (sizes <= 8)).sum())
    nibbles = -(-small // 2) + int((sizes > 4).sum())
    binary_bytes = -(-max(0, n_binary - spare) // 8)
    byte_time = min(1 / roofs["popcount"], 2 / roofs["lookup"])
    return n * k * (nibbles / roofs["lookup"] + binary_bytes * byte_time)
