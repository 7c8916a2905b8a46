"""The least time that the machine allows for a pass, by what was measured of it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._rows.block import Layout

_SOURCE = Path(__file__).parent
_BUILD = _SOURCE.parents[1] / "build" / "roofs"


def measure(n_threads: int) -> dict[str, float]:
    """Measure what bounds the kernels on this machine, in bytes per second of all threads.

    `lookup` and `popcount` are the inner loops of an assignment on rows in the first-level cache
    (a byte is one row and column: a nibble, or eight binary features), `planes` is the same by bit
    planes (a byte is eight rows and one plane), for `planes_from` centers or more; `read` is the
    memory. `bits_by_popcount` tells what compares binary features with fewer centers.
    """
    command = [str(build()), _kernels.instruction_set(), str(n_threads)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    measured: dict[str, float] = json.loads(run.stdout)
    return measured


@cache
def build() -> Path:
    """Compile the program that measures, if its sources have changed; return its path."""
    if not shutil.which("cmake"):
        raise FileNotFoundError("Roofs are measured by a C++ program. Install cmake to build it.")
    configure = ["cmake", "-S", str(_SOURCE), "-B", str(_BUILD)]
    for command in (configure, ["cmake", "--build", str(_BUILD), "--parallel"]):
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            raise RuntimeError(f"{' '.join(command)} failed:\n{run.stdout}{run.stderr}")
    return _BUILD / "roofs"


def assignment_seconds(
    n_values: NDArray[np.int32], n: int, k: int, roofs: Mapping[str, float]
) -> float:
    """Return the time for all comparisons at the speed of the inner loops in first-level cache.

    With many centers a bit plane is added for every feature, for three binary ones two. With few,
    eight binary features are a byte to popcount, or two nibbles to look up, whichever is faster;
    other nibbles are looked up, and features of more than 16 values compared bytewise, which is
    reckoned as a look-up.
    """
    if k >= roofs["planes_from"]:
        n_binary = int((n_values <= 2).sum())
        planes = 2 * -(-n_binary // 3) + len(n_values) - n_binary
        return n / 8 * k * planes / roofs["planes"]
    layout = Layout(n_values, np.full(len(n_values), -1, np.int32))
    look_ups = layout.n_nibbles + int((layout.bits >= 8).sum())
    byte_time = min(1 / roofs["popcount"], 2 / roofs["lookup"])
    return n * k * (look_ups / roofs["lookup"] + layout.bit_bytes * byte_time)
