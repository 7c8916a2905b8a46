from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray

settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


@pytest.fixture(scope="session")
def votes_like() -> NDArray[np.object_]:
    """435 rows of 16 yes/no/? answers in two parties."""
    rng = np.random.default_rng(4)
    party = rng.random(435) < 0.6
    chance = np.where(party[:, None], rng.random(16), rng.random(16))
    answers = np.where(rng.random((435, 16)) < chance, "y", "n").astype(object)
    answers[rng.random((435, 16)) < 0.05] = "?"
    return answers
