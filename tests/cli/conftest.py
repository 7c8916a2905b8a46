from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def small_sweeps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `fit` try 2 to 4 groups, not 2 to 8, where the test is about something else."""
    if "all_sweeps" not in request.fixturenames:
        monkeypatch.setattr("softmodes._cli.fit._MOST_TRIED", 4)


@pytest.fixture
def all_sweeps() -> None:
    """Leave the numbers of groups that are tried as they are."""
