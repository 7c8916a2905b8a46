"""What the asv suite times is work: every timed pass looks at all rows."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.asv.suite import common, fit, kernels, scaling
from softmodes import _kernels

CALLS = 3
# A small table of each name: what is tested is that the rows are looked at, not how fast.
SMALL: dict[str, Callable[[], np.ndarray]] = {
    "binary, many centers": lambda: common.noise(1_500, [2] * 60),
    "binary, long rows": lambda: common.noise(300, [2] * 900),
    "mixed": lambda: common.noise(800, list(common.SIZES)),
    "three values": lambda: common.noise(800, [3] * 42),
    "bytes": lambda: common.noise(800, [200] * 20),
}
CLASSES = [
    found
    for module in (fit, kernels, scaling)
    for name, found in inspect.getmembers(module, inspect.isclass)
    if found.__module__ == module.__name__ and not name.startswith("_")
]
LOOKS_AT_ROWS = ("time_pass", "time_assignment", "time_seeding", "time_fit")
LOOKS_AT_COUNTS = ("time_expected_cost", "time_draw")
LOOKS_AT_TABLE = ("time_encode_and_pack",)


def methods(prefix: str) -> list[tuple[type, str]]:
    return [(found, name) for found in CLASSES for name in dir(found) if name.startswith(prefix)]


@pytest.fixture
def rows_looked_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Rows of each call of a kernel that compares all rows with all centers."""
    seen: list[int] = []
    tally = _kernels.tally

    def counting_tally(block: Any, *rest: Any) -> Any:
        seen.append(block.n_rows)
        return tally(block, *rest)

    monkeypatch.setattr(_kernels, "tally", counting_tally)
    return seen


def ready(kind: type, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, tuple[Any, ...]]:
    """Return a benchmark after its setup with its first parameters, on small tables."""
    monkeypatch.setattr(kernels, "TABLES", SMALL)
    monkeypatch.setattr(kernels, "CLUSTERS", dict.fromkeys(SMALL, 20))
    params = kind.params if isinstance(kind.params, tuple) else (kind.params,)
    first = tuple(values[0] for values in params)
    benchmark = kind()
    benchmark.setup(*first)
    return benchmark, first


def n_rows(benchmark: Any) -> int:
    return len(benchmark.table) if hasattr(benchmark, "table") else benchmark.store.n_rows


def test_every_timed_method_is_looked_at_here() -> None:
    assert {name for _, name in methods("time_")} == {
        *LOOKS_AT_ROWS,
        *LOOKS_AT_COUNTS,
        *LOOKS_AT_TABLE,
    }


@pytest.mark.parametrize(
    ("kind", "name"), [pair for pair in methods("time_") if pair[1] in LOOKS_AT_ROWS]
)
def test_every_timed_call_looks_at_all_rows(
    kind: type, name: str, rows_looked_at: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark, params = ready(kind, monkeypatch)
    for call in range(CALLS):
        rows_looked_at.clear()
        getattr(benchmark, name)(*params)
        assert sum(rows_looked_at) >= n_rows(benchmark), f"call {call} did not look at all rows"


@pytest.mark.parametrize("name", ["time_pass", "time_assignment"])
@pytest.mark.parametrize("table", SMALL)
def test_a_pass_is_real_for_every_table(
    table: str, name: str, rows_looked_at: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark, _ = ready(kernels.Rows, monkeypatch)
    benchmark.setup(table)
    for _ in range(CALLS):
        rows_looked_at.clear()
        getattr(benchmark, name)(table)
        assert rows_looked_at == [len(benchmark.table)]


@pytest.mark.parametrize(("kind", "name"), methods("track_"))
def test_every_tracked_answer_is_the_same_whenever_it_is_asked(
    kind: type, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark, params = ready(kind, monkeypatch)
    before = getattr(benchmark, name)(*params)
    for timed in [other for found, other in methods("time_") if found is kind]:
        getattr(benchmark, timed)(*params)
    assert getattr(benchmark, name)(*params) == before > 0
