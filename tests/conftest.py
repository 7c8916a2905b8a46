from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray

from softmodes import _kernels

settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


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
