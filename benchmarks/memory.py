"""Peak memory of one method on one table, beyond the table: measured in a process of its own.

    python -m benchmarks.memory "faiss Kmeans" table.npy 100

prints bytes. Whatever the method makes of the table (packed rows, one-hot rows) counts.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks.methods import METHODS
from benchmarks.workloads import Problem

ROOT = Path(__file__).parents[1]


def peak_memory(name: str, table: Path, k: int) -> int:
    """Return the peak memory of a method in bytes, from a child process."""
    command = [sys.executable, "-m", "benchmarks.memory", name, str(table.resolve()), str(k)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return int(json.loads(done.stdout.splitlines()[-1]))


def measure_here(name: str, table: Path, k: int) -> int:
    """Return how much the peak of this process grows by one iteration on the whole table."""
    method = METHODS[name]
    problem = Problem(np.load(table), k)
    with method.around(1):
        tiny = Problem(problem.table[: k + 8, :8].copy(), k)
        method.prepare(tiny, 1)()  # imports and thread pools do not count
        before = peak_here()
        method.prepare(problem, 1)()
    return peak_here() - before


def peak_here() -> int:
    """Return the peak resident memory of this process in bytes.

    Linux counts the parent's peak into what getrusage tells of a child, but not into VmHWM.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    print(measure_here(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
