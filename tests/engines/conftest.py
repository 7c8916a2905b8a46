"""Clusters of real processes: they take minutes, and are tested where they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked = "engine" in config.getoption("markexpr")
    skip = pytest.mark.skip(reason="cluster engines are tested by scripts/engines.sh")
    for item in items:
        if item.get_closest_marker("engine") and not asked:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """Start a Dask cluster of two processes with a thread each."""
    distributed = pytest.importorskip("distributed", reason='pip install "softmodes[dask]"')
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
