"""Measure the roofs of this machine: `python -m benchmarks.roofs [n_threads ...]`."""

from __future__ import annotations

import sys

from benchmarks.roofs import measure

for n_threads in map(int, sys.argv[1:] or ["1"]):
    print(f"{n_threads} thread(s):", measure(n_threads))
