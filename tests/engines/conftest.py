"""Clusters of real processes: they take minutes, and are tested where they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked = "engine" in config.getoption("markexpr")
    skip = pytest.mark.skip(reason="cluster engines are tested by scripts/engines.sh")
    for item in items:
        if item.get_closest_marker("engine") and not asked:
            item.add_marker(skip)


@contextmanager
def dask_cluster() -> Iterator[Any]:
    """Start a Dask cluster of two processes with a thread each."""
    distributed = pytest.importorskip("distributed", reason='pip install "softmodes[dask]"')
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def lasting_client() -> Iterator[Any]:
    with dask_cluster() as client:
        yield client


@pytest.fixture
def client(lasting_client: Any) -> Iterator[Any]:
    """Make a cluster that all tests share the current one."""
    with lasting_client.as_current():
        yield lasting_client


@pytest.fixture
def mortal() -> Iterator[Any]:
    """Make a cluster the current one, whose workers may be killed."""
    with dask_cluster() as client, client.as_current():
        yield client
