"""The guides to engines, run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from spark_sessions import prepare_executors

pytestmark = pytest.mark.engine

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas, which dask gives
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # Spark leaves sockets to the collector
@pytest.mark.parametrize("engine", ["dask", "spark"])
def test_the_guide_to_an_engine_runs(engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepare_executors(tmp_path, monkeypatch.setenv)
    blocks = FENCE.findall((GUIDES / f"{engine}.md").read_text("utf-8"))
    assert blocks, "nothing to run"
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, f"{engine}.md", "exec"), names)
