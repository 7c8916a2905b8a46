"""Rows on a Dask cluster: the same answer as in memory."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.engine


def test_a_cluster_of_processes_answers(client):
    assert client.submit(sum, (1, 2)).result() == 3
