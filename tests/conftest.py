from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray

from softmodes import _kernels

settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

ON_WINDOWS = os.name == "nt"
# They need the module `resource`.
collect_ignore = ["project/test_benchmarks.py", "project/test_fuzz.py"] if ON_WINDOWS else []
SENDS_SIGNALS = ("test_ctrl_c_", "test_a_run_killed_")  # which on Windows end the process at once


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if ON_WINDOWS and item.name.startswith(SENDS_SIGNALS):
            item.add_marker(pytest.mark.skip(reason="Windows has no such signals"))


@pytest.fixture(params=_kernels.instruction_sets())
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a test with every instruction set of this CPU."""
    best = _kernels.instruction_set()
    _kernels.use_instruction_set(request.param)
    yield request.param
    _kernels.use_instruction_set(best)


@pytest.fixture(scope="session")
def votes_like() -> NDArray[np.object_]:
    """435 rows of 16 yes/no/? answers in two parties."""
    rng = np.random.default_rng(4)
    party = rng.random(435) < 0.6
    chance = np.where(party[:, None], rng.random(16), rng.random(16))
    answers = np.where(rng.random((435, 16)) < chance, "y", "n").astype(object)
    answers[rng.random((435, 16)) < 0.05] = "?"
    return answers
