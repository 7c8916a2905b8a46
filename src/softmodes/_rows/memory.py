"""How much memory a fit needs for its counts, and how much there is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._kernels import Layout

_COUNT_BYTES = 8
_PRICE_BYTES = 4 + 2  # a price, and by how much it was rounded
_INDEX_BYTES = 4  # of a sparse count, or price: its code or cluster
_PAIR_BYTES = 16  # of a cluster and a row that has a part in it, or a cell
_SMALL_CHANGE = 1 << 20  # bytes that are not worth asking the system for, which takes a millisecond
_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")


def check_rows(layout: Layout, n_rows: int) -> None:
    """Refuse rows that would not fit in memory when packed."""
    needed = n_rows * layout.stride
    available = _available_beyond(needed)
    if available is not None:
        raise MemoryError(
            f"{n_rows} rows need {needed} bytes ({_gib(needed)}) when packed, and {available} "
            f"({_gib(available)}) are available. Pass fewer rows or columns."
        )


def check_counts(
    layout: Layout,
    k: int,
    n_threads: int,
    names: Sequence[str] | None,
    feature_weight: NDArray[np.uint32] | None = None,
    finalists: int = 0,
    n_rows: int | None = None,
) -> None:
    """Refuse a fit whose counts and passes would not fit in memory.

    `finalists` is the number of runs that are kept to be refined. Of a table with few rows nothing
    is asked: a pass reserves memory for many, but does not come to use it.
    """
    if n_rows is not None and _is_small(layout, k, n_rows):
        return
    needed = count_bytes(layout, k, n_threads, feature_weight, finalists)
    available = _available_beyond(needed)
    if available is None:
        return
    widest = int(max(range(layout.n_features), key=lambda j: _cells(layout, j)))
    name = f" ({names[widest]!r})" if names is not None else ""
    raise MemoryError(
        f"n_clusters={k} needs {needed} bytes ({_gib(needed)}) for counts and passes over the "
        f"rows, and {available} ({_gib(available)}) are available. The widest column is "
        f"{widest}{name} with {int(layout.n_codes[widest])} categories. Lower "
        "n_clusters, merge rare categories, or drop the column."
    )


def _is_small(layout: Layout, k: int, n_rows: int) -> bool:
    pairs = k * (n_rows + layout.n_cells)
    return not layout.sparse_features and _PAIR_BYTES * pairs <= _SMALL_CHANGE


def count_bytes(
    layout: Layout,
    k: int,
    n_threads: int,
    feature_weight: NDArray[np.uint32] | None = None,
    finalists: int = 0,
) -> int:
    """Return the bytes of the current, last, chosen and best counts, and of a pass over the rows.

    A refined fit also holds the counts of its finalists, and prices beside all of these. Where rows
    are shared, sparse counts may hold every code in every cluster.

    Examples
    --------
    >>> layout = Layout([250] * 100, [-1] * 100)
    >>> round(count_bytes(layout, 5000, n_threads=64) / 1e9)
    4
    """
    drawn = 4 * _COUNT_BYTES * k * layout.n_cells
    drawn += _kernels.pass_bytes(layout, k, feature_weight, n_threads)
    if not finalists:
        return drawn
    sparse = k * sum(int(layout.n_codes[j]) for j in layout.sparse_features)
    refined = (4 + finalists) * (
        (_COUNT_BYTES + _PRICE_BYTES) * k * layout.n_cells
        # Counts by cluster and by value, and prices by value.
        + (2 * _COUNT_BYTES + _PRICE_BYTES + 3 * _INDEX_BYTES) * sparse
    )
    # The pass sums up sparse counts in memory of its own.
    passes = _kernels.score_bytes(layout, k, n_threads) + _COUNT_BYTES * sparse
    return max(drawn, refined + passes)


def _available_beyond(needed: int) -> int | None:
    """Return the bytes that can be had if they are fewer than needed, else None."""
    if needed <= _SMALL_CHANGE:
        return None
    available = available_memory()
    return available if available is not None and needed > available else None


def available_memory() -> int | None:
    """Return the bytes that can be had without swapping, or None where the system does not tell.

    That is what the machine has left, or less if a control group of this process has less left.
    """
    rooms = [room for room in (_machine_room(), *_group_rooms()) if room is not None]
    return min(rooms, default=None)


def _machine_room() -> int | None:
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


def _group_rooms() -> Iterator[int | None]:
    """Yield what is left in each control group of this process, None where there is no limit."""
    for controllers, path in _own_groups():
        if controllers == "":
            base, limit, usage, prefix = _GROUPS, "memory.max", "memory.current", ""
        elif "memory" in controllers.split(","):
            base, prefix = _GROUPS / "memory", "total_"
            limit, usage = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for depth in range(len(parts) + 1):
            folder = base.joinpath(*parts[:depth])
            yield _room(folder / limit, folder / usage, folder / "memory.stat", prefix)


def _own_groups() -> list[tuple[str, str]]:
    """Return the controllers ("" in version 2) and the path of each group of this process."""
    lines = (line.split(":", 2) for line in _text(_OWN_GROUPS).splitlines())
    return [(fields[1], fields[2]) for fields in lines if len(fields) == 3]


def _room(limit: Path, usage: Path, stat: Path, prefix: str) -> int | None:
    most, used = _text(limit).strip(), _text(usage).strip()
    if not (most.isdigit() and used.isdigit()):
        return None
    # The system takes cached files away before it refuses memory.
    cached = {prefix + "active_file", prefix + "inactive_file"}
    pairs = (line.split() for line in _text(stat).splitlines())
    freed = sum(int(pair[1]) for pair in pairs if pair[0] in cached)
    return max(0, int(most) - max(0, int(used) - freed))


def _text(path: Path) -> str:
    """Return what a file holds, nothing if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _cells(layout: Layout, j: int) -> int:
    return int(layout.offsets[j + 1] - layout.offsets[j])


def _gib(n: int) -> str:
    return f"{n / 2**30:.1f} GiB"
