"""How much memory a fit needs for its counts, and how much there is."""

from __future__ import annotations

import os
from collections.abc import Sequence

from softmodes.pack import Layout


def check_memory(layout: Layout, k: int, n_threads: int, names: Sequence[str] | None) -> None:
    """Refuse a fit whose counts and look-up tables would not fit in memory."""
    available = available_memory()
    needed = count_bytes(layout, k, n_threads)
    if available is None or needed <= available:
        return
    widest = int(max(range(layout.n_features), key=lambda j: _cells(layout, j)))
    name = f" ({names[widest]!r})" if names is not None else ""
    raise MemoryError(
        f"n_clusters={k} needs {needed} bytes ({_gib(needed)}) for counts and look-up tables, and "
        f"{available} ({_gib(available)}) are available. The widest column is {widest}{name} with "
        f"{int(layout.n_codes[widest])} categories. Lower n_clusters, merge rare categories, "
        "or drop the column."
    )


def count_bytes(layout: Layout, k: int, n_threads: int) -> int:
    """Return the bytes that the current, last, chosen and best counts need, and the tables."""
    tallies = 4 * 8 * layout.n_cells
    per_thread = n_threads * 4 * layout.n_cells
    tables = 2 * layout.stride * 16
    return k * (tallies + per_thread + tables)


def available_memory() -> int | None:
    """Return the bytes that can be had without swapping, or None where the system does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _cells(layout: Layout, j: int) -> int:
    return int(layout.offsets[j + 1] - layout.offsets[j])


def _gib(n: int) -> str:
    return f"{n / 2**30:.1f} GiB"
